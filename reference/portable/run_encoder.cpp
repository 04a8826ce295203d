#include "reference/portable/run_encoder.h"

#include <algorithm>

#include "formats/three_quarters.h"
#include "reference/portable/correct_kernels.h"

namespace fp4proof::portable {

namespace {

StochasticGrid stochastic_grid(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  StochasticGrid grid;
  grid.mantissa_bits = spec.mantissa_bits;
  grid.sign_shift = spec.bits() - 1;
  grid.lowest_field = 127 + 1 - spec.bias;
  grid.max_code = spec.max_code;
  grid.kept_bits = 0xFFFFFFFFU << (32 - profile.random_bits);
  return grid;
}

}  // namespace

RunEncoder::RunEncoder(const Profile& profile, float tensor_scale, bool three_quarters)
    : profile_(profile), tensor_scale_(tensor_scale), three_quarters_(three_quarters), path_(choose(profile)) {
  switch (path_) {
    case Path::scalar: break;
    case Path::mx_levels:
      mx_scale_.emplace(profile_);
      thresholds_ = mx_thresholds(profile_);
      break;
    case Path::mx_wide:
      mx_scale_.emplace(profile_);
      wide_.emplace(profile_);
      break;
    case Path::mx_stochastic:
      mx_scale_.emplace(profile_);
      stochastic_ = stochastic_grid(profile_);
      break;
    case Path::hif4:
      hif4_scale_.emplace(profile_);
      hif4_ = hif4_tables(profile_);
      break;
  }
}

RunEncoder::Path RunEncoder::choose(const Profile& profile) {
  if (profile.rounding == Rounding::stochastic) {
    const bool exact = profile.family == Family::mx && profile.element_arithmetic == ElementArithmetic::exact;
    return exact ? Path::mx_stochastic : Path::scalar;
  }
  if (profile.family == Family::mx) {
    // A table needs a decision that is monotone and the same at every scale. By distance the top levels overflow under
    // the largest scales; with the half added in binary32 the number just under a tie goes up while the tie goes down.
    const bool tabulates = profile.element_arithmetic != ElementArithmetic::fp32_distance &&
                           profile.element_arithmetic != ElementArithmetic::fp32_half_add;
    if (!tabulates) return Path::scalar;
    if (element_spec(profile.element).max_code <= max_levels) return Path::mx_levels;
    return profile.element_arithmetic == ElementArithmetic::exact ? Path::mx_wide : Path::scalar;
  }
  const bool groups = profile.family == Family::hif4 && !profile.block.is_2d();
  return groups && profile.zero_sign != ZeroSign::zero_scaled_dropped ? Path::hif4 : Path::scalar;
}

void RunEncoder::encode_wide(const std::uint32_t* words, float factor, std::uint8_t* codes) const {
  const bool keeps_every_sign = profile_.zero_sign == ZeroSign::kept;
  const int sign_shift = element_spec(profile_.element).bits() - 1;
  for (int i = 0; i < profile_.block.size(); ++i) {
    const float scaled = float_from_bits(words[i] & float_magnitude_mask) * factor;
    const std::uint8_t code = (*wide_)(scaled);
    const std::uint32_t sign = words[i] >> 31 << sign_shift;
    codes[i] = keeps_every_sign ? static_cast<std::uint8_t>(code | sign)
                                : signed_code(profile_, words[i], code, scaled == 0.0F);
  }
}

void RunEncoder::encode_mx(int blocks, std::uint32_t* words, const std::uint32_t* random, std::uint32_t* row_scales,
                           std::uint8_t* codes, Plain& plain) const {
  const int size = profile_.block.size();
  std::array<std::uint32_t, blocks_per_run> amax_bits;
  std::array<float, blocks_per_run> factors;
  block_maxima(words, blocks, size, amax_bits.data());
  for (int b = 0; b < blocks; ++b) {
    const auto at = static_cast<std::size_t>(b);
    const std::uint32_t amax = amax_bits[at];
    const bool finite = amax < float_infinity_bits;
    const std::uint8_t scale = !finite ? e8m0_nan : amax == 0 ? profile_.zero_scale_code : (*mx_scale_)(amax);
    const bool flushed = scale == 0 && profile_.tiny == TinyPolicy::flush_block;
    plain[at] = scale != e8m0_nan && !flushed;
    factors[at] = plain[at] ? pow2f(e8m0_bias - static_cast<int>(scale)) : 0.0F;
    std::fill_n(row_scales + b * profile_.block.rows, profile_.block.rows, std::uint32_t{scale});
    if (three_quarters_ && plain[at]) multiply_by(0.75F, size, words + b * size);
  }
  if (path_ == Path::mx_stochastic) {
    encode_stochastic(stochastic_, words, random, blocks, size, factors.data(), SignRule(profile_.zero_sign), codes);
    return;
  }
  if (path_ == Path::mx_levels) {
    encode_levels(profile_.element, words, blocks, size, factors.data(), thresholds_, SignRule(profile_.zero_sign),
                  codes);
    return;
  }
  for (int b = 0; b < blocks; ++b) {
    encode_wide(words + b * size, factors[static_cast<std::size_t>(b)], codes + b * size);
  }
}

void RunEncoder::encode_hif4(int blocks, const std::uint32_t* words, std::uint32_t* row_scales, std::uint8_t* codes,
                             Plain& plain) const {
  std::array<std::uint32_t, blocks_per_run> amax_bits;
  std::array<float, blocks_per_run> units;
  std::array<std::uint8_t, blocks_per_run> e6m2;
  std::array<std::uint8_t, blocks_per_run> mantissas;
  block_maxima(words, blocks, profile_.block.cols, amax_bits.data());
  for (std::size_t b = 0; b < static_cast<std::size_t>(blocks); ++b) {
    plain[b] = amax_bits[b] < float_infinity_bits;
    e6m2[b] = plain[b] ? (*hif4_scale_)(amax_bits[b]) : std::uint8_t{0};
    mantissas[b] = e6m2[b] & 3U;
    units[b] = pow2f(e6m2_bias - static_cast<int>(e6m2[b] >> 2));
  }
  encode_groups(profile_.element, words, blocks, units.data(), mantissas.data(), hif4_.data(),
                SignRule(profile_.zero_sign), row_scales, codes);
  for (std::size_t b = 0; b < static_cast<std::size_t>(blocks); ++b) {
    row_scales[b] = std::uint32_t{e6m2[b]} | (row_scales[b] << 8);
  }
}

BlockStatus RunEncoder::encode_scalar(const BlockEncoding& io) const {
  return three_quarters_ ? three_quarters_block(profile_, io) : encode_block(profile_, io);
}

std::optional<RunEncoder::Rejection> RunEncoder::encode(int blocks, std::uint32_t* words, const std::uint32_t* random,
                                                        std::uint32_t* row_scales, std::uint8_t* codes) const {
  const int size = profile_.block.size();
  const bool prepares = profile_.input_rounding != InputRounding::none || profile_.tiny == TinyPolicy::flush_inputs;
  if (prepares) {
    for (int i = 0; i < blocks * size; ++i) words[i] = prepared_word(profile_, words[i]);
  }
  Plain plain{};
  const bool fast_mx =
      path_ == Path::mx_levels || path_ == Path::mx_wide || (path_ == Path::mx_stochastic && random != nullptr);
  if (fast_mx) encode_mx(blocks, words, random, row_scales, codes, plain);
  if (path_ == Path::hif4) encode_hif4(blocks, words, row_scales, codes, plain);
  for (int b = 0; b < blocks; ++b) {
    if (plain[static_cast<std::size_t>(b)]) continue;
    const std::uint32_t* block_random = random != nullptr ? random + b * size : nullptr;
    const BlockStatus status = encode_scalar(
        {words + b * size, block_random, tensor_scale_, row_scales + b * profile_.block.rows, codes + b * size});
    if (status != BlockStatus::ok) return Rejection{b, status};
  }
  return std::nullopt;
}

}  // namespace fp4proof::portable
