#pragma once
// Elementary functions with one answer on every machine: exp, log, square root, reciprocal square root, division and
// SiLU of binary32, and the binary64 logarithm and sine/cosine behind the normal random numbers.
//
// Each is a fixed sequence of IEEE additions, multiplications, divisions and square roots, round to nearest even,
// none fused, so host and device give the same bits. No library function takes part in a result. exp and log are
// correctly rounded for every binary32 input (tests/exhaustive/strict_math_exhaustive.cpp). Every NaN result is
// canonical_nan(). docs/elementary-functions.md gives the rules.
//
// Compile with contraction off (-ffp-contract=off; nvcc: --fmad=false), subnormals kept and IEEE division
// (nvcc: --ftz=false --prec-div=true).

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/host_device.h"

#if defined(__FAST_MATH__) || defined(__USE_FAST_MATH__)
#error "formats/strict_math.h needs IEEE arithmetic: compile without -ffast-math or --use_fast_math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "formats/strict_math.h needs float and double evaluated in their own precision (on x86: -msse2 -mfpmath=sse)"
#endif

namespace fp4proof::strict {

// ---------------------------------------------------------------------------------------------------------------------
// Building blocks
// ---------------------------------------------------------------------------------------------------------------------

/// A number held as hi + lo, not yet added.
struct UnevaluatedSum {
  double hi;
  double lo;
};

/// hi + lo rounded to odd: the sum if it is a binary64 number, else the one of its two neighbours whose last bit is 1.
/// Rounding this once more to binary32, subnormals included, is the same as rounding hi + lo once. Needs |hi| >= |lo|
/// or hi = 0.
FP4PROOF_HD constexpr double round_to_odd(UnevaluatedSum value) {
  const double sum = value.hi + value.lo;
  const double error = value.lo - (sum - value.hi);
  const auto word = bits_as<std::uint64_t>(sum);
  if (error == 0.0 || (word & 1U) != 0) return sum;
  const bool away_from_zero = (error > 0.0) == (sum > 0.0);
  return bits_as<double>(away_from_zero ? word + 1U : word - 1U);
}

/// c0 + x (c1 + x (c2 + ...)), one product and one sum a coefficient, innermost first.
template <class... Rest>
FP4PROOF_HD constexpr double horner(double x, double c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c0;
  } else {
    return c0 + x * horner(x, rest...);
  }
}

/// log 2 in two parts. The first is a multiple of 2^-42, so its product with an integer below 2^11 is exact.
inline constexpr double ln2_hi = 0x1.62e42fefa38p-1;
inline constexpr double ln2_lo = 0x1.ef35793c7673p-45;

/// All ones where `condition` holds, else 0.
FP4PROOF_HD constexpr std::uint32_t mask_of(bool condition) { return 0U - static_cast<std::uint32_t>(condition); }

FP4PROOF_HD constexpr float canonicalise_nan(float value) {
  return is_nan_bits(float_bits(value)) ? canonical_nan() : value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Division and square root
// ---------------------------------------------------------------------------------------------------------------------

/// The IEEE quotient.
FP4PROOF_HD constexpr float divide(float numerator, float denominator) {
  return canonicalise_nan(numerator / denominator);
}

/// The IEEE square root; sqrt(-0) = -0, NaN below zero.
FP4PROOF_HD inline float sqrt(float x) {
#if defined(__CUDA_ARCH__)
  return canonicalise_nan(__fsqrt_rn(x));
#else
  return canonicalise_nan(__builtin_sqrtf(x));
#endif
}

/// The IEEE square root of a non-negative binary64 number.
FP4PROOF_HD inline double sqrt_double(double x) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(x);
#else
  return __builtin_sqrt(x);
#endif
}

/// 1 / sqrt(x) with two roundings: IEEE square root, then IEEE division. rsqrt(+0) = +inf, rsqrt(-0) = -inf,
/// rsqrt(+inf) = +0, NaN below zero. Not correctly rounded as a whole, by definition.
FP4PROOF_HD inline float rsqrt(float x) { return divide(1.0F, sqrt(x)); }

// ---------------------------------------------------------------------------------------------------------------------
// Exponential
// ---------------------------------------------------------------------------------------------------------------------

