#include "conformance/minimize/minimize_case.h"

#include <utility>

#include "conformance/minimize/atoms.h"
#include "conformance/minimize/shrinker.h"

namespace fp4proof::minimize {

namespace {

constexpr int tries_of_nondeterminism = 3;
constexpr std::size_t few_elements = 2;
constexpr int most_rounds = 6;

Result<std::size_t> nonzero_of(const Topic& topic, const Question& question) {
  const Result<std::vector<Atom>> atoms = atoms_of(topic, question.spec);
  if (!atoms) return atoms.error();
  return nonzero_elements(question, *atoms);
}

/// One try with two elements where the question has more.
Result<void> take_two_elements(Judge& judge, Shrinker& shrinker) {
  const Result<std::size_t> nonzero = nonzero_of(judge.topic(), shrinker.question());
  if (!nonzero) return nonzero.error();
  if (*nonzero <= few_elements) return {};
  const Result<JudgedCase> judged = judge.ask_alone(shrinker.question());
  if (!judged) return judged.error();
  if (!judged->failure || !judged->failure->fault.empty()) return {};
  const auto forms = two_element_forms(judge.topic(), shrinker.question(), judged->failure->finding);
  if (!forms) return forms.error();
  const Result<bool> taken = shrinker.take_first(*forms);
  return taken ? Result<void>() : taken.error();
}

Result<void> shrink(Judge& judge, Shrinker& shrinker) {
  if (const Result<void> done = shrinker.shrink_shape(); !done) return done;
  for (int round = 0; round < most_rounds && !judge.is_exhausted(); ++round) {
    const std::size_t before = shrinker.steps();
    if (const Result<void> done = shrinker.shrink_elements(); !done) return done;
    if (const Result<void> done = take_two_elements(judge, shrinker); !done) return done;
    if (const Result<void> done = shrinker.move_to_front(); !done) return done;
    if (const Result<void> done = shrinker.simplify_values(); !done) return done;
    if (shrinker.steps() == before) break;
  }
  return {};
}

/// Fills in what a subject that starts anew makes of the question.
Result<void> judge_fresh(Judge& judge, Minimal& minimal) {
  Result<JudgedCase> judged = judge.ask_fresh(minimal.question);
  if (!judged) return judged.error();
  minimal.fails_fresh = judged->failure && judged->failure->is_like(minimal.failure);
  if (minimal.fails_fresh) minimal.failure = *judged->failure;
  minimal.judged = *std::move(judged);
  return {};
}

}  // namespace

Result<Minimal> minimize_case(Judge& judge, const Failure& target, const Question& start) {
  const bool is_unsteady = target.fault.empty() && target.finding.cause == verify::Cause::nondeterministic;
  judge.set_tries(is_unsteady ? tries_of_nondeterminism : 1);
  const Result<std::size_t> before = nonzero_of(judge.topic(), start);
  if (!before) return before.error();
  Minimal minimal{Ending::minimal, target, false, start, {}, *before, *before};
  const std::vector<Question> alone = {start};
  const auto reproduced = judge.first_like(target, alone);
  if (!reproduced) return reproduced.error();
  Shrinker shrinker(judge, target, start);
  if (*reproduced) {
    if (const Result<void> done = shrink(judge, shrinker); !done) return done.error();
    minimal.question = shrinker.question();
  }
  if (const Result<void> done = judge_fresh(judge, minimal); !done) return done.error();
  if (!*reproduced) {
    minimal.ending = Ending::not_reproduced;
  } else if (!minimal.fails_fresh) {
    minimal.ending = Ending::stateful;
    minimal.question = start;
    if (const Result<void> done = judge_fresh(judge, minimal); !done) return done.error();
  } else if (judge.is_exhausted()) {
    minimal.ending = Ending::limit;
  }
  const Result<std::size_t> nonzero = nonzero_of(judge.topic(), minimal.question);
  if (!nonzero) return nonzero.error();
  minimal.nonzero = *nonzero;
  return minimal;
}

}  // namespace fp4proof::minimize
