#include "conformance/explain/decomposition_show.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/explain/ink_table.h"
#include "conformance/explain/json_parts.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "conformance/explain/text_parts.h"
#include "formats/float_bits.h"
#include "reference/exact/float_word.h"

namespace fp4proof::explain {

namespace {

using nlohmann::json;

/// A binary64 number with all its digits.
std::string term_text(double value) {
  return decimal_text(*exact::value_of(exact::binary64, bits_as<std::uint64_t>(value)), 17);
}

/// With a form without loss, for the card.
std::string exact_term(double value) {
  return fmt::format("{}   {}", term_text(value),
                     exact_text(*exact::value_of(exact::binary64, bits_as<std::uint64_t>(value))));
}

std::string level_text(const ElementDecomposition& element) {
  if (!element.level) return {};
  const std::string level = decimal_text(*element.level);
  return element.code ? fmt::format("0x{:x} = {}", *element.code, level) : level;
}

std::string zone_text(const ElementDecomposition& element) {
  if (element.excluded) return "left out: not finite";
  return element.in_deadzone ? "deadzone" : "";
}

std::string percent(double share) { return fmt::format("{:.2f}%", 100.0 * share); }

std::string sums_text(const portable::ErrorSplit& sums) {
  if (sums.error == 0.0) return fmt::format("|e|^2 = 0 over {} elements", sums.compared());
  return fmt::format(
      "|e|^2 / |x|^2 = {:.6g}: scale {}, deadzone {}, grid {} of |e|^2 (the rest is the cross terms); {} of {} "
      "elements "
      "in the deadzone",
      sums.relative_error(), percent(sums.scale_share()), percent(sums.deadzone_share()), percent(sums.grid_share()),
      sums.in_deadzone, sums.compared());
}

std::string heading(const BlockDecomposition& decomposition, const TextOptions& options) {
  const std::string note = fmt::format(
      "terms are {} times the error ({}); ideal scale = largest of the block / {} ({})", decomposition.factor,
      rule::error_terms, decimal_text(decomposition.full_scale), rule::ideal_quantizer);
  return "\n" + inked("DECOMPOSITION", Ink::heading, options.colour) + "   " + inked(note, Ink::faint, options.colour) +
         "\n";
}

bool is_dull(const ElementDecomposition& element) {
  return element.input == 0 && element.value == 0 && !element.excluded;
}

std::string table_text(const BlockDecomposition& decomposition, const TextOptions& options) {
  InkTable table({{"#", Align::right},
                  {"input", Align::number},
                  {"Q(x)", Align::number},
                  {"ideal", Align::left, 1},
                  {"F Q*", Align::number, 2},
                  {"F e", Align::number},
                  {"F e_scale", Align::number},
                  {"F e_deadzone", Align::number},
                  {"F e_grid", Align::number},
                  {"", Align::left}});
  std::size_t zeros = 0;
  for (const ElementDecomposition& element : decomposition.elements) {
    if (!options.all && is_dull(element)) {
      ++zeros;
      continue;
    }
    const portable::ErrorTerms& terms = element.terms;
    table.add({{fmt::format("{}", element.index)},
               {float_text(element.input)},
               {float_text(element.value), Ink::result},
               {level_text(element)},
               {term_text(element.ideal)},
               {term_text(terms.error), Ink::result},
               {term_text(terms.scale)},
               {term_text(terms.deadzone)},
               {term_text(terms.grid)},
               {zone_text(element), Ink::notice}});
  }
  table.fit(options.width, text_indent);
  std::string text = table.text(text_indent, options.colour);
  if (zeros > 0) text += fmt::format("  ({} zeros without error are left out; --all shows them)\n", zeros);
  if (decomposition.sums) {
    text += fmt::format("  {}  {}\n", rule::error_sums, sums_text(*decomposition.sums));
    text += fmt::format("  {}  deadzone and grid together, which no choice of scale alone removes: {} of |e|^2\n",
                        rule::error_floor, percent(decomposition.sums->floor_share()));
  }
  return text;
}

std::string card_text(const BlockDecomposition& decomposition, const ElementDecomposition& element,
                      const TextOptions& options) {
  InkTable table({{""}, {""}, {""}});
  const auto line = [&](std::string_view rule, const std::string& label, const std::string& text,
                        Ink ink = Ink::plain) {
    table.add({{std::string(rule), Ink::faint}, {label}, {text, ink}});
  };
  const auto scale = exact::float_value(element.largest) / decomposition.full_scale;
  const int factor = decomposition.factor;
  line(rule::ideal_quantizer, "ideal scale",
       fmt::format("{} / {} = {}", float_text(element.largest), decimal_text(decomposition.full_scale),
                   decimal_text(scale)));
  if (element.level) line(rule::ideal_quantizer, "ideal code", level_text(element));
  line(rule::ideal_quantizer, "F Q*",
       fmt::format(
           "{}   Q* = {}", term_text(element.ideal),
           decimal_text(*exact::value_of(exact::binary64, bits_as<std::uint64_t>(element.ideal)) / Rational(factor))));
  if (element.excluded) {
    line(rule::left_out, "left out", "x or Q(x) is NaN or infinite", Ink::alarm);
    return table.text(text_indent, options.colour);
  }
  line(rule::deadzone, "deadzone", element.in_deadzone ? "yes: the ideal quantizer makes this element 0" : "no",
       element.in_deadzone ? Ink::notice : Ink::plain);
  const portable::ErrorTerms& terms = element.terms;
  line(rule::error_terms, "F e", fmt::format("F Q(x) - F x = {}", exact_term(terms.error)), Ink::result);
  line(rule::error_terms, "F e_scale", fmt::format("F Q(x) - F Q* = {}", exact_term(terms.scale)));
  line(rule::error_terms, "F e_deadzone",
       fmt::format("{}{}", element.in_deadzone ? "F Q* - F x = " : "", exact_term(terms.deadzone)));
  line(rule::error_terms, "F e_grid",
       fmt::format("{}{}", element.in_deadzone ? "" : "F Q* - F x = ", exact_term(terms.grid)));
  line(rule::error_terms, "identity",
       element.identity_holds ? "F e = (F e_scale + F e_deadzone) + F e_grid, bit for bit"
                              : "F e is not the sum of its terms: one of them was rounded",
       element.identity_holds ? Ink::plain : Ink::alarm);
  return table.text(text_indent, options.colour);
}

json element_json(const ElementDecomposition& element) {
  const portable::ErrorTerms& terms = element.terms;
  return {{"index", element.index},
          {"input", word_json(element.input)},
          {"value", word_json(element.value)},
          {"largest", word_json(element.largest)},
          {"ideal", element.ideal},
          {"ideal_level", optional_number(element.level)},
          {"ideal_code", element.code ? json(*element.code) : json(nullptr)},
          {"excluded", element.excluded},
          {"in_deadzone", element.in_deadzone},
          {"identity_holds", element.identity_holds},
          {"error", terms.error},
          {"scale", terms.scale},
          {"deadzone", terms.deadzone},
          {"grid", terms.grid}};
}

json sums_json(const portable::ErrorSplit& sums) {
  return {{"elements", sums.elements},
          {"excluded", sums.excluded},
          {"in_deadzone", sums.in_deadzone},
          {"zeroed", sums.zeroed},
          {"inexact", sums.inexact},
          {"identity_failures", sums.identity_failures},
          {"value", sums.value},
          {"quantized_value", sums.quantized_value},
          {"error", sums.error},
          {"scale", sums.scale},
          {"deadzone", sums.deadzone},
          {"grid", sums.grid},
          {"scale_grid", sums.scale_grid},
          {"scale_deadzone", sums.scale_deadzone}};
}

}  // namespace

std::string decomposition_text(const BlockDecomposition& decomposition, const TextOptions& options) {
  const std::string text = heading(decomposition, options);
  if (!options.element) return text + table_text(decomposition, options);
  const auto at = std::find_if(decomposition.elements.begin(), decomposition.elements.end(),
                               [&](const ElementDecomposition& element) { return element.index == *options.element; });
  if (at == decomposition.elements.end()) return text + "  the tensor has no such element: it fills the block\n";
  return text + card_text(decomposition, *at, options);
}

json decomposition_json(const BlockDecomposition& decomposition) {
  json elements = json::array();
  for (const ElementDecomposition& element : decomposition.elements) elements.push_back(element_json(element));
  return {{"factor", decomposition.factor},
          {"full_scale", number_json(decomposition.full_scale)},
          {"elements", elements},
          {"sums", decomposition.sums ? sums_json(*decomposition.sums) : json(nullptr)}};
}

}  // namespace fp4proof::explain
