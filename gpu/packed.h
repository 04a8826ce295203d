#pragma once
// Arithmetic on two 16-bit numbers in a 32-bit word, the lower half first. On the device each function is one
// instruction; on the host it gives the same bits from exact arithmetic, so that tests can prove a whole conversion
// without a device. Subnormals count, every rounding is to nearest, ties to even, and a computed NaN is 0x7FFF.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/host_device.h"

namespace fp4proof::gpu {

/// The same 16 bits in both halves.
FP4PROOF_HD constexpr std::uint32_t both_halves(std::uint32_t half) { return half * 0x00010001U; }

inline constexpr std::uint32_t packed_magnitude_mask = 0x7FFF7FFFU;
inline constexpr std::uint32_t packed_sign_mask = 0x80008000U;

FP4PROOF_HD constexpr std::uint32_t packed_magnitude(std::uint32_t word) { return word & packed_magnitude_mask; }

namespace packed_detail {

/// A 16-bit binary format: the fraction bits below the leading one, and the exponent of its smallest normal number.
struct Format {
  int fraction_bits;
  int least_exponent;
};
inline constexpr Format bf16 = {7, -126};
inline constexpr Format f16 = {10, -14};

constexpr std::uint32_t infinity_of(const Format& format) {
  return 0x7FFFU >> format.fraction_bits << format.fraction_bits;
}

constexpr double value_of(const Format& format, std::uint32_t half) {
  return format.fraction_bits == bf16.fraction_bits ? double{bf16_to_float(static_cast<std::uint16_t>(half))}
                                                    : double{fp16_to_float(static_cast<std::uint16_t>(half))};
}

/// a + b in binary64, where an inexact sum is moved to the neighbour with an odd significand: rounded once more to
/// fewer bits it gives what the exact sum would have given.
constexpr double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (sum - sum != 0.0) return sum;  // an infinity or a NaN
  const double part = sum - a;
  const double lost = (a - (sum - part)) + (b - part);
  if (lost == 0.0) return sum;
  const std::uint64_t bits = bits_as<std::uint64_t>(sum);
  return bits_as<double>(((lost > 0.0) == (sum > 0.0) ? bits : bits - 1U) | 1U);
}

/// The number of the format nearest to `value`, ties to even.
constexpr std::uint32_t rounded_to(const Format& format, double value) {
  const std::uint64_t bits = bits_as<std::uint64_t>(value);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << 15;
  const double magnitude = bits_as<double>(bits & ~(std::uint64_t{1} << 63));
  if (value != value) return 0x7FFFU;
  if (magnitude >= 0x1p200) return sign | infinity_of(format);
  if (magnitude < 0x1p-200) return sign;
  const int exponent = static_cast<int>(bits >> 52 & 0x7FFU) - 1023;
  const int binade = exponent > format.least_exponent ? exponent : format.least_exponent;
  const double steps = magnitude * pow2d(format.fraction_bits - binade);
  auto whole = static_cast<std::uint32_t>(steps);
  const double rest = steps - whole;
  if (rest > 0.5 || (rest == 0.5 && (whole & 1U) != 0)) ++whole;
  whole += static_cast<std::uint32_t>(binade - format.least_exponent) << format.fraction_bits;
  return sign | (whole < infinity_of(format) ? whole : infinity_of(format));
}

constexpr std::uint32_t fma_half(const Format& format, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const double product = value_of(format, a) * value_of(format, b);  // exact
  return rounded_to(format, sum_to_odd(product, value_of(format, c)));
}

/// Clamped to [0, 1]; a NaN and -0 become +0.
constexpr std::uint32_t saturated_f16(std::uint32_t half) {
  constexpr std::uint32_t one = 0x3C00U;
  if ((half & 0x8000U) != 0 || half > infinity_of(f16)) return 0;
  return half < one ? half : one;
}

template <class Operation, class... Words>
constexpr std::uint32_t by_half(Operation operation, Words... words) {
  return operation((words & 0xFFFFU)...) | operation((words >> 16)...) << 16;
}

}  // namespace packed_detail

/// a * b + c, rounded once to bfloat16.
FP4PROOF_HD inline std::uint32_t packed_fma_bf16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#if defined(__CUDA_ARCH__)
  std::uint32_t d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
#else
  using namespace packed_detail;
  return by_half([](auto x, auto y, auto z) { return fma_half(bf16, x, y, z); }, a, b, c);
#endif
}

/// a * b + c, rounded once to binary16.
FP4PROOF_HD inline std::uint32_t packed_fma_f16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#if defined(__CUDA_ARCH__)
  std::uint32_t d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
#else
  using namespace packed_detail;
  return by_half([](auto x, auto y, auto z) { return fma_half(f16, x, y, z); }, a, b, c);
