#pragma once
// Exact non-negative numbers, significand * 2^exponent, and the one place where a magnitude is rounded to a grid.
// Every encoder of the fast road ends here.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/host_device.h"
#include "formats/spec.h"

namespace fp4proof {

/// significand * 2^exponent. A quotient that is not binary keeps its lost part as a set lowest bit ("sticky"): it is
/// wide enough (at least 35 significant bits) that no tie, threshold or 32-bit stochastic decision can be touched.
struct Magnitude {
  std::uint64_t significand = 0;
  int exponent = 0;
};

/// Position of the highest set bit of a non-zero word.
FP4PROOF_HD constexpr int top_bit(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return 63 - __clzll(static_cast<long long>(word));
#else
  return 63 - __builtin_clzll(word);
#endif
}

/// floor(log2 m) of a non-zero magnitude.
FP4PROOF_HD constexpr int floor_log2(const Magnitude& m) { return top_bit(m.significand) + m.exponent; }

/// The magnitude of a finite binary32 word, exact; the sign bit is ignored.
FP4PROOF_HD constexpr Magnitude magnitude_of_bits(std::uint32_t word) {
  const std::uint32_t field = (word >> 23) & 0xFFU;
  const std::uint32_t mantissa = word & 0x7FFFFFU;
  if (field == 0) return {mantissa, -149};
  return {mantissa | 0x800000U, static_cast<int>(field) - 150};
}

/// a * b, exact while the significands together have at most 64 bits.
FP4PROOF_HD constexpr Magnitude product(const Magnitude& a, const Magnitude& b) {
  return {a.significand * b.significand, a.exponent + b.exponent};
}

/// a / b with a sticky lowest bit; b is non-zero and has at most 28 bits.
FP4PROOF_HD constexpr Magnitude quotient(const Magnitude& a, const Magnitude& b) {
  if (a.significand == 0) return {0, 0};
  const int shift = 62 - top_bit(a.significand);
  const std::uint64_t numerator = a.significand << shift;
  const std::uint64_t whole = numerator / b.significand;
  const std::uint64_t sticky = numerator % b.significand != 0 ? 1U : 0U;
  return {(whole << 1) | sticky, a.exponent - shift - b.exponent - 1};
}

/// a compared with b: negative, zero or positive. Both exact.
FP4PROOF_HD constexpr int compare(const Magnitude& a, const Magnitude& b) {
  if (a.significand == 0 || b.significand == 0) {
    return (a.significand != 0 ? 1 : 0) - (b.significand != 0 ? 1 : 0);
  }
  if (const int difference = floor_log2(a) - floor_log2(b); difference != 0) return difference;
  const std::uint64_t x = a.significand << (63 - top_bit(a.significand));
  const std::uint64_t y = b.significand << (63 - top_bit(b.significand));
  return (x > y ? 1 : 0) - (x < y ? 1 : 0);
}

/// The whole part of m / 2^step and the verdict whether the rounding moves it up by one.
/// `tie_even` says what "even" refers to for ties: the whole part itself.
/// Stochastic: up iff floor(2^bits * fraction) + u >= 2^bits, with u in [0, 2^bits).
FP4PROOF_HD constexpr std::uint64_t round_to_step(const Magnitude& m, int step, Rounding rounding, std::uint32_t u,
                                                  int bits) {
  const int drop = step - m.exponent;
  if (drop <= 0) return m.significand << -drop;
  const std::uint64_t whole = drop > 63 ? 0 : m.significand >> drop;
  const std::uint64_t rest = drop > 63 ? m.significand : m.significand & ((std::uint64_t{1} << drop) - 1);
  const auto against_half = [&] {
    if (drop > 64) return -1;
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    return (rest > half ? 1 : 0) - (rest < half ? 1 : 0);
  };
  const auto up = [&]() -> bool {
    switch (rounding) {
      case Rounding::rne: {
        const int side = against_half();
        return side > 0 || (side == 0 && (whole & 1U) != 0);
      }
      case Rounding::rna: return against_half() >= 0;
      case Rounding::ties_down: return against_half() > 0;
      case Rounding::rtz: return false;
      case Rounding::stochastic: {
        const std::uint64_t scaled = drop <= bits       ? rest << (bits - drop)
                                     : drop - bits < 64 ? rest >> (drop - bits)
                                                        : 0;
        return scaled + u >= (std::uint64_t{1} << bits);
      }
    }
    return false;
  };
  return whole + (up() ? 1U : 0U);
}

/// m rounded to `precision` significant bits, ties to even, with no lower limit on the exponent. (The binary formats'
/// subnormal ranges lie so far below every element's first tie that they cannot matter.)
FP4PROOF_HD constexpr Magnitude round_to_precision(const Magnitude& m, int precision) {
  if (m.significand == 0) return m;
  const int step = floor_log2(m) - (precision - 1);
  if (step <= m.exponent) return m;
  return {round_to_step(m, step, Rounding::rne, 0, 0), step};
}

/// Whether m rounds to zero in binary32, ties to even: m <= 2^-150.
FP4PROOF_HD constexpr bool underflows_float(const Magnitude& m) {
  constexpr Magnitude half_of_smallest = {1, -150};
  return compare(m, half_of_smallest) <= 0;
}

/// The magnitude code of `spec` for m: the two neighbours on the element's grid, one of them chosen by `rounding`,
/// clamped to the largest finite code. `u` and `bits` matter for stochastic rounding alone.
FP4PROOF_HD constexpr std::uint8_t encode_magnitude(const ElementSpec& spec, Rounding rounding, const Magnitude& m,
                                                    std::uint32_t u = 0, int bits = 32) {
  if (m.significand == 0) return 0;
  const int log2 = floor_log2(m);
  if (log2 > spec.emax) return spec.max_code;
  const int smallest_normal = 1 - spec.bias;
  const int binade = log2 > smallest_normal ? log2 : smallest_normal;
  const std::uint64_t whole = round_to_step(m, binade - spec.mantissa_bits, rounding, u, bits);
  const std::uint64_t code = whole + (static_cast<std::uint64_t>(binade - smallest_normal) << spec.mantissa_bits);
  return code < spec.max_code ? static_cast<std::uint8_t>(code) : spec.max_code;
}

}  // namespace fp4proof
