#include "conformance/runners/process_command.h"

#include <optional>

namespace fp4proof::runners {

namespace {

class Splitter {
 public:
  Result<std::vector<std::string>> split(std::string_view text) {
    for (const char c : text) take(c);
    if (escaped_) return refused("ends with a backslash");
    if (quote_ != '\0') return refused("has a quote that is not closed");
    end_argument();
    if (arguments_.empty() || arguments_.front().empty()) return refused("names no program");
    return std::move(arguments_);
  }

 private:
  static Error refused(std::string_view what) {
    return {ErrorKind::usage, "the command of the process " + std::string(what)};
  }

  void take(char c) {
    if (escaped_) {
      append(c);
      escaped_ = false;
    } else if (c == '\\' && quote_ != '\'') {
      escaped_ = true;
    } else if (quote_ != '\0') {
      if (c == quote_) {
        quote_ = '\0';
      } else {
        append(c);
      }
    } else if (c == '\'' || c == '"') {
      quote_ = c;
      if (!argument_) argument_.emplace();
    } else if (c == ' ' || c == '\t') {
      end_argument();
    } else {
      append(c);
    }
  }

  void append(char c) {
    if (!argument_) argument_.emplace();
    argument_->push_back(c);
  }

  void end_argument() {
    if (argument_) arguments_.push_back(*std::move(argument_));
    argument_.reset();
  }

  std::vector<std::string> arguments_;
  std::optional<std::string> argument_;
  char quote_ = '\0';
  bool escaped_ = false;
};

}  // namespace

Result<std::vector<std::string>> split_command(std::string_view text) { return Splitter().split(text); }

}  // namespace fp4proof::runners
