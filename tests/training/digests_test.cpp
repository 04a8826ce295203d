// The digest chains of named plans under presets, against the committed ones.
//
//     training_digests_test --update PRESET     writes those of a preset anew

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

std::vector<std::string_view> named_plans() {
  std::vector<std::string_view> names;
  for (const PrecisionPlan& plan : precision_plans()) names.push_back(plan.name);
  return names;
}

/// What is committed, and what of it is recomputed here: all but for `micro`, where a run takes half a minute.
std::vector<std::string_view> committed_plans(std::string_view preset) {
  if (preset == "tiny-moe") return {"bf16", "mxfp4+all", "mxfp4-2d-weight", "hif4+resq"};
  return named_plans();
}
std::vector<std::string_view> checked_plans(std::string_view preset) {
  if (preset == "micro") return {"bf16", "mxfp4", "hif4+resq"};
  return committed_plans(preset);
}

/// The plans of a preset from one warm start: plan -> digest.
nlohmann::json recomputed(std::string_view preset, const std::vector<std::string_view>& plans) {
  const testing::TemporaryFolder folder;
  nlohmann::json digests;
  RunOptions options{*find_preset(preset), {}, {}, {}, false, 1000};
  for (const std::string_view name : plans) {
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

TEST_P(Digests, AreThoseCommitted) {
  const nlohmann::json expected = committed(GetParam());
  const nlohmann::json actual = recomputed(GetParam(), checked_plans(GetParam()));
  for (const std::string_view plan : checked_plans(GetParam())) {
    EXPECT_EQ(actual.at(std::string(plan)), expected.at(std::string(plan))) << plan;
  }
}

TEST_P(Digests, TellPlansApart) {
  const nlohmann::json plans = committed(GetParam());
  EXPECT_EQ(plans.size(), committed_plans(GetParam()).size());
  const std::set<std::string> digests(plans.begin(), plans.end());
  EXPECT_EQ(digests.size(), plans.size());
}

INSTANTIATE_TEST_SUITE_P(Tiny, Digests, ::testing::Values("tiny", "tiny-moe"));
INSTANTIATE_TEST_SUITE_P(Micro, Digests, ::testing::Values("micro"));

void update(std::string_view preset) {
  nlohmann::json all = {{"format", "fp4proof-training-digests/1"}};
  if (std::ifstream file(digests_path()); file) all = nlohmann::json::parse(file);
  all["presets"][std::string(preset)] = recomputed(preset, committed_plans(preset));
  std::ofstream(digests_path()) << all.dump(2) << "\n";
}

}  // namespace
}  // namespace fp4proof::training

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 2 && std::string_view(argv[1]) == "--update") {
    fp4proof::training::update(argv[2]);
    return 0;
  }
  return RUN_ALL_TESTS();
}
