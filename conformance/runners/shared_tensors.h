#pragma once
// Tensors in memory files that verifier and plug-in process both map.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/vectors/bytes.h"
#include "conformance/vectors/file_descriptor.h"
#include "formats/result.h"

namespace fp4proof::runners {

/// Where a tensor lies on its pages: against the unmapped page behind them, or against the one in front.
enum class Placement : std::uint8_t { end, start };

/// The bytes of one tensor in a memory file. Its pages hold nothing else.
struct TensorPlace {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// A memory file with tensors, each on pages of its own. Its size is sealed, so that no process can cut it off.
class TensorFile {
 public:
  /// Inputs. Their content is sealed as well: no process can change it any more.
  static Result<TensorFile> of_inputs(std::span<const Bytes> tensors, Placement placement);

  /// Outputs of these sizes in bytes; the whole file is filled with the poison byte.
  static Result<TensorFile> of_outputs(std::span<const std::size_t> sizes, Placement placement);

  int descriptor() const { return file_.number(); }
  const std::vector<TensorPlace>& places() const { return places_; }

  /// A copy of the whole file as it is now.
  Result<std::vector<std::uint8_t>> snapshot() const;

 private:
  static Result<TensorFile> create(std::span<const std::size_t> sizes, Placement placement);
  Result<void> write(std::size_t offset, Bytes bytes);
  Result<void> seal(int seals);

  FileDescriptor file_;
  std::vector<TensorPlace> places_;
  std::size_t size_ = 0;
};

/// What was written beside a tensor, in words, for example "3 bytes behind its end"; empty where all is poison.
std::string writes_beside(Bytes snapshot, const TensorPlace& place);

/// A tensor of a memory file, mapped between two pages that cannot be touched. Unmapped on destruction.
class MappedTensor {
 public:
  static Result<MappedTensor> map(int file, const TensorPlace& place, bool writable);

  MappedTensor(MappedTensor&& other) noexcept;
  MappedTensor& operator=(MappedTensor&&) = delete;
  ~MappedTensor();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Everything that was reserved, the two pages included.
  const std::uint8_t* base() const { return base_; }
  std::size_t length() const { return length_; }

 private:
  MappedTensor(std::uint8_t* base, std::size_t length, void* data, std::size_t bytes)
      : base_(base), length_(length), data_(data), bytes_(bytes) {}

  std::uint8_t* base_;
  std::size_t length_;
  void* data_;
  std::size_t bytes_;
};

}  // namespace fp4proof::runners
