#include "reference/portable/run_encoder.h"

#include <algorithm>

#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// What a sign bit needs to survive on a zero code: the operand whose zeros lose it.
struct SignRule {
  bool drop_all_zeros = false;
  bool drop_zero_inputs = false;
  bool drop_zero_scaled = false;
};

SignRule sign_rule(ZeroSign sign) {
  return {sign == ZeroSign::dropped, sign == ZeroSign::zero_input_dropped, sign == ZeroSign::zero_scaled_dropped};
}

FP4PROOF_CLONES std::uint32_t largest_magnitude(const std::uint32_t* words, int count) {
  std::int32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    const auto magnitude = static_cast<std::int32_t>(words[i] & float_magnitude_mask);
    largest = largest > magnitude ? largest : magnitude;
  }
  return static_cast<std::uint32_t>(largest);
}

/// codes[i] = number of thresholds that words[i] * factor reaches, with the sign bit at `sign_shift`.
template <int Levels>
[[gnu::always_inline]] inline void count_levels(const std::uint32_t* words, int count, float factor,
                                                const float* thresholds, SignRule rule, int sign_shift,
                                                std::uint8_t* codes) {
  std::array<float, Levels> t;
  for (int c = 0; c < Levels; ++c) t[static_cast<std::size_t>(c)] = thresholds[c];
  const std::uint32_t keep_any_zero = rule.drop_all_zeros ? 0U : 1U;
  const std::uint32_t keep_zero_input = rule.drop_zero_inputs ? 0U : 1U;
  const std::uint32_t keep_zero_scaled = rule.drop_zero_scaled ? 0U : 1U;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t magnitude = words[i] & float_magnitude_mask;
    const float scaled = float_from_bits(magnitude) * factor;
    std::uint32_t code = 0;
    for (int c = 0; c < Levels; ++c) code += scaled >= t[static_cast<std::size_t>(c)] ? 1U : 0U;
    const std::uint32_t keep = ((code != 0 ? 1U : 0U) | keep_any_zero) &
                               ((magnitude != 0 ? 1U : 0U) | keep_zero_input) &
                               ((scaled != 0.0F ? 1U : 0U) | keep_zero_scaled);
    const std::uint32_t sign = (words[i] >> 31) & keep;
    codes[i] = static_cast<std::uint8_t>(code | (sign << sign_shift));
  }
}

FP4PROOF_CLONES void count_3_levels(const std::uint32_t* words, int count, float factor, const float* thresholds,
                                    SignRule rule, std::uint8_t* codes) {
  count_levels<3>(words, count, factor, thresholds, rule, 2, codes);
}
FP4PROOF_CLONES void count_7_levels(const std::uint32_t* words, int count, float factor, const float* thresholds,
                                    SignRule rule, std::uint8_t* codes) {
  count_levels<7>(words, count, factor, thresholds, rule, 3, codes);
}
FP4PROOF_CLONES void count_15_levels(const std::uint32_t* words, int count, float factor, const float* thresholds,
                                     SignRule rule, std::uint8_t* codes) {
  count_levels<15>(words, count, factor, thresholds, rule, 4, codes);
}

void count_element_levels(Element element, const std::uint32_t* words, int count, float factor,
                          const Thresholds& thresholds, SignRule rule, std::uint8_t* codes) {
  switch (element) {
    case Element::s1p1: count_3_levels(words, count, factor, thresholds.data(), rule, codes); break;
    case Element::s1p3: count_15_levels(words, count, factor, thresholds.data(), rule, codes); break;
    default: count_7_levels(words, count, factor, thresholds.data(), rule, codes); break;
  }
}

