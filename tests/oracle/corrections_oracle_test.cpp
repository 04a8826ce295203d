// The portable corrections against the oracle's, bit for bit: codes, scales, macro bytes, residuals, values, packed
// residuals and products. Every named stack on every profile, then custom stacks on custom profiles, then the noise.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/exact/noise.h"
#include "reference/portable/noise.h"
#include "tests/exhaustive/corrections_comparison.h"

namespace fp4proof {
namespace {

using namespace exhaustive;

/// Returns how many products both roads gave.
int expect_same(const CorrectionTrial& trial, TrialDraw& draw) {
  const TrialOutcome outcome = compare_trial(trial, draw);
  EXPECT_EQ(outcome.difference, "");
  return outcome.products;
}

/// Whether an earlier profile of the table has the same rule.
bool is_alias(const Profile& profile) {
  for (const Profile& other : profiles()) {
    if (other.name == profile.name) return false;
    Profile renamed = other;
    renamed.name = profile.name;
    renamed.summary = profile.summary;
    if (renamed == profile) return true;
  }
  return false;
}

TEST(CorrectionsAgainstOracle, EveryNamedStackOnEveryProfile) {
  std::vector<std::pair<Profile, CorrectionStack>> allowed;
  for (const CorrectionStack& stack : correction_stacks()) {
    for (const Profile& profile : profiles()) {
      if (is_alias(profile)) continue;
      const bool ours = portable::check_stack(profile, stack).ok();
      EXPECT_EQ(ours, exact::check_stack(profile, stack).ok()) << profile.name << " " << stack.name;
      if (ours) allowed.emplace_back(profile, stack);
    }
  }
  int products = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : products)
  for (std::size_t trial = 0; trial < 3 * allowed.size(); ++trial) {
    const auto& [profile, stack] = allowed[trial % allowed.size()];
    TrialDraw draw(trial);
    products += expect_same(random_trial(profile, stack, draw), draw);
  }
  EXPECT_GT(allowed.size(), 600U);
  EXPECT_GT(products, 1500);
}

TEST(CorrectionsAgainstOracle, CustomStacksOnCustomProfiles) {
  int allowed = 0;
  int refused = 0;
  int products = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : allowed, refused, products)
  for (std::uint64_t trial = 1'000'000; trial < 1'002'400; ++trial) {
    TrialDraw draw(trial);
    const CorrectionStack stack = random_stack(draw);
    const Profile profile = random_profile_for(stack, draw);
    const bool ours = portable::check_stack(profile, stack).ok();
    const CorrectionTrial tensor = random_trial(profile, stack, draw);
    EXPECT_EQ(ours, exact::check_stack(profile, stack).ok()) << describe(tensor);
    ++(ours ? allowed : refused);
    if (ours) products += expect_same(tensor, draw);
  }
  EXPECT_GT(allowed, 600);
  EXPECT_GT(refused, 400);
  EXPECT_GT(products, 400);
}

TEST(CorrectionsAgainstOracle, HadamardSignsOfAnySeedAndProduct) {
#pragma omp parallel for schedule(dynamic)
  for (std::uint64_t trial = 0; trial < 40; ++trial) {
    TrialDraw draw(2'000'000 + trial);
    CorrectionStack stack = *find_correction_stack(trial % 2 == 0 ? "hadamard-16" : "hadamard-16-fresh");
    stack.hadamard.seed = draw.seed();
    expect_same(random_trial(*find_profile("mxfp4/ocp"), stack, draw), draw);
  }
}

// --- Noise -----------------------------------------------------------------------------------------------------------

TEST(NoiseAgainstOracle, EverySigmaOfRandomSchedules) {
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    TrialDraw draw(3'000'000 + trial);
    portable::NoiseSchedule schedule;
    const auto positive = [&draw] {
      const std::uint32_t width = draw.one_in(4) ? 254 : 12;
      return float_from_bits((draw.word() & 0x7FFFFFU) | (width == 254 ? draw.below(255) : 115 + draw.below(12)) << 23);
    };
    schedule.sigma_start = positive();
    schedule.sigma_end = draw.one_in(8) ? schedule.sigma_start : positive();
    schedule.intervals = 3 + draw.below(draw.one_in(8) ? 60 : 12);
    schedule.first_silent = draw.one_in(2);
    schedule.steps = schedule.intervals + draw.below(3 * schedule.intervals);
    if (!portable::check_schedule(schedule)) continue;
    const exact::NoiseIntervals intervals = {float_bits(schedule.sigma_start), float_bits(schedule.sigma_end),
                                             schedule.intervals, schedule.first_silent, schedule.steps};
    std::uint32_t previous = 0;
    for (std::uint32_t step = 0; step < schedule.steps; ++step) {
      const std::uint32_t ours = float_bits(portable::noise_sigma(schedule, step));
      if (step != 0 && ours == previous && step % 3 != 0) continue;
      previous = ours;
      ASSERT_EQ(ours, exact::noise_sigma(intervals, step)) << "trial " << trial << " step " << step;
    }
  }
}

TEST(NoiseAgainstOracle, Weights) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    TrialDraw draw(4'000'000 + trial);
    std::vector<float> clean(40);
    for (float& w : clean) w = float_from_bits(draw.word() & (draw.one_in(4) ? 0xFFFFFFFFU : 0xBFFFFFFFU));
    const float sigma = trial % 5 == 0 ? 0.0F : float_from_bits(draw.below(255) << 23 | (draw.word() & 0x7FFFFFU));
    const std::uint64_t seed = draw.seed();
    const std::uint32_t step = draw.word();
    const std::uint32_t layer = draw.word();
    const std::vector<float> noisy = portable::noisy_weights(clean, sigma, seed, step, layer);
    ASSERT_EQ(noisy.size(), clean.size());
    for (std::size_t channel = 0; channel < clean.size(); ++channel) {
      const float normal = random_normal(seed, Stream::aqn, step, std::uint64_t{layer} << 32 | channel);
      const std::uint32_t oracle =
          exact::noisy_weight(float_bits(clean[channel]), float_bits(sigma), float_bits(normal));
      EXPECT_EQ(float_bits(noisy[channel]), oracle) << "trial " << trial << " channel " << channel;
    }
  }
}

}  // namespace
}  // namespace fp4proof