#endif
}

/// a * b + c, rounded once to binary16 and clamped to [0, 1].
FP4PROOF_HD inline std::uint32_t packed_fma_sat_f16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#if defined(__CUDA_ARCH__)
  std::uint32_t d;
  asm("fma.rn.sat.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
#else
  using namespace packed_detail;
  return by_half([](auto x, auto y, auto z) { return saturated_f16(fma_half(f16, x, y, z)); }, a, b, c);
#endif
}

/// The larger of two unsigned halves.
FP4PROOF_HD inline std::uint32_t packed_max_u16(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __vmaxu2(a, b);
#else
  return packed_detail::by_half([](auto x, auto y) { return x < y ? y : x; }, a, b);
#endif
}

/// Four of the eight bytes of a (bytes 0..3) and b (bytes 4..7): nibble i of `selector` says which becomes byte i. With
/// 8 added to the nibble all eight bits are the top bit of that byte.
FP4PROOF_HD inline std::uint32_t permuted_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
#if defined(__CUDA_ARCH__)
  std::uint32_t d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
#else
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t choice = selector >> (4 * i) & 0xFU;
    const auto byte = static_cast<std::uint32_t>(bytes >> (8U * (choice & 7U)) & 0xFFU);
    result |= ((choice & 8U) == 0 ? byte : (byte >> 7) * 0xFFU) << (8 * i);
  }
  return result;
#endif
}

/// The smaller of two unsigned halves.
FP4PROOF_HD inline std::uint32_t packed_min_u16(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __vminu2(a, b);
#else
  return packed_detail::by_half([](auto x, auto y) { return x < y ? x : y; }, a, b);
#endif
}

/// a + b in signed halves, at most `most` and at least 0.
FP4PROOF_HD inline std::uint32_t packed_clamped_sum_s16(std::uint32_t a, std::uint32_t b, std::uint32_t most) {
#if defined(__CUDA_ARCH__)
  return __viaddmin_s16x2_relu(a, b, most);
#else
  const auto clamped = [](auto x, auto y, auto z) -> std::uint32_t {
    const auto sum = static_cast<std::int16_t>(x + y);
    const auto smaller = sum < static_cast<std::int16_t>(z) ? sum : static_cast<std::int16_t>(z);
    return smaller < 0 ? 0U : static_cast<std::uint32_t>(smaller);
  };
  return packed_detail::by_half(clamped, a, b, most);
#endif
}

/// The bfloat16 number of larger magnitude with the product of both signs; NaN if one is NaN.
FP4PROOF_HD inline std::uint32_t packed_larger_magnitude_bf16(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  std::uint32_t d;
  asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
#else
  const auto larger = [](auto x, auto y) -> std::uint32_t {
    const std::uint32_t p = x & 0x7FFFU;
    const std::uint32_t q = y & 0x7FFFU;
    const std::uint32_t magnitude = p > q ? p : q;
    return magnitude > packed_detail::infinity_of(packed_detail::bf16) ? 0x7FFFU : magnitude | ((x ^ y) & 0x8000U);
  };
  return packed_detail::by_half(larger, a, b);
#endif
}

/// The bfloat16 number of smaller magnitude with the product of both signs; the other one if one is NaN.
FP4PROOF_HD inline std::uint32_t packed_smaller_magnitude_bf16(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  std::uint32_t d;
  asm("min.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
#else
  const auto smaller = [](auto x, auto y) -> std::uint32_t {
    const std::uint32_t p = x & 0x7FFFU;
    const std::uint32_t q = y & 0x7FFFU;
    const std::uint32_t magnitude = p < q ? p : q;
    return magnitude > packed_detail::infinity_of(packed_detail::bf16) ? 0x7FFFU : magnitude | ((x ^ y) & 0x8000U);
  };
  return packed_detail::by_half(smaller, a, b);
#endif
}

/// All ones where the bfloat16 number a is at least b, else zeros.
FP4PROOF_HD inline std::uint32_t packed_at_least_bf16(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  std::uint32_t d;
  asm("set.ge.u32.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
#else
  const auto at_least = [](auto x, auto y) -> std::uint32_t {
    return bf16_to_float(static_cast<std::uint16_t>(x)) >= bf16_to_float(static_cast<std::uint16_t>(y)) ? 0xFFFFU : 0U;
  };
  return packed_detail::by_half(at_least, a, b);
#endif
}

/// The lower (0) or the upper (1) half in both halves.
FP4PROOF_HD inline std::uint32_t packed_half(std::uint32_t halves, int which) {
  return permuted_bytes(halves, 0, which == 0 ? 0x1010U : 0x3232U);
}

}  // namespace fp4proof::gpu
