// The digest chains of named plans under presets, against the committed ones.
//
//     training_digests_test --check PRESET [PLAN...]      recomputes those plans, or all, and compares
//     training_digests_test --update PRESET [PLAN...]     recomputes them and writes each as soon as it is known

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/training/run.h"
#include "conformance/vectors/atomic_file.h"
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

nlohmann::json all_committed() {
  std::ifstream file(digests_path());
  EXPECT_TRUE(file.good()) << digests_path();
  return nlohmann::json::parse(file);
}

nlohmann::json committed(std::string_view preset) { return all_committed().at("presets").at(std::string(preset)); }

/// Runs of plans under one preset, all from the warm start of the first. `first_steps` of the file shortens those whose
/// whole runs take hours on a CPU.
class Runs {
 public:
  explicit Runs(std::string_view preset) : options_{*find_preset(preset), {}, {}, {}, false, 1000} {
    auto& steps = options_.config.reinforcement.steps;
    steps = all_committed().at("first_steps").value(preset, steps);
  }

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

INSTANTIATE_TEST_SUITE_P(Every, CommittedDigests, ::testing::Values("tiny", "tiny-moe", "micro"));

Result<void> commit(std::string_view preset, std::string_view plan, const std::string& digest) {
  nlohmann::json all = all_committed();
  all["presets"][std::string(preset)][std::string(plan)] = digest;
  return write_file(digests_path(), bytes_of(all.dump(2) + "\n"));
}

/// Prints one line a plan. With `write` the file then holds them; else a digest that is not committed is an error.
Result<void> recompute(std::string_view preset, const std::vector<std::string_view>& plans, bool write) {
  Runs runs(preset);
  bool equal = true;
  for (const std::string_view plan : plans) {
    const auto digest = runs.digest(plan);
    if (!digest) return digest.error();
    const auto known = all_committed().at("presets").value(preset, nlohmann::json::object()).value(plan, "none");
    equal = equal && known == *digest;
    fmt::print("{} {} {} committed: {}\n", preset, plan, *digest, known == *digest ? "the same" : known);
    std::fflush(stdout);
    if (!write) continue;
    if (const auto written = commit(preset, plan, *digest); !written) return written;
  }
  if (write || equal) return {};
  return Error{ErrorKind::data, "digests differ from those committed"};
}

/// The answer to `--check PRESET PLAN...` and `--update PRESET PLAN...`.
int answer(std::string_view option, std::string_view preset, std::vector<std::string_view> plans) {
  if (find_preset(preset) == nullptr) {
    fmt::print(stderr, "no preset {}\n", preset);
    return 2;
  }
  for (std::string_view& plan : plans) {
    const PrecisionPlan* const named = find_precision_plan(plan);
    if (named == nullptr) {
      fmt::print(stderr, "no plan {}\n", plan);
      return 2;
    }
    plan = named->name;
  }
  if (plans.empty()) plans = committed_plans(preset);
  const auto done = recompute(preset, plans, option == "--update");
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}

}  // namespace
}  // namespace fp4proof::training

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const bool asked = words.size() > 1 && (words[0] == "--check" || words[0] == "--update");
  if (!asked) return RUN_ALL_TESTS();
  try {
    return fp4proof::training::answer(words[0], words[1], {words.begin() + 2, words.end()});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
