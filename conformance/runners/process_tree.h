#pragma once
// Processes that descend from one another.

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace fp4proof::runners {

/// Every process that descends from `root` now, zombies included. Reads /proc.
std::vector<pid_t> descendants_of(pid_t root);

/// The parent of a process, its parent, and so on up to the first process; without `process` itself.
std::vector<pid_t> ancestors_of(pid_t process);

/// The threads of a process now.
std::vector<pid_t> threads_of(pid_t process);

/// Kills every descendant of this process but those in `spared` and their descendants, waits for their end and reaps
/// them. This process must be a child subreaper, so that none can slip away to another parent. Gives up after ten
/// seconds; false where a process stays.
bool end_descendants(std::span<const pid_t> spared);

/// How a process ended, from its wait status: "was killed by signal 11 (SIGSEGV)", "ended with exit code 0".
std::string ending_text(int wait_status);

}  // namespace fp4proof::runners
