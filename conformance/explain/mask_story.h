#pragma once
// Why an element of a residual is kept. Rules C22 to C24 of docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/spec_corrections.h"
#include "reference/portable/geometry.h"

namespace fp4proof::explain {

/// The mask of a residual and what it was made from.
struct MaskFacts {
  const ResidualSpec& spec;
  const portable::Geometry& geometry;
  std::span<const float> input;        ///< of the inner quantizer, [rows, columns]
  std::span<const float> residual;     ///< r
  std::span<const std::uint8_t> mask;  ///< of portable::residual_mask()
};

struct MaskDecision {
  std::string_view rule;
  bool kept = true;
  bool tie = false;  ///< 2:4: a kept and a dropped element have this |r|, and the lower column won
  std::string what;  ///< what was compared
  std::string why;   ///< who won
};

MaskDecision tell_mask(const MaskFacts& facts, std::int64_t row, std::int64_t column);

}  // namespace fp4proof::explain