/// One HiF4 group: sixteenth maxima, level bits, then every element against its thresholds. `unit` is 2^-E of the
/// group's scale. Returns the level bits (level 2 in bits 7:0, level 3 in bits 23:8).
template <int Levels>
[[gnu::always_inline]] inline std::uint32_t encode_group(const std::uint32_t* words, float unit, const Hif4Table& table,
                                                         SignRule rule, int sign_shift, std::uint8_t* codes) {
  std::array<float, 64> scaled;
  std::array<float, hif4_level3_count> sixteenth;
  for (std::size_t i = 0; i < 64; ++i) scaled[i] = float_from_bits(words[i] & float_magnitude_mask) * unit;
  for (std::size_t k = 0; k < hif4_level3_count; ++k) {
    const float a = scaled[4 * k] > scaled[4 * k + 1] ? scaled[4 * k] : scaled[4 * k + 1];
    const float b = scaled[4 * k + 2] > scaled[4 * k + 3] ? scaled[4 * k + 2] : scaled[4 * k + 3];
    sixteenth[k] = a > b ? a : b;
  }
  std::uint32_t bits = 0;
  std::array<float, hif4_level3_count> shrink;
  for (std::size_t k = 0; k < hif4_level3_count; ++k) {
    const float eighth = sixteenth[k] > sixteenth[k ^ 1U] ? sixteenth[k] : sixteenth[k ^ 1U];
    const std::uint32_t level2 = eighth >= table.level2 ? 1U : 0U;
    const std::uint32_t level3 = sixteenth[k] * (level2 != 0 ? 0.5F : 1.0F) >= table.level3 ? 1U : 0U;
    bits |= (level2 << (k / 2)) | (level3 << (8 + k));
    shrink[k] = (level2 != 0 ? 0.5F : 1.0F) * (level3 != 0 ? 0.5F : 1.0F);
  }
  std::array<float, 64> factor;
  for (std::size_t i = 0; i < 64; ++i) factor[i] = shrink[i / 4];
  const std::uint32_t keep_any_zero = rule.drop_all_zeros ? 0U : 1U;
  const std::uint32_t keep_zero_input = rule.drop_zero_inputs ? 0U : 1U;
  for (std::size_t i = 0; i < 64; ++i) {
    const float value = scaled[i] * factor[i];
    std::uint32_t code = 0;
    for (std::size_t c = 0; c < Levels; ++c) code += value >= table.element[c] ? 1U : 0U;
    const std::uint32_t nonzero_input = (words[i] & float_magnitude_mask) != 0 ? 1U : 0U;
    const std::uint32_t keep = ((code != 0 ? 1U : 0U) | keep_any_zero) & (nonzero_input | keep_zero_input);
    codes[i] = static_cast<std::uint8_t>(code | (((words[i] >> 31) & keep) << sign_shift));
  }
  return bits;
}

FP4PROOF_CLONES std::uint32_t encode_group_s1p1(const std::uint32_t* words, float unit, const Hif4Table& table,
                                                SignRule rule, std::uint8_t* codes) {
  return encode_group<3>(words, unit, table, rule, 2, codes);
}
FP4PROOF_CLONES std::uint32_t encode_group_s1p2(const std::uint32_t* words, float unit, const Hif4Table& table,
                                                SignRule rule, std::uint8_t* codes) {
  return encode_group<7>(words, unit, table, rule, 3, codes);
}
FP4PROOF_CLONES std::uint32_t encode_group_s1p3(const std::uint32_t* words, float unit, const Hif4Table& table,
                                                SignRule rule, std::uint8_t* codes) {
  return encode_group<15>(words, unit, table, rule, 4, codes);
}

}  // namespace

RunEncoder::RunEncoder(const Profile& profile, float tensor_scale)
    : profile_(profile), tensor_scale_(tensor_scale), path_(choose(profile)) {
  if (path_ == Path::mx_levels) thresholds_ = mx_thresholds(profile_);
  if (path_ == Path::mx_wide) wide_.emplace(profile_);
  if (path_ == Path::hif4) hif4_ = hif4_tables(profile_);
}

