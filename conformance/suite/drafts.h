#pragma once
// Tools to write the inputs of quantize classes: exact words, and blocks that put a value at a wanted place on the
// element's grid whatever the scale rule makes of the block.

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/suite/case_class.h"
#include "formats/spec.h"

namespace fp4proof::suite {

using Words = std::vector<std::uint32_t>;
using Blocks = std::vector<Words>;

/// The binary32 word nearest to a number, ties to even.
std::uint32_t word_of(double value);

/// The word `ulps` magnitudes up (or down, if negative); saturates at zero and at the largest finite magnitude.
std::uint32_t ulps_away(std::uint32_t word, int ulps);

/// The word with its sign set.
constexpr std::uint32_t negative(std::uint32_t word) { return word | 0x80000000U; }

/// Elements along a row of a block: what a class fills at a time.
inline std::size_t row_length(const Profile& profile) { return profile.block.cols; }

/// What one unit of the element's grid is worth in a block whose largest magnitude is `amax`: 2^e for MX, the block
/// scale for NVFP4 (tensor scale 1), the inverse of the reciprocal for HiF4. Zero where the block has no finite scale.
double grid_unit(const Profile& profile, std::uint32_t amax);

/// Block maxima under which grids are probed: several scales, and at each of them several significands.
std::vector<std::uint32_t> anchors(const CaseContext& context);

/// A value in units of the element's grid, moved by some units in the last place of binary32.
struct Scaled {
  double value;  ///< sign included
  int ulps = 0;  ///< away from zero if positive
};

/// Rows of blocks with maximum `amax` that hold all of `values` (those beyond amax are left out). HiF4: each value
/// appears under all four combinations of micro-exponents.
void append_scaled_rows(const Profile& profile, std::uint32_t amax, std::span<const Scaled> values, Blocks& rows);

/// Rows of exactly these words, `filler` behind the last one.
void append_word_rows(const Profile& profile, std::span<const std::uint32_t> words, std::uint32_t filler, Blocks& rows);

/// One row of `fill`, with `word` at `position`.
Words row_with(const Profile& profile, std::uint32_t fill, std::size_t position, std::uint32_t word);

/// Magnitudes of the element's grid in units, ascending from 0, and the ties between neighbours.
std::vector<double> grid_values(Element element);
std::vector<double> grid_ties(Element element);

/// Cases from rows. 1D: one case a row. 2D: rows of equal largest magnitude become the rows of a tile, repeated until
/// it is full. NVFP4 with a tensor scale: seven rows and a block that makes the tensor scale a power of two.
/// `random`: empty, or the random words of each row (not for NVFP4 with a tensor scale).
std::vector<CaseInput> cases_of_rows(const Profile& profile, const Blocks& rows, const Blocks& random = {});

/// The group of single blocks.
GroupSpec block_spec(const Profile& profile);

/// One case from a matrix, and its random words if there are any.
CaseInput matrix_case(const GroupSpec& spec, const Words& words, const Words& random = {});

/// Wraps a function that makes rows into CaseClass::make.
template <Blocks (*Make)(const CaseContext&)>
std::vector<CaseInput> rows_of(const CaseContext& context) {
  return cases_of_rows(context.profile, Make(context));
}

/// A row-major matrix of `rows` x `columns`, transposed.
Words transposed(std::span<const std::uint32_t> words, std::size_t rows, std::size_t columns);

/// The bytes of words.
std::vector<std::uint8_t> bytes_of_words(std::span<const std::uint32_t> words);

}  // namespace fp4proof::suite
