#include "conformance/sweep/tasks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include "conformance/runners/guarded_process.h"
#include "conformance/runners/process_tree.h"
#include "conformance/vectors/file_descriptor.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::sweep {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* this_program = "/proc/self/exe";
constexpr std::chrono::milliseconds between_looks{10};
constexpr std::chrono::seconds between_reports{1};
constexpr int most_attempts = 2;

/// Only calls that are safe between fork and exec.
[[noreturn]] void become(char* const* arguments, int input, int log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  ::dup2(input, STDIN_FILENO);
  ::dup2(input, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv(this_program, arguments);
  ::_exit(127);
}

Result<pid_t> start(const Task& task) {
  FileDescriptor opened(::open(task.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!opened.is_open()) return os_error("write to", task.log, errno);
  const FileDescriptor log = runners::moved_up(std::move(opened));
  const FileDescriptor nothing = runners::moved_up(FileDescriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  std::vector<std::string> words = {"fp4proof"};
  words.insert(words.end(), task.arguments.begin(), task.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), nothing.number(), log.number(), parent);
  if (child < 0) return os_error("start", this_program, errno);
  return child;
}

class Queue {
 public:
  Queue(std::span<const Task> tasks, const TaskWatch& watch) : tasks_(tasks), watch_(watch), attempts_(tasks.size()) {}

  Result<void> run(std::size_t jobs) {
    while (next_ < tasks_.size() || !running_.empty()) {
      while (next_ < tasks_.size() && running_.size() < jobs) {
        if (const Result<void> started = begin(next_++); !started) return started;
      }
      if (const Result<void> sound = reap(); !sound) return sound;
      report();
      std::this_thread::sleep_for(between_looks);
    }
    return {};
  }

 private:
  Result<void> begin(std::size_t task) {
    const Result<pid_t> child = start(tasks_[task]);
    if (!child) return child.error();
    running_[*child] = task;
    ++attempts_[task];
    return {};
  }

  Result<void> reap() {
    int status = 0;
    for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = running_.find(child);
      if (found == running_.end()) continue;  // a child from before
      const std::size_t task = found->second;
      running_.erase(found);
      const bool again = WIFSIGNALED(status) && attempts_[task] < most_attempts;
      const std::string failure = status == 0 ? std::string() : runners::ending_text(status);
      if (const Result<void> sound = again ? begin(task) : watch_.ended(task, failure); !sound) return sound;
    }
    return {};
  }

  void report() {
    if (Clock::now() < next_report_) return;
    next_report_ = Clock::now() + between_reports;
    std::vector<std::size_t> tasks;
    for (const auto& [child, task] : running_) tasks.push_back(task);
    watch_.waiting(tasks);
  }

  std::span<const Task> tasks_;
  const TaskWatch& watch_;
  std::vector<int> attempts_;
  std::map<pid_t, std::size_t> running_;
  std::size_t next_ = 0;
  Clock::time_point next_report_ = Clock::now() + between_reports;
};

}  // namespace

Result<void> run_tasks(std::span<const Task> tasks, std::size_t jobs, const TaskWatch& watch) {
  // Tasks compete for cores: threads that spin between their calls cost more than the work.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  return Queue(tasks, watch).run(jobs);
}

}  // namespace fp4proof::sweep
