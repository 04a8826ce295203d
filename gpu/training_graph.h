#pragma once
// CUDA graphs of the training operators: launches are recorded and reach the device some hundreds at a time.
//
// A segment is what is put on a stream between two waits of the host, `longest_segment` calls at most. The first call
// opens it: the stream is captured (cudaStreamCaptureModeRelaxed), so that nothing runs yet. launch() closes it and
// puts it on the stream as one graph; that is due before everything that is no launch: a copy, a wait, memory that
// comes or goes. Order and bits are those of the launches one by one.
//
// Segments come back in every step with other parameters. Executable graphs are therefore kept, and take the parameters
// of the next segment of their shape (cudaGraphExecUpdate); a graph that refuses them is made anew. A segment costs a
// capture of each launch, an update of each node and one launch, instead of a launch for each: this pays where kernels
// are so short that the device waits for the host. The bound of a segment is there so that the device runs one while
// the host records the next.
//
// What may be recorded is what launch functions do anyway: kernels and memsets on the stream. Where something else
// spoils a capture, the launches behind it and launch() fail, and nothing of the segment has run.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "formats/result.h"
#include "gpu/training_graph_shelf.h"

namespace fp4proof::gpu::training {

/// The segments of one stream, which outlives this.
class SegmentGraphs {
 public:
  /// Calls of a segment. Chosen without a device: few enough that the device starts early.
  static constexpr int longest_segment = 128;

  explicit SegmentGraphs(cudaStream_t stream) : stream_(stream) {}
  ~SegmentGraphs();
  SegmentGraphs(const SegmentGraphs&) = delete;
  SegmentGraphs& operator=(const SegmentGraphs&) = delete;

  /// Due before the launches of a call: they join the open segment, or the next where that is full. `operation` tells
  /// calls of one kind from others.
  Result<void> record(std::uint64_t operation);

  /// Puts the open segment on the stream; nothing where there is none. Does not wait.
  Result<void> launch();

  /// Closes the open segment; its launches never run. Says what CUDA made of the capture.
  cudaError_t discard();

  struct Counts {
    std::int64_t segments = 0;  ///< that were launched
    std::int64_t made = 0;      ///< graphs that were made for them; the others took kept ones
    std::int64_t refused = 0;   ///< of those made, in place of a kept graph that did not take the parameters
  };
  const Counts& counts() const { return counts_; }

 private:
  Result<bool> update(cudaGraphExec_t kept, cudaGraph_t graph);
  Result<cudaGraphExec_t> executable(cudaGraph_t graph);

  cudaStream_t stream_;
  int calls_ = 0;  ///< of the open segment; 0: none is open
  std::uint64_t mixed_calls_ = 0;
  static constexpr std::size_t most_kept = 256;
  GraphShelf shelf_{most_kept};
  std::vector<cudaGraphExec_t> kept_;
  Counts counts_;
};

}  // namespace fp4proof::gpu::training
