#include "conformance/diagnose/model_encode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "conformance/diagnose/nan_scale.h"
#include "conformance/verify/strided_groups.h"
#include "formats/block_codec.h"
#include "formats/packing.h"

namespace fp4proof::diagnose {

namespace {

/// One block or tile: its words row after row, and those of its neighbour where the scale looks at two blocks.
struct Block {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> random;
  std::vector<std::uint32_t> scale_words;  ///< what the scale is made of
  float tensor_scale = 1.0F;
};

struct CodedBlock {
  std::vector<std::uint32_t> row_scales;
  std::vector<std::uint8_t> codes;
};

/// On the word of amax / max (or of amax), as kernels do it.
std::uint8_t mx_quotient_code(const Profile& profile, std::uint32_t amax_bits, ScaleFault fault) {
  const ElementSpec spec = element_spec(profile.element);
  const bool of_amax = fault == ScaleFault::mask && profile.scale_rule == ScaleRule::ceil;
  const float divisor = of_amax ? std::ldexp(1.0F, spec.emax) : mx_detail::element_max(spec);
  const std::uint32_t word = float_bits(float_from_bits(amax_bits) / divisor);
  constexpr std::uint32_t half = 0x400000U;
  constexpr std::uint32_t above_root_of_two = 0x800000U - 0x3504F4U;  // sqrt(2) is 0x3FB504F3 and a bit
  std::uint32_t field = word >> 23;
  switch (fault) {
    case ScaleFault::mask: field += (word & 0x4FFFFFU) != 0 ? 1 : 0; break;
    case ScaleFault::quotient_half_up: field = (word + half) >> 23; break;
    case ScaleFault::e8m0_cast:
    case ScaleFault::e8m0_cast_zero:
      if (word == 0 && fault == ScaleFault::e8m0_cast_zero) return e8m0_nan;
      field = field != 0 ? (word + half) >> 23 : word > half ? 1 : 0;
      break;
    case ScaleFault::quotient_log2: field = (word + above_root_of_two) >> 23; break;
    case ScaleFault::amax_half_up: {
      const auto rounded = static_cast<int>((amax_bits + half) >> 23);
      return static_cast<std::uint8_t>(std::clamp(rounded - spec.emax, 0, int{e8m0_max}));
    }
    default: break;
  }
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(field, e8m0_max));
}

std::uint8_t hif4_truncated_code(const Profile& profile, std::uint32_t amax_bits) {
  Profile truncating = profile;
  truncating.scale_rounding = Rounding::rtz;
  return hif4_scale_code(truncating, amax_bits);
}

std::uint8_t nvfp4_faulty_code(std::uint32_t amax_bits, float tensor_scale, ScaleFault fault) {
  const ElementSpec e4m3 = element_spec(Element::e4m3);
  const float amax = float_from_bits(amax_bits);
  const Magnitude exact =
      quotient(magnitude_of_bits(amax_bits), product({6, 0}, magnitude_of_bits(float_bits(tensor_scale))));
  switch (fault) {
    case ScaleFault::truncated: return encode_magnitude(e4m3, Rounding::rtz, exact);
    case ScaleFault::away: return encode_magnitude(e4m3, Rounding::rna, exact);
    case ScaleFault::fp32_divide: return encode_element(Element::e4m3, Rounding::rne, amax / 6.0F / tensor_scale);
    case ScaleFault::fp32_reciprocal:
      return encode_element(Element::e4m3, Rounding::rne, amax * (1.0F / 6.0F) * (1.0F / tensor_scale));
    default: break;
  }
  const std::uint8_t code = encode_magnitude(e4m3, Rounding::rne, exact);
  if (fault == ScaleFault::overflow_nan && compare(exact, {29, 4}) > 0) return e4m3_scale_nan;  // 464, a tie, is 448
  if (fault == ScaleFault::subnormal_flushed && code < 8) return 0;
  return fault == ScaleFault::never_zero && code == 0 ? std::uint8_t{1} : code;
}

/// Rounded to a binary format with gradual underflow: `precision` bits, and none below 2^lowest.
Magnitude rounded_to(const Magnitude& m, int precision, int lowest) {
  if (m.significand == 0) return m;
  const int step = std::max(floor_log2(m) + 1 - precision, lowest);
  return {round_to_step(m, step, Rounding::rne, 0, 0), step};
}

/// What HiF4 rounds to its scale, with the subnormal numbers that tell where codes are not clamped.
Magnitude hif4_wanted(const Profile& profile, const Magnitude& amax) {
  if (profile.seventh == SeventhRule::exact) return quotient(amax, {7, 0});
  Magnitude wanted = product(amax, {146, -10});
  if (profile.seventh == SeventhRule::fp32_bf16_product) wanted = rounded_to(wanted, 24, -149);
  return rounded_to(wanted, 8, -133);
}

/// The bits of the code without a clamp: of a scale in the middle of the range, moved by whole binades.
std::uint8_t wrapped_scale(const Profile& profile, std::uint32_t amax_bits) {
  if (profile.family == Family::mx) {
    const float amax = float_from_bits(amax_bits);
    const int binades = std::ilogb(amax);
    return static_cast<std::uint8_t>(mx_scale_code(profile, float_bits(std::ldexp(amax, -binades))) + binades);
  }
  Magnitude wanted = hif4_wanted(profile, magnitude_of_bits(amax_bits));
  if (wanted.significand == 0) return 0;
  const int binades = floor_log2(wanted);
  wanted.exponent -= binades;
  return static_cast<std::uint8_t>(encode_e6m2(wanted, profile.scale_rounding) + 4 * binades);
}

/// The scale code of an ordinary block.
std::uint8_t faulty_code(const KernelModel& model, const Block& block, std::uint32_t amax_bits) {
  const ScaleFault fault = model.encode.scale;
  const bool by_amax = fault == ScaleFault::none || fault == ScaleFault::half_block ||
                       fault == ScaleFault::two_blocks || fault == ScaleFault::signed_maximum ||
                       fault == ScaleFault::after_nan;
  if (fault == ScaleFault::wraps) return wrapped_scale(model.profile, amax_bits);
  switch (model.profile.family) {
    case Family::mx:
      return by_amax ? mx_scale_code(model.profile, amax_bits) : mx_quotient_code(model.profile, amax_bits, fault);
    case Family::hif4:
      return by_amax ? hif4_scale_code(model.profile, amax_bits) : hif4_truncated_code(model.profile, amax_bits);
    case Family::nvfp4: return nvfp4_faulty_code(amax_bits, block.tensor_scale, fault);
  }
  return 0;
}

std::uint8_t largest_scale(Family family) {
  return family == Family::mx ? e8m0_max : family == Family::hif4 ? e6m2_max : e4m3_scale_max;
}

std::uint8_t shifted(Family family, std::uint8_t code, int shift) {
  if (shift == 0) return code;
  return static_cast<std::uint8_t>(std::clamp(int{code} + shift, 0, int{largest_scale(family)}));
}

/// The scale code under an exponent that is off before it is clamped: that of a shifted largest magnitude.
std::uint8_t code_of_maximum(const KernelModel& model, const Block& block, std::uint32_t amax_bits) {
  const int shift = model.encode.exponent_shift;
  const float moved = std::ldexp(float_from_bits(amax_bits), shift);
  if (moved == 0.0F) return 0;  // below every scale
  if (std::isfinite(moved)) return faulty_code(model, block, float_bits(moved));
  return shifted(model.profile.family, faulty_code(model, block, amax_bits), shift);
}

/// The scale code, infinity and all-zero blocks included; NaN blocks are settled before.
std::uint8_t scale_of(const KernelModel& model, const Block& block, const BlockScan& scan) {
  const Profile& profile = model.profile;
  if (scan.has_nan && profile.nan == NanPolicy::scale_zero) return 0;
  if (scan.has_inf) return profile.family == Family::mx ? profile.inf_scale_code : largest_scale(profile.family);
  std::uint8_t code = 0;
  if (scan.amax_bits != 0) {
    code = code_of_maximum(model, block, scan.amax_bits);
  } else if (profile.family == Family::mx) {
    code = model.encode.scale == ScaleFault::e8m0_cast_zero ? e8m0_nan : profile.zero_scale_code;
  }
  return code == nan_scale(profile.family) ? code : shifted(profile.family, code, model.encode.scale_shift);
}

/// The exponent of the step of the element's grid at m.
int step_at(const ElementSpec& spec, const Magnitude& m) {
  return std::max(floor_log2(m), 1 - spec.bias) - spec.mantissa_bits;
}

/// The code without a limit at the largest one.
std::uint64_t unlimited_code(const Profile& profile, const Magnitude& m) {
  const ElementSpec spec = element_spec(profile.element);
  if (m.significand == 0) return 0;
  const int step = step_at(spec, m);
  const std::uint64_t whole = round_to_step(m, step, profile.rounding, 0, 32);
  return whole + (static_cast<std::uint64_t>(step + spec.mantissa_bits - 1 + spec.bias) << spec.mantissa_bits);
}

/// Its bits cut to those of a magnitude code.
std::uint8_t wrapped_code(const Profile& profile, const Magnitude& m) {
  return static_cast<std::uint8_t>(unlimited_code(profile, m) & (element_spec(profile.element).sign_mask() - 1U));
}

std::uint8_t code_or_nan(const Profile& profile, const Magnitude& m) {
  const ElementSpec spec = element_spec(profile.element);
  const std::uint64_t code = unlimited_code(profile, m);
  if (code <= spec.max_code) return static_cast<std::uint8_t>(code);
  return spec.inf_code != 0 ? spec.inf_code : spec.nan_code;
}

Magnitude without_sticky(const Profile& profile, const Magnitude& m) {
  if (m.significand == 0) return m;
  const int step = step_at(element_spec(profile.element), m) - 2;
  return {round_to_step(m, step, Rounding::rtz, 0, 0), step};
}

/// Everything that decides one element.
struct ElementPlace {
  std::uint32_t scale = 0;  ///< scale byte, or HiF4 word
  float tensor_scale = 1.0F;
  int column = 0;
  int levels = 0;
  std::uint32_t word = 0;
  std::uint32_t random = 0;
};

double scale_value(const Profile& profile, const ElementPlace& at) {
  const auto code = static_cast<std::uint8_t>(at.scale);
  switch (profile.family) {
    case Family::mx: return std::ldexp(1.0, int{code} - e8m0_bias);
    case Family::hif4: return std::ldexp(double{decode_e6m2(code)}, at.levels);
    case Family::nvfp4: return double{decode_e4m3_scale(code)} * double{at.tensor_scale};
  }
  return 1.0;
}

/// The scaled magnitude as an element fault has it, in binary32.
float faulty_scaled(ElementFault fault, float magnitude, double scale) {
  const auto divisor = static_cast<float>(scale);
  switch (fault) {
    case ElementFault::reciprocal: return magnitude * (1.0F / divisor);
    case ElementFault::bf16_reciprocal: return magnitude * round_to_bf16(1.0F / divisor);
    case ElementFault::scale_flushed: return scale < 0x1p-126 ? magnitude * HUGE_VALF : magnitude / divisor;
    case ElementFault::inverse_flushed: return scale > 0x1p126 ? 0.0F : magnitude / divisor;
    default: return magnitude / divisor;
  }
}

/// The exact scaled magnitude.
Magnitude exact_scaled(const Profile& profile, const ElementPlace& at) {
  Magnitude m = magnitude_of_bits(at.word);
  switch (profile.family) {
    case Family::mx: m.exponent -= static_cast<int>(at.scale) - e8m0_bias; break;
    case Family::hif4:
      m = hif4_scaled(profile, hif4_e6m2(at.scale), at.word);
      m.exponent -= at.levels;
      break;
    case Family::nvfp4:
      m = quotient(m, product(element_magnitude(element_spec(Element::e4m3), static_cast<std::uint8_t>(at.scale)),
                              magnitude_of_bits(float_bits(at.tensor_scale))));
      break;
  }
  return m;
}

std::uint8_t code_above(const Profile& profile, const Magnitude& m) {
  const ElementSpec spec = element_spec(profile.element);
  const std::uint8_t below = encode_magnitude(spec, Rounding::rtz, m);
  const bool inexact = compare(m, element_magnitude(spec, below)) > 0;
  return inexact && below < spec.max_code ? static_cast<std::uint8_t>(below + 1) : below;
}

/// A binade low below the smallest normal element.
Magnitude with_low_subnormals(const Profile& profile, const Magnitude& m) {
  const bool is_subnormal = m.significand != 0 && floor_log2(m) < 1 - element_spec(profile.element).bias;
  return is_subnormal ? Magnitude{m.significand, m.exponent - 1} : m;
}

std::uint8_t faulty_element(const Profile& profile, ElementFault fault, const ElementPlace& at) {
  if (fault == ElementFault::up) return signed_code(profile, at.word, code_above(profile, exact_scaled(profile, at)));
  if (fault == ElementFault::wrapped)
    return signed_code(profile, at.word, wrapped_code(profile, exact_scaled(profile, at)));
  if (fault == ElementFault::beyond_nan)
    return signed_code(profile, at.word, code_or_nan(profile, exact_scaled(profile, at)));
  if (fault == ElementFault::subnormal_halved) {
    const Magnitude m = with_low_subnormals(profile, exact_scaled(profile, at));
    return signed_code(profile, at.word, round_scaled(profile, m, at.random));
  }
  if (fault == ElementFault::even_code) {
    const std::uint8_t code = round_scaled(profile, exact_scaled(profile, at), at.random);
    return signed_code(profile, at.word, static_cast<std::uint8_t>(code & 0xFEU));
  }
  if (fault == ElementFault::no_sticky) {
    const Magnitude m = without_sticky(profile, exact_scaled(profile, at));
    return signed_code(profile, at.word, round_scaled(profile, m, at.random));
  }
  if (fault == ElementFault::binary16) {
    const Magnitude m = round_to_precision(exact_scaled(profile, at), 11);
    return signed_code(profile, at.word, round_scaled(profile, m, at.random), underflows_float(m));
  }
  const float magnitude = float_from_bits(at.word & float_magnitude_mask);
  const float y = faulty_scaled(fault, magnitude, scale_value(profile, at));
  if (std::isnan(y)) return zero_code(profile, at.word, false);
  if (std::isinf(y)) return signed_code(profile, at.word, element_spec(profile.element).max_code);
  const std::uint8_t code = profile.element_arithmetic == ElementArithmetic::fp32_half_add
                                ? mx_detail::encode_half_add(profile, y)
                                : round_scaled(profile, magnitude_of_bits(float_bits(y)), at.random);
  return signed_code(profile, at.word, code, y == 0.0F);
}

std::uint8_t nan_element(const Profile& profile, NanCode choice, std::uint32_t word) {
  const ElementSpec spec = element_spec(profile.element);
  const std::uint8_t sign = (word & float_sign_mask) != 0 ? spec.sign_mask() : std::uint8_t{0};
  switch (choice) {
    case NanCode::zero: return 0;
    case NanCode::zero_signed: return sign;
    case NanCode::largest: return spec.max_code;
    case NanCode::largest_signed: return sign | spec.max_code;
    case NanCode::nan: return static_cast<std::uint8_t>(sign | (spec.nan_code != 0 ? spec.nan_code : spec.max_code));
  }
  return 0;
}

std::uint8_t element_of(const Profile& profile, const EncodeModel& encode, const ElementPlace& at) {
  const bool divides_by_nan =
      profile.family != Family::mx && is_nan_scale(profile.family, static_cast<std::uint8_t>(at.scale));
  if (divides_by_nan && profile.family == Family::hif4) return zero_code(profile, at.word, false);
  if (is_nan_bits(at.word) || divides_by_nan) return nan_element(profile, encode.nan_code, at.word);
  const bool zeroed = profile.family == Family::nvfp4
                          ? at.scale == 0
                          : profile.family == Family::mx && at.scale == 0 && profile.tiny == TinyPolicy::flush_block;
  if (zeroed && is_finite_bits(at.word)) return zero_code(profile, at.word, false);
  // Where levels are compared by distance, no scaled value is made.
  const bool is_scaled = profile.element_arithmetic != ElementArithmetic::fp32_distance;
  if (encode.element != ElementFault::none && is_scaled && is_finite_bits(at.word)) {
    return faulty_element(profile, encode.element, at);
  }
  const auto scale = static_cast<std::uint8_t>(at.scale);
  switch (profile.family) {
    case Family::mx: return mx_encode_element(profile, scale, at.word, at.random);
    case Family::hif4: return hif4_encode_element(profile, hif4_e6m2(at.scale), at.levels, at.word, at.random);
    case Family::nvfp4: return nvfp4_encode_element(profile, scale, at.tensor_scale, at.word, at.random);
  }
  return 0;
}

std::uint32_t random_of(const Profile& profile, RandomUse use, std::uint32_t word) {
  switch (use) {
    case RandomUse::as_stated: return word;
    case RandomUse::low_bits: return profile.random_bits == 32 ? word : word << (32 - profile.random_bits);
    case RandomUse::inverted: return ~word;
  }
  return word;
}

/// Whether max * reciprocal > 2^log2_threshold, the product rounded as the profile says.
bool exceeds(const Profile& profile, std::uint8_t e6m2, std::uint32_t max_bits, int log2_threshold) {
  if (!hif4_reaches(profile, e6m2, max_bits, log2_threshold)) return false;
  if (max_bits == float_infinity_bits) return true;
  Magnitude m = hif4_scaled(profile, e6m2, max_bits);
  if (profile.threshold_arithmetic == ThresholdArithmetic::fp32) m = round_to_precision(m, 24);
  if (profile.threshold_arithmetic == ThresholdArithmetic::bf16) m = round_to_precision(m, 8);
  return compare(m, {1, log2_threshold}) > 0;
}

/// The scale word of a row where level bits are set above their thresholds alone.
std::uint32_t word_above_thresholds(const Profile& profile, const std::uint32_t* words, int row, std::uint8_t e6m2) {
  const auto largest_of = [&](int first_column, int columns, int rows_2d) {
    const int rows = profile.block.is_2d() ? rows_2d : 1;
    return hif4_detail::part_max(profile, words, row - row % rows, first_column, rows, columns);
  };
  std::uint32_t level2 = 0;
  std::uint32_t level3 = 0;
  for (int k = 0; k < hif4_level2_count; ++k)
    if (exceeds(profile, e6m2, largest_of(8 * k, 8, 8), 2)) level2 |= 1U << k;
  for (int k = 0; k < hif4_level3_count; ++k) {
    const int above = static_cast<int>((level2 >> (k / 2)) & 1U);
    if (exceeds(profile, e6m2, largest_of(4 * k, 4, 4), 1 + above)) level3 |= 1U << k;
  }
  return hif4_word(e6m2, level2, level3);
}

/// The scale word of a row of the block under a scale code.
std::uint32_t row_scale_of(const KernelModel& model, const Block& block, int row, std::uint8_t code) {
  const bool compares = model.profile.family == Family::hif4 && !model.encode.without_levels;
  if (!compares || is_nan_scale(model.profile.family, code)) return code;
  if (model.encode.levels_above) return word_above_thresholds(model.profile, block.words.data(), row, code);
  if (!model.encode.strided_levels) return hif4_detail::row_word(model.profile, block.words.data(), row, code);
  return (verify::strided_word(model.profile, block.words) & ~0xFFU) | code;
}

int levels_of(const KernelModel& model, std::uint32_t word, int column) {
  if (model.profile.family != Family::hif4) return 0;
  if (!model.encode.strided_levels) return hif4_level2(word, column) + hif4_level3(word, column);
  return static_cast<int>((word >> (8 + column % 8)) & 1U) + static_cast<int>((word >> (16 + column % 16)) & 1U);
}

std::uint32_t with_code(Family family, std::uint32_t row_scale, std::uint8_t code) {
  return family == Family::hif4 ? (row_scale & ~0xFFU) | code : code;
}

bool is_nan_block(const Profile& profile, const BlockScan& scan) {
  return block_fate(profile, scan) == BlockFate::nan_scale;
}

CodedBlock coded_block(const KernelModel& model, const Block& block) {
  const Profile& profile = model.profile;
  const EncodeModel& encode = model.encode;
  const int rows = profile.block.rows;
  const int cols = profile.block.cols;
  CodedBlock coded{std::vector<std::uint32_t>(static_cast<std::size_t>(rows)),
                   std::vector<std::uint8_t>(static_cast<std::size_t>(rows * cols))};
  BlockScan scan = scan_block(profile, block.scale_words.data(), static_cast<int>(block.scale_words.size()));
  const BlockScan whole = scan_block(profile, block.words.data(), rows * cols);
  if (encode.scale != ScaleFault::after_nan) {
    scan.has_nan = whole.has_nan;
    if (encode.scale != ScaleFault::signed_maximum) scan.has_inf = whole.has_inf;
  }
  const std::uint8_t code = is_nan_block(profile, scan) ? nan_scale(profile.family) : scale_of(model, block, scan);
  const bool computes_nan = encode.scale == ScaleFault::wraps || encode.scale == ScaleFault::overflow_nan;
  const bool goes_on = encode.codes_under_nan || (computes_nan && !is_nan_block(profile, scan));
  if (code == nan_scale(profile.family) && !goes_on) {
    std::ranges::fill(coded.row_scales, code);
    return coded;
  }
  const bool zeroed = scan.has_nan && profile.nan == NanPolicy::scale_zero;
  Profile grid = profile;
  grid.element = encode.grid.value_or(profile.element);
  const std::uint8_t of_elements = shifted(profile.family, code, encode.element_shift);
  const float of_tensor = encode.elements_without_tensor_scale ? 1.0F : block.tensor_scale;
  for (int row = 0; row < rows; ++row) {
    const std::uint32_t row_scale = row_scale_of(model, block, row, code);
    const std::uint32_t used = with_code(profile.family, row_scale, of_elements);
    coded.row_scales[static_cast<std::size_t>(row)] =
        with_code(profile.family, row_scale, shifted(profile.family, code, encode.stored_shift));
    for (int column = 0; column < cols; ++column) {
      const auto i = static_cast<std::size_t>(row * cols + column);
      if (encode.zeros_with_infinity && scan.has_inf) continue;
      if (zeroed) {
        coded.codes[i] = mx_detail::zeroed_element(grid, prepared_word(profile, block.words[i]));
        continue;
      }
      const std::uint32_t random = block.random.empty() ? 0 : random_of(profile, encode.random, block.random[i]);
      coded.codes[i] = element_of(grid, encode,
                                  {used, of_tensor, column, levels_of(model, row_scale, column),
                                   prepared_word(profile, block.words[i]), random});
    }
  }
  return coded;
}

/// One case of a group as a matrix of words in rows, block axis last.
struct CaseWords {
  const portable::Geometry& geometry;
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> random;
  Padding padding = Padding::zeros;

