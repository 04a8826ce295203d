#include "reference/portable/decompose_kernels.h"

#include "reference/portable/lanes.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

FP4PROOF_INLINE void load_magnitudes(const std::uint32_t* words, FloatLanes& result) {
  WordLanes w;
  load_lanes(words, w);
  result = reinterpret_cast<FloatLanes>(w & float_magnitude_mask);
}

/// A plain loop: g++ 12 converts byte vectors to words one element at a time.
FP4PROOF_INLINE void widen_codes(const std::uint8_t* codes, int count, int mask, std::int32_t* result) {
  for (int i = 0; i < count; ++i) result[i] = codes[i] & mask;
}

FP4PROOF_INLINE void load_steps(const std::int32_t* steps, MaskLanes& result) {
  std::memcpy(&result, steps, sizeof result);
}

FP4PROOF_INLINE void store_steps(const MaskLanes& steps, std::int32_t* to) { std::memcpy(to, &steps, sizeof steps); }

/// Lanes that count zeros, as negative numbers.
struct ZeroLanes {
  MaskLanes in_deadzone = {};
  MaskLanes zeroed = {};
};

template <class Lanes>
FP4PROOF_INLINE void count_zeros(const FloatLanes& magnitude, const Lanes& quantized, const Lanes& ideal,
                                 ZeroLanes& zeros) {
  const MaskLanes nonzero = magnitude != 0.0F;
  const Lanes zero = {};
  zeros.in_deadzone += nonzero & (ideal == zero);
  zeros.zeroed += nonzero & (quantized == zero);
}

FP4PROOF_INLINE ZeroCounts total(const ZeroLanes& zeros) {
  ZeroCounts counts;
  for (int lane = 0; lane < lane_count; ++lane) {
    counts.in_deadzone -= zeros.in_deadzone[lane];
    counts.zeroed -= zeros.zeroed[lane];
  }
  return counts;
}

/// Levels 0 .5 1 1.5 2 3 4 6 in halves: a convex function of the code, so the largest of three lines.
FP4PROOF_INLINE void halves_of_e2m1(const MaskLanes& code, MaskLanes& result) {
  const MaskLanes upper = 4 * code - 16;
  const MaskLanes middle = 2 * code - 4;
  result = code > middle ? code : middle;
  result = result > upper ? result : upper;
}

FP4PROOF_INLINE void ideal_halves_of_e2m1(const FloatLanes& magnitude, const PlainBlock& block, MaskLanes& result) {
  MaskLanes code = {};
  for (std::size_t c = 0; c < 7; ++c) code -= magnitude >= block.reaches[c];
  halves_of_e2m1(code, result);
}

/// `quantized` holds the codes on entry.
FP4PROOF_INLINE void e2m1_lanes(const std::uint32_t* words, const PlainBlock& block, std::int32_t* quantized,
                                std::int32_t* ideal, ZeroLanes& zeros) {
  FloatLanes magnitude;
  load_magnitudes(words, magnitude);
  MaskLanes code;
  load_steps(quantized, code);
  MaskLanes quantized_steps;
  halves_of_e2m1(code, quantized_steps);
  MaskLanes ideal_steps;
  ideal_halves_of_e2m1(magnitude, block, ideal_steps);
  count_zeros(magnitude, quantized_steps, ideal_steps, zeros);
  store_steps(quantized_steps, quantized);
  store_steps(ideal_steps, ideal);
}

constexpr WordLanes eighth_of_lane = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
constexpr WordLanes sixteenth_of_lane = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};

template <int Levels>
FP4PROOF_INLINE void ideal_quarters_of_hif4(const FloatLanes& magnitude, const PlainBlock& block, MaskLanes& result) {
  FloatLanes sixteenth = magnitude;
  max_of_pairs(sixteenth);
  max_of_pairs_2_apart(sixteenth);
  FloatLanes eighth = sixteenth;
  max_of_pairs_4_apart(eighth);
  const FloatLanes zeros = {};
  const FloatLanes ones = zeros + 1.0F;
  const FloatLanes halves = zeros + 0.5F;
  const MaskLanes level2 = eighth >= block.reaches[Levels];
  const MaskLanes level3 = sixteenth >= (level2 ? zeros + block.reaches[Levels] : zeros + block.reaches[Levels + 1]);
  const FloatLanes scaled = magnitude * ((level2 ? halves : ones) * (level3 ? halves : ones));
  MaskLanes code = {};
  for (std::size_t c = 0; c < Levels; ++c) code -= scaled >= block.reaches[c];
  result = code << -(level2 + level3);
}

