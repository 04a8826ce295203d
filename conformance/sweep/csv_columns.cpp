#include "conformance/sweep/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::sweep {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line + ",");
  for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

Result<CsvColumns> CsvColumns::read(const std::filesystem::path& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  CsvColumns table;
  table.label_ = quote_path(path);
  std::istringstream lines{std::string(text_of(file->bytes()))};
  std::string line;
  std::getline(lines, line);
  table.names_ = cells_of(line);
  while (std::getline(lines, line)) {
    table.rows_.push_back(cells_of(line));
    if (table.rows_.back().size() == table.names_.size()) continue;
    return Error{ErrorKind::corrupt, fmt::format("{}, line {}: {} cells where the header has {}", table.label_,
                                                 table.rows() + 1, table.rows_.back().size(), table.names_.size())};
  }
  return table;
}

Result<CsvColumns> CsvColumns::where(std::string_view name, std::string_view text) const {
  const Result<std::size_t> place = column(name);
  if (!place) return place.error();
  CsvColumns chosen = *this;
  std::erase_if(chosen.rows_, [&](const auto& row) { return row[*place] != text; });
  return chosen;
}

Result<std::vector<double>> CsvColumns::numbers(std::string_view name) const {
  const Result<std::size_t> place = column(name);
  if (!place) return place.error();
  std::vector<double> numbers;
  for (const auto& row : rows_) {
    const std::string& cell = row[*place];
    const char* const end = cell.data() + cell.size();
    const auto read = std::from_chars(cell.data(), end, numbers.emplace_back());
    if (read.ec == std::errc() && read.ptr == end) continue;
    return Error{ErrorKind::corrupt, fmt::format("{}: {} in column {} is no number", label_, quote(cell), name)};
  }
  return numbers;
}

Result<std::size_t> CsvColumns::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return Error{ErrorKind::corrupt, fmt::format("{} has no column {}", label_, name)};
  return static_cast<std::size_t>(found - names_.begin());
}

}  // namespace fp4proof::sweep
