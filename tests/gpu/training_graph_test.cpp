// Segments of launches without a device: the few functions of the CUDA runtime that they call are played here, with
// numbers in place of kernels.

#include "gpu/training_graph.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using Numbers = std::vector<int>;

/// What the runtime would hold.
struct Runtime {
  std::optional<Numbers> open;  ///< what was recorded since the capture began
  Numbers ran;                  ///< on the stream, in order
  const Numbers* last_launched = nullptr;
  int graphs = 0;       ///< that exist
  int executables = 0;  ///< that exist
  int updates = 0;
  bool refuses_updates = false;
  std::string failing;  ///< the function that fails
  cudaError_t last_error = cudaSuccess;
};

Runtime runtime;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the CUDA runtime is global

cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess) runtime.last_error = error;
  return error;
}

bool fails(const char* function) { return runtime.failing == function; }

Numbers* numbers_of(void* handle) { return static_cast<Numbers*>(handle); }

/// In place of a kernel.
void put(int number) { (runtime.open ? *runtime.open : runtime.ran).push_back(number); }

}  // namespace

cudaError_t cudaGetLastError() { return std::exchange(runtime.last_error, cudaSuccess); }

const char* cudaGetErrorString(cudaError_t /*error*/) { return "an error"; }

cudaError_t cudaStreamBeginCapture(cudaStream_t /*stream*/, cudaStreamCaptureMode mode) {
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  EXPECT_FALSE(runtime.open);
  if (fails("begin")) return result(cudaErrorIllegalState);
  runtime.open.emplace();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t /*stream*/, cudaGraph_t* graph) {
  EXPECT_TRUE(runtime.open);
  const auto recorded = std::exchange(runtime.open, std::nullopt);
  *graph = nullptr;
  if (fails("end")) return result(cudaErrorStreamCaptureInvalidated);
  *graph = reinterpret_cast<cudaGraph_t>(new Numbers(*recorded));
  ++runtime.graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete numbers_of(graph);
  --runtime.graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* /*nodes*/, std::size_t* count) {
  *count = numbers_of(graph)->size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long /*flags*/) {
  if (fails("instantiate")) return result(cudaErrorMemoryAllocation);
  *executable = reinterpret_cast<cudaGraphExec_t>(new Numbers(*numbers_of(graph)));
  ++runtime.executables;
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  Numbers* const kept = numbers_of(executable);
  EXPECT_NE(kept, runtime.last_launched) << "it may still run";
  if (fails("update")) {
    info->result = cudaGraphExecUpdateError;
    return result(cudaErrorInvalidValue);
  }
  if (runtime.refuses_updates || kept->size() != numbers_of(graph)->size()) {
    info->result = cudaGraphExecUpdateErrorParametersChanged;
    return result(cudaErrorGraphExecUpdateFailure);
  }
  *kept = *numbers_of(graph);
  ++runtime.updates;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t /*stream*/) {
  EXPECT_FALSE(runtime.open);
  if (fails("launch")) return result(cudaErrorLaunchFailure);
  const Numbers* const kept = numbers_of(executable);
  runtime.ran.insert(runtime.ran.end(), kept->begin(), kept->end());
  runtime.last_launched = kept;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete numbers_of(executable);
  --runtime.executables;
  return cudaSuccess;
}

namespace fp4proof::gpu::training {
namespace {

class Segments : public testing::Test {
 protected:
  void SetUp() override {
    runtime = {};
    graphs_.emplace(nullptr);
  }
  void TearDown() override {
    graphs_.reset();
    EXPECT_FALSE(runtime.open);
    EXPECT_EQ(runtime.graphs, 0);
    EXPECT_EQ(runtime.executables, 0);
    EXPECT_EQ(runtime.last_error, cudaSuccess) << "a later launch would take it for its own";
  }

  /// One call that launches `numbers`.
  void call(std::uint64_t operation, const Numbers& numbers) {
    ASSERT_TRUE(graphs_->record(operation));
    for (const int number : numbers) {
      put(number);
      expected_.push_back(number);
    }
  }
  void launch() { ASSERT_TRUE(graphs_->launch()); }
  void expect_counts(std::int64_t segments, std::int64_t made, std::int64_t refused) {
    EXPECT_EQ(graphs_->counts().segments, segments);
    EXPECT_EQ(graphs_->counts().made, made);
    EXPECT_EQ(graphs_->counts().refused, refused);
    EXPECT_EQ(runtime.updates, segments - made);
  }
  /// What the next segment comes to where `function` of the runtime fails.
  std::string error_where(const char* function) {
    runtime.failing = function;
    const Result<void> recording = graphs_->record(1);
    if (recording) put(9);
    const Result<void> done = recording ? graphs_->launch() : recording;
    runtime.failing.clear();
    runtime.last_error = cudaSuccess;
    return done ? "" : done.error().message;
  }

