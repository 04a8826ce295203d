#include "conformance/training_report/claims.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "formats/strict_math.h"

namespace fp4proof::training_report {

namespace {

using Effects = std::span<const PlanEffect>;

constexpr std::size_t rollout_activation = 0;
constexpr std::size_t forward_activation = 2;
constexpr std::size_t input_gradient = 4;

/// Compares `a`, which should be larger, with `b`.
ClaimVerdict is_larger(double a, double b, double noise) {
  if (!std::isfinite(a - b)) return ClaimVerdict::not_finite;
  if (a - b > noise) return ClaimVerdict::holds;
  return a - b < -noise ? ClaimVerdict::does_not_hold : ClaimVerdict::within_noise;
}

/// One plan ends with a higher reward than another.
Claim reward_order(Effects effects, const char* better, const char* worse, const char* published) {
  Claim claim{fmt::format("{} ends above {}", better, worse), published, {}, ClaimVerdict::not_run};
  const PlanEffect* a = find_effect(effects, better);
  const PlanEffect* b = find_effect(effects, worse);
  if (a == nullptr || b == nullptr) return claim;
  claim.ours = fmt::format("{:.3f}, {:.3f}", a->final_reward.mean, b->final_reward.mean);
  claim.verdict = is_larger(a->final_reward.mean, b->final_reward.mean, reward_noise);
  return claim;
}

struct CodingClaim {
  const char* text;
  const char* published;
  const char* with;
  const char* without;
  std::size_t pathway;
  double CodingEffect::*part;
};

/// A correction makes a part of the error of a pathway smaller.
Claim smaller_part(Effects effects, const CodingClaim& c) {
  Claim claim{c.text, c.published, {}, ClaimVerdict::not_run};
  const PlanEffect* with = find_effect(effects, c.with);
  const PlanEffect* without = find_effect(effects, c.without);
  if (with == nullptr || without == nullptr) return claim;
  const auto& after = with->codings[c.pathway];
  const auto& before = without->codings[c.pathway];
  if (!after || !before) return claim;
  const double a = (*after).*c.part;
  const double b = (*before).*c.part;
  claim.ours = fmt::format("{:.5f} to {:.5f}, {:.2f} of it", b, a, a / b);
  claim.verdict = is_larger(b, a, 0.01 * b);
  return claim;
}

/// A number of one plan is above that of another.
Claim larger_number(Effects effects, const char* text, const char* published, const char* larger, const char* smaller,
                    double PlanEffect::*number, double noise) {
  Claim claim{text, published, {}, ClaimVerdict::not_run};
  const PlanEffect* a = find_effect(effects, larger);
  const PlanEffect* b = find_effect(effects, smaller);
  if (a == nullptr || b == nullptr) return claim;
  claim.ours = fmt::format("{:.4f} against {:.4f}", a->*number, b->*number);
  claim.verdict = is_larger(a->*number, b->*number, noise);
  return claim;
}

Claim better_gradient(Effects effects, const char* text, const char* published, const char* with, const char* without) {
  Claim claim{text, published, {}, ClaimVerdict::not_run};
  const PlanEffect* a = find_effect(effects, with);
  const PlanEffect* b = find_effect(effects, without);
  if (a == nullptr || b == nullptr || !a->gradient || !b->gradient) return claim;
  claim.ours = fmt::format("cosine {:.4f} to {:.4f}", b->gradient->cosine, a->gradient->cosine);
  claim.verdict = is_larger(a->gradient->cosine, b->gradient->cosine, 0.001);
  return claim;
}

Claim baseline(Effects effects) {
  Claim claim{"bf16 reaches 0.95 sampled exact match", ".967 (prototype)", {}, ClaimVerdict::not_run};
  if (const PlanEffect* bf16 = find_effect(effects, "bf16")) {
    claim.ours = fmt::format("{:.3f}", bf16->final_reward.mean);
    claim.verdict = bf16->final_reward.mean >= 0.95 ? ClaimVerdict::holds : ClaimVerdict::does_not_hold;
  }
  return claim;
}

/// "Gradients are biased by 44 % a layer."
Claim gradient_bias(Effects effects) {
  Claim claim{"MXFP4 shortens the gradient by 44 %", "44 % a layer, multiplying (A)", {}, ClaimVerdict::not_run};
  const PlanEffect* plan = find_effect(effects, "mxfp4");
  if (plan == nullptr || !plan->gradient) return claim;
  claim.ours = fmt::format("|g| is {:.3f} of |g0|, over all layers", plan->gradient->norm_ratio);
  const double ratio = plan->gradient->norm_ratio;
  claim.verdict = !std::isfinite(ratio) ? ClaimVerdict::not_finite
                  : ratio <= 0.56       ? ClaimVerdict::holds
                                        : ClaimVerdict::does_not_hold;
  return claim;
}

/// The error of a stochastically rounded gradient is variance more than bias.
Claim unbiased(Effects effects) {
  Claim claim{"Stochastic rounding of dY leaves less bias than rounding to nearest",
              "unbiased where nothing clips (C)",
              {},
              ClaimVerdict::not_run};
  const PlanEffect* with = find_effect(effects, "mxfp4+sr");
  const PlanEffect* without = find_effect(effects, "mxfp4");
  if (with == nullptr || without == nullptr || !with->gradient || !without->gradient || !with->gradient->bias)
    return claim;
  const double before = without->gradient->error;
  // The mean of 4 repeats still has a quarter of their variance.
  const double expected_noise = *with->gradient->variance / 4;
  const double bias = *with->gradient->bias;
  claim.ours = fmt::format(
      "|g - g0|/|g0| {:.3f} to nearest; |mean of 4 - g0|/|g0| {:.3f}, of which variance explains "
      "{:.3f}",
      before, bias, strict::sqrt_double(expected_noise));
  claim.verdict = is_larger(before, bias, 0.01 * before);
  return claim;
}

}  // namespace

std::vector<Claim> claims_of(Effects effects) {
  return {
      baseline(effects),
      reward_order(effects, "bf16", "hif4+resq", "86.96, 85.90 (B); .967, .947 (prototype)"),
      reward_order(effects, "hif4+resq", "hif4", "85.90, 82.03 (B); .947, .923 (prototype)"),
      reward_order(effects, "hif4", "mxfp4", "82.03, 73.31 (B); .923, .864 (prototype)"),
      reward_order(effects, "mxfp4+resq", "mxfp4", "81.65, 73.31 (B); .935, .864 (prototype)"),
      reward_order(effects, "mxfp4", "rollout-mxfp4/train-bf16", ".864, .769 (prototype)"),
      reward_order(effects, "hif4", "rollout-hif4/train-bf16", "82.03, 78.01 (B); .923, .908 (prototype)"),
      reward_order(effects, "mxfp4+mbs", "mxfp4", "75.2, 60.1 (A)"),
      reward_order(effects, "mxfp4+fallback", "mxfp4", "77.6, 60.1 (A)"),
      reward_order(effects, "mxfp4+mbs+fallback", "mxfp4", "80.8, 60.1 (A)"),
      reward_order(effects, "mxfp4+rfq", "mxfp4", "loss up by 1.14 % in place of 7.50 % (D)"),
      reward_order(effects, "hif4+rfq", "hif4", "loss up by 0.61 % in place of 2.89 % (D)"),
      reward_order(effects, "mxfp4+all", "mxfp4+mbs+fallback", "81.3, 80.8 (A)"),
      reward_order(effects, "mxfp4+all", "bf16", "91.1 to 91.6 and 91.51 on a mixture of experts (A)"),
      smaller_part(effects, {"Macro-block scaling takes the scale bias of dY away", "\"vanishes\" (A)", "mxfp4+mbs",
                             "mxfp4", input_gradient, &CodingEffect::scale_bias}),
      better_gradient(effects, "Macro-block scaling turns the gradient towards that of bf16",
                      "scale bias hurts the "
                      "backward pass (A)",
                      "mxfp4+mbs", "mxfp4"),
      smaller_part(effects, {"Fallback takes error from X in the rollout", "deadzone truncation hurts the rollout (A)",
                             "mxfp4+fallback", "mxfp4", rollout_activation, &CodingEffect::relative_error}),
      smaller_part(effects, {"ResQ takes error from X in the rollout", ".01330 to .00188 on Gaussian data",
                             "mxfp4+resq", "mxfp4", rollout_activation, &CodingEffect::relative_error}),
      smaller_part(effects, {"RFQ takes error from X in the forward pass", ".01330 to .00020 on Gaussian data",
                             "mxfp4+rfq", "mxfp4", forward_activation, &CodingEffect::relative_error}),
      larger_number(effects, "ResQ in the rollout alone widens the mismatch to training (k3)",
                    ".070 against 0 "
                    "(prototype)",
                    "mxfp4+resq", "mxfp4", &PlanEffect::last_k3, 1e-4),
      larger_number(effects, "MXFP4 starts with more entropy than bf16", "1.06 against .96 (prototype)", "mxfp4",
                    "bf16", &PlanEffect::first_entropy, 0.005),
      larger_number(effects, "Noise on the norms keeps entropy up", "AQN explores (A)", "mxfp4+aqn", "mxfp4",
                    &PlanEffect::last_entropy, 0.005),
      reward_order(effects, "mxfp4+aqn", "mxfp4", "81.3 against 80.8, beside both others (A)"),
      gradient_bias(effects),
      unbiased(effects),
  };
}

std::string_view text_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::holds: return "holds";
    case ClaimVerdict::within_noise: return "within noise";
    case ClaimVerdict::does_not_hold: return "DOES NOT HOLD";
    case ClaimVerdict::not_finite: return "not finite";
    case ClaimVerdict::not_run: break;
  }
  return "not run";
}

}  // namespace fp4proof::training_report
