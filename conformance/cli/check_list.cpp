#include "conformance/cli/check_list.h"

#include <fmt/format.h>

#include "conformance/cli/terminal.h"

namespace fp4proof::cli {

void CheckList::pass(std::string_view what) {
  ++passed_;
  session_.print(fmt::format("{}    {}\n", coloured("ok", ansi::green, session_.colour_output()), what));
}

void CheckList::fail(std::string_view what, std::string_view why) {
  ++failed_;
  session_.print(fmt::format("{}  {}: {}\n", coloured("FAIL", ansi::red, session_.colour_output()), what, why));
}

void CheckList::skip(std::string_view what, std::string_view why) {
  ++skipped_;
  session_.print(fmt::format("skip  {}: {}\n", what, why));
}

void CheckList::add(std::string_view what, const std::string& problem) {
  if (problem.empty()) {
    pass(what);
  } else {
    fail(what, problem);
  }
}

void CheckList::print_tally() const { session_.print(tally(passed_, failed_, skipped_)); }

std::string tally(std::size_t passed, std::size_t failed, std::size_t skipped) {
  return fmt::format("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
}

}  // namespace fp4proof::cli
