#pragma once
// The factor of one macro block. Rules C14 to C19 of docs/rules-corrections.md.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conformance/explain/explanation.h"
#include "formats/spec_corrections.h"
#include "reference/portable/geometry.h"

namespace fp4proof::explain {

struct MacroStory {
  std::int64_t first_row = 0;  ///< in the context
  std::int64_t first_column = 0;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::uint32_t largest = 0;     ///< M, a binary32 word
  std::int64_t largest_row = 0;  ///< where M stands first
  std::int64_t largest_column = 0;
  std::uint32_t quotient = 0;  ///< q, a binary32 word
  std::uint8_t field = 0;      ///< bits 22:15 of q
  std::uint8_t byte = 0;       ///< what is stored
  bool lowered = false;        ///< `multiply`: b is one below the field because f M exceeded the limit
  std::optional<int> k;        ///< `multiply`: the exponent of the limit max 2^k; nothing where b is 0 by rule
  std::vector<Step> steps;     ///< all of this in words
};

/// The story of the macro block that holds (row, column). `rows` are the numbers that were to be coded, [rows, columns]
/// of the geometry, and `byte` what portable::macro_bytes() made of them.
MacroStory tell_macro(const Profile& profile, const MacroSpec& macro, const portable::Geometry& geometry,
                      std::span<const float> rows, std::uint8_t byte, std::int64_t row, std::int64_t column);

}  // namespace fp4proof::explain
