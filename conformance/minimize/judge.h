#pragma once
// Asking the subject and the reference about candidates.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/minimize/question.h"
#include "conformance/runners/subject.h"
#include "conformance/verify/classify.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// How a case fails: a wrong answer, two answers that differ (Cause::nondeterministic), or a fault of the subject.
struct Failure {
  verify::Finding finding;  ///< nothing of it holds where there is a fault
  std::string fault;        ///< crash, hang, refusal: what the subject did, else empty

  /// Same cause and kind; of faults the same event, wherever in memory it happened.
  bool is_like(const Failure& other) const;
};

Failure failure_by_fault(std::string fault);

/// "ELEMENT tie", or the fault.
std::string to_text(const Failure& failure);

/// A question, its right answer and the subject's.
struct JudgedCase {
  std::optional<Failure> failure;
  suite::CaseTable table;                         ///< the question as its only case, expected outputs filled
  std::vector<std::vector<std::uint8_t>> actual;  ///< one for each expected tensor; empty under a fault
};

struct JudgeOptions {
  verify::CompareRules rules;
  std::size_t most_calls = 2000;   ///< calls to the subject; beyond it every candidate counts as one that does not fail
  int tries = 1;                   ///< how often a call is repeated to see two answers that differ
  std::function<void()> progress;  ///< called after each call
};

/// Asks one subject, which is open, about one topic. Counts what it asks.
class Judge {
 public:
  Judge(runners::Subject& subject, Topic topic, JudgeOptions options)
      : subject_(&subject), topic_(std::move(topic)), options_(std::move(options)) {}

  const Topic& topic() const { return topic_; }
  void set_tries(int tries) { options_.tries = tries; }

  /// Whether the subject offers the shape; true as well where it fails to say.
  Result<bool> offers(const Question& question);

  /// What one call with all the questions, which have one shape, brings: how each fails, or the fault of the call.
  struct Answers {
    std::string fault;
    std::vector<std::optional<Failure>> failures;  ///< one for each question; empty under a fault
  };
  /// A shape that the subject does not offer, or a question without an answer, does not fail.
  Result<Answers> ask(std::span<const Question> questions);

  /// One question in a call of its own. `usage` or `data` error where the reference refuses it.
  Result<JudgedCase> ask_alone(const Question& question);

  /// As ask_alone(), after the subject was closed: it starts anew and was asked nothing else before.
  Result<JudgedCase> ask_fresh(const Question& question);

  /// The first question that fails as `target` does, in a call with others and in a call of its own. Questions of one
  /// shape that follow each other are asked in one call. Where a call ends in a fault, its halves are asked.
  Result<std::optional<std::size_t>> first_like(const Failure& target, std::span<const Question> questions);

  /// The first question that brings the subject down when it is asked alone, looked for by halving.
  Result<std::optional<std::size_t>> first_fault(std::span<const Question> questions);

  std::size_t calls() const { return calls_; }
  std::size_t questions() const { return questions_; }
  bool is_exhausted() const { return calls_ >= options_.most_calls; }

 private:
  struct Reply;
  Result<Reply> ask_subject(const suite::CaseTable& table);
  runners::SubjectReply support_of(const suite::CaseTable& table);
  std::optional<Failure> failure_of(const suite::CaseTable& table, std::size_t index, const Reply& reply) const;
  Result<std::optional<std::size_t>> first_like_in_call(const Failure& target, std::span<const Question> questions);

  runners::Subject* subject_;
  Topic topic_;
  JudgeOptions options_;
  std::map<std::string, bool> offers_;  ///< by group name
  std::size_t calls_ = 0;
  std::size_t questions_ = 0;
};

}  // namespace fp4proof::minimize
