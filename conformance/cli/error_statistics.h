#pragma once
// How far a quantized tensor is from what it was.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "conformance/cli/quantize_stream.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// Sums over elements x with dequantized values y and errors e = y - x. The sums of squares take the elements where x
/// and y are finite; they are binary64, added row by row, so the number of threads does not matter.
struct ErrorSums {
  std::int64_t elements = 0;     ///< all elements
  std::int64_t compared = 0;     ///< elements with finite x and y
  double error_squared = 0;      ///< sum of e^2
  double value_squared = 0;      ///< sum of x^2
  double max_error = 0;          ///< largest |e|
  std::int64_t zeroed = 0;       ///< nonzero x that became zero
  std::int64_t saturated = 0;    ///< finite x beyond the largest value under their scale
  std::int64_t nan_blocks = 0;   ///< blocks whose scale is NaN
  std::uint64_t bytes = 0;       ///< bytes that are stored: codes, scales, tensor scale, macro bytes, residual
  bool saturation_known = true;  ///< false where codes stand for other numbers than x, after a Hadamard transform

  void add(const ErrorSums& other);

  /// error_squared / value_squared; 0 where both are 0, NaN where nothing could be compared.
  double relative_error() const;
  /// Stored bits per element, 0 for no elements.
  double bits_per_element() const;
};

/// Bytes that a tensor of that geometry takes: codes, scales, and the tensor scale where the profile has one.
std::uint64_t stored_bytes(const Profile& profile, const portable::Geometry& geometry);

/// The sums as a JSON object; docs/command-line.md describes it.
nlohmann::json to_json(const ErrorSums& sums);

/// The sums of one chunk; `values` are its dequantized rows, block axis last, without padding.
ErrorSums chunk_errors(const Profile& profile, const TensorSource& source, const portable::Geometry& geometry,
                       const QuantizedChunk& chunk, std::span<const float> values);

}  // namespace fp4proof::cli
