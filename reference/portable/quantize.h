#pragma once
// Tensor-level quantization on the CPU.
//
// Same bits for any number of threads, any chunking, any compiler and any instruction set: blocks are independent, and
// randomness is addressed by the element's index in the input tensor.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/philox.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"
#include "reference/portable/tensor.h"

namespace fp4proof::portable {

struct QuantizeOptions {
  int axis = -1;                          ///< block axis, negative counts from the end
  Tail tail = Tail::error;                ///< what to do with an incomplete last block
  std::uint64_t seed = 0;                 ///< Philox key, for profiles that round stochastically
  Stream stream = Stream::sr_activation;  ///< Philox stream
  std::uint32_t step = 0;                 ///< Philox step
  std::uint64_t first_element = 0;        ///< Philox element of the first element of the tensor
  /// MX: the scale is that of x, the elements are RN(0.75 x) coded under it (C28 of docs/rules-corrections.md).
  bool three_quarters = false;
  /// Random words by place in the input tensor, in place of Philox words; empty or one an element.
  std::span<const std::uint32_t> random_words = {};
};

/// A quantized tensor in canonical packing, see Geometry.
struct Quantized {
  Geometry geometry;
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  float tensor_scale = 1.0F;  ///< other than 1 only for NVFP4 profiles with a tensor scale
};

/// The binary32 scale above the block scales: amax / 2688 over the finite elements where the profile has one, else 1.
float tensor_scale_of(const Profile& profile, const TensorView& tensor);

/// Quantizes rows [begin, end) of the geometry. `codes` and `scales` receive exactly those rows. For a 2D profile
/// `begin` is the first row of a tile and `end` the end of a tile or of its matrix.
/// Fails with ErrorKind::data where a block holds NaN or infinity and the profile refuses it; the message names the
/// first such block, and the outputs are then unspecified.
Result<void> quantize_rows(const Profile& profile, const TensorView& tensor, const Geometry& geometry,
                           const QuantizeOptions& options, float tensor_scale, std::int64_t begin, std::int64_t end,
                           std::span<std::uint8_t> codes, std::span<std::uint8_t> scales);

/// Quantizes a whole tensor in memory.
Result<Quantized> quantize(const Profile& profile, const TensorView& tensor, const QuantizeOptions& options = {});

}  // namespace fp4proof::portable
