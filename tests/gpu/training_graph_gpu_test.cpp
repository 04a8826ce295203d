// Training operators recorded in CUDA graphs: the bits of the same calls launched one by one, and of the reference.

#include "gpu/training_graph.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/training/reference_training.h"
#include "conformance/training_backend.h"
#include "gpu/training_rows.h"
#include "gpu/training_weights.h"
#include "tests/gpu/device_memory.h"
#include "tests/gpu/training_comparison.h"

namespace fp4proof::training {
namespace {

using gpu::training::SegmentGraphs;
using Table = fp4proof_training;

class TrainingGraphs : public testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// The table, with graphs and without
// ---------------------------------------------------------------------------------------------------------------------

using Body = std::function<void(const Table&, TableRun&)>;

std::vector<Output> outputs_of(const Table& table, const Body& body) {
  TableRun run(table);
  body(table, run);
  EXPECT_EQ(run.problem(), "");
  return run.outputs();
}

const Table* open_table(bool graphs) {
  ::setenv("FP4PROOF_TRAINING_GRAPHS", graphs ? "1" : "0", 1);
  const Table* const table = fp4proof_open_training(FP4PROOF_TRAINING_VERSION);
  ::unsetenv("FP4PROOF_TRAINING_GRAPHS");
  return table;
}

std::vector<Output> device_outputs(bool graphs, const Body& body) {
  const Table* const table = open_table(graphs);
  if (table == nullptr) return {};
  std::vector<Output> outputs = outputs_of(*table, body);
  table->close();
  return outputs;
}

void compare_graphs(const Body& body) {
  const std::vector<Output> expected = outputs_of(*reference_training(), body);
  const std::vector<Output> one_by_one = device_outputs(false, body);
  const std::vector<Output> recorded = device_outputs(true, body);
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(one_by_one.size(), expected.size());
  ASSERT_EQ(recorded.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expect_same(expected[i], one_by_one[i], "one by one");
    expect_same(one_by_one[i], recorded[i], "recorded");
  }
}

TEST_F(TrainingGraphs, TheDescriptionSaysSo) {
  for (const bool graphs : {false, true}) {
    const Table* const table = open_table(graphs);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(std::string(table->description).find(", CUDA graphs") != std::string::npos, graphs);
    table->close();
  }
}

fp4proof_random words_of(std::int64_t step, std::uint64_t first = 0) {
  return {5, 8, static_cast<std::uint32_t>(step), first};
}

/// Noise, its sum of squares, and a step of Adam, whose rates and random words are new in every step.
struct Weights {
  std::int64_t count;
  const float* gradient;
  float* weight;
  float* first_moment;
  float* second_moment;
  float* noisy;
  double* squares;

  Weights(TableRun& run, std::int64_t numbers)
      : count(numbers),
        gradient(run.input(normals(numbers, 1))),
        weight(run.output<float>("weight", numbers, normals(numbers, 2))),
        first_moment(run.output<float>("first_moment", numbers, std::vector<float>(std::size_t(numbers)))),
        second_moment(run.output<float>("second_moment", numbers, std::vector<float>(std::size_t(numbers)))),
        noisy(run.output<float>("noisy", numbers)),
        squares(run.output<double>("squares", 1)) {}

