#pragma once
// Which bytes of a tensor have been written.

#include <cstdint>
#include <iterator>
#include <map>

namespace fp4proof {

/// A set of disjoint byte ranges; neighbours are merged, so ranges added in order cost constant memory.
class CoveredRanges {
 public:
  /// Adds [begin, end), begin <= end. False, and no change, when a byte of it was added before.
  bool add(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return true;
    const auto next = ranges_.lower_bound(begin);
    if (next != ranges_.end() && next->first < end) return false;
    const auto previous = next == ranges_.begin() ? ranges_.end() : std::prev(next);
    if (previous != ranges_.end() && previous->second > begin) return false;
    if (next != ranges_.end() && next->first == end) {
      end = next->second;
      ranges_.erase(next);
    }
    if (previous != ranges_.end() && previous->second == begin) {
      previous->second = end;
    } else {
      ranges_.emplace(begin, end);
    }
    return true;
  }

  /// The first byte that was not added.
  std::uint64_t first_gap() const {
    return ranges_.empty() || ranges_.begin()->first != 0 ? 0 : ranges_.begin()->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin -> end
};

}  // namespace fp4proof