/// exp(x), correctly rounded. Overflow gives +inf, underflow is gradual and then +0, exp(-inf) = +0.
FP4PROOF_HD constexpr float exp(float x) {
  constexpr float first_overflow = 0x1.62e43p+6F;
  constexpr float last_nonzero = -0x1.9fe368p+6F;  // exp of it is just above 2^-150
  constexpr double log2_e = 0x1.71547652b82fep+0;
  const std::uint32_t word = float_bits(x);
  const std::uint32_t ordinary = mask_of(x >= last_nonzero) & mask_of(x < first_overflow);

  // x = k log 2 + r_hi + r_lo, |r_hi| <= 0.347; r_hi is exact. Masks in place of branches, so that loops over x become
  // vector code.
  const auto wide = static_cast<double>(float_from_bits(word & ordinary));
  const int k = static_cast<int>(wide * log2_e + (wide < 0.0 ? -0.5 : 0.5));
  const double r_hi = wide - k * ln2_hi;
  const double r_lo = -(k * ln2_lo);
  // exp(r) = 1 + (r_hi + tail); the Taylor series stops below 2^-63.
  const double series = horner(r_hi, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                               1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0,
                               1.0 / 87178291200.0, 1.0 / 1307674368000.0);
  const double curved = r_hi * r_hi * series;
  const double tail = curved + r_lo * (1.0 + (r_hi + curved));
  const auto result = static_cast<float>((1.0 + (r_hi + tail)) * pow2d(k));
  const std::uint32_t limit = float_infinity_bits & mask_of(x > 0.0F);
  const std::uint32_t special = limit | (canonical_nan_bits & mask_of(is_nan_bits(word)));
  return float_from_bits((float_bits(result) & ordinary) | (special & ~ordinary));
}

// ---------------------------------------------------------------------------------------------------------------------
// Logarithm
// ---------------------------------------------------------------------------------------------------------------------

/// log(x) of a positive normal binary64 number as hi + lo: hi is a multiple of log 2 (its upper part) or 0, exact.
FP4PROOF_HD constexpr UnevaluatedSum log_sum(double x) {
  constexpr double sqrt2 = 0x1.6a09e667f3bcdp+0;
  const auto word = bits_as<std::uint64_t>(x);
  int k = static_cast<int>(word >> 52) - 1023;
  double m = bits_as<double>((word & 0x000FFFFFFFFFFFFFU) | 0x3FF0000000000000U);
  if (m > sqrt2) {
    m *= 0.5;
    ++k;
  }
  // log m = 2 atanh(s), |s| <= 0.1716; the series stops below 2^-64 of its leading term.
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  const double series = horner(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19,
                               2.0 / 21, 2.0 / 23);
  const double tail = s * z * series;
  return {k * ln2_hi, 2.0 * s + (k * ln2_lo + tail)};
}

/// log(x) of a positive normal binary64 number, rounded to binary64 (not always correctly).
FP4PROOF_HD constexpr double log_double(double x) {
  const UnevaluatedSum sum = log_sum(x);
  return sum.hi + sum.lo;
}

/// log(x), correctly rounded. log(+-0) = -inf, log(+inf) = +inf, NaN below zero; subnormal inputs count as they are.
FP4PROOF_HD constexpr float log(float x) {
  const std::uint32_t word = float_bits(x);
  const bool is_ordinary = word - 1U < float_infinity_bits - 1U;  // neither zero nor negative nor special
  const auto result = static_cast<float>(round_to_odd(log_sum(is_ordinary ? static_cast<double>(x) : 1.0)));
  const bool is_zero = (word & float_magnitude_mask) == 0;
  const std::uint32_t special = is_zero                       ? float_sign_mask | float_infinity_bits
                                : word == float_infinity_bits ? float_infinity_bits
                                                              : canonical_nan_bits;
  return is_ordinary ? result : float_from_bits(special);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sine and cosine
// ---------------------------------------------------------------------------------------------------------------------

struct SinCos {
  double cosine;
  double sine;
};

/// Cosine and sine of an angle in turns, 0 <= turns <= 1: the nearest quarter turn is taken off exactly, the rest is
/// multiplied by 2 pi (one rounding) and enters Taylor series, |radians| <= pi / 4. Errors below one unit in the last
/// place of binary64 apart from that rounding.
FP4PROOF_HD constexpr SinCos sincos_turns(double turns) {
  constexpr double two_pi = 0x1.921fb54442d18p+2;
  const int quarter = static_cast<int>(4.0 * turns + 0.5);
  const double x = (turns - 0.25 * quarter) * two_pi;
  const double z = x * x;
  const double sine_series = horner(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                    1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0);
  const double cosine_series = horner(z, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                      -1.0 / 87178291200.0, 1.0 / 20922789888000.0);
  const double sine = x + x * z * sine_series;
  const double cosine = 1.0 + z * cosine_series;
  switch (quarter & 3) {
    case 0: return {cosine, sine};
    case 1: return {-sine, cosine};
    case 2: return {-cosine, -sine};
    default: return {sine, -cosine};
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// SiLU
// ---------------------------------------------------------------------------------------------------------------------

/// SiLU: x / (1 + exp(-x)), each operation rounded to binary32, in that order. silu(x) = -0 once exp(-x) overflows;
/// silu(-inf) = NaN, as the formula has it.
FP4PROOF_HD constexpr float silu(float x) { return divide(x, 1.0F + exp(-x)); }

}  // namespace fp4proof::strict
