#pragma once
// Strict reading of the CSV files of a run: the header of this version, every cell of its kind, no line cut short.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/result.h"

namespace fp4proof::training_report {

/// One line, read cell by cell from the left. A cell that is not what was asked for reads as zero or empty and makes
/// the whole file an error, which names file, line and column.
class CsvLine {
 public:
  CsvLine(const std::vector<std::string_view>& columns, std::string_view line);

  double number();       ///< `nan`, `inf` and `-inf` too: the run diverged
  double size();         ///< >= 0, `nan` and `inf` too
  double finite_size();  ///< >= 0
  double fraction();     ///< 0 to 1
  std::int64_t count();  ///< a whole number >= 0
  std::string name();    ///< printable ASCII without a comma, not empty
  std::optional<double> fraction_or_nothing();
  std::optional<double> size_or_nothing();

  /// Whether every number so far was finite.
  bool is_finite() const { return is_finite_; }
  /// What was wrong first, "" where nothing was.
  const std::string& problem() const { return problem_; }
  void refuse(std::string problem);

 private:
  std::string_view next();
  double bounded(double low, double high, bool (*is_other)(std::string_view), std::string_view what);

  const std::vector<std::string_view>& columns_;
  std::vector<std::string_view> cells_;
  std::size_t place_ = 0;
  bool is_finite_ = true;
  std::string problem_;
};

/// Reads a file whose first line is `header`; `take` gets each further line. `corrupt` error for another header, a
/// refused or cut line; `usage` or `io` for a file that cannot be read.
Result<void> read_csv(const std::filesystem::path& path, std::string_view header,
                      const std::function<void(CsvLine&)>& take);

}  // namespace fp4proof::training_report
