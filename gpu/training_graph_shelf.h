#pragma once
// Which of the kept graphs a segment of a training run takes (gpu/training_graph.h). Without CUDA, so that it is tested
// where there is no device.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp4proof::gpu::training {

/// What makes two segments alike: then one's graph most likely takes the other's parameters.
struct SegmentShape {
  std::uint64_t calls = 0;  ///< which calls in which order, mixed into one word
  std::size_t nodes = 0;    ///< of the graph
  bool operator==(const SegmentShape&) const = default;
};

/// Places for graphs, each taken by a graph of one shape. A segment takes the graph of its shape, but for the one that
/// was taken last: that may still run, and a second one for its shape lets the host go on. Where every place is taken,
/// the graph that nobody has taken for the longest time makes room.
class GraphShelf {
 public:
  /// `most` is 2 at least: the graph that was taken last keeps its place.
  explicit GraphShelf(std::size_t most) : most_(most) {}

  struct Choice {
    std::size_t place = 0;  ///< 0, 1, ... as places are first taken
    bool is_kept = false;   ///< there is a graph of that shape; otherwise one is made, and what stood there goes
  };
  Choice take(const SegmentShape& shape) {
    const std::uint64_t last = turn_++;
    const std::size_t count = kept_.size();
    std::size_t same = count;
    std::size_t oldest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (kept_[i].turn < kept_[oldest].turn) oldest = i;
      if (kept_[i].shape == shape && kept_[i].turn != last) same = i;
    }
    const bool is_kept = same != count;
    if (!is_kept && count < most_) kept_.emplace_back();
    const std::size_t room = count < most_ ? count : oldest;
    const std::size_t place = is_kept ? same : room;
    kept_[place] = {shape, turn_};
    return {place, is_kept};
  }

 private:
  struct Kept {
    SegmentShape shape;
    std::uint64_t turn = 0;  ///< that took it last; turns start at 1
  };
  std::size_t most_;
  std::uint64_t turn_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace fp4proof::gpu::training