/// `quantized` holds the codes on entry; `quarter` says which sixteen elements of the group these are.
template <int Levels>
FP4PROOF_INLINE void hif4_lanes(int quarter, const std::uint32_t* words, const PlainBlock& block,
                                std::int32_t* quantized, std::int32_t* ideal, ZeroLanes& zeros) {
  FloatLanes magnitude;
  load_magnitudes(words, magnitude);
  MaskLanes code;
  load_steps(quantized, code);
  const WordLanes word = WordLanes{} + block.scale_word;
  const auto q = static_cast<std::uint32_t>(quarter);
  const WordLanes level2 = (word >> (eighth_of_lane + (8 + 2 * q))) & 1U;
  const WordLanes level3 = (word >> (sixteenth_of_lane + (16 + 4 * q))) & 1U;
  const MaskLanes quantized_steps = code << reinterpret_cast<MaskLanes>(level2 + level3);
  MaskLanes ideal_steps;
  ideal_quarters_of_hif4<Levels>(magnitude, block, ideal_steps);
  count_zeros(magnitude, quantized_steps, ideal_steps, zeros);
  store_steps(quantized_steps, quantized);
  store_steps(ideal_steps, ideal);
}

template <int Levels>
FP4PROOF_INLINE ZeroCounts count_steps_of_groups(const std::uint32_t* words, const std::uint8_t* codes,
                                                 const PlainBlock* blocks, int count, std::int32_t* quantized,
                                                 std::int32_t* ideal) {
  widen_codes(codes, 4 * lane_count * count, Levels, quantized);
  ZeroLanes zeros;
  for (int i = 0; i < 4 * count; ++i) {
    const int at = lane_count * i;
    hif4_lanes<Levels>(i % 4, words + at, blocks[i / 4], quantized + at, ideal + at, zeros);
  }
  return total(zeros);
}

FP4PROOF_CLONES ZeroCounts count_steps_3(const std::uint32_t* words, const std::uint8_t* codes,
                                         const PlainBlock* blocks, int count, std::int32_t* quantized,
                                         std::int32_t* ideal) {
  return count_steps_of_groups<3>(words, codes, blocks, count, quantized, ideal);
}
FP4PROOF_CLONES ZeroCounts count_steps_7(const std::uint32_t* words, const std::uint8_t* codes,
                                         const PlainBlock* blocks, int count, std::int32_t* quantized,
                                         std::int32_t* ideal) {
  return count_steps_of_groups<7>(words, codes, blocks, count, quantized, ideal);
}
FP4PROOF_CLONES ZeroCounts count_steps_15(const std::uint32_t* words, const std::uint8_t* codes,
                                          const PlainBlock* blocks, int count, std::int32_t* quantized,
                                          std::int32_t* ideal) {
  return count_steps_of_groups<15>(words, codes, blocks, count, quantized, ideal);
}

constexpr int part_lanes = 8;  ///< lanes of doubles that are summed together
using DoubleLanes = double __attribute__((vector_size(64)));
using DoubleMask = std::int64_t __attribute__((vector_size(64)));
using HalfFloats = float __attribute__((vector_size(32)));
using HalfWords = std::uint32_t __attribute__((vector_size(32)));
using HalfSteps = std::int32_t __attribute__((vector_size(32)));

/// The smallest binary32 numbers x with x * full >= wanted, or > wanted. The rounded quotient lies within half a unit
/// in the last place of the exact one, so it is that number or the one below.
FP4PROOF_INLINE void smallest_reaching(const DoubleLanes& wanted, double full, double reciprocal,
                                       const DoubleMask& above, float* result) {
  const HalfFloats near = __builtin_convertvector(wanted * reciprocal, HalfFloats);
  const DoubleLanes back = __builtin_convertvector(near, DoubleLanes) * full;
  const DoubleMask falls_short = (back < wanted) | ((back == wanted) & above);
  const HalfSteps bits = reinterpret_cast<HalfSteps>(near) - __builtin_convertvector(falls_short, HalfSteps);
  std::memcpy(result, &bits, sizeof bits);
}

