#include "conformance/runners/process_host.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "conformance/vectors/os_error.h"

namespace fp4proof::runners {

namespace {

unsigned digit_of(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

/// The inverse of one_word().
std::vector<std::string> arguments_of(const std::string& word) {
  std::vector<std::string> arguments;
  std::string argument;
  for (std::size_t i = 0; i + 1 < word.size(); i += 2) {
    const auto c = static_cast<char>(digit_of(word[i]) << 4U | digit_of(word[i + 1]));
    if (c == '\0') {
      arguments.push_back(std::move(argument));
      argument.clear();
    } else {
      argument += c;
    }
  }
  return arguments;
}

}  // namespace

std::string one_word(const std::vector<std::string>& arguments) {
  std::string word;
  for (const std::string& argument : arguments) {
    for (const char c : argument) word += fmt::format("{:02x}", static_cast<unsigned char>(c));
    word += "00";
  }
  return word;
}

void host_process(const std::string& command) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  ::dup2(program_input, STDIN_FILENO);
  ::dup2(program_output, STDOUT_FILENO);
  ::closefrom(STDERR_FILENO + 1);
  std::vector<std::string> arguments = arguments_of(command);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  const std::string problem =
      fmt::format("fp4proof: error: cannot start {}: {}\n", quote(arguments.front()), std::strerror(errno));
  const ssize_t ignored = ::write(STDERR_FILENO, problem.data(), problem.size());
  static_cast<void>(ignored);
  ::_exit(not_started);
}

}  // namespace fp4proof::runners
