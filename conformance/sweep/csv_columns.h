#pragma once
// The CSV files of runs: a header, then lines of as many cells. No cell is quoted.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/result.h"

namespace fp4proof::sweep {

class CsvColumns {
 public:
  /// Errors: `io` for a file that cannot be read, `corrupt` for lines of different length.
  static Result<CsvColumns> read(const std::filesystem::path& path);

  std::size_t rows() const { return rows_.size(); }

  /// The rows with that text in a column, and a column as numbers. `corrupt` error where there is no column of that
  /// name, or a cell is no number.
  Result<CsvColumns> where(std::string_view name, std::string_view text) const;
  Result<std::vector<double>> numbers(std::string_view name) const;

 private:
  Result<std::size_t> column(std::string_view name) const;

  std::string label_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fp4proof::sweep
