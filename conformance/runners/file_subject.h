#pragma once
// Answers in a safetensors file as a subject: simulators, FPGAs, and laboratories without a network.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/runners/subject.h"
#include "conformance/suite/vector_set.h"
#include "conformance/vectors/safetensors.h"
#include "formats/result.h"

namespace fp4proof::runners {

/// Each expected tensor is looked up in the file under its name in the set. It must have the dtype width and the shape
/// of the set, but may hold fewer cases: then either its first ones in order, or those that a tensor GROUP/case_id U64
/// lists. `usage` errors of answer(): tensors of another shape or dtype, case ids that the set does not have.
/// There is one answer, so nothing can be nondeterministic.
class FileSubject : public Subject {
 public:
  /// `set` must outlive it.
  FileSubject(SafetensorsFile answers, const suite::VectorSet& set) : answers_(std::move(answers)), set_(set) {}

  SubjectReply open() override { return {SubjectReply::Kind::ok, {}}; }
  const BackendDescription& description() const override { return description_; }
  SubjectReply supports(suite::Operation, const Profile&, const suite::CaseGroup&) override {
    return {SubjectReply::Kind::ok, {}};
  }
  Result<GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                              const suite::CaseGroup& group) override;
  SessionEnd close() override { return {}; }

 private:
  /// A group as the file has it: rows[i] is the place of case i of the whole group, nothing where it is missing.
  struct Layout {
    std::string prefix;  ///< OPERATION/PROFILE/GROUP/
    std::vector<std::optional<std::size_t>> rows;
  };

  Result<void> lay_out(const suite::TableEntry& entry, const suite::CaseGroup& group);
  Result<std::vector<std::optional<std::size_t>>> listed_rows(const suite::TableEntry& entry, std::size_t cases,
                                                              const TensorEntry& listed) const;
  Result<Bytes> read_tensor(const suite::CaseTensor& tensor, GroupAnswers& answers) const;

  SafetensorsFile answers_;
  const suite::VectorSet& set_;
  Layout layout_;  // of the group that was asked last
  BackendDescription description_{"answers", "", "a file of answers", 0};
};

}  // namespace fp4proof::runners
