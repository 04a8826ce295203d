#pragma once
// Failing cases to start from.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/minimize/judge.h"
#include "conformance/runners/case_source.h"
#include "conformance/runners/subject.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// Where to look, and for what.
struct Search {
  const runners::CaseSource* cases = nullptr;
  std::vector<SharedProfile> profiles;        ///< every named profile if empty
  std::optional<suite::Operation> operation;  ///< only this one
  std::string accumulator;                    ///< products: only this one
  std::optional<std::uint64_t> case_id;       ///< only this case
  std::string class_name;                     ///< only cases of this class
  verify::CompareRules rules;
  std::size_t most_found = 10;
  std::function<void(std::size_t total)> progress;  ///< called after each of `total` operations and profiles
};

/// A failing case of a set.
struct FoundCase {
  Topic topic;
  Question question;
  Failure failure;
  std::string class_name;
  std::uint64_t case_id = 0;
  std::vector<FoundCase> others = {};  ///< the next ones that fail in the same way, at most most_others
};
inline constexpr std::size_t most_others = 7;

struct FoundCases {
  std::vector<FoundCase> cases;
  std::uint64_t compared = 0;     ///< cases that the subject answered
  std::uint64_t unsupported = 0;  ///< cases whose shape the subject does not offer
  bool stopped = false;           ///< `most_found` were found, and not everything was asked
};

/// The first failing case of each operation, profile, cause and kind. The subject is open. A call that ends in a fault
/// is halved until one case is left; where no single case brings the subject down, the first case of the call stands
/// for it. After two faults the rest of an operation and profile is not asked. Withdrawn cases are left out.
/// Errors: those of the source, and `usage` for a case or class that the source does not have.
Result<FoundCases> find_failures(runners::Subject& subject, const Search& search);

}  // namespace fp4proof::minimize
