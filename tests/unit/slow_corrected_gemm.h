#pragma once
// Products of corrected MXFP4 matrices as docs/rules-corrections.md words them, element by element, from the bytes: the
// second opinion on reference/portable/corrected_gemm.cpp. Sequential sums are binary32 alone, exact sums are integers.
// Needs scales of 2^-10 to 2^10, under which nothing but the sums rounds.

#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/portable/correct.h"

namespace fp4proof::portable::slow {

__extension__ using Integer = __int128;

/// One coded part, its bytes decoded.
class Part {
 public:
  Part(const Corrected& corrected, const CodedPart& part) : macro_(corrected.stack.macro) {
    constexpr float magnitudes[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
    const Geometry& g = part.quantized.geometry;
    padded_columns_ = g.padded_columns;
    blocks_ = g.blocks;
    slices_ = macro_.is_on() ? (g.columns + macro_.size - 1) / macro_.size : 0;
    for (std::int64_t row = 0; row < g.rows; ++row) {
      for (std::int64_t k = 0; k < g.padded_columns; ++k) {
        const int byte = part.quantized.codes[static_cast<std::size_t>(row * g.code_bytes_per_row + k / 2)];
        const int code = k % 2 == 0 ? byte & 15 : byte >> 4;
        const float value = code < 8 ? magnitudes[code] : -magnitudes[code - 8];
        elements_.push_back(k < g.columns ? value : 0.0F);
      }
    }
    for (const std::uint8_t code : part.quantized.scales) scale_exponents_.push_back(int{code} - 127);
    for (const std::uint8_t byte : part.macro) factors_.push_back(1.0F + static_cast<float>(byte) / 256.0F);
  }

  std::int64_t blocks() const { return blocks_; }
  float element(std::int64_t row, std::int64_t k) const {
    return elements_[static_cast<std::size_t>(row * padded_columns_ + k)];
  }
  int scale_exponent(std::int64_t row, std::int64_t block) const {
    return scale_exponents_[static_cast<std::size_t>(row * blocks_ + block)];
  }
  float weight(std::int64_t row, std::int64_t slice) const {
    if (!macro_.is_on()) return 1.0F;
    const float f = factors_[static_cast<std::size_t>(row * slices_ + slice)];
    return macro_.form == MacroForm::multiply ? 1.0F / f : f;
  }

 private:
  MacroSpec macro_;
  std::int64_t padded_columns_;
  std::int64_t blocks_;
  std::int64_t slices_;
  std::vector<float> elements_;
  std::vector<int> scale_exponents_;
  std::vector<float> factors_;
};

struct Operand {
  explicit Operand(const Corrected& corrected)
      : stack(corrected.stack), length(corrected.profile.block.cols), parts{Part(corrected, corrected.first)} {
    if (corrected.residual) parts.emplace_back(corrected, *corrected.residual);
  }
  bool has_residual() const { return parts.size() == 2; }

  CorrectionStack stack;
  int length;
  std::vector<Part> parts;  ///< the first, and the residual where there is one
};

/// A row of one part.
struct Row {
  const Part& part;
  std::int64_t row;
};

/// How K is cut: blocks, slices (0: none) and chunks, in elements.
struct Cut {
  int length;
  std::int64_t slice;
  std::int64_t chunk;
};

inline float dot(const Row& a, const Row& b, std::int64_t block, int length) {
  float sum = 0.0F;
  for (std::int64_t k = block * length; k < (block + 1) * length; ++k)
    sum += a.part.element(a.row, k) * b.part.element(b.row, k);
  return sum;
}

inline float weight(const Row& a, const Row& b, std::int64_t slice) {
  return a.part.weight(a.row, slice) * b.part.weight(b.row, slice);
}

inline int exponent(const Row& a, const Row& b, std::int64_t block) {
  return a.part.scale_exponent(a.row, block) + b.part.scale_exponent(b.row, block);
}

inline float sequential_sum(const Row& a, const Row& b, const Cut& cut) {
  float total = 0.0F;
  float acc = 0.0F;
  float part = 0.0F;
  bool first_chunk = true;
  for (std::int64_t block = 0; block < a.part.blocks(); ++block) {
    const float product = std::ldexp(dot(a, b, block, cut.length), exponent(a, b, block));
    const std::int64_t end = (block + 1) * cut.length;
    const bool is_last = block + 1 == a.part.blocks();
    if (cut.slice == 0) {
      acc += product;
    } else {
      part += product;
      if (end % cut.slice == 0 || is_last) {
        acc += part * weight(a, b, (end - 1) / cut.slice);
        part = 0.0F;
      }
    }
    if (end % cut.chunk == 0 || is_last) {
      total = first_chunk ? acc : total + acc;
      acc = 0.0F;
      first_chunk = false;
    }
  }
  return total;
}

/// In units of 2^-47: quarters of elements, scales from 2^-20 up, weights in units of 2^-25.
inline float exact_sum(const Row& a, const Row& b, const Cut& cut) {
  Integer total = 0;
  for (std::int64_t block = 0; block < a.part.blocks(); ++block) {
    const auto quarters = static_cast<std::int64_t>(4.0F * dot(a, b, block, cut.length));
    const float w = cut.slice == 0 ? 1.0F : weight(a, b, block * cut.length / cut.slice);
    const auto weight_units = static_cast<std::int64_t>(std::ldexp(w, 25));
    total += static_cast<Integer>(quarters) * (std::int64_t{1} << (20 + exponent(a, b, block))) * weight_units;
  }
  return std::ldexp(static_cast<float>(total), -47);
}

/// G of rule C40.
inline float product(const Operand& a, const Row& row_a, const Operand& b, const Row& row_b, Accumulator accumulator) {
  const std::int64_t slice = a.stack.macro.is_on() ? a.stack.macro.size : b.stack.macro.size;
  const std::int64_t chunk = accumulator == Accumulator::seq ? row_a.part.blocks() * a.length : 512;
  const Cut cut = {a.length, slice, chunk};
  const float sum =
      accumulator == Accumulator::exact ? exact_sum(row_a, row_b, cut) : sequential_sum(row_a, row_b, cut);
  if (a.stack.three_quarters && b.stack.three_quarters) return sum / 0.5625F;
  return a.stack.three_quarters || b.stack.three_quarters ? sum / 0.75F : sum;
}

/// Element [m, n] of the product, rule C42.
inline float element(const Operand& a, std::int64_t m, const Operand& b, std::int64_t n, Accumulator accumulator) {
  const Row row_a = {a.parts[0], m};
  const Row row_b = {b.parts[0], n};
  const float y = product(a, row_a, b, row_b, accumulator);
  if (a.has_residual()) return y + a.stack.residual.alpha * product(a, {a.parts[1], m}, b, row_b, accumulator);
  if (b.has_residual()) return y + b.stack.residual.alpha * product(a, row_a, b, {b.parts[1], n}, accumulator);
  return y;
}

}  // namespace fp4proof::portable::slow
