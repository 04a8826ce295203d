#include "conformance/runners/guarded_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>

#include "conformance/runners/guardian.h"
#include "conformance/runners/process_tree.h"

extern char** environ;

namespace fp4proof::runners {

namespace {

pid_t spawn_guardian(std::string_view verb, const std::string& argument, int status, std::span<const int> files) {
  std::array<std::string, 4> words = {"fp4proof", guardian_verb, std::string(verb), argument};
  std::array<char*, words.size() + 1> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, status, status_descriptor);
  int next = first_descriptor;
  for (const int file : files) ::posix_spawn_file_actions_adddup2(&actions, file, next++);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, next);
  pid_t guardian = -1;
  const int failure = ::posix_spawn(&guardian, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return failure == 0 ? guardian : -1;
}

}  // namespace

GuardedProcess::GuardedProcess() : spared_(descendants_of(::getpid())) { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

GuardedProcess::~GuardedProcess() {
  if (is_started()) end();
}

bool GuardedProcess::start(std::string_view verb, const std::string& argument, std::span<const int> files) {
  std::array<int, 2> status{};
  if (::pipe2(status.data(), O_CLOEXEC) != 0) return false;
  status_ = moved_up(FileDescriptor(status[0]));
  const FileDescriptor far_status = moved_up(FileDescriptor(status[1]));
  guardian_ = spawn_guardian(verb, argument, far_status.number(), files);
  return is_started();
}

Ending GuardedProcess::await_end(std::chrono::milliseconds patience) {
  pollfd event{status_.number(), POLLIN, 0};
  if (::poll(&event, 1, static_cast<int>(patience.count())) <= 0) return {};
  int status = 0;
  if (::read(status_.number(), &status, sizeof status) != sizeof status) return {Ending::Kind::orphaned, 0};
  return {Ending::Kind::ended, status};
}

std::size_t GuardedProcess::survivors() const { return descendants_of(guardian_).size(); }

void GuardedProcess::end() {
  end_descendants(spared_);
  guardian_ = -1;
  status_ = FileDescriptor();
}

FileDescriptor moved_up(FileDescriptor file) { return FileDescriptor(::fcntl(file.number(), F_DUPFD_CLOEXEC, 16)); }

}  // namespace fp4proof::runners
