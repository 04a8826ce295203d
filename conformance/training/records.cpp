#include "conformance/training/records.h"

#include <fmt/format.h>

#include <sstream>

#include "conformance/training/record_files.h"
#include "conformance/training/text_file.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/bytes.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::training {

namespace {

using nlohmann::json;

constexpr std::string_view trace_format = "fp4proof-trace/1";
constexpr std::size_t reward_column = 1;
constexpr std::size_t first_evaluation_column = 15;
constexpr std::size_t columns = 18;

std::string hex(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// The text of a trace with each of its steps on a line.
std::string one_step_a_line(json trace) {
  const json steps = std::move(trace["steps"]);
  trace.erase("steps");
  std::string text = trace.dump();
  text.back() = ',';
  text += "\"steps\": [";
  for (std::size_t i = 0; i < steps.size(); ++i) text += (i == 0 ? "\n" : ",\n") + steps[i].dump();
  return text + "\n]}\n";
}

Error damaged(const std::filesystem::path& path) {
  return {ErrorKind::corrupt, fmt::format("{} is no record of a run; start again in another folder", quote_path(path))};
}

Result<std::vector<TraceStep>> steps_of(const json& steps, std::int64_t last_step, const Error& error) {
  std::vector<TraceStep> result;
  try {
    for (const json& entry : steps) {
      TraceStep step{entry.at("step"), {}, std::stoull(entry.at("chain").get<std::string>(), nullptr, 16)};
      if (step.step > last_step) break;
      for (const json& tensor : entry.at("tensors")) {
        step.tensors.emplace_back(tensor.at(0), std::stoull(tensor.at(1).get<std::string>(), nullptr, 16));
      }
      result.push_back(std::move(step));
    }
  } catch (const std::exception&) {
    return error;
  }
  return result;
}

}  // namespace

void Records::add(const StepRecord& r, const std::optional<Evaluation>& evaluation, double seconds) {
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f}", r.step, r.reward, r.loss.value, r.entropy,
                  r.loss.k1, r.loss.k3, r.loss.max_difference, r.loss.ratio_p99, r.loss.clip_fraction, r.length,
                  r.live_groups, r.noise_sigma, r.optimizer.gradient_norm, r.optimizer.learning_rate, seconds);
  line += evaluation ? fmt::format(",{},{},{}", evaluation->rollout, evaluation->training, evaluation->bf16) : ",,,";
  rows_.push_back({line, r.reward, evaluation});
}

void Records::add(const TraceStep& step) { steps_.push_back(step); }

std::string Records::csv() const {
  std::string text(steps_header);
  for (const Row& row : rows_) text += "\n" + row.line;
  return text + "\n";
}

json Records::trace() const {
  json steps = json::array();
  for (const TraceStep& step : steps_) {
    json tensors = json::array();
    for (const auto& [name, digest] : step.tensors) tensors.push_back({name, hex(digest)});
    steps.push_back({{"step", step.step}, {"chain", hex(step.chain)}, {"tensors", tensors}});
  }
  return {{"format", trace_format}, {"warm_start", hex(warm_start_chain_)}, {"digest", hex(chain())}, {"steps", steps}};
}

json Records::summary() const {
  constexpr std::size_t last_steps = 20;
  constexpr double goal = 0.8;
  json summary = {{"steps", rows_.size()}, {"digest", hex(chain())}, {"steps_to_0.8", nullptr}};
  double all = 0;
  double last = 0;
  const std::size_t counted = std::min(last_steps, rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    all += rows_[i].reward;
    if (i + counted >= rows_.size()) last += rows_[i].reward;
    if (summary["steps_to_0.8"].is_null() && rows_[i].reward >= goal) summary["steps_to_0.8"] = i + 1;
    if (const auto& e = rows_[i].evaluation) {
      summary["greedy"] = {{"rollout", e->rollout}, {"training", e->training}, {"bf16", e->bf16}};
    }
  }
  summary["final_reward"] = rows_.empty() ? 0.0 : last / static_cast<double>(counted);
  summary["mean_reward"] = rows_.empty() ? 0.0 : all / static_cast<double>(rows_.size());
  return summary;
}

Result<void> Records::save(const std::filesystem::path& folder) const {
  if (const Result<void> done = write_file(folder / steps_file, bytes_of(csv())); !done) return done;
  return write_file(folder / trace_file, bytes_of(one_step_a_line(trace())));
}

Result<Records> Records::load(const std::filesystem::path& folder, std::int64_t last_step) {
  Records records;
  const auto trace_path = folder / trace_file;
  const auto csv_path = folder / steps_file;
  const auto trace_text = content_of(trace_path);
  const auto csv_text = content_of(csv_path);
  if (!trace_text) return damaged(trace_path);
  if (!csv_text) return damaged(csv_path);
  const Result<json> trace = parse_strict_json(*trace_text, quote_path(trace_path), 8);
  if (!trace) return trace.error();
  if (!trace->is_object() || trace->value("format", "") != trace_format) return damaged(trace_path);
  auto steps = steps_of(trace->value("steps", json::array()), last_step, damaged(trace_path));
  if (!steps) return steps.error();
  records.steps_ = *std::move(steps);
  records.warm_start_chain_ = std::strtoull(trace->value("warm_start", "").c_str(), nullptr, 16);

  std::istringstream lines(*csv_text);
  std::string line;
  std::getline(lines, line);
  if (line != steps_header) return damaged(csv_path);
  while (std::getline(lines, line) && static_cast<std::int64_t>(records.rows_.size()) < last_step) {
    const auto cells = cells_of(line);
    if (cells.size() != columns) return damaged(csv_path);
    const auto number = [&](std::size_t column) { return std::strtod(cells[column].c_str(), nullptr); };
    Row row{line, number(reward_column), {}};
    if (!cells.back().empty()) {
      row.evaluation = {number(first_evaluation_column), number(first_evaluation_column + 1),
                        number(first_evaluation_column + 2)};
    }
    records.rows_.push_back(std::move(row));
  }
  if (static_cast<std::int64_t>(records.rows_.size()) < last_step) return damaged(csv_path);
  if (static_cast<std::int64_t>(records.steps_.size()) < last_step) return damaged(trace_path);
  return records;
}

}  // namespace fp4proof::training
