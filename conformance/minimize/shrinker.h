#pragma once
// The steps of minimize_case(). Internal.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "conformance/minimize/atoms.h"
#include "conformance/minimize/delta_debugging.h"
#include "conformance/minimize/judge.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// The smallest question so far, which fails as the target does.
class Shrinker {
 public:
  Shrinker(Judge& judge, Failure target, Question start)
      : judge_(judge), target_(std::move(target)), question_(std::move(start)) {}

  const Question& question() const { return question_; }
  const Topic& topic() const { return judge_.topic(); }

  Result<void> shrink_shape();
  Result<void> shrink_elements();
  Result<void> move_to_front();
  Result<void> simplify_values();

  /// The number of simplifications that were taken so far.
  std::size_t steps() const { return steps_; }

  /// Takes the first candidate that fails as the target does; whether there was one.
  Result<bool> take_first(std::span<const Question> candidates);

  Result<std::vector<Atom>> atoms() const { return atoms_of(topic(), question_.spec); }

  /// The profile that codes elements.
  Result<Profile> effective_profile() const;

 private:
  Result<bool> take_single_block();
  Result<void> shrink_parts();
  Result<bool> take_few_elements(const std::vector<Atom>& atoms, const Indices& nonzero);
  Question with_only(const std::vector<Atom>& atoms, const Indices& nonzero, const Indices& kept) const;
  Result<bool> simplify_exponents();
  Result<void> simplify_rest(const Profile& profile, const std::vector<Atom>& atoms);
  Result<bool> simplify_atom(const Profile& profile, const Atom& atom);

  Judge& judge_;
  Failure target_;
  Question question_;
  std::size_t steps_ = 0;
};

/// Candidates with two elements: the one at fault under the scale of one plain larger element, at a few places of the
/// block. Only for a question of words; empty where there is no element to blame.
Result<std::vector<Question>> two_element_forms(const Topic& topic, const Question& question,
                                                const verify::Finding& finding);

}  // namespace fp4proof::minimize
