// Advantages and the loss forms, on numbers worked out by hand.

#include "conformance/training/loss.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fp4proof::training {
namespace {

TEST(Loss, AdvantagesOfAGroup) {
  const std::vector<float> a = advantages(std::vector<float>{1, 0, 0, 0, 1, 1, 1, 1}, 4);
  const double deviation = std::sqrt(0.75 * 0.25);
  EXPECT_FLOAT_EQ(a[0], static_cast<float>(0.75 / (deviation + 1e-6)));
  EXPECT_FLOAT_EQ(a[1], static_cast<float>(-0.25 / (deviation + 1e-6)));
  for (int i = 4; i < 8; ++i) EXPECT_EQ(a[static_cast<std::size_t>(i)], 0.0F);
}

/// Two sequences of two places; the second sequence ends after one.
struct Case {
  std::vector<std::int64_t> length = {2, 1};
  std::vector<float> advantage = {2.0F, -1.0F};
  std::vector<float> rollout = {-1.0F, -2.0F, -0.5F, 0.0F};
  std::vector<float> training = {-1.0F, -1.0F, -1.5F, 0.0F};  // d = 0, 1, -1

  Loss loss(LossForm form) const {
    Reinforcement settings;
    settings.loss = form;
    return loss_of(settings, {2, length, advantage, rollout, training});
  }
};

const double e = std::exp(1.0);

TEST(Loss, ComparesTheTwoEngines) {
  for (const LossForm form : {LossForm::decoupled, LossForm::ppo, LossForm::tis, LossForm::mis}) {
    const Loss loss = Case().loss(form);
    EXPECT_DOUBLE_EQ(loss.k1, 0.0);
    EXPECT_NEAR(loss.k3, ((e - 2) + 1 / e) / 3, 1e-7);
    EXPECT_EQ(loss.max_difference, 1.0);
    EXPECT_NEAR(loss.ratio_p99, e, 1e-6);
    EXPECT_EQ(loss.weights[3], 0.0F);
  }
}

TEST(Loss, DecoupledWeighsByAdvantageAlone) {
  const Loss loss = Case().loss(LossForm::decoupled);
  EXPECT_NEAR(loss.value, -(2.0 + 2.0 - 1.0) / 3, 1e-7);
  EXPECT_FLOAT_EQ(loss.weights[0], 2.0F / 3);
  EXPECT_FLOAT_EQ(loss.weights[1], 2.0F / 3);
  EXPECT_FLOAT_EQ(loss.weights[2], -1.0F / 3);
  EXPECT_EQ(loss.clip_fraction, 0.0);
}

TEST(Loss, PpoClipsRatiosAgainstTheRollout) {
  const Loss loss = Case().loss(LossForm::ppo);
  // Token 1: ratio e > 1.28 at a positive advantage; token 2: 1/e < 0.8 at a negative one. Both are clipped.
  EXPECT_NEAR(loss.value, -(2.0 * 1.0 + 2.0 * 1.28 - 1.0 * 0.8) / 3, 1e-7);
  EXPECT_FLOAT_EQ(loss.weights[0], 2.0F / 3);
  EXPECT_EQ(loss.weights[1], 0.0F);
  EXPECT_EQ(loss.weights[2], 0.0F);
  EXPECT_NEAR(loss.clip_fraction, 2.0 / 3, 1e-12);
}

TEST(Loss, TruncatedImportance) {
  const Loss loss = Case().loss(LossForm::tis);
  EXPECT_FLOAT_EQ(loss.weights[0], 2.0F / 3);
  EXPECT_FLOAT_EQ(loss.weights[1], 4.0F / 3);  // e, capped at 2
  EXPECT_NEAR(loss.weights[2], -1 / e / 3, 1e-7);
}

TEST(Loss, MaskLeavesOutTheSequence) {
  const Loss loss = Case().loss(LossForm::mis);
  EXPECT_EQ(loss.weights[0], 0.0F);  // exp(0 + 1) > 2
  EXPECT_EQ(loss.weights[1], 0.0F);
  EXPECT_FLOAT_EQ(loss.weights[2], -1.0F / 3);
  EXPECT_NEAR(loss.value, 1.0 / 3, 1e-7);
}

}  // namespace
}  // namespace fp4proof::training
