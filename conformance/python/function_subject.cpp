#include "conformance/python/function_subject.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "conformance/python/arguments.h"
#include "conformance/runners/plugin_call.h"

namespace fp4proof::python {

namespace nb = nanobind;

using runners::GroupAnswers;
using runners::SubjectReply;
using suite::CaseGroup;
using suite::CaseTensor;

namespace {

/// Rows and columns of a block, corrections included.
std::vector<int> block_of(const Profile& profile, const suite::GroupSpec& spec) {
  const Result<CorrectionStack> stack = suite::stack_of(spec);
  const BlockShape block = stack ? stack->effective(profile).block : profile.block;
  return {block.rows, block.cols};
}

std::string question_of(suite::Operation operation, const Profile& profile, const CaseGroup& group) {
  nlohmann::json question = runners::call_body(operation, profile, group);
  question["group"] = suite::group_name(group.spec);
  question["block"] = block_of(profile, group.spec);
  return question.dump();
}

nb::list fresh_inputs(const CaseGroup& group) {
  nb::list inputs;
  for (const CaseTensor& tensor : group.tensors) {
    if (tensor.expected) continue;
    inputs.append(array_of(tensor.bytes, {static_cast<std::int64_t>(tensor.bytes.size())}));
  }
  return inputs;
}

std::vector<std::size_t> output_sizes(const CaseGroup& group) {
  std::vector<std::size_t> sizes;
  for (const CaseTensor& tensor : group.tensors)
    if (tensor.expected) sizes.push_back(tensor.case_bytes());
  return sizes;
}

std::vector<bool> differing_cases(const CaseGroup& group, const std::vector<std::vector<std::uint8_t>>& first,
                                  const std::vector<std::vector<std::uint8_t>>& second) {
  const std::vector<std::size_t> sizes = output_sizes(group);
  std::vector<bool> differs(group.size(), false);
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Bytes a = Bytes(first[t]).subspan(i * sizes[t], sizes[t]);
      const Bytes b = Bytes(second[t]).subspan(i * sizes[t], sizes[t]);
      if (!std::ranges::equal(a, b)) differs[i] = true;
    }
  }
  return differs;
}

constexpr const char* interrupted = "interrupted";

}  // namespace

FunctionSubject::FunctionSubject(nb::object asking, runners::BackendDescription description)
    : asking_(std::move(asking)), description_(std::move(description)) {}

std::optional<std::string> FunctionSubject::fault_of(nb::python_error& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) {
    interruption_.emplace(std::move(error));
    return std::nullopt;
  }
  return nb::cast<std::string>(nb::str(error.value()));
}

SubjectReply FunctionSubject::supports(suite::Operation operation, const Profile& profile, const CaseGroup& group) {
  const std::string question = question_of(operation, profile, group);
  const nb::gil_scoped_acquire acquired;
  try {
    const bool offered = nb::cast<bool>(asking_.attr("supports")(question));
    return {offered ? SubjectReply::Kind::ok : SubjectReply::Kind::unsupported, {}};
  } catch (nb::python_error& error) {
    return {SubjectReply::Kind::refused, fault_of(error).value_or(interrupted)};
  }
}

Result<FunctionSubject::OneRun> FunctionSubject::run_once(const std::string& question, const CaseGroup& group) {
  const nb::gil_scoped_acquire acquired;
  OneRun run;
  try {
    const nb::object answer = asking_.attr("answer")(question, fresh_inputs(group));
    for (const ByteArray& output : nb::cast<std::vector<ByteArray>>(answer)) {
      run.outputs.emplace_back(output.data(), output.data() + output.size());
    }
  } catch (nb::python_error& error) {
    std::optional<std::string> fault = fault_of(error);
    if (!fault) return Error{ErrorKind::internal, interrupted};
    run.fault = *std::move(fault);
    return run;
  } catch (const nb::cast_error&) {
    return Error{ErrorKind::internal, "the Python half of the verifier returned no list of byte arrays"};
  }
  const std::vector<std::size_t> sizes = output_sizes(group);
  const bool fits = std::ranges::equal(
      sizes, run.outputs, [&](std::size_t size, const auto& output) { return size * group.size() == output.size(); });
  if (!fits) return Error{ErrorKind::internal, "the Python half of the verifier returned outputs of other sizes"};
  return run;
}

Result<GroupAnswers> FunctionSubject::answer(suite::Operation operation, const Profile& profile,
                                             const CaseGroup& group) {
  if (interruption_) return Error{ErrorKind::internal, interrupted};
  const std::string question = question_of(operation, profile, group);
  Result<OneRun> first = run_once(question, group);
  if (!first) return first.error();
  if (!first->fault.empty()) return GroupAnswers{std::move(first->fault), {}, {}};
  const Result<OneRun> second = run_once(question, group);
  if (!second) return second.error();
  if (!second->fault.empty()) return GroupAnswers{second->fault + " (second run)", {}, {}};
  std::vector<bool> differs = differing_cases(group, first->outputs, second->outputs);
  return GroupAnswers{{}, std::move(first->outputs), std::move(differs)};
}

void FunctionSubject::rethrow_interruption() {
  if (interruption_) throw nb::python_error(*std::move(interruption_));
}

}  // namespace fp4proof::python
