#include "reference/portable/correct_kernels.h"

#include <array>

#include "formats/scale_codes.h"
#include "reference/portable/lanes.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// An element as a small integer times 2^-fraction_bits.
template <Element E>
struct Fixed {
  static constexpr ElementSpec spec = element_spec(E);
  static constexpr int sign_shift = spec.bits() - 1;
  static constexpr int fraction_bits = E == Element::e2m1 ? 1 : spec.mantissa_bits;
};

/// Every scale code as what multiplies the integers of Fixed<E>.
template <Element E, auto Decode>
constexpr std::array<float, 256> units() {
  std::array<float, 256> table{};
  for (std::size_t code = 0; code < table.size(); ++code) {
    const float scale = Decode(static_cast<std::uint8_t>(code));
    table[code] = scale == scale ? scale * pow2f(-Fixed<E>::fraction_bits) : scale;
  }
  return table;
}
template <Element E>
constexpr std::array<float, 256> e8m0_units = units<E, decode_e8m0>();
template <Element E>
constexpr std::array<float, 256> e6m2_units = units<E, decode_e6m2>();

/// RN(element * 2^fraction_bits * factor) of sixteen codes, in the sign of the code.
template <Element E>
FP4PROOF_INLINE void decode_lanes(const std::uint8_t* codes, const FloatLanes& factor, FloatLanes& values) {
  WordLanes code;
  load_bytes(codes, code);
  auto whole = reinterpret_cast<MaskLanes>(code & (Fixed<E>::spec.sign_mask() - 1U));
  if constexpr (E == Element::e2m1) {
    // Twice 0 .5 1 1.5 2 3 4 6: beyond code 4 the steps are 2, 2 and 4.
    const MaskLanes above_four = whole - 4;
    const MaskLanes is_seven = whole == 7;
    whole += (above_four > 0 ? above_four : MaskLanes{}) + (is_seven & 2);
  }
  const FloatLanes magnitude = __builtin_convertvector(whole, FloatLanes) * factor;
  const WordLanes sign = (code << (31 - Fixed<E>::sign_shift)) & float_sign_mask;
  values = reinterpret_cast<FloatLanes>(reinterpret_cast<WordLanes>(magnitude) | sign);
}

/// What becomes of sixteen decoded values: they are stored, or what they miss of the input.
template <bool Subtracts>
FP4PROOF_INLINE void finish_lanes(const FloatLanes& decoded, const std::uint32_t* input, std::uint32_t* result) {
  FloatLanes lanes = decoded;
  if constexpr (Subtracts) {
    FloatLanes wanted;
    std::memcpy(&wanted, input, sizeof wanted);
    lanes = wanted - decoded;
  }
  std::memcpy(result, &lanes, sizeof lanes);
}

template <Element E, bool Subtracts>
FP4PROOF_INLINE void decode_blocks(const CodedRun& run, int length, const std::uint32_t* input, std::uint32_t* result) {
  for (int b = 0; b < run.blocks; ++b) {
    const FloatLanes factor = e8m0_units<E>[run.scales[b]] - FloatLanes{};
    for (int i = b * length; i < (b + 1) * length; i += lane_count) {
      FloatLanes decoded;
      decode_lanes<E>(run.codes + i, factor, decoded);
      finish_lanes<Subtracts>(decoded, input + i, result + i);
    }
  }
}

constexpr WordLanes level2_places = {8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9};
constexpr WordLanes level3_places = {16, 16, 16, 16, 17, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 19};

template <Element E, bool Subtracts>
FP4PROOF_INLINE void decode_groups(const CodedRun& run, const std::uint32_t* input, std::uint32_t* result) {
  for (int g = 0; g < run.blocks; ++g) {
    const float unit = e6m2_units<E>[run.scales[g] & 0xFFU];
    const WordLanes word = WordLanes{} + run.scales[g];
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      const WordLanes level2 = (word >> (level2_places + 2 * quarter)) & 1U;
      const WordLanes level3 = (word >> (level3_places + 4 * quarter)) & 1U;
      // A level doubles the unit, which is normal: one more in the exponent field. NaN groups have no levels.
      const auto factor = reinterpret_cast<FloatLanes>(float_bits(unit) + ((level2 + level3) << 23));
      const auto at = 64 * g + 16 * static_cast<int>(quarter);
      FloatLanes decoded;
      decode_lanes<E>(run.codes + at, factor, decoded);
      finish_lanes<Subtracts>(decoded, input + at, result + at);
    }
  }
}

