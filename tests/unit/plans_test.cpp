// Precision plans: what each named plan does to each operand, against a table typed by hand; JSON; refusals.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "conformance/corrections/plan_json.h"
#include "conformance/corrections/plan_lookup.h"
#include "conformance/corrections/plan_rules.h"
#include "conformance/vectors/strict_json.h"
#include "formats/spec_plans.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof {
namespace {

using nlohmann::json;
using enum Product;
using enum Operand;

// ---------------------------------------------------------------------------------------------------------------------
// planned()
// ---------------------------------------------------------------------------------------------------------------------

/// "PROFILE", then the stack unless none, "sr" and "from-x^".
std::string text_of(const PlannedOperand& operand) {
  std::string text(operand.profile);
  if (operand.stack != "none") text += " " + std::string(operand.stack);
  if (operand.stochastic) text += " sr";
  if (operand.from_corrected) text += " from-x^";
  return text;
}

struct Row {
  const char* plan;
  const char* rollout_x;
  const char* rollout_w;
  const char* forward_x;
  const char* forward_w;
  const char* dx_dy;
  const char* dx_w;
  const char* dw_dy;
  const char* dw_x;
};

constexpr const char* b = "bf16";
constexpr const char* m = "mxfp4/rceil";
constexpr const char* m_mbs = "mxfp4/rceil mbs";
constexpr const char* m_both = "mxfp4/rceil mbs+fallback";
constexpr const char* m_sr = "mxfp4/rceil sr";
constexpr const char* m_had = "mxfp4/rceil hadamard-16";
constexpr const char* m_had_fresh = "mxfp4/rceil hadamard-16-fresh";
constexpr const char* m_had_64 = "mxfp4/rceil hadamard-64";
constexpr const char* m_tile = "mxfp4/rceil tile-32";
constexpr const char* m_tile_sr = "mxfp4/rceil tile-32 sr";
constexpr const char* h = "hif4/gcc";
constexpr const char* h_had_64 = "hif4/gcc hadamard-64";

// Layers other than query and key.
const Row table[] = {
    {"bf16", b, b, b, b, b, b, b, b},
    {"mxfp4", m, m, m, m, m, m, m, m},
    {"mxfp4+mbs", m_mbs, m_mbs, m_mbs, m_mbs, m_mbs, m_mbs, m_mbs, m_mbs},
    {"mxfp4+fallback", "mxfp4/rceil fallback", m, "mxfp4/rceil fallback", m, m, m, m, "mxfp4/rceil from-x^"},
    {"mxfp4+mbs+fallback", m_both, m_mbs, m_both, m_mbs, m_mbs, m_mbs, m_mbs, "mxfp4/rceil mbs from-x^"},
    {"mxfp4+aqn", m, m, m, m, m, m, m, m},
    {"mxfp4+all", m_both, m_mbs, m_both, m_mbs, m_mbs, m_mbs, m_mbs, "mxfp4/rceil mbs from-x^"},
    {"mxfp4+resq", "mxfp4/rceil resq", m, m, m, m, m, m, m},
    {"mxfp4+rfq", "mxfp4/rceil rfq", m, "mxfp4/rceil rfq", m, m, m, m, m},
    {"mxfp4+sr", m, m, m, m, m_sr, m, m_sr, m},
    {"mxfp4+hadamard-16", m_had, m_had, m_had, m_had, m_had, m_had, m_had, m_had},
    {"mxfp4+hadamard-16-fresh", m_had_fresh, m_had_fresh, m_had_fresh, m_had_fresh, m_had_fresh, m_had_fresh,
     m_had_fresh, m_had_fresh},
    {"mxfp4+hadamard-64", m_had_64, m_had_64, m_had_64, m_had_64, m_had_64, m_had_64, m_had_64, m_had_64},
    {"mxfp4-2d-weight", m, m_tile, m, m_tile, m_sr, m_tile, m_sr, m},
    {"mxfp4-2d-all", m, m_tile, m_tile, m_tile, m_tile_sr, m_tile, m_tile_sr, m_tile},
    {"hif4", h, h, h, h, h, h, h, h},
    {"hif4+resq", "hif4/gcc resq", h, h, h, h, h, h, h},
    {"hif4+rfq", "hif4/gcc rfq", h, "hif4/gcc rfq", h, h, h, h, h},
    {"hif4+hadamard-64", h_had_64, h_had_64, h_had_64, h_had_64, h_had_64, h_had_64, h_had_64, h_had_64},
    {"rollout-mxfp4/train-bf16", m, m, b, b, b, b, b, b},
    {"rollout-hif4/train-bf16", h, h, b, b, b, b, b, b},
};

TEST(Plans, EachNamedPlanDoesWhatTheTableSays) {
  ASSERT_EQ(std::size(table), precision_plans().size());
  for (const Row& row : table) {
    const PrecisionPlan* const plan = find_precision_plan(row.plan);
    ASSERT_NE(plan, nullptr) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, rollout, activation)), row.rollout_x) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, rollout, weight)), row.rollout_w) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, forward, activation)), row.forward_x) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, forward, weight)), row.forward_w) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, input_gradient, gradient)), row.dx_dy) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, input_gradient, weight)), row.dx_w) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, weight_gradient, gradient)), row.dw_dy) << row.plan;
    EXPECT_EQ(text_of(planned(*plan, weight_gradient, activation)), row.dw_x) << row.plan;
  }
}

