#include "conformance/minimize/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "conformance/suite/reference_answers.h"

namespace fp4proof::minimize {

namespace {

using runners::SubjectReply;
using suite::CaseGroup;
using suite::CaseTable;

/// What a fault has in common with the same fault at another address or in the other run.
std::string_view fault_class(std::string_view fault) {
  constexpr auto details = std::to_array<std::string_view>({" at an access", " (second run)", ": "});
  for (const std::string_view detail : details) fault = fault.substr(0, fault.find(detail));
  return fault;
}

bool is_refusal(const Error& error) { return error.kind == ErrorKind::usage || error.kind == ErrorKind::data; }

Failure nondeterminism() {
  Failure failure;
  failure.finding.cause = verify::Cause::nondeterministic;
  failure.finding.kind = "two-runs";
  return failure;
}

std::size_t most_questions_of_call(const Question& question) {
  constexpr std::size_t most_questions = 512;
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  std::size_t bytes = 1;
  for (const auto& input : question.inputs) bytes += input.size();
  return std::clamp<std::size_t>(most_bytes / bytes, 1, most_questions);
}

}  // namespace

/// What the subject said, over all tries.
struct Judge::Reply {
  std::string fault;
  std::vector<std::vector<std::uint8_t>> outputs;
  std::vector<bool> differs;
  std::vector<bool> missing;
};

bool Failure::is_like(const Failure& other) const {
  if (fault.empty() != other.fault.empty()) return false;
  if (!fault.empty()) return fault_class(fault) == fault_class(other.fault);
  return finding.cause == other.finding.cause && finding.kind == other.finding.kind;
}

Failure failure_by_fault(std::string fault) {
  Failure failure;
  failure.fault = std::move(fault);
  return failure;
}

std::string to_text(const Failure& failure) {
  if (!failure.fault.empty()) return failure.fault;
  return fmt::format("{} {}", name_of(failure.finding.cause), failure.finding.kind);
}

/// What the subject says of the shape. Whether it is offered is asked once; faults are not remembered.
SubjectReply Judge::support_of(const CaseTable& table) {
  const CaseGroup& group = table.groups.front();
  const auto known = offers_.find(group_name(group.spec));
  if (known != offers_.end()) return {known->second ? SubjectReply::Kind::ok : SubjectReply::Kind::unsupported, {}};
  SubjectReply reply = subject_->supports(topic_.operation, *topic_.profile, group);
  const bool is_ok = reply.kind == SubjectReply::Kind::ok;
  if (is_ok || reply.kind == SubjectReply::Kind::unsupported) offers_[group_name(group.spec)] = is_ok;
  return reply;
}

Result<bool> Judge::offers(const Question& question) {
  const Result<CaseTable> table = table_of(topic_, std::span(&question, 1));
  if (!table) return is_refusal(table.error()) ? Result<bool>(false) : table.error();
  return support_of(*table).kind != SubjectReply::Kind::unsupported;
}

Result<Judge::Reply> Judge::ask_subject(const CaseTable& table) {
  const CaseGroup& group = table.groups.front();
  Reply reply;
  reply.differs.assign(group.size(), false);
  for (int i = 0; i == 0 || (i < options_.tries && !is_exhausted()); ++i) {
    ++calls_;
    questions_ += group.size();
    Result<runners::GroupAnswers> answers = subject_->answer(topic_.operation, *topic_.profile, group);
    if (options_.progress) options_.progress();
    if (!answers) return answers.error();
    if (!answers->fault.empty()) return Reply{std::move(answers->fault), {}, {}, {}};
    for (std::size_t c = 0; c < group.size(); ++c) reply.differs[c] = reply.differs[c] || answers->differs[c];
    reply.outputs = std::move(answers->outputs);
    reply.missing = std::move(answers->missing);
  }
  return reply;
}

std::optional<Failure> Judge::failure_of(const CaseTable& table, std::size_t index, const Reply& reply) const {
  if (index < reply.missing.size() && reply.missing[index]) return std::nullopt;
  if (reply.differs[index]) return nondeterminism();
  const CaseGroup& group = table.groups.front();
  std::vector<Bytes> actual;
  std::size_t t = 0;
  for (const suite::CaseTensor& tensor : group.tensors) {
    if (!tensor.expected) continue;
    actual.push_back(Bytes(reply.outputs[t++]).subspan(index * tensor.case_bytes(), tensor.case_bytes()));
  }
  const std::optional<verify::Finding> finding = classify_case(table, group, index, actual, options_.rules);
  if (!finding) return std::nullopt;
  Failure failure;
  failure.finding = *finding;
  return failure;
}

Result<Judge::Answers> Judge::ask(std::span<const Question> questions) {
  Answers answers;
  answers.failures.resize(questions.size());
  std::vector<Question> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!has_answer(topic_, questions[i])) continue;
    asked.push_back(questions[i]);
    places.push_back(i);
  }
  if (asked.empty() || is_exhausted()) return answers;
  Result<CaseTable> table = table_of(topic_, asked);
  if (!table) return is_refusal(table.error()) ? Result<Answers>(answers) : table.error();
  const SubjectReply support = support_of(*table);
  if (support.kind == SubjectReply::Kind::unsupported) return answers;
  if (support.kind != SubjectReply::Kind::ok) return Answers{support.why, {}};
  if (const Result<void> answered = suite::answer_by_reference(*table); !answered) {
    if (!is_refusal(answered.error())) return answered.error();
    if (questions.size() == 1) return answers;
    for (std::size_t i = 0; i < questions.size(); ++i) {  // one of them is refused: each for itself
      const Result<Answers> one = ask(questions.subspan(i, 1));
      if (!one) return one.error();
      if (!one->fault.empty()) return *one;
      answers.failures[i] = one->failures.front();
    }
    return answers;
  }
  const Result<Reply> reply = ask_subject(*table);
  if (!reply) return reply.error();
  if (!reply->fault.empty()) return Answers{reply->fault, {}};
  for (std::size_t i = 0; i < places.size(); ++i) answers.failures[places[i]] = failure_of(*table, i, *reply);
  return answers;
}

