#pragma once
// A shared library as a subject.

#include <chrono>
#include <filesystem>

#include "conformance/runners/plugin_session.h"
#include "conformance/runners/subject.h"

namespace fp4proof::runners {

/// Loads the library in a process of its own. A group is run twice: tensors against the unmapped page behind them, then
/// against the one in front. Outputs are filled with the poison byte before each run, and what lies beside them on
/// their pages must keep it. Expected outputs stay in this process.
class PluginSubject : public Subject {
 public:
  /// `limit` for each question.
  PluginSubject(const std::filesystem::path& library, std::chrono::milliseconds limit);

  SubjectReply open() override;
  const BackendDescription& description() const override { return session_.description(); }
  SubjectReply supports(suite::Operation operation, const Profile& profile, const suite::CaseGroup& group) override;
  Result<GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                              const suite::CaseGroup& group) override;
  SessionEnd close() override;

 private:
  PluginSession session_;
};

}  // namespace fp4proof::runners
