#pragma once
// What a file of quantized tensors says about itself: the strings under `__metadata__`, docs/file-format.md.

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/vectors/safetensors.h"
#include "formats/result.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// How codes and scales are laid down.
enum class Packing : std::uint8_t {
  canonical,  ///< even element low, micro-exponents LSB first, scales row-major, whatever the profile says
  profile,    ///< the profile's nibble order, micro-exponent order and scale layout
};

/// One quantized tensor as it was before.
struct TensorRecord {
  std::string name;
  TensorDtype dtype = TensorDtype::f32;
  std::vector<std::int64_t> shape;
  int axis = 0;  ///< the block axis, counted from the front; 0 for a tensor without dimensions
  portable::Tail tail = portable::Tail::error;
};

struct QuantizedFile {
  SharedProfile profile;
  Packing packing = Packing::canonical;
  std::uint64_t seed = 0;
  std::vector<TensorRecord> tensors;
};

/// Names of the tensors that stand for the tensor `name`.
std::string codes_name(const std::string& name);
std::string scales_name(const std::string& name);
std::string tensor_scale_name(const std::string& name);
std::string dequantized_name(const std::string& name);

/// The shape as the container counts.
std::vector<std::uint64_t> container_shape(const std::vector<std::int64_t>& shape);

/// The shape as the reference counts.
std::vector<std::int64_t> reference_shape(const std::vector<std::uint64_t>& shape);

/// The tensors that hold a quantized tensor of that geometry: codes, scales, and where the profile has one the tensor
/// scale.
std::vector<TensorSpec> quantized_specs(const QuantizedFile& file, const std::string& name,
                                        const portable::Geometry& geometry);

/// Whether the scale layout mixes the scales of several rows, so that the rows must be those of the tensor.
bool keeps_rows(const QuantizedFile& file);

SafetensorsMetadata metadata_of(const QuantizedFile& file);

/// The metadata of a file of tensors that were dequantized under `profile`.
SafetensorsMetadata dequantized_metadata(const Profile& profile);

/// The metadata of a product of two quantized matrices.
SafetensorsMetadata product_metadata(const Profile& a, const Profile& b, const std::string& accumulator);

/// Whether the file claims to hold quantized tensors of ours.
bool is_quantized_file(const SafetensorsFile& file);

/// Reads what metadata_of() wrote. A `corrupt` error that starts with `label` says what is missing or impossible.
Result<QuantizedFile> read_quantized_file(const SafetensorsFile& file, std::string_view label);

/// The geometry of a recorded tensor, after a check that the file has its tensors with the right dtype and shape;
/// else a `corrupt` error.
Result<portable::Geometry> checked_geometry(const QuantizedFile& description, const TensorRecord& record,
                                            const SafetensorsFile& file, std::string_view label);

}  // namespace fp4proof::cli