  void step(TableRun& run, std::int64_t number) const {
    const auto t = static_cast<float>(number);
    run.call(&Table::add_noise, {0, count, words_of(number), 0.01F * t, 0.0F, weight, noisy});
    run.call(&Table::sum_squares, {0, count, noisy, squares});
    run.call(&Table::adam, {0, count, 1e-3F * t, 0.9F, 0.95F, 1e-8F, 0.1F * t, 0.05F * t, 1.0F / t, 0.0F, gradient,
                            first_moment, second_moment, weight});
  }
};

/// Each step leaves a digest of what it wrote, so that no step hides behind a later one.
TEST_F(TrainingGraphs, StepsThatRepeatWithOtherParameters) {
  constexpr std::int64_t steps = 6;
  compare_graphs([](const Table& table, TableRun& run) {
    const Weights weights(run, 5000);
    auto* const digests = run.output<std::uint64_t>("digests", 2 * steps);
    for (std::int64_t step = 1; step <= steps; ++step) {
      weights.step(run, step);
      run.call(&Table::digest, {0, weights.count, weights.noisy, digests + 2 * (step - 1)});
      run.call(&Table::digest, {0, weights.count, weights.weight, digests + 2 * step - 1});
      if (step % 2 != 0) continue;
      EXPECT_EQ(table.synchronize(), FP4PROOF_OK);
    }
  });
}

/// Several bounds of a segment without a wait, so that graphs of one shape follow one another on the stream.
TEST_F(TrainingGraphs, MoreCallsThanASegmentHolds) {
  compare_graphs([](const Table& /*table*/, TableRun& run) {
    const Weights weights(run, 900);
    const float* const x = run.input(normals(900, 3));
    float* const sum = run.output<float>("sum", 900, normals(900, 4));
    for (int i = 0; i < 5 * SegmentGraphs::longest_segment + 17; ++i) run.call(&Table::add, {0, 900, sum, x, sum});
    for (std::int64_t step = 1; step <= SegmentGraphs::longest_segment; ++step) weights.step(run, step);
  });
}

fp4proof_quantize_call quantization(const float* x, std::int64_t rows, std::int64_t columns, std::int64_t step,
                                    float* values) {
  fp4proof_quantize_call call{};
  call.profile = "mxfp4/rceil";
  call.stack = "none";
  call.rows = rows;
  call.columns = columns;
  call.axis = 1;
  call.stochastic = 1;
  call.random = words_of(step, 3);
  call.x = x;
  call.values = values;
  return call;
}

TEST_F(TrainingGraphs, AWorkspaceThatGrowsInTheMiddle) {
  compare_graphs([](const Table& /*table*/, TableRun& run) {
    const Weights small(run, 700);
    for (const std::int64_t rows : {8, 96, 1024}) {
      const std::int64_t n = rows * 64;
      const float* const x = run.input(normals(n, 5));
      auto* const codes = run.output<std::uint8_t>("codes", n / 2);
      auto* const scales = run.output<std::uint8_t>("scales", n / 32);
      float* const values = run.output<float>("values", n);
      auto* const squares = run.output<double>("squares", 2);
      small.step(run, rows);
      run.call(&Table::sum_squares, {0, n, x, squares});
      fp4proof_quantize_call call = quantization(x, rows, 64, rows, values);
      call.first = {codes, scales, nullptr, nullptr};
      run.call(&Table::quantize, call);
      run.call(&Table::sum_squares, {0, n, values, squares + 1});
    }
  });
}

TEST_F(TrainingGraphs, MemoryThatGoesAndComesInTheMiddle) {
  constexpr std::int64_t n = 3000;
  compare_graphs([](const Table& table, TableRun& run) {
    const float* const a = run.input(normals(n, 6));
    const float* const b = run.input(normals(n, 7));
    for (int turn = 0; turn < 4; ++turn) {
      float* const y = run.output<float>("y", n);
      float* const z = run.output<float>("z", n);
      auto* const between = static_cast<float*>(table.allocate(n * sizeof(float)));
      ASSERT_NE(between, nullptr);
      run.call(&Table::add, {0, n, a, b, between});
      run.call(&Table::add, {0, n, between, b, y});
      table.release(between);
      // Most likely the same address; it must be zero for what follows and untouched by what came before.
      auto* const again = static_cast<float*>(table.allocate(n * sizeof(float)));
      ASSERT_NE(again, nullptr);
      run.call(&Table::add, {0, n, again, a, z});
      table.release(again);
    }
  });
}

TEST_F(TrainingGraphs, TwoShapesInTurn) {
  constexpr std::int64_t steps = 5;
  compare_graphs([](const Table& table, TableRun& run) {
    const Weights weights(run, 2000);
    const float* const x = run.input(normals(2048, 8));
    float* const y = run.output<float>("y", 2048, normals(2048, 9));
    float* const z = run.output<float>("z", 2048);
    auto* const digests = run.output<std::uint64_t>("digests", 2 * steps);
    for (std::int64_t step = 1; step <= steps; ++step) {
      weights.step(run, step);
      run.call(&Table::digest, {0, weights.count, weights.weight, digests + 2 * (step - 1)});
      EXPECT_EQ(table.synchronize(), FP4PROOF_OK);
      // The same calls over fewer numbers in each step, so with other grids.
      const std::int64_t n = 2048 / step;
      run.call(&Table::swiglu, {0, n, x, y, z});
      run.call(&Table::copy_rows, {0, 16, 32, 64, 64, x, y});
      run.call(&Table::digest, {0, n, z, digests + 2 * step - 1});
      EXPECT_EQ(table.synchronize(), FP4PROOF_OK);
    }
  });
}

/// A call that is refused leaves the calls around it as they are, and a segment of refused calls is no segment.
TEST_F(TrainingGraphs, RefusedCallsInTheMiddle) {
  compare_graphs([](const Table& table, TableRun& run) {
    const float* const x = run.input(normals(500, 10));
    float* const y = run.output<float>("y", 500, normals(500, 11));
    const auto refuse = [&table] {
      const fp4proof_add_call call{sizeof(fp4proof_add_call), 3, nullptr, nullptr, nullptr};
      if (&table == reference_training()) return;  // which trusts its caller
      EXPECT_EQ(table.add(&call), FP4PROOF_INVALID);
    };
    refuse();
    EXPECT_EQ(table.synchronize(), FP4PROOF_OK);
    run.call(&Table::add, {0, 500, x, y, y});
    refuse();
    run.call(&Table::add, {0, 500, x, y, y});
  });
}

/// close() with calls that nobody waited for, and a table behind it that works.
TEST_F(TrainingGraphs, ClosedWithAnOpenSegment) {
  for (int turn = 0; turn < 2; ++turn) {
    const Table* const table = open_table(true);
    ASSERT_NE(table, nullptr);
    auto* const memory = static_cast<float*>(table->allocate(64 * sizeof(float)));
    ASSERT_NE(memory, nullptr);
    const fp4proof_add_call add{sizeof(fp4proof_add_call), 64, memory, memory, memory};
    EXPECT_EQ(table->add(&add), FP4PROOF_OK) << table->error();
    EXPECT_EQ(table->synchronize(), FP4PROOF_OK) << table->error();
    EXPECT_EQ(table->add(&add), FP4PROOF_OK) << table->error();
    table->close();
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Segments
// ---------------------------------------------------------------------------------------------------------------------

class TrainingSegments : public TrainingGraphs {
 protected:
  void SetUp() override {
    TrainingGraphs::SetUp();
    if (IsSkipped()) return;
    gpu::require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    graphs_.emplace(stream_);
    numbers_.emplace(std::vector<float>(count, 1.0F));
    digest_.emplace(std::size_t{1});
    gpu::require(cudaDeviceSynchronize());  // the stream waits for no other
  }
  void TearDown() override {
    graphs_.reset();
    numbers_.reset();
    digest_.reset();
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  /// Doubles the numbers.
  void add() {
    ASSERT_TRUE(graphs_->record(1));
    float* const x = numbers_->get();
    ASSERT_EQ(gpu::training::add({sizeof(fp4proof_add_call), count, x, x, x}, stream_), gpu::Status::ok);
  }
  /// A memset and a kernel, so a segment of other nodes.
  void digest() {
    ASSERT_TRUE(graphs_->record(2));
    ASSERT_EQ(gpu::training::digest({sizeof(fp4proof_digest_call), count, numbers_->get(), digest_->get()}, stream_),
              gpu::Status::ok);
  }
  void launch() {
    const Result<void> launched = graphs_->launch();
    ASSERT_TRUE(launched) << launched.error().message;
    gpu::require(cudaStreamSynchronize(stream_));
  }
  void expect_counts(std::int64_t segments, std::int64_t made) {
    EXPECT_EQ(graphs_->counts().segments, segments);
    EXPECT_EQ(graphs_->counts().made, made);
    EXPECT_EQ(graphs_->counts().refused, 0);
  }

  static constexpr std::int64_t count = 1000;
  cudaStream_t stream_ = nullptr;
  std::optional<SegmentGraphs> graphs_;
  std::optional<gpu::DeviceArray<float>> numbers_;
  std::optional<gpu::DeviceArray<std::uint64_t>> digest_;
};

TEST_F(TrainingSegments, NothingRunsBeforeTheLaunch) {
  add();
  add();
  EXPECT_EQ(graphs_->discard(), cudaSuccess);
  gpu::require(cudaStreamSynchronize(stream_));
  EXPECT_EQ(numbers_->values(), std::vector<float>(count, 1.0F));
  add();
  launch();
  EXPECT_EQ(numbers_->values(), std::vector<float>(count, 2.0F));
  expect_counts(1, 1);
}

TEST_F(TrainingSegments, GraphsAreMadeOnceAShape) {
  for (int step = 0; step < 10; ++step) {
    add();
    launch();
    digest();
    add();
    launch();
  }
  EXPECT_EQ(numbers_->values(), std::vector<float>(count, 1048576.0F));
  expect_counts(20, 2);
}

TEST_F(TrainingSegments, AFullSegmentIsLaunched) {
  float* const x = numbers_->get();
  const float* const one = x + count / 2;
  constexpr int calls = 3 * SegmentGraphs::longest_segment;
  for (int i = 0; i < calls; ++i) {
    ASSERT_TRUE(graphs_->record(1));
    ASSERT_EQ(gpu::training::add({sizeof(fp4proof_add_call), 1, x, one, x}, stream_), gpu::Status::ok);
  }
  launch();
  EXPECT_EQ(numbers_->values().front(), 1.0F + calls);
  expect_counts(3, 2);
}

TEST_F(TrainingSegments, NoLaunchesAreNoSegment) {
  launch();
  ASSERT_TRUE(graphs_->record(1));
  launch();
  expect_counts(0, 0);
}

TEST_F(TrainingSegments, ACaptureThatIsSpoiltIsAnError) {
  add();
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  const Result<void> launched = graphs_->launch();
  ASSERT_FALSE(launched);
  EXPECT_NE(launched.error().message.find("the capture of a CUDA graph"), std::string::npos);
  static_cast<void>(cudaGetLastError());
  add();
  launch();
  EXPECT_EQ(numbers_->values(), std::vector<float>(count, 2.0F));
}

}  // namespace
}  // namespace fp4proof::training
