#pragma once
// An MXFP4 quantizer in plain binary64 arithmetic, with faults to plant. It shares nothing with the code under test.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fp4proof::naive {

enum class Tie : std::uint8_t { even, away, down };

/// What a kernel does, right under mxfp4/ocp unless something is changed.
struct Kernel {
  bool scale_up = false;       ///< ceil in place of floor
  bool nothing_clips = false;  ///< rceil
  std::uint32_t up_mask = 0;   ///< rceil by amax / 6 rounded up where these mantissa bits are set
  Tie tie = Tie::even;
  bool truncates = false;
  bool bf16_elements = false;  ///< scaled elements rounded to bfloat16 first
  bool flushes_inputs = false;
  bool skips_nan = false;       ///< NaN is no maximum and becomes +0
  bool keeps_infinity = false;  ///< scale 254, infinity the largest code
  bool drops_sign_of_zero = false;
  bool wraps = false;    ///< beyond the largest code the bits wrap around
  int zero_scale = 0;    ///< scale code of an all-zero block
  int shift = 0;         ///< scale code off, elements follow
  int stored_shift = 0;  ///< scale code stored off
  int code_shift = 0;    ///< element codes off, as four-bit numbers
  bool swaps_nibbles = false;
  bool splits_nibbles = false;
};

inline float as_float(std::uint32_t word) {
  float value = 0;
  std::memcpy(&value, &word, 4);
  return value;
}

/// floor(log2 value) of a positive number.
inline int binade(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return exponent - 1;
}

inline double to_bf16(double value) {
  if (value == 0) return value;
  const int step = std::max(binade(std::fabs(value)) - 7, -133);  // gradual underflow
  return std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
}

inline int scale_exponent(const Kernel& kernel, double amax) {
  if (kernel.up_mask != 0) {
    const auto quotient = static_cast<float>(amax) / 6.0F;
    std::uint32_t word = 0;
    std::memcpy(&word, &quotient, 4);
    return static_cast<int>(word >> 23) - 127 + ((word & kernel.up_mask) != 0 ? 1 : 0);
  }
  const int exponent = binade(amax) - 2;
  if (kernel.scale_up) return std::ldexp(1.0, exponent + 2) == amax ? exponent : exponent + 1;
  if (kernel.nothing_clips) return amax > std::ldexp(6.0, exponent) ? exponent + 1 : exponent;
  return exponent;
}

/// The magnitude code of a scaled magnitude.
inline int magnitude_code(const Kernel& kernel, double scaled) {
  constexpr std::array<double, 8> levels = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  if (kernel.bf16_elements) scaled = to_bf16(scaled);
  if (kernel.wraps && scaled > 6) {
    // The codes go on beyond 7: 8 is 8, 9 is 12, 10 is 16, ...
    const auto level = [](int code) { return std::ldexp(code % 2 == 1 ? 1.5 : 1.0, code / 2 - 1); };
    int code = 7;
    while (scaled > (level(code) + level(code + 1)) / 2) ++code;
    if (scaled == (level(code) + level(code + 1)) / 2 && code % 2 == 1) ++code;
    return code & 7;
  }
  int below = 0;
  while (below < 7 && levels[static_cast<std::size_t>(below) + 1] <= scaled) ++below;
  if (below == 7 || levels[static_cast<std::size_t>(below)] == scaled || kernel.truncates) return below;
  const double middle = (levels[static_cast<std::size_t>(below)] + levels[static_cast<std::size_t>(below) + 1]) / 2;
  if (scaled != middle) return scaled > middle ? below + 1 : below;
  switch (kernel.tie) {
    case Tie::even: return below % 2 == 0 ? below : below + 1;
    case Tie::away: return below + 1;
    case Tie::down: return below;
  }
  return below;
}

struct Block {
  int scale = 0;
  std::array<int, 32> codes{};
};

inline Block quantize_block(const Kernel& kernel, const std::array<std::uint32_t, 32>& words) {
  double amax = 0;
  bool nan = false;
  bool infinity = false;
  std::array<float, 32> values{};
  for (std::size_t i = 0; i < 32; ++i) {
    values[i] = as_float(words[i]);
    if (kernel.flushes_inputs && std::fpclassify(values[i]) == FP_SUBNORMAL) values[i] = std::copysign(0.0F, values[i]);
    nan = nan || std::isnan(values[i]);
    infinity = infinity || std::isinf(values[i]);
    if (std::isfinite(values[i])) amax = std::max(amax, std::fabs(double{values[i]}));
  }
  Block block;
  if ((nan && !kernel.skips_nan) || (infinity && !kernel.keeps_infinity)) {
    block.scale = 255;
    return block;
  }
  const int exponent = amax == 0 ? 0 : scale_exponent(kernel, amax);
  block.scale = infinity ? 254 : amax == 0 ? kernel.zero_scale : std::clamp(exponent + 127, 0, 254);
  block.scale = std::clamp(block.scale + kernel.shift, 0, 254);
  for (std::size_t i = 0; i < 32; ++i) {
    if (std::isnan(values[i])) continue;
    const double scaled = std::ldexp(std::fabs(double{values[i]}), 127 - block.scale);
    int code = std::isinf(values[i]) ? 7 : magnitude_code(kernel, scaled);
    const bool dropped = code == 0 && kernel.drops_sign_of_zero;
    if (std::signbit(values[i]) && !dropped) code |= 8;
    block.codes[i] = code;
  }
  for (int& code : block.codes) code = (code + kernel.code_shift) & 15;
  block.scale = std::clamp(block.scale + kernel.stored_shift, 0, 254);
  return block;
}

inline void pack_block(const Kernel& kernel, const Block& block, std::uint8_t* bytes) {
  for (std::size_t j = 0; j < 16; ++j) {
    int low = block.codes[2 * j];
    int high = block.codes[2 * j + 1];
    if (kernel.splits_nibbles) low = block.codes[j], high = block.codes[j + 16];
    if (kernel.swaps_nibbles) std::swap(low, high);
    bytes[j] = static_cast<std::uint8_t>(low | high << 4);
  }
}

/// A matrix [rows, columns] with blocks along `axis` (1 columns, 0 rows), padded with zeros: codes and scales.
inline void quantize(const Kernel& kernel, const std::vector<std::uint32_t>& input, std::size_t rows,
                     std::size_t columns, int axis, std::vector<std::uint8_t>& codes,
                     std::vector<std::uint8_t>& scales) {
  const std::size_t lines = axis == 1 ? rows : columns;
  const std::size_t length = axis == 1 ? columns : rows;
  const std::size_t blocks = (length + 31) / 32;
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t b = 0; b < blocks; ++b) {
      std::array<std::uint32_t, 32> words{};
      for (std::size_t i = 0; i < 32 && b * 32 + i < length; ++i) {
        const std::size_t k = b * 32 + i;
        words[i] = axis == 1 ? input[line * columns + k] : input[k * columns + line];
      }
      const Block block = quantize_block(kernel, words);
      scales[line * blocks + b] = static_cast<std::uint8_t>(block.scale);
      pack_block(kernel, block, &codes[(line * blocks + b) * 16]);
    }
  }
}

}  // namespace fp4proof::naive
