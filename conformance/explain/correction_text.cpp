#include "conformance/explain/correction_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/explain/correction_parts.h"
#include "conformance/explain/decomposition_show.h"
#include "conformance/explain/rule_lines.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"

namespace fp4proof::explain {

namespace {

std::string heading(const std::string& title, const std::string& note, const TextOptions& options) {
  const std::string rest = note.empty() ? "" : "   " + inked(note, Ink::faint, options.colour);
  return "\n" + inked(title, Ink::heading, options.colour) + rest + "\n";
}

std::string title(const CorrectionStory& story, const TextOptions& options) {
  const std::string names = fmt::format("{} corrected by {}", story.asked->name, story.stack.name);
  std::string text = inked(names, Ink::heading, options.colour);
  if (!story.stack.summary.empty()) text += "   " + std::string(story.stack.summary);
  text += "\n";
  if (!story.context.source.empty()) text += story.context.source + "\n";
  return text;
}

const CorrectedElement* find_element(const CorrectionStory& story, int index) {
  const auto at = std::find_if(story.elements.begin(), story.elements.end(),
                               [&](const CorrectedElement& element) { return element.index == index; });
  return at == story.elements.end() ? nullptr : &*at;
}

/// What the inner quantizer sees, by the parts of the stack.
std::string seen_text(const CorrectionStack& stack) {
  if (stack.macro.is_on()) return "what the profile makes of x'";
  return stack.hadamard.is_on() ? "what the profile makes of the transformed x" : "what the profile makes of x";
}

/// The steps to the scale, of a story that is told in short.
void tell_scale(const PartStory& part, RuleLines& lines) {
  if (part.macro) lines.steps(part.macro->steps);
  for (const Step& step : part.block.steps) {
    lines.line(step.rule, step.label, step.text, step.id == "code" ? Ink::result : Ink::plain);
  }
}

std::string residual_part(const CorrectionStory& story, const CorrectedElement* element, const TextOptions& options) {
  const std::string note =
      fmt::format("r = RN(x - x1) ({}), coded by the same inner quantizer, in short", rule::residual);
  RuleLines lines;
  if (element != nullptr) tell_residual(story, *element, lines);
  tell_scale(*story.residual, lines);
  if (element != nullptr) tell_residual_code(story, *element, lines);
  const std::string text = heading("RESIDUAL", note, options) + lines.text(text_indent, options.colour);
  return element != nullptr ? text : text + residual_table(story, options);
}

std::string verdict_text(const CorrectionStory& story) {
  int smaller = 0;
  int larger = 0;
  int compared = 0;
  for (const CorrectedElement& element : story.elements) {
    if (!element.error || !element.plain_error) continue;
    ++compared;
    const auto order = element.error->abs() <=> element.plain_error->abs();
    if (order < 0) ++smaller;
    if (order > 0) ++larger;
  }
  if (compared == 0) return "  no element can be compared with the profile alone\n";
  return fmt::format("  |error| against {} alone: smaller for {}, larger for {}, equal for {} of {} elements\n",
                     story.asked->name, smaller, larger, compared - smaller - larger, compared);
}

std::string value_part(const CorrectionStory& story, const CorrectedElement* element, const TextOptions& options) {
  std::string note = story.residual ? fmt::format("x^ = RN(x1 + RN(alpha x2)) ({}), alpha = {}", rule::corrected_value,
                                                  story.stack.residual.alpha)
                                    : fmt::format("x^ = x1 ({})", rule::corrected_value);
  if (story.stack.hadamard.is_on()) note += fmt::format(", then the inverse transform ({})", rule::hadamard_inverse);
  const std::string head = heading("CORRECTED VALUE", note, options);
  if (element != nullptr) return head + value_card(story, *element, options);
  return head + value_table(story, options) + verdict_text(story);
}

bool is_dull(const CorrectedElement& element) {
  return element.input == 0 && element.inner == 0 && element.first == 0 && element.value == 0;
}

}  // namespace

std::vector<const CorrectedElement*> told_elements(const CorrectionStory& story, const TextOptions& options) {
  std::vector<const CorrectedElement*> told;
  for (const CorrectedElement& element : story.elements) {
    if (options.all || !is_dull(element)) told.push_back(&element);
  }
  return told;
}

std::string left_out_line(const CorrectionStory& story, const TextOptions& options) {
  const std::size_t count = story.elements.size() - told_elements(story, options).size();
  return count == 0 ? "" : fmt::format("  ({} zeros that stay 0 are left out; --all shows them)\n", count);
}

std::string correction_text(const CorrectionStory& story, const TextOptions& options) {
  const CorrectedElement* element = options.element ? find_element(story, *options.element) : nullptr;
  std::string text = title(story, options);
  if (story.stack.hadamard.is_on()) text += hadamard_part(story, element, options);
  if (story.first.macro) text += macro_part(story, element, options);
  text += heading("INNER QUANTIZER", seen_text(story.stack), options) + "\n";
  text += explanation_text(story.first.block, options);
  if (options.element && element == nullptr) return text + "\nThe tensor has no such element: it fills the block.\n";
  if (story.residual) text += residual_part(story, element, options);
  text += value_part(story, element, options);
  return text + decomposition_text(story.decomposition, options);
}

}  // namespace fp4proof::explain
