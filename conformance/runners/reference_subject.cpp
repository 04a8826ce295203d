#include "conformance/runners/reference_subject.h"

#include "conformance/suite/reference_answers.h"

namespace fp4proof::runners {

SubjectReply ReferenceSubject::open() { return {SubjectReply::Kind::ok, {}}; }

SubjectReply ReferenceSubject::supports(suite::Operation, const Profile&, const suite::CaseGroup&) {
  return {SubjectReply::Kind::ok, {}};
}

Result<GroupAnswers> ReferenceSubject::answer(suite::Operation operation, const Profile& profile,
                                              const suite::CaseGroup& group) {
  suite::CaseTable table;
  table.operation = operation;
  table.profile = SharedProfile(SharedProfile(), &profile);
  table.groups.push_back(group);
  if (const Result<void> answered = suite::answer_by_reference(table); !answered) return answered.error();
  GroupAnswers answers;
  answers.differs.assign(group.size(), false);
  for (suite::CaseTensor& tensor : table.groups.front().tensors)
    if (tensor.expected) answers.outputs.push_back(std::move(tensor.bytes));
  return answers;
}

}  // namespace fp4proof::runners