  std::optional<SegmentGraphs> graphs_;
  Numbers expected_;
};

TEST_F(Segments, NothingRunsBeforeTheLaunch) {
  call(1, {1});
  call(2, {2, 3});
  EXPECT_EQ(runtime.ran, Numbers());
  launch();
  EXPECT_EQ(runtime.ran, expected_);
  launch();
  EXPECT_EQ(runtime.ran, expected_);
  expect_counts(1, 1, 0);
}

TEST_F(Segments, StepsTakeKeptGraphsWithTheirOwnNumbers) {
  for (int step = 0; step < 10; ++step) {
    call(1, {step});
    call(2, {100 + step, 200 + step});
    launch();
    call(2, {300 + step, 400 + step});
    launch();
    put(500 + step);  // the host waits here, and puts other work on the stream
    expected_.push_back(500 + step);
  }
  EXPECT_EQ(runtime.ran, expected_);
  expect_counts(20, 2, 0);
}

TEST_F(Segments, AFullOneIsLaunchedAndTheOneThatRunsIsLeftAlone) {
  constexpr int segments = 6;
  for (int i = 0; i < segments * SegmentGraphs::longest_segment; ++i) call(1, {i});
  EXPECT_EQ(runtime.ran.size(), std::size_t{(segments - 1) * SegmentGraphs::longest_segment});
  launch();
  EXPECT_EQ(runtime.ran, expected_);
  expect_counts(segments, 2, 0);
}

/// The calls are those of a kept graph, the number of nodes too, but CUDA does not take them.
TEST_F(Segments, AGraphThatRefusesIsMadeAnew) {
  for (int step = 0; step < 4; ++step) {
    call(1, {step});
    launch();
    call(2, {-step});
    launch();
    runtime.refuses_updates = step == 1;
  }
  EXPECT_EQ(runtime.ran, expected_);
  expect_counts(8, 4, 2);
  EXPECT_EQ(runtime.executables, 2);
}

TEST_F(Segments, CallsOfOneKindMayLaunchMoreOrLess) {
  for (int step = 0; step < 8; ++step) {
    call(1, Numbers(static_cast<std::size_t>(step % 2 + 1), step));
    launch();
  }
  EXPECT_EQ(runtime.ran, expected_);
  expect_counts(8, 2, 0);
}

TEST_F(Segments, CallsWithoutLaunchesAreNoSegment) {
  call(1, {});
  launch();
  expect_counts(0, 0, 0);
}

TEST_F(Segments, WhatIsDiscardedNeverRuns) {
  EXPECT_EQ(graphs_->discard(), cudaSuccess);
  call(1, {1});
  EXPECT_EQ(graphs_->discard(), cudaSuccess);
  launch();
  EXPECT_EQ(runtime.ran, Numbers());
  call(1, {2});
  runtime.failing = "end";
  EXPECT_EQ(graphs_->discard(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Segments, AnOpenOneIsClosedAtTheEnd) { call(1, {1}); }

TEST_F(Segments, ErrorsSayWhatFailed) {
  EXPECT_EQ(error_where("begin"), "cudaStreamBeginCapture: an error");
  EXPECT_EQ(error_where("end"), "the capture of a CUDA graph: an error");
  EXPECT_EQ(error_where("instantiate"), "cudaGraphInstantiate: an error");
  EXPECT_EQ(error_where("launch"), "cudaGraphLaunch: an error");
  EXPECT_EQ(runtime.ran, Numbers());
  EXPECT_EQ(error_where(""), "");
  call(2, {1});
  launch();
  EXPECT_EQ(error_where("update"), "cudaGraphExecUpdate: an error");
  EXPECT_EQ(error_where(""), "");
  EXPECT_EQ(runtime.ran, (Numbers{9, 1, 9}));
}

}  // namespace
}  // namespace fp4proof::gpu::training
