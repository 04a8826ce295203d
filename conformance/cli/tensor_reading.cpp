#include "conformance/cli/tensor_reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "formats/element.h"
#include "formats/scale_codes.h"

namespace fp4proof::cli {

namespace {

using Kind = TensorReading::Kind;

std::string float_text(TensorDtype dtype, std::uint64_t unit) {
  switch (dtype) {
    case TensorDtype::f32: return fmt::format(" ({})", float_from_bits(static_cast<std::uint32_t>(unit)));
    case TensorDtype::f16: return fmt::format(" ({})", fp16_to_float(static_cast<std::uint16_t>(unit)));
    case TensorDtype::bf16: return fmt::format(" ({})", bf16_to_float(static_cast<std::uint16_t>(unit)));
    case TensorDtype::f64: return fmt::format(" ({})", bits_as<double>(unit));
    default: return {};
  }
}

std::string scale_text(const Profile& profile, std::uint64_t unit) {
  const auto code = static_cast<std::uint8_t>(unit);
  switch (profile.family) {
    case Family::mx: return fmt::format(" ({})", decode_e8m0(code));
    case Family::nvfp4: return fmt::format(" ({})", decode_e4m3_scale(code));
    case Family::hif4:
      return fmt::format(" (E6M2 0x{:02x} = {}, level 2 0x{:02x}, level 3 0x{:04x})", code, decode_e6m2(code),
                         (unit >> 8) & 0xFF, unit >> 16);
  }
  return {};
}

TensorReading plain_reading(const TensorEntry& entry) {
  TensorReading reading;
  reading.dtype = entry.spec.dtype;
  reading.shape = entry.spec.shape;
  reading.unit_bits = bits_of(entry.spec.dtype);
  if (reading.unit_bits == 6) {
    reading.kind = Kind::bytes;
    reading.unit_bits = 8;
  }
  return reading;
}

/// The coded profile of a file. Its name lives in the profile that was asked for, which it therefore keeps.
SharedProfile coded_profile(const QuantizedFile& file) {
  struct Kept {
    SharedProfile named;
    Profile coded;
  };
  const auto kept = std::make_shared<const Kept>(Kept{file.profile, file.coded()});
  return {kept, &kept->coded};
}

/// The reading of `entry` as codes or scales of `record` or its residual, if that is what it is.
std::optional<TensorReading> quantized_reading(const TensorEntry& entry, const QuantizedFile& file,
                                               const TensorRecord& record) {
  const std::string& name = entry.spec.name;
  const std::string residual = residual_name(record.name);
  const bool codes = name == codes_name(record.name) || name == codes_name(residual);
  const bool scales = name == scales_name(record.name) || name == scales_name(residual);
  if (!codes && !scales) return std::nullopt;
  auto geometry = portable::cut_into_blocks(file.coded(), record.shape, record.axis, record.tail);
  if (!geometry) return std::nullopt;
  const std::vector<TensorSpec> specs = quantized_specs(file, record.name, *geometry);
  if (std::find(specs.begin(), specs.end(), entry.spec) == specs.end()) return std::nullopt;
  TensorReading reading = plain_reading(entry);
  reading.kind = codes ? Kind::codes : Kind::scales;
  reading.unit_bits = codes ? (element_spec(file.profile->element).is_nibble() ? 4 : 8)
                            : 8 * static_cast<std::uint32_t>(scale_bytes(file.profile->family));
  reading.profile = coded_profile(file);
  reading.geometry = *std::move(geometry);
  return reading;
}

}  // namespace

std::string TensorReading::unit_name() const {
  switch (kind) {
    case Kind::elements: return "elements";
    case Kind::bytes: return "bytes";
    case Kind::codes: return "codes";
    case Kind::scales: return "scales";
  }
  return {};
}

std::string TensorReading::place(std::uint64_t index) const {
  if (kind == Kind::bytes) return fmt::format("byte {}", index);
  if (kind == Kind::codes) {
    const auto row_length = static_cast<std::uint64_t>(geometry.padded_columns);
    const std::uint64_t column = index % row_length;
    const std::uint64_t width = profile->block.cols;
    return fmt::format("row {}, block {}, element {}", index / row_length, column / width, column % width);
  }
  if (kind == Kind::scales) {
    const auto blocks = static_cast<std::uint64_t>(geometry.blocks);
    return fmt::format("row {}, block {}", index / blocks, index % blocks);
  }
  std::vector<std::uint64_t> indices(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    indices[i] = index % shape[i];
    index /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

std::string TensorReading::bits(std::uint64_t unit) const { return fmt::format("0x{:0{}x}", unit, unit_bits / 4); }

std::string TensorReading::describe(std::uint64_t unit) const {
  switch (kind) {
    case Kind::elements: return bits(unit) + float_text(dtype, unit);
    case Kind::bytes: return bits(unit);
    case Kind::codes:
      return fmt::format("{} ({})", bits(unit), decode_element(profile->element, static_cast<std::uint8_t>(unit)));
    case Kind::scales: return bits(unit) + scale_text(*profile, unit);
  }
  return {};
}

TensorReading reading_of(const TensorEntry& entry, const std::optional<QuantizedFile>& quantized) {
  if (quantized && quantized->packing == Packing::canonical) {
    for (const TensorRecord& record : quantized->tensors) {
      if (auto reading = quantized_reading(entry, *quantized, record)) return *std::move(reading);
    }
  }
  return plain_reading(entry);
}

}  // namespace fp4proof::cli
