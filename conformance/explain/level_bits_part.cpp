// The table of HiF4's micro-exponent bits.

#include <fmt/format.h>

#include "conformance/explain/decision_text.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"
#include "formats/float_bits.h"

namespace fp4proof::explain {

namespace {

std::string cell_text(const BlockShape& shape, const LevelBit& bit) {
  return shape.is_2d() ? fmt::format("[{},{}]", bit.cell_row, bit.cell_column) : fmt::format("[{}]", bit.cell_column);
}

std::string covers_text(const BlockShape& shape, const LevelBit& bit) {
  const int column = bit.cell_column * bit.extent;
  const int row = bit.cell_row * bit.extent;
  if (!shape.is_2d()) return fmt::format("elements {}..{}", column, column + bit.extent - 1);
  return fmt::format("rows {}..{}, columns {}..{}", row, row + bit.extent - 1, column, column + bit.extent - 1);
}

std::string formula_text(const LevelBit& bit) {
  if (bit.level == 2) return "max * REC";
  return bit.parent ? "max * REC / 2" : "max * REC";
}

std::string product_text(const LevelBit& bit) {
  return bit.max_bits == float_infinity_bits ? std::string("infinity") : decimal_text(bit.product);
}

std::string test_text(const LevelBit& bit) {
  const int threshold = bit.level == 2 ? 4 : 2;
  const bool equal = bit.max_bits != float_infinity_bits && bit.compared == Rational(threshold);
  return fmt::format("{} {}", equal ? "=" : bit.bit ? ">" : "<", threshold);
}

std::vector<Cell> row_of(const Profile& profile, const LevelBit& bit) {
  const bool rounds = profile.threshold_arithmetic != ThresholdArithmetic::exact && bit.max_bits != float_infinity_bits;
  return {{std::string(bit.level == 2 ? rule::level2 : rule::level3), Ink::faint},
          {fmt::format("level {}", bit.level)},
          {cell_text(profile.block, bit)},
          {covers_text(profile.block, bit)},
          {fmt::format("{} (element {})", float_text(bit.max_bits), bit.max_index)},
          {formula_text(bit)},
          {product_text(bit)},
          {rounds ? decimal_text(bit.compared) : ""},
          {test_text(bit), bit.max_bits != float_infinity_bits && test_text(bit)[0] == '=' ? Ink::notice : Ink::plain},
          {bit.bit ? "1" : "0", Ink::result}};
}

/// One line for cells that hold zeros alone.
std::vector<Cell> run_row(const Profile& profile, const LevelBit& first, const LevelBit& last) {
  std::vector<Cell> row = row_of(profile, first);
  if (first.cell_row != last.cell_row || first.cell_column != last.cell_column) {
    row[2].text += ".." + cell_text(profile.block, last);
    row[3].text = profile.block.is_2d() ? ""
                                        : fmt::format("elements {}..{}", first.cell_column * first.extent,
                                                      last.cell_column * last.extent + last.extent - 1);
  }
  row[4].text = "all zero";
  row[5].text = row[6].text = row[7].text = row[8].text = "";
  return row;
}

std::size_t run_from(const std::vector<LevelBit>& bits, std::size_t first) {
  std::size_t count = 1;
  const auto joins = [&](std::size_t i) { return bits[i].level == bits[first].level && bits[i].max_bits == 0; };
  while (first + count < bits.size() && joins(first) && joins(first + count)) ++count;
  return count;
}

}  // namespace

std::string level_bits_part(const Explanation& explanation, const TextOptions& options) {
  const Profile& profile = *explanation.profile;
  const std::vector<LevelBit>& bits = explanation.level_bits;
  InkTable table({{""}, {""}, {"cell"}, {"covers"}, {"largest"}, {"product"}, {""}, {"rounded"}, {"test"}, {"bit"}});
  std::size_t i = 0;
  while (i < bits.size()) {
    const std::size_t count = options.all ? 1 : run_from(bits, i);
    const bool zero = bits[i].max_bits == 0 && !options.all;
    table.add(zero ? run_row(profile, bits[i], bits[i + count - 1]) : row_of(profile, bits[i]));
    i += count;
  }
  table.fit(0, text_indent);
  return "\n" + inked("LEVEL BITS", Ink::heading, options.colour) + "\n" + table.text(text_indent, options.colour);
}

}  // namespace fp4proof::explain
