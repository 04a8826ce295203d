#include "reference/portable/level_kernels.h"

#include "reference/portable/lanes.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

FP4PROOF_INLINE void magnitudes(const WordLanes& words, FloatLanes& result) {
  result = reinterpret_cast<FloatLanes>(words & float_magnitude_mask);
}

FP4PROOF_INLINE std::uint32_t largest_magnitude(const std::uint32_t* words, int length) {
  MaskLanes largest = {};
  for (int i = 0; i < length; i += lane_count) {
    WordLanes w;
    load_lanes(words + i, w);
    const auto magnitude = reinterpret_cast<MaskLanes>(w & float_magnitude_mask);
    largest = magnitude > largest ? magnitude : largest;
  }
  max_of_pairs(largest);
  max_of_pairs_2_apart(largest);
  max_of_pairs_4_apart(largest);
  max_of_pairs_8_apart(largest);
  return static_cast<std::uint32_t>(largest[0]);
}

/// Sixteen magnitude codes with the sign on top.
template <bool KeepsEverySign>
FP4PROOF_INLINE void store_signed(const WordLanes& words, const FloatLanes& scaled, const MaskLanes& magnitude_codes,
                                  int sign_shift, SignRule rule, std::uint8_t* codes) {
  WordLanes sign = words >> 31 << sign_shift;
  if constexpr (!KeepsEverySign) {
    const MaskLanes nothing = {};
    MaskLanes dropped = nothing;
    if (rule.drop_all_zeros) dropped |= magnitude_codes == 0;
    if (rule.drop_zero_inputs) dropped |= (words & float_magnitude_mask) == 0;
    if (rule.drop_zero_scaled) dropped |= scaled == 0.0F;
    sign &= ~reinterpret_cast<WordLanes>(dropped);
  }
  store_bytes(reinterpret_cast<WordLanes>(magnitude_codes) | sign, codes);
}

/// Codes of sixteen scaled magnitudes: how many thresholds each reaches, with the sign on top.
template <int Levels, int SignShift, bool KeepsEverySign>
FP4PROOF_INLINE void encode_lanes(const WordLanes& words, const FloatLanes& scaled, const float* thresholds,
                                  SignRule rule, std::uint8_t* codes) {
  MaskLanes count = {};
  for (int c = 0; c < Levels; ++c) count -= scaled >= thresholds[c];
  store_signed<KeepsEverySign>(words, scaled, count, SignShift, rule, codes);
}

/// Magnitude codes of sixteen scaled magnitudes. The significand is cut into steps of the grid and their fraction in
/// 32 bits. Zeros and subnormals get a significand too much, so far below the grid that nothing of it is left.
FP4PROOF_INLINE void round_stochastically(const StochasticGrid& grid, const FloatLanes& scaled, const WordLanes& random,
                                          MaskLanes& magnitude_codes) {
  const MaskLanes nothing = {};
  const MaskLanes last_place = nothing + 31;
  const auto word = reinterpret_cast<MaskLanes>(scaled);
  const auto significand = reinterpret_cast<WordLanes>((word & 0x7FFFFF) | 0x800000);
  const MaskLanes above = (word >> 23) - grid.lowest_field;
  const MaskLanes binade = above > 0 ? above : nothing;
  const MaskLanes drop = binade - above + (23 - grid.mantissa_bits);
  const MaskLanes left = drop < 32 ? 32 - drop : nothing;
  const MaskLanes beyond = drop > 32 ? drop - 32 : nothing;
  const auto right = reinterpret_cast<WordLanes>(beyond < last_place ? beyond : last_place);
  const auto whole_shift = reinterpret_cast<WordLanes>(drop < last_place ? drop : last_place);
  const WordLanes fraction = (significand << reinterpret_cast<WordLanes>(left)) >> right;
  const WordLanes sum = (fraction & grid.kept_bits) + random;
  const MaskLanes carry = sum < random;
  const MaskLanes code =
      reinterpret_cast<MaskLanes>(significand >> whole_shift) + (binade << grid.mantissa_bits) - carry;
  const MaskLanes largest = nothing + grid.max_code;
  magnitude_codes = code < largest ? code : largest;
}

