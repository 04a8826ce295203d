#pragma once
// What a process has written out of sight and not finished, so that a signal does not leave it lying about.

#include <filesystem>

namespace fp4proof {

/// Remembers a hidden file, or a hidden folder with everything in it, for as long as the object lives or until
/// release(). There is room for 64 paths of up to 4095 bytes at a time; others are not remembered, and a signal leaves
/// them. Movable; safe to use from several threads.
class PendingPath {
 public:
  PendingPath() = default;
  explicit PendingPath(const std::filesystem::path& path);
  PendingPath(PendingPath&& other) noexcept;
  PendingPath& operator=(PendingPath&& other) noexcept;
  ~PendingPath() { release(); }

  /// Forgets the path. It removes nothing.
  void release() noexcept;

 private:
  int slot_ = -1;
};

/// Removes every remembered path. Safe in a signal handler.
void remove_pending_paths();

/// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE remove every remembered path and then end the process as they would
/// have. A signal that is ignored stays ignored. For programs, not for libraries.
void remove_pending_paths_on_signals();

}  // namespace fp4proof
