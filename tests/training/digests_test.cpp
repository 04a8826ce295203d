// The digest chains of named plans under presets, against the committed ones, which compare_digests.py --update writes.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/training/run.h"
#include "tests/training/on_reference.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof::training {
namespace {

std::vector<std::string_view> named_plans() {
  std::vector<std::string_view> names;
  for (const PrecisionPlan& plan : precision_plans()) names.push_back(plan.name);
  return names;
}

/// What is committed, and what of it is recomputed by every run of the tests: of `micro`, where a run takes half a
/// minute, three; of `micro-moe` none.
std::vector<std::string_view> committed_plans(std::string_view preset) {
  if (preset == "tiny-moe") return {"bf16", "mxfp4+all", "mxfp4-2d-weight", "hif4+resq"};
  return named_plans();
}
std::vector<std::string_view> checked_plans(std::string_view preset) {
  if (preset == "micro") return {"bf16", "mxfp4", "hif4+resq"};
  return committed_plans(preset);
}

nlohmann::json committed(std::string_view preset) {
  std::ifstream file(FP4PROOF_SOURCE_DIR "/vectors/training_digests.json");
  EXPECT_TRUE(file.good());
  return nlohmann::json::parse(file).at("presets").at(std::string(preset));
}

/// Runs of plans under one preset, all from the warm start of the first.
class Runs {
 public:
  explicit Runs(std::string_view preset) : options_{*find_preset(preset), {}, {}, {}, false, 1000} {}

  Result<std::string> digest(std::string_view plan) {
    options_.plan = *find_precision_plan(plan);
    options_.folder = folder_ / std::to_string(count_++);
    Operators operators = testing::reference_operators();
    const auto records = run(operators, options_);
    if (!records) return records.error();
    if (options_.warm_start.empty()) options_.warm_start = options_.folder / "warm_start.safetensors";
    return records->summary().at("digest").get<std::string>();
  }

 private:
  testing::TemporaryFolder folder_;
  RunOptions options_;
  int count_ = 0;
};

class Digests : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Digests, AreThoseCommitted) {
  const nlohmann::json expected = committed(GetParam());
  Runs runs(GetParam());
  for (const std::string_view plan : checked_plans(GetParam())) {
    const auto digest = runs.digest(plan);
    ASSERT_TRUE(digest) << digest.error().message;
    EXPECT_EQ(*digest, expected.at(std::string(plan))) << plan;
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, Digests, ::testing::Values("tiny", "tiny-moe"));
INSTANTIATE_TEST_SUITE_P(Micro, Digests, ::testing::Values("micro"));

class CommittedDigests : public ::testing::TestWithParam<std::string_view> {};

TEST_P(CommittedDigests, AreOfEveryPlanAndTellPlansApart) {
  const nlohmann::json plans = committed(GetParam());
  for (const std::string_view plan : committed_plans(GetParam())) EXPECT_TRUE(plans.contains(plan)) << plan;
  EXPECT_EQ(plans.size(), committed_plans(GetParam()).size());
  const std::set<std::string> digests(plans.begin(), plans.end());
  EXPECT_EQ(digests.size(), plans.size());
}

INSTANTIATE_TEST_SUITE_P(Every, CommittedDigests, ::testing::Values("tiny", "tiny-moe", "micro", "micro-moe", "mid"));

}  // namespace
}  // namespace fp4proof::training
