// Advantages and the loss forms, on numbers worked out by hand.

#include "conformance/training/loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "formats/float_bits.h"

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

/// A hundred tokens, of which the first few of the training engine are not finite.
Loss not_finite(std::initializer_list<float> first) {
  std::vector<float> training(100, 0.0F);
  std::copy(first.begin(), first.end(), training.begin());
  Reinforcement settings;
  settings.loss = LossForm::ppo;
  return loss_of(settings, {100, std::vector<std::int64_t>{100}, std::vector<float>{1.0F},
                            std::vector<float>(100, 0.0F), training});
}

TEST(Loss, NanIsTheLargestOfAll) {
  for (const float nan : {float_from_bits(0x7FC00000U), float_from_bits(0xFFC00000U), float_from_bits(0x7F800001U)}) {
    const Loss one = not_finite({nan});
    EXPECT_TRUE(std::isnan(one.value));
    EXPECT_TRUE(std::isnan(one.k1));
    EXPECT_TRUE(std::isnan(one.k3));
    EXPECT_TRUE(std::isnan(one.max_difference));
    EXPECT_EQ(one.ratio_p99, 1.0);  // the 99th of 100
    EXPECT_EQ(float_bits(one.weights[0]), 0x7FC00000U);
    EXPECT_TRUE(std::isnan(not_finite({1.0F, nan, -1.0F, nan}).ratio_p99));
    EXPECT_TRUE(std::isnan(not_finite({nan, 1.0F}).max_difference));
  }
}

TEST(Loss, InfinitiesStayInfinite) {
  const float infinity = float_from_bits(0x7F800000U);
  const Loss above = not_finite({infinity, infinity});
  EXPECT_EQ(above.k1, -infinity);
  EXPECT_EQ(above.max_difference, infinity);
  EXPECT_EQ(above.ratio_p99, infinity);
  const Loss below = not_finite({-infinity});
  EXPECT_EQ(below.k1, infinity);
  EXPECT_EQ(below.k3, infinity);
  EXPECT_EQ(below.max_difference, infinity);
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
