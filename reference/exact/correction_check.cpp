// The refusals of rule C4.

#include <cmath>
#include <string>

#include "reference/exact/correction.h"

namespace fp4proof::exact {
namespace {

template <class... Sizes>
bool is_one_of(int value, Sizes... sizes) {
  return ((value == sizes) || ...);
}

bool has_exact_rule(const Profile& profile, ScaleRule rule) {
  return profile.scale_rule == rule && profile.scale_arithmetic == ScaleArithmetic::exact;
}

bool refuses_or_rewrites(const Profile& profile) {
  return profile.nan == NanPolicy::error || profile.inf == InfPolicy::error || profile.nan == NanPolicy::scale_zero ||
         profile.input_rounding != InputRounding::none || profile.tiny != TinyPolicy::clamp;
}

const char* macro_refusal(const Profile& profile, const MacroSpec& macro) {
  if (!is_one_of(macro.size, 32, 64, 128)) return "macro blocks have 32, 64 or 128 elements";
  if (profile.family != Family::mx) return "macro blocks refine a power-of-two scale";
  if (macro.size % profile.block.cols != 0) return "a macro block is a whole number of blocks";
  if (profile.block.is_2d() && macro.size % profile.block.rows != 0) return "a macro block is a whole number of blocks";
  if (macro.form == MacroForm::multiply && !has_exact_rule(profile, ScaleRule::rceil))
    return "multiplying macro blocks need the exact scale rule rceil";
  if (macro.form == MacroForm::divide && !has_exact_rule(profile, ScaleRule::even))
    return "dividing macro blocks need the exact scale rule even";
  return nullptr;
}

const char* residual_refusal(const Profile& profile, const ResidualSpec& residual) {
  if (profile.rounding == Rounding::stochastic) return "a residual does not go with stochastic rounding";
  if (!std::isfinite(residual.alpha) || residual.alpha == 0) return "alpha is finite and not zero";
  if (!(residual.fraction > 0 && residual.fraction <= 1)) return "the fraction lies in (0, 1]";
  if (!(residual.threshold >= 0)) return "the threshold is not negative";
  if (residual.tile_rows == 0 || residual.tile_cols == 0) return "tiles have rows and columns";
  return nullptr;
}

const char* three_quarters_refusal(const Profile& profile, const MacroSpec& macro) {
  if (profile.family != Family::mx) return "three-quarters is for MX";
  if (macro.is_on()) return "three-quarters and macro blocks need different scale rules";
  if (!has_exact_rule(profile, ScaleRule::floor)) return "three-quarters needs the exact scale rule floor";
  return nullptr;
}

const char* hadamard_refusal(const Profile& profile, const HadamardSpec& hadamard) {
  if (!is_one_of(hadamard.size, 16, 64)) return "a Hadamard transform has 16 or 64 elements";
  if (profile.block.is_2d()) return "a Hadamard transform runs along K alone, tiles do not";
  return nullptr;
}

const char* tile_refusal(const Profile& profile, int tile) {
  if (!is_one_of(tile, 8, 16, 32, 64)) return "a tile has 8, 16, 32 or 64 rows and columns";
  return profile.family == Family::mx ? nullptr : "tiles are for MX";
}

const char* refusal(const Profile& profile, const CorrectionStack& stack) {
  const char* reason = nullptr;
  if (stack.tile != 0 && (reason = tile_refusal(profile, stack.tile)) != nullptr) return reason;
  const bool sees_input =
      stack.residual.is_on() || stack.macro.is_on() || stack.three_quarters || stack.hadamard.is_on();
  if (sees_input && refuses_or_rewrites(profile)) return "the profile refuses or rewrites its input";
  if (stack.hadamard.is_on() && (reason = hadamard_refusal(profile, stack.hadamard)) != nullptr) return reason;
  if (stack.three_quarters && (reason = three_quarters_refusal(profile, stack.macro)) != nullptr) return reason;
  if (stack.macro.is_on() && (reason = macro_refusal(profile, stack.macro)) != nullptr) return reason;
  if (stack.residual.is_on() && (reason = residual_refusal(profile, stack.residual)) != nullptr) return reason;
  return nullptr;
}

}  // namespace

Result<void> check_stack(const Profile& profile, const CorrectionStack& stack) {
  const char* reason = refusal(stack.effective(profile), stack);
  if (reason != nullptr) return Error{ErrorKind::usage, std::string("stack refused: ") + reason};
  return {};
}

}  // namespace fp4proof::exact
