#pragma once
// Exact dots of blocks in device code, one kind for each reach of the elements. A kind says how an element is held in
// shared memory, how vectors of elements are multiplied and added, and how a dot becomes p of GM7.
//
// A kind gives
//   Value          an element in shared memory
//   Scale          a block scale in shared memory
//   Vector         what a thread reads at once
//   Sum            the dot so far; empty() is none
//   decode()       the Value of a code, without level bits
//   store()        eight elements of a row to shared memory, level bits applied
//   Narrow         the kind that multiplies elements of which is_wide() does not hold; itself where there is none
//   add()          the products of two vectors to a Sum
//   product()      p, one rounding
//   blocks_per_processor  thread blocks that the registers of a multiprocessor should hold

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "formats/element.h"
#include "formats/hif4.h"
#include "formats/strict_math.h"

namespace fp4proof::gpu {

/// Elements that a thread decodes at once.
inline constexpr int unit = 8;

/// The codes of eight neighbours in a row and, in HiF4, the scale word above them.
struct CodeUnit {
  std::uint32_t low = 0;   ///< eight nibbles, or four bytes
  std::uint32_t high = 0;  ///< bytes: the other four
  std::uint32_t levels = 0;

  __device__ std::uint32_t code(bool nibbles, int i) const {
    if (nibbles) return low >> (4 * i) & 15U;
    return (i < 4 ? low : high) >> (8 * (i % 4)) & 255U;
  }
  /// The sum of both level bits of the half (four elements) `half`, `column` being the first element's in its block.
  __device__ int shift(int column, int half) const {
    return hif4_level2(levels, column) + hif4_level3(levels, column + 4 * half);
  }
};

/// How many binary places the smallest element above zero stands below 1.
FP4PROOF_HD constexpr int step_places(Element element) {
  const ElementSpec spec = element_spec(element);
  return spec.bias + spec.mantissa_bits - 1;
}

namespace dots_detail {

__device__ inline float min_or_nan(float x, float y) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
__device__ inline float max_or_nan(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}

/// RN32(dot * scale_a * scale_b). The product with the smaller scale is exact: it is a multiple of 2^-149 of at most 24
/// bits, and where it overflows the larger scale is above 1, so that the whole product does.
__device__ inline float scaled(float dot, float scale_a, float scale_b) {
  return dot * min_or_nan(scale_a, scale_b) * max_or_nan(scale_a, scale_b);
}

/// Four bytes, each shifted left by itself.
__device__ inline std::uint32_t shift_bytes(std::uint32_t bytes, int count) {
  return bytes << count & (0xFFU << count & 0xFFU) * 0x01010101U;
}

/// Four of the eight bytes of `low` and `high`, chosen by the nibbles of `places`; 8 + i means the sign of byte i,
/// eight times.
__device__ inline std::uint32_t permute(std::uint32_t low, std::uint32_t high, std::uint32_t places) {
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(places));
  return result;
}

/// The bytes that four nibbles select from a table of 16.
__device__ inline std::uint32_t select_bytes(const uint4& table, std::uint32_t nibbles) {
  const std::uint32_t places = nibbles & 0x7777U;
  const std::uint32_t positive = permute(table.x, table.y, places);
  const std::uint32_t negative = permute(table.z, table.w, places);
  const std::uint32_t is_negative = permute(nibbles, nibbles << 4, 0x9D8CU);
  return (positive & ~is_negative) | (negative & is_negative);
}

}  // namespace dots_detail

/// Elements of few bits, in steps of the smallest one: bytes, whose dots of 64 stay below 2^18.
template <int Length>
struct ByteDots {
  using Value = std::int8_t;
  using Scale = float;
  using Vector = std::conditional_t<Length == 8, int2, int4>;
  using Sum = int;
  using Narrow = ByteDots;
  static constexpr int blocks_per_processor = 2;

  /// 1.5 * 2^23 as a word: a small integer added to it is the same integer added to the number.
  static constexpr int magic = 0x4B400000;

  __device__ static Value decode(Element element, std::uint8_t code) {
    return static_cast<Value>(decode_element(element, code) * pow2f(step_places(element)));
  }
  __device__ static Scale scale(Element element, float scale) { return scale * pow2f(-step_places(element)); }

  __device__ static void store(const Value* table, bool nibbles, int column, const CodeUnit& codes, Value* values) {
    uint2 bytes;
    if (nibbles) {
      const uint4 entries = *reinterpret_cast<const uint4*>(table);
      bytes = {dots_detail::select_bytes(entries, codes.low & 0xFFFFU),
               dots_detail::select_bytes(entries, codes.low >> 16)};
    } else {
      bytes = {look_up(table, codes.low), look_up(table, codes.high)};
    }
    *reinterpret_cast<uint2*>(values) = {dots_detail::shift_bytes(bytes.x, codes.shift(column, 0)),
                                         dots_detail::shift_bytes(bytes.y, codes.shift(column, 1))};
  }

  __device__ static Sum empty() { return magic; }
  __device__ static void add(Sum& sum, const int2& a, const int2& b) {
    sum = __dp4a(a.x, b.x, sum);
    sum = __dp4a(a.y, b.y, sum);
  }
  __device__ static void add(Sum& sum, const int4& a, const int4& b) {
    sum = __dp4a(a.x, b.x, sum);
    sum = __dp4a(a.y, b.y, sum);
    sum = __dp4a(a.z, b.z, sum);
    sum = __dp4a(a.w, b.w, sum);
  }
  __device__ static float product(Sum sum, Scale a, Scale b, const Value*, const Value*) {
    return dots_detail::scaled(__int_as_float(sum) - __int_as_float(magic), a, b);
  }

