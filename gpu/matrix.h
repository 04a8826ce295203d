#pragma once
// Matrices in device memory, how they are cut into blocks, and where codes and scales stand.

#include <cstddef>
#include <cstdint>

#include "formats/host_device.h"
#include "formats/philox.h"
#include "formats/scale_layout.h"
#include "formats/spec.h"

namespace fp4proof::gpu {

/// Number formats of unquantized matrices.
enum class DType : std::uint8_t { f32, f16, bf16 };

FP4PROOF_HD constexpr int bytes_of(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

/// `batch` dense row-major matrices of rows x columns that have nothing to do with each other, one after the other.
/// Blocks run along the columns (axis 1) or along the rows (axis 0). Every extent may exceed 2^31.
///
/// The block axis is called "length" and the other one "lines": quantized matrices have the block axis last, so a line
/// is a row of codes and of scales. With axis 1 lines are the rows of the matrix, with axis 0 its columns.
struct MatrixShape {
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int axis = 1;

  FP4PROOF_HD constexpr std::int64_t lines() const { return axis == 1 ? rows : columns; }
  FP4PROOF_HD constexpr std::int64_t length() const { return axis == 1 ? columns : rows; }
  FP4PROOF_HD constexpr std::int64_t elements() const { return batch * rows * columns; }
  /// Place in the input of element `k` along the block axis of line `line` of matrix `b`.
  FP4PROOF_HD constexpr std::int64_t element(std::int64_t b, std::int64_t line, std::int64_t k) const {
    return b * rows * columns + (axis == 1 ? line * columns + k : k * columns + line);
  }
};

/// The codes and scales of a shape under a profile. Where the length is no multiple of the block, the last block is
/// filled up with zeros, and its codes are stored. A 2D tile that reaches beyond the last line is filled up with zeros
/// that are not stored; every line of a tile stores the tile's scale.
///
/// Codes: [batch, lines, padded length], two 4-bit codes a byte (even element in the low nibble), wider codes a byte
/// each. Scales: [batch, lines, blocks], one byte each or the four little-endian bytes of the HiF4 scale word, in
/// `row_major` layout; under `tiled_128x4` each matrix of the batch has a buffer of its own (formats/scale_layout.h),
/// whose padding is written with scale_padding.
struct CodedShape {
  std::int64_t batch = 1;
  std::int64_t lines = 0;
  std::int64_t length = 0;
  std::int64_t blocks = 0;  ///< of a line
  int block = 0;            ///< elements of a block along the block axis
  int block_lines = 1;      ///< lines of a block: more than 1 for 2D tiles
  int bytes_per_scale = 1;
  bool nibbles = false;
  ScaleLayout layout = ScaleLayout::row_major;

  FP4PROOF_HD constexpr std::int64_t padded_length() const { return blocks * block; }
  FP4PROOF_HD constexpr std::int64_t code_bytes_per_line() const {
    return nibbles ? padded_length() / 2 : padded_length();
  }
  FP4PROOF_HD constexpr std::int64_t code_bytes() const { return batch * lines * code_bytes_per_line(); }
  FP4PROOF_HD constexpr ScaleGrid scale_grid() const {
    return {static_cast<std::size_t>(lines), static_cast<std::size_t>(blocks),
            static_cast<std::size_t>(bytes_per_scale)};
  }
  FP4PROOF_HD constexpr std::int64_t scale_bytes_per_matrix() const {
    return static_cast<std::int64_t>(scale_buffer_bytes(layout, scale_grid()));
  }
  FP4PROOF_HD constexpr std::int64_t scale_bytes() const { return batch * scale_bytes_per_matrix(); }
};

FP4PROOF_HD constexpr CodedShape coded_shape(const Profile& profile, const MatrixShape& shape,
                                             ScaleLayout layout = ScaleLayout::row_major) {
  CodedShape coded;
  coded.batch = shape.batch;
  coded.lines = shape.lines();
  coded.length = shape.length();
  coded.block = profile.block.cols;
  coded.block_lines = profile.block.rows;
  coded.blocks = (coded.length + coded.block - 1) / coded.block;
  coded.bytes_per_scale = scale_bytes(profile.family);
  coded.nibbles = element_spec(profile.element).is_nibble();
  coded.layout = layout;
  return coded;
}

/// A quantized matrix, or `batch` of them, in device memory. CodedShape gives the sizes.
struct Coded {
  std::uint8_t* codes = nullptr;
  std::uint8_t* scales = nullptr;
  float* tensor_scales = nullptr;  ///< [batch]; only for profiles with a tensor scale
};

/// The same to read.
struct ConstCoded {
  const std::uint8_t* codes = nullptr;
  const std::uint8_t* scales = nullptr;
  const float* tensor_scales = nullptr;

  constexpr ConstCoded() = default;
  constexpr ConstCoded(const std::uint8_t* c, const std::uint8_t* s, const float* t)
      : codes(c), scales(s), tensor_scales(t) {}
  constexpr ConstCoded(const Coded& coded)
      : codes(coded.codes), scales(coded.scales), tensor_scales(coded.tensor_scales) {}
};

/// Where the random words of stochastic rounding come from: words in device memory by place in the input, or, where
/// there are none, Philox words of (seed, stream, step, place in the input).
struct RandomSource {
  std::uint64_t seed = 0;
  Stream stream = Stream::sr_activation;
  std::uint32_t step = 0;
  const std::uint32_t* words = nullptr;

  FP4PROOF_HD std::uint32_t word(std::int64_t place) const {
    return words != nullptr ? words[place] : random_word(seed, stream, step, static_cast<std::uint64_t>(place));
  }
};

}  // namespace fp4proof::gpu
