#include "conformance/explain/macro_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "formats/mx.h"
#include "formats/strict_math.h"
#include "reference/exact/float_word.h"
#include "reference/portable/macro_block.h"

namespace fp4proof::explain {

namespace {

void find_extent(const Profile& profile, const MacroSpec& macro, const portable::Geometry& geometry, std::int64_t row,
                 std::int64_t column, MacroStory& story) {
  const std::int64_t height = profile.block.is_2d() ? macro.size : 1;
  const std::int64_t matrix = row / geometry.matrix_rows * geometry.matrix_rows;
  story.first_row = matrix + (row - matrix) / height * height;
  story.first_column = column / macro.size * macro.size;
  story.rows = std::min(height, matrix + geometry.matrix_rows - story.first_row);
  story.columns = std::min<std::int64_t>(macro.size, geometry.columns - story.first_column);
}

void find_largest(const portable::Geometry& geometry, std::span<const float> rows, MacroStory& story) {
  story.largest_row = story.first_row;
  story.largest_column = story.first_column;
  for (std::int64_t r = story.first_row; r < story.first_row + story.rows; ++r) {
    for (std::int64_t c = story.first_column; c < story.first_column + story.columns; ++c) {
      const float value = rows[static_cast<std::size_t>(r * geometry.columns + c)];
      const std::uint32_t magnitude = float_bits(value) & float_magnitude_mask;
      if (magnitude >= float_infinity_bits || magnitude <= story.largest) continue;
      story.largest = magnitude;
      story.largest_row = r;
      story.largest_column = c;
    }
  }
}

std::string extent_text(const MacroStory& story) {
  const std::string columns = fmt::format("columns {}..{}", story.first_column, story.first_column + story.columns - 1);
  if (story.rows == 1) return fmt::format("row {}, {}: {} elements", story.first_row, columns, story.columns);
  return fmt::format("rows {}..{}, {}: {} x {} elements", story.first_row, story.first_row + story.rows - 1, columns,
                     story.rows, story.columns);
}

std::string word_line(std::uint32_t word) {
  return fmt::format("{}   {} = {}", float_text(word), word_text(word), fields_text(word));
}

Step quotient_step(MacroForm form, std::string_view rule, const std::string& max, const MacroStory& story) {
  const std::string largest = float_text(story.largest);
  const std::string fraction =
      form == MacroForm::multiply ? fmt::format("RN({} / {})", max, largest) : fmt::format("RN({} / {})", largest, max);
  return {"macro-quotient", rule, "q", fmt::format("{} = {}", fraction, word_line(story.quotient)),
          is_finite_bits(story.quotient) ? std::optional(exact::float_value(story.quotient)) : std::nullopt};
}

Step byte_step(std::string_view rule, const MacroStory& story, bool by_rule) {
  const std::string why = story.largest == 0            ? "M = 0"
                          : is_inf_bits(story.quotient) ? "q is infinite"
                                                        : "q is subnormal";
  const std::string text =
      by_rule ? why + ": b = 0"
              : fmt::format("bits 22:15 of q: {} = {}, f = 1 + {}/256 = {}", binary_text(story.field, 8), story.field,
                            story.field, float_text(float_bits(macro_factor(story.field))));
  return {"macro-field", rule, "b", text, Rational(by_rule ? 0 : story.field)};
}

/// `multiply`: f M against max 2^k.
Step limit_step(const MacroStory& story, const std::string& max) {
  const Rational factor = exact::float_value(float_bits(macro_factor(story.field)));
  const Rational scaled = factor * exact::float_value(story.largest);
  const Rational limit = exact::float_value(float_bits(1.0F)).scaled(*story.k);
  return {"macro-limit", rule::macro_multiply, "f M",
          fmt::format("{} {} {} * 2^{}: {}", decimal_text(scaled, 17), story.lowered ? "exceeds" : "<=", max, *story.k,
                      story.lowered ? (story.field == 0 ? "b wraps from 0 to 255, next smaller power of two"
                                                        : fmt::format("b is lowered to {}", story.byte))
                                    : "b stays"),
          scaled / limit};
}

}  // namespace

MacroStory tell_macro(const Profile& profile, const MacroSpec& macro, const portable::Geometry& geometry,
                      std::span<const float> rows, std::uint8_t byte, std::int64_t row, std::int64_t column) {
  const bool multiplies = macro.form == MacroForm::multiply;
  const std::string_view rule = multiplies ? rule::macro_multiply : rule::macro_divide;
  const float max = mx_detail::element_max(element_spec(profile.element));
  MacroStory story;
  find_extent(profile, macro, geometry, row, column, story);
  find_largest(geometry, rows, story);
  const float largest = float_from_bits(story.largest);
  story.quotient = float_bits(multiplies ? strict::divide(max, largest) : strict::divide(largest, max));
  story.field = static_cast<std::uint8_t>(story.quotient >> 15);
  story.byte = byte;
  const bool is_subnormal = story.quotient < 0x00800000U;
  const bool by_rule = story.largest == 0 || (multiplies ? is_inf_bits(story.quotient) : is_subnormal);
  const std::string max_text = float_text(float_bits(max));
  story.steps.push_back({"macro-block", rule::macro_largest, "macro block", extent_text(story), {}});
  story.steps.push_back(
      {"macro-largest", rule::macro_largest, "M",
       fmt::format("{}, row {}, column {}", word_line(story.largest), story.largest_row, story.largest_column),
       exact::float_value(story.largest)});
  if (story.largest != 0) story.steps.push_back(quotient_step(macro.form, rule, max_text, story));
  story.steps.push_back(byte_step(rule, story, by_rule));
  if (multiplies && !by_rule) {
    story.k = -floor_log2_bits(story.quotient);
    story.lowered = story.byte != story.field;
    story.steps.push_back(limit_step(story, max_text));
  }
  const std::uint32_t factor = float_bits(macro_factor(story.byte));
  story.steps.push_back({"macro-factor", rule, "factor",
                         fmt::format("byte 0x{:02x}, f = {}", story.byte, float_text(factor)),
                         exact::float_value(factor)});
  story.steps.push_back({"macro-coding",
                         rule::macro_coding,
                         "coded",
                         multiplies ? "x' = RN(f x); decoded RN(v / f)" : "x' = RN(x / f); decoded RN(v f)",
                         {}});
  return story;
}

}  // namespace fp4proof::explain