TEST(Plans, OperandsThatAProductLacksDoNotExist) {
  for (const PrecisionPlan& plan : precision_plans()) {
    EXPECT_FALSE(planned(plan, rollout, gradient).exists());
    EXPECT_FALSE(planned(plan, forward, gradient).exists());
    EXPECT_FALSE(planned(plan, input_gradient, activation).exists());
    EXPECT_FALSE(planned(plan, weight_gradient, weight).exists());
  }
}

TEST(Plans, EachOperandHasItsStream) {
  const PrecisionPlan& plan = *find_precision_plan("mxfp4");
  EXPECT_EQ(planned(plan, forward, activation).stream, Stream::sr_activation);
  EXPECT_EQ(planned(plan, input_gradient, weight).stream, Stream::sr_weight);
  EXPECT_EQ(planned(plan, input_gradient, gradient).stream, Stream::sr_gradient);
  EXPECT_EQ(planned(plan, weight_gradient, gradient).stream, Stream::sr_gradient);
  EXPECT_EQ(planned(plan, weight_gradient, activation).stream, Stream::sr_activation);
}

TEST(Plans, QueryAndKeyInMxfp8) {
  for (const char* name : {"mxfp4-2d-weight", "mxfp4-2d-all"}) {
    const PrecisionPlan& plan = *find_precision_plan(name);
    for (const Projection projection : {Projection::query, Projection::key}) {
      EXPECT_EQ(text_of(planned(plan, rollout, activation, projection)), "mxfp8-e4m3/rceil");
      EXPECT_EQ(text_of(planned(plan, forward, weight, projection)), "mxfp8-e4m3/rceil");
      EXPECT_EQ(text_of(planned(plan, input_gradient, gradient, projection)), "mxfp8-e4m3/rceil sr");
      EXPECT_EQ(text_of(planned(plan, input_gradient, weight, projection)), "mxfp8-e4m3/rceil");
      EXPECT_EQ(text_of(planned(plan, weight_gradient, gradient, projection)), "mxfp8-e4m3/rceil sr");
      EXPECT_EQ(text_of(planned(plan, weight_gradient, activation, projection)), "mxfp8-e4m3/rceil");
    }
    EXPECT_FALSE(planned_attention(plan).exists());
  }
  PrecisionPlan plan = *find_precision_plan("mxfp4+fallback");
  EXPECT_EQ(text_of(planned(plan, forward, activation, Projection::query)), "mxfp4/rceil fallback");
  plan.query_key = QueryKey::projections;
  EXPECT_EQ(text_of(planned(plan, forward, activation, Projection::query)), "mxfp8-e4m3/rceil");
  EXPECT_EQ(text_of(planned(plan, weight_gradient, activation, Projection::key)), "mxfp8-e4m3/rceil");
  plan.query_key = QueryKey::products;
  EXPECT_EQ(text_of(planned(plan, forward, activation, Projection::query)), "mxfp4/rceil fallback");
  EXPECT_EQ(text_of(planned_attention(plan)), "mxfp8-e4m3/rceil");
}