FP4PROOF_INLINE void load_doubles(const std::uint32_t* words, DoubleLanes& result) {
  HalfWords w;
  std::memcpy(&w, words, sizeof w);
  result = __builtin_convertvector(reinterpret_cast<HalfFloats>(w & float_magnitude_mask), DoubleLanes);
}

FP4PROOF_INLINE void load_doubles(const std::int32_t* steps, DoubleLanes& result) {
  HalfSteps s;
  std::memcpy(&s, steps, sizeof s);
  result = __builtin_convertvector(s, DoubleLanes);
}

FP4PROOF_INLINE void load_doubles(const float* values, DoubleLanes& result) {
  HalfFloats v;
  std::memcpy(&v, values, sizeof v);
  result = __builtin_convertvector(v, DoubleLanes);
}

/// Elements of eight quotients. Below the smallest normal the step is that of the binade above it: the quotient is
/// rounded there, moved up by one smallest normal.
FP4PROOF_INLINE void round_to_grid(const WideGrid& grid, const DoubleLanes& quotient, DoubleLanes& element) {
  const DoubleLanes nothing = {};
  const DoubleLanes moved = quotient < grid.smallest_normal ? nothing + grid.smallest_normal : nothing;
  const auto word = reinterpret_cast<DoubleMask>(quotient + moved);
  const DoubleMask is_odd = -((word >> grid.drop) & 1);
  const DoubleMask rounded = (word + grid.bias + (is_odd & grid.odd_bias)) & -(std::int64_t{1} << grid.drop);
  element = reinterpret_cast<DoubleLanes>(rounded) - moved;
}

/// Elements of sixteen magnitude codes.
FP4PROOF_INLINE void decode_wide(const WideGrid& grid, const std::uint8_t* codes, FloatLanes& element) {
  WordLanes code;
  load_bytes(codes, code);
  code &= grid.magnitude_mask;
  const WordLanes nothing = {};
  const std::uint32_t first_normal = 1U << grid.mantissa_bits;
  const WordLanes moved = code < first_normal ? nothing + first_normal : nothing;
  const WordLanes offset = nothing + (static_cast<std::uint32_t>(127 - grid.exponent_bias) << 23);
  const WordLanes word = ((code + moved) << (23 - grid.mantissa_bits)) + offset;
  const FloatLanes no_value = {};
  const auto smallest_normal = static_cast<float>(grid.smallest_normal);
  element = reinterpret_cast<FloatLanes>(word) - (moved != 0U ? no_value + smallest_normal : no_value);
}

/// Adds the products of eight elements; `failures` counts, as negative numbers, where the identity does not hold.
FP4PROOF_INLINE void add_part(const DoubleLanes& input, const DoubleLanes& quantized, const DoubleLanes& ideal,
                              DoubleLanes (&sums)[LaneSums::sum_count], DoubleMask& failures) {
  const DoubleLanes nothing = {};
  const DoubleLanes error = quantized - input;
  const DoubleLanes scale = quantized - ideal;
  const DoubleLanes rest = ideal - input;  // the deadzone or the grid term; the other one is zero and adds nothing
  const DoubleLanes rest_squared = rest * rest;
  const DoubleLanes scale_rest = scale * rest;
  const DoubleMask in_deadzone = ideal == 0.0;
  failures += error != scale + rest;
  sums[0] += input * input;
  sums[1] += quantized * input;
  sums[2] += error * error;
  sums[3] += scale * scale;
  sums[4] += in_deadzone ? rest_squared : nothing;
  sums[5] += in_deadzone ? nothing : rest_squared;
  sums[6] += in_deadzone ? nothing : scale_rest;
  sums[7] += in_deadzone ? scale_rest : nothing;
}

template <class Magnitude>
FP4PROOF_INLINE std::int64_t add_all_products(const std::uint32_t* words, const Magnitude* quantized,
                                              const Magnitude* ideal, const PlainBlock* blocks, int count, int length,
                                              double factor, LaneSums::Lanes* sums) {
  DoubleMask failures = {};
  for (int part = 0; part < sum_lanes; part += part_lanes) {
    DoubleLanes part_sums[LaneSums::sum_count];
    for (std::size_t k = 0; k < LaneSums::sum_count; ++k) {
      std::memcpy(&part_sums[k], sums[k].data() + part, sizeof part_sums[k]);
    }
    for (int b = 0; b < count; ++b) {
      for (int at = b * length + part; at < (b + 1) * length; at += sum_lanes) {
        DoubleLanes input;
        DoubleLanes quantized_value;
        DoubleLanes ideal_value;
        load_doubles(words + at, input);
        load_doubles(quantized + at, quantized_value);
        load_doubles(ideal + at, ideal_value);
        add_part(input * factor, quantized_value * blocks[b].quantized_step, ideal_value * blocks[b].ideal_step,
                 part_sums, failures);
      }
    }
    for (std::size_t k = 0; k < LaneSums::sum_count; ++k) {
      std::memcpy(sums[k].data() + part, &part_sums[k], sizeof part_sums[k]);
    }
  }
  std::int64_t total_failures = 0;
  for (int lane = 0; lane < part_lanes; ++lane) total_failures -= failures[lane];
  return total_failures;
}

}  // namespace

