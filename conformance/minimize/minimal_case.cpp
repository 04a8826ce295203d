#include "conformance/minimize/minimal_case.h"

#include <utility>

#include "conformance/suite/shared_rules.h"

namespace fp4proof::minimize {

Result<MinimalCase> minimize_found(Judge& judge, const FoundCase& found) {
  Result<Minimal> first = minimize_case(judge, found.failure, found.question);
  if (!first) return first.error();
  if (first->ending != Ending::not_reproduced) return describe(found, *std::move(first), judge);
  for (const FoundCase& other : found.others) {
    Result<Minimal> minimal = minimize_case(judge, other.failure, other.question);
    if (!minimal) return minimal.error();
    if (minimal->ending != Ending::not_reproduced) return describe(other, *std::move(minimal), judge);
  }
  return describe(found, *std::move(first), judge);
}

Result<MinimalCase> describe(FoundCase found, Minimal minimal, const Judge& judge) {
  MinimalCase one{std::move(found), std::move(minimal), {}, 0, judge.calls(), judge.questions()};
  Result<AnswerStory> story = answer_story(one.found.topic, one.minimal);
  if (!story) return story.error();
  one.story = *std::move(story);
  suite::CaseTable kept = one.minimal.judged.table;
  kept.profile =
      SharedProfile(one.found.topic.profile, &suite::representative(kept.operation, *one.found.topic.profile));
  const Result<std::uint64_t> id = suite::case_id(kept, kept.groups.front(), 0);
  if (!id) return id.error();
  one.case_id = *id;
  return one;
}

}  // namespace fp4proof::minimize