TEST(Plans, StochasticScopes) {
  PrecisionPlan plan = *find_precision_plan("mxfp4");
  const auto rounded = [&] {
    std::string text;
    for (const Product product : all_products) {
      for (const Operand operand : all_operands) text += planned(plan, product, operand).stochastic ? '1' : '0';
    }
    return text;  // X W dY of rollout, forward, dX, dW
  };
  EXPECT_EQ(rounded(), "000000000000");
  plan.stochastic = StochasticScope::gradient;
  EXPECT_EQ(rounded(), "000000001001");
  plan.stochastic = StochasticScope::backward;
  EXPECT_EQ(rounded(), "000000011101");
  plan = *find_precision_plan("bf16");
  plan.stochastic = StochasticScope::backward;
  EXPECT_EQ(rounded(), "000000000000");
}

TEST(Plans, NoiseOfTheNamedPlans) {
  for (const PrecisionPlan& plan : precision_plans()) {
    EXPECT_EQ(plan.noise.on, plan.name == "mxfp4+aqn" || plan.name == "mxfp4+all") << plan.name;
  }
  const NoisePlan& noise = find_precision_plan("mxfp4+aqn")->noise;
  EXPECT_EQ(noise.sigma_start, 0.01F);
  EXPECT_EQ(noise.sigma_end, 0.001F);
  EXPECT_EQ(noise.intervals, 10U);
  EXPECT_TRUE(noise.first_silent);
  EXPECT_EQ(noise.norms, NoisyNorms::layers);
  EXPECT_TRUE(noise.skip_router_norms);
}

// ---------------------------------------------------------------------------------------------------------------------
// resolve() and check_plan()
// ---------------------------------------------------------------------------------------------------------------------

TEST(PlanRules, EveryNamedPlanIsSound) {
  for (const PrecisionPlan& plan : precision_plans()) {
    const Result<void> sound = check_plan(plan);
    EXPECT_TRUE(sound) << sound.error().message;
  }
}

TEST(PlanRules, AnOperandIsResolved) {
  const PrecisionPlan& plan = *find_precision_plan("mxfp4-2d-all");
  const auto dy = resolve(planned(plan, weight_gradient, gradient));
  ASSERT_TRUE(dy) << dy.error().message;
  EXPECT_EQ(dy->profile->name, "mxfp4/rceil");
  EXPECT_FALSE(dy->named_stack->stochastic);
  EXPECT_TRUE(dy->stack.stochastic);
  EXPECT_EQ(dy->stack.tile, 32);
  EXPECT_EQ(dy->stack.name, "tile-32");
  EXPECT_EQ(dy->stream, Stream::sr_gradient);

  const auto x = resolve(planned(*find_precision_plan("mxfp4+fallback"), weight_gradient, activation));
  ASSERT_TRUE(x) << x.error().message;
  EXPECT_TRUE(x->from_corrected);
  EXPECT_FALSE(x->stack.residual.is_on());

  const auto plain = resolve(planned(*find_precision_plan("bf16"), forward, weight));
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_TRUE(plain->is_bf16());

  const auto missing = resolve(planned(plan, forward, gradient));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "the product has no such operand");
}

/// The text with which a change of a named plan is refused, "" when it is not.
template <class Change>
std::string refused(const char* base, Change change) {
  PrecisionPlan plan = *find_precision_plan(base);
  plan.name = "mine";
  change(plan);
  const Result<void> sound = check_plan(plan);
  if (sound) return "";
  EXPECT_EQ(sound.error().kind, ErrorKind::usage);
  return sound.error().message;
}

