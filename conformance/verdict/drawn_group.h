#pragma once
// The cases of a group whose elements are drawn, and what each element may become.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/suite/case_group.h"
#include "formats/result.h"
#include "formats/spec.h"

namespace fp4proof::verdict {

/// An element, at its place among the codes of a group.
struct DrawnElement {
  std::uint8_t low = 0;      ///< the code toward zero
  std::uint8_t high = 0;     ///< the code away from zero; equal to `low` where the fraction is below 2^-32
  double probability = 0.0;  ///< of `high`: the fraction, a multiple of 2^-32

  bool is_drawn() const { return low != high; }
};

class DrawnGroup {
 public:
  /// Takes the first `cases` cases of a group of quantize. The probabilities come from the CPU reference, by bisection
  /// over the random word.
  static Result<DrawnGroup> prepare(const Profile& profile, const suite::CaseGroup& group, std::size_t cases);

  /// Puts Philox words number `first` and following into the question. Returns how many there are.
  std::uint64_t draw_words(std::uint64_t first);

  const suite::CaseGroup& question() const { return group_; }
  const std::vector<DrawnElement>& elements() const { return elements_; }
  std::size_t elements_per_case() const { return elements_.size() / group_.size(); }

  /// The codes of an answer, one an element. `outputs`: one for each expected tensor.
  std::vector<std::uint8_t> codes_of(const std::vector<std::vector<std::uint8_t>>& outputs) const;

  /// Whether everything but the codes of a case is as it must be.
  bool has_right_scales(const std::vector<std::vector<std::uint8_t>>& outputs, std::size_t index) const;

 private:
  DrawnGroup(const Profile& profile, suite::CaseGroup group) : profile_(profile), group_(std::move(group)) {}

  Result<std::vector<std::uint8_t>> codes_under(const std::vector<std::uint32_t>& words);
  Result<void> find_probabilities();
  /// The place of each code's random word; nothing for padding.
  std::vector<std::optional<std::size_t>> word_places() const;

  Profile profile_;  ///< with 32 random bits
  suite::CaseGroup group_;
  std::vector<DrawnElement> elements_;
};

}  // namespace fp4proof::verdict
