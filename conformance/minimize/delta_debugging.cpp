#include "conformance/minimize/delta_debugging.h"

#include <algorithm>
#include <iterator>

namespace fp4proof::minimize {

namespace {

/// Item i of `count` goes to one of `pieces` lists of about the same length.
std::vector<Indices> cut(const Indices& items, std::size_t pieces) {
  std::vector<Indices> lists(pieces);
  for (std::size_t i = 0; i < items.size(); ++i) lists[i * pieces / items.size()].push_back(items[i]);
  return lists;
}

Indices without(const Indices& items, const Indices& dropped) {
  Indices rest;
  std::ranges::set_difference(items, dropped, std::back_inserter(rest));
  return rest;
}

}  // namespace

Result<Indices> shrink_list(Indices items, const FirstOf& first_of) {
  std::size_t pieces = 2;
  while (items.size() > 1) {
    const std::vector<Indices> lists = cut(items, pieces);
    std::vector<Indices> candidates = lists;
    for (const Indices& list : lists) {
      if (pieces > 2) candidates.push_back(without(items, list));
    }
    const Result<std::optional<std::size_t>> found = first_of(candidates);
    if (!found) return found.error();
    if (*found) {
      items = candidates[**found];
      pieces = **found < lists.size() ? 2 : std::max<std::size_t>(pieces - 1, 2);
      pieces = std::min(pieces, std::max<std::size_t>(items.size(), 1));
    } else if (pieces == items.size()) {
      break;
    } else {
      pieces = std::min(2 * pieces, items.size());
    }
  }
  return items;
}

}  // namespace fp4proof::minimize