#define EXPECT_BEGINS(text, beginning) EXPECT_EQ(std::string(text).substr(0, std::string(beginning).size()), beginning)

TEST(PlanRules, UnknownNames) {
  EXPECT_BEGINS(refused("mxfp4", [](auto& p) { p.forward_weight.profile = "mxfp4/rcel"; }),
                "plan mine: forward weight: unknown profile \"mxfp4/rcel\" (did you mean 'mxfp4/rceil'?)");
  EXPECT_BEGINS(refused("mxfp4", [](auto& p) { p.rollout_activation.stack = "rsq"; }),
                "plan mine: rollout activation: unknown correction stack \"rsq\" (did you mean 'resq'?)");
}

TEST(PlanRules, TheRolloutRoundsToNearest) {
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.rollout_activation.stack = "sr"; }),
            "plan mine: rollout activation: stack sr rounds stochastically, but the rollout always rounds to nearest");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.rollout_weight.profile = "mxfp4/rceil-sr"; }),
            "plan mine: rollout weight: profile mxfp4/rceil-sr rounds stochastically, but the rollout always rounds to "
            "nearest");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.input_gradient_gradient.stack = "sr"; }),
            "plan mine: input-gradient gradient: stack sr rounds stochastically; a plan says so by its field "
            "stochastic_rounding, and the forward pass rounds to nearest");
}

TEST(PlanRules, NoResidualInBackward) {
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.input_gradient_gradient.stack = "resq"; }),
            "plan mine: input-gradient gradient: stack resq has a residual, which belongs to rollout and forward");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.weight_gradient_activation.stack = "mbs+fallback"; }),
            "plan mine: weight-gradient activation: stack mbs+fallback has a residual, which belongs to rollout and "
            "forward");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.forward_activation.stack = p.forward_weight.stack = "resq"; }),
            "plan mine: forward: at most one operand of a product has a residual");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.forward_weight.stack = "resq"; }), "");
}

TEST(PlanRules, BatchesInTheRollout) {
  static constexpr const char* rest =
      ", so a token's bits would depend on its batch; choose another stack or profile, or set allow_batch_masks and "
      "log "
      "the mismatch";
  const std::string place = "plan mine: rollout activation: ";
  for (const char* stack : {"resq-channels", "resq-tiles", "rfq-max", "rfq-l2", "rfq-theta"}) {
    EXPECT_EQ(refused("mxfp4", [&](auto& p) { p.rollout_activation.stack = stack; }),
              place + "the mask of the residual ranks channels or tiles over all rows" + rest);
    const auto allowed = [&](auto& p) {
      p.rollout_activation.stack = stack;
      p.allow_batch_masks = true;
    };
    EXPECT_EQ(refused("mxfp4", allowed), "");
    EXPECT_EQ(refused("mxfp4", [&](auto& p) { p.rollout_weight.stack = stack; }), "");
    EXPECT_EQ(refused("mxfp4", [&](auto& p) { p.forward_activation.stack = stack; }), "");
  }
  const std::string tile = place + "a tile has one scale for several rows" + rest;
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.rollout_activation.stack = "tile-32"; }), tile);
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.rollout_activation.profile = "mxfp4-2d/rceil"; }), tile);
  EXPECT_EQ(refused("hif4", [](auto& p) { p.rollout_activation.profile = "hif4-2d/gcc"; }), tile);
  const auto tensor_scale = [](auto& p) {
    p.rollout_activation.profile = p.rollout_weight.profile = "nvfp4/tensor-scale";
  };
  EXPECT_EQ(refused("mxfp4", tensor_scale), place + "the tensor scale depends on all rows" + rest);
}

