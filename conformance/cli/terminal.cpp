#include "conformance/cli/terminal.h"

#include <unistd.h>

#include <cstdlib>

namespace fp4proof::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool wants_colour(std::FILE* stream) {
  return is_terminal(stream) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

std::string coloured(std::string_view text, std::string_view colour, bool on) {
  std::string result(text);
  if (on) result.insert(0, colour).append(ansi::reset);
  return result;
}

}  // namespace fp4proof::cli
