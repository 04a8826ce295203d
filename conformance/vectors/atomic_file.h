#pragma once
// Writing a file that appears complete or not at all.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "conformance/vectors/bytes.h"
#include "conformance/vectors/file_descriptor.h"
#include "conformance/vectors/pending_paths.h"
#include "formats/result.h"

namespace fp4proof {

/// A writer whose bytes go to a hidden temporary file in the folder of the target and take the target's name only in
/// commit(), after they are on the disk. Without commit() (an error, an early return) the destructor removes the
/// temporary and an existing target keeps its old content. Every write is checked; after the first failure each
/// later call returns that same error, commit() included, so one check at the end is enough. Movable; not for
/// concurrent use.
///
/// Links are followed: the file a link leads to is replaced, the link stays. An existing target must be writable and
/// keeps its permission bits.
///
/// A target that is not a regular file (/dev/full, a pipe, /dev/stdout) is written directly, in order and without a
/// temporary: what was written before an error stays written. Opening a named pipe waits for its reader. When the
/// reader of a pipe goes away the process gets SIGPIPE, or the error EPIPE if it ignores that signal.
///
/// A signal that ends the process leaves the temporary, unless the program has called
/// remove_pending_paths_on_signals().
class AtomicFile {
 public:
  /// Opens a writer for `path`. `usage` error for a folder, `io` error when the operating system refuses.
  static Result<AtomicFile> create(const std::filesystem::path& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  /// Writes `bytes` after everything appended so far.
  Result<void> append(Bytes bytes);

  /// Writes `bytes` at byte `offset` from the start of the file, in any order; the file grows as needed and bytes
  /// never written read as zero. It does not move the position of append(). A direct target takes only the offset
  /// that append() would use (`unsupported` error otherwise) and then moves on.
  Result<void> write_at(std::uint64_t offset, Bytes bytes);

  /// Puts the bytes on the disk and the file under its name. Call it once, last. After an error the name still holds
  /// what it held before; the one exception, a folder entry that could not be flushed, says so in its message.
  Result<void> commit();

  /// True when the target is written directly, without a temporary.
  bool is_direct() const { return direct_; }

 private:
  AtomicFile(std::filesystem::path target, std::filesystem::path temporary, PendingPath pending,
             FileDescriptor descriptor);

  static Result<AtomicFile> create_direct(const std::filesystem::path& path);
  static Result<AtomicFile> create_temporary(const std::filesystem::path& path);
  Result<void> refuse_if_finished() const;
  Result<void> write_positioned(std::uint64_t offset, Bytes bytes);
  Result<void> write_in_order(Bytes bytes);
  Result<void> finish_direct();
  Result<void> finish_temporary();
  Error fail(Error error);
  void discard() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty when direct, and once it has been renamed
  PendingPath pending_;              // temporary_, for the case of a signal
  FileDescriptor descriptor_;        // closed once committed
  bool direct_ = false;
  std::uint64_t appended_ = 0;
  std::optional<Error> failure_;
};

/// Writes `bytes` as the whole content of `path`, complete or not at all.
Result<void> write_file(const std::filesystem::path& path, Bytes bytes);

}  // namespace fp4proof
