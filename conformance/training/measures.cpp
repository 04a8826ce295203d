#include "conformance/training/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "conformance/training/number_text.h"
#include "conformance/training/record_files.h"
#include "conformance/training/text_file.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/bytes.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::training {

namespace {

std::string line_of(std::int64_t step, const CodingError& line) {
  const portable::ErrorSplit& split = line.error.split;
  const auto share = [&](double part) { return split.value == 0 ? 0.0 : part / split.value; };
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", step, line.product, line.operand, line.tensor,
                     line.profile, line.stack, split.elements, split.excluded, split.deadzone_fraction(),
                     share(split.error), share(split.scale), share(split.deadzone), share(split.grid),
                     line.error.saturated);
}

std::string line_of(std::int64_t step, const GradientError& line) {
  const std::string known = fmt::format("{},{},{},{},{},{}", step, line.tensor, number_text(line.cosine),
                                        number_text(line.norm_ratio), number_text(line.error), line.repeats);
  return line.repeats == 1 ? known + ",,\n"
                           : fmt::format("{},{},{}\n", known, number_text(line.bias), number_text(line.variance));
}

/// As many cells as there are columns, all of them printable.
bool is_line_of(std::string_view line, std::string_view header) {
  const auto is_printable = [](char c) { return c >= 0x20 && c <= 0x7E; };
  return std::count(line.begin(), line.end(), ',') == std::count(header.begin(), header.end(), ',') &&
         std::all_of(line.begin(), line.end(), is_printable);
}

/// The lines behind the header of a file that `add` takes, until it returns false; none where there is no file.
Result<void> read_lines(const std::filesystem::path& path, std::string_view header,
                        const std::function<bool(std::string_view)>& add) {
  const auto content = content_of(path);
  if (!content) return {};
  const Error damaged{ErrorKind::corrupt,
                      fmt::format("{} is no record of a run; start again in another folder", quote_path(path))};
  std::string_view text = *content;
  const std::string first_line = std::string(header) + "\n";
  if (!text.starts_with(first_line)) return damaged;
  text.remove_prefix(first_line.size());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || !is_line_of(text.substr(0, end), header)) return damaged;
    if (!add(text.substr(0, end + 1))) return damaged;
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

Measures::Measures(Operators& operators, const Config& config, std::int64_t every, const PlanCodings& plan,
                   const PlanCodings& bf16, Parameters& parameters)
    : operators_(&operators),
      config_(config),
      every_(every),
      times_(operators),
      codings_(operators),
      gradients_(operators, config.model, config.task, config.reinforcement.sequences(), plan, bf16, parameters),
      watch_(times_, codings_) {}

void Measures::begin(std::int64_t step) {
  step_ = step;
  if (is_due(step)) operators_->observe(&watch_);
}

void Measures::before_update(std::span<const std::int32_t> tokens, std::span<const float> weights) {
  if (!is_due(step_)) return;
  operators_->observe(nullptr);
  const StepAddress address{config_.seed, static_cast<std::uint32_t>(step_)};
  for (const GradientError& line : gradients_.measure(tokens, weights, address)) {
    gradient_lines_ += line_of(step_, line);
  }
  operators_->observe(&watch_);
}

Result<void> Measures::end() {
  operators_->observe(nullptr);
  const auto seen = codings_.take();
  if (!seen) return seen.error();
  for (const CodingError& line : *seen) quant_lines_ += line_of(step_, line);
  return {};
}

std::string Measures::operator_lines() const {
  double all = 0;
  for (const OperatorTime& time : times_.times()) all += time.seconds;
  std::string text;
  for (const OperatorTime& time : times_.times()) {
    text += fmt::format("{},{},{:.6f},{:.4f}\n", time.name, time.calls, time.seconds, time.seconds / all);
  }
  return text;
}

Result<void> Measures::save(const std::filesystem::path& folder) const {
  const auto write = [&](const char* name, std::string_view header, const std::string& lines) {
    return write_file(folder / name, bytes_of(fmt::format("{}\n{}", header, lines)));
  };
  if (const auto done = write(quant_file, quant_header, quant_lines_); !done) return done;
  if (const auto done = write(gradients_file, gradients_header, gradient_lines_); !done) return done;
  return write(operators_file, operators_header, operator_lines());
}

Result<void> Measures::load(const std::filesystem::path& folder, std::int64_t last_step) {
  const auto up_to_last = [&](std::string& lines) {
    return [&lines, last_step](std::string_view line) {
      std::int64_t step = 0;
      if (std::from_chars(line.data(), line.data() + line.size(), step).ec != std::errc{}) return false;
      if (step <= last_step) lines += line;
      return true;
    };
  };
  if (auto done = read_lines(folder / quant_file, quant_header, up_to_last(quant_lines_)); !done) return done;
  if (auto done = read_lines(folder / gradients_file, gradients_header, up_to_last(gradient_lines_)); !done)
    return done;
  return read_lines(folder / operators_file, operators_header, [&](std::string_view line) {
    const std::size_t name = line.find(',');
    OperatorTime time{std::string(line.substr(0, name)), 0, 0};
    if (name == std::string_view::npos) return false;
    const char* const end = line.data() + line.size();
    const auto calls = std::from_chars(line.data() + name + 1, end, time.calls);
    if (calls.ec != std::errc{} || *calls.ptr != ',') return false;
    if (std::from_chars(calls.ptr + 1, end, time.seconds).ec != std::errc{}) return false;
    times_.add(time);
    return true;
  });
}

}  // namespace fp4proof::training
