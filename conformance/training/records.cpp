#include "conformance/training/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "conformance/training/number_text.h"
#include "conformance/training/record_files.h"
#include "conformance/training/text_file.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/bytes.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::training {

namespace {

using nlohmann::json;

constexpr std::size_t reward_column = 1;
constexpr std::size_t first_evaluation_column = 15;
constexpr std::size_t step_columns = 18;

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

Error damaged(const std::filesystem::path& path) {
  return {ErrorKind::corrupt, fmt::format("{} is no record of a run; start again in another folder", quote_path(path))};
}

}  // namespace

void Records::add(const StepRecord& r, const std::optional<Evaluation>& evaluation, double seconds) {
  std::string line = fmt::format("{}", r.step);
  for (const double number : {r.reward, r.loss.value, r.entropy, r.loss.k1, r.loss.k3, r.loss.max_difference,
                              r.loss.ratio_p99, r.loss.clip_fraction, r.length, r.live_groups}) {
    line += "," + number_text(number);
  }
  line += fmt::format(",{},{},{},{:.3f}", number_text(r.noise_sigma), number_text(r.optimizer.gradient_norm),
                      number_text(r.optimizer.learning_rate), seconds);
  line += evaluation ? fmt::format(",{},{},{}", evaluation->rollout, evaluation->training, evaluation->bf16) : ",,,";
  rows_.push_back({line, r.reward, evaluation});
}

void Records::add(const TraceStep& step) { trace_.steps.push_back(step); }

std::string Records::csv() const {
  std::string text(steps_header);
  for (const Row& row : rows_) text += "\n" + row.line;
  return text + "\n";
}

std::optional<std::int64_t> Records::diverged_at() const {
  const auto has_diverged = [](const Row& row) {
    const auto cells = cells_of(row.line);
    return std::any_of(cells.begin(), cells.end(), is_not_finite);
  };
  const auto first = std::find_if(rows_.begin(), rows_.end(), has_diverged);
  if (first == rows_.end()) return std::nullopt;
  return first - rows_.begin() + 1;
}

json Records::summary() const {
  constexpr std::size_t last_steps = 20;
  constexpr double goal = 0.8;
  json summary = {
      {"steps", rows_.size()}, {"digest", digest_text(chain())}, {"steps_to_0.8", nullptr}, {"diverged_at", nullptr}};
  if (const auto step = diverged_at()) summary["diverged_at"] = *step;
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
  return write_file(folder / trace_file, bytes_of(trace_text(trace_)));
}

Result<Records> Records::load(const std::filesystem::path& folder, std::int64_t last_step) {
  Records records;
  auto trace = read_trace(folder / trace_file);
  if (!trace) return trace.error();
  const auto csv_path = folder / steps_file;
  const auto csv_text = content_of(csv_path);
  if (!csv_text) return damaged(csv_path);
  const auto last = static_cast<std::size_t>(last_step);
  if (trace->steps.size() < last) return damaged(folder / trace_file);
  trace->steps.resize(last);
  records.trace_ = *std::move(trace);

  std::istringstream lines(*csv_text);
  std::string line;
  std::getline(lines, line);
  if (line != steps_header) return damaged(csv_path);
  while (std::getline(lines, line) && records.rows_.size() < last) {
    const auto cells = cells_of(line);
    if (cells.size() != step_columns || cells.front() != std::to_string(records.rows_.size() + 1))
      return damaged(csv_path);
    bool is_sound = true;
    const auto share = [&](std::size_t column) {
      double value = 0;
      const char* const end = cells[column].data() + cells[column].size();
      const auto [stop, failure] = std::from_chars(cells[column].data(), end, value);
      is_sound = is_sound && failure == std::errc() && stop == end && value >= 0 && value <= 1;
      return value;
    };
    Row row{line, share(reward_column), {}};
    if (!cells.back().empty()) {
      row.evaluation = {share(first_evaluation_column), share(first_evaluation_column + 1),
                        share(first_evaluation_column + 2)};
    }
    if (!is_sound) return damaged(csv_path);
    records.rows_.push_back(std::move(row));
  }
  if (records.rows_.size() < last) return damaged(csv_path);
  return records;
}

}  // namespace fp4proof::training
