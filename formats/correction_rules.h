#pragma once
// Which stacks are refused, and why. Rule C4 of docs/rules-corrections.md.

#include "formats/float_bits.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"

namespace fp4proof {

namespace correction_detail {

template <class... Sizes>
constexpr bool is_one_of(int value, Sizes... allowed) {
  return ((value == allowed) || ...);
}

constexpr bool has_exact_rule(const Profile& profile, ScaleRule rule) {
  return profile.scale_rule == rule && profile.scale_arithmetic == ScaleArithmetic::exact;
}

/// Whether the profile refuses inputs or turns them into other numbers before it codes them.
constexpr bool screens_its_input(const Profile& profile) {
  return profile.nan == NanPolicy::error || profile.nan == NanPolicy::scale_zero || profile.inf == InfPolicy::error ||
         profile.input_rounding != InputRounding::none || profile.tiny != TinyPolicy::clamp;
}

constexpr const char* refused_sizes(const CorrectionStack& stack) {
  if (!is_one_of(stack.hadamard.size, 0, 16, 64)) return "a Hadamard transform has size 16 or 64; choose one of them";
  if (!is_one_of(stack.macro.size, 0, 32, 64, 128)) {
    return "macro blocks have 32, 64 or 128 elements; choose one of them";
  }
  if (!is_one_of(stack.tile, 0, 8, 16, 32, 64)) return "tiles have side 8, 16, 32 or 64; choose one of them";
  return nullptr;
}

constexpr const char* refused_macro_blocks(const Profile& profile, const CorrectionStack& stack) {
  const MacroSpec& macro = stack.macro;
  if (!macro.is_on()) return nullptr;
  if (profile.family != Family::mx) {
    return "macro-block scaling refines a power-of-two scale, which only MX has; choose an MX profile";
  }
  if (stack.three_quarters) {
    return "macro-block scaling and three-quarters need different scale rules; choose one of the two";
  }
  if (macro.form == MacroForm::multiply && !has_exact_rule(profile, ScaleRule::rceil)) {
    return "the multiplying macro factor takes a block up to the largest element times a power of two, which only the "
           "exact scale rule rceil keeps without clipping; choose a profile such as mxfp4/rceil, or the form divide "
           "under mxfp4/even";
  }
  if (macro.form == MacroForm::divide && !has_exact_rule(profile, ScaleRule::even)) {
    return "the dividing macro factor may leave a block just above the largest element times a power of two, which "
           "only the exact scale rule even absorbs; choose a profile such as mxfp4/even, or the form multiply under "
           "mxfp4/rceil";
  }
  if (macro.size % profile.block.cols != 0) {
    return "a macro block holds whole blocks, so its size must be a multiple of the block length; choose a larger "
           "macro block or a smaller tile";
  }
  return nullptr;
}

constexpr const char* refused_three_quarters(const Profile& profile, const CorrectionStack& stack) {
  if (!stack.three_quarters) return nullptr;
  if (profile.family != Family::mx) {
    return "three-quarters saves what a floor scale would clip, and only MX has one; choose an MX profile";
  }
  if (!has_exact_rule(profile, ScaleRule::floor)) {
    return "three-quarters saves what the exact scale rule floor would clip, and other rules clip nothing that 3/4 "
           "would save; choose a profile such as mxfp4/ocp";
  }
  return nullptr;
}

constexpr const char* refused_hadamard(const Profile& profile, const CorrectionStack& stack) {
  if (stack.hadamard.is_on() && profile.block.is_2d()) {
    return "the Hadamard transform runs along K alone, so tiles would no longer be invariant under transposition; "
           "choose a 1D profile without tiles, or leave the transform out";
  }
  return nullptr;
}

constexpr const char* refused_residual(const Profile& profile, const CorrectionStack& stack) {
  const ResidualSpec& residual = stack.residual;
  if (!residual.is_on()) return nullptr;
  if (profile.rounding == Rounding::stochastic) {
    return "both parts of a residual would spend the same random word, and a residual belongs to the forward pass, "
           "which rounds to nearest; choose a profile and a stack without stochastic rounding, or no residual";
  }
  if (!is_finite_bits(float_bits(residual.alpha)) || residual.alpha == 0.0F) {
    return "the residual's alpha must be finite and not zero; choose 1 or 0.5, or no residual";
  }
  const bool by_tiles = residual.mask == ResidualMask::top_tiles || residual.mask == ResidualMask::tiles_above;
  if (by_tiles && (residual.tile_rows == 0 || residual.tile_cols == 0)) {
    return "the tiles of a residual mask need at least one row and one column; choose 64x64 or 32x64";
  }
  const bool by_fraction = residual.mask == ResidualMask::top_channels || residual.mask == ResidualMask::top_tiles;
  if (by_fraction && !(residual.fraction > 0.0F && residual.fraction <= 1.0F)) {
    return "the fraction that a residual mask keeps must lie in (0, 1]; choose for example 0.5";
  }
  if (residual.mask == ResidualMask::tiles_above && !(residual.threshold >= 0.0F)) {
    return "the threshold of a residual mask must not be negative or NaN; choose for example 8";
  }
  return nullptr;
}

constexpr const char* refused_input_screening(const Profile& profile, const CorrectionStack& stack) {
  const bool computes = stack.residual.is_on() || stack.macro.is_on() || stack.three_quarters || stack.hadamard.is_on();
  if (computes && screens_its_input(profile)) {
    return "the profile refuses, rounds or flushes inputs, so the correction would see other numbers than the "
           "quantizer; choose a profile without NaN or infinity refusal, scale-zero, input rounding and flushing";
  }
  return nullptr;
}

constexpr const char* refused_tiles(const Profile& profile, const CorrectionStack& stack) {
  if (stack.tile != 0 && profile.family != Family::mx) {
    return "tiles are MX blocks with one scale; HiF4 has 64x64 profiles of its own (hif4-2d/...) and NVFP4 has no "
           "tiles; choose one of those profiles or an MX profile";
  }
  return nullptr;
}

}  // namespace correction_detail

/// Why a stack on a profile is refused, as a sentence that ends with what to choose instead; null where it is sound.
constexpr const char* stack_refusal(const Profile& profile, const CorrectionStack& stack) {
  using namespace correction_detail;
  const Profile effective = stack.effective(profile);
  for (const char* reason :
       {refused_sizes(stack), refused_tiles(profile, stack), refused_macro_blocks(effective, stack),
        refused_three_quarters(effective, stack), refused_hadamard(effective, stack),
        refused_residual(effective, stack), refused_input_screening(effective, stack)}) {
    if (reason != nullptr) return reason;
  }
  return nullptr;
}

}  // namespace fp4proof
