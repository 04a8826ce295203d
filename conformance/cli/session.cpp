#include "conformance/cli/session.h"

#include <fmt/format.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "conformance/cli/common_options.h"
#include "conformance/cli/terminal.h"

namespace fp4proof::cli {

namespace {
constexpr int most_threads = 4096;
}  // namespace

Session::Session() : colour_output_(wants_colour(stdout)), colour_error_(wants_colour(stderr)) {}

void Session::print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void Session::print_json(const nlohmann::json& value) {
  print(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void Session::note(std::string_view text) { say("note", text, ansi::cyan); }

void Session::complain(const Error& error) { say("error", error.message, ansi::red); }

void Session::say(std::string_view kind, std::string_view text, std::string_view colour) {
  std::fflush(stdout);
  const std::string label = coloured(fmt::format("{}:", kind), colour, colour_error_);
  const std::string line = fmt::format("fp4proof: {} {}\n", label, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Result<void> Session::finish() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return {};
  const int number = errno;
  const std::string reason = number != 0 ? std::string(": ") + std::strerror(number) : std::string();
  return Error{ErrorKind::io, "cannot write to the standard output" + reason +
                                  "; the output is incomplete, free some space or send it elsewhere"};
}

void Session::add_threads_option(CLI::App& command) {
  command.add_option("--threads", threads_, "Threads to compute with; no result depends on it (default: all)")
      ->check(decimal_number(false))
      ->check(CLI::Range(1, most_threads))
      ->option_text("N");
}

void Session::apply_threads() const {
  omp_set_num_threads(std::min(threads_ > 0 ? threads_ : omp_get_max_threads(), most_threads));
}

}  // namespace fp4proof::cli
