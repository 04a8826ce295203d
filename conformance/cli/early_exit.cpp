#include "conformance/cli/early_exit.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "conformance/vectors/pending_paths.h"

namespace fp4proof::cli {

namespace {

struct Guarded {
  pid_t process = 0;  ///< 0: nobody is at work
  ExitCode code = ExitCode::internal;
};

Guarded guarded;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): exit() knows no other place

[[noreturn]] void end(std::string_view reason) {
  remove_pending_paths();
  for (const std::string_view part : {std::string_view("fp4proof: error: "), reason, std::string_view("\n")}) {
    static_cast<void>(!::write(STDERR_FILENO, part.data(), part.size()));
  }
  ::_exit(static_cast<int>(guarded.code));
}

void end_after_exit() {
  if (guarded.process != ::getpid()) return;
  end("something called exit() before the work was done (a library, or a runtime that got no threads); there is no "
      "result");
}

void end_after_crash(int /*signal*/) {
  end("the process crashed while it ran the code of the backend; there is no result. A debugger on this command shows "
      "where");
}

}  // namespace

EarlyExitGuard::EarlyExitGuard(ExitCode code) {
  static const int registered = std::atexit(end_after_exit);
  static_cast<void>(registered);
  guarded = {::getpid(), code};
}

EarlyExitGuard::~EarlyExitGuard() { dismiss(); }

void EarlyExitGuard::dismiss() { guarded.process = 0; }

void EarlyExitGuard::expect_from_library() {
  guarded.code = ExitCode::plugin_failed;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, end_after_crash);
}

}  // namespace fp4proof::cli
