#include "conformance/cli/quantized_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/cli/stored_corrections.h"
#include "conformance/cli/version.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"
#include "formats/block.h"
#include "formats/scale_layout.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;
using portable::Geometry;
using portable::Tail;

constexpr const char* format_key = "fp4proof.format";
constexpr const char* profile_key = "fp4proof.profile";
constexpr const char* packing_key = "fp4proof.packing";
constexpr const char* seed_key = "fp4proof.seed";
constexpr const char* tensors_key = "fp4proof.tensors";
constexpr const char* version_key = "fp4proof.version";
constexpr const char* corrections_key = "fp4proof.corrections";
constexpr const char* product_key = "fp4proof.product";
constexpr const char* residual_key = "fp4proof.residual";
constexpr std::string_view format_value = "fp4proof-quantized/1";
constexpr std::size_t deepest_profile = 2;
constexpr std::size_t deepest_tensors = 4;

Error corrupt(std::string_view label, std::string_view text) {
  return {ErrorKind::corrupt, fmt::format("{}: {}", label, text)};
}

std::string_view name_of(Packing packing) { return packing == Packing::canonical ? "canonical" : "profile"; }
std::string_view name_of(ResidualForm form) { return form == ResidualForm::codes ? "codes" : "packed"; }
std::string_view name_of(Tail tail) { return tail == Tail::error ? "error" : "pad"; }

Result<std::string> entry(const SafetensorsFile& file, const char* key, std::string_view label) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) return corrupt(label, fmt::format("metadata {} is missing", quote(key)));
  return found->second;
}

/// A name, or the JSON of a profile that a user wrote.
Result<SharedProfile> read_profile(const std::string& text, std::string_view label) {
  const std::string what = fmt::format("{}: metadata {}", label, quote(profile_key));
  Result<SharedProfile> profile = Error{};
  if (text.starts_with('{')) {
    const auto value = parse_strict_json(text, what, deepest_profile);
    if (!value) return value.error();
    profile = profile_from_json(*value, what);
    if (!profile) return Error{ErrorKind::corrupt, profile.error().message};
    return profile;
  }
  profile = named_profile(text);
  if (!profile) return Error{ErrorKind::corrupt, fmt::format("{}: {}", what, profile.error().message)};
  return profile;
}

/// The inverse of read_profile.
std::string profile_text(const Profile& profile) {
  const bool named = find_profile(profile.name) != nullptr;
  return named ? std::string(profile.name) : profile_to_json(profile).dump();
}

std::optional<std::uint64_t> whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

std::optional<std::vector<std::int64_t>> read_shape(const json& value) {
  if (!value.is_array() || value.size() > most_dimensions) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const json& extent : value) {
    if (!extent.is_number_integer() || extent < 0 || extent > std::numeric_limits<std::int64_t>::max()) {
      return std::nullopt;
    }
    shape.push_back(extent.get<std::int64_t>());
  }
  return shape;
}

std::optional<TensorRecord> read_record(const std::string& name, const json& value) {
  if (!value.is_object() || value.size() != 4) return std::nullopt;
  for (const char* key : {"axis", "dtype", "shape", "tail"}) {
    if (!value.contains(key)) return std::nullopt;
  }
  TensorRecord record;
  record.name = name;
  const auto shape = read_shape(value.at("shape"));
  const json& dtype = value.at("dtype");
  const json& axis = value.at("axis");
  const json& tail = value.at("tail");
  if (!shape || !dtype.is_string() || !axis.is_number_integer() || (tail != "error" && tail != "pad")) {
    return std::nullopt;
  }
  const auto known = dtype_named(dtype.get<std::string>());
  if (!known || axis < 0 || axis > 64) return std::nullopt;
  record.dtype = *known;
  record.shape = *shape;
  record.axis = axis.get<int>();
  record.tail = tail == "error" ? Tail::error : Tail::pad;
  return record;
}

