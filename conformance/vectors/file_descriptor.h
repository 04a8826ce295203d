#pragma once
// An owned POSIX file descriptor, and opening a regular file for reading.

#include <cstdint>
#include <filesystem>

#include "formats/result.h"

namespace fp4proof {

/// Owns one descriptor and closes it on destruction. Movable, not copyable.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  /// Gives up ownership; the caller closes the descriptor.
  int release();

  /// Closes now. Returns 0 or the errno of close: late write errors surface here. EINTR counts as closed.
  int close();

 private:
  int number_ = -1;
};

/// A regular file opened for reading.
struct OpenedFile {
  FileDescriptor descriptor;
  std::uint64_t size = 0;  ///< bytes, at the time of opening
};

/// Opens `path`, which must lead to a regular file: folders, pipes and devices give a `usage` error (and never block),
/// a refusal of the operating system an `io` error.
Result<OpenedFile> open_regular_file(const std::filesystem::path& path);

}  // namespace fp4proof
