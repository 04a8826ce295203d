#pragma once
// The fast road of the decomposition: runs of whole blocks of one row, row sums alone. Everything else, and every run
// that holds a block which is not plain, takes the scalar road of decompose_segment.h and gets the same bits.

#include <array>
#include <cstdint>

#include "reference/portable/decompose_kernels.h"
#include "reference/portable/run_encoder.h"

namespace fp4proof::portable {

class RunDecomposer {
 public:
  explicit RunDecomposer(const Profile& profile);

  /// Whether there are kernels for the profile: E2M1 blocks of 1x32 and HiF4 groups of 1x64, rounded deterministically.
  static bool covers(const Profile& profile);

  /// Adds `count` (at most blocks_per_run) blocks that start in lane 0. `words` are the words of the tensor, `codes`
  /// and `scales` what the encoder made of them. Returns false, with nothing added, where a block is not plain: NaN or
  /// infinity, a NaN scale, or a scale that is clamped or flushed, so far from the ideal one that a term could round.
  bool add(int count, const std::uint32_t* words, const std::uint8_t* codes, const std::uint32_t* scales,
           LaneSums& sums) const;

 private:
  bool describe(std::uint32_t amax_bits, std::uint32_t scale_word, PlainBlock& block) const;

  Profile profile_;
  IdealTies ties_;
  double factor_;
  double smallest_element_;
};

}  // namespace fp4proof::portable