Result<std::vector<TensorRecord>> read_records(const std::string& text, std::string_view label) {
  const auto value =
      parse_strict_json(text, fmt::format("{}: metadata {}", label, quote(tensors_key)), deepest_tensors);
  if (!value) return value.error();
  if (!value->is_object()) return corrupt(label, fmt::format("metadata {} is no object", quote(tensors_key)));
  std::vector<TensorRecord> records;
  for (const auto& [name, description] : value->items()) {
    const auto record = read_record(name, description);
    if (!record) {
      return corrupt(label, fmt::format("metadata {}: the entry of tensor {} must hold shape, dtype, axis and tail",
                                        quote(tensors_key), quote(name)));
    }
    records.push_back(*record);
  }
  return records;
}

std::vector<std::uint64_t> scales_shape(const QuantizedFile& file, const Geometry& geometry) {
  if (!keeps_rows(file)) {
    return container_shape(geometry.scales_shape());
  }
  const ScaleGrid grid{static_cast<std::size_t>(geometry.rows), static_cast<std::size_t>(geometry.blocks),
                       static_cast<std::size_t>(scale_bytes(file.profile->family))};
  return {scale_buffer_bytes(file.profile->scale_layout, grid)};
}

/// A U8 tensor of `width` bytes a row.
TensorSpec bytes_per_row(const std::string& name, const Geometry& geometry, std::int64_t width) {
  std::vector<std::int64_t> shape = geometry.shape;
  shape.back() = width;
  return {name, TensorDtype::u8, container_shape(shape)};
}

/// The tensors of one coded part but for its codes.
void add_part(const QuantizedFile& file, const std::string& name, const Geometry& geometry,
              std::vector<TensorSpec>& specs) {
  specs.push_back({scales_name(name), TensorDtype::u8, scales_shape(file, geometry)});
  if (file.profile->tensor_scale) specs.push_back({tensor_scale_name(name), TensorDtype::f32, {1}});
  if (file.corrections && file.corrections->stack->macro.is_on()) {
    const std::int64_t width = portable::macro_blocks_per_row(file.corrections->stack->macro, geometry.columns);
    specs.push_back(bytes_per_row(macro_name(name), geometry, width));
  }
}

void add_residual(const QuantizedFile& file, const std::string& name, const Geometry& geometry,
                  std::vector<TensorSpec>& specs) {
  if (file.corrections->residual == ResidualForm::codes) {
    specs.push_back({codes_name(name), TensorDtype::u8, container_shape(geometry.codes_shape())});
  } else {
    specs.push_back(bytes_per_row(packed_codes_name(name), geometry, packed_code_bytes_per_row(geometry)));
    specs.push_back(bytes_per_row(places_name(name), geometry, place_bytes_per_row(geometry)));
  }
  add_part(file, name, geometry, specs);
}

Result<std::optional<FileCorrections>> read_corrections(const SafetensorsFile& file, const Profile& profile,
                                                        std::string_view label) {
  const SafetensorsMetadata& metadata = file.metadata();
  if (!metadata.contains(corrections_key)) {
    for (const char* key : {product_key, residual_key}) {
      if (metadata.contains(key)) {
        return corrupt(label, fmt::format("metadata {} stands without {}", quote(key), quote(corrections_key)));
      }
    }
    return std::optional<FileCorrections>();
  }
  FileCorrections corrections;
  const Result<SharedStack> stack =
      stack_of_text(metadata.at(corrections_key), fmt::format("{}: metadata {}", label, quote(corrections_key)));
  if (!stack) return stack.error();
  corrections.stack = *stack;
  if (const Result<void> fits = portable::check_stack(profile, **stack); !fits) {
    return corrupt(label, fits.error().message);
  }
  const Result<std::string> product = entry(file, product_key, label);
  if (!product) return product.error();
  const auto number = whole_number(*product);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
    return corrupt(label, fmt::format("product {} is no whole number of 32 bits", quote(*product)));
  }
  corrections.product = static_cast<std::uint32_t>(*number);
  if (!(*stack)->residual.is_on()) {
    if (!file.metadata().contains(residual_key)) return std::optional(corrections);
    return corrupt(
        label, fmt::format("metadata {} stands without a residual in {}", quote(residual_key), quote(corrections_key)));
  }
  const Result<std::string> residual = entry(file, residual_key, label);
  if (!residual) return residual.error();
  const bool packed = *residual == name_of(ResidualForm::packed);
  if (!packed && *residual != name_of(ResidualForm::codes)) {
    return corrupt(label, fmt::format("unknown form {} of the residual", quote(*residual)));
  }
  if (packed && !can_be_packed(profile, **stack)) {
    return corrupt(label, "only a 2:4 residual of 4-bit elements is stored packed");
  }
  if (packed) corrections.residual = ResidualForm::packed;
  return std::optional(corrections);
}

}  // namespace

