#include "conformance/vectors/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "conformance/vectors/counted.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof {
namespace {

using nlohmann::json;

constexpr std::uint64_t length_bytes = 8;
constexpr std::size_t header_depth = 3;  // header, tensor, shape
constexpr std::uint64_t largest_data = std::numeric_limits<std::int64_t>::max() - length_bytes - longest_header;
constexpr const char* metadata_key = "__metadata__";

Error corrupt(std::string problem) { return {ErrorKind::corrupt, std::move(problem)}; }

/// Puts `context` in front of a message and makes it a defect of the file.
Error corrupt_in(std::string_view context, const Error& error) {
  return corrupt(fmt::format("{}: {}", context, error.message));
}

/// The JSON text of the header, from the raw file.
Result<std::string_view> header_text(Bytes file) {
  if (file.size() < length_bytes) {
    return corrupt(fmt::format("the file is truncated: {}, shorter than the 8 bytes of the header length",
                               counted(file.size(), "byte")));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  if (length > longest_header) {
    return corrupt(fmt::format("the header length of {} bytes is over the limit of {}; is this a safetensors file?",
                               length, longest_header));
  }
  if (length > file.size() - length_bytes) {
    return corrupt(fmt::format("the file is truncated: its header takes {}, {} follow the length",
                               counted(length, "byte"), file.size() - length_bytes));
  }
  const std::string_view text = text_of(file.subspan(length_bytes, length));
  if (!text.starts_with('{')) return corrupt("the header does not start with '{'; is this a safetensors file?");
  return text;
}

Result<SafetensorsMetadata> read_metadata(const json& value) {
  if (!value.is_object()) return corrupt("__metadata__ is not an object");
  SafetensorsMetadata metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) return corrupt(fmt::format("__metadata__ entry {} is not a string", quote(key)));
    metadata.emplace(key, text.get<std::string>());
  }
  return metadata;
}

/// An array of non-negative integers below 2^64.
Result<std::vector<std::uint64_t>> read_integers(const json& value, std::string_view field) {
  if (!value.is_array()) return corrupt(fmt::format("{} is not an array", field));
  std::vector<std::uint64_t> integers;
  for (const json& item : value) {
    if (!item.is_number_unsigned()) {
      return corrupt(fmt::format("{} holds something other than integers from 0 to 2^64 - 1", field));
    }
    integers.push_back(item.get<std::uint64_t>());
  }
  return integers;
}

Result<TensorDtype> read_dtype(const json& value) {
  if (!value.is_string()) return corrupt("dtype is not a string");
  const auto& name = value.get_ref<const std::string&>();
  const std::optional<TensorDtype> dtype = dtype_named(name);
  if (!dtype) return corrupt(fmt::format("unknown dtype {}", quote(name)));
  return *dtype;
}

Result<void> check_fields(const json& value) {
  if (!value.is_object()) return corrupt("its description is not an object");
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    if (!value.contains(field)) return corrupt(fmt::format("{} is missing", field));
  }
  for (const auto& [field, unused] : value.items()) {
    if (field != "dtype" && field != "shape" && field != "data_offsets") {
      return corrupt(fmt::format("unknown field {}", quote(field)));
    }
  }
  return {};
}

Result<TensorEntry> read_entry(const std::string& name, const json& value) {
  if (Result<void> fields = check_fields(value); !fields) return fields.error();
  const Result<TensorDtype> dtype = read_dtype(value["dtype"]);
  if (!dtype) return dtype.error();
  Result<std::vector<std::uint64_t>> shape = read_integers(value["shape"], "shape");
  if (!shape) return shape.error();
  const Result<std::uint64_t> size = tensor_bytes(*dtype, *shape);
  if (!size) return size.error();
  const Result<std::vector<std::uint64_t>> offsets = read_integers(value["data_offsets"], "data_offsets");
  if (!offsets) return offsets.error();
  if (offsets->size() != 2) return corrupt(fmt::format("data_offsets holds {} numbers, not 2", offsets->size()));
  const std::uint64_t begin = offsets->front();
  const std::uint64_t end = offsets->back();
  if (end < begin) return corrupt(fmt::format("data_offsets [{}, {}] are reversed", begin, end));
  if (end - begin != *size) {
    return corrupt(fmt::format("data_offsets [{}, {}] span {}, dtype and shape need {}", begin, end,
                               counted(end - begin, "byte"), *size));
  }
  return TensorEntry{{name, *dtype, std::move(*shape)}, begin, end};
}

/// Entries sorted by offset must follow one another from 0 to the end of the data.
Result<void> check_cover(const std::vector<TensorEntry>& tensors, std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const TensorEntry& tensor : tensors) {
    const std::string name = quote(tensor.spec.name);
    if (tensor.end > data_bytes) {
      return corrupt(
          fmt::format("tensor {}: data_offsets [{}, {}] reach beyond the {} of data; the file may be "
                      "truncated",
                      name, tensor.begin, tensor.end, counted(data_bytes, "byte")));
    }
    if (tensor.begin < covered) {
      return corrupt(fmt::format("tensor {}: data_offsets [{}, {}] overlap the tensor before, which ends at {}", name,
                                 tensor.begin, tensor.end, covered));
    }
    if (tensor.begin > covered) {
      return corrupt(fmt::format("bytes {} to {} of the data belong to no tensor (gap before tensor {})", covered,
                                 tensor.begin, name));
    }
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    return corrupt(fmt::format("the last {} of the file belong to no tensor", counted(data_bytes - covered, "byte")));
  }
  return {};
}

