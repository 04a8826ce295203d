#pragma once
// Tables for people: aligned columns, colour where it is wanted, columns given up where the window is narrow.

#include <string>
#include <string_view>
#include <vector>

namespace fp4proof::explain {

/// What a piece of text is for the eye.
enum class Ink { plain, heading, faint, result, notice, alarm };

/// `text` with the escape sequences of `ink` when `colour`, else as it is.
std::string inked(std::string_view text, Ink ink, bool colour);

struct Cell {
  std::string text;
  Ink ink = Ink::plain;
};

enum class Align { left, right, number };  ///< number: left, one space in front of numbers without a sign

struct Column {
  std::string heading;
  Align align = Align::left;
  int sacrifice = 0;  ///< 0: always shown; else given up in this order, 1 first
};

/// Cells are ASCII.
class InkTable {
 public:
  explicit InkTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One row; as many cells as columns.
  void add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }

  /// Gives up columns until the lines fit `width` characters (0: as wide as it takes) or nothing is left to give up.
  /// Columns without any text vanish. Returns the headings of the columns given up.
  std::vector<std::string> fit(std::size_t width, std::size_t indent);

  /// Lines with `indent` spaces in front, columns two spaces apart, no trailing spaces. The headings come first unless
  /// all are empty.
  std::string text(std::size_t indent, bool colour) const;

 private:
  bool shown(std::size_t column) const { return columns_[column].sacrifice >= 0; }
  std::string padded(const std::string& text, std::size_t column, std::size_t width) const;
  std::size_t width_of(std::size_t column) const;
  std::string line(const std::vector<Cell>& cells, std::size_t indent, bool colour) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace fp4proof::explain
