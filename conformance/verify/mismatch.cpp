#include "conformance/verify/mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "conformance/suite/case_group.h"
#include "formats/hif4.h"
#include "formats/scale_codes.h"

namespace fp4proof::verify {

namespace {

using suite::Operation;

constexpr std::array<std::pair<std::string_view, std::string_view>, 40> likely_causes = {{
    {"nan-block", "another policy for blocks that hold a NaN, or the NaN was lost in a maximum"},
    {"infinity-block", "another policy for blocks that hold an infinity"},
    {"zero-block", "another scale for all-zero blocks"},
    {"nan-scale", "a finite block got the NaN scale: the scale code was not clamped"},
    {"nan-scale-codes", "element codes under a NaN scale carry no meaning, but the rule is 0"},
    {"nan-value", "NaN or infinity where a number belongs, or the other way round"},
    {"scale-code", "another scale rule, or the same rule in inexact arithmetic"},
    {"tensor-scale", "the scale of the tensor was computed another way"},
    {"scale-value", "the scale code was decoded to another power of two"},
    {"level2-bit", "the level-2 threshold, its rounding, or the elements that it looks at"},
    {"level3-bit", "the level-3 threshold, its rounding, or the elements that it looks at"},
    {"strided-groups", "micro-exponents were formed over strided elements (i mod 8, i mod 16), not adjacent ones"},
    {"micro-value", "a micro-exponent was applied to other elements, or not at all"},
    {"sign-of-zero", "the sign of zero was dropped, or kept where the rule drops it"},
    {"sign", "the sign of a value that is not zero"},
    {"special-code", "the code of NaN or infinity, or one that the element does not have"},
    {"saturation", "values beyond the largest element do not clamp to it"},
    {"tie", "another rule for ties"},
    {"double-rounding", "the scaled value was rounded to bfloat16 or binary16 before it was rounded to the element"},
    {"no-pre-rounding", "the scaled value was not rounded to the intermediate format that the rule has"},
    {"random-bits", "the random word was used another way: other bits, another comparison, or not at all"},
    {"flushed-subnormal", "a subnormal was flushed to zero"},
    {"neighbour", "rounded to the other neighbour: another direction, or a value scaled inexactly"},
    {"code", "another element table, or a value scaled by something else"},
    {"value", "another value: another table or scale, or products and sums rounded where no known rule rounds"},
    {"swapped-nibbles", "the even element stands in the high nibble"},
    {"split-nibbles", "a byte holds elements j and j + half a block"},
    {"transposed", "rows and columns are exchanged"},
    {"scale-order", "scales are stored in another order"},
    {"micro-order", "micro-exponent bits are stored MSB first"},
    {"byte-order", "the bytes of the scale word are stored highest first"},
    {"accumulation", "the sum was accumulated in another order or precision"},
    {"macro-factor", "the factor of the macro block: rounded, taken from another maximum, or of another size"},
    {"residual-mask", "another element of the residual is kept, or a tie goes to the higher column"},
    {"scale-term", "the error of the scale: the ideal quantizer, or what is subtracted from it"},
    {"deadzone-term", "the error of the deadzone: its edge is 24 |x| = m on MXFP4, whatever the coded scale"},
    {"grid-term", "the error of the grid: the ideal quantizer takes m / max exactly"},
    {"count", "elements were counted another way: zeros, NaN, or the edge of the deadzone"},
    {"two-runs", "the answer depends on threads, on memory that was not written, or on a sum in no fixed order"},
    {"poison", "the output still holds what it was filled with"},
}};

std::string binary(std::uint32_t value, int bits) { return fmt::format("{:0{}b}", value, bits); }

bool has_codes(const Mismatch& mismatch) {
  return mismatch.operation == Operation::quantize ||
         (mismatch.operation == Operation::correct && mismatch.finding.tensor != "values");
}

std::string value_text(const Mismatch& mismatch, std::uint32_t value) {
  if (!has_codes(mismatch)) return fmt::format("{} = {:08x} = {}", hex_float(value), value, float_fields(value));
  const float decoded = decode_element(mismatch.profile->element, static_cast<std::uint8_t>(value));
  return fmt::format("{} = code {} ({})", code_fields(*mismatch.profile, value), value, decoded);
}

void put(nlohmann::json& object, const char* name, const std::optional<std::uint32_t>& value) {
  if (value) object[name] = *value;
}

std::string place_text(const Mismatch& mismatch) {
  const Finding& finding = mismatch.finding;
  const std::string in_tensor = finding.tensor.empty() ? "" : fmt::format("{} ", finding.tensor);
  std::string place = in_tensor;
  place += has_codes(mismatch) ? fmt::format("row {} block {}", finding.row, finding.block)
                               : fmt::format("row {}", finding.row);
  if (finding.element >= 0) place += fmt::format(" {} {}", has_codes(mismatch) ? "element" : "column", finding.element);
  return place;
}

}  // namespace

std::string_view likely_cause(std::string_view kind) {
  const auto found = std::ranges::find(likely_causes, kind, [](const auto& row) { return row.first; });
  return found == likely_causes.end() ? "unknown" : found->second;
}

std::string float_fields(std::uint32_t word) {
  return fmt::format("{}.{}.{}", word >> 31, binary(word >> 23 & 0xFFU, 8), binary(word & 0x7FFFFFU, 23));
}

std::string hex_float(std::uint32_t word) { return fmt::format("{:a}", float_from_bits(word)); }

std::string code_fields(const Profile& profile, std::uint32_t code) {
  const ElementSpec spec = element_spec(profile.element);
  const std::uint32_t exponent_mask = (1U << spec.exponent_bits) - 1U;
  const std::uint32_t mantissa_mask = (1U << spec.mantissa_bits) - 1U;
  return fmt::format("{}.{}.{}", code >> (spec.bits() - 1) & 1U,
                     binary(code >> spec.mantissa_bits & exponent_mask, spec.exponent_bits),
                     binary(code & mantissa_mask, spec.mantissa_bits));
}

std::string scale_text(const Profile& profile, std::uint32_t scale) {
  switch (profile.family) {
    case Family::mx:
      return scale == e8m0_nan ? "255 (NaN)" : fmt::format("{} (2^{})", scale, static_cast<int>(scale) - e8m0_bias);
    case Family::hif4: {
      const std::uint8_t e6m2 = hif4_e6m2(scale);
      const std::string value = e6m2 == e6m2_nan ? "NaN" : fmt::format("{:a}", decode_e6m2(e6m2));
      return fmt::format("{:#04x} ({}) level 2 {} level 3 {}", e6m2, value, binary(scale >> 8 & 0xFFU, 8),
                         binary(scale >> 16, 16));
    }
    case Family::nvfp4: {
      const float value = decode_e4m3_scale(static_cast<std::uint8_t>(scale));
      return fmt::format("{:#04x} ({})", scale, std::isnan(value) ? "NaN" : fmt::format("{}", value));
    }
  }
  return {};
}

std::string to_text(const Mismatch& mismatch) {
  const Finding& finding = mismatch.finding;
  std::string text = fmt::format("{} {} {} class {} case {}\n  {} {}", suite::name_of(mismatch.operation),
                                 mismatch.profile->name, mismatch.group, mismatch.class_name,
                                 suite::id_text(mismatch.case_id), name_of(finding.cause), finding.kind);
  if (finding.distance != 0) text += fmt::format(", distance {:+}", finding.distance);
  text += fmt::format(" at {}\n", place_text(mismatch));
  if (finding.input) {
    text += fmt::format("  input     {} = {:08x} = {}\n", hex_float(*finding.input), *finding.input,
                        float_fields(*finding.input));
  }
  if (finding.expected_scale && finding.actual_scale) {
    text += fmt::format("  scale     expected {}, actual {}\n", scale_text(*mismatch.profile, *finding.expected_scale),
                        scale_text(*mismatch.profile, *finding.actual_scale));
  }
  if (finding.expected) text += fmt::format("  expected  {}\n", value_text(mismatch, *finding.expected));
  if (finding.actual) text += fmt::format("  actual    {}\n", value_text(mismatch, *finding.actual));
  return text + fmt::format("  likely    {}\n", likely_cause(finding.kind));
}

nlohmann::json to_json(const Mismatch& mismatch) {
  const Finding& finding = mismatch.finding;
  nlohmann::json value = {{"operation", suite::name_of(mismatch.operation)},
                          {"profile", mismatch.profile->name},
                          {"group", mismatch.group},
                          {"class", mismatch.class_name},
                          {"case_id", suite::id_text(mismatch.case_id)},
                          {"case_index", mismatch.case_index},
                          {"cause", name_of(finding.cause)},
                          {"kind", finding.kind},
                          {"distance", finding.distance},
                          {"row", finding.row},
                          {"block", finding.block},
                          {"likely", likely_cause(finding.kind)}};
  if (!finding.tensor.empty()) value["tensor"] = finding.tensor;
  if (finding.element >= 0) value["element"] = finding.element;
  put(value, "input", finding.input);
  put(value, "expected_scale", finding.expected_scale);
  put(value, "actual_scale", finding.actual_scale);
  put(value, "expected", finding.expected);
  put(value, "actual", finding.actual);
  return value;
}

}  // namespace fp4proof::verify