void sort_by_place(std::vector<TensorEntry>& tensors) {
  std::ranges::sort(tensors, {}, [](const TensorEntry& tensor) {
    return std::tuple(tensor.begin, tensor.end, std::string_view(tensor.spec.name));
  });
}

Result<SafetensorsHeader> read_header(Bytes file) {
  const Result<std::string_view> text = header_text(file);
  if (!text) return text.error();
  const Result<json> document = parse_strict_json(*text, "the header", header_depth);
  if (!document) return document.error();
  SafetensorsHeader header;
  header.data_begin = length_bytes + text->size();
  header.data_bytes = file.size() - header.data_begin;
  for (const auto& [name, value] : document->items()) {
    if (name == metadata_key) {
      Result<SafetensorsMetadata> metadata = read_metadata(value);
      if (!metadata) return metadata.error();
      header.metadata = std::move(*metadata);
      continue;
    }
    Result<TensorEntry> entry = read_entry(name, value);
    if (!entry) return corrupt_in(fmt::format("tensor {}", quote(name)), entry.error());
    header.tensors.push_back(std::move(*entry));
  }
  sort_by_place(header.tensors);
  if (Result<void> covered = check_cover(header.tensors, header.data_bytes); !covered) return covered.error();
  return header;
}

Result<std::vector<TensorEntry>> place(std::span<const TensorSpec> specs) {
  std::vector<TensorEntry> tensors;
  for (const TensorSpec& spec : specs) tensors.push_back({spec, 0, 0});
  std::ranges::sort(tensors, [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(b.spec.dtype, a.spec.name) < std::tie(a.spec.dtype, b.spec.name);
  });
  std::uint64_t covered = 0;
  for (TensorEntry& tensor : tensors) {
    const Result<std::uint64_t> size = tensor_bytes(tensor.spec.dtype, tensor.spec.shape);
    if (!size) {
      return Error{size.error().kind, fmt::format("tensor {}: {}", quote(tensor.spec.name), size.error().message)};
    }
    if (*size > largest_data - covered) return Error{ErrorKind::usage, "the tensors take more than 2^63 - 1 bytes"};
    tensor.begin = covered;
    tensor.end = covered += *size;
  }
  return tensors;
}

json describe(const TensorEntry& tensor) {
  return {{"dtype", name_of(tensor.spec.dtype)},
          {"shape", tensor.spec.shape},
          {"data_offsets", {tensor.begin, tensor.end}}};
}

/// The JSON text of the header; json objects sort their keys, only `__metadata__` has to be brought to the front.
Result<std::string> write_header(const SafetensorsHeader& header) {
  json members = json::object();
  for (const TensorEntry& tensor : header.tensors) {
    if (tensor.spec.name == metadata_key) {
      return Error{ErrorKind::usage, "__metadata__ is no name for a tensor, the format reserves it"};
    }
    if (!members.emplace(tensor.spec.name, describe(tensor)).second) {
      return Error{ErrorKind::usage, fmt::format("two tensors are named {}", quote(tensor.spec.name))};
    }
  }
  try {
    const std::string tensors = members.dump();
    if (header.metadata.empty()) return tensors;
    const std::string front = json{{metadata_key, header.metadata}}.dump();
    if (members.empty()) return front;
    return front.substr(0, front.size() - 1) + "," + tensors.substr(1);
  } catch (const json::type_error&) {
    return Error{ErrorKind::usage, "a tensor name or a metadata string is not valid UTF-8"};
  }
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(Bytes file, std::string_view label) {
  Result<SafetensorsHeader> header = read_header(file);
  if (!header) return corrupt_in(label, header.error());
  return header;
}

Result<SafetensorsLayout> plan_safetensors(std::span<const TensorSpec> tensors, const SafetensorsMetadata& metadata) {
  Result<std::vector<TensorEntry>> placed = place(tensors);
  if (!placed) return placed.error();
  SafetensorsLayout layout;
  layout.header.metadata = metadata;
  layout.header.data_bytes = placed->empty() ? 0 : placed->back().end;
  layout.header.tensors = std::move(*placed);
  Result<std::string> text = write_header(layout.header);
  if (!text) return text.error();
  text->append((8 - text->size() % 8) % 8, ' ');
  if (text->size() > longest_header) {
    return Error{ErrorKind::usage, fmt::format("the header takes {} bytes, over the limit of {}; split the file",
                                               text->size(), longest_header)};
  }
  const std::uint64_t length = text->size();
  layout.head.resize(length_bytes);
  std::memcpy(layout.head.data(), &length, length_bytes);
  layout.head += *text;
  layout.header.data_begin = layout.head.size();
  // File order as a reader lists it: empty tensors may share an offset.
  sort_by_place(layout.header.tensors);
  return layout;
}

}  // namespace fp4proof
