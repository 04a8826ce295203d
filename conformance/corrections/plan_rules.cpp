#include "conformance/corrections/plan_rules.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "conformance/corrections/stack_lookup.h"
#include "conformance/profiles/profile_lookup.h"
#include "reference/portable/correct.h"
#include "reference/portable/noise.h"

namespace fp4proof {

namespace {

Error refusal(const PrecisionPlan& plan, std::string_view place, std::string_view reason) {
  return {ErrorKind::usage, fmt::format("plan {}: {}{}{}", plan.name, place, place.empty() ? "" : ": ", reason)};
}

Error refusal(const PrecisionPlan& plan, std::string_view place, const Error& error) {
  return {error.kind, refusal(plan, place, error.message).message};
}

// ---------------------------------------------------------------------------------------------------------------------
// One operand
// ---------------------------------------------------------------------------------------------------------------------

bool is_forward(Product product) { return product == Product::rollout || product == Product::forward; }

/// Why the bits of one row depend on other rows, or nullptr.
const char* mixing_of_rows(const Profile& profile, const CorrectionStack& stack) {
  if (stack.residual.mixes_rows()) return "the mask of the residual ranks channels or tiles over all rows";
  if (stack.effective(profile).block.is_2d()) return "a tile has one scale for several rows";
  if (profile.family == Family::nvfp4 && profile.tensor_scale) return "the tensor scale depends on all rows";
  return nullptr;
}

std::optional<std::string> stochastic_by_name(Product product, const ResolvedOperand& operand) {
  const bool by_stack = operand.named_stack->stochastic;
  if (!by_stack && operand.profile->rounding != Rounding::stochastic) return std::nullopt;
  const std::string who =
      by_stack ? fmt::format("stack {}", operand.named_stack->name) : fmt::format("profile {}", operand.profile->name);
  if (product == Product::rollout) {
    return fmt::format("{} rounds stochastically, but the rollout always rounds to nearest", who);
  }
  return fmt::format(
      "{} rounds stochastically; a plan says so by its field stochastic_rounding, and the forward pass "
      "rounds to nearest",
      who);
}

/// The reason to refuse a resolved operand that is not bfloat16, if there is one.
std::optional<std::string> refused_operand(const PrecisionPlan& plan, Product product, Operand operand,
                                           const ResolvedOperand& resolved) {
  if (auto reason = stochastic_by_name(product, resolved)) return reason;
  if (resolved.stack.residual.is_on() && !is_forward(product)) {
    return fmt::format("stack {} has a residual, which belongs to rollout and forward", resolved.stack.name);
  }
  const char* const mixing = mixing_of_rows(*resolved.profile, resolved.stack);
  if (mixing != nullptr && product == Product::rollout && operand == Operand::activation && !plan.allow_batch_masks) {
    return fmt::format(
        "{}, so a token's bits would depend on its batch; choose another stack or profile, or set "
        "allow_batch_masks and log the mismatch",
        mixing);
  }
  if (const Result<void> sound = portable::check_stack(*resolved.profile, resolved.stack); !sound) {
    return sound.error().message;
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------------------------------
// Two operands
// ---------------------------------------------------------------------------------------------------------------------

std::optional<std::string> refused_pair(const ResolvedOperand& a, const ResolvedOperand& b) {
  if (a.is_bf16() != b.is_bf16()) return "bf16 is multiplied with bf16 alone; code both operands or none";
  if (a.is_bf16()) return std::nullopt;
  const int length_a = a.stack.effective(*a.profile).block.cols;
  const int length_b = b.stack.effective(*b.profile).block.cols;
  if (length_a != length_b) {
    return fmt::format("blocks of {} and of {} elements cannot be multiplied; choose equal lengths", length_a,
                       length_b);
  }
  if (a.stack.hadamard != b.stack.hadamard) {
    return "both operands need the same Hadamard transform (size, signs and seed), or none";
  }
  const MacroSpec& macro_a = a.stack.macro;
  const MacroSpec& macro_b = b.stack.macro;
  if (macro_a.is_on() && macro_b.is_on() && macro_a.size != macro_b.size) {
    return fmt::format("macro blocks of {} and of {} elements cannot be multiplied; choose equal sizes", macro_a.size,
                       macro_b.size);
  }
  if (a.stack.residual.is_on() && b.stack.residual.is_on()) return "at most one operand of a product has a residual";
  return std::nullopt;
}

Result<void> check_product(const PrecisionPlan& plan, Product product, Projection projection) {
  const std::string layer = projection == Projection::other ? "" : fmt::format(" of {}", name_of(projection));
  std::vector<ResolvedOperand> pair;
  for (const Operand operand : all_operands) {
    const PlannedOperand wanted = planned(plan, product, operand, projection);
    if (!wanted.exists()) continue;
    const std::string place = fmt::format("{} {}{}", name_of(product), name_of(operand), layer);
    const Result<ResolvedOperand> resolved = resolve(wanted);
    if (!resolved) return refusal(plan, place, resolved.error());
    if (resolved->is_bf16()) {
      if (wanted.stack != "none") {
        return refusal(plan, place, "bf16 takes no corrections; its stack must be none");
      }
    } else if (const auto reason = refused_operand(plan, product, operand, *resolved)) {
      return refusal(plan, place, *reason);
    }
    pair.push_back(*resolved);
  }
  if (const auto reason = refused_pair(pair.front(), pair.back())) {
    return refusal(plan, fmt::format("{}{}", name_of(product), layer), *reason);
  }
  return {};
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole plan
// ---------------------------------------------------------------------------------------------------------------------

/// Whether any operand of the backward products rounds stochastically.
bool scope_has_effect(const PrecisionPlan& plan) {
  for (const Product product : all_products) {
    for (const Operand operand : all_operands) {
      if (planned(plan, product, operand).stochastic) return true;
      if (planned(plan, product, operand, Projection::query).stochastic) return true;
    }
  }
  return false;
}

Result<void> check_switches(const PrecisionPlan& plan) {
  if (plan.requantize_corrected) {
    const Result<ResolvedOperand> forward = resolve(planned(plan, Product::forward, Operand::activation));
    if (!forward) return forward.error();
    if (!forward->stack.residual.is_on()) {
      return refusal(plan, "", "requantize_corrected needs a residual on the activations of forward");
    }
  }
  if (plan.stochastic != StochasticScope::none && !scope_has_effect(plan)) {
    return refusal(
        plan, "",
        fmt::format("stochastic_rounding {} reaches only operands in bf16; set it to none", name_of(plan.stochastic)));
  }
  if (plan.noise.on) {
    portable::NoiseSchedule schedule;
    schedule.sigma_start = plan.noise.sigma_start;
    schedule.sigma_end = plan.noise.sigma_end;
    schedule.intervals = plan.noise.intervals;
    schedule.first_silent = plan.noise.first_silent;
    schedule.steps = plan.noise.intervals;  // the length of the run is no part of a plan
    if (const Result<void> sound = portable::check_schedule(schedule); !sound) return refusal(plan, "", sound.error());
  }
  return {};
}

}  // namespace

Result<ResolvedOperand> resolve(const PlannedOperand& operand) {
  if (!operand.exists()) return Error{ErrorKind::usage, "the product has no such operand"};
  ResolvedOperand result;
  if (!operand.is_bf16()) {
    Result<SharedProfile> profile = find_profile_or_file(operand.profile);
    if (!profile) return profile.error();
    result.profile = *profile;
  }
  Result<SharedStack> stack = find_stack_or_file(operand.stack);
  if (!stack) return stack.error();
  result.named_stack = *stack;
  result.stack = **stack;
  result.stack.stochastic |= operand.stochastic;
  result.stream = operand.stream;
  result.from_corrected = operand.from_corrected;
  return result;
}

Result<void> check_plan(const PrecisionPlan& plan) {
  for (const Product product : all_products) {
    if (const Result<void> sound = check_product(plan, product, Projection::other); !sound) return sound;
    if (plan.query_key != QueryKey::projections) continue;
    if (const Result<void> sound = check_product(plan, product, Projection::query); !sound) return sound;
  }
  return check_switches(plan);
}

}  // namespace fp4proof
