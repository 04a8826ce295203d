#pragma once
// Precision plans: which profile, which corrections and which random numbers code each operand of each matrix product
// of a training run, as data. planned() is the one question that a training loop asks. docs/corrections.md describes
// the named plans; conformance/corrections reads plans as JSON and refuses unsound ones.
//
// The products of a linear layer Y = X W^T, as they stand in the rules of products (C[m,n] = sum over k of A B):
//
//     rollout           Y  = X W^T      K = in features     X activation, W weight
//     forward           Y  = X W^T      K = in features     X activation, W weight
//     input_gradient    dX = dY W       K = out features    dY gradient, W weight
//     weight_gradient   dW = dY^T X     K = tokens          dY gradient, X activation

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/philox.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"

namespace fp4proof {

// ---------------------------------------------------------------------------------------------------------------------
// What a plan speaks about
// ---------------------------------------------------------------------------------------------------------------------

/// The matrix products of a linear layer.
enum class Product : std::uint8_t {
  rollout,          ///< generation
  forward,          ///< the training engine's forward pass
  input_gradient,   ///< dX
  weight_gradient,  ///< dW
};

/// The operands of the products.
enum class Operand : std::uint8_t {
  activation,  ///< X
  weight,      ///< W
  gradient,    ///< dY
};

/// The linear layer that a product belongs to.
enum class Projection : std::uint8_t {
  query,  ///< Wq
  key,    ///< Wk
  other,
};

/// Which quantizations round stochastically. The rollout and the forward pass always round as their profiles say, to
/// nearest.
enum class StochasticScope : std::uint8_t {
  none,
  gradient,  ///< dY alone: the usual choice. dX and dW draw the same words, so one coded dY may serve both.
  backward,  ///< every operand of dX and dW
};

/// What is done for query and key.
enum class QueryKey : std::uint8_t {
  off,          ///< as all other layers
  projections,  ///< the linear layers Wq and Wk, in every product, under query_key_profile
  products,     ///< the operands of Q K^T under query_key_profile; the linear layers as all others
};

/// Which RMSNorm weights of the rollout get adaptive quantization noise.
enum class NoisyNorms : std::uint8_t {
  layers,        ///< both norms of every layer
  attention,     ///< the norms that feed attention
  feed_forward,  ///< the norms that feed the feed-forward part
  all,           ///< every norm, the last one before the head too
};

FP4PROOF_ENUM_NAMES(Product, {"rollout", "forward", "input-gradient", "weight-gradient"});
FP4PROOF_ENUM_NAMES(Operand, {"activation", "weight", "gradient"});
FP4PROOF_ENUM_NAMES(Projection, {"query", "key", "other"});
FP4PROOF_ENUM_NAMES(StochasticScope, {"none", "gradient", "backward"});
FP4PROOF_ENUM_NAMES(QueryKey, {"off", "projections", "products"});
FP4PROOF_ENUM_NAMES(NoisyNorms, {"layers", "attention", "feed-forward", "all"});

inline constexpr std::array<Product, 4> all_products = {Product::rollout, Product::forward, Product::input_gradient,
                                                        Product::weight_gradient};
inline constexpr std::array<Operand, 3> all_operands = {Operand::activation, Operand::weight, Operand::gradient};

/// In place of a profile: the operand is rounded to bfloat16 and takes no corrections.
inline constexpr std::string_view plain_bf16 = "bf16";

/// The profile of query and key under QueryKey.
inline constexpr std::string_view query_key_profile = "mxfp8-e4m3/rceil";

// ---------------------------------------------------------------------------------------------------------------------
// The plan
// ---------------------------------------------------------------------------------------------------------------------

/// How one operand is coded.
struct OperandPlan {
  std::string_view profile = plain_bf16;  ///< a named profile, the path of a profile file, or plain_bf16
  std::string_view stack = "none";        ///< a named stack, or the path of a file with one
  constexpr bool operator==(const OperandPlan&) const = default;
};

/// Adaptive quantization noise: rules C50 and C51. Rollout only, always from the clean weights.
struct NoisePlan {
  bool on = false;
  float sigma_start = 0.01F;
  float sigma_end = 0.001F;
  std::uint32_t intervals = 10;
  bool first_silent = true;
  NoisyNorms norms = NoisyNorms::layers;
  bool skip_router_norms = true;  ///< a norm that feeds the router of a mixture of experts gets none
  constexpr bool operator==(const NoisePlan&) const = default;
};

/// One precision plan.
struct PrecisionPlan {
  std::string_view name;
  std::string_view summary;
  OperandPlan rollout_activation;
  OperandPlan rollout_weight;
  OperandPlan forward_activation;
  OperandPlan forward_weight;
  OperandPlan input_gradient_gradient;
  OperandPlan input_gradient_weight;
  OperandPlan weight_gradient_gradient;
  OperandPlan weight_gradient_activation;
  /// dW quantizes the corrected activation x^ of the forward pass (C21) in place of X.
  bool requantize_corrected = false;
  StochasticScope stochastic = StochasticScope::none;
  QueryKey query_key = QueryKey::off;
  NoisePlan noise;
  /// The rollout may code activations so that one token's bits depend on the others in the batch (C25).
  bool allow_batch_masks = false;
  constexpr bool operator==(const PrecisionPlan&) const = default;
};

/// The plan of an operand of a product, for layers that are not query or key; nullptr where the product has no such
/// operand. `P` is PrecisionPlan or const PrecisionPlan.
template <class P>
constexpr auto operand_plan(P& plan, Product product, Operand operand) -> decltype(&plan.rollout_activation) {
  const bool x = operand == Operand::activation;
  const bool w = operand == Operand::weight;
  switch (product) {
    case Product::rollout: return x ? &plan.rollout_activation : w ? &plan.rollout_weight : nullptr;
    case Product::forward: return x ? &plan.forward_activation : w ? &plan.forward_weight : nullptr;
    case Product::input_gradient: return x ? nullptr : w ? &plan.input_gradient_weight : &plan.input_gradient_gradient;
    case Product::weight_gradient:
      return w ? nullptr : x ? &plan.weight_gradient_activation : &plan.weight_gradient_gradient;
  }
  return nullptr;
}

// ---------------------------------------------------------------------------------------------------------------------
// The question
// ---------------------------------------------------------------------------------------------------------------------

/// What to do with one operand of one product.
struct PlannedOperand {
  std::string_view profile;               ///< empty: the product has no such operand
  std::string_view stack = "none";        ///< stochastic rounding is not in it
  bool stochastic = false;                ///< round stochastically with 32 bits on top of the stack
  Stream stream = Stream::sr_activation;  ///< where the random words come from
  bool from_corrected = false;            ///< quantize x^ of the forward pass in place of x