RunEncoder::Path RunEncoder::choose(const Profile& profile) {
  if (profile.rounding == Rounding::stochastic) return Path::scalar;
  if (profile.family == Family::mx) {
    // By distance, the top levels overflow under the largest scales, so the decision is not the same at every scale.
    if (profile.element_arithmetic == ElementArithmetic::fp32_distance) return Path::scalar;
    if (element_spec(profile.element).max_code <= max_levels) return Path::mx_levels;
    const bool exact = profile.element_arithmetic == ElementArithmetic::exact;
    return exact ? Path::mx_wide : Path::scalar;
  }
  const bool groups = profile.family == Family::hif4 && !profile.block.is_2d();
  return groups && profile.zero_sign != ZeroSign::zero_scaled_dropped ? Path::hif4 : Path::scalar;
}

void RunEncoder::encode_mx(const std::uint32_t* words, std::uint32_t amax_bits, std::uint32_t* row_scales,
                           std::uint8_t* codes) const {
  const BlockShape shape = profile_.block;
  const std::uint8_t scale = amax_bits == 0 ? profile_.zero_scale_code : mx_scale_code(profile_, amax_bits);
  const bool flushed = scale == 0 && profile_.tiny == TinyPolicy::flush_block;
  if (scale == e8m0_nan || flushed) {
    encode_block(profile_, {words, nullptr, tensor_scale_, row_scales, codes});
    return;
  }
  std::fill_n(row_scales, shape.rows, std::uint32_t{scale});
  const float factor = pow2f(e8m0_bias - static_cast<int>(scale));
  if (path_ == Path::mx_levels) {
    count_element_levels(profile_.element, words, shape.size(), factor, thresholds_, sign_rule(profile_.zero_sign),
                         codes);
    return;
  }
  for (int i = 0; i < shape.size(); ++i) {
    const float scaled = float_from_bits(words[i] & float_magnitude_mask) * factor;
    codes[i] = signed_code(profile_, words[i], (*wide_)(scaled), scaled == 0.0F);
  }
}

void RunEncoder::encode_hif4(const std::uint32_t* words, std::uint32_t amax_bits, std::uint32_t* row_scales,
                             std::uint8_t* codes) const {
  const std::uint8_t e6m2 = hif4_scale_code(profile_, amax_bits);
  const Hif4Table& table = hif4_[e6m2 & 3U];
  const float unit = pow2f(e6m2_bias - static_cast<int>(e6m2 >> 2));
  const SignRule rule = sign_rule(profile_.zero_sign);
  const auto encode = profile_.element == Element::s1p1   ? encode_group_s1p1
                      : profile_.element == Element::s1p3 ? encode_group_s1p3
                                                          : encode_group_s1p2;
  row_scales[0] = std::uint32_t{e6m2} | (encode(words, unit, table, rule, codes) << 8);
}

std::optional<RunEncoder::Rejection> RunEncoder::encode(int blocks, std::uint32_t* words, const std::uint32_t* random,
                                                        std::uint32_t* row_scales, std::uint8_t* codes) const {
  const int size = profile_.block.size();
  const bool prepares = profile_.input_rounding != InputRounding::none || profile_.tiny == TinyPolicy::flush_inputs;
  if (prepares) {
    for (int i = 0; i < blocks * size; ++i) words[i] = prepared_word(profile_, words[i]);
  }
  for (int b = 0; b < blocks; ++b) {
    const std::uint32_t* block_words = words + b * size;
    std::uint32_t* block_scales = row_scales + b * profile_.block.rows;
    std::uint8_t* block_codes = codes + b * size;
    if (path_ != Path::scalar) {
      const std::uint32_t amax_bits = largest_magnitude(block_words, size);
      if (amax_bits < float_infinity_bits) {
        if (path_ == Path::hif4) {
          encode_hif4(block_words, amax_bits, block_scales, block_codes);
        } else {
          encode_mx(block_words, amax_bits, block_scales, block_codes);
        }
        continue;
      }
    }
    const std::uint32_t* block_random = random != nullptr ? random + b * size : nullptr;
    const BlockStatus status =
        encode_block(profile_, {block_words, block_random, tensor_scale_, block_scales, block_codes});
    if (status != BlockStatus::ok) return Rejection{b, status};
  }
  return std::nullopt;
}

}  // namespace fp4proof::portable