template <bool KeepsEverySign>
FP4PROOF_INLINE void encode_stochastic_span(const StochasticGrid& grid, const std::uint32_t* words,
                                            const std::uint32_t* random, int length, float factor, SignRule rule,
                                            std::uint8_t* codes) {
  for (int i = 0; i < length; i += lane_count) {
    WordLanes w;
    load_lanes(words + i, w);
    WordLanes r;
    load_lanes(random + i, r);
    FloatLanes scaled;
    magnitudes(w, scaled);
    scaled *= factor;
    MaskLanes magnitude_codes;
    round_stochastically(grid, scaled, r, magnitude_codes);
    store_signed<KeepsEverySign>(w, scaled, magnitude_codes, grid.sign_shift, rule, codes + i);
  }
}

template <int Levels, int SignShift, bool KeepsEverySign>
FP4PROOF_INLINE void encode_span(const std::uint32_t* words, int length, float factor, const float* thresholds,
                                 SignRule rule, std::uint8_t* codes) {
  for (int i = 0; i < length; i += lane_count) {
    WordLanes w;
    load_lanes(words + i, w);
    FloatLanes scaled;
    magnitudes(w, scaled);
    scaled *= factor;
    encode_lanes<Levels, SignShift, KeepsEverySign>(w, scaled, thresholds, rule, codes + i);
  }
}

template <int Levels, int SignShift>
FP4PROOF_INLINE void encode_blocks(const std::uint32_t* words, int blocks, int length, const float* factors,
                                   const Thresholds& thresholds, SignRule rule, std::uint8_t* codes) {
  const bool simple = rule.keeps_every_sign();
  for (int b = 0; b < blocks; ++b) {
    const std::uint32_t* w = words + b * length;
    if (simple) {
      encode_span<Levels, SignShift, true>(w, length, factors[b], thresholds.data(), rule, codes + b * length);
    } else {
      encode_span<Levels, SignShift, false>(w, length, factors[b], thresholds.data(), rule, codes + b * length);
    }
  }
}

FP4PROOF_CLONES void encode_blocks_3(const std::uint32_t* words, int blocks, int length, const float* factors,
                                     const Thresholds& thresholds, SignRule rule, std::uint8_t* codes) {
  encode_blocks<3, 2>(words, blocks, length, factors, thresholds, rule, codes);
}
FP4PROOF_CLONES void encode_blocks_7(const std::uint32_t* words, int blocks, int length, const float* factors,
                                     const Thresholds& thresholds, SignRule rule, std::uint8_t* codes) {
  encode_blocks<7, 3>(words, blocks, length, factors, thresholds, rule, codes);
}
FP4PROOF_CLONES void encode_blocks_15(const std::uint32_t* words, int blocks, int length, const float* factors,
                                      const Thresholds& thresholds, SignRule rule, std::uint8_t* codes) {
  encode_blocks<15, 4>(words, blocks, length, factors, thresholds, rule, codes);
}

/// Level-3 bits stand at the first lane of each four, level-2 bits at the first lane of each eight.
constexpr WordLanes level3_weights = {1U << 8, 0, 0, 0, 1U << 9, 0, 0, 0, 1U << 10, 0, 0, 0, 1U << 11, 0, 0, 0};
constexpr WordLanes level2_weights = {1U, 0, 0, 0, 0, 0, 0, 0, 2U, 0, 0, 0, 0, 0, 0, 0};

template <int Levels, int SignShift>
FP4PROOF_INLINE std::uint32_t encode_group(const std::uint32_t* words, float unit, const Hif4Table& table,
                                           SignRule rule, std::uint8_t* codes) {
  WordLanes bits = {};
  for (int quarter = 0; quarter < 4; ++quarter) {
    WordLanes w;
    load_lanes(words + 16 * quarter, w);
    FloatLanes scaled;
    magnitudes(w, scaled);
    scaled *= unit;
    FloatLanes sixteenth = scaled;
    max_of_pairs(sixteenth);
    max_of_pairs_2_apart(sixteenth);
    FloatLanes eighth = sixteenth;
    max_of_pairs_4_apart(eighth);
    const MaskLanes level2 = eighth >= table.level2;
    const FloatLanes ones = FloatLanes{} + 1.0F;
    const FloatLanes halves = FloatLanes{} + 0.5F;
    const FloatLanes shrink2 = level2 ? halves : ones;
    const MaskLanes level3 = sixteenth * shrink2 >= table.level3;
    scaled *= shrink2 * (level3 ? halves : ones);
    bits |= (reinterpret_cast<WordLanes>(level2) & (level2_weights << (2 * quarter))) |
            (reinterpret_cast<WordLanes>(level3) & (level3_weights << (4 * quarter)));
    encode_lanes<Levels, SignShift, false>(w, scaled, table.element.data(), rule, codes + 16 * quarter);
  }
  std::uint32_t all = 0;
  for (int lane = 0; lane < lane_count; lane += 4) all |= bits[lane];
  return all;
}

