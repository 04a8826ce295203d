// A plug-in that quantizes and multiplies, and the reference for the rest: the same digest as the reference alone. The
// plug-in is the reference behind the interface for vendors.
//
// Usage: training_mixed_test PLUGIN

#include <gtest/gtest.h>

#include "conformance/training/load_backend.h"
#include "conformance/training/mixed_training.h"
#include "conformance/training/run.h"
#include "tests/training/on_reference.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof::training {
namespace {

std::string plugin_path;

void expect_the_digest_of_the_reference(const PrecisionPlan& plan) {
  const testing::TemporaryFolder folder;
  RunOptions options{testing::tiny(), plan, {}, {}, false, 1000};
  options.config.warm_start.steps = 50;
  options.config.reinforcement.steps = 3;
  std::vector<std::uint64_t> chains;
  for (const std::string& name : {std::string("reference"), plugin_path}) {
    const auto backend = load_backend(name);
    ASSERT_TRUE(backend) << backend.error().message;
    Operators operators(**backend);
    options.folder = folder / std::to_string(chains.size());
    const auto records = run(operators, options);
    ASSERT_TRUE(records) << records.error().message;
    chains.push_back(records->chain());
  }
  EXPECT_EQ(chains[0], chains[1]);
  EXPECT_FALSE(mixed_account().starts_with("0 "));
}

constexpr std::string_view all_by_the_plugin = " calls by the plug-in, 0 that it does not offer by the reference";

class Mixed : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Mixed, GivesTheDigestOfTheReference) {
  expect_the_digest_of_the_reference(*find_precision_plan(GetParam()));
  EXPECT_TRUE(mixed_account().ends_with(all_by_the_plugin)) << mixed_account();
}

/// No question of the interface has two profiles, or tiles of another length than the blocks of its profile.
TEST(MixedPlans, WhatCannotBeAskedIsLeftToTheReference) {
  PrecisionPlan two_profiles = *find_precision_plan("mxfp4");
  two_profiles.name = "two profiles";
  two_profiles.forward_weight.profile = "mxfp8-e4m3/rceil";
  PrecisionPlan short_tiles = *find_precision_plan("mxfp4");
  short_tiles.name = "short tiles";
  short_tiles.forward_activation.stack = short_tiles.forward_weight.stack = "tile-16";
  PrecisionPlan long_tiles = short_tiles;
  long_tiles.name = "long tiles";
  long_tiles.forward_activation.stack = long_tiles.forward_weight.stack = "tile-64";
  for (const PrecisionPlan& plan : {two_profiles, short_tiles, long_tiles}) {
    SCOPED_TRACE(plan.name);
    expect_the_digest_of_the_reference(plan);
    EXPECT_FALSE(mixed_account().ends_with(all_by_the_plugin));
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, Mixed,
                         ::testing::Values("mxfp4+all", "mxfp4-2d-all", "hif4+resq", "mxfp4+hadamard-16"));

}  // namespace
}  // namespace fp4proof::training

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  fp4proof::training::plugin_path = argv[1];
  return RUN_ALL_TESTS();
}