Result<JudgedCase> Judge::ask_alone(const Question& question) {
  Result<CaseTable> table = table_of(topic_, std::span(&question, 1));
  if (!table) return table.error();
  if (const Result<void> answered = suite::answer_by_reference(*table); !answered) return answered.error();
  const SubjectReply support = support_of(*table);
  JudgedCase judged{std::nullopt, std::move(*table), {}};
  if (support.kind == SubjectReply::Kind::unsupported) return judged;
  if (support.kind != SubjectReply::Kind::ok) {
    judged.failure = failure_by_fault(support.why);
    return judged;
  }
  Result<Reply> reply = ask_subject(judged.table);
  if (!reply) return reply.error();
  if (!reply->fault.empty()) {
    judged.failure = failure_by_fault(reply->fault);
    return judged;
  }
  judged.failure = failure_of(judged.table, 0, *reply);
  judged.actual = std::move(reply->outputs);
  return judged;
}

Result<JudgedCase> Judge::ask_fresh(const Question& question) {
  subject_->close();
  offers_.clear();
  return ask_alone(question);
}

Result<std::optional<std::size_t>> Judge::first_like_in_call(const Failure& target,
                                                             std::span<const Question> questions) {
  const Result<Answers> answers = ask(questions);
  if (!answers) return answers.error();
  if (!answers->fault.empty()) {
    if (questions.size() == 1) {
      return failure_by_fault(answers->fault).is_like(target) ? std::optional<std::size_t>(0) : std::nullopt;
    }
    const std::size_t half = questions.size() / 2;
    const auto left = first_like_in_call(target, questions.first(half));
    if (!left || *left) return left;
    const auto right = first_like_in_call(target, questions.subspan(half));
    if (!right || !*right) return right;
    return std::optional<std::size_t>(half + **right);
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!answers->failures[i] || !answers->failures[i]->is_like(target)) continue;
    if (questions.size() == 1) return std::optional<std::size_t>(0);
    const Result<Answers> alone = ask(questions.subspan(i, 1));
    if (!alone) return alone.error();
    if (alone->fault.empty() && alone->failures.front() && alone->failures.front()->is_like(target)) {
      return std::optional<std::size_t>(i);
    }
  }
  return std::optional<std::size_t>();
}

Result<std::optional<std::size_t>> Judge::first_like(const Failure& target, std::span<const Question> questions) {
  std::size_t begin = 0;
  while (begin < questions.size()) {
    const std::size_t most = std::min(questions.size() - begin, most_questions_of_call(questions[begin]));
    std::size_t count = 1;
    while (count < most && questions[begin + count].spec == questions[begin].spec) ++count;
    const auto found = first_like_in_call(target, questions.subspan(begin, count));
    if (!found) return found.error();
    if (*found) return std::optional<std::size_t>(begin + **found);
    begin += count;
  }
  return std::optional<std::size_t>();
}

Result<std::optional<std::size_t>> Judge::first_fault(std::span<const Question> questions) {
  const Result<Answers> answers = ask(questions);
  if (!answers) return answers.error();
  if (answers->fault.empty()) return std::optional<std::size_t>();
  if (questions.size() == 1) return std::optional<std::size_t>(0);
  const std::size_t half = questions.size() / 2;
  const auto left = first_fault(questions.first(half));
  if (!left || *left) return left;
  const auto right = first_fault(questions.subspan(half));
  if (!right || !*right) return right;
  return std::optional<std::size_t>(half + **right);
}

}  // namespace fp4proof::minimize
