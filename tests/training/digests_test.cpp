// The digest chain of every named plan under the preset tiny, against the committed ones.
//
//     training_digests_test --update     writes them anew

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/training/run.h"
#include "tests/training/on_reference.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof::training {
namespace {

const std::string& digests_path() {
  static const std::string path = FP4PROOF_SOURCE_DIR "/vectors/training_digests.json";
  return path;
}

std::vector<std::string_view> plans_of(std::string_view preset) {
  if (preset == "tiny-moe") return {"bf16", "mxfp4+all", "mxfp4-2d-weight", "hif4+resq"};
  std::vector<std::string_view> all;
  for (const PrecisionPlan& plan : precision_plans()) all.push_back(plan.name);
  return all;
}

/// The plans of a preset from one warm start: plan -> digest.
nlohmann::json recomputed(std::string_view preset) {
  const testing::TemporaryFolder folder;
  nlohmann::json digests;
  RunOptions options{*find_preset(preset), {}, {}, {}, false, 1000};
  for (const std::string_view name : plans_of(preset)) {
    options.plan = *find_precision_plan(name);
    options.folder = folder / std::to_string(digests.size());
    Operators operators = testing::reference_operators();
    const auto records = run(operators, options);
    EXPECT_TRUE(records) << records.error().message;
    if (!records) return {};
    digests[std::string(name)] = records->summary()["digest"];
    if (options.warm_start.empty()) options.warm_start = options.folder / "warm_start.safetensors";
  }
  return digests;
}

nlohmann::json committed(std::string_view preset) {
  std::ifstream file(digests_path());
  EXPECT_TRUE(file.good()) << digests_path();
  return nlohmann::json::parse(file).at("presets").at(std::string(preset));
}

class Digests : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Digests, AreThoseCommitted) { EXPECT_EQ(recomputed(GetParam()), committed(GetParam())); }

TEST_P(Digests, TellPlansApart) {
  const nlohmann::json plans = committed(GetParam());
  const std::set<std::string> digests(plans.begin(), plans.end());
  EXPECT_EQ(digests.size(), plans_of(GetParam()).size());
}

INSTANTIATE_TEST_SUITE_P(Presets, Digests, ::testing::Values("tiny", "tiny-moe"));

void update() {
  nlohmann::json all = {{"format", "fp4proof-training-digests/1"}};
  if (std::ifstream file(digests_path()); file) all = nlohmann::json::parse(file);
  for (const std::string_view preset : {"tiny", "tiny-moe"}) all["presets"][std::string(preset)] = recomputed(preset);
  std::ofstream(digests_path()) << all.dump(2) << "\n";
}

}  // namespace
}  // namespace fp4proof::training

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "--update") {
    fp4proof::training::update();
    return 0;
  }
  return RUN_ALL_TESTS();
}
