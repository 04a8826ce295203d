#include "conformance/cli/tensor_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "conformance/cli/quantized_file.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/counted.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

std::optional<portable::DType> reference_dtype(TensorDtype dtype) {
  switch (dtype) {
    case TensorDtype::f32: return portable::DType::f32;
    case TensorDtype::f16: return portable::DType::f16;
    case TensorDtype::bf16: return portable::DType::bf16;
    default: return std::nullopt;
  }
}

TensorSource source_of(const SafetensorsFile& file, const TensorEntry& entry) {
  return {entry.spec.name, entry.spec.dtype, reference_shape(entry.spec.shape), file.bytes(entry)};
}

std::string why_not(const TensorEntry& entry) {
  return fmt::format("{}: dtype {} is not F32, F16 or BF16", quote(entry.spec.name), name_of(entry.spec.dtype));
}

}  // namespace

portable::TensorView TensorSource::view() const {
  return {*reference_dtype(dtype), shape, reinterpret_cast<const std::byte*>(bytes.data())};
}

Result<const TensorEntry*> tensor_named(const SafetensorsFile& file, std::string_view label, const std::string& name) {
  if (const TensorEntry* entry = file.find(name); entry != nullptr) return entry;
  std::vector<std::string> known;
  for (const TensorEntry& entry : file.tensors()) known.push_back(entry.spec.name);
  return Error{ErrorKind::usage, fmt::format("{} has no tensor {}{}; 'fp4proof info' lists its {}", label, quote(name),
                                             did_you_mean(name, known), counted(known.size(), "tensor"))};
}

Result<std::vector<TensorSource>> float_tensors(const SafetensorsFile& file, std::string_view label,
                                                const std::vector<std::string>& names, Session& session) {
  std::vector<TensorSource> sources;
  for (const std::string& name : names) {
    const Result<const TensorEntry*> entry = tensor_named(file, label, name);
    if (!entry) return entry.error();
    if (!reference_dtype((*entry)->spec.dtype)) {
      return Error{ErrorKind::usage, fmt::format("{}: cannot quantize {}", label, why_not(**entry))};
    }
    sources.push_back(source_of(file, **entry));
  }
  for (const TensorEntry& entry : file.tensors()) {
    if (!names.empty()) break;
    if (reference_dtype(entry.spec.dtype)) {
      sources.push_back(source_of(file, entry));
    } else {
      session.note("skipped " + why_not(entry));
    }
  }
  std::sort(sources.begin(), sources.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(sources.begin(), sources.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != sources.end()) {
    return Error{ErrorKind::usage, fmt::format("tensor {} is named twice; keep one", quote(twice->name))};
  }
  return sources;
}

}  // namespace fp4proof::cli
