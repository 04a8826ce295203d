#include "gpu/training_graph.h"

#include <memory>
#include <type_traits>
#include <utility>

#include "formats/mix64.h"
#include "gpu/plugin_memory.h"

namespace fp4proof::gpu::training {

namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

/// Null where something spoilt the capture.
std::pair<cudaError_t, OwnedGraph> end_capture(cudaStream_t stream) {
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
  if (ended != cudaSuccess) static_cast<void>(cudaGetLastError());  // later launches ask for errors
  return {ended, OwnedGraph(captured)};
}

}  // namespace

SegmentGraphs::~SegmentGraphs() {
  discard();
  for (cudaGraphExec_t kept : kept_) cudaGraphExecDestroy(kept);
}

Result<void> SegmentGraphs::record(std::uint64_t operation) {
  if (calls_ == longest_segment) {
    if (const Result<void> launched = launch(); !launched) return launched;
  }
  if (calls_ == 0) {
    const cudaError_t begun = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed);
    if (begun != cudaSuccess) return plugin::check_cuda(begun, "cudaStreamBeginCapture");
    mixed_calls_ = 0;
  }
  ++calls_;
  mixed_calls_ = mix64(mixed_calls_ + operation);
  return {};
}

Result<void> SegmentGraphs::launch() {
  if (calls_ == 0) return {};
  calls_ = 0;
  const auto [ended, graph] = end_capture(stream_);
  if (ended != cudaSuccess) return plugin::check_cuda(ended, "the capture of a CUDA graph");
  const Result<cudaGraphExec_t> ready = executable(graph.get());
  if (!ready) return ready.error();
  if (*ready == nullptr) return {};
  ++counts_.segments;
  return plugin::check_cuda(cudaGraphLaunch(*ready, stream_), "cudaGraphLaunch");
}

cudaError_t SegmentGraphs::discard() {
  if (calls_ == 0) return cudaSuccess;
  calls_ = 0;
  return end_capture(stream_).first;
}

/// False: the graph does not take the parameters.
Result<bool> SegmentGraphs::update(cudaGraphExec_t kept, cudaGraph_t graph) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t updated = cudaGraphExecUpdate(kept, graph, &info);
  if (updated == cudaSuccess) return true;
  static_cast<void>(cudaGetLastError());
  if (updated == cudaErrorGraphExecUpdateFailure && info.result != cudaGraphExecUpdateError) return false;
  return plugin::check_cuda(updated, "cudaGraphExecUpdate").error();
}

/// Null where nothing was recorded.
Result<cudaGraphExec_t> SegmentGraphs::executable(cudaGraph_t graph) {
  SegmentShape shape{mixed_calls_, 0};
  const Result<void> counted = plugin::check_cuda(cudaGraphGetNodes(graph, nullptr, &shape.nodes), "cudaGraphGetNodes");
  if (!counted) return counted.error();
  if (shape.nodes == 0) return nullptr;

  const GraphShelf::Choice choice = shelf_.take(shape);
  if (choice.place == kept_.size()) kept_.push_back(nullptr);
  cudaGraphExec_t& kept = kept_[choice.place];
  if (choice.is_kept && kept != nullptr) {
    const Result<bool> updated = update(kept, graph);
    if (!updated) return updated.error();
    if (*updated) return kept;
    ++counts_.refused;
  }
  if (kept != nullptr) cudaGraphExecDestroy(std::exchange(kept, nullptr));
  const Result<void> made = plugin::check_cuda(cudaGraphInstantiate(&kept, graph, 0), "cudaGraphInstantiate");
  if (!made) return made.error();
  ++counts_.made;
  return kept;
}

}  // namespace fp4proof::gpu::training