std::string codes_name(const std::string& name) { return name + ".codes"; }
std::string scales_name(const std::string& name) { return name + ".scales"; }
std::string tensor_scale_name(const std::string& name) { return name + ".tensor_scale"; }
std::string dequantized_name(const std::string& name) { return name + ".dequantized"; }
std::string macro_name(const std::string& name) { return name + ".macro"; }
std::string residual_name(const std::string& name) { return name + ".residual"; }
std::string packed_codes_name(const std::string& name) { return name + ".packed_codes"; }
std::string places_name(const std::string& name) { return name + ".places"; }

std::vector<std::uint64_t> container_shape(const std::vector<std::int64_t>& shape) {
  return {shape.begin(), shape.end()};
}

std::vector<std::int64_t> reference_shape(const std::vector<std::uint64_t>& shape) {
  return {shape.begin(), shape.end()};
}

std::vector<TensorSpec> quantized_specs(const QuantizedFile& file, const std::string& name, const Geometry& geometry) {
  std::vector<TensorSpec> specs = {{codes_name(name), TensorDtype::u8, container_shape(geometry.codes_shape())}};
  add_part(file, name, geometry, specs);
  if (file.has_residual()) add_residual(file, residual_name(name), geometry, specs);
  return specs;
}

bool keeps_rows(const QuantizedFile& file) {
  return file.packing == Packing::profile && file.profile->scale_layout != ScaleLayout::row_major;
}

SafetensorsMetadata metadata_of(const QuantizedFile& file) {
  json tensors = json::object();
  for (const TensorRecord& record : file.tensors) {
    tensors[record.name] = {{"axis", record.axis},
                            {"dtype", fp4proof::name_of(record.dtype)},
                            {"shape", record.shape},
                            {"tail", name_of(record.tail)}};
  }
  SafetensorsMetadata metadata = {
      {format_key, std::string(format_value)},
      {packing_key, std::string(name_of(file.packing))},
      {profile_key, profile_text(*file.profile)},
      {seed_key, std::to_string(file.seed)},
      {tensors_key, tensors.dump()},
      {version_key, std::string(tool_version)},
  };
  if (file.corrections) {
    metadata.emplace(corrections_key, text_of_stack(*file.corrections->stack));
    metadata.emplace(product_key, std::to_string(file.corrections->product));
    if (file.has_residual()) metadata.emplace(residual_key, name_of(file.corrections->residual));
  }
  return metadata;
}

SafetensorsMetadata dequantized_metadata(const QuantizedFile& file) {
  SafetensorsMetadata metadata = {
      {format_key, "fp4proof-dequantized/1"},
      {profile_key, profile_text(*file.profile)},
      {version_key, std::string(tool_version)},
  };
  if (file.corrections) metadata.emplace(corrections_key, text_of_stack(*file.corrections->stack));
  return metadata;
}

SafetensorsMetadata product_metadata(const FactorOrigin& a, const FactorOrigin& b, const std::string& accumulator) {
  SafetensorsMetadata metadata = {
      {format_key, "fp4proof-gemm/1"},
      {"fp4proof.accumulator", accumulator},
      {"fp4proof.profile_a", profile_text(a.profile)},
      {"fp4proof.profile_b", profile_text(b.profile)},
      {version_key, std::string(tool_version)},
  };
  if (corrects(a.stack)) metadata.emplace("fp4proof.corrections_a", text_of_stack(a.stack));
  if (corrects(b.stack)) metadata.emplace("fp4proof.corrections_b", text_of_stack(b.stack));
  return metadata;
}