FP4PROOF_CLONES void find_thresholds(const IdealTies& ties, const float* m, int count, PlainBlock* blocks) {
  const double reciprocal = 1.0 / ties.full;
  for (int b = 0; b < count; ++b) {
    for (int slot = 0; slot < ties.slots; slot += part_lanes) {
      DoubleLanes tie;
      DoubleMask above;
      std::memcpy(&tie, ties.ties.data() + slot, sizeof tie);
      std::memcpy(&above, ties.above_tie.data() + slot, sizeof above);
      smallest_reaching(tie * double{m[b]}, ties.full, reciprocal, above, blocks[b].reaches.data() + slot);
    }
  }
}

FP4PROOF_CLONES ZeroCounts count_steps_e2m1(const std::uint32_t* words, const std::uint8_t* codes,
                                            const PlainBlock* blocks, int count, std::int32_t* quantized,
                                            std::int32_t* ideal) {
  widen_codes(codes, 2 * lane_count * count, 7, quantized);
  ZeroLanes zeros;
  for (int i = 0; i < 2 * count; ++i) {
    const int at = lane_count * i;
    e2m1_lanes(words + at, blocks[i / 2], quantized + at, ideal + at, zeros);
  }
  return total(zeros);
}

ZeroCounts count_steps_hif4(int levels, const std::uint32_t* words, const std::uint8_t* codes, const PlainBlock* blocks,
                            int count, std::int32_t* quantized, std::int32_t* ideal) {
  switch (levels) {
    case 3: return count_steps_3(words, codes, blocks, count, quantized, ideal);
    case 15: return count_steps_15(words, codes, blocks, count, quantized, ideal);
    default: return count_steps_7(words, codes, blocks, count, quantized, ideal);
  }
}

FP4PROOF_CLONES ZeroCounts count_levels_wide(const WideGrid& grid, const std::uint32_t* words,
                                             const std::uint8_t* codes, const PlainBlock* blocks, int count,
                                             float* quantized, float* ideal) {
  constexpr int length = 2 * lane_count;
  for (int at = 0; at < length * count; at += part_lanes) {
    DoubleLanes element;
    load_doubles(words + at, element);
    round_to_grid(grid, element * blocks[at / length].over_unit, element);
    const HalfFloats narrow = __builtin_convertvector(element, HalfFloats);
    std::memcpy(ideal + at, &narrow, sizeof narrow);
  }
  ZeroLanes zeros;
  for (int at = 0; at < length * count; at += lane_count) {
    FloatLanes magnitude;
    load_magnitudes(words + at, magnitude);
    FloatLanes quantized_element;
    decode_wide(grid, codes + at, quantized_element);
    FloatLanes ideal_element;
    std::memcpy(&ideal_element, ideal + at, sizeof ideal_element);
    count_zeros(magnitude, quantized_element, ideal_element, zeros);
    std::memcpy(quantized + at, &quantized_element, sizeof quantized_element);
  }
  return total(zeros);
}

FP4PROOF_CLONES std::int64_t add_products(const std::uint32_t* words, const std::int32_t* quantized,
                                          const std::int32_t* ideal, const PlainBlock* blocks, int count, int length,
                                          double factor, LaneSums::Lanes* sums) {
  return add_all_products(words, quantized, ideal, blocks, count, length, factor, sums);
}
FP4PROOF_CLONES std::int64_t add_products(const std::uint32_t* words, const float* quantized, const float* ideal,
                                          const PlainBlock* blocks, int count, int length, double factor,
                                          LaneSums::Lanes* sums) {
  return add_all_products(words, quantized, ideal, blocks, count, length, factor, sums);
}

}  // namespace fp4proof::portable
