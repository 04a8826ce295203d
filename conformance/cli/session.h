#pragma once
// Where a verb's words go: results to the standard output, remarks, errors and progress to the standard error.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not our name
class App;
}

namespace fp4proof::cli {

/// One run of the command. Not for concurrent use.
class Session {
 public:
  /// Appends text to the standard output as it is.
  void print(std::string_view text);

  /// Prints a JSON value: sorted keys, two spaces of indentation, UTF-8, one LF at the end.
  void print_json(const nlohmann::json& value);

  /// `fp4proof: note: TEXT` on the standard error.
  void note(std::string_view text);

  /// `fp4proof: error: TEXT` on the standard error.
  void complain(const Error& error);

  /// The arguments of the command, the verb first.
  const std::vector<std::string>& arguments() const { return arguments_; }
  void set_arguments(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }

  /// Flushes the standard output; an `io` error when any of it could not be written.
  Result<void> finish();

  /// Adds `--threads N` to a verb that computes. No result depends on it.
  void add_threads_option(CLI::App& command);

  /// Makes the number of threads that the user asked for effective. Called once, after parsing.
  void apply_threads() const;

  /// Whether colour belongs on the standard output: a terminal, and NO_COLOR unset or empty.
  bool colour_output() const { return colour_output_; }

  Session();

 private:
  void say(std::string_view kind, std::string_view text, std::string_view colour);

  std::vector<std::string> arguments_;
  int threads_ = 0;  // 0: as many as the machine offers
  bool colour_output_;
  bool colour_error_;
};

}  // namespace fp4proof::cli
