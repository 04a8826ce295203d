#include "conformance/training_report/equal_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "conformance/training_report/record_file.h"
#include "conformance/training_report/run_groups.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::training_report {

namespace {

using nlohmann::json;

Result<json> trace_of(const TrainingRun& run) {
  constexpr std::size_t deepest = 8;
  const auto path = run.path / "trace.json";
  const auto text = read_record(path);
  if (!text) return text.error();
  return parse_strict_json(*text, quote_path(path), deepest);
}

/// Throws where there is none.
std::string text_of(const json& value, const char* name) { return value.at(name).get<std::string>(); }

/// The first tensor of a step whose digests differ.
std::string first_tensor(const json& a, const json& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a.at(i) != b.at(i)) return a.at(i).at(0).get<std::string>();
  }
  return "the tensors traced";
}

std::string difference_of(const json& a, const json& b) {
  if (text_of(a, "warm_start") != text_of(b, "warm_start")) return "the warm start";
  const json& steps_a = a.at("steps");
  const json& steps_b = b.at("steps");
  for (std::size_t i = 0; i < std::min(steps_a.size(), steps_b.size()); ++i) {
    const json& step_a = steps_a.at(i);
    const json& step_b = steps_b.at(i);
    if (text_of(step_a, "chain") == text_of(step_b, "chain")) continue;
    return fmt::format("step {}, {}", step_a.at("step").get<std::int64_t>(),
                       first_tensor(step_a.at("tensors"), step_b.at("tensors")));
  }
  return {};
}

Result<std::string> first_difference(const TrainingRun& a, const TrainingRun& b) {
  const auto trace_a = trace_of(a);
  if (!trace_a) return trace_a.error();
  const auto trace_b = trace_of(b);
  if (!trace_b) return trace_b.error();
  try {
    return difference_of(*trace_a, *trace_b);
  } catch (const json::exception&) {
    return Error{ErrorKind::corrupt,
                 fmt::format("the trace.json of {} or of {} is no trace of a run; train it again, or leave it out",
                             quote_path(a.path), quote_path(b.path))};
  }
}

}  // namespace

Result<std::vector<EqualRuns>> compare_equal_runs(std::span<const TrainingRun> runs) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<const TrainingRun*>> same;
  for (const TrainingRun& run : runs) {
    if (run.summary) same[{identity_of(run), run.seed}].push_back(&run);
  }
  std::vector<EqualRuns> result;
  for (auto& [key, equal] : same) {
    if (equal.size() < 2) continue;
    EqualRuns entry{std::move(equal), nullptr, {}};
    const TrainingRun& first = *entry.runs.front();
    const auto differing = std::ranges::find_if(
        entry.runs, [&](const TrainingRun* run) { return run->summary->digest != first.summary->digest; });
    if (differing != entry.runs.end()) {
      auto where = first_difference(first, **differing);
      if (!where) return where.error();
      entry.differing = *differing;
      entry.where = where->empty() ? "nothing that their traces hold" : *std::move(where);
    }
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace fp4proof::training_report