TEST(PlanRules, StacksThatTheirProfileCannotTake) {
  EXPECT_BEGINS(
      refused("hif4", [](auto& p) { p.forward_activation.stack = "mbs"; }),
      "plan mine: forward activation: stack mbs on profile hif4/gcc: macro-block scaling refines a power-of-two "
      "scale");
  EXPECT_BEGINS(
      refused("mxfp4", [](auto& p) { p.rollout_weight.profile = "mxfp4/ocp", p.rollout_weight.stack = "mbs"; }),
      "plan mine: rollout weight: stack mbs on profile mxfp4/ocp: the multiplying macro factor");
  EXPECT_BEGINS(
      refused("mxfp4", [](auto& p) { p.input_gradient_gradient.stack = "three-quarters-rn"; }),
      "plan mine: input-gradient gradient: stack three-quarters-rn on profile mxfp4/rceil: three-quarters saves");
}

TEST(PlanRules, OperandsThatCannotBeMultiplied) {
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.forward_weight.profile = "bf16"; }),
            "plan mine: forward: bf16 is multiplied with bf16 alone; code both operands or none");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.forward_weight.profile = "hif4/gcc"; }),
            "plan mine: forward: blocks of 32 and of 64 elements cannot be multiplied; choose equal lengths");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.forward_weight.stack = "hadamard-16"; }),
            "plan mine: forward: both operands need the same Hadamard transform (size, signs and seed), or none");
  const auto macros = [](auto& p) {
    p.weight_gradient_activation.stack = "mbs";
    p.weight_gradient_gradient.stack = "mbs-64";
  };
  EXPECT_EQ(refused("mxfp4", macros),
            "plan mine: weight-gradient: macro blocks of 128 and of 64 elements cannot be multiplied; choose equal "
            "sizes");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.forward_weight.stack = "mbs"; }), "");
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.forward_weight.profile = "mxfp8-e4m3/rceil"; }), "");
  EXPECT_EQ(refused("bf16", [](auto& p) { p.forward_weight.stack = "resq"; }),
            "plan mine: forward weight: bf16 takes no corrections; its stack must be none");
}

TEST(PlanRules, SwitchesWithoutEffect) {
  EXPECT_EQ(refused("mxfp4", [](auto& p) { p.requantize_corrected = true; }),
            "plan mine: requantize_corrected needs a residual on the activations of forward");
  EXPECT_EQ(refused("bf16", [](auto& p) { p.stochastic = StochasticScope::gradient; }),
            "plan mine: stochastic_rounding gradient reaches only operands in bf16; set it to none");
  EXPECT_BEGINS(refused("mxfp4+aqn", [](auto& p) { p.noise.intervals = 2; }),
                "plan mine: noise schedule: 2 intervals are too few");
  EXPECT_BEGINS(refused("mxfp4+aqn", [](auto& p) { p.noise.sigma_end = 0; }),
                "plan mine: noise schedule: sigma 0.000000");
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON
// ---------------------------------------------------------------------------------------------------------------------

json parsed(const std::string& text) {
  const auto value = parse_strict_json(text, "text", 3);
  EXPECT_TRUE(value) << value.error().message;
  return value ? *value : json();
}

TEST(PlanJson, EveryNamedPlanGoesThereAndBack) {
  for (const PrecisionPlan& plan : precision_plans()) {
    json value = plan_to_json(plan);
    value["name"] = "mine";
    const auto back = plan_from_json(parsed(value.dump()), "text");
    ASSERT_TRUE(back) << plan.name << ": " << back.error().message;
    PrecisionPlan expected = plan;
    expected.name = "mine";
    EXPECT_EQ(**back, expected) << plan.name;

    const auto same = plan_from_json({{"name", "mine"}, {"summary", plan.summary}, {"base", plan.name}}, "text");
    ASSERT_TRUE(same) << plan.name << ": " << same.error().message;
    EXPECT_EQ(**same, expected) << plan.name;
  }
}

// Written by hand from the form that the manual describes.
const char* const whole_plan = R"({
  "format": "fp4proof-plan/1", "name": "mine", "summary": "two formats",
  "rollout": {"activation": {"profile": "hif4/gcc", "stack": "resq"}, "weight": {"profile": "hif4/gcc", "stack": "none"}},
  "forward": {"activation": {"profile": "mxfp4/rceil", "stack": "mbs+fallback"},
              "weight": {"profile": "mxfp4/rceil", "stack": "mbs"}},
  "input_gradient": {"gradient": {"profile": "mxfp4/rceil", "stack": "none"},
                     "weight": {"profile": "mxfp4/rceil", "stack": "tile-32"}},
  "weight_gradient": {"gradient": {"profile": "mxfp8-e5m2/rceil", "stack": "none"},
                      "activation": {"profile": "mxfp4/rceil", "stack": "mbs"}},
  "requantize_corrected": true, "stochastic_rounding": "backward", "query_key": "products", "allow_batch_masks": true,
  "noise": {"sigma_start": 0.02, "sigma_end": 0.0001, "intervals": 7, "first_silent": false, "norms": "feed-forward",
            "skip_router_norms": false}})";