template <int Levels, int SignShift>
FP4PROOF_INLINE void encode_all_groups(const std::uint32_t* words, int blocks, const float* units,
                                       const std::uint8_t* mantissas, const Hif4Table* tables, SignRule rule,
                                       std::uint32_t* level_bits, std::uint8_t* codes) {
  for (int b = 0; b < blocks; ++b) {
    level_bits[b] =
        encode_group<Levels, SignShift>(words + 64 * b, units[b], tables[mantissas[b]], rule, codes + 64 * b);
  }
}

FP4PROOF_CLONES void encode_groups_3(const std::uint32_t* words, int blocks, const float* units,
                                     const std::uint8_t* mantissas, const Hif4Table* tables, SignRule rule,
                                     std::uint32_t* level_bits, std::uint8_t* codes) {
  encode_all_groups<3, 2>(words, blocks, units, mantissas, tables, rule, level_bits, codes);
}
FP4PROOF_CLONES void encode_groups_7(const std::uint32_t* words, int blocks, const float* units,
                                     const std::uint8_t* mantissas, const Hif4Table* tables, SignRule rule,
                                     std::uint32_t* level_bits, std::uint8_t* codes) {
  encode_all_groups<7, 3>(words, blocks, units, mantissas, tables, rule, level_bits, codes);
}
FP4PROOF_CLONES void encode_groups_15(const std::uint32_t* words, int blocks, const float* units,
                                      const std::uint8_t* mantissas, const Hif4Table* tables, SignRule rule,
                                      std::uint32_t* level_bits, std::uint8_t* codes) {
  encode_all_groups<15, 4>(words, blocks, units, mantissas, tables, rule, level_bits, codes);
}

}  // namespace

FP4PROOF_CLONES void block_maxima(const std::uint32_t* words, int blocks, int length, std::uint32_t* amax_bits) {
  for (int b = 0; b < blocks; ++b) {
    const std::uint32_t* w = words + b * length;
    amax_bits[b] = largest_magnitude(w, length);
  }
}

void encode_levels(Element element, const std::uint32_t* words, int blocks, int length, const float* factors,
                   const Thresholds& thresholds, SignRule rule, std::uint8_t* codes) {
  switch (element) {
    case Element::s1p1: encode_blocks_3(words, blocks, length, factors, thresholds, rule, codes); break;
    case Element::s1p3: encode_blocks_15(words, blocks, length, factors, thresholds, rule, codes); break;
    default: encode_blocks_7(words, blocks, length, factors, thresholds, rule, codes); break;
  }
}

FP4PROOF_CLONES void encode_stochastic(const StochasticGrid& grid, const std::uint32_t* words,
                                       const std::uint32_t* random, int blocks, int length, const float* factors,
                                       SignRule rule, std::uint8_t* codes) {
  for (int b = 0; b < blocks; ++b) {
    const int at = b * length;
    if (rule.keeps_every_sign()) {
      encode_stochastic_span<true>(grid, words + at, random + at, length, factors[b], rule, codes + at);
    } else {
      encode_stochastic_span<false>(grid, words + at, random + at, length, factors[b], rule, codes + at);
    }
  }
}

void encode_groups(Element element, const std::uint32_t* words, int blocks, const float* units,
                   const std::uint8_t* mantissas, const Hif4Table* tables, SignRule rule, std::uint32_t* level_bits,
                   std::uint8_t* codes) {
  switch (element) {
    case Element::s1p1: encode_groups_3(words, blocks, units, mantissas, tables, rule, level_bits, codes); break;
    case Element::s1p3: encode_groups_15(words, blocks, units, mantissas, tables, rule, level_bits, codes); break;
    default: encode_groups_7(words, blocks, units, mantissas, tables, rule, level_bits, codes); break;
  }
}

FP4PROOF_CLONES void pack_nibbles(const std::uint8_t* codes, int count, std::uint8_t* bytes) {
  for (int j = 0; j < count / 2; ++j) bytes[j] = static_cast<std::uint8_t>(codes[2 * j] | (codes[2 * j + 1] << 4));
}

}  // namespace fp4proof::portable
