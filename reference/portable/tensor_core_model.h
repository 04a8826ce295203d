#pragma once
// Models of tensor-core instructions, named by architecture. They say what a published description of the hardware's
// arithmetic (microsoft/MMA-Sim) gives for an input; nothing here runs on or stands for a GPU.
//
// One instruction adds an accumulator C and a number of products:
//   1. every summand is a significand times a power of two, see ModelNumber; a product multiplies significands, which
//      are not normalised afterwards, and adds exponents;
//   2. all are aligned to the largest exponent among them and truncated toward zero to `fraction_bits` bits below it;
//   3. they are added exactly, and the sum is truncated toward zero to binary32 with `output_fraction_bits` bits.

#include <cstdint>
#include <span>

#include "formats/spec.h"

namespace fp4proof::portable {

/// What one kind of instruction does.
struct TensorCore {
  int elements;              ///< of K in one instruction
  int fraction_bits;         ///< kept below the largest exponent
  int output_fraction_bits;  ///< of the result: 23 is binary32
};

inline constexpr TensorCore hopper_fp16 = {16, 25, 23};
inline constexpr TensorCore hopper_fp8 = {32, 13, 13};
inline constexpr TensorCore blackwell_mxf8f6f4 = {32, 25, 23};
inline constexpr TensorCore blackwell_mxf4 = {64, 35, 23};  ///< its summands are exact dots of mxf4_group elements
inline constexpr int mxf4_group = 16;

/// significand / 8 * 2^exponent with |significand| in 8..15; below the smallest normal number of the operand's type the
/// exponent stays and the significand is smaller. Zero is 0 * 2^zero_exponent, whatever its type.
struct ModelNumber {
  std::int16_t significand;
  std::int16_t exponent;
};
inline constexpr int zero_exponent = -126;
inline constexpr int significand_fraction_bits = 3;

/// `value` as an operand of a type whose smallest normal number is 2^min_exponent. Needs a finite value of at most four
/// significant bits that the type holds.
ModelNumber model_number(double value, int min_exponent);

/// The smallest normal exponents: Hopper takes an element as binary16, or as FP8 (E5M2 as it is, all others as E4M3);
/// Blackwell takes each element in its own type.
int hopper_fp16_min_exponent(Element element);
int hopper_fp8_min_exponent(Element element);
int own_min_exponent(Element element);
/// And of the block scales: E8M0 (MX), E4M3 (NVFP4).
int scale_min_exponent(Family family);

/// A summand: significand * 2^(exponent - point), the point being common to a call of fused_sum.
struct ModelTerm {
  std::int64_t significand;
  int exponent;
};

/// One instruction on a finite accumulator and at most 64 terms, each below 2^20 in significand / 2^point. +0 where
/// nothing is left of the sum, infinity from 2^128 up.
float fused_sum(const TensorCore& core, float accumulator, std::span<const ModelTerm> terms, int point);

}  // namespace fp4proof::portable
