#pragma once
// One case: equal, or what went wrong first.

#include <cstdint>
#include <optional>
#include <span>

#include "conformance/suite/case_group.h"
#include "conformance/verify/mismatch.h"

namespace fp4proof::verify {

/// What outputs are filled with before a plug-in runs, so that unwritten ones show.
inline constexpr std::uint8_t poison_byte = 0xA5;

/// How strict a comparison is.
struct CompareRules {
  /// Element codes under a NaN scale carry no meaning in the standards; the rule of every profile is 0. Off by default.
  bool ignore_codes_under_nan = false;
};

/// Compares the outputs of one case with the expected ones of the group. `actual`: one view for each expected tensor,
/// in the order of the group. Codes and scales must be equal to the bit. Values (dequantize, gemm) must be equal to the
/// bit but for NaN: its payload is not looked at. Nothing where the case is right, else its first cause: UNWRITTEN if
/// every differing byte is poison, PACKING if a reordering makes everything equal, and otherwise the first of SPECIAL,
/// SCALE, MICRO, ELEMENT (ORDER for gemm) in that order, at the first place that shows it.
std::optional<Finding> classify_case(const suite::CaseTable& table, const suite::CaseGroup& group, std::size_t index,
                                     std::span<const Bytes> actual, const CompareRules& rules);

}  // namespace fp4proof::verify
