#pragma once
// Tensor-core models: one instruction aligns its products and the accumulator to the largest exponent, truncates each
// to a fixed number of fraction bits, adds exactly, and truncates the sum to its output format. Parameters by
// architecture as published by microsoft/MMA-Sim.

#include <cstdint>
#include <span>
#include <vector>

#include "reference/exact/extended.h"

namespace fp4proof::exact {

/// One summand of a fused sum: significand * 2^exponent. The significand need not lie in [1, 2).
struct Term {
  Rational significand;
  int exponent = 0;
};

/// The exponent that a zero counts with, whatever its type.
inline constexpr int zero_exponent = -126;

/// A value as significand in [1, 2) and exponent; below 2^min_exponent the exponent stays at min_exponent and the
/// significand is smaller; zero is 0 * 2^zero_exponent.
Term term_of(const Rational& value, int min_exponent);

/// The product of two terms: significands multiply and are not renormalised, exponents add.
Term product_of(const Term& a, const Term& b);

/// The sum of the terms, each truncated toward zero to `fraction_bits` bits below the largest exponent among them.
Rational fused_sum(std::span<const Term> terms, int fraction_bits);

/// `value` truncated toward zero to binary32 with only `fraction_bits` fraction bits; +0 where nothing is left, an
/// infinity from 2^128 up.
std::uint32_t truncate_to_float(const Rational& value, int fraction_bits);

/// What one kind of instruction does.
struct TensorCore {
  int fraction_bits;         ///< kept below the largest exponent
  int output_fraction_bits;  ///< 23, or 13 for Hopper fp8
  bool fp16_operands;        ///< operands come as fp16, otherwise in FP8 or narrower types
};

inline constexpr TensorCore hopper_fp16 = {25, 23, true};
inline constexpr TensorCore hopper_fp8 = {13, 13, false};
inline constexpr TensorCore blackwell_mxf8f6f4 = {25, 23, false};
inline constexpr TensorCore blackwell_mxf4 = {35, 23, false};

/// One instruction: the accumulator word plus the terms.
std::uint32_t tensor_core_add(const TensorCore& core, std::uint32_t accumulator, std::vector<Term> terms);

}  // namespace fp4proof::exact
