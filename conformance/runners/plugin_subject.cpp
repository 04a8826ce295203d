#include "conformance/runners/plugin_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/runners/message.h"
#include "conformance/runners/plugin_call.h"
#include "conformance/runners/process_protocol.h"
#include "conformance/runners/shared_tensors.h"

namespace fp4proof::runners {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

struct OneRun {
  std::string fault;
  std::vector<std::vector<std::uint8_t>> outputs;
};

Result<TensorFile> input_file(const CaseGroup& group, Placement placement) {
  std::vector<Bytes> tensors;
  for (const CaseTensor& tensor : group.tensors)
    if (!tensor.expected) tensors.emplace_back(tensor.bytes);
  return TensorFile::of_inputs(tensors, placement);
}

Result<TensorFile> output_file(const CaseGroup& group, Placement placement) {
  std::vector<std::size_t> sizes;
  for (const CaseTensor* tensor : outputs_of(group)) sizes.push_back(group.size() * tensor->case_bytes());
  return TensorFile::of_outputs(sizes, placement);
}

std::string fault_of(const PluginAnswer& answer) {
  if (answer.kind == PluginAnswer::Kind::unsupported) return "run() returned UNSUPPORTED where supports() said OK";
  return answer.kind == PluginAnswer::Kind::refused ? fmt::format("run() {}", answer.why)
                                                    : fmt::format("in run() the plug-in {}", answer.why);
}

Result<OneRun> run_once(PluginSession& session, nlohmann::json call, const CaseGroup& group, Placement placement) {
  const Result<TensorFile> inputs = input_file(group, placement);
  if (!inputs) return inputs.error();
  const Result<TensorFile> outputs = output_file(group, placement);
  if (!outputs) return outputs.error();
  add_places(call, *inputs, *outputs);
  const PluginAnswer answer = session.ask(ask::run, call, std::array{inputs->descriptor(), outputs->descriptor()});
  if (answer.kind != PluginAnswer::Kind::ok) return OneRun{fault_of(answer), {}};
  if (const std::string misuse = text_field(answer.body, "misuse"); !misuse.empty()) {
    return OneRun{fmt::format("run() wrote {}", misuse), {}};
  }
  const Result<std::vector<std::uint8_t>> snapshot = outputs->snapshot();
  if (!snapshot) return snapshot.error();
  const std::vector<const CaseTensor*> tensors = outputs_of(group);
  OneRun run;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorPlace& place = outputs->places()[i];
    const std::string beside = writes_beside(*snapshot, place);
    if (!beside.empty())
      return OneRun{fmt::format("run() wrote outside of output {}: {}", tensors[i]->name, beside), {}};
    const auto begin = snapshot->begin() + static_cast<std::ptrdiff_t>(place.offset);
    run.outputs.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(place.bytes));
  }
  return run;
}

std::vector<bool> differing_cases(const CaseGroup& group, const OneRun& first, const OneRun& second) {
  std::vector<bool> differs(group.size(), false);
  const std::vector<const CaseTensor*> tensors = outputs_of(group);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::size_t bytes = tensors[t]->case_bytes();
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Bytes a = Bytes(first.outputs[t]).subspan(i * bytes, bytes);
      const Bytes b = Bytes(second.outputs[t]).subspan(i * bytes, bytes);
      if (!std::ranges::equal(a, b)) differs[i] = true;
    }
  }
  return differs;
}

}  // namespace

PluginSubject::PluginSubject(const std::filesystem::path& library, std::chrono::milliseconds limit)
    : session_(std::filesystem::absolute(library), limit) {}

SubjectReply PluginSubject::open() { return session_.open(); }

SubjectReply PluginSubject::supports(suite::Operation operation, const Profile& profile, const CaseGroup& group) {
  SubjectReply reply = session_.ask(ask::supports, call_body(operation, profile, group), {});
  if (reply.kind == SubjectReply::Kind::refused) reply.why = fmt::format("supports() {}", reply.why);
  if (reply.kind == SubjectReply::Kind::lost) reply.why = fmt::format("in supports() the plug-in {}", reply.why);
  return reply;
}

Result<GroupAnswers> PluginSubject::answer(suite::Operation operation, const Profile& profile, const CaseGroup& group) {
  const nlohmann::json call = call_body(operation, profile, group);
  Result<OneRun> first = run_once(session_, call, group, Placement::end);
  if (!first) return first.error();
  if (!first->fault.empty()) return GroupAnswers{std::move(first->fault), {}, {}};
  const Result<OneRun> second = run_once(session_, call, group, Placement::start);
  if (!second) return second.error();
  if (!second->fault.empty()) return GroupAnswers{second->fault + " (second run)", {}, {}};
  std::vector<bool> differs = differing_cases(group, *first, *second);
  return GroupAnswers{{}, std::move(first->outputs), std::move(differs)};
}

SessionEnd PluginSubject::close() { return session_.close(); }

}  // namespace fp4proof::runners
