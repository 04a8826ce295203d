#pragma once
// The two pictures of a table with failures: where, and by how far.

#include <optional>

#include "conformance/report/document.h"
#include "conformance/report/svg.h"

namespace fp4proof::report {

/// The failing places of a table (`places`) over the tensor, drawn from at most `most_cells` cells: neighbours share a
/// cell, which takes the worst of them, where there are more. Nothing where the document has none.
std::optional<SvgDrawing> place_map(const Json& table, std::size_t most_cells);

/// The distances of a table stacked by cause and kind; far ones share a bar between powers of two. Nothing where no
/// cause has a distance other than 0.
std::optional<SvgDrawing> distance_chart(const Json& table);

}  // namespace fp4proof::report
