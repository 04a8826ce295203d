#pragma once
// Running this program many times side by side.

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/result.h"

namespace fp4proof::sweep {

/// One run of this program.
struct Task {
  std::vector<std::string> arguments;
  std::filesystem::path log;  ///< gets its standard error; its standard output is lost
};

struct TaskWatch {
  /// A task has ended; `failure` says how, a clause, or is empty. An error ends everything.
  std::function<Result<void>(std::size_t task, const std::string& failure)> ended;
  /// Called every second with the tasks that run.
  std::function<void(const std::vector<std::size_t>& running)> waiting;
};

/// Runs every task, in order, at most `jobs` at a time, and waits for them. A task that a signal kills is run a second
/// time. When this process dies, however it does, every task gets SIGTERM: it must not be called from a thread that
/// ends before the process. An `io` error where the operating system starts no process.
Result<void> run_tasks(std::span<const Task> tasks, std::size_t jobs, const TaskWatch& watch);

}  // namespace fp4proof::sweep
