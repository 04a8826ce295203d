#pragma once
// Plain text tables.

#include <string>
#include <vector>

namespace fp4proof::cli {

/// Columns as wide as their widest cell, two spaces apart; the first `left` columns are flush left, the others flush
/// right. The first row is the heading. Cells must be plain text on one line; widths count UTF-8 code points.
class Table {
 public:
  explicit Table(std::size_t left) : left_(left) {}

  /// Appends a row; a shorter row leaves the last columns empty.
  void add(std::vector<std::string> cells);

  /// The text, one LF after each row, no trailing spaces.
  std::string text() const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fp4proof::cli
