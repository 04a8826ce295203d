#include "conformance/divergence/divergence_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "conformance/divergence/element_text.h"

namespace fp4proof::training {

namespace {

using nlohmann::json;

/// Causes beyond these are only counted.
constexpr std::size_t most_causes = 4;

std::string_view phase_text(Phase phase) { return phase == Phase::warm_start ? "warm start" : "reinforcement"; }

std::string_view right_text(RightSide right) {
  switch (right) {
    case RightSide::a: return "A";
    case RightSide::b: return "B";
    case RightSide::neither: break;
  }
  return "neither";
}

std::string run_text(char name, const RecordedRun& run) {
  const auto planned = static_cast<std::size_t>(run.config.reinforcement.steps);
  const std::string of_planned = run.trace.steps.size() == planned ? "" : fmt::format(" of {}", planned);
  return fmt::format("{}  {}, backend {}, {}{} steps, digest {}\n", name, run.folder.string(), run.backend,
                     run.trace.steps.size(), of_planned, digest_text(run.trace.chain()));
}

/// The longer run goes on; empty where both have as many steps.
std::string length_text(const RecordedRun& a, const RecordedRun& b) {
  const std::size_t common = std::min(a.trace.steps.size(), b.trace.steps.size());
  const std::size_t longest = std::max(a.trace.steps.size(), b.trace.steps.size());
  if (common == longest) return {};
  const char name = a.trace.steps.size() > common ? 'A' : 'B';
  return fmt::format("steps {} to {} are in {} alone\n", common + 1, longest, name);
}

std::string place_text(const TracedPlace& place) {
  std::string text = fmt::format("{} at {} of {}", place.name, place.tensor, place.product);
  if (!place.operand.empty()) text += fmt::format(", operand {}", place.operand);
  return text;
}

std::string element_lines(const DifferingElement& e) {
  const std::int64_t count = std::accumulate(e.shape.begin(), e.shape.end(), std::int64_t{1}, std::multiplies<>());
  const auto ulps = ulps_between(e.type, e.a, e.b);
  const std::string apart = ulps ? fmt::format(", {} ulp apart", *ulps) : "";
  return fmt::format("{}{} {}: {} of {} differ, first {}\n  A  {}\n  B  {}{}\n", e.tensor, coordinates_text(e.shape),
                     type_text(e.type), e.differing, count, coordinates_text(coordinates_of(e.shape, e.index)),
                     element_text(e.type, e.a), element_text(e.type, e.b), apart);
}

/// Columns as wide as their widest cell.
std::string table_text(const Replay& replay) {
  std::vector<std::size_t> widths;
  for (const std::string& column : replay.columns) widths.push_back(column.size());
  for (const auto& row : replay.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(replay.columns);
  for (const auto& row : replay.rows) add(row);
  return text;
}

std::string replay_text(const Replay& replay) {
  std::string text = fmt::format("replay by the reference: {}\n{}", replay.title, table_text(replay));
  for (const std::string& note : replay.notes) text += fmt::format("  {}\n", note);
  if (replay.causes.empty()) return text;
  text += "faults that give exactly the other bits:\n";
  for (std::size_t i = 0; i < std::min(replay.causes.size(), most_causes); ++i) {
    text += fmt::format("  {}\n", replay.causes[i]);
  }
  if (replay.causes.size() > most_causes) text += fmt::format("  and {} more\n", replay.causes.size() - most_causes);
  return text;
}

std::string call_text(const FirstCall& call) {
  std::string text = fmt::format("{} operator calls of the step are equal; the next one differs:\n{}\n", call.index,
                                 place_text(call.place));
  if (call.is_input) {
    text += "it reads other bits, though no call before it wrote any: memory changed between calls\n";
  }
  for (const DifferingElement& element : call.tensors) text += element_lines(element);
  if (!call.reference) return text;
  text += fmt::format("  reference, on the same inputs: {}; right: {}\n",
                      element_text(call.tensors.front().type, *call.reference), right_text(call.right));
  return text + replay_text(*call.replay);
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON
// ---------------------------------------------------------------------------------------------------------------------

json run_json(const RecordedRun& run) {
  return {{"folder", run.folder.string()},
          {"backend", run.backend},
          {"steps", run.trace.steps.size()},
          {"digest", digest_text(run.trace.chain())}};
}

json element_json(const DifferingElement& e) {
  const auto ulps = ulps_between(e.type, e.a, e.b);
  return {{"tensor", e.tensor},
          {"type", type_text(e.type)},
          {"shape", e.shape},
          {"differing", e.differing},
          {"first", coordinates_of(e.shape, e.index)},
          {"a", bits_text(e.type, e.a)},
          {"b", bits_text(e.type, e.b)},
          {"a_value", value_text(e.type, e.a)},
          {"b_value", value_text(e.type, e.b)},
          {"ulps", ulps ? json(*ulps) : json()}};
}

json call_json(const FirstCall& call) {
  json tensors = json::array();
  for (const DifferingElement& element : call.tensors) tensors.push_back(element_json(element));
  json value = {{"calls_before", call.index},
                {"operator", call.place.name},
                {"product", call.place.product},
                {"tensor", call.place.tensor},
                {"operand", call.place.operand},
                {"inputs_differ", call.is_input},
                {"tensors", tensors},
                {"reference", nullptr},
                {"right", nullptr},
                {"replay", nullptr}};
  if (!call.reference) return value;
  const Replay& replay = *call.replay;
  value["reference"] = bits_text(call.tensors.front().type, *call.reference);
  value["right"] = right_text(call.right);
  value["replay"] = {{"title", replay.title},
                     {"columns", replay.columns},
                     {"rows", replay.rows},
                     {"notes", replay.notes},
                     {"causes", replay.causes}};
  return value;
}

}  // namespace

std::string divergence_text(const RecordedRun& a, const RecordedRun& b, const Divergence& divergence) {
  std::string text = run_text('A', a) + run_text('B', b);
  if (!divergence.step) {
    const std::size_t common = std::min(a.trace.steps.size(), b.trace.steps.size());
    return text + fmt::format("equal: the warm start and {} steps\n", common) + length_text(a, b);
  }
  const FirstStep& step = *divergence.step;
  text += step.step == 0 ? fmt::format("the {}s differ\n", phase_text(step.phase))
                         : fmt::format("step {} of {} is the first that differs, its first tensor on record {}\n",
                                       step.step, phase_text(step.phase), step.tensor);
  if (divergence.call) text += call_text(*divergence.call);
  for (const std::string& doubt : divergence.doubts) text += "but " + doubt + "\n";
  return text;
}

json divergence_json(const RecordedRun& a, const RecordedRun& b, const Divergence& divergence) {
  json value = {{"format", "fp4proof-training-divergence/1"},
                {"a", run_json(a)},
                {"b", run_json(b)},
                {"equal_steps", std::min(a.trace.steps.size(), b.trace.steps.size())},
                {"step", nullptr},
                {"call", nullptr},
                {"doubts", divergence.doubts},
                {"not_reproduced", nullptr}};
  if (divergence.not_reproduced) value["not_reproduced"] = std::string(1, *divergence.not_reproduced);
  if (divergence.call) value["call"] = call_json(*divergence.call);
  if (!divergence.step) return value;
  const FirstStep& step = *divergence.step;
  value["step"] = {{"phase", phase_text(step.phase)}, {"number", step.step}, {"tensor", step.tensor}};
  value["equal_steps"] = step.phase == Phase::warm_start ? 0 : step.step - 1;
  return value;
}

}  // namespace fp4proof::training
