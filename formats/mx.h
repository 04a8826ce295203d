#pragma once
// MX blocks: one E8M0 scale, elements of any kind. Rules: docs/rules-mx.md.

#include <cstdint>

#include "formats/block.h"
#include "formats/scale_codes.h"

namespace fp4proof {

namespace mx_detail {

/// A positive finite magnitude as exponent and 24-bit significand in [2^23, 2^24).
struct Normalized {
  int exponent;
  std::uint32_t significand;
};

FP4PROOF_HD constexpr Normalized normalize(std::uint32_t magnitude_bits) {
  const Magnitude m = magnitude_of_bits(magnitude_bits);
  const int shift = 23 - top_bit(m.significand);
  return {floor_log2(m), static_cast<std::uint32_t>(m.significand << shift)};
}

/// The significand of the element's largest value, on the same 24-bit scale.
FP4PROOF_HD constexpr std::uint32_t max_significand(const ElementSpec& spec) {
  const std::uint32_t fraction = spec.max_code & ((1U << spec.mantissa_bits) - 1U);
  return ((1U << spec.mantissa_bits) | fraction) << (23 - spec.mantissa_bits);
}

/// How many of the 24-bit significands just under 2^exponent have a log2 that rounds to `exponent` in binary32:
/// floor(2^j * ln 2), where the spacing of binary32 numbers at the logarithm is 2^(j - 23).
FP4PROOF_HD constexpr std::uint32_t log2_rounds_up_below(int exponent) {
  if (exponent == 0) return 0;
  constexpr std::uint8_t counts[8] = {0, 1, 2, 5, 11, 22, 44, 88};
  const int magnitude = exponent < 0 ? -exponent : exponent;
  int j = top_bit(static_cast<std::uint64_t>(magnitude));
  const bool power_of_two = (magnitude & (magnitude - 1)) == 0;
  if (exponent > 0 && power_of_two) --j;  // the number just under a positive power of two lies in the binade below
  return j < 0 ? 0 : counts[j];
}

FP4PROOF_HD constexpr int floor_of_rounded_log2(const Normalized& amax) {
  const std::uint32_t below_next = (1U << 24) - amax.significand;
  return amax.exponent + (below_next <= log2_rounds_up_below(amax.exponent + 1) ? 1 : 0);
}

/// The scale exponent under a rule applied to a quotient amax / 2^emax or amax / max that is already known: the
/// quotient's exponent and whether it is rounded up.
FP4PROOF_HD constexpr int exponent_of_quotient(float quotient, ScaleRule rule) {
  const std::uint32_t word = float_bits(quotient);
  if (word == 0) return -e8m0_bias;
  const Normalized q = normalize(word);
  constexpr std::uint32_t one_and_half = 3U << 22;
  switch (rule) {
    case ScaleRule::rceil: return q.exponent + (q.significand != (1U << 23) ? 1 : 0);
    case ScaleRule::nearest: {
      const bool odd = ((q.exponent + e8m0_bias) & 1) != 0;
      return q.exponent + (q.significand > one_and_half || (q.significand == one_and_half && odd) ? 1 : 0);
    }
    default: return q.exponent;
  }
}

FP4PROOF_HD constexpr int exact_exponent(const ElementSpec& spec, ScaleRule rule, const Normalized& amax) {
  const int base = amax.exponent - spec.emax;
  const std::uint32_t max = max_significand(spec);
  switch (rule) {
    case ScaleRule::floor: return base;
    case ScaleRule::ceil: return base + (amax.significand != (1U << 23) ? 1 : 0);
    case ScaleRule::rceil: return base + (amax.significand > max ? 1 : 0);
    case ScaleRule::even: {
      const std::uint32_t half_step = 1U << (22 - spec.mantissa_bits);
      return base + (amax.significand + half_step >= (1U << 24) ? 1 : 0);
    }
    case ScaleRule::nearest: {
      const bool below = amax.significand < max;
      const int exponent = base - (below ? 1 : 0);
      // amax / max = ratio * 2^exponent with ratio in [1, 2); ratio against 3/2 in integers.
      const std::uint64_t twice = std::uint64_t{amax.significand} << (below ? 2 : 1);
      const std::uint64_t thrice = std::uint64_t{max} * 3;
      const bool odd = ((exponent + e8m0_bias) & 1) != 0;
      return exponent + (twice > thrice || (twice == thrice && odd) ? 1 : 0);
    }
  }
  return base;
}

FP4PROOF_HD constexpr float element_max(const ElementSpec& spec) {
  const Magnitude m = element_magnitude(spec, spec.max_code);
  return static_cast<float>(m.significand) * pow2f(m.exponent);
}

}  // namespace mx_detail

/// Which rules an implementation's arithmetic is defined for. Any other pair is evaluated exactly.
FP4PROOF_HD constexpr bool rule_has_arithmetic(ScaleRule rule, ScaleArithmetic arithmetic) {
  const bool floors = rule == ScaleRule::floor;
  switch (arithmetic) {
    case ScaleArithmetic::exact: return true;
    case ScaleArithmetic::float_log2: return floors;
    case ScaleArithmetic::fp32_divide:
    case ScaleArithmetic::fp32_reciprocal: return floors || rule == ScaleRule::rceil || rule == ScaleRule::nearest;
    case ScaleArithmetic::fp32_word: return floors || rule == ScaleRule::rceil;
    case ScaleArithmetic::word_add: return rule == ScaleRule::even;
  }
  return false;
}

/// The scale code of a block whose largest magnitude is the finite, non-zero binary32 word `amax_bits`.
/// Clamped to 0..254; 255 comes from ScaleArithmetic::word_add alone.
FP4PROOF_HD constexpr std::uint8_t mx_scale_code(const Profile& profile, std::uint32_t amax_bits) {
  using namespace mx_detail;
  const ElementSpec spec = element_spec(profile.element);
  const ScaleRule rule = profile.scale_rule;
  const ScaleArithmetic arithmetic =
      rule_has_arithmetic(rule, profile.scale_arithmetic) ? profile.scale_arithmetic : ScaleArithmetic::exact;
  const float amax = float_from_bits(amax_bits);
  const float divisor = rule == ScaleRule::floor ? pow2f(spec.emax) : element_max(spec);
  switch (arithmetic) {
    case ScaleArithmetic::exact: break;
    case ScaleArithmetic::float_log2:
      return e8m0_from_exponent(floor_of_rounded_log2(normalize(amax_bits)) - spec.emax);
    case ScaleArithmetic::fp32_divide: return e8m0_from_exponent(exponent_of_quotient(amax / divisor, rule));
    case ScaleArithmetic::fp32_reciprocal:
      return e8m0_from_exponent(exponent_of_quotient(amax * (1.0F / divisor), rule));
    case ScaleArithmetic::fp32_word: {
      const std::uint32_t word = float_bits(amax / divisor);
      const std::uint32_t code = (rule == ScaleRule::floor ? word : word + 0x7FFFFFU) >> 23;
      return static_cast<std::uint8_t>(code < e8m0_max ? code : std::uint32_t{e8m0_max});
    }
    case ScaleArithmetic::word_add: {
      const int field = static_cast<int>((amax_bits + (1U << (22 - spec.mantissa_bits))) >> 23);
      return field == 255 ? e8m0_nan : e8m0_from_exponent(field - e8m0_bias - spec.emax);
    }
  }
  return e8m0_from_exponent(exact_exponent(spec, rule, normalize(amax_bits)));
}

namespace mx_detail {

/// floor(|z| + 0.5) with the sum in binary32, z in steps of the element's grid around the value.
FP4PROOF_HD constexpr std::uint8_t encode_half_add(const Profile& profile, float scaled) {
  const ElementSpec spec = element_spec(profile.element);
  if (scaled == 0.0F) return 0;
  const int log2 = floor_log2_bits(float_bits(scaled));
  if (log2 > spec.emax) return spec.max_code;
  const int smallest_normal = 1 - spec.bias;
  const int binade = log2 > smallest_normal ? log2 : smallest_normal;
  const float steps = scaled * pow2f(spec.mantissa_bits - binade);
  const float sum = steps + 0.5F;
  auto whole = static_cast<std::uint32_t>(sum);
  const bool tie = steps == static_cast<float>(whole) - 0.5F;
  if (profile.rounding == Rounding::rne && tie && (whole & 1U) != 0) --whole;
  const std::uint32_t code = whole + (static_cast<std::uint32_t>(binade - smallest_normal) << spec.mantissa_bits);
  return code < spec.max_code ? static_cast<std::uint8_t>(code) : spec.max_code;
}

/// The first level, in order of magnitude, with the smallest binary32 distance.
FP4PROOF_HD constexpr std::uint8_t encode_by_distance(const Profile& profile, float magnitude, float scale) {
  const ElementSpec spec = element_spec(profile.element);
  std::uint8_t best = 0;
  float best_distance = magnitude;
  for (int code = 1; code <= spec.max_code; ++code) {
    const Magnitude level = element_magnitude(spec, static_cast<std::uint8_t>(code));
    const float reach = static_cast<float>(level.significand) * pow2f(level.exponent) * scale;
    const float distance = reach > magnitude ? reach - magnitude : magnitude - reach;
    if (distance < best_distance) {
      best = static_cast<std::uint8_t>(code);
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace mx_detail

/// The code of one element under an E8M0 scale other than NaN. Infinities clamp; NaN is coded +0.
FP4PROOF_HD constexpr std::uint8_t mx_encode_element(const Profile& profile, std::uint8_t scale_code,
                                                     std::uint32_t word, std::uint32_t random_word) {
  const ElementSpec spec = element_spec(profile.element);
  if (is_nan_bits(word)) return 0;
  if (is_inf_bits(word)) return signed_code(profile, word, spec.max_code);
  const int scale_exponent = static_cast<int>(scale_code) - e8m0_bias;
  const float magnitude = float_from_bits(word & float_magnitude_mask);
  // Exact but where the quotient leaves binary32 downwards: then it is far inside the deadzone, rounded or not.
  const float scaled = magnitude * pow2f(-scale_exponent);
  std::uint8_t code = 0;
  switch (profile.element_arithmetic) {
    case ElementArithmetic::fp32_half_add: code = mx_detail::encode_half_add(profile, scaled); break;
    case ElementArithmetic::fp32_distance:
      code = mx_detail::encode_by_distance(profile, magnitude, pow2f(scale_exponent));
      break;
    default: {
      Magnitude m = magnitude_of_bits(word);
      m.exponent -= scale_exponent;
      code = round_scaled(profile, m, random_word);
    }
  }
  return signed_code(profile, word, code, scaled == 0.0F);
}

namespace mx_detail {

/// NanPolicy::scale_zero: every element multiplied by zero keeps its sign; 0 * infinity makes the default NaN of x86,
/// whose sign is set.
FP4PROOF_HD constexpr std::uint8_t zeroed_element(const Profile& profile, std::uint32_t word) {
  const ElementSpec spec = element_spec(profile.element);
  const std::uint8_t sign = (word & float_sign_mask) != 0 ? spec.sign_mask() : std::uint8_t{0};
  if (is_nan_bits(word)) return static_cast<std::uint8_t>(sign | spec.max_code);
  if (is_inf_bits(word)) return static_cast<std::uint8_t>(spec.sign_mask() | spec.max_code);
  return sign;
}

}  // namespace mx_detail

/// The scale code of a block from its scan; e8m0_nan where the block has no usable scale.
FP4PROOF_HD constexpr std::uint8_t mx_block_scale(const Profile& profile, const BlockScan& scan) {
  if (block_fate(profile, scan) == BlockFate::nan_scale) return e8m0_nan;
  if (scan.has_nan && profile.nan == NanPolicy::scale_zero) return 0;
  if (scan.has_inf) return profile.inf_scale_code;
  if (scan.amax_bits == 0) return profile.zero_scale_code;
  return mx_scale_code(profile, scan.amax_bits);
}

/// How the elements of a block become codes.
enum class MxCoding : std::uint8_t {
  none,     ///< under a NaN scale every code is 0
  scaled,   ///< by mx_encode_element
  flushed,  ///< TinyPolicy::flush_block: all zeros
  zeroed,   ///< NanPolicy::scale_zero
};

/// `scale` is mx_block_scale() of the scan.
FP4PROOF_HD constexpr MxCoding mx_coding(const Profile& profile, const BlockScan& scan, std::uint8_t scale) {
  if (scale == e8m0_nan) return MxCoding::none;
  if (scan.has_nan && profile.nan == NanPolicy::scale_zero) return MxCoding::zeroed;
  const bool flushed = profile.tiny == TinyPolicy::flush_block && scale == 0;
  return flushed ? MxCoding::flushed : MxCoding::scaled;
}

/// The code of one element, given as prepared_word(), of a block.
FP4PROOF_HD constexpr std::uint8_t mx_element_code(const Profile& profile, MxCoding coding, std::uint8_t scale,
                                                   std::uint32_t word, std::uint32_t random_word) {
  switch (coding) {
    case MxCoding::none: return 0;
    case MxCoding::scaled: return mx_encode_element(profile, scale, word, random_word);
    case MxCoding::flushed: return is_nan_bits(word) ? std::uint8_t{0} : zero_code(profile, word, false);
    case MxCoding::zeroed: return mx_detail::zeroed_element(profile, word);
  }
  return 0;
}

/// One MX block (or 2D tile) to its scale code and element codes.
FP4PROOF_HD constexpr BlockStatus mx_encode_block(const Profile& profile, const BlockEncoding& io) {
  const BlockScan scan = scan_block(profile, io.words, profile.block.size());
  const BlockFate fate = block_fate(profile, scan);
  if (fate == BlockFate::reject_nan) return BlockStatus::rejected_nan;
  if (fate == BlockFate::reject_inf) return BlockStatus::rejected_inf;
  const std::uint8_t scale = mx_block_scale(profile, scan);
  const MxCoding coding = mx_coding(profile, scan, scale);
  fill_block(io, profile.block, scale);
  if (coding == MxCoding::none) return BlockStatus::ok;
  for (int i = 0; i < profile.block.size(); ++i) {
    io.codes[i] = mx_element_code(profile, coding, scale, prepared_word(profile, io.words[i]),
                                  io.random != nullptr ? io.random[i] : 0);
  }
  return BlockStatus::ok;
}

/// element * 2^(scale - 127) rounded once to binary32 (gradual underflow, overflow to infinity); NaN under 255.
FP4PROOF_HD constexpr float mx_decode_element(Element element, std::uint8_t scale_code, std::uint8_t code) {
  if (scale_code == e8m0_nan) return canonical_nan();
  return decode_element(element, code) * pow2f(static_cast<int>(scale_code) - e8m0_bias);
}

}  // namespace fp4proof
