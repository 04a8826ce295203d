#pragma once
// A vendor's program as the verifier holds it: its two pipes and how it ends.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runners/guarded_process.h"
#include "conformance/runners/process_protocol.h"
#include "conformance/runners/subject.h"
#include "conformance/vectors/file_descriptor.h"

namespace fp4proof::runners {

/// Exchanges questions and answers under a time limit, both directions at once. For one thread.
class ProcessSession {
 public:
  ProcessSession(std::vector<std::string> arguments, std::chrono::milliseconds limit);

  bool is_started() const { return process_.is_started(); }

  /// False where the operating system refuses; the program may end right after.
  bool start();

  /// Writes the question and reads the answer into `reader`. Empty, or how the program was lost, a clause; it is ended
  /// then.
  std::string exchange(std::string_view question, ReplyReader& reader);

  /// Closes the program's input and waits for it to end in order.
  SessionEnd close();

  /// Kills it.
  void end();

 private:
  std::string stray_output();
  void write_some(std::string_view& rest);
  std::string read_some(ReplyReader& reader);
  std::string how_it_ended(const std::string& progress);

  std::vector<std::string> arguments_;
  std::chrono::milliseconds limit_;
  GuardedProcess process_;
  FileDescriptor input_;   // the program's standard input
  FileDescriptor output_;  // its standard output
  bool input_is_gone_ = false;
  bool has_answered_ = false;  // a question, since it was started
};

}  // namespace fp4proof::runners
