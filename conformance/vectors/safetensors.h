#pragma once
// Reading and writing safetensors files of any size.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/bytes.h"
#include "conformance/vectors/covered_ranges.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/safetensors_header.h"
#include "formats/result.h"

namespace fp4proof {

/// A checked file, readable without copying. Movable; the byte views keep their address across a move.
class SafetensorsFile {
 public:
  /// Maps `path` and checks its whole header (parse_safetensors_header). The data are paged in when read.
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  /// The same over bytes in memory, which must outlive the result. `label` names them in errors.
  static Result<SafetensorsFile> parse(Bytes file, std::string_view label);

  /// Tensors in file order.
  const std::vector<TensorEntry>& tensors() const { return header_.tensors; }
  const SafetensorsMetadata& metadata() const { return header_.metadata; }

  /// The tensor of that name, or nullptr.
  const TensorEntry* find(std::string_view name) const;

  /// The tensor of that name, or a `corrupt` error that names the file.
  Result<const TensorEntry*> require(std::string_view name) const;

  /// The bytes of one of tensors(): dense, little-endian. A foreign file need not align them to the element, so copy
  /// (copy_elements) or memcpy instead of casting the pointer.
  Bytes bytes(const TensorEntry& tensor) const {
    return file_.subspan(header_.data_begin + tensor.begin, tensor.size());
  }

 private:
  SafetensorsFile(std::optional<MappedFile> mapping, Bytes file, std::string label, SafetensorsHeader header);

  std::optional<MappedFile> mapping_;  // absent when parse() was given memory
  Bytes file_;
  std::string label_;
  SafetensorsHeader header_;
  std::map<std::string_view, std::size_t> by_name_;  // views into header_.tensors
};

/// Writes a file whose tensors are known ahead and whose data come in pieces, in any order: the file need not fit in
/// memory. It appears under its name in commit(), complete (see AtomicFile). Movable; not for concurrent use.
class SafetensorsWriter {
 public:
  /// Lays out the file (plan_safetensors: the bytes do not depend on the order of `tensors`) and writes its header.
  static Result<SafetensorsWriter> create(const std::filesystem::path& path, std::span<const TensorSpec> tensors,
                                          const SafetensorsMetadata& metadata = {});

  /// The tensors in file order. A target that is written directly (a pipe) takes them in this order only.
  const std::vector<TensorEntry>& tensors() const { return header_.tensors; }

  /// Writes `bytes` at byte `offset` of the named tensor. `usage` error for an unknown name, a piece that does not
  /// fit, or a byte written before.
  Result<void> write(std::string_view name, std::uint64_t offset, Bytes bytes);

  /// Completes the file. `internal` error, and no file, when a tensor has bytes that were never written.
  Result<void> commit();

 private:
  SafetensorsWriter(AtomicFile file, SafetensorsHeader header);

  AtomicFile file_;
  SafetensorsHeader header_;
  std::map<std::string_view, std::size_t> by_name_;  // views into header_.tensors
  std::vector<CoveredRanges> written_;               // one per tensor
};

/// A tensor with its content in memory.
struct TensorData {
  TensorSpec spec;
  Bytes bytes;
};

/// Writes a whole file from memory, complete or not at all. `usage` error when the bytes of a tensor do not match its
/// dtype and shape.
Result<void> write_safetensors(const std::filesystem::path& path, std::span<const TensorData> tensors,
                               const SafetensorsMetadata& metadata = {});

}  // namespace fp4proof
