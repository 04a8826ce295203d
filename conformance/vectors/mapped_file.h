#pragma once
// A file seen as memory. The kernel pages it in on demand, so a file larger than memory can be walked.

#include <filesystem>

#include "conformance/vectors/bytes.h"
#include "formats/result.h"

namespace fp4proof {

/// A read-only memory map of one regular file. Movable; the bytes keep their address across a move and are valid
/// until destruction. An empty file gives an empty view.
///
/// The file must not shrink while it is mapped: touching pages past the new end raises SIGBUS. Files that were
/// written by AtomicFile are safe: a rewrite makes a new file and leaves the mapped one alone.
class MappedFile {
 public:
  /// Maps `path`. Folders, pipes and devices give a `usage` error, refusals of the operating system an `io` error.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// The whole content.
  Bytes bytes() const { return bytes_; }

 private:
  explicit MappedFile(Bytes bytes) : bytes_(bytes) {}
  void unmap();

  Bytes bytes_;
};

}  // namespace fp4proof
