#pragma once
// Delta debugging (Zeller and Hildebrandt, 2002): a smallest part of a list that still does it.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "formats/result.h"

namespace fp4proof::minimize {

using Indices = std::vector<std::size_t>;

/// Which of several lists does it: the first one, or nothing.
using FirstOf = std::function<Result<std::optional<std::size_t>>(const std::vector<Indices>&)>;

/// Shrinks `items`, which does it, until no list with one item less does it. Order is kept. The same calls for the same
/// answers. Never empty: an empty list is not asked about.
Result<Indices> shrink_list(Indices items, const FirstOf& first_of);

}  // namespace fp4proof::minimize
