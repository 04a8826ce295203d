#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "conformance/export/names.h"
#include "conformance/export/text_files.h"

namespace fp4proof::exports {

namespace {

constexpr std::size_t line_length = 120;

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

int integer_bits(std::uint64_t width) { return width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64; }

/// The items in braces, broken into lines.
void append_items(std::string& text, const std::vector<std::string>& items) {
  std::size_t column = 4;
  text += "   {";
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string separator = i + 1 == items.size() ? "" : ",";
    if (column + items[i].size() + 2 > line_length) {
      text += "\n    ";
      column = 4;
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += items[i] + separator;
    column += items[i].size() + separator.size();
  }
  text += "}";
}

void append_array(std::string& text, const GroupColumns& group, const std::string& name, const ColumnWords& column) {
  const Words& words = column.words;
  const int bits = integer_bits(words.width());
  const std::uint64_t per_case = words.per_case();
  text += fmt::format("\n/* {}: {} ({}, {}). */\nstatic const uint{}_t {}_{}[{}][{}] = {{\n", column.column->name,
                      column.column->content, column.column->dtype, name_of(column.column->role), bits, name,
                      column.column->name, group.cases(), per_case);
  for (std::size_t i = 0; i < group.cases(); ++i) {
    std::vector<std::string> items;
    for (std::uint64_t word = 0; word < per_case; ++word) {
      const std::string digits = words.hex(i * per_case + word);
      items.push_back(bits == 64 ? fmt::format("UINT64_C(0x{})", digits) : fmt::format("0x{}u", digits));
    }
    append_items(text, items);
    text += i + 1 == group.cases() ? "\n" : ",\n";
  }
  text += "};\n";
}

}  // namespace

std::string c_header_text(const GroupColumns& group, std::span<const std::string> class_names,
                          std::span<const ColumnWords> columns) {
  const std::string name = identifier_of(group);
  const std::string guard = upper_case(name) + "_H";
  std::string text =
      fmt::format("/* Test vectors of fp4proof: {}. The JSON file beside this one has the rest. */\n", title_of(group));
  text += fmt::format("#ifndef {}\n#define {}\n\n#include <stdint.h>\n\nenum {{\n  {}_cases = {}", guard, guard, name,
                      group.cases());
  for (const ColumnWords& column : columns) {
    text += fmt::format(",\n  {}_{}_words = {}", name, column.column->name, column.words.per_case());
  }
  text += "\n};\n";
  for (const ColumnWords& column : columns) append_array(text, group, name, column);
  text += fmt::format(
      "\n/* The class of each case: what kind of fault it catches. */\n"
      "static const char* const {}_class_name[{}] = {{\n",
      name, group.cases());
  for (std::size_t i = 0; i < group.cases(); ++i) {
    text += fmt::format("    \"{}\"{}\n", class_names[group.group->classes[i]], i + 1 == group.cases() ? "" : ",");
  }
  text += fmt::format("}};\n\n#endif /* {} */\n", guard);
  return text;
}

}  // namespace fp4proof::exports