  std::uint32_t at(const std::vector<std::uint32_t>& from, std::int64_t row, std::int64_t column) const {
    if (from.empty() || row >= geometry.rows) return 0;
    if (column >= geometry.columns) {
      if (padding != Padding::last) return padding == Padding::ones ? float_bits(1.0F) : 0;
      column = geometry.columns - 1;
    }
    return from[static_cast<std::size_t>(geometry.first_element(row) + column * geometry.inner)];
  }
};

std::vector<std::uint32_t> part_of(const CaseWords& words, const std::vector<std::uint32_t>& from, BlockShape shape,
                                   std::int64_t row, std::int64_t first_column, std::int64_t columns) {
  std::vector<std::uint32_t> part;
  for (std::int64_t r = row; r < row + shape.rows; ++r)
    for (std::int64_t c = first_column; c < first_column + columns; ++c) part.push_back(words.at(from, r, c));
  return part;
}

/// What stands behind the last NaN; that NaN where nothing does.
std::vector<std::uint32_t> from_last_nan(const std::vector<std::uint32_t>& words) {
  const auto nan = std::find_if(words.rbegin(), words.rend(), [](std::uint32_t word) { return is_nan_bits(word); });
  return {nan == words.rbegin() ? words.end() - 1 : nan.base(), words.end()};
}

Block block_at(const KernelModel& model, const CaseWords& words, std::int64_t row, std::int64_t block) {
  const BlockShape shape = model.profile.block;
  const std::int64_t first = block * shape.cols;
  Block gathered;
  gathered.words = part_of(words, words.words, shape, row, first, shape.cols);
  if (!words.random.empty()) gathered.random = part_of(words, words.random, shape, row, first, shape.cols);
  switch (model.encode.scale) {
    case ScaleFault::half_block:
      gathered.scale_words = part_of(words, words.words, shape, row, first, shape.cols / 2);
      break;
    case ScaleFault::two_blocks:
      gathered.scale_words = part_of(words, words.words, shape, row, block / 2 * 2 * shape.cols, 2 * shape.cols);
      break;
    case ScaleFault::signed_maximum:
      for (const std::uint32_t word : gathered.words)
        gathered.scale_words.push_back((word & float_sign_mask) != 0 ? 0 : word);
      break;
    case ScaleFault::after_nan: gathered.scale_words = from_last_nan(gathered.words); break;
    default: gathered.scale_words = gathered.words;
  }
  return gathered;
}

void put_code(const Profile& profile, std::uint8_t* row, std::int64_t column, std::uint8_t code) {
  if (element_spec(profile.element).is_nibble()) {
    row[column / 2] |= static_cast<std::uint8_t>((code & 0xFU) << (4 * (column & 1)));
  } else {
    row[column] = code;
  }
}

void put_scale(const Profile& profile, std::uint8_t* row, std::int64_t block, std::uint32_t scale) {
  if (profile.family == Family::hif4) {
    store_le32(scale, row + 4 * block);
  } else {
    row[block] = static_cast<std::uint8_t>(scale);
  }
}

float tensor_scale_of_case(const Profile& profile, std::span<const std::uint32_t> words) {
  if (!profile.tensor_scale) return 1.0F;
  return nvfp4_tensor_scale(scan_block(profile, words.data(), static_cast<int>(words.size())).amax_bits);
}

std::vector<std::uint32_t> words_of(const suite::CaseGroup& cases, std::string_view tensor, std::size_t index) {
  const suite::CaseTensor* found = cases.find(tensor);
  return found == nullptr ? std::vector<std::uint32_t>() : copy_elements<std::uint32_t>(found->of_case(index));
}

}  // namespace