template <Element E>
FP4PROOF_INLINE void decode_groups(const CodedRun& run, const std::uint32_t* input, std::uint32_t* result) {
  input == nullptr ? decode_groups<E, false>(run, run.scales, result) : decode_groups<E, true>(run, input, result);
}

FP4PROOF_CLONES void decode_groups_s1p1(const CodedRun& run, const std::uint32_t* input, std::uint32_t* result) {
  decode_groups<Element::s1p1>(run, input, result);
}
FP4PROOF_CLONES void decode_groups_s1p2(const CodedRun& run, const std::uint32_t* input, std::uint32_t* result) {
  decode_groups<Element::s1p2>(run, input, result);
}
FP4PROOF_CLONES void decode_groups_s1p3(const CodedRun& run, const std::uint32_t* input, std::uint32_t* result) {
  decode_groups<Element::s1p3>(run, input, result);
}

/// Whether an element gives way to its neighbour `other`, which stands before it (earlier: -1) or behind it (0).
FP4PROOF_INLINE void gives_way(const MaskLanes& mine, const MaskLanes& other, const MaskLanes& earlier,
                               MaskLanes& result) {
  result = other > mine + earlier;
}

}  // namespace

FP4PROOF_CLONES void decode_e2m1_blocks(const CodedRun& run, int length, const std::uint32_t* input,
                                        std::uint32_t* result) {
  if (input == nullptr) {
    decode_blocks<Element::e2m1, false>(run, length, run.scales, result);
  } else {
    decode_blocks<Element::e2m1, true>(run, length, input, result);
  }
}

void decode_hif4_groups(Element element, const CodedRun& run, const std::uint32_t* input, std::uint32_t* result) {
  switch (element) {
    case Element::s1p1: decode_groups_s1p1(run, input, result); break;
    case Element::s1p3: decode_groups_s1p3(run, input, result); break;
    default: decode_groups_s1p2(run, input, result); break;
  }
}

FP4PROOF_CLONES void subtract_from(const std::uint32_t* input, int count, std::uint32_t* words) {
  for (int i = 0; i < count; ++i) words[i] = float_bits(float_from_bits(input[i]) - float_from_bits(words[i]));
}

FP4PROOF_CLONES void mask_two_of_four(const std::uint32_t* residual, int count, std::uint8_t* codes) {
  constexpr MaskLanes odd = {0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1};
  constexpr MaskLanes upper = {0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1};
  constexpr auto infinity = static_cast<std::int32_t>(float_infinity_bits);
  for (int i = 0; i < count; i += lane_count) {
    WordLanes words;
    load_lanes(residual + i, words);
    auto mine = reinterpret_cast<MaskLanes>(words & float_magnitude_mask);
    mine = mine > infinity ? MaskLanes{} : mine;
    const MaskLanes next = __builtin_shufflevector(mine, mine, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    const MaskLanes two_apart =
        __builtin_shufflevector(mine, mine, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    const MaskLanes opposite =
        __builtin_shufflevector(mine, mine, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    MaskLanes to_next;
    MaskLanes to_two_apart;
    MaskLanes to_opposite;
    gives_way(mine, next, odd, to_next);
    gives_way(mine, two_apart, upper, to_two_apart);
    gives_way(mine, opposite, upper, to_opposite);
    const MaskLanes dropped = (to_next & to_two_apart) | (to_opposite & (to_next | to_two_apart));
    const auto kept =
        __builtin_convertvector(__builtin_convertvector(reinterpret_cast<WordLanes>(~dropped), HalfLanes), ByteLanes);
    ByteLanes lanes;
    std::memcpy(&lanes, codes + i, sizeof lanes);
    lanes &= kept;
    std::memcpy(codes + i, &lanes, sizeof lanes);
  }
}

FP4PROOF_CLONES void multiply_by(float factor, int count, std::uint32_t* words) {
  for (int i = 0; i < count; ++i) words[i] = float_bits(float_from_bits(words[i]) * factor);
}

FP4PROOF_CLONES void divide_by(float factor, int count, std::uint32_t* words) {
  for (int i = 0; i < count; ++i) words[i] = float_bits(float_from_bits(words[i]) / factor);
}

FP4PROOF_CLONES std::uint32_t largest_finite(const std::uint32_t* words, int count) {
  std::int32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    const auto magnitude = static_cast<std::int32_t>(words[i] & float_magnitude_mask);
    const std::int32_t finite = magnitude < static_cast<std::int32_t>(float_infinity_bits) ? magnitude : 0;
    largest = finite > largest ? finite : largest;
  }
  return static_cast<std::uint32_t>(largest);
}

}  // namespace fp4proof::portable
