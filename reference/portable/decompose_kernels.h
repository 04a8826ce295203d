#pragma once
// The vectorised inner loops of the error decomposition, for runs of plain blocks of one row. They work on magnitudes:
// every sum is over products of two terms, and both change sign with x. They know nothing of profiles; the thresholds
// come from decompose_run.h. Every function has one clone per instruction set.

#include <array>
#include <cstdint>

#include "reference/portable/decision_tables.h"
#include "reference/portable/decompose_sums.h"

namespace fp4proof::portable {

inline constexpr std::size_t threshold_slots = 24;

/// The ideal decisions of a profile, one a slot: code 1, 2, ... and after them, for HiF4, the level-2 bit and the
/// level-3 bit under a clear level-2 bit. Slot s is reached where |x| full / m is at least ties[s], or more than that
/// where `above_tie` is -1 (else 0). Ties of unused slots are infinite.
struct IdealTies {
  std::array<double, threshold_slots> ties{};
  std::array<std::int64_t, threshold_slots> above_tie{};
  int levels = 0;
  int slots = 0;
  double full = 1;
};

/// What a kernel needs to know about one plain block.
struct PlainBlock {
  std::array<float, threshold_slots> reaches;  ///< the smallest |x| that reaches each slot of IdealTies
  std::uint32_t scale_word = 0;                ///< HiF4: holds the level bits of the coded block
  double quantized_step = 0;                   ///< F Q(x) of the smallest element, level bits clear; wide: of 1
  double ideal_step = 0;                       ///< F Q*(x) of the same
  double over_unit = 0;                        ///< wide elements: RN(full / m); 0 where m is 0
};

/// The grid of a wide element and a deterministic rounding to it, on words of binary64: a magnitude word w of at least
/// `smallest_normal` becomes w + bias, plus odd_bias where its last kept bit is set, with the low `drop` bits cleared.
/// The biases are such that a number within 2^10 units in the last place of a tie or a grid point counts as that.
struct WideGrid {
  int mantissa_bits = 0;
  int exponent_bias = 0;
  std::uint32_t magnitude_mask = 0;  ///< of a code
  double smallest_normal = 0;        ///< below it the step of the grid stays the same
  int drop = 0;
  std::int64_t bias = 0;
  std::int64_t odd_bias = 0;
};

/// Fills `reaches` of `count` blocks whose largest magnitudes are `m`. Nothing finite reaches a slot where m is
/// infinite.
void find_thresholds(const IdealTies& ties, const float* m, int count, PlainBlock* blocks);

struct ZeroCounts {
  std::int64_t in_deadzone = 0;
  std::int64_t zeroed = 0;
};

/// For `blocks` blocks of 32 E2M1 elements: quantized[i] and ideal[i] are the magnitudes of Q(x) and Q*(x) in steps of
/// the smallest element.
ZeroCounts count_steps_e2m1(const std::uint32_t* words, const std::uint8_t* codes, const PlainBlock* blocks, int count,
                            std::int32_t* quantized, std::int32_t* ideal);

/// The same for HiF4 groups of 64 elements with 3, 7 or 15 levels.
ZeroCounts count_steps_hif4(int levels, const std::uint32_t* words, const std::uint8_t* codes, const PlainBlock* blocks,
                            int count, std::int32_t* quantized, std::int32_t* ideal);

/// For blocks of 32 wide elements: quantized[i] and ideal[i] are the magnitudes of the elements of Q(x) and Q*(x).
/// x full / m and a tie (at most 5 bits) differ by nothing or by more than 1 part in 2^31, and the product
/// x * over_unit errs by less than two units in the last place, so the rounding of WideGrid decides as on the real
/// number.
ZeroCounts count_levels_wide(const WideGrid& grid, const std::uint32_t* words, const std::uint8_t* codes,
                             const PlainBlock* blocks, int count, float* quantized, float* ideal);

/// Adds the products of all terms to the lanes: `length` columns a block, 32 or 64, the first in lane 0. Returns the
/// number of elements for which F e != (F e_scale + F e_deadzone) + F e_grid. Magnitudes come in steps or as elements.
std::int64_t add_products(const std::uint32_t* words, const std::int32_t* quantized, const std::int32_t* ideal,
                          const PlainBlock* blocks, int count, int length, double factor, LaneSums::Lanes* sums);
std::int64_t add_products(const std::uint32_t* words, const float* quantized, const float* ideal,
                          const PlainBlock* blocks, int count, int length, double factor, LaneSums::Lanes* sums);

}  // namespace fp4proof::portable
