#pragma once
// A process under a guardian, as the verifier sees it: a library's host or a vendor's program.

#include <sys/types.h>

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "conformance/vectors/file_descriptor.h"

namespace fp4proof::runners {

/// How a guarded process ended.
struct Ending {
  enum class Kind : std::uint8_t {
    none,      ///< it lives, or nobody told
    ended,     ///< `status` is its wait status
    orphaned,  ///< its guardian was killed
  };
  Kind kind = Kind::none;
  int status = 0;
};

/// Starts one process at a time. Makes this process a child subreaper and ends every process that it leaves behind; the
/// children that this process had before are spared. For one thread.
class GuardedProcess {
 public:
  GuardedProcess();
  ~GuardedProcess();
  GuardedProcess(const GuardedProcess&) = delete;
  GuardedProcess& operator=(const GuardedProcess&) = delete;

  /// Starts this program anew with `verb` and its one argument, below a guardian. It gets `files` as first_descriptor
  /// and on. False where the operating system refuses.
  bool start(std::string_view verb, const std::string& argument, std::span<const int> files);

  bool is_started() const { return guardian_ > 0; }

  /// Becomes readable when the process ends; for poll().
  int end_descriptor() const { return status_.number(); }

  /// How it ended, after at most `patience`. To be asked once.
  Ending await_end(std::chrono::milliseconds patience);

  /// Processes that descend from it now.
  std::size_t survivors() const;

  /// Kills it and everything below it.
  void end();

 private:
  std::vector<pid_t> spared_;
  pid_t guardian_ = -1;
  FileDescriptor status_;
};

/// A descriptor away from the low numbers, closed on execution.
FileDescriptor moved_up(FileDescriptor file);

}  // namespace fp4proof::runners