  constexpr bool exists() const { return !profile.empty(); }
  constexpr bool is_bf16() const { return profile == plain_bf16; }
  constexpr bool operator==(const PlannedOperand&) const = default;
};

/// The stream of an operand. The words are addressed by the element's place in the tensor, so dX and dW share those of
/// dY (C3).
constexpr Stream stream_of(Operand operand) {
  switch (operand) {
    case Operand::activation: return Stream::sr_activation;
    case Operand::weight: return Stream::sr_weight;
    case Operand::gradient: return Stream::sr_gradient;
  }
  return Stream::sr_activation;
}

/// Whether `scope` reaches an operand of a product.
constexpr bool rounds_stochastically(StochasticScope scope, Product product, Operand operand) {
  const bool backward = product == Product::input_gradient || product == Product::weight_gradient;
  if (scope == StochasticScope::gradient) return backward && operand == Operand::gradient;
  return scope == StochasticScope::backward && backward;
}

/// How `plan` codes an operand of a product of a layer.
constexpr PlannedOperand planned(const PrecisionPlan& plan, Product product, Operand operand,
                                 Projection projection = Projection::other) {
  const OperandPlan* const listed = operand_plan(plan, product, operand);
  if (listed == nullptr) return {};
  const bool replaced = plan.query_key == QueryKey::projections && projection != Projection::other;
  PlannedOperand result;
  result.profile = replaced ? query_key_profile : listed->profile;
  result.stack = replaced ? std::string_view("none") : listed->stack;
  result.stochastic = !result.is_bf16() && rounds_stochastically(plan.stochastic, product, operand);
  result.stream = stream_of(operand);
  result.from_corrected =
      plan.requantize_corrected && !replaced && product == Product::weight_gradient && operand == Operand::activation;
  return result;
}

/// How Q and K are coded, along the head dimension, before the product Q K^T of the rollout and the forward pass. Does
/// not exist unless QueryKey::products: the product then takes what the linear layers give. Its gradient is that of the
/// product without quantization (straight-through).
constexpr PlannedOperand planned_attention(const PrecisionPlan& plan) {
  PlannedOperand result;
  if (plan.query_key == QueryKey::products) result.profile = query_key_profile;
  return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The named plans
// ---------------------------------------------------------------------------------------------------------------------

namespace plan_parts {

constexpr std::string_view mxfp4 = "mxfp4/rceil";
constexpr std::string_view hif4 = "hif4/gcc";

constexpr PrecisionPlan named(PrecisionPlan base, std::string_view name, std::string_view summary) {
  base.name = name;
  base.summary = summary;
  return base;
}

/// Every operand of every product alike.
constexpr PrecisionPlan everywhere(std::string_view profile, std::string_view stack = "none") {
  PrecisionPlan p;
  for (const Product product : all_products) {
    for (const Operand operand : all_operands) {
      if (OperandPlan* const listed = operand_plan(p, product, operand); listed != nullptr) *listed = {profile, stack};
    }
  }
  return p;
}

/// The activations of the rollout.
constexpr PrecisionPlan with_rollout(PrecisionPlan p, std::string_view stack) {
  p.rollout_activation.stack = stack;
  return p;
}

/// The activations of every forward pass.
constexpr PrecisionPlan with_forward(PrecisionPlan p, std::string_view stack) {
  p.rollout_activation.stack = stack;
  p.forward_activation.stack = stack;
  return p;
}

/// Outlier fallback: the forward passes, and dW from the corrected activations.
constexpr PrecisionPlan with_fallback(PrecisionPlan p, std::string_view stack) {
  p = with_forward(p, stack);
  p.requantize_corrected = true;
  return p;
}

constexpr PrecisionPlan with_noise(PrecisionPlan p) {
  p.noise.on = true;
  return p;
}

constexpr PrecisionPlan with_stochastic(PrecisionPlan p, StochasticScope scope) {
  p.stochastic = scope;
  return p;
}

/// Tiles on the weights, so dX reads the codes of the forward pass.
constexpr PrecisionPlan weight_tiles() {
  PrecisionPlan p = everywhere(mxfp4);
  p.rollout_weight.stack = "tile-32";
  p.forward_weight.stack = "tile-32";
  p.input_gradient_weight.stack = "tile-32";
  p.stochastic = StochasticScope::gradient;
  p.query_key = QueryKey::projections;
  return p;
}

/// Tiles on every operand of training, so dX and dW read the codes of the forward pass, and one coded dY serves both.
/// In the rollout only weights have tiles: tiles of activations would mix tokens.
constexpr PrecisionPlan all_tiles() {
  PrecisionPlan p = weight_tiles();
  p.forward_activation.stack = "tile-32";
  p.input_gradient_gradient.stack = "tile-32";
  p.weight_gradient_gradient.stack = "tile-32";
  p.weight_gradient_activation.stack = "tile-32";
  return p;
}

constexpr PrecisionPlan rollout_alone(std::string_view profile) {
  PrecisionPlan p;
  p.rollout_activation.profile = profile;
  p.rollout_weight.profile = profile;
  return p;
}

}  // namespace plan_parts

/// Every named plan.
inline constexpr auto plan_table = [] {
  using namespace plan_parts;
  return std::to_array<PrecisionPlan>({
      named({}, "bf16", "bfloat16 everywhere: the baseline"),
      named(everywhere(mxfp4), "mxfp4", "MXFP4 (rceil) everywhere, to nearest"),
      named(everywhere(mxfp4, "mbs"), "mxfp4+mbs", "mxfp4 with macro-block scaling of every operand"),
      named(with_fallback(everywhere(mxfp4), "fallback"), "mxfp4+fallback",
            "mxfp4, outlier fallback of X in rollout and forward, dW from the corrected X"),
      named(with_fallback(everywhere(mxfp4, "mbs"), "mbs+fallback"), "mxfp4+mbs+fallback",
            "macro-block scaling and outlier fallback"),
      named(with_noise(everywhere(mxfp4)), "mxfp4+aqn", "mxfp4 with adaptive quantization noise in the rollout"),
      named(with_noise(with_fallback(everywhere(mxfp4, "mbs"), "mbs+fallback")), "mxfp4+all",
            "macro-block scaling, outlier fallback and adaptive quantization noise"),
      named(with_rollout(everywhere(mxfp4), "resq"), "mxfp4+resq", "mxfp4, Rollout-ResQ (2:4) on X in the rollout"),
      named(with_forward(everywhere(mxfp4), "rfq"), "mxfp4+rfq",
            "mxfp4, the whole residual of X in every forward pass"),
      named(with_stochastic(everywhere(mxfp4), StochasticScope::gradient), "mxfp4+sr",
            "mxfp4, stochastic rounding of dY"),
      named(everywhere(mxfp4, "hadamard-16"), "mxfp4+hadamard-16",
            "mxfp4, random Hadamard transform of 16 along K of every product"),
      named(everywhere(mxfp4, "hadamard-16-fresh"), "mxfp4+hadamard-16-fresh",
            "mxfp4, random Hadamard transform of 16, new signs in every product"),
      named(everywhere(mxfp4, "hadamard-64"), "mxfp4+hadamard-64",
            "mxfp4, random Hadamard transform of 64 along K of every product"),
      named(weight_tiles(), "mxfp4-2d-weight", "32x32 tiles on W, stochastic rounding of dY, query and key in MXFP8"),
      named(all_tiles(), "mxfp4-2d-all",
            "32x32 tiles on W, X and dY in training, stochastic rounding of dY, query and key in MXFP8"),
      named(everywhere(hif4), "hif4", "HiF4 everywhere"),
      named(with_rollout(everywhere(hif4), "resq"), "hif4+resq", "hif4, Rollout-ResQ (2:4) on X in the rollout"),
      named(with_forward(everywhere(hif4), "rfq"), "hif4+rfq", "hif4, the whole residual of X in every forward pass"),
      named(everywhere(hif4, "hadamard-64"), "hif4+hadamard-64",
            "hif4, random Hadamard transform of 64 along K of every product"),
      named(rollout_alone(mxfp4), "rollout-mxfp4/train-bf16", "MXFP4 (rceil) in the rollout, bfloat16 in training"),
      named(rollout_alone(hif4), "rollout-hif4/train-bf16", "HiF4 in the rollout, bfloat16 in training"),
  });
}();

/// The named plans as a span.
inline std::span<const PrecisionPlan> precision_plans() { return plan_table; }

/// Another name of a named plan.
struct PlanAlias {
  std::string_view name;
  std::string_view plan;
};

/// Every alias. What a run leaves behind holds the name of the plan.
inline constexpr auto plan_aliases = std::to_array<PlanAlias>({
    {"mxfp4-2d", "mxfp4-2d-weight"},
    {"rollout-fp4/train-bf16", "rollout-mxfp4/train-bf16"},
});

/// The plan of that exact name or alias, or nullptr.
constexpr const PrecisionPlan* find_precision_plan(std::string_view name) {
  for (const PlanAlias& alias : plan_aliases)
    if (alias.name == name) name = alias.plan;
  for (const PrecisionPlan& plan : plan_table)
    if (plan.name == name) return &plan;
  return nullptr;
}

}  // namespace fp4proof
