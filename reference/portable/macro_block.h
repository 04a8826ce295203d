#pragma once
// Macro-block scaling: factors, coding and decoding. Rules C14 to C19 of docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/macro_block.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "reference/portable/correct.h"

namespace fp4proof::portable {

/// The weights g of every row and macro block of one part of `corrected`, row-major [rows, macro_blocks_per_row()];
/// empty without macro blocks.
std::vector<float> macro_weights(const Corrected& corrected, const CodedPart& part);

/// The factor bytes of a tensor in rows (block axis last), [rows, macro_blocks_per_row()] (C14 to C18). Under a 2D
/// profile every row of a macro tile repeats the byte.
std::vector<std::uint8_t> macro_bytes(const Profile& profile, const MacroSpec& macro, const Geometry& geometry,
                                      std::span<const float> rows);

/// x' of C17, in place: what the profile codes.
void scale_macro_blocks(const MacroSpec& macro, const Geometry& geometry, std::span<const std::uint8_t> bytes,
                        std::span<float> rows);

/// The decoding of C19, in place, from what the profile decodes to.
void unscale_macro_blocks(const MacroSpec& macro, const Geometry& geometry, std::span<const std::uint8_t> bytes,
                          std::span<float> rows);

}  // namespace fp4proof::portable
