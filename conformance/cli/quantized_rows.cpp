#include "conformance/cli/quantized_rows.h"

#include <fmt/format.h>

#include <cmath>

#include "conformance/cli/row_packing.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

Result<QuantizedRows> QuantizedRows::open(const QuantizedFile& description, const TensorRecord& record,
                                          const SafetensorsFile& file, std::string_view label) {
  Result<portable::Geometry> geometry = checked_geometry(description, record, file, label);
  if (!geometry) return geometry.error();
  QuantizedRows rows;
  rows.profile_ = description.profile;
  rows.name_ = record.name;
  rows.packing_ = description.packing;
  rows.stored_ = *geometry;
  rows.geometry_ = keeps_rows(description) ? *geometry : with_short_rows(*description.profile, *geometry);
  rows.codes_ = file.bytes(*file.find(codes_name(record.name)));
  rows.scales_ = file.bytes(*file.find(scales_name(record.name)));
  if (description.profile->tensor_scale) {
    const std::string name = tensor_scale_name(record.name);
    rows.tensor_scale_ = copy_elements<float>(file.bytes(*file.find(name))).front();
    if (!std::isfinite(rows.tensor_scale_) || rows.tensor_scale_ <= 0.0F) {
      return Error{ErrorKind::corrupt, fmt::format("{}: tensor {} must hold a positive finite number, it holds {}",
                                                   label, quote(name), rows.tensor_scale_)};
    }
  }
  return rows;
}

QuantizedRows::Canonical QuantizedRows::read(RowRange rows, Buffers& buffers) const {
  const auto bytes_of_rows = [&](Bytes all, std::int64_t bytes_per_row) {
    return all.subspan(static_cast<std::size_t>(rows.begin * bytes_per_row),
                       static_cast<std::size_t>(rows.count() * bytes_per_row));
  };
  const Bytes codes = bytes_of_rows(codes_, geometry_.code_bytes_per_row);
  if (packing_ == Packing::canonical) return {codes, bytes_of_rows(scales_, geometry_.scale_bytes_per_row)};
  buffers.codes.assign(codes.begin(), codes.end());
  unpack_code_rows(*profile_, buffers.codes);
  buffers.scales.resize(static_cast<std::size_t>(rows.count() * geometry_.scale_bytes_per_row));
  unpack_scale_rows(*profile_, geometry_, rows, scales_, buffers.scales);
  return {buffers.codes, buffers.scales};
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
  return Error{ErrorKind::usage, fmt::format("{} has no quantized tensor {}{}; 'fp4proof info' lists its {} tensors",
                                             label, quote(name), did_you_mean(name, known), known.size())};
}

}  // namespace fp4proof::cli
