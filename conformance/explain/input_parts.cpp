// What a correction does to the inputs: Hadamard transform and macro blocks.

#include <fmt/format.h>

#include <algorithm>

#include "conformance/explain/correction_parts.h"
#include "conformance/explain/ink_table.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rule_lines.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"

namespace fp4proof::explain {

namespace {

std::string head(const std::string& title, const TextOptions& options) {
  return "\n" + inked(title, Ink::heading, options.colour) + "\n";
}

std::string signs_text(const CorrectionStory& story) {
  const HadamardSpec& spec = story.stack.hadamard;
  switch (spec.signs) {
    case HadamardSigns::none: return "all +";
    case HadamardSigns::fixed:
      return fmt::format(
          "- where the highest bit of the Philox word of the column is set: seed {}, stream hadamard, "
          "step 0",
          spec.seed);
    case HadamardSigns::fresh:
      return fmt::format(
          "- where the highest bit of the Philox word of the column is set: seed {}, stream hadamard, "
          "step = product {}",
          spec.seed, story.product);
  }
  return {};
}

std::string stage_text(const HadamardTrace& trace, const HadamardStage& stage) {
  const std::string own = float_text(stage.before);
  const std::string other = float_text(stage.partner_value);
  const std::string sum =
      stage.subtracts ? fmt::format("RN({} - {})", other, own) : fmt::format("RN({} + {})", own, other);
  return fmt::format("places {} and {}: {} = {}   {}", std::min(trace.place, stage.partner),
                     std::max(trace.place, stage.partner), sum, float_text(stage.value), word_text(stage.value));
}

void tell_hadamard(const CorrectedElement& element, const HadamardSpec& spec, RuleLines& lines) {
  const HadamardTrace& trace = *element.hadamard;
  lines.line("", "input", fmt::format("{}   {}", float_text(element.input), word_text(element.input)));
  lines.line(rule::hadamard_signs, "sign",
             fmt::format("{}: {}", trace.negative ? "-" : "+", float_text(trace.signed_value)));
  for (const HadamardStage& stage : trace.stages) {
    lines.line(rule::hadamard, fmt::format("h = {}", stage.h), stage_text(trace, stage));
  }
  lines.line(rule::hadamard, "factor",
             fmt::format("RN({} / {}) = {}   {}", float_text(trace.stages.back().value), spec.size == 16 ? 4 : 8,
                         float_text(trace.value), word_text(trace.value)),
             Ink::result);
}

std::string hadamard_table(const CorrectionStory& story, const TextOptions& options) {
  InkTable table({{"#", Align::right},
                  {"place", Align::right},
                  {"input", Align::number},
                  {"sign"},
                  {"transformed", Align::number},
                  {"bits", Align::left, 1}});
  for (const CorrectedElement* each : told_elements(story, options)) {
    const CorrectedElement& element = *each;
    table.add({{fmt::format("{}", element.index)},
               {fmt::format("{}", element.hadamard->place)},
               {float_text(element.input)},
               {element.hadamard->negative ? "-" : "+"},
               {float_text(element.inner), Ink::result},
               {word_text(element.inner), Ink::faint}});
  }
  table.fit(options.width, text_indent);
  return table.text(text_indent, options.colour) + left_out_line(story, options);
}

std::string macro_formula(const CorrectionStory& story) {
  return story.stack.macro.form == MacroForm::multiply ? "x' = RN(f x)" : "x' = RN(x / f)";
}

}  // namespace

std::string hadamard_part(const CorrectionStory& story, const CorrectedElement* element, const TextOptions& options) {
  const HadamardSpec& spec = story.stack.hadamard;
  RuleLines lines;
  lines.line(
      rule::hadamard, "groups",
      fmt::format("of {} along the row from column 0; butterflies (a, b) -> (RN(a + b), RN(a - b)) for h = 1 .. {}, "
                  "then 1/{}",
                  spec.size, spec.size / 2, spec.size == 16 ? 4 : 8));
  lines.line(rule::hadamard_signs, "signs", fmt::format("{}: {}", name_of(spec.signs), signs_text(story)));
  if (element != nullptr) tell_hadamard(*element, spec, lines);
  const std::string text = head("HADAMARD TRANSFORM", options) + lines.text(text_indent, options.colour);
  return element != nullptr ? text : text + hadamard_table(story, options);
}

std::string macro_part(const CorrectionStory& story, const CorrectedElement* element, const TextOptions& options) {
  RuleLines lines;
  lines.steps(story.first.macro->steps);
  if (element != nullptr) {
    lines.line(rule::macro_coding, fmt::format("element {}", element->index),
               fmt::format("{} with x = {}: {}   {}", macro_formula(story), float_text(element->inner),
                           float_text(element->coded), word_text(element->coded)),
               Ink::result);
  }
  const std::string text = head("MACRO BLOCK", options) + lines.text(text_indent, options.colour);
  if (element != nullptr) return text;
  InkTable table(
      {{"#", Align::right}, {"x", Align::number}, {macro_formula(story), Align::number}, {"bits", Align::left, 1}});
  for (const CorrectedElement* each : told_elements(story, options)) {
    table.add({{fmt::format("{}", each->index)},
               {float_text(each->inner)},
               {float_text(each->coded), Ink::result},
               {word_text(each->coded), Ink::faint}});
  }
  table.fit(options.width, text_indent);
  return text + table.text(text_indent, options.colour) + left_out_line(story, options);
}

}  // namespace fp4proof::explain
