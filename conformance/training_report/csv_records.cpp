#include "conformance/training_report/csv_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "conformance/training/number_text.h"
#include "conformance/training_report/record_file.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::training_report {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool is_never(std::string_view /*text*/) { return false; }

bool is_not_finite_size(std::string_view text) { return text != "-inf" && training::is_not_finite(text); }

bool is_name_character(char c) { return c >= 0x20 && c <= 0x7E; }

Error refused(const std::filesystem::path& path, std::size_t line, std::string_view problem) {
  return {ErrorKind::corrupt,
          fmt::format("{}:{}: {}; train the run again, or leave it out", quote_path(path), line, problem)};
}

}  // namespace

CsvLine::CsvLine(const std::vector<std::string_view>& columns, std::string_view line)
    : columns_(columns), cells_(split(line)) {
  if (cells_.size() != columns_.size()) {
    problem_ = fmt::format("{} cells where there are {} columns", cells_.size(), columns_.size());
  }
}

void CsvLine::refuse(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

std::string_view CsvLine::next() {
  const std::size_t place = place_++;
  return place < cells_.size() ? cells_[place] : std::string_view();
}

/// A finite number in a range, or a text that `is_other` and stands for one that is not finite.
double CsvLine::bounded(double low, double high, bool (*is_other)(std::string_view), std::string_view what) {
  const std::string_view cell = next();
  const auto value = parsed<double>(cell);
  if (value && is_other(cell)) {
    is_finite_ = false;
    return *value;
  }
  if (value && std::isfinite(*value) && *value >= low && *value <= high) return *value;
  refuse(fmt::format("{} is {}, which is no {}", columns_[place_ - 1], quote(cell), what));
  return 0;
}

double CsvLine::number() { return bounded(-infinity, infinity, training::is_not_finite, "number"); }

double CsvLine::size() { return bounded(0, infinity, is_not_finite_size, "number from 0 up"); }

double CsvLine::finite_size() { return bounded(0, infinity, is_never, "finite number from 0 up"); }

double CsvLine::fraction() { return bounded(0, 1, is_never, "number from 0 to 1"); }

std::int64_t CsvLine::count() {
  const std::string_view cell = next();
  const auto value = parsed<std::int64_t>(cell);
  if (value && *value >= 0) return *value;
  refuse(fmt::format("{} is {}, which is no whole number", columns_[place_ - 1], quote(cell)));
  return 0;
}

std::string CsvLine::name() {
  const std::string_view cell = next();
  if (!cell.empty() && std::all_of(cell.begin(), cell.end(), is_name_character)) return std::string(cell);
  refuse(fmt::format("{} is {}, which is no name", columns_[place_ - 1], quote(cell)));
  return {};
}

std::optional<double> CsvLine::fraction_or_nothing() {
  if (place_ < cells_.size() && !cells_[place_].empty()) return fraction();
  ++place_;
  return std::nullopt;
}

std::optional<double> CsvLine::size_or_nothing() {
  if (place_ < cells_.size() && !cells_[place_].empty()) return size();
  ++place_;
  return std::nullopt;
}

Result<void> read_csv(const std::filesystem::path& path, std::string_view header,
                      const std::function<void(CsvLine&)>& take) {
  const auto text = read_record(path);
  if (!text) return text.error();
  const std::vector<std::string_view> columns = split(header);
  std::string_view rest = *text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return refused(path, number, "the line is cut short");
    const std::string_view content = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (number == 1) {
      if (content != header) return refused(path, number, fmt::format("the columns are not {}", header));
      continue;
    }
    CsvLine line(columns, content);
    take(line);
    if (!line.problem().empty()) return refused(path, number, line.problem());
  }
  if (text->empty()) return refused(path, 1, "the file is empty");
  return {};
}

}  // namespace fp4proof::training_report
