#include "conformance/explain/ink_table.h"

#include <algorithm>

namespace fp4proof::explain {

namespace {

constexpr int hidden = -1;
constexpr std::size_t gap = 2;

std::string_view escape_of(Ink ink) {
  switch (ink) {
    case Ink::plain: return "";
    case Ink::heading: return "\033[1m";
    case Ink::faint: return "\033[2m";
    case Ink::result: return "\033[1;36m";
    case Ink::notice: return "\033[33m";
    case Ink::alarm: return "\033[31m";
  }
  return "";
}

bool is_signed(const std::string& text) { return !text.empty() && (text[0] == '-' || text[0] == '+'); }

}  // namespace

std::string inked(std::string_view text, Ink ink, bool colour) {
  if (!colour || ink == Ink::plain || text.empty()) return std::string(text);
  return std::string(escape_of(ink)).append(text).append("\033[0m");
}

std::string InkTable::padded(const std::string& text, std::size_t column, std::size_t width) const {
  const Align align = columns_[column].align;
  if (align == Align::right) return std::string(width - text.size(), ' ') + text;
  const bool steps_in = align == Align::number && !is_signed(text) && text.size() < width &&
                        std::any_of(rows_.begin(), rows_.end(),
                                    [&](const std::vector<Cell>& row) { return is_signed(row[column].text); });
  const std::string shifted = (steps_in ? " " : "") + text;
  return shifted + std::string(width - shifted.size(), ' ');
}

std::size_t InkTable::width_of(std::size_t column) const {
  bool any_sign = false;
  std::size_t unsigned_width = columns_[column].heading.size();
  std::size_t width = unsigned_width;
  for (const std::vector<Cell>& row : rows_) {
    const std::string& text = row[column].text;
    any_sign = any_sign || is_signed(text);
    if (!is_signed(text)) unsigned_width = std::max(unsigned_width, text.size());
    width = std::max(width, text.size());
  }
  return columns_[column].align == Align::number && any_sign ? std::max(width, unsigned_width + 1) : width;
}

std::vector<std::string> InkTable::fit(std::size_t width, std::size_t indent) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const bool empty =
        std::all_of(rows_.begin(), rows_.end(), [&](const std::vector<Cell>& row) { return row[c].text.empty(); });
    if (empty) columns_[c].sacrifice = hidden;
  }
  std::vector<std::string> given_up;
  const auto line_width = [&] {
    std::size_t total = indent;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (shown(c)) total += width_of(c) + gap;
    }
    return total - gap;
  };
  while (width != 0 && line_width() > width) {
    std::size_t next = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const bool can_go = columns_[c].sacrifice > 0;
      if (can_go && (next == columns_.size() || columns_[c].sacrifice < columns_[next].sacrifice)) next = c;
    }
    if (next == columns_.size()) break;
    given_up.push_back(columns_[next].heading);
    columns_[next].sacrifice = hidden;
  }
  return given_up;
}

std::string InkTable::line(const std::vector<Cell>& cells, std::size_t indent, bool colour) const {
  std::string text;
  std::string pending(indent, ' ');
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!shown(c)) continue;
    const std::string cell = padded(cells[c].text, c, width_of(c));
    const std::size_t first = cell.find_first_not_of(' ');
    if (first != std::string::npos) {
      const std::size_t last = cell.find_last_not_of(' ');
      text += pending + cell.substr(0, first) + inked(cell.substr(first, last + 1 - first), cells[c].ink, colour);
      pending = cell.substr(last + 1);
    } else {
      pending += cell;
    }
    pending += std::string(gap, ' ');
  }
  return text + "\n";
}

std::string InkTable::text(std::size_t indent, bool colour) const {
  std::string text;
  std::vector<Cell> headings;
  for (const Column& column : columns_) headings.push_back({column.heading, Ink::faint});
  const bool has_headings =
      std::any_of(headings.begin(), headings.end(), [](const Cell& cell) { return !cell.text.empty(); });
  if (has_headings) text += line(headings, indent, colour);
  for (const std::vector<Cell>& row : rows_) text += line(row, indent, colour);
  return text;
}

}  // namespace fp4proof::explain
