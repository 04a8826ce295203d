#pragma once
// The CPU reference as a subject, in this process: it checks a set, and tests check the runner.

#include "conformance/runners/subject.h"

namespace fp4proof::runners {

class ReferenceSubject : public Subject {
 public:
  SubjectReply open() override;
  const BackendDescription& description() const override { return description_; }
  SubjectReply supports(suite::Operation operation, const Profile& profile, const suite::CaseGroup& group) override;
  Result<GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                              const suite::CaseGroup& group) override;
  SessionEnd close() override { return {}; }

 private:
  BackendDescription description_{"fp4proof", "", "the CPU reference", 0};
};

}  // namespace fp4proof::runners