TEST(PlanJson, EveryFieldIsReadAndWritten) {
  const json value = parsed(whole_plan);
  const auto plan = plan_from_json(value, "text");
  ASSERT_TRUE(plan) << plan.error().message;
  PrecisionPlan expected;
  expected.name = "mine";
  expected.summary = "two formats";
  expected.rollout_activation = {"hif4/gcc", "resq"};
  expected.rollout_weight = {"hif4/gcc", "none"};
  expected.forward_activation = {"mxfp4/rceil", "mbs+fallback"};
  expected.forward_weight = {"mxfp4/rceil", "mbs"};
  expected.input_gradient_gradient = {"mxfp4/rceil", "none"};
  expected.input_gradient_weight = {"mxfp4/rceil", "tile-32"};
  expected.weight_gradient_gradient = {"mxfp8-e5m2/rceil", "none"};
  expected.weight_gradient_activation = {"mxfp4/rceil", "mbs"};
  expected.requantize_corrected = true;
  expected.stochastic = StochasticScope::backward;
  expected.query_key = QueryKey::products;
  expected.allow_batch_masks = true;
  expected.noise = {true, 0.02F, 0.0001F, 7, false, NoisyNorms::feed_forward, false};
  EXPECT_EQ(**plan, expected);
  EXPECT_EQ(plan_to_json(**plan), value);
}

TEST(PlanJson, ABaseIsChangedFieldByField) {
  const auto plan = plan_from_json(parsed(R"({"name": "mine", "base": "mxfp4+all", "noise": {"sigma_end": 0.0001},
                                              "rollout": {"activation": {"stack": "mbs+resq"}}})"),
                                   "text");
  ASSERT_TRUE(plan) << plan.error().message;
  PrecisionPlan expected = *find_precision_plan("mxfp4+all");
  expected.name = "mine";
  expected.summary = "";
  expected.noise.sigma_end = 0.0001F;
  expected.rollout_activation.stack = "mbs+resq";
  EXPECT_EQ(**plan, expected);

  const auto silent = plan_from_json(parsed(R"({"name": "mine", "base": "mxfp4+aqn", "noise": null})"), "text");
  ASSERT_TRUE(silent) << silent.error().message;
  EXPECT_EQ((*silent)->noise, NoisePlan{});
}

TEST(PlanJson, ThePlanOutlivesTheText) {
  SharedPlan kept;
  {
    const auto plan = plan_from_json(parsed(whole_plan), "text");
    ASSERT_TRUE(plan) << plan.error().message;
    kept = *plan;
  }
  EXPECT_EQ(kept->weight_gradient_gradient.profile, "mxfp8-e5m2/rceil");
  EXPECT_EQ(kept->summary, "two formats");
}

std::string refused_text(const std::string& text) {
  const auto plan = plan_from_json(parsed(text), "'mine.json'");
  if (plan) return "";
  EXPECT_EQ(plan.error().kind, ErrorKind::usage);
  return plan.error().message;
}

