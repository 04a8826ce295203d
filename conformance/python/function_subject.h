#pragma once
// A Python function as a subject.

#include <nanobind/nanobind.h>

#include <optional>

#include "conformance/runners/subject.h"

namespace fp4proof::python {

/// Asks a Python object with two methods (conformance/python/fp4proof/_asking.py makes it):
///     supports(question) -> bool
///     answer(question, inputs) -> list of contiguous uint8 arrays, one for each output, as many bytes as it has
/// `question` is JSON: every field of fp4proof_call in backend.h, and `group`. `inputs` are fresh uint8 arrays.
/// An exception of either is a fault of the function; its text goes into the report. A KeyboardInterrupt ends the run.
/// The caller holds no GIL: it is taken for each question.
class FunctionSubject : public runners::Subject {
 public:
  FunctionSubject(nanobind::object asking, runners::BackendDescription description);

  runners::SubjectReply open() override { return {runners::SubjectReply::Kind::ok, {}}; }
  const runners::BackendDescription& description() const override { return description_; }
  runners::SubjectReply supports(suite::Operation operation, const Profile& profile,
                                 const suite::CaseGroup& group) override;
  Result<runners::GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                                       const suite::CaseGroup& group) override;
  runners::SessionEnd close() override { return {}; }

  /// Throws the interruption that ended the run, if one did. The caller holds the GIL.
  void rethrow_interruption();

 private:
  using Outputs = std::vector<std::vector<std::uint8_t>>;
  struct OneRun {
    std::string fault;
    Outputs outputs;
  };

  Result<OneRun> run_once(const std::string& question, const suite::CaseGroup& group);
  std::optional<std::string> fault_of(nanobind::python_error& error);

  nanobind::object asking_;
  runners::BackendDescription description_;
  std::optional<nanobind::python_error> interruption_;
};

}  // namespace fp4proof::python
