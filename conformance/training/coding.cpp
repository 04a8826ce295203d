#include "conformance/training/coding.h"

#include <fmt/format.h>

#include "conformance/corrections/plan_rules.h"
#include "formats/spec_profiles.h"

namespace fp4proof::training {

namespace {

/// A backend is asked by name, and knows no files of the user.
Result<void> check_names(const PlannedOperand& planned) {
  const bool profile_is_named = find_profile(planned.profile) != nullptr;
  if (profile_is_named && find_correction_stack(planned.stack) != nullptr) return {};
  return Error{ErrorKind::usage,
               fmt::format("the plan takes the {} {}, which is a file; training asks its backend by name: take a named "
                           "one (fp4proof list)",
                           profile_is_named ? "stack" : "profile", profile_is_named ? planned.stack : planned.profile)};
}

Result<Coding> coding_of(const PlannedOperand& planned) {
  const Result<ResolvedOperand> resolved = resolve(planned);
  if (!resolved) return resolved.error();
  Coding coding;
  if (resolved->is_bf16()) return coding;
  if (const Result<void> named = check_names(planned); !named) return named.error();
  const Profile profile = resolved->stack.effective(*resolved->profile);
  const CorrectionStack& stack = resolved->stack;
  coding.profile = planned.profile;
  coding.stack = planned.stack;
  coding.stochastic = planned.stochastic;
  coding.stream = planned.stream;
  coding.from_corrected = planned.from_corrected;
  coding.block = profile.block.cols;
  coding.nibbles = element_spec(profile.element).is_nibble();
  coding.scale_bytes = scale_bytes(profile.family);
  coding.tensor_scale = profile.family == Family::nvfp4 && profile.tensor_scale;
  coding.macro = stack.macro.size;
  coding.residual = stack.residual.is_on();
  coding.fresh_signs = stack.hadamard.is_on() && stack.hadamard.signs == HadamardSigns::fresh;
  coding.random = profile.rounding == Rounding::stochastic;
  return coding;
}

constexpr Projection projection_of(LayerKind kind) {
  return kind == LayerKind::query ? Projection::query : kind == LayerKind::key ? Projection::key : Projection::other;
}

}  // namespace

Result<PlanCodings> PlanCodings::of(const PrecisionPlan& plan) {
  if (const Result<void> sound = check_plan(plan); !sound) return sound.error();
  PlanCodings codings;
  for (const LayerKind kind : {LayerKind::query, LayerKind::key, LayerKind::other}) {
    for (const Product product : all_products) {
      for (const Operand operand : all_operands) {
        const PlannedOperand wanted = planned(plan, product, operand, projection_of(kind));
        if (!wanted.exists()) continue;
        Result<Coding> coding = coding_of(wanted);
        if (!coding) return coding.error();
        codings.table_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(product)]
                      [static_cast<std::size_t>(operand)] = *std::move(coding);
      }
    }
  }
  if (const PlannedOperand wanted = planned_attention(plan); wanted.exists()) {
    Result<Coding> coding = coding_of(wanted);
    if (!coding) return coding.error();
    codings.attention_ = *std::move(coding);
  }
  codings.noise_ = plan.noise;
  return codings;
}

bool PlanCodings::rounds_at_random() const {
  for (const auto& of_kind : table_) {
    for (const Product product : {Product::forward, Product::input_gradient, Product::weight_gradient}) {
      for (const Coding& coding : of_kind[static_cast<std::size_t>(product)]) {
        if (coding.random) return true;
      }
    }
  }
  return false;
}

}  // namespace fp4proof::training
