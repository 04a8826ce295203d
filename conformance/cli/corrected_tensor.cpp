#include "conformance/cli/corrected_tensor.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "conformance/cli/quantized_rows.h"
#include "conformance/cli/row_packing.h"
#include "conformance/vectors/os_error.h"
#include "formats/scale_layout.h"

namespace fp4proof::cli {

namespace {

using portable::Geometry;

portable::CorrectOptions options_of(const QuantizedFile& file, const portable::QuantizeOptions& options) {
  return {.quantize = options, .product = file.corrections->product};
}

Error named(const TensorSource& source, const Error& error) {
  return {error.kind, fmt::format("tensor {}: {}", quote(source.name), error.message)};
}

Result<void> write_scales(SafetensorsWriter& writer, const QuantizedFile& file, const std::string& name,
                          const portable::Quantized& quantized) {
  if (file.packing == Packing::canonical) return writer.write(scales_name(name), 0, quantized.scales);
  const Profile profile = file.coded();
  ScalePacker packer(profile, quantized.geometry,
                     [&](std::uint64_t offset, Bytes bytes) { return writer.write(scales_name(name), offset, bytes); });
  return packer.add(quantized.scales);
}

Result<void> write_codes(SafetensorsWriter& writer, const QuantizedFile& file, const std::string& name,
                         std::vector<std::uint8_t> codes) {
  if (file.packing == Packing::profile) pack_code_rows(file.coded(), codes);
  return writer.write(codes_name(name), 0, codes);
}

/// Everything of a part but its codes.
Result<void> write_part(SafetensorsWriter& writer, const QuantizedFile& file, const std::string& name,
                        const portable::CodedPart& part) {
  if (Result<void> written = write_scales(writer, file, name, part.quantized); !written) return written;
  if (file.profile->tensor_scale) {
    const std::vector<float> scale = {part.quantized.tensor_scale};
    if (Result<void> written = writer.write(tensor_scale_name(name), 0, bytes_of(scale)); !written) return written;
  }
  if (!file.corrections->stack->macro.is_on()) return {};
  return writer.write(macro_name(name), 0, part.macro);
}

Result<void> write_packed(SafetensorsWriter& writer, const std::string& name, const portable::PackedResidual& packed) {
  if (Result<void> written = writer.write(packed_codes_name(name), 0, packed.codes); !written) return written;
  return writer.write(places_name(name), 0, packed.places);
}

portable::CodedPart read_part(const QuantizedRows& rows) {
  return {rows.read_all(), {rows.macro().begin(), rows.macro().end()}};
}

}  // namespace

Result<portable::Corrected> correct_tensor(const QuantizedFile& file, const TensorSource& source,
                                           const portable::QuantizeOptions& options) {
  auto corrected = portable::correct(*file.profile, *file.corrections->stack, source.view(), options_of(file, options));
  if (!corrected) return named(source, corrected.error());
  return corrected;
}

Result<void> write_corrected(SafetensorsWriter& writer, const QuantizedFile& file, const TensorSource& source,
                             const portable::QuantizeOptions& options, const portable::Corrected& corrected) {
  const std::string& name = source.name;
  if (Result<void> done = write_codes(writer, file, name, corrected.first.quantized.codes); !done) return done;
  if (Result<void> done = write_part(writer, file, name, corrected.first); !done) return done;
  if (!corrected.residual) return {};
  const std::string residual = residual_name(name);
  if (file.corrections->residual == ResidualForm::packed) {
    const auto packed = portable::pack_residual(corrected, source.view(), options_of(file, options));
    if (!packed) return named(source, packed.error());
    if (Result<void> done = write_packed(writer, residual, *packed); !done) return done;
  } else {
    Result<void> done = write_codes(writer, file, residual, corrected.residual->quantized.codes);
    if (!done) return done;
  }
  return write_part(writer, file, residual, *corrected.residual);
}

ErrorSums corrected_errors(const QuantizedFile& file, const TensorSource& source, portable::Corrected& corrected,
                           std::span<const float> values) {
  portable::Quantized& first = corrected.first.quantized;
  const QuantizedChunk whole{{0, first.geometry.rows}, first.codes, first.scales};
  ErrorSums sums = chunk_errors(corrected.profile, source, first.geometry, whole, values);
  sums.bytes = corrected_bytes(file, first.geometry);
  sums.saturation_known = !corrected.stack.hadamard.is_on();
  return sums;
}

std::uint64_t corrected_bytes(const QuantizedFile& file, const Geometry& geometry) {
  QuantizedFile canonical = file;
  canonical.packing = Packing::canonical;
  std::uint64_t bytes = 0;
  for (const TensorSpec& spec : quantized_specs(canonical, "", geometry)) {
    const Result<std::uint64_t> size = tensor_bytes(spec.dtype, spec.shape);
    if (size) bytes += *size;
  }
  return bytes;
}

Result<portable::Corrected> read_corrected(const QuantizedFile& description, const TensorRecord& record,
                                           const SafetensorsFile& file, std::string_view label) {
  const Result<QuantizedRows> first = QuantizedRows::open(description, record, file, label);
  if (!first) return first.error();
  portable::Corrected corrected{first->profile(), {}, 0, read_part(*first), std::nullopt};
  if (!description.corrections) return corrected;
  corrected.stack = *description.corrections->stack;
  corrected.product = description.corrections->product;
  if (!description.has_residual()) return corrected;
  const auto residual = QuantizedRows::open(description, record, file, label, TensorPart::residual);
  if (!residual) return residual.error();
  corrected.residual = read_part(*residual);
  return corrected;
}

}  // namespace fp4proof::cli
