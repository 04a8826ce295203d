#pragma once
// Which precision plans are sound, and what an operand of a plan needs to be coded.

#include "conformance/corrections/stack_json.h"
#include "conformance/profiles/profile_json.h"
#include "formats/result.h"
#include "formats/spec_plans.h"

namespace fp4proof {

/// A planned operand with its names looked up.
struct ResolvedOperand {
  SharedProfile profile;    ///< null for bfloat16
  SharedStack named_stack;  ///< as the plan has it; keeps the name of `stack` alive
  CorrectionStack stack;    ///< to be applied: the former, with the stochastic rounding of the plan
  Stream stream = Stream::sr_activation;
  bool from_corrected = false;

  bool is_bf16() const { return profile == nullptr; }
};

/// Looks the profile and the stack of a planned operand up (names or files). Errors: an operand that does not exist,
/// unknown names, files that cannot be read.
Result<ResolvedOperand> resolve(const PlannedOperand& operand);

/// Success for a plan that can be run as it stands, else a `usage` error that names the plan, the operand and the
/// reason (or an `io` error for a file). Refused are, besides unknown profiles and stacks:
///   - stochastic rounding by profile or stack: in the rollout always, elsewhere because the scope of the plan says it;
///   - a residual in dX or dW, or on both operands of a product;
///   - activations of the rollout whose bits depend on the batch (masks by channels or tiles, tiles, 2D profiles,
///   tensor
///     scales), unless allow_batch_masks;
///   - a stack that portable::check_stack() refuses;
///   - operands of one product that cannot be multiplied: bfloat16 with codes, blocks of unequal length, unequal
///     Hadamard transforms or macro sizes;
///   - switches without effect: requantize_corrected without a residual in the forward pass, a stochastic scope that
///     reaches only bfloat16;
///   - a noise schedule that portable::check_schedule() refuses.
/// Every named plan passes.
Result<void> check_plan(const PrecisionPlan& plan);

}  // namespace fp4proof
