// Corrected tensors and their products by the portable road, against the oracle, bit for bit: named stacks on named
// profiles and custom stacks on custom profiles in turn, on random tensors.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/spec_profiles.h"
#include "tests/exhaustive/corrections_comparison.h"

namespace {

using namespace fp4proof;
using namespace fp4proof::exhaustive;

struct Combination {
  CorrectionStack stack;
  Profile profile;
};

/// Every named stack with every profile that goes with it.
std::vector<Combination> named_combinations() {
  std::vector<Combination> all;
  for (const CorrectionStack& stack : correction_stacks())
    for (const Profile& profile : profiles())
      if (exact::check_stack(profile, stack).ok()) all.push_back({stack, profile});
  return all;
}

Combination combination_of(std::uint64_t trial, const std::vector<Combination>& named, TrialDraw& draw) {
  if (trial % 2 == 0) return named[trial / 2 % named.size()];
  const CorrectionStack stack = random_stack(draw);
  return {stack, random_profile_for(stack, draw)};
}

TrialOutcome run(std::uint64_t trial, const std::vector<Combination>& named) {
  TrialDraw draw(std::uint64_t{1} << 40 | trial);
  const Combination combination = combination_of(trial, named, draw);
  const TrialOutcome outcome = compare_trial(random_trial(combination.profile, combination.stack, draw), draw);
  if (!outcome.difference.empty()) {
#pragma omp critical
    fmt::print(stderr, "tensor {}: {}\n", trial, outcome.difference);
  }
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Random corrected tensors and products of the portable road, against the oracle"};
  std::int64_t blocks = 100'000;
  std::int64_t first = 0;
  app.add_option("--blocks", blocks, "random tensors")->check(CLI::PositiveNumber);
  app.add_option("--first", first, "number of the first tensor")->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  const std::vector<Combination> named = named_combinations();
  std::uint64_t refused = 0;
  std::uint64_t products = 0;
  std::uint64_t differences = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : refused, products, differences)
  for (std::int64_t trial = first; trial < first + blocks; ++trial) {
    const TrialOutcome outcome = run(static_cast<std::uint64_t>(trial), named);
    refused += outcome.refused ? 1 : 0;
    products += static_cast<std::uint64_t>(outcome.products);
    differences += outcome.difference.empty() ? 0 : 1;
  }
  fmt::print("{} tensors ({} refused by both roads), {} products, {} differences\n", blocks, refused, products,
             differences);
  return differences == 0 && products != 0 ? 0 : 1;
}
