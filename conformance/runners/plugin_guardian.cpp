#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "conformance/runners/plugin_call.h"
#include "conformance/runners/plugin_host.h"
#include "conformance/runners/process_tree.h"

extern char** environ;

namespace fp4proof::runners {

namespace {

/// The host, or -1.
pid_t start_host(std::string library) {
  std::string program = "fp4proof";
  std::string verb = host_verb;
  const std::array<char*, 4> arguments = {program.data(), verb.data(), library.data(), nullptr};
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  pid_t host = -1;
  const int failure = ::posix_spawn(&host, "/proc/self/exe", nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  return failure == 0 ? host : -1;
}

/// Reaps what has ended; tells when the host is among it.
void reap(pid_t host) {
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != host) continue;
    const ssize_t told = ::write(status_descriptor, &status, sizeof status);
    if (told != sizeof status) ::_exit(channel_lost);
  }
}

}  // namespace

void guard_plugin(const std::string& library) noexcept {
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
  const pid_t host = start_host(library);
  if (host < 0) ::_exit(channel_lost);
  ::close(channel_descriptor);
  while (::getppid() == parent) {
    siginfo_t info;
    const timespec wait{1, 0};
    const int signal = ::sigtimedwait(&awaited, &info, &wait);
    if (signal == SIGCHLD) reap(host);
    if (signal == SIGTERM) break;
  }
  end_descendants({});
  ::_exit(0);
}

}  // namespace fp4proof::runners
