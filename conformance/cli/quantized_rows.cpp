#include "conformance/cli/quantized_rows.h"

#include <fmt/format.h>

#include <cmath>

#include "conformance/cli/row_packing.h"
#include "conformance/cli/stored_corrections.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/counted.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

namespace {

Bytes bytes_of_tensor(const SafetensorsFile& file, const std::string& name) { return file.bytes(*file.find(name)); }

Result<std::vector<std::uint8_t>> unpacked_codes(const SafetensorsFile& file, const portable::Geometry& geometry,
                                                 const std::string& name, std::string_view label) {
  const Bytes codes = bytes_of_tensor(file, packed_codes_name(name));
  const Bytes places = bytes_of_tensor(file, places_name(name));
  const portable::PackedResidual packed{{codes.begin(), codes.end()},
                                        {places.begin(), places.end()},
                                        packed_code_bytes_per_row(geometry),
                                        place_bytes_per_row(geometry)};
  auto unpacked = portable::unpack_residual(geometry, packed);
  if (!unpacked) {
    return Error{unpacked.error().kind,
                 fmt::format("{}: tensor {}: {}", label, quote(places_name(name)), unpacked.error().message)};
  }
  return unpacked;
}

}  // namespace

Result<QuantizedRows> QuantizedRows::open(const QuantizedFile& description, const TensorRecord& record,
                                          const SafetensorsFile& file, std::string_view label, TensorPart part) {
  Result<portable::Geometry> geometry = checked_geometry(description, record, file, label);
  if (!geometry) return geometry.error();
  QuantizedRows rows;
  const std::string name = part == TensorPart::first ? record.name : residual_name(record.name);
  rows.named_profile_ = description.profile;
  rows.profile_ = description.coded();
  rows.name_ = record.name;
  rows.code_packing_ = rows.scale_packing_ = description.packing;
  rows.stored_ = *geometry;
  rows.geometry_ = keeps_rows(description) ? *geometry : with_short_rows(rows.profile_, *geometry);
  if (part == TensorPart::residual && description.corrections->residual == ResidualForm::packed) {
    auto codes = unpacked_codes(file, *geometry, name, label);
    if (!codes) return codes.error();
    rows.unpacked_ = std::make_shared<const std::vector<std::uint8_t>>(*std::move(codes));
    rows.codes_ = *rows.unpacked_;
    rows.code_packing_ = Packing::canonical;
  } else {
    rows.codes_ = bytes_of_tensor(file, codes_name(name));
  }
  rows.scales_ = bytes_of_tensor(file, scales_name(name));
  if (description.corrections && description.corrections->stack->macro.is_on()) {
    rows.macro_ = bytes_of_tensor(file, macro_name(name));
  }
  if (rows.profile_.tensor_scale) {
    const std::string scale = tensor_scale_name(name);
    rows.tensor_scale_ = copy_elements<float>(bytes_of_tensor(file, scale)).front();
    if (!std::isfinite(rows.tensor_scale_) || rows.tensor_scale_ <= 0.0F) {
      return Error{ErrorKind::corrupt, fmt::format("{}: tensor {} must hold a positive finite number, it holds {}",
                                                   label, quote(scale), rows.tensor_scale_)};
    }
  }
  return rows;
}

QuantizedRows::Canonical QuantizedRows::read(RowRange rows, Buffers& buffers) const {
  const auto bytes_of_rows = [&](Bytes all, std::int64_t bytes_per_row) {
    return all.subspan(static_cast<std::size_t>(rows.begin * bytes_per_row),
                       static_cast<std::size_t>(rows.count() * bytes_per_row));
  };
  Canonical canonical{bytes_of_rows(codes_, geometry_.code_bytes_per_row), {}};
  if (code_packing_ == Packing::profile) {
    buffers.codes.assign(canonical.codes.begin(), canonical.codes.end());
    unpack_code_rows(profile_, buffers.codes);
    canonical.codes = buffers.codes;
  }
  if (scale_packing_ == Packing::canonical) {
    canonical.scales = bytes_of_rows(scales_, geometry_.scale_bytes_per_row);
    return canonical;
  }
  buffers.scales.resize(static_cast<std::size_t>(rows.count() * geometry_.scale_bytes_per_row));
  unpack_scale_rows(profile_, geometry_, rows, scales_, buffers.scales);
  canonical.scales = buffers.scales;
  return canonical;
}

portable::Quantized QuantizedRows::read_all() const {
  Buffers buffers;
  const Canonical canonical = read({0, geometry_.rows}, buffers);
  return {stored_,
          {canonical.codes.begin(), canonical.codes.end()},
          {canonical.scales.begin(), canonical.scales.end()},
          tensor_scale_};
}

Result<const TensorRecord*> record_named(const QuantizedFile& file, const std::string& name, std::string_view label) {
  std::vector<std::string> known;
  for (const TensorRecord& record : file.tensors) {
    if (record.name == name) return &record;
    known.push_back(record.name);
  }
  return Error{ErrorKind::usage, fmt::format("{} has no quantized tensor {}{}; 'fp4proof info' lists its {}", label,
                                             quote(name), did_you_mean(name, known), counted(known.size(), "tensor"))};
}

}  // namespace fp4proof::cli
