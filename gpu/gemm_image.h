#pragma once
// Operands of the tensor-core product as its matrix instructions want them. One pass over codes and scales writes an
// image: tiles of 64 lines x 128 elements, one byte an element, each tile exactly what stands in shared memory later,
// so that whole tiles move with one bulk copy. Either side of a product has the same kind of image.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/host_device.h"
#include "gpu/gemm_general.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

inline constexpr int image_lines = 64;
inline constexpr int image_length = 128;  ///< elements of K; four blocks of MXFP4 or two groups of HiF4
inline constexpr int image_tile_bytes = image_lines * image_length;
inline constexpr int image_groups = 2;  ///< groups of HiF4 in a tile
inline constexpr int image_scales = image_groups * image_lines;

/// What a byte of an image is.
enum class ImageKind : std::uint8_t {
  mx,    ///< E5M2: the element of MXFP4 times 2^(scale exponent - exponent of the line)
  hif4,  ///< an integer: four times the element of HiF4, level bits included; the scales stand apart, as binary32
};

/// Scale exponents of a line of MXFP4. Blocks whose elements are all zero do not count. `lowest` and `highest` are the
/// least and the largest; a line without nonzero blocks has lowest = far, highest = -far; one whose exponents are too
/// far apart for E5M2 has lowest = too_wide.
struct LineRange {
  static constexpr int far = 4096;
  static constexpr int too_wide = -3 * far;
  std::int16_t lowest;
  std::int16_t highest;
};

/// Place of byte `k` of a line in its tile: rows of 128 bytes whose 16-byte pieces are permuted as the 128-byte swizzle
/// of the matrix instructions has them.
FP4PROOF_HD constexpr int image_byte(int line, int k) {
  return line * image_length + ((((k >> 4) ^ line) & 7) << 4) + (k & 15);
}

/// Place of the scale of a line among the 64 of a group: the lines that one thread of a matrix instruction has as
/// columns, 8 j + 2 q + {0, 1} and 8 (j + 1) + 2 q + {0, 1}, are neighbours.
FP4PROOF_HD constexpr int image_scale(int line) {
  return (line & ~15) | ((line & 6) << 1) | ((line & 8) >> 2) | (line & 1);
}

/// Sizes of the image of `batch` matrices.
struct ImageShape {
  std::int64_t batch = 1;
  std::int64_t lines = 0;
  std::int64_t panels = 0;  ///< of 64 lines, in one matrix
  std::int64_t steps = 0;   ///< tiles along K

  FP4PROOF_HD constexpr std::int64_t tiles() const { return batch * panels * steps; }
  FP4PROOF_HD constexpr std::int64_t tile(std::int64_t b, std::int64_t panel, std::int64_t step) const {
    return (b * panels + panel) * steps + step;
  }
};

constexpr ImageShape image_shape(std::int64_t batch, std::int64_t lines, std::int64_t k) {
  return {batch, lines, ceil_div(lines, image_lines), ceil_div(k, image_length)};
}

/// An image in device memory.
struct Image {
  std::uint8_t* tiles = nullptr;  ///< [batch, panels, steps] tiles of 8192 bytes, aligned to 128 bytes
  float* scales = nullptr;        ///< hif4: [batch, panels, steps, 2, 64], in the order of image_scale(); E6M2 / 4
  LineRange* ranges = nullptr;    ///< mx: [batch, lines]
  std::int16_t* bases = nullptr;  ///< mx: [batch, lines], exponents: the image holds the values divided by 2^base
};

struct ImageSource {
  const ProductSide* side;
  Image image;
};

/// Writes the images of one or both sides of a product. Lines that only fill the last panel are zeros.
Status launch_images(ImageKind kind, std::int64_t batch, std::int64_t k, std::span<const ImageSource> sources,
                     cudaStream_t stream);

/// Writes a byte for each 128 x 128 tile of C, [batch, ceil(lines_a / 128), ceil(lines_b / 128)]: 1 where MXFP4 sums in
/// the image could be rounded otherwise than the rules say, because the true ones get below 2^-149 or near 2^128.
Status launch_slow_flags(const ImageShape& a, const LineRange* ranges_a, const ImageShape& b, const LineRange* ranges_b,
                         std::uint8_t* tile_is_slow, cudaStream_t stream);

}  // namespace fp4proof::gpu
