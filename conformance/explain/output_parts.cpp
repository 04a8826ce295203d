// What a correction makes of the codes: the residual and the corrected values.

#include <fmt/format.h>

#include "conformance/explain/correction_parts.h"
#include "conformance/explain/decision_text.h"
#include "conformance/explain/ink_table.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rule_lines.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"

namespace fp4proof::explain {

namespace {

std::string word_line(std::uint32_t word) { return fmt::format("{}   {}", float_text(word), word_text(word)); }

std::string optional_text(const std::optional<Rational>& value, int digits) {
  return value ? decimal_text(*value, digits) : std::string();
}

const ElementStory& inner_story(const PartStory& part, const CorrectedElement& element) {
  return part.block.elements[static_cast<std::size_t>(element.index)];
}

std::string decoding_text(const CorrectionStory& story) {
  if (story.stack.three_quarters) return "RN(v / 0.75)";
  if (!story.stack.macro.is_on()) return "v";
  return story.stack.macro.form == MacroForm::multiply ? "RN(v / f)" : "RN(v f)";
}

std::string_view decoding_rule(const CorrectionStory& story) {
  if (story.stack.three_quarters) return rule::three_quarters;
  return story.stack.macro.is_on() ? rule::macro_decoding : rules_of(story.effective->family).decode;
}

Cell mask_cell(const MaskDecision& mask) {
  const std::string tie = mask.tie ? " (tie)" : "";
  return {(mask.kept ? "kept" : "dropped") + tie, mask.tie ? Ink::notice : mask.kept ? Ink::plain : Ink::faint};
}

/// The error of a correction against the one without.
std::string comparison_text(const CorrectedElement& element) {
  if (!element.error || !element.plain_error) return "no comparison: a value is not finite";
  const Rational with = element.error->abs();
  const Rational without = element.plain_error->abs();
  if (with == without) return "the same |error| as without the correction";
  if (without.is_zero()) return "without the correction there is no error";
  return fmt::format("|error| is {} of the one without the correction: {}", decimal_text(with / without, 6),
                     with < without ? "smaller" : "larger");
}

Ink comparison_ink(const CorrectedElement& element) {
  if (!element.error || !element.plain_error) return Ink::plain;
  return element.error->abs() > element.plain_error->abs() ? Ink::notice : Ink::result;
}

}  // namespace

std::string residual_table(const CorrectionStory& story, const TextOptions& options) {
  InkTable table({{"#", Align::right},
                  {"x", Align::number},
                  {"x1", Align::number},
                  {"r", Align::number},
                  {story.stack.macro.is_on() ? "r'" : "", Align::number, 3},
                  {"decided by", Align::left, 2},
                  {"mask", Align::left},
                  {"why", Align::left, 1},
                  {"code", Align::left},
                  {"x2", Align::number}});
  for (const CorrectedElement* each : told_elements(story, options)) {
    const CorrectedElement& element = *each;
    const ElementResidual& residual = *element.residual;
    const ElementStory& inner = inner_story(*story.residual, element);
    table.add({{fmt::format("{}", element.index)},
               {float_text(element.inner)},
               {float_text(element.first)},
               {float_text(residual.residual), Ink::result},
               {story.stack.macro.is_on() ? float_text(residual.coded) : ""},
               decision_cell(story.residual->block, inner),
               mask_cell(residual.mask),
               {fmt::format("{} {}", residual.mask.rule, residual.mask.what), Ink::faint},
               {code_text(story.effective->element, residual.code), Ink::result},
               {float_text(residual.second), Ink::result}});
  }
  table.fit(options.width, text_indent);
  return table.text(text_indent, options.colour) + left_out_line(story, options);
}

void tell_residual(const CorrectionStory& story, const CorrectedElement& element, RuleLines& lines) {
  const ElementResidual& residual = *element.residual;
  lines.line(decoding_rule(story), "x1", fmt::format("{} = {}", decoding_text(story), word_line(element.first)));
  lines.line(rule::residual, "r",
             fmt::format("RN({} - {}) = {}", float_text(element.inner), float_text(element.first),
                         word_line(residual.residual)),
             Ink::result);
  lines.line(residual.mask.rule, "mask", residual.mask.what);
  lines.line("", "", residual.mask.why, residual.mask.kept ? Ink::plain : Ink::notice);
}

void tell_residual_code(const CorrectionStory& story, const CorrectedElement& element, RuleLines& lines) {
  const ElementResidual& residual = *element.residual;
  const ElementStory& inner = inner_story(*story.residual, element);
  const FamilyRules rules = rules_of(story.effective->family);
  if (story.stack.macro.is_on()) lines.line(rule::macro_coding, "r'", word_line(residual.coded));
  if (inner.scaled) lines.line(rules.scaled, "scaled", decimal_text(*inner.scaled, 17));
  const Cell decision = decision_cell(story.residual->block, inner);
  lines.line(inner.rule, "decision", decision.text, decision.ink);
  const Element kind = story.effective->element;
  lines.line(rule::residual, "code",
             residual.mask.kept ? code_text(kind, residual.code)
                                : fmt::format("{} instead of {}: outside the mask", code_text(kind, residual.code),
                                              code_text(kind, inner.code)),
             Ink::result);
  lines.line(decoding_rule(story), "x2", fmt::format("{} = {}", decoding_text(story), word_line(residual.second)),
             Ink::result);
}

std::string value_table(const CorrectionStory& story, const TextOptions& options) {
  const bool inverse = story.stack.hadamard.is_on();
  InkTable table({{"#", Align::right},
                  {"input", Align::number},
                  {"x1", Align::number, 3},
                  {"alpha x2", Align::number, 2},
                  {"sum", Align::number, 1},
                  {"x^", Align::number},
                  {"error", Align::number},
                  {"alone", Align::number},
                  {"error alone", Align::number}});
  for (const CorrectedElement* each : told_elements(story, options)) {
    const CorrectedElement& element = *each;
    table.add({{fmt::format("{}", element.index)},
               {float_text(element.input)},
               {float_text(element.first)},
               {element.residual ? float_text(element.residual->scaled) : ""},
               {inverse ? float_text(element.inner_value) : ""},
               {float_text(element.value), Ink::result},
               {optional_text(element.error, 6), comparison_ink(element)},
               {element.plain ? float_text(*element.plain) : ""},
               {optional_text(element.plain_error, 6)}});
  }
  table.fit(options.width, text_indent);
  return table.text(text_indent, options.colour) + left_out_line(story, options);
}

std::string value_card(const CorrectionStory& story, const CorrectedElement& element, const TextOptions& options) {
  RuleLines lines;
  if (element.residual) {
    lines.line(rule::corrected_value, "alpha x2",
               fmt::format("RN({} * {}) = {}", story.stack.residual.alpha, float_text(element.residual->second),
                           word_line(element.residual->scaled)));
    lines.line(rule::corrected_value, "sum",
               fmt::format("RN({} + {}) = {}", float_text(element.first), float_text(element.residual->scaled),
                           word_line(element.inner_value)));
  } else {
    lines.line(decoding_rule(story), "x1", fmt::format("{} = {}", decoding_text(story), word_line(element.first)));
  }
  if (element.hadamard) {
    lines.line(rule::hadamard_inverse, "inverse", "the butterflies and the factor on the group, then the signs");
  }
  lines.line(rule::corrected_value, "x^", word_line(element.value), Ink::result);
  if (element.error) lines.line("", "error", decimal_text(*element.error, 17), Ink::result);
  if (element.plain) {
    const std::string error = element.plain_error ? ", error " + decimal_text(*element.plain_error, 17) : "";
    lines.line("", "without", fmt::format("{}{} ({} alone)", float_text(*element.plain), error, story.asked->name));
  }
  lines.line("", "", comparison_text(element), comparison_ink(element));
  return lines.text(text_indent, options.colour);
}

}  // namespace fp4proof::explain
