#pragma once
// The smallest failing cases among answers that cannot be asked for again.

#include <vector>

#include "conformance/minimize/find_failures.h"
#include "conformance/minimize/minimal_case.h"
#include "conformance/runners/subject.h"
#include "formats/result.h"

namespace fp4proof::minimize {

struct PickedCases {
  std::vector<MinimalCase> cases;
  std::uint64_t compared = 0;
};

/// Asks `subject`, which is not open yet, for every wanted case as it stands in the set, and keeps of each operation,
/// profile, cause and kind the failing case with the fewest nonzero elements, the first of them; at most
/// `search.most_found`. Nothing is shrunk (Ending::picked). Without profiles in the search, those of the set.
Result<PickedCases> pick_smallest(runners::Subject& subject, const Search& search);

}  // namespace fp4proof::minimize
