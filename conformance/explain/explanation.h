#pragma once
// One block under the microscope: every number and every decision on the way from the inputs to the bits, as data.
// explain.h makes it, explanation_text.h and explanation_json.h show it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/block.h"
#include "formats/spec.h"
#include "reference/exact/rational.h"

namespace fp4proof::explain {

using exact::Rational;

/// One block and what it is encoded with.
struct BlockQuestion {
  std::vector<std::uint32_t> words;   ///< profile.block.size() binary32 words, row after row
  std::size_t given = 0;              ///< how many of them are the user's; the others are +0 that fill the block
  std::vector<std::uint32_t> random;  ///< one random word an element under Rounding::stochastic, else empty
  float tensor_scale = 1.0F;          ///< NVFP4
  bool three_quarters = false;        ///< MX: the scale of x, elements RN(0.75 x) (C28 of docs/rules-corrections.md)
  std::string source;                 ///< for the reader: where the block comes from; may be empty
  std::string random_source;          ///< for the reader: where the random words come from; may be empty
  std::string tensor_scale_source;    ///< for the reader: where the tensor scale comes from; may be empty
};

/// One link of the chain from the inputs to the scale.
struct Step {
  std::string_view id;            ///< stable: "nan", "amax", "rule", "code", ...
  std::string_view rule;          ///< number of the rule in docs/rules-*.md
  std::string label;              ///< one or two words
  std::string text;               ///< what is computed and what comes out
  std::optional<Rational> value;  ///< what comes out, where it is a number
};

/// HiF4: one micro-exponent bit.
struct LevelBit {
  int level = 2;               ///< 2 or 3
  int cell_row = 0;            ///< of the grid of bits; 0 in 1D
  int cell_column = 0;         ///< of the grid of bits
  int extent = 8;              ///< columns (and rows, in 2D) that the bit covers
  int max_index = 0;           ///< element with the largest magnitude of the cell
  std::uint32_t max_bits = 0;  ///< that magnitude, infinity included
  bool parent = false;         ///< level 3: the level-2 bit above
  Rational product;            ///< magnitude * reciprocal * 2^-parent, exact; meaningless for an infinity
  Rational compared;           ///< the product as ThresholdArithmetic rounds it
  bool bit = false;
};

/// Why an element got its magnitude code.
enum class Cause : std::uint8_t {
  on_grid,      ///< the scaled value is a value of the element
  below_tie,    ///< nearer to the lower neighbour
  above_tie,    ///< nearer to the upper neighbour
  tie,          ///< half way: the tie rule
  toward_zero,  ///< Rounding::rtz: the lower neighbour
  stochastic,   ///< the random bits
  saturated,    ///< beyond the largest value
  half_add,     ///< ElementArithmetic::fp32_half_add
  distance,     ///< ElementArithmetic::fp32_distance
  infinity,     ///< an infinity that clamps
  nan_ignored,  ///< a NaN that NanPolicy::ignore codes as +0
  nan_zeroed,   ///< a NaN or an infinity times zero, NanPolicy::scale_zero
  zeroed,       ///< a finite number times zero, NanPolicy::scale_zero
  flushed,      ///< TinyPolicy::flush_block
  zero_scale,   ///< NVFP4 under scale 0
  block_nan,    ///< the block is NaN; the code carries no meaning
};

/// A magnitude code and its value.
struct Level {
  std::uint8_t code = 0;
  Rational value;
};

/// A stochastic decision: up iff fraction + u >= 2^bits.
struct Draw {
  std::uint32_t word = 0;  ///< the element's random word
  int bits = 32;
  std::uint32_t u = 0;         ///< its high `bits` bits
  std::uint64_t fraction = 0;  ///< floor(2^bits * (y - lower) / (upper - lower))
  bool up() const { return fraction + u >= std::uint64_t{1} << bits; }
};

/// ElementArithmetic::fp32_half_add: floor(RN32(steps + 1/2)).
struct HalfAdd {
  Rational spacing;         ///< of the grid at y
  Rational steps;           ///< y / spacing
  Rational sum;             ///< steps + 1/2 in binary32
  int whole = 0;            ///< its floor, after the tie was taken back
  bool taken_back = false;  ///< an exact tie above an even number, which rne takes back
};

/// ElementArithmetic::fp32_distance: binary32 distances from the neighbours; nothing where a level is out of reach.
struct Distances {
  std::optional<Rational> lower;
  std::optional<Rational> upper;
};

/// One element from its word to its code and back.
struct ElementStory {
  int index = 0;
  std::uint32_t given = 0;          ///< as it came
  std::uint32_t word = 0;           ///< after rounding and flushing of inputs
  int level_sum = 0;                ///< HiF4: sum of its two level bits
  std::optional<Rational> scaled;   ///< y, exact
  std::optional<Rational> rounded;  ///< y as ElementArithmetic bf16, fp32_bf16 or fp32_half_add rounds it
  std::optional<Level> lower;       ///< the neighbours of y; equal on the grid and beyond the largest value
  std::optional<Level> upper;
  Cause cause = Cause::on_grid;
  std::string_view rule;                         ///< that decided
  std::optional<std::uint8_t> without_rounding;  ///< the magnitude code that y itself gives, where it is another
  std::optional<Draw> draw;
  std::optional<HalfAdd> half_add;
  std::optional<Distances> distances;
  std::uint8_t code = 0;
  std::uint32_t value = 0;        ///< the decoded word
  std::optional<Rational> error;  ///< value - input, exact; nothing where one of them is not finite
  std::optional<Rational> steps;  ///< the error in steps of the grid at y
};

/// What becomes of the block.
enum class Outcome : std::uint8_t {
  quantized,
  nan,           ///< the scale is NaN
  zeroed,        ///< NanPolicy::scale_zero
  rejected_nan,  ///< refused, NanPolicy::error
  rejected_inf,  ///< refused, InfPolicy::error
};
std::string_view name_of(Outcome outcome);
std::string_view name_of(Cause cause);

/// The whole story. `profile` outlives it.
struct Explanation {
  const Profile* profile = nullptr;
  BlockQuestion question;
  Outcome outcome = Outcome::quantized;
  std::vector<Step> steps;                ///< from the inputs to the scale
  std::vector<LevelBit> level_bits;       ///< HiF4: level 2, then level 3, row after row
  std::vector<std::uint32_t> row_scales;  ///< one scale word a row, see BlockEncoding; empty when rejected
  std::vector<ElementStory> elements;     ///< in order; empty when rejected
};

/// The scale word of the row that holds element `index`.
std::uint32_t row_scale_of(const Explanation& explanation, int index);

/// What the element's value is multiplied with on decoding, exact; nothing under a NaN scale.
std::optional<Rational> decode_scale_of(const Explanation& explanation, int index);

}  // namespace fp4proof::explain