TEST(PlanJson, RefusesInWords) {
  EXPECT_EQ(refused_text("[]"), "'mine.json': a precision plan must be a JSON object");
  EXPECT_EQ(refused_text(R"({"name": "m", "format": "fp4proof-profile/1"})"),
            "'mine.json': format \"fp4proof-profile/1\" is not fp4proof-plan/1");
  EXPECT_EQ(refused_text(R"({"name": "m"})"),
            "'mine.json': nothing is guessed; missing: rollout forward input_gradient weight_gradient "
            "requantize_corrected stochastic_rounding query_key allow_batch_masks");
  EXPECT_EQ(refused_text(R"({"base": "mxfp4"})"), "'mine.json': field \"name\" is missing");
  EXPECT_EQ(refused_text(R"({"name": "mxfp4", "base": "mxfp4"})"),
            "'mine.json': name \"mxfp4\" belongs to a named plan; choose another");
  EXPECT_BEGINS(
      refused_text(R"({"name": "m", "base": "mxfp5"})"),
      "'mine.json': field \"base\": unknown precision plan \"mxfp5\" (did you mean 'mxfp4'?); there are bf16 ");
  EXPECT_BEGINS(refused_text(R"({"name": "m", "base": "mxfp4", "rolout": {}})"),
                "'mine.json': unknown field \"rolout\" (did you mean 'rollout'?); the fields are ");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "rollout": {"gradient": {}}})"),
            "'mine.json': unknown field \"rollout.gradient\"; the fields are activation weight");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "rollout": "hif4"})"),
            "'mine.json': field \"rollout\" must be an object with activation weight");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "rollout": {"weight": "hif4"}})"),
            "'mine.json': field \"rollout.weight\" must be an object with profile stack");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "rollout": {"weight": {"stak": "mbs"}}})"),
            "'mine.json': unknown field \"rollout.weight.stak\" (did you mean 'stack'?); the fields are profile stack");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "rollout": {"weight": {"stack": 4}}})"),
            "'mine.json': field \"rollout.weight.stack\" must be a text");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "rollout": {"activation": {"profile": ""}}})"),
            "'mine.json': field \"rollout.activation.profile\" must not be empty; name a profile, a profile file, or "
            "bf16");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "query_key": "projection"})"),
            "'mine.json': field \"query_key\" has no value \"projection\" (did you mean 'projections'?); it must be "
            "one of off "
            "projections products");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "noise": {"sigma_start": 0.1}})"),
            "'mine.json': nothing is guessed; missing: noise.sigma_end noise.intervals noise.first_silent noise.norms "
            "noise.skip_router_norms");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "noise": true})"),
            "'mine.json': field \"noise\" must be an object with sigma_start sigma_end intervals first_silent norms "
            "skip_router_norms");
  EXPECT_EQ(refused_text(R"({"name": "m", "base": "mxfp4", "input_gradient": {"gradient": {"stack": "resq"}}})"),
            "'mine.json': plan m: input-gradient gradient: stack resq has a residual, which belongs to rollout and "
            "forward");
}

TEST(PlanLookup, Aliases) {
  EXPECT_EQ(find_precision_plan("mxfp4-2d"), find_precision_plan("mxfp4-2d-weight"));
  EXPECT_EQ(find_precision_plan("rollout-fp4/train-bf16"), find_precision_plan("rollout-mxfp4/train-bf16"));
  for (const PlanAlias& alias : plan_aliases) {
    const auto plan = find_plan_or_file(alias.name);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ((*plan)->name, alias.plan);
  }
  const auto near = find_plan_or_file("rollout-fp4/train-bf6");
  ASSERT_FALSE(near);
  EXPECT_BEGINS(near.error().message,
                "unknown precision plan \"rollout-fp4/train-bf6\" (did you mean 'rollout-fp4/train-bf16'?)");
  EXPECT_EQ(refused_text(R"({"name": "mxfp4-2d", "base": "mxfp4"})"),
            "'mine.json': name \"mxfp4-2d\" belongs to a named plan; choose another");
}

