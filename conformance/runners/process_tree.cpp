#include "conformance/runners/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

namespace fp4proof::runners {

namespace {

/// The parent in the text of /proc/PID/stat: "PID (NAME) STATE PARENT ...", where NAME may hold anything.
pid_t parent_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::ostringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

/// The numbers among the names in a folder.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (folder == nullptr) return numbers;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) continue;
    numbers.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return numbers;
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t process : numbers_in("/proc")) children.emplace(parent_of(process), process);
  return children;
}

void collect(const std::multimap<pid_t, pid_t>& children, pid_t root, std::span<const pid_t> spared,
             std::vector<pid_t>& found) {
  const auto [first, last] = children.equal_range(root);
  for (auto child = first; child != last; ++child) {
    if (std::ranges::find(spared, child->second) != spared.end()) continue;
    found.push_back(child->second);
    collect(children, child->second, spared, found);
  }
}

std::vector<pid_t> descendants_but(pid_t root, std::span<const pid_t> spared) {
  std::vector<pid_t> found;
  collect(children_by_parent(), root, spared, found);
  return found;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) { return descendants_but(root, {}); }

std::vector<pid_t> ancestors_of(pid_t process) {
  std::vector<pid_t> ancestors;
  while ((process = parent_of(process)) > 0) ancestors.push_back(process);
  return ancestors;
}

std::vector<pid_t> threads_of(pid_t process) { return numbers_in(fmt::format("/proc/{}/task", process)); }

bool end_descendants(std::span<const pid_t> spared) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (true) {
    const std::vector<pid_t> left = descendants_but(::getpid(), spared);
    if (left.empty()) return true;
    if (std::chrono::steady_clock::now() > deadline) return false;
    for (const pid_t process : left) ::kill(process, SIGKILL);
    for (const pid_t process : left) ::waitpid(process, nullptr, WNOHANG);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string ending_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    if (signal == SIGSYS) return "was ended at a system call against processes that are not its own (SIGSYS)";
    const char* name = ::sigabbrev_np(signal);
    return name == nullptr ? fmt::format("was killed by signal {}", signal)
                           : fmt::format("was killed by signal {} (SIG{})", signal, name);
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
}

}  // namespace fp4proof::runners