bool encode_cases(const KernelModel& model, suite::CaseGroup& cases) {
  const Result<portable::Geometry> geometry = suite::case_geometry(model.profile, cases.spec);
  if (!geometry) return false;
  suite::CaseTensor& codes = *cases.find("codes");
  suite::CaseTensor& scales = *cases.find("scales");
  suite::CaseTensor* tensor_scale = cases.find("tensor_scale");
  if (static_cast<std::int64_t>(codes.case_bytes()) != geometry->code_bytes()) return false;
  std::ranges::fill(codes.bytes, std::uint8_t{0});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CaseWords words{*geometry, words_of(cases, "input", i), words_of(cases, "random", i), model.encode.padding};
    const float stored = tensor_scale_of_case(model.profile, words.words);
    std::uint8_t* code_rows = codes.bytes.data() + i * codes.case_bytes();
    std::uint8_t* scale_rows = scales.bytes.data() + i * scales.case_bytes();
    if (tensor_scale != nullptr) {
      const float written = model.encode.without_tensor_scale ? 1.0F : stored;
      std::memcpy(tensor_scale->bytes.data() + i * 4, &written, 4);
    }
    for (std::int64_t row = 0; row < geometry->rows; row += model.profile.block.rows) {
      for (std::int64_t block = 0; block < geometry->blocks; ++block) {
        Block gathered = block_at(model, words, row, block);
        gathered.tensor_scale = model.encode.without_tensor_scale ? 1.0F : stored;
        const CodedBlock coded = coded_block(model, gathered);
        const std::int64_t rows = std::min<std::int64_t>(model.profile.block.rows, geometry->rows - row);
        const std::int64_t cols = model.profile.block.cols;
        for (std::int64_t r = 0; r < rows; ++r) {
          put_scale(model.profile, scale_rows + (row + r) * geometry->scale_bytes_per_row, block,
                    coded.row_scales[static_cast<std::size_t>(r)]);
          for (std::int64_t c = 0; c < cols; ++c) {
            put_code(model.profile, code_rows + (row + r) * geometry->code_bytes_per_row, block * cols + c,
                     coded.codes[static_cast<std::size_t>(r * cols + c)]);
          }
        }
      }
    }
  }
  return true;
}

}  // namespace fp4proof::diagnose
