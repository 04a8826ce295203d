#pragma once
// A vendor's program that answers questions on its standard input and output.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "conformance/runners/subject.h"

namespace fp4proof::runners {

/// How questions and answers are written; docs/plug-ins.md has both forms.
enum class ProcessFraming : std::uint8_t {
  text,    ///< lines with hexadecimal words, for people and small programs
  binary,  ///< a JSON header and raw little-endian bytes, for speed
};

struct ProcessCommand {
  std::vector<std::string> arguments;  ///< the program (searched in PATH without a slash) and what follows it
  ProcessFraming framing = ProcessFraming::text;
};

/// Starts the program once, in a session of its own under a guardian, and again for the next question after it was
/// lost. A group is asked twice, the second time with its cases in reverse order. Everything that is no whole answer to
/// the question is a fault: truncation, lines too many, wrong counts, words that are not hexadecimal, output that was
/// not asked for, an exit, silence beyond the time limit. Both directions are served at once, so that neither side
/// waits for the other for ever.
class ProcessSubject : public Subject {
 public:
  /// `limit` for each question, the start of the program included.
  ProcessSubject(ProcessCommand command, std::chrono::milliseconds limit);
  ~ProcessSubject() override;

  SubjectReply open() override;
  const BackendDescription& description() const override;
  SubjectReply supports(suite::Operation operation, const Profile& profile, const suite::CaseGroup& group) override;
  Result<GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                              const suite::CaseGroup& group) override;
  SessionEnd close() override;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace fp4proof::runners