bool is_quantized_file(const SafetensorsFile& file) {
  const auto format = file.metadata().find(format_key);
  return format != file.metadata().end() && format->second.starts_with("fp4proof-quantized/");
}

Result<QuantizedFile> read_quantized_file(const SafetensorsFile& file, std::string_view label) {
  const Result<std::string> format = entry(file, format_key, label);
  if (!format) {
    return corrupt(label, fmt::format("no quantized tensors: {}; write such files with 'fp4proof quantize'",
                                      "metadata \"fp4proof.format\" is missing"));
  }
  if (*format != format_value) {
    return corrupt(label, fmt::format("format {} is not {}", quote(*format), format_value));
  }
  const Result<std::string> profile_text = entry(file, profile_key, label);
  if (!profile_text) return profile_text.error();
  const Result<SharedProfile> profile = read_profile(*profile_text, label);
  if (!profile) return profile.error();
  const Result<std::string> packing = entry(file, packing_key, label);
  if (!packing) return packing.error();
  if (*packing != "canonical" && *packing != "profile") {
    return corrupt(label, fmt::format("unknown packing {}", quote(*packing)));
  }
  const Result<std::string> seed_text = entry(file, seed_key, label);
  if (!seed_text) return seed_text.error();
  const auto seed = whole_number(*seed_text);
  if (!seed) return corrupt(label, fmt::format("seed {} is no whole number", quote(*seed_text)));
  const Result<std::string> records_text = entry(file, tensors_key, label);
  if (!records_text) return records_text.error();
  Result<std::vector<TensorRecord>> records = read_records(*records_text, label);
  if (!records) return records.error();
  Result<std::optional<FileCorrections>> corrections = read_corrections(file, **profile, label);
  if (!corrections) return corrections.error();
  return QuantizedFile{*profile, *packing == "canonical" ? Packing::canonical : Packing::profile, *seed,
                       *std::move(records), *std::move(corrections)};
}

Result<Geometry> checked_geometry(const QuantizedFile& description, const TensorRecord& record,
                                  const SafetensorsFile& file, std::string_view label) {
  std::vector<std::uint64_t> padded = container_shape(record.shape);
  padded.push_back(max_block_size);  // padding adds less than a block to a row: every product below fits 64 bits
  if (!tensor_bytes(TensorDtype::f64, padded)) {
    return corrupt(label, fmt::format("tensor {}: absurd shape", quote(record.name)));
  }
  Result<Geometry> geometry = cut_into_blocks(description.coded(), record.shape, record.axis, record.tail);
  if (!geometry) {
    return corrupt(label, fmt::format("tensor {}: {}", quote(record.name), geometry.error().message));
  }
  const HadamardSpec hadamard = description.corrections ? description.corrections->stack->hadamard : HadamardSpec{};
  if (hadamard.is_on() && geometry->columns % hadamard.size != 0) {
    return corrupt(label, fmt::format("tensor {}: the block axis of length {} is no multiple of the Hadamard size {}",
                                      quote(record.name), geometry->columns, hadamard.size));
  }
  for (const TensorSpec& expected : quantized_specs(description, record.name, *geometry)) {
    const Result<const TensorEntry*> found = file.require(expected.name);
    if (!found) return found.error();
    const TensorSpec& actual = (*found)->spec;
    if (actual.dtype != expected.dtype || actual.shape != expected.shape) {
      return corrupt(label, fmt::format("tensor {} is {} [{}], the metadata say {} [{}]", quote(expected.name),
                                        fp4proof::name_of(actual.dtype), fmt::join(actual.shape, ", "),
                                        fp4proof::name_of(expected.dtype), fmt::join(expected.shape, ", ")));
    }
  }
  return geometry;
}

}  // namespace fp4proof::cli
