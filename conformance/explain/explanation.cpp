#include "conformance/explain/explanation.h"

#include "formats/float_bits.h"
#include "formats/hif4.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::explain {

using exact::Integer;

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::quantized: return "quantized";
    case Outcome::nan: return "nan";
    case Outcome::zeroed: return "zeroed";
    case Outcome::rejected_nan: return "rejected-nan";
    case Outcome::rejected_inf: return "rejected-inf";
  }
  return {};
}

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::on_grid: return "on-grid";
    case Cause::below_tie: return "below-tie";
    case Cause::above_tie: return "above-tie";
    case Cause::tie: return "tie";
    case Cause::toward_zero: return "toward-zero";
    case Cause::stochastic: return "stochastic";
    case Cause::saturated: return "saturated";
    case Cause::half_add: return "half-add";
    case Cause::distance: return "distance";
    case Cause::infinity: return "infinity";
    case Cause::nan_ignored: return "nan-ignored";
    case Cause::nan_zeroed: return "nan-zeroed";
    case Cause::zeroed: return "zeroed";
    case Cause::flushed: return "flushed";
    case Cause::zero_scale: return "zero-scale";
    case Cause::block_nan: return "block-nan";
  }
  return {};
}

std::uint32_t row_scale_of(const Explanation& explanation, int index) {
  return explanation.row_scales[static_cast<std::size_t>(index / explanation.profile->block.cols)];
}

std::optional<Rational> decode_scale_of(const Explanation& explanation, int index) {
  if (explanation.row_scales.empty() || explanation.outcome == Outcome::nan) return std::nullopt;
  const std::uint32_t word = row_scale_of(explanation, index);
  const auto code = static_cast<std::uint8_t>(word & 0xFFU);
  const int column = index % explanation.profile->block.cols;
  switch (explanation.profile->family) {
    case Family::mx:
      return explanation.question.three_quarters ? exact::e8m0_value(code) / Rational(Integer(3), Integer(1), -2)
                                                 : exact::e8m0_value(code);
    case Family::hif4: return exact::e6m2_value(code).scaled(hif4_level2(word, column) + hif4_level3(word, column));
    case Family::nvfp4:
      return exact::e4m3_value(code) * exact::float_value(float_bits(explanation.question.tensor_scale));
  }
  return std::nullopt;
}

}  // namespace fp4proof::explain
