#pragma once
// What a file of quantized tensors says about itself: the strings under `__metadata__`, docs/file-format.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/corrections/stack_json.h"
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

/// How the codes of a residual are laid down.
enum class ResidualForm : std::uint8_t {
  codes,   ///< as the codes of the first part
  packed,  ///< two of four, rule C26
};

/// The corrections of a file.
struct FileCorrections {
  SharedStack stack;
  std::uint32_t product = 0;  ///< the product number of fresh Hadamard signs
  ResidualForm residual = ResidualForm::codes;
};

struct QuantizedFile {
  SharedProfile profile;  ///< as it was asked for
  Packing packing = Packing::canonical;
  std::uint64_t seed = 0;
  std::vector<TensorRecord> tensors;
  std::optional<FileCorrections> corrections;  ///< none: plain quantization

  /// The profile of the codes: with the tile and the rounding of the stack. Its name lives as long as `profile`.
  Profile coded() const { return corrections ? corrections->stack->effective(*profile) : *profile; }
  bool has_residual() const { return corrections && corrections->stack->residual.is_on(); }
};

/// Names of the tensors that stand for the tensor `name`. Those of its residual are those of `residual_name(name)`.
std::string codes_name(const std::string& name);
std::string scales_name(const std::string& name);
std::string tensor_scale_name(const std::string& name);
std::string dequantized_name(const std::string& name);
std::string macro_name(const std::string& name);
std::string residual_name(const std::string& name);
std::string packed_codes_name(const std::string& name);
std::string places_name(const std::string& name);

/// The shape as the container counts.
std::vector<std::uint64_t> container_shape(const std::vector<std::int64_t>& shape);

/// The shape as the reference counts.
std::vector<std::int64_t> reference_shape(const std::vector<std::uint64_t>& shape);

/// The tensors that hold a quantized tensor of that geometry: codes, scales, where the profile has one the tensor
/// scale, and what the corrections add: macro bytes, a residual.
std::vector<TensorSpec> quantized_specs(const QuantizedFile& file, const std::string& name,
                                        const portable::Geometry& geometry);

/// Whether the scale layout mixes the scales of several rows, so that the rows must be those of the tensor.
bool keeps_rows(const QuantizedFile& file);

SafetensorsMetadata metadata_of(const QuantizedFile& file);

/// The metadata of a file of tensors that were dequantized from `file`.
SafetensorsMetadata dequantized_metadata(const QuantizedFile& file);

/// What a factor of a product was made under.
struct FactorOrigin {
  const Profile& profile;
  const CorrectionStack& stack;
};

/// The metadata of a product of two quantized matrices.
SafetensorsMetadata product_metadata(const FactorOrigin& a, const FactorOrigin& b, const std::string& accumulator);

/// Whether the file claims to hold quantized tensors of ours.
bool is_quantized_file(const SafetensorsFile& file);

/// Reads what metadata_of() wrote. A `corrupt` error that starts with `label` says what is missing or impossible.
Result<QuantizedFile> read_quantized_file(const SafetensorsFile& file, std::string_view label);

/// The geometry of a recorded tensor, after a check that the file has its tensors with the right dtype and shape;
/// else a `corrupt` error.
Result<portable::Geometry> checked_geometry(const QuantizedFile& description, const TensorRecord& record,
                                            const SafetensorsFile& file, std::string_view label);

}  // namespace fp4proof::cli
