#pragma once
// Corrections: what is done to a tensor beside quantizing it, as data. A stack names every choice; one function applies
// it (reference/portable/correct.h). docs/rules-corrections.md gives the rules; the oracle may include this header.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/spec.h"

namespace fp4proof {

// ---------------------------------------------------------------------------------------------------------------------
// Random Hadamard transform
// ---------------------------------------------------------------------------------------------------------------------

/// The signs that the elements get before the butterflies.
enum class HadamardSigns : std::uint8_t {
  none,   ///< all +
  fixed,  ///< one sign a column of K, the same for every product
  fresh,  ///< one sign a column of K, new for every product
};

struct HadamardSpec {
  std::uint8_t size = 0;  ///< 0 (off), 16 or 64 consecutive elements along K
  HadamardSigns signs = HadamardSigns::fixed;
  std::uint64_t seed = 0;  ///< Philox key of the signs, stream `hadamard`
  FP4PROOF_HD constexpr bool is_on() const { return size != 0; }
  constexpr bool operator==(const HadamardSpec&) const = default;
};

// ---------------------------------------------------------------------------------------------------------------------
// Macro-block scaling
// ---------------------------------------------------------------------------------------------------------------------

/// Whether the factor f in [1, 2) of a macro block multiplies its elements or divides them.
enum class MacroForm : std::uint8_t {
  multiply,  ///< f from max / M; goes with the scale rule `rceil`
  divide,    ///< f from M / max; goes with the scale rule `even`
};

struct MacroSpec {
  std::uint8_t size = 0;  ///< 0 (off), 32, 64 or 128 elements along K; size x size elements under a 2D profile
  MacroForm form = MacroForm::multiply;
  FP4PROOF_HD constexpr bool is_on() const { return size != 0; }
  constexpr bool operator==(const MacroSpec&) const = default;
};

// ---------------------------------------------------------------------------------------------------------------------
// Residual
// ---------------------------------------------------------------------------------------------------------------------

/// Which elements of the quantized residual are kept.
enum class ResidualMask : std::uint8_t {
  dense,         ///< all
  two_four,      ///< the two largest |r| of each 4 consecutive along K
  top_channels,  ///< the columns of K with the largest sum of r^2
  top_tiles,     ///< the tiles with the largest measure
  tiles_above,   ///< the tiles whose largest |x| exceeds the threshold
};

/// What ranks tiles under ResidualMask::top_tiles.
enum class TileMeasure : std::uint8_t {
  input_max,    ///< the largest |x| of the tile
  residual_l2,  ///< the sum of r^2 over the tile
};

struct ResidualSpec {
  bool on = false;
  float alpha = 1.0F;  ///< finite, not zero
  ResidualMask mask = ResidualMask::dense;
  TileMeasure measure = TileMeasure::residual_l2;  ///< top_tiles
  float fraction = 0.5F;                           ///< top_channels, top_tiles: ceil(fraction * count) are kept
  float threshold = 0.0F;                          ///< tiles_above
  std::uint8_t tile_rows = 64;                     ///< top_tiles, tiles_above
  std::uint8_t tile_cols = 64;
  FP4PROOF_HD constexpr bool is_on() const { return on; }
  /// Whether the mask of a row depends on other rows: then a batch of one and a batch of many give different bits.
  constexpr bool mixes_rows() const { return on && mask != ResidualMask::dense && mask != ResidualMask::two_four; }
  constexpr bool operator==(const ResidualSpec&) const = default;
};

// ---------------------------------------------------------------------------------------------------------------------
// The stack
// ---------------------------------------------------------------------------------------------------------------------

/// A named, immutable set of corrections. They apply in this order: Hadamard transform; then the inner quantizer, which
/// is the profile with the tile and rounding below, under three-quarters or macro-block scaling; then the residual,
/// whose inner quantizer is the same.
struct CorrectionStack {
  std::string_view name;
  std::string_view summary;
  HadamardSpec hadamard;
  std::uint8_t tile = 0;        ///< MX: 0 (the profile's block), or 8, 16, 32, 64 for n x n tiles with one scale
  bool stochastic = false;      ///< elements round stochastically with 32 random bits
  bool three_quarters = false;  ///< elements are 3/4 x under the scale of x, and decode to 4/3 of their value
  MacroSpec macro;
  ResidualSpec residual;

