#include "conformance/explain/explanation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "conformance/explain/ink_table.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/text_parts.h"
#include "reference/exact/element.h"

namespace fp4proof::explain {

namespace {

std::string upper_case(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

std::string block_text(const Profile& profile) {
  const std::string size = profile.block.is_2d() ? fmt::format("{} x {}", profile.block.rows, profile.block.cols)
                                                 : fmt::format("{}", profile.block.cols);
  const std::string elements = fmt::format("{} {} elements", size, upper_case(name_of(profile.element)));
  switch (profile.family) {
    case Family::mx: return elements + " share one E8M0 scale";
    case Family::hif4: return elements + " share one E6M2 scale and two levels of micro-exponent bits";
    case Family::nvfp4: return elements + " share one E4M3 scale";
  }
  return elements;
}

std::string given_text(const BlockQuestion& question) {
  const std::size_t missing = question.words.size() - question.given;
  if (missing == 0) return {};
  return fmt::format("; {} value{} given, {} zeros fill the block", question.given, question.given == 1 ? "" : "s",
                     missing);
}

/// The values of a small element, or the largest of a wide one.
std::string values_text(const Profile& profile) {
  constexpr std::size_t few = 16;
  const std::vector<Rational>& values = exact::magnitudes(profile.element);
  std::string text = upper_case(name_of(profile.element)) + ":";
  if (values.size() > few)
    return fmt::format("{} {} values up to {}, with sign.", text, values.size(), decimal_text(values.back()));
  for (const Rational& value : values) text += " " + decimal_text(value);
  return text + ", with sign.";
}

std::string_view scale_text(const Profile& profile) {
  switch (profile.family) {
    case Family::mx: return "E8M0: a power of two. value = element * scale";
    case Family::hif4:
      return "E6M2: 1, 1.25, 1.5 or 1.75 times a power of two. value = element * 2^(its two level bits) * scale";
    case Family::nvfp4:
      return profile.tensor_scale ? "E4M3: a small float. value = element * s * T, T one binary32 a tensor"
                                  : "E4M3: a small float. value = element * s";
  }
  return {};
}

std::string title(const Explanation& explanation, const TextOptions& options) {
  const Profile& profile = *explanation.profile;
  const std::string summary = profile.summary.empty() ? "" : fmt::format("   {}", profile.summary);
  return inked(profile.name, Ink::heading, options.colour) + summary + "\n" + block_text(profile) +
         given_text(explanation.question) + ".\n" +
         inked(fmt::format("{} {}", values_text(profile), scale_text(profile)), Ink::faint, options.colour) + "\n" +
         (explanation.question.source.empty() ? "" : explanation.question.source + "\n");
}

std::string steps_part(const Explanation& explanation, const TextOptions& options) {
  InkTable table({{""}, {""}, {""}});
  for (const Step& step : explanation.steps) {
    const bool alarms = step.id == "nan" || step.id == "inf" || step.id == "exact-code" || step.id == "flush" ||
                        step.id == "zero-scale";
    const bool results = step.id == "code" || step.id == "scale";
    table.add({{std::string(step.rule), Ink::faint},
               {step.label},
               {step.text, alarms    ? Ink::alarm
                           : results ? Ink::result
                                     : Ink::plain}});
  }
  return "\n" + inked("SCALE", Ink::heading, options.colour) + "\n" + table.text(text_indent, options.colour);
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const TextOptions& options) {
  std::string text = title(explanation, options) + steps_part(explanation, options);
  if (explanation.elements.empty()) return text + "\nThe block is refused: there are no codes.\n";
  if (!explanation.level_bits.empty()) text += level_bits_part(explanation, options);
  if (options.element) {
    return text + element_card(explanation, explanation.elements[static_cast<std::size_t>(*options.element)], options);
  }
  return text + elements_part(explanation, options) + bytes_part(explanation, options);
}

}  // namespace fp4proof::explain
