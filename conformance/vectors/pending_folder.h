#pragma once
// Writing a folder that appears complete or not at all.

#include <filesystem>
#include <string_view>

#include "conformance/vectors/bytes.h"
#include "conformance/vectors/pending_paths.h"
#include "formats/result.h"

namespace fp4proof {

/// A folder that is filled out of sight, inside a hidden one beside the target. The hidden one goes in any case: with
/// the destructor, or with a signal (remove_pending_paths_on_signals()). Movable; not for concurrent use.
class PendingFolder {
 public:
  /// Makes the hidden folder. The folder that holds the target must exist; an `io` error when the operating system
  /// refuses.
  static Result<PendingFolder> create(const std::filesystem::path& target);

  PendingFolder(PendingFolder&& other) noexcept;
  PendingFolder& operator=(PendingFolder&&) = delete;
  ~PendingFolder();

  /// Where the content goes until commit().
  std::filesystem::path path() const { return hidden_ / "new"; }

  /// Puts on the disk what write_pending_file() wrote.
  Result<void> flush() const;

  /// Takes the target's name, which must be free or an empty folder, or, with `replace`, a folder that goes.
  Result<void> commit(bool replace);

 private:
  PendingFolder(std::filesystem::path target, std::filesystem::path hidden);

  std::filesystem::path target_;
  std::filesystem::path hidden_;
  PendingPath pending_;
};

/// Writes `bytes` as the whole content of the new file `path` of a pending folder. Unlike write_file() it does not wait
/// for the disk, so that many small files go fast; flush() does so once.
Result<void> write_pending_file(const std::filesystem::path& path, Bytes bytes);

/// Whether `folder` may be written: free, empty, or one with a file `marker`, which makes it `what` (for example
/// "vector set"), that the user wants replaced (`force`). A `usage` error says why not.
Result<void> check_target_folder(const std::filesystem::path& folder, std::string_view marker, std::string_view what,
                                 bool force);

/// Whether `folder` is free or empty. A `usage` error says why not.
Result<void> check_new_folder(const std::filesystem::path& folder);

}  // namespace fp4proof
