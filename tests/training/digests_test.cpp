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

/// Every named plan from one warm start: plan -> digest.
nlohmann::json recomputed() {
  const testing::TemporaryFolder folder;
  nlohmann::json digests;
  RunOptions options{testing::tiny(), {}, {}, {}, false, 100};
  for (const PrecisionPlan& plan : precision_plans()) {
    options.plan = plan;
    options.folder = folder / std::to_string(digests.size());
    Operators operators = testing::reference_operators();
    const auto records = run(operators, options);
    EXPECT_TRUE(records) << records.error().message;
    if (!records) return {};
    digests[std::string(plan.name)] = records->summary()["digest"];
    if (options.warm_start.empty()) options.warm_start = options.folder / "warm_start.safetensors";
  }
  return digests;
}

TEST(Digests, OfEveryNamedPlanUnderTiny) {
  std::ifstream file(digests_path());
  ASSERT_TRUE(file.good()) << digests_path();
  const nlohmann::json committed = nlohmann::json::parse(file);
  EXPECT_EQ(recomputed(), committed.at("presets").at("tiny"));
}

TEST(Digests, TellPlansApart) {
  // Plans of equal arithmetic within five steps may share a digest; these must not.
  std::ifstream file(digests_path());
  const nlohmann::json tiny = nlohmann::json::parse(file).at("presets").at("tiny");
  std::set<std::string> digests;
  for (const auto& [plan, digest] : tiny.items()) digests.insert(digest);
  EXPECT_EQ(digests.size(), tiny.size());
}

void update() {
  nlohmann::json all = {{"format", "fp4proof-training-digests/1"}};
  if (std::ifstream file(digests_path()); file) all = nlohmann::json::parse(file);
  all["presets"]["tiny"] = recomputed();
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
