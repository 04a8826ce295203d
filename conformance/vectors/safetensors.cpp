#include "conformance/vectors/safetensors.h"

#include <fmt/format.h>

#include <utility>

#include "conformance/vectors/counted.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {
namespace {

std::map<std::string_view, std::size_t> index_names(const std::vector<TensorEntry>& tensors) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < tensors.size(); ++i) index.emplace(tensors[i].spec.name, i);
  return index;
}

Error usage(std::string_view name, std::string_view problem) {
  return {ErrorKind::usage, fmt::format("tensor {}: {}", quote(name), problem)};
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::optional<MappedFile> mapping, Bytes file, std::string label,
                                 SafetensorsHeader header)
    : mapping_(std::move(mapping)),
      file_(file),
      label_(std::move(label)),
      header_(std::move(header)),
      by_name_(index_names(header_.tensors)) {}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  Result<MappedFile> mapping = MappedFile::open(path);
  if (!mapping) return mapping.error();
  const Bytes file = mapping->bytes();
  std::string label = quote_path(path);
  Result<SafetensorsHeader> header = parse_safetensors_header(file, label);
  if (!header) return header.error();
  return SafetensorsFile(std::move(*mapping), file, std::move(label), std::move(*header));
}

Result<SafetensorsFile> SafetensorsFile::parse(Bytes file, std::string_view label) {
  Result<SafetensorsHeader> header = parse_safetensors_header(file, label);
  if (!header) return header.error();
  return SafetensorsFile(std::nullopt, file, std::string(label), std::move(*header));
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &header_.tensors[found->second];
}

Result<const TensorEntry*> SafetensorsFile::require(std::string_view name) const {
  const TensorEntry* tensor = find(name);
  if (tensor == nullptr) {
    return Error{ErrorKind::corrupt, fmt::format("{}: tensor {} is missing (there: {})", label_, quote(name),
                                                 counted(header_.tensors.size(), "tensor"))};
  }
  return tensor;
}

SafetensorsWriter::SafetensorsWriter(AtomicFile file, SafetensorsHeader header)
    : file_(std::move(file)),
      header_(std::move(header)),
      by_name_(index_names(header_.tensors)),
      written_(header_.tensors.size()) {}

Result<SafetensorsWriter> SafetensorsWriter::create(const std::filesystem::path& path,
                                                    std::span<const TensorSpec> tensors,
                                                    const SafetensorsMetadata& metadata) {
  Result<SafetensorsLayout> layout = plan_safetensors(tensors, metadata);
  if (!layout) return layout.error();
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.error();
  if (Result<void> head = file->append(bytes_of(layout->head)); !head) return head.error();
  return SafetensorsWriter(std::move(*file), std::move(layout->header));
}

Result<void> SafetensorsWriter::write(std::string_view name, std::uint64_t offset, Bytes bytes) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return usage(name, "it was not announced when the file was created");
  const TensorEntry& tensor = header_.tensors[found->second];
  if (offset > tensor.size() || bytes.size() > tensor.size() - offset) {
    return usage(name, fmt::format("{} at offset {} do not fit in its {}", counted(bytes.size(), "byte"), offset,
                                   counted(tensor.size(), "byte")));
  }
  if (!written_[found->second].add(offset, offset + bytes.size())) {
    return usage(name, fmt::format("bytes from offset {} to {} were already written", offset, offset + bytes.size()));
  }
  return file_.write_at(header_.data_begin + tensor.begin + offset, bytes);
}

Result<void> SafetensorsWriter::commit() {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const TensorEntry& tensor = header_.tensors[i];
    if (const std::uint64_t gap = written_[i].first_gap(); gap != tensor.size()) {
      return Error{ErrorKind::internal, fmt::format("tensor {} is incomplete: byte {} of {} was never written",
                                                    quote(tensor.spec.name), gap, tensor.size())};
    }
  }
  return file_.commit();
}

Result<void> write_safetensors(const std::filesystem::path& path, std::span<const TensorData> tensors,
                               const SafetensorsMetadata& metadata) {
  std::vector<TensorSpec> specs;
  std::map<std::string_view, Bytes> content;
  for (const TensorData& tensor : tensors) {
    const Result<std::uint64_t> size = tensor_bytes(tensor.spec.dtype, tensor.spec.shape);
    if (!size) return usage(tensor.spec.name, size.error().message);
    if (*size != tensor.bytes.size()) {
      return usage(tensor.spec.name,
                   fmt::format("{} given, dtype and shape need {}", counted(tensor.bytes.size(), "byte"), *size));
    }
    specs.push_back(tensor.spec);
    content.emplace(tensor.spec.name, tensor.bytes);
  }
  Result<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs, metadata);
  if (!writer) return writer.error();
  for (const TensorEntry& tensor : writer->tensors()) {
    if (Result<void> written = writer->write(tensor.spec.name, 0, content.at(tensor.spec.name)); !written) {
      return written;
    }
  }
  return writer->commit();
}

}  // namespace fp4proof
