// Everything about one element.

#include <fmt/format.h>

#include "conformance/explain/block_facts.h"
#include "conformance/explain/decision_text.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"
#include "formats/float_bits.h"

namespace fp4proof::explain {

namespace {

constexpr int all_digits = 17;

class Card {
 public:
  Card() : table_({{"", Align::left}, {"", Align::left}, {"", Align::left}}) {}

  void line(std::string_view rule, const std::string& label, const std::string& text, Ink ink = Ink::plain) {
    table_.add({{std::string(rule), Ink::faint}, {label}, {text, ink}});
  }

  std::string text(bool colour) const { return table_.text(text_indent, colour); }

 private:
  InkTable table_;
};

std::string word_line(std::uint32_t word) {
  return fmt::format("{}   {}   {} = {}", float_text(word), hex_float_text(word), word_text(word), fields_text(word));
}

/// The number in decimal, and without loss.
std::string number_line(const Rational& value) {
  return fmt::format("{}   {}", decimal_text(value, all_digits), exact_text(value));
}

std::string level_line(Element element, const Level& level) {
  return fmt::format("{} = {}", code_text(element, level.code), decimal_text(level.value));
}

void add_scaling(const Profile& profile, const ElementStory& story, Card& card) {
  const FamilyRules rules = rules_of(profile.family);
  if (!story.scaled) return;
  if (profile.family == Family::hif4) {
    card.line(rules.scaled, "levels", fmt::format("level-2 bit + level-3 bit = {}", story.level_sum));
  }
  card.line(rules.scaled, "scaled", number_line(*story.scaled));
  if (story.rounded) {
    card.line(rules.element_arithmetic, "rounded",
              fmt::format("{}, {}", name_of(profile.element_arithmetic), number_line(*story.rounded)));
  }
}

void add_neighbours(const Profile& profile, const ElementStory& story, Card& card) {
  const FamilyRules rules = rules_of(profile.family);
  if (!story.lower || story.lower->code == story.upper->code) return;
  card.line(rules.rounding, "lower", level_line(profile.element, *story.lower));
  card.line(rules.rounding, "upper", level_line(profile.element, *story.upper));
  card.line(rules.rounding, "tie", decimal_text((story.lower->value + story.upper->value).scaled(-1)));
}

void add_draw(const ElementStory& story, Card& card) {
  if (!story.draw) return;
  card.line(rule::stochastic, "random word",
            fmt::format("{}, high {} bits: u = 0x{:x}", word_text(story.draw->word), story.draw->bits, story.draw->u));
  card.line(rule::stochastic, "fraction",
            fmt::format("floor(2^{} * (y - lower) / (upper - lower)) = {} = 0x{:x}", story.draw->bits,
                        story.draw->fraction, story.draw->fraction));
}

void add_result(const Explanation& explanation, const ElementStory& story, Card& card) {
  const Profile& profile = *explanation.profile;
  const FamilyRules rules = rules_of(profile.family);
  const ElementSpec spec = element_spec(profile.element);
  card.line(story.code == 0 || story.code == spec.sign_mask() ? rules.sign : story.rule, "code",
            fmt::format("{} = {}", code_text(profile.element, story.code), binary_text(story.code, spec.bits())),
            Ink::result);
  card.line(rules.decode, "value", word_line(story.value), Ink::result);
  if (story.error) card.line("", "error", number_line(*story.error));
  if (story.steps) card.line("", "", fmt::format("{} steps of the grid", decimal_text(*story.steps)));
}

}  // namespace

std::string element_card(const Explanation& explanation, const ElementStory& story, const TextOptions& options) {
  const Profile& profile = *explanation.profile;
  Card card;
  card.line("", "input", word_line(story.given));
  if (story.word != story.given) {
    const bool three_quarters = explanation.question.three_quarters;
    card.line(three_quarters ? rule::three_quarters : rules_of(profile.family).input,
              three_quarters ? "RN(0.75 x)" : "becomes", word_line(story.word));
  }
  add_scaling(profile, story, card);
  add_neighbours(profile, story, card);
  add_draw(story, card);
  const Cell decision = decision_cell(explanation, story);
  card.line(story.rule, "decision", decision.text, decision.ink);
  add_result(explanation, story, card);
  std::string place = place_text(profile.block, story.index);
  place.replace(0, std::string_view("element").size(), "ELEMENT");
  return "\n" + inked(place, Ink::heading, options.colour) + "\n" + card.text(options.colour);
}

}  // namespace fp4proof::explain
