#pragma once
// Plain text tables.

#include <string>
#include <utility>
#include <vector>

namespace fp4proof::cli {

/// Columns as wide as their widest cell, two spaces apart. `alignment` has one letter a column: 'l' flush left, 'r'
/// flush right; the last letter also serves the columns after it. The first row is the heading. Cells must be plain
/// text on one line; widths count UTF-8 code points.
class Table {
 public:
  explicit Table(std::string alignment) : alignment_(std::move(alignment)) {}

  /// Appends a row; a shorter row leaves the last columns empty.
  void add(std::vector<std::string> cells);

  /// The text, one LF after each row, no trailing spaces.
  std::string text() const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fp4proof::cli
