// Whole runs of the preset tiny: killed and resumed, refused, recorded.

#include "conformance/training/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "tests/training/on_reference.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof::training {
namespace {

RunOptions options_in(const std::filesystem::path& folder, std::string_view plan) {
  RunOptions options{testing::tiny(), *find_precision_plan(plan), folder, {}, false, 2};
  options.config.warm_start.steps = 20;
  return options;
}

Records finished(const RunOptions& options, const RunWatch& watch = {}) {
  Operators operators = testing::reference_operators();
  auto records = run(operators, options, watch);
  EXPECT_TRUE(records) << records.error().message;
  return *std::move(records);
}

/// Everything that a run writes but the column of times.
std::string without_times(const Records& records) {
  std::string text = trace_text(records.trace()) + records.summary().dump();
  std::istringstream lines(records.csv());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string cell;
    for (int column = 0; std::getline(cells, cell, ','); ++column) text += column == 14 ? "" : cell + ",";
  }
  return text;
}

TEST(Run, GoesOnWithTheSameBitsAfterAKillAtAnyStep) {
  const testing::TemporaryFolder folder;
  const std::string whole = without_times(finished(options_in(folder / "whole", "mxfp4-2d-weight")));
  for (std::int64_t killed_at = 1; killed_at < 25; killed_at += 4) {
    RunOptions options = options_in(folder / std::to_string(killed_at), "mxfp4-2d-weight");
    std::int64_t steps = 0;
    finished(options, [&](const RunStep&) { return ++steps < killed_at; });
    ASSERT_EQ(steps, killed_at);
    options.resume = true;
    ASSERT_EQ(without_times(finished(options)), whole) << "killed at " << killed_at;
  }
}

/// Noise on the norms so large that no log-probability of the rollout is a number.
RunOptions diverging_in(const std::filesystem::path& folder) {
  RunOptions options = options_in(folder, "mxfp4+aqn");
  options.config.reinforcement.steps = 6;
  options.plan.noise.sigma_start = 3e38F;
  options.plan.noise.sigma_end = 3e38F;
  options.plan.noise.intervals = 3;
  options.measure_every = 1;
  return options;
}

TEST(Run, RecordsWhereItDivergedAndGoesOn) {
  const testing::TemporaryFolder folder;
  const Records whole = finished(diverging_in(folder / "whole"));
  // The first third of the steps has no noise.
  EXPECT_EQ(whole.diverged_at(), 3);
  EXPECT_EQ(whole.summary().at("diverged_at"), 3);
  EXPECT_NE(whole.csv().find("nan"), std::string::npos);
  EXPECT_EQ(whole.csv().find("-nan"), std::string::npos);

  RunOptions options = diverging_in(folder / "killed");
  finished(options, [](const RunStep& step) { return step.phase == "warm-start" || step.step < 5; });
  EXPECT_FALSE(std::filesystem::exists(options.folder / "summary.json"));
  options.resume = true;
  EXPECT_EQ(without_times(finished(options)), without_times(whole));
  EXPECT_EQ(finished(options_in(folder / "sound", "mxfp4")).summary().at("diverged_at"), nullptr);
}

TEST(Run, WritesANanWithoutItsSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> texts;
  std::vector<std::uint64_t> chains;
  for (const double sign : {1.0, -1.0}) {
    Records records;
    StepRecord step;
    step.step = 1;
    step.entropy = std::copysign(nan, sign);
    step.optimizer.gradient_norm = std::copysign(nan, -sign);
    step.loss.k1 = -std::numeric_limits<double>::infinity();
    records.add(step, {}, 0.25);
    texts.push_back(records.csv());
    Trace trace;
    trace.begin(1);
    trace.add("gradient_norm", step.optimizer.gradient_norm);
    chains.push_back(trace.end().chain);
  }
  EXPECT_EQ(texts[0].substr(texts[0].find('\n') + 1), "1,0,0,nan,-inf,0,0,0,0,0,0,0,nan,0,0.250,,,\n");
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(chains[0], chains[1]);
}

TEST(Run, BorrowsAWarmStartWithTheSameBits) {
  const testing::TemporaryFolder folder;
  const RunOptions first = options_in(folder / "first", "bf16");
  const std::string whole = without_times(finished(first));
  RunOptions second = options_in(folder / "second", "bf16");
  second.warm_start = first.folder / "warm_start.safetensors";
  EXPECT_EQ(without_times(finished(second)), whole);

  second.folder = folder / "third";
  second.config.seed = 2;
  Operators operators = testing::reference_operators();
  const auto refused = run(operators, second);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
}

TEST(Run, RefusesAFolderWithARunAndACheckpointOfAnother) {
  const testing::TemporaryFolder folder;
  RunOptions options = options_in(folder / "run", "bf16");
  finished(options);
  Operators operators = testing::reference_operators();
  const auto again = run(operators, options);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::usage);
  options.resume = true;
  options.plan = *find_precision_plan("mxfp4");
  const auto other = run(operators, options);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::usage);
}

TEST(Run, RefusesADamagedCheckpointAndRecord) {
  const testing::TemporaryFolder folder;
  RunOptions options = options_in(folder / "run", "bf16");
  finished(options);
  options.resume = true;
  Operators operators = testing::reference_operators();
  const std::string trace = testing::get_file(options.folder / "trace.json");
  testing::put_file(options.folder / "trace.json", trace.substr(0, trace.size() / 2));
  const auto torn = run(operators, options);
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().kind, ErrorKind::corrupt);
  testing::put_file(options.folder / "trace.json", trace);
  testing::put_file(options.folder / "checkpoint.safetensors", "no tensors");
  const auto broken = run(operators, options);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, ErrorKind::corrupt);
}

}  // namespace
}  // namespace fp4proof::training
