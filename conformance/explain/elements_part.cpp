// The table of elements.

#include <fmt/format.h>

#include "conformance/explain/decision_text.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"
#include "formats/float_bits.h"

namespace fp4proof::explain {

namespace {

constexpr std::size_t column_index = 0;
constexpr std::size_t column_input = 1;
constexpr std::size_t column_decision = 10;
constexpr std::size_t column_code = 12;
constexpr std::size_t column_value = 13;
constexpr std::size_t column_count = 16;

std::string scaled_formula(const Profile& profile, bool three_quarters) {
  switch (profile.family) {
    case Family::mx: return three_quarters ? "scaled = |RN(0.75 input)| / scale" : "scaled = |input| / scale";
    case Family::hif4: return "scaled = |input| * REC / 2^levels";
    case Family::nvfp4: return profile.tensor_scale ? "scaled = |input| / (s * T)" : "scaled = |input| / s";
  }
  return {};
}

std::string_view rounded_heading(ElementArithmetic arithmetic) {
  return arithmetic == ElementArithmetic::fp32_half_add ? "as fp32" : "as bf16";
}

std::string prepared_heading(const Profile& profile, bool three_quarters) {
  if (three_quarters) return "RN(0.75 x)";
  return profile.input_rounding == InputRounding::bf16 ? "as bf16" : "flushed";
}

std::vector<Column> columns_of(const Profile& profile, bool three_quarters) {
  return {{"#", Align::right},
          {"input", Align::number},
          {"hex float", Align::number, 1},
          {"bits", Align::left, 2},
          {prepared_heading(profile, three_quarters), Align::number},
          {"levels", Align::right},
          {"scaled", Align::left},
          {std::string(rounded_heading(profile.element_arithmetic)), Align::left},
          {"lower", Align::left, 6},
          {"upper", Align::left, 5},
          {"decided by", Align::left},
          {"rule", Align::left, 4},
          {"code", Align::left},
          {"value", Align::number},
          {"error", Align::number, 7},
          {"steps", Align::number, 3}};
}

std::string level_text(Element element, const std::optional<Level>& level) {
  return level ? fmt::format("{} = {}", code_text(element, level->code), decimal_text(level->value)) : std::string();
}

std::string optional_text(const std::optional<Rational>& value, int digits) {
  return value ? decimal_text(*value, digits) : std::string();
}

std::vector<Cell> row_of(const Explanation& explanation, const ElementStory& story, const std::string& index) {
  const Profile& profile = *explanation.profile;
  const bool apart = story.lower && story.lower->code != story.upper->code;
  return {{index},
          {float_text(story.given)},
          {hex_float_text(story.given)},
          {word_text(story.given), Ink::faint},
          {story.word != story.given ? float_text(story.word) : ""},
          {profile.family == Family::hif4 && story.scaled ? fmt::format("{}", story.level_sum) : ""},
          {optional_text(story.scaled, 9)},
          {story.rounded && *story.rounded != *story.scaled ? decimal_text(*story.rounded) : ""},
          {apart ? level_text(profile.element, story.lower) : ""},
          {apart ? level_text(profile.element, story.upper) : ""},
          decision_cell(explanation, story),
          {std::string(story.rule), Ink::faint},
          {code_text(profile.element, story.code), Ink::result},
          {float_text(story.value), Ink::result},
          {optional_text(story.error, 6)},
          {optional_text(story.steps, 4)}};
}

bool is_dull(const ElementStory& story) {
  const bool zero = story.given == 0 && story.code == 0 && story.value == 0;
  return zero || story.cause == Cause::block_nan;
}

/// How many elements from `first` on share one line.
std::size_t run_from(const Explanation& explanation, std::size_t first) {
  const std::vector<ElementStory>& elements = explanation.elements;
  const std::size_t given = explanation.question.given;
  if (!is_dull(elements[first])) return 1;
  std::size_t count = 1;
  const auto joins = [&](std::size_t i) {
    const bool same_side = (i < given) == (first < given);
    return same_side && is_dull(elements[i]) && elements[i].cause == elements[first].cause;
  };
  while (first + count < elements.size() && joins(first + count)) ++count;
  return count;
}

/// One line for a run of elements without news.
std::vector<Cell> run_row(const Explanation& explanation, std::size_t first, std::size_t count) {
  const ElementStory& story = explanation.elements[first];
  const bool nan = story.cause == Cause::block_nan;
  std::vector<Cell> row(column_count);
  row[column_index] = {fmt::format("{}..{}", first, first + count - 1)};
  row[column_input] = {nan ? "" : "0"};
  row[column_decision] = {
      nan ? fmt::format("the block is NaN: {} codes without meaning", count)
          : fmt::format("{} zeros{}", count, first < explanation.question.given ? "" : " fill the block"),
      nan ? Ink::alarm : Ink::plain};
  row[column_code] = {code_text(explanation.profile->element, story.code), Ink::result};
  row[column_value] = {float_text(story.value), Ink::result};
  return row;
}

std::string left_out_text(const std::vector<std::string>& headings, std::size_t width) {
  if (headings.empty()) return {};
  std::string names;
  for (const std::string& heading : headings) names += (names.empty() ? "" : ", ") + heading;
  return fmt::format("  (left out to fit {} columns: {}; --element I shows all of one element)\n", width, names);
}

}  // namespace

std::string elements_part(const Explanation& explanation, const TextOptions& options) {
  const Profile& profile = *explanation.profile;
  InkTable table(columns_of(profile, explanation.question.three_quarters));
  std::size_t i = 0;
  while (i < explanation.elements.size()) {
    const std::size_t count = options.all ? 1 : run_from(explanation, i);
    table.add(count == 1 ? row_of(explanation, explanation.elements[i], fmt::format("{}", i))
                         : run_row(explanation, i, count));
    i += count;
  }
  const std::vector<std::string> left_out = table.fit(options.width, text_indent);
  const bool scales = explanation.outcome == Outcome::quantized;
  std::string text = "\n" + inked("ELEMENTS", Ink::heading, options.colour);
  if (scales) {
    text += "   " + inked(fmt::format("{} ({})", scaled_formula(profile, explanation.question.three_quarters),
                                      rules_of(profile.family).scaled),
                          Ink::faint, options.colour);
  }
  return text + "\n" + table.text(text_indent, options.colour) + left_out_text(left_out, options.width);
}

}  // namespace fp4proof::explain
