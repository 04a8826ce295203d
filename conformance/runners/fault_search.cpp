#include "conformance/runners/fault_search.h"

#include <fmt/format.h>

#include <optional>

namespace fp4proof::runners {

namespace {

using suite::CaseGroup;
using Clock = std::chrono::steady_clock;

/// Cases [first, first + count) of a group.
CaseGroup part_of(const CaseGroup& group, std::size_t first, std::size_t count) {
  CaseGroup part;
  part.spec = group.spec;
  const auto cut = [&](const auto& whole, std::size_t size) {
    if (whole.empty()) return whole;
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first * size);
    return std::remove_cvref_t<decltype(whole)>(begin, begin + static_cast<std::ptrdiff_t>(count * size));
  };
  part.ids = cut(group.ids, 1);
  part.classes = cut(group.classes, 1);
  for (const suite::CaseTensor& tensor : group.tensors) {
    part.tensors.push_back(
        {tensor.name, tensor.dtype, tensor.case_shape, tensor.expected, cut(tensor.bytes, tensor.case_bytes())});
  }
  return part;
}

class Search {
 public:
  Search(Subject& subject, suite::Operation operation, const Profile& profile, const CaseGroup& group,
         const FaultSearchLimits& limits)
      : subject_(subject), operation_(operation), profile_(profile), group_(group), limits_(limits) {}

  Result<std::string> run() {
    if (group_.size() < 2) return std::string();
    const std::size_t last = group_.size() - 1;
    if (fails(0, 1)) {
      const bool is_any = fails(last, 1);
      return conclude(is_any
                          ? fmt::format("; cases {} and {} fail alone too, so the cases hardly matter", id(0), id(last))
                          : fmt::format("; case {} fails alone", id(0)));
    }
    return halve();
  }

 private:
  Result<std::string> halve() {
    std::size_t first = 0;
    std::size_t count = group_.size();
    while (count > 1) {
      const std::size_t half = count / 2;
      if (fails(first, half)) {
        count = half;
      } else if (fails(first + half, count - half)) {
        first += half;
        count -= half;
      } else {
        break;
      }
    }
    if (count == 1) return conclude(fmt::format("; case {} fails alone", id(first)));
    const std::string range = fmt::format("the {} cases from {} to {}", count, id(first), id(first + count - 1));
    return conclude(is_spent() ? fmt::format("; the fault lies in {}", range)
                               : fmt::format("; {} fail only together, or not every time", range));
  }

  /// Whether the part fails. Once the search has cost too much, or an error of ours came up, none does.
  bool fails(std::size_t first, std::size_t count) {
    if (error_ || is_spent()) return false;
    const Result<GroupAnswers> answers = subject_.answer(operation_, profile_, part_of(group_, first, count));
    if (!answers) {
      error_ = answers.error();
      return false;
    }
    faults_ += answers->fault.empty() ? 0U : 1U;
    return !answers->fault.empty();
  }

  bool is_spent() const { return faults_ >= limits_.most_faults || Clock::now() - start_ > limits_.time; }

  Result<std::string> conclude(std::string text) const {
    if (error_) return *error_;
    return text;
  }

  std::string id(std::size_t index) const { return suite::id_text(group_.ids[index]); }

  Subject& subject_;
  suite::Operation operation_;
  const Profile& profile_;
  const CaseGroup& group_;
  FaultSearchLimits limits_;
  Clock::time_point start_ = Clock::now();
  std::size_t faults_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<std::string> with_case_at_fault(const std::string& fault, Subject& subject, suite::Operation operation,
                                       const Profile& profile, const CaseGroup& group,
                                       const FaultSearchLimits& limits) {
  const Result<std::string> found = Search(subject, operation, profile, group, limits).run();
  if (!found) return found.error();
  return fault + *found;
}

}  // namespace fp4proof::runners
