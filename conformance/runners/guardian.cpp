#include "conformance/runners/guardian.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "conformance/runners/containment.h"
#include "conformance/runners/process_tree.h"

extern char** environ;

namespace fp4proof::runners {

namespace {

/// The guarded process, or -1.
pid_t start(std::string verb, std::string argument) {
  std::string program = "fp4proof";
  const std::array<char*, 4> arguments = {program.data(), verb.data(), argument.data(), nullptr};
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  pid_t process = -1;
  const int failure = ::posix_spawn(&process, "/proc/self/exe", nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  return failure == 0 ? process : -1;
}

/// Reaps what has ended; tells when the guarded process is among it.
void reap(pid_t guarded) {
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != guarded) continue;
    const ssize_t told = ::write(status_descriptor, &status, sizeof status);
    if (told != sizeof status) ::_exit(channel_lost);
  }
}

}  // namespace

void guard(const std::string& verb, const std::string& argument) noexcept {
  const pid_t parent = ::getppid();
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::fcntl(status_descriptor, F_SETFD, FD_CLOEXEC);
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGTERM}) ::sigaddset(&awaited, signal);
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Calls are short: OpenMP threads that spin between them cost more than the work.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  if (!contain_from_here_on()) {
    std::fputs("fp4proof: note: this system cannot keep a plug-in from signalling the processes above it\n", stderr);
  }
  const pid_t guarded = start(verb, argument);
  if (guarded < 0) ::_exit(channel_lost);
  ::closefrom(first_descriptor);
  while (::getppid() == parent) {
    siginfo_t info;
    const timespec wait{1, 0};
    const int signal = ::sigtimedwait(&awaited, &info, &wait);
    if (signal == SIGCHLD) reap(guarded);
    if (signal == SIGTERM) break;
  }
  end_descendants({});
  ::_exit(0);
}

}  // namespace fp4proof::runners