 private:
  __device__ static std::uint32_t look_up(const Value* table, std::uint32_t codes) {
    std::uint32_t bytes = 0;
    for (int i = 0; i < 4; ++i) {
      bytes |= std::uint32_t{static_cast<std::uint8_t>(table[codes >> (8 * i) & 255U])} << (8 * i);
    }
    return bytes;
  }
};

/// What the kinds that hold element values have in common.
template <class Number>
struct ValueStore {
  using Value = Number;
  using Scale = Number;

  __device__ static Value decode(Element element, std::uint8_t code) { return Value{decode_element(element, code)}; }
  __device__ static Scale scale(Element, float scale) { return Scale{scale}; }

  __device__ static void store(const Value* table, bool nibbles, int column, const CodeUnit& codes, Value* values) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto level = static_cast<Value>(1 << codes.shift(column, half));
#pragma unroll
      for (int i = 4 * half; i < 4 * half + 4; ++i) values[i] = table[codes.code(nibbles, i)] * level;
    }
  }
};

/// E3M2 with itself or smaller ones: dots of 64 are exact in binary32.
template <int Length>
struct FloatDots : ValueStore<float> {
  using Vector = float4;
  using Sum = float;
  using Narrow = FloatDots;
  static constexpr int blocks_per_processor = 2;

  __device__ static Sum empty() { return 0.0F; }
  __device__ static void add(Sum& sum, const float4& a, const float4& b) {
    sum = __fmaf_rn(a.x, b.x, sum);
    sum = __fmaf_rn(a.y, b.y, sum);
    sum = __fmaf_rn(a.z, b.z, sum);
    sum = __fmaf_rn(a.w, b.w, sum);
  }
  __device__ static float product(Sum sum, Scale a, Scale b, const Value*, const Value*) {
    return dots_detail::scaled(sum, a, b);
  }
};

/// E4M3 with anything but E5M2: dots are exact in binary64, and so are their products with the scales.
template <int Length>
struct DoubleDots : ValueStore<double> {
  using Vector = double2;
  using Sum = double;
  using Narrow = DoubleDots;
  static constexpr int blocks_per_processor = 2;

  __device__ static Sum empty() { return 0.0; }
  __device__ static void add(Sum& sum, const double2& a, const double2& b) {
    sum = __fma_rn(a.x, b.x, sum);
    sum = __fma_rn(a.y, b.y, sum);
  }
  __device__ static float product(Sum sum, Scale a, Scale b, const Value*, const Value*) {
    return __double2float_rn(sum * (a * b));
  }
};

/// E5M2 with anything. One binary64 sum holds the products of values from 1/2 on, multiples of 2^-7 below
/// 2^38; the other one those with a smaller factor, multiples of 2^-32 below 2^21.
template <int Length>
struct SplitDots : ValueStore<double> {
  using Vector = double2;
  struct Sum {
    double high;
    double low;
  };
  using Narrow = DoubleDots<Length>;
  static constexpr int blocks_per_processor = 1;

  /// Whether one of eight elements is a number below 2^-5. All others of E5M2 are multiples of 2^-7, so that their dots
  /// with themselves are multiples of 2^-14 below 2^38, and those with any other element multiples of 2^-16 below 2^31.
  __device__ static bool is_wide(const Value* values) {
    bool is_wide = false;
#pragma unroll
    for (int i = 0; i < unit; ++i) is_wide |= values[i] != 0.0 && fabs(values[i]) < 0x1p-5;
    return is_wide;
  }

  __device__ static Sum empty() { return {0.0, 0.0}; }
  __device__ static void add(Sum& sum, const double2& a, const double2& b) {
    add(sum, a.x, b.x);
    add(sum, a.y, b.y);
  }
  __device__ static float product(Sum sum, Scale a, Scale b, const Value* values_a, const Value* values_b) {
    // NaN and infinities stand among the large values, where they meet zeros that are none: once more, on whole values.
    if (!is_finite(sum.high)) sum = {whole_dot(values_a, values_b), 0.0};
    return rounded_sum(sum.high * (a * b), sum.low * (a * b));
  }

 private:
  __device__ static bool is_finite(double value) { return fabs(value) <= 0x1.fffffffffffffp+1023; }
  __device__ static bool is_small(double value) { return fabs(value) < 0.5; }

  __device__ static void add(Sum& sum, double a, double b) {
    const double large_a = is_small(a) ? 0.0 : a;
    const double small_a = is_small(a) ? a : 0.0;
    const double large_b = is_small(b) ? 0.0 : b;
    const double small_b = is_small(b) ? b : 0.0;
    sum.high = __fma_rn(large_a, large_b, sum.high);
    sum.low = __fma_rn(large_a, small_b, sum.low);
    sum.low = __fma_rn(small_a, b, sum.low);
  }

  __device__ static double whole_dot(const Value* a, const Value* b) {
    double sum = 0.0;
    for (int i = 0; i < Length; ++i) sum = __fma_rn(a[i], b[i], sum);
    return sum;
  }

  /// RN32(x + y), no rounding in between; NaN and infinities as x + y gives them.
  __device__ static float rounded_sum(double x, double y) {
    if (!is_finite(x + y)) return __double2float_rn(x + y);
    const bool in_order = fabs(x) >= fabs(y);
    return __double2float_rn(
        strict::round_to_odd(in_order ? strict::UnevaluatedSum{x, y} : strict::UnevaluatedSum{y, x}));
  }
};

}  // namespace fp4proof::gpu
