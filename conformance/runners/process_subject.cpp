#include "conformance/runners/process_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "conformance/runners/process_binary.h"
#include "conformance/runners/process_session.h"
#include "conformance/runners/process_text.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::runners {

namespace {

using suite::CaseGroup;
using suite::Operation;

constexpr std::uint32_t protocol_version = 1;

/// One run of a group: its outputs with the cases in the group's order, or what went wrong.
struct OneRun {
  std::string fault;
  std::vector<std::vector<std::uint8_t>> outputs;
};

/// Bytes of `outputs`, which lie in the order of `cases`, in the order of the group.
std::vector<std::uint8_t> in_group_order(const suite::CaseTensor& tensor, const std::vector<std::size_t>& cases,
                                         const std::vector<std::uint8_t>& answered) {
  const std::size_t bytes = tensor.case_bytes();
  std::vector<std::uint8_t> ordered(answered.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::copy_n(answered.begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes,
                ordered.begin() + static_cast<std::ptrdiff_t>(cases[i] * bytes));
  }
  return ordered;
}

std::vector<bool> differing_cases(const CaseGroup& group, const OneRun& first, const OneRun& second) {
  std::vector<bool> differs(group.size(), false);
  const std::vector<const suite::CaseTensor*> outputs = outputs_of(group);
  for (std::size_t t = 0; t < outputs.size(); ++t) {
    const std::size_t bytes = outputs[t]->case_bytes();
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto of_case = [&](const OneRun& run) { return Bytes(run.outputs[t]).subspan(i * bytes, bytes); };
      if (!std::ranges::equal(of_case(first), of_case(second))) differs[i] = true;
    }
  }
  return differs;
}

std::string one_line(std::string_view text) {
  const std::string quoted = quote(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

class ProcessSubject::Implementation {
 public:
  Implementation(ProcessCommand command, std::chrono::milliseconds limit)
      : framing_(command.framing),
        program_(std::filesystem::path(command.arguments.empty() ? "" : command.arguments.front()).filename()),
        session_(std::move(command.arguments), limit) {}

  SubjectReply open() {
    if (session_.is_started()) return {SubjectReply::Kind::ok, {}};
    if (!session_.start()) return {SubjectReply::Kind::lost, "could not be given a process"};
    const bool is_text = framing_ == ProcessFraming::text;
    const std::unique_ptr<ReplyReader> reader = is_text ? std::unique_ptr<ReplyReader>(new TextDescriptionReader())
                                                        : std::unique_ptr<ReplyReader>(new BinaryReader());
    const std::string lost = session_.exchange(is_text ? text_describe() : binary_describe(), *reader);
    if (!lost.empty()) return {SubjectReply::Kind::lost, "could not be started: it " + lost};
    const ProcessReply& reply = reader->reply();
    if (reply.kind == ProcessReply::Kind::error) {
      session_.end();
      return {SubjectReply::Kind::lost, "could not be started: " + quote(reply.text)};
    }
    description_ = {reply.name.empty() ? program_ : one_line(reply.name), one_line(reply.version),
                    one_line(reply.description), protocol_version};
    return {SubjectReply::Kind::ok, {}};
  }

  const BackendDescription& description() const { return description_; }

  SubjectReply supports(Operation operation, const Profile& profile, const CaseGroup& group) {
    SubjectReply reply;
    ask({operation, &profile, &group, {}}, reply);
    if (reply.kind == SubjectReply::Kind::refused || reply.kind == SubjectReply::Kind::lost) {
      reply.why = "asked whether it offers the group, the program " + reply.why;
    }
    return reply;
  }

  Result<GroupAnswers> answer(Operation operation, const Profile& profile, const CaseGroup& group) {
    std::vector<std::size_t> cases(group.size());
    std::iota(cases.begin(), cases.end(), std::size_t{0});
    OneRun first = run({operation, &profile, &group, cases});
    if (!first.fault.empty()) return GroupAnswers{std::move(first.fault), {}, {}};
    std::ranges::reverse(cases);
    const OneRun second = run({operation, &profile, &group, cases});
    if (!second.fault.empty()) return GroupAnswers{second.fault + " (second run)", {}, {}};
    std::vector<bool> differs = differing_cases(group, first, second);
    return GroupAnswers{{}, std::move(first.outputs), std::move(differs)};
  }

  SessionEnd close() { return session_.close(); }

 private:
  ProcessReply ask(const ProcessQuestion& question, SubjectReply& outcome) {
    outcome = open();
    if (outcome.kind != SubjectReply::Kind::ok) return {};
    const bool is_text = framing_ == ProcessFraming::text;
    const std::unique_ptr<ReplyReader> reader = is_text ? std::unique_ptr<ReplyReader>(new TextCaseReader(question))
                                                        : std::unique_ptr<ReplyReader>(new BinaryReader(question));
    const std::string lost = session_.exchange(is_text ? text_question(question) : binary_question(question), *reader);
    ProcessReply& reply = reader->reply();
    if (!lost.empty()) {
      outcome = {SubjectReply::Kind::lost, lost};
    } else if (reply.kind == ProcessReply::Kind::unsupported) {
      outcome = {SubjectReply::Kind::unsupported, {}};
    } else if (reply.kind == ProcessReply::Kind::error) {
      outcome = {SubjectReply::Kind::refused, "answered with the error " + quote(reply.text)};
    }
    return std::move(reply);
  }

  OneRun run(const ProcessQuestion& question) {
    SubjectReply outcome;
    const ProcessReply reply = ask(question, outcome);
    if (outcome.kind == SubjectReply::Kind::unsupported) {
      return {"the program answered unsupported where it offered the group", {}};
    }
    if (outcome.kind != SubjectReply::Kind::ok) return {"the program " + outcome.why, {}};
    const std::vector<const suite::CaseTensor*> outputs = outputs_of(*question.group);
    OneRun run;
    for (std::size_t t = 0; t < outputs.size(); ++t)
      run.outputs.push_back(in_group_order(*outputs[t], question.cases, reply.outputs[t]));
    return run;
  }

  ProcessFraming framing_;
  std::string program_;
  ProcessSession session_;
  BackendDescription description_;
};

ProcessSubject::ProcessSubject(ProcessCommand command, std::chrono::milliseconds limit)
    : implementation_(std::make_unique<Implementation>(std::move(command), limit)) {}

ProcessSubject::~ProcessSubject() = default;

SubjectReply ProcessSubject::open() { return implementation_->open(); }

const BackendDescription& ProcessSubject::description() const { return implementation_->description(); }

SubjectReply ProcessSubject::supports(Operation operation, const Profile& profile, const CaseGroup& group) {
  return implementation_->supports(operation, profile, group);
}

Result<GroupAnswers> ProcessSubject::answer(Operation operation, const Profile& profile, const CaseGroup& group) {
  return implementation_->answer(operation, profile, group);
}

SessionEnd ProcessSubject::close() { return implementation_->close(); }

}  // namespace fp4proof::runners
