#pragma once
// Named checks, printed one a line, and their tally.

#include <cstddef>
#include <string>
#include <string_view>

#include "conformance/cli/session.h"

namespace fp4proof::cli {

class CheckList {
 public:
  explicit CheckList(Session& session) : session_(session) {}

  void pass(std::string_view what);
  void fail(std::string_view what, std::string_view why);
  void skip(std::string_view what, std::string_view why);

  /// pass or fail; a problem is empty where there is none.
  void add(std::string_view what, const std::string& problem);

  std::size_t passed() const { return passed_; }
  std::size_t failed() const { return failed_; }

  /// Prints "N passed, N failed, N skipped".
  void print_tally() const;

 private:
  Session& session_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
};

/// "N passed, N failed, N skipped" and an LF: the last line of every report.
std::string tally(std::size_t passed, std::size_t failed, std::size_t skipped);

}  // namespace fp4proof::cli