TEST(PlanLookup, NamesAndFiles) {
  const testing::TemporaryFolder folder;
  const auto named = find_plan_or_file("mxfp4+all");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->get(), find_precision_plan("mxfp4+all"));

  // A plan that refers to files for its profile and its stack.
  const auto path = [&](const char* name) { return (folder / name).string(); };
  testing::put_file(path("profile.json"), R"({"name": "my-profile", "base": "mxfp4/rceil", "inf": "saturate"})");
  testing::put_file(path("stack.json"), R"({"name": "my-stack", "base": "resq", "residual": {"alpha": 0.975}})");
  const json value = {
      {"name", "mine"},
      {"base", "mxfp4"},
      {"rollout", {{"activation", {{"profile", path("profile.json")}, {"stack", path("stack.json")}}}}}};
  testing::put_file(path("plan.json"), value.dump());
  const auto file = find_plan_or_file(path("plan.json"));
  ASSERT_TRUE(file) << file.error().message;
  const auto x = resolve(planned(**file, rollout, activation));
  ASSERT_TRUE(x) << x.error().message;
  EXPECT_EQ(x->profile->inf, InfPolicy::saturate);
  EXPECT_EQ(x->stack.residual.alpha, 0.975F);
  EXPECT_EQ(x->stack.name, "my-stack");

  const auto unknown = find_plan_or_file("mxfp4+rescue");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
  EXPECT_BEGINS(unknown.error().message, "unknown precision plan \"mxfp4+rescue\" (did you mean 'mxfp4+resq'?)");
  const auto missing = find_plan_or_file(path("nothing.json"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::io);
}

// ---------------------------------------------------------------------------------------------------------------------
// The manual
// ---------------------------------------------------------------------------------------------------------------------

/// The block of JSON that follows `<!-- example NAME -->` in the page.
std::string example(const std::string& name) {
  const std::string page = testing::get_file(FP4PROOF_SOURCE_DIR "/docs/corrections.md");
  const std::size_t mark = page.find("<!-- example " + name + " -->");
  const std::size_t begin = page.find("```json\n", mark) + 8;
  return mark == std::string::npos ? "" : page.substr(begin, page.find("```", begin) - begin);
}

TEST(CorrectionsManual, ItsExamplesWork) {
  const auto stack = stack_from_json(parsed(example("stack.json")), "stack.json");
  ASSERT_TRUE(stack) << stack.error().message;
  EXPECT_EQ((*stack)->name, "mine/resq-nearly-whole");
  EXPECT_EQ((*stack)->residual.alpha, 0.975F);
  EXPECT_EQ((*stack)->residual.mask, ResidualMask::two_four);

  const auto plan = plan_from_json(parsed(example("plan.json")), "plan.json");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(text_of(planned(**plan, rollout, activation)), "hif4/gcc resq");
  EXPECT_EQ(text_of(planned(**plan, forward, activation)), "mxfp4/rceil mbs");
  EXPECT_EQ(text_of(planned(**plan, input_gradient, gradient)), "mxfp4/rceil mbs sr");
  EXPECT_EQ((*plan)->noise.sigma_end, 0.0001F);
}

TEST(CorrectionsManual, NamesEveryStackAndPlan) {
  const std::string page = testing::get_file(FP4PROOF_SOURCE_DIR "/docs/corrections.md");
  for (const PrecisionPlan& plan : precision_plans()) {
    EXPECT_NE(page.find("`" + std::string(plan.name) + "`"), std::string::npos) << plan.name;
  }
  for (const PlanAlias& alias : plan_aliases) {
    EXPECT_NE(page.find("`" + std::string(alias.name) + "`"), std::string::npos) << alias.name;
  }
  for (const CorrectionStack& stack : correction_stacks()) {
    EXPECT_NE(page.find("`" + std::string(stack.name) + "`"), std::string::npos) << stack.name;
  }
}

}  // namespace
}  // namespace fp4proof
