#pragma once
// The Hadamard transform of one group, stage by stage. Rules C10 to C12 of docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/result.h"
#include "formats/spec_corrections.h"

namespace fp4proof::explain {

/// One butterfly stage of one element: RN(value + partner), or RN(partner - value) where bit h of its place is set.
struct HadamardStage {
  int h = 1;
  int partner = 0;                  ///< place in the group
  std::uint32_t before = 0;         ///< binary32 word of the element before the stage
  std::uint32_t partner_value = 0;  ///< that of its partner
  bool subtracts = false;           ///< partner - element; else element + partner
  std::uint32_t value = 0;          ///< after the stage
};

/// One element through the transform.
struct HadamardTrace {
  int place = 0;          ///< in its group
  bool negative = false;  ///< its sign, C11
  std::uint32_t signed_value = 0;
  std::vector<HadamardStage> stages;
  std::uint32_t value = 0;  ///< after the factor 1/sqrt(g)
};

/// 1/sqrt(g): 1/4 or 1/8.
float hadamard_factor(const HadamardSpec& spec);

/// The traces of one row of binary32 words, whose length is a multiple of the group size, for its columns
/// [first, first + count). `internal` error where the stages lead elsewhere than portable::HadamardTransform.
Result<std::vector<HadamardTrace>> trace_hadamard(const HadamardSpec& spec, std::uint32_t product,
                                                  std::span<const std::uint32_t> row, std::int64_t first,
                                                  std::int64_t count);

}  // namespace fp4proof::explain