  /// The profile under which the elements are coded.
  constexpr Profile effective(Profile profile) const {
    if (tile != 0) profile.block = {tile, tile};
    if (stochastic) {
      profile.rounding = Rounding::stochastic;
      profile.random_bits = 32;
    }
    return profile;
  }
  /// The same without its residual: what the other operand of a product takes.
  constexpr CorrectionStack without_residual() const {
    CorrectionStack other = *this;
    other.residual = {};
    return other;
  }
  constexpr bool operator==(const CorrectionStack&) const = default;
};

FP4PROOF_ENUM_NAMES(HadamardSigns, {"none", "fixed", "fresh"});
FP4PROOF_ENUM_NAMES(MacroForm, {"multiply", "divide"});
FP4PROOF_ENUM_NAMES(ResidualMask, {"dense", "2:4", "top-channels", "top-tiles", "tiles-above"});
FP4PROOF_ENUM_NAMES(TileMeasure, {"input-max", "residual-l2"});

namespace correction_parts {

constexpr CorrectionStack named(CorrectionStack base, std::string_view name, std::string_view summary) {
  base.name = name;
  base.summary = summary;
  return base;
}

constexpr CorrectionStack macro(std::uint8_t size, MacroForm form = MacroForm::multiply) {
  CorrectionStack s;
  s.macro = {size, form};
  return s;
}

constexpr CorrectionStack residual(float alpha, ResidualMask mask) {
  CorrectionStack s;
  s.residual.on = true;
  s.residual.alpha = alpha;
  s.residual.mask = mask;
  return s;
}

constexpr CorrectionStack residual_tiles(TileMeasure measure, std::uint8_t rows, std::uint8_t cols) {
  CorrectionStack s = residual(1.0F, ResidualMask::top_tiles);
  s.residual.measure = measure;
  s.residual.tile_rows = rows;
  s.residual.tile_cols = cols;
  return s;
}

constexpr CorrectionStack residual_above(float threshold) {
  CorrectionStack s = residual(1.0F, ResidualMask::tiles_above);
  s.residual.threshold = threshold;
  return s;
}

constexpr CorrectionStack hadamard(std::uint8_t size, HadamardSigns signs) {
  CorrectionStack s;
  s.hadamard = {size, signs, 0};
  return s;
}

constexpr CorrectionStack tiles(std::uint8_t size, bool stochastic) {
  CorrectionStack s;
  s.tile = size;
  s.stochastic = stochastic;
  return s;
}

constexpr CorrectionStack three_quarters(bool stochastic) {
  CorrectionStack s;
  s.stochastic = stochastic;
  s.three_quarters = true;
  return s;
}

constexpr CorrectionStack with_macro(CorrectionStack s, std::uint8_t size) {
  s.macro.size = size;
  return s;
}

constexpr CorrectionStack with_hadamard(CorrectionStack s, std::uint8_t size) {
  s.hadamard.size = size;
  return s;
}

}  // namespace correction_parts

/// Every named stack.
inline constexpr auto correction_table = [] {
  using namespace correction_parts;
  using enum ResidualMask;
  return std::to_array<CorrectionStack>({
      named({}, "none", "plain quantization"),
      named(macro(128), "mbs", "macro-block scaling: one 8-bit mantissa per 128 elements (MX, rceil)"),
      named(macro(64), "mbs-64", "macro-block scaling per 64 elements"),
      named(macro(32), "mbs-32", "macro-block scaling per 32 elements: an E8M8 scale"),
      named(macro(128, MacroForm::divide), "mbs-divide", "macro-block scaling per 128, dividing form (MX, even)"),
      named(residual(0.5F, dense), "fallback", "outlier fallback: half of the quantized residual is added"),
      named(residual(1.0F, dense), "fallback-1", "outlier fallback with the whole residual"),
      named(residual(1.0F, two_four), "resq", "Rollout-ResQ: the residual, two of four along K"),
      named(residual(1.0F, top_channels), "resq-channels", "Rollout-ResQ on the top half of channels by L2"),
      named(residual_tiles(TileMeasure::residual_l2, 32, 64), "resq-tiles",
            "Rollout-ResQ on the top half of 32x64 tiles by L2"),
      named(residual(1.0F, dense), "rfq", "residual fallback quantization: the whole residual"),
      named(residual_tiles(TileMeasure::input_max, 64, 64), "rfq-max", "RFQ on the top half of 64x64 tiles by amax"),
      named(residual_tiles(TileMeasure::residual_l2, 64, 64), "rfq-l2",
            "RFQ on the top half of 64x64 tiles by residual L2"),
      named(residual_above(8.0F), "rfq-theta", "RFQ on the 64x64 tiles whose amax exceeds 8"),
      named(with_macro(residual(0.5F, dense), 128), "mbs+fallback", "macro-block scaling and outlier fallback"),
      named(with_macro(residual(1.0F, two_four), 128), "mbs+resq", "macro-block scaling and Rollout-ResQ"),
      named(tiles(8, false), "tile-8", "one scale an 8x8 tile (MX)"),
      named(tiles(16, false), "tile-16", "one scale a 16x16 tile (MX)"),
      named(tiles(32, false), "tile-32", "one scale a 32x32 tile (MX): transposition-invariant"),
      named(tiles(64, false), "tile-64", "one scale a 64x64 tile (MX)"),
      named(tiles(32, true), "tile-32-sr", "one scale a 32x32 tile, stochastic rounding"),
      named(tiles(0, true), "sr", "stochastic rounding"),
      named(three_quarters(true), "three-quarters", "3/4 of the input under the floor scale, stochastic: unbiased"),
      named(three_quarters(false), "three-quarters-rn", "3/4 of the input under the floor scale, to nearest"),
      named(hadamard(16, HadamardSigns::fixed), "hadamard-16", "random Hadamard transform of 16 along K"),
      named(hadamard(64, HadamardSigns::fixed), "hadamard-64", "random Hadamard transform of 64 along K"),
      named(hadamard(16, HadamardSigns::none), "hadamard-16-plain", "Hadamard transform of 16 without signs"),
      named(hadamard(16, HadamardSigns::fresh), "hadamard-16-fresh", "Hadamard transform of 16, new signs a product"),
      named(with_hadamard(residual(1.0F, two_four), 16), "hadamard-16+resq", "Hadamard transform and Rollout-ResQ"),
      named(with_hadamard(macro(128), 16), "hadamard-16+mbs", "Hadamard transform and macro-block scaling"),
  });
}();

/// The named stacks as a span.
inline std::span<const CorrectionStack> correction_stacks() { return correction_table; }

/// The stack of that exact name, or nullptr.
constexpr const CorrectionStack* find_correction_stack(std::string_view name) {
  for (const CorrectionStack& stack : correction_table)
    if (stack.name == name) return &stack;
  return nullptr;
}

}  // namespace fp4proof
