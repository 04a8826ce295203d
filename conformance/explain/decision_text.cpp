#include "conformance/explain/decision_text.h"

#include <fmt/format.h>

#include "conformance/explain/grid_choice.h"
#include "conformance/explain/number_text.h"
#include "formats/float_bits.h"
#include "reference/exact/element.h"

namespace fp4proof::explain {

namespace {

constexpr int few_digits = 6;

/// The number that the decision looked at.
const Rational& seen(const ElementStory& story) { return story.rounded ? *story.rounded : *story.scaled; }

std::string nearest(const Profile& profile, const ElementStory& story) {
  return nearest_text({seen(story), story.lower->value, story.upper->value}, profile.rounding, few_digits);
}

std::string draw_text(const Draw& draw) {
  return fmt::format("fraction 0x{:0{}x} + u 0x{:0{}x} {} 2^{}: {}", draw.fraction, draw.bits / 4, draw.u,
                     draw.bits / 4, draw.up() ? ">=" : "<", draw.bits, draw.up() ? "up" : "down");
}

std::string half_add_text(const HalfAdd& add) {
  return fmt::format("{} steps of {}, + 0.5 gives {} in binary32: {}{}", decimal_text(add.steps),
                     decimal_text(add.spacing), decimal_text(add.sum), add.sum.floor().str(),
                     add.taken_back ? fmt::format(", a tie, back to {}", add.whole) : "");
}

std::string distance_text(const ElementStory& story, std::uint8_t magnitude_code) {
  const Distances& distances = *story.distances;
  if (story.lower->code == story.upper->code) {
    return seen(story) == story.lower->value ? "on the grid" : "beyond the largest, which is nearest";
  }
  const auto shown = [](const std::optional<Rational>& d) { return d ? decimal_text(*d, few_digits) : "out of reach"; };
  const bool equal = distances.lower && distances.upper && *distances.lower == *distances.upper;
  return fmt::format("distance {} down, {} up: {}", shown(distances.lower), shown(distances.upper),
                     equal                                 ? "equal, the first"
                     : magnitude_code == story.lower->code ? "down"
                                                           : "up");
}

std::string cause_text(const Explanation& explanation, const ElementStory& story, std::uint8_t magnitude_code) {
  const Profile& profile = *explanation.profile;
  switch (story.cause) {
    case Cause::on_grid: return seen(story).is_zero() && story.lower->code == 0 ? "zero" : "on the grid";
    case Cause::below_tie:
    case Cause::above_tie:
    case Cause::tie: return nearest(profile, story);
    case Cause::toward_zero: return "toward zero";
    case Cause::stochastic: return draw_text(*story.draw);
    case Cause::saturated:
      return fmt::format("beyond the largest, {}: clamped", decimal_text(exact::magnitudes(profile.element).back()));
    case Cause::half_add: return half_add_text(*story.half_add);
    case Cause::distance: return distance_text(story, magnitude_code);
    case Cause::infinity: return "infinity: clamped to the largest";
    case Cause::nan_ignored: return "NaN: coded +0";
    case Cause::nan_zeroed: return "times zero is NaN: the largest code";
    case Cause::zeroed: return "times zero";
    case Cause::flushed: return "the block is flushed";
    case Cause::zero_scale: return "the scale is zero";
    case Cause::block_nan: return "the block is NaN: the code has no meaning";
  }
  return {};
}

Ink ink_of(Cause cause) {
  switch (cause) {
    case Cause::tie:
    case Cause::stochastic: return Ink::notice;
    case Cause::saturated:
    case Cause::infinity:
    case Cause::nan_ignored:
    case Cause::nan_zeroed:
    case Cause::zeroed:
    case Cause::flushed:
    case Cause::zero_scale:
    case Cause::block_nan: return Ink::alarm;
    default: return Ink::plain;
  }
}

}  // namespace

Cell decision_cell(const Explanation& explanation, const ElementStory& story) {
  const ElementSpec spec = element_spec(explanation.profile->element);
  const auto magnitude_code = static_cast<std::uint8_t>(story.code & (spec.sign_mask() - 1U));
  Cell cell{cause_text(explanation, story, magnitude_code), ink_of(story.cause)};
  if (story.without_rounding) {
    cell.text +=
        fmt::format("; unrounded it gives {}", code_text(explanation.profile->element, *story.without_rounding));
    cell.ink = Ink::notice;
  }
  const bool negative_zero = magnitude_code == 0 && (story.word & float_sign_mask) != 0 &&
                             story.cause != Cause::block_nan && story.cause != Cause::nan_ignored;
  if (negative_zero) cell.text += story.code != 0 ? "; sign kept" : "; sign dropped";
  return cell;
}

std::string code_text(Element element, std::uint8_t code) {
  return fmt::format("0x{:0{}x}", code, element_spec(element).bits() > 4 ? 2 : 1);
}

}  // namespace fp4proof::explain
