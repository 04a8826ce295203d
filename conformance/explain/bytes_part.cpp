// The bytes that a row of the block is stored in.

#include <fmt/format.h>

#include "conformance/explain/block_bytes.h"
#include "conformance/explain/ink_table.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"

namespace fp4proof::explain {

namespace {

std::string hex_text(const std::vector<std::uint8_t>& bytes, std::size_t group) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0 && i % group == 0) text += ' ';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::string order_text(const Profile& profile) {
  if (!element_spec(profile.element).is_nibble()) return "one code a byte";
  switch (profile.nibble_order) {
    case NibbleOrder::even_low: return "even element in the low four bits";
    case NibbleOrder::even_high: return "even element in the high four bits";
    case NibbleOrder::split: return "byte j: element j low, element j + half a block high";
  }
  return {};
}

std::string rows_text(int first, int last) {
  return first == last ? fmt::format("row {}", first) : fmt::format("rows {}..{}", first, last);
}

}  // namespace

std::string bytes_part(const Explanation& explanation, const TextOptions& options) {
  const Profile& profile = *explanation.profile;
  InkTable table({{""}, {"scale"}, {"codes"}});
  int row = 0;
  while (row < profile.block.rows) {
    int last = row;
    const RowBytes bytes = row_bytes(explanation, row);
    while (!options.all && last + 1 < profile.block.rows && row_bytes(explanation, last + 1) == bytes) ++last;
    table.add({{profile.block.is_2d() ? rows_text(row, last) : ""},
               {hex_text(bytes.scale, 1), Ink::result},
               {hex_text(bytes.codes, 4), Ink::result}});
    row = last + 1;
  }
  table.fit(0, text_indent);
  return "\n" + inked("BYTES", Ink::heading, options.colour) + "   " +
         inked(fmt::format("{} ({})", order_text(profile), rules_of(profile.family).packing), Ink::faint,
               options.colour) +
         "\n" + table.text(text_indent, options.colour);
}

}  // namespace fp4proof::explain
