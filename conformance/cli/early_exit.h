#pragma once
// The end of the process by somebody else while a verb is at work: a library under test, or a runtime that gives up.

#include "conformance/cli/exit_code.h"

namespace fp4proof::cli {

/// While one lives, an exit() in this process (not in those that it forks) removes what is pending, says that the work
/// has not ended, and gives `code` to the caller in place of whatever exit() was told. One at a time.
class EarlyExitGuard {
 public:
  explicit EarlyExitGuard(ExitCode code);
  ~EarlyExitGuard();
  EarlyExitGuard(const EarlyExitGuard&) = delete;
  EarlyExitGuard& operator=(const EarlyExitGuard&) = delete;

  /// From now on a library is under suspicion: the code is that of a plug-in that failed, for a crash (SIGSEGV, SIGBUS,
  /// SIGFPE, SIGILL, SIGABRT) too.
  static void expect_from_library();

  /// From now on nothing is guarded: whoever started this process judges how it ends.
  static void dismiss();
};

}  // namespace fp4proof::cli
