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

  /// Whether there are kernels for the profile: MX blocks of 1x32 (E2M1, E2M3, E3M2, E4M3, E5M2) and HiF4 groups of
  /// 1x64, rounded deterministically.
  static bool covers(const Profile& profile);

  /// Adds `count` (at most blocks_per_run) blocks that start in lane 0. `words` are the words of the tensor, `codes`
  /// and `scales` what the encoder made of them. Returns false, with nothing added, where a block is not plain: NaN or
  /// infinity, a NaN scale, or a scale that is clamped or flushed, so far from the ideal one that a term could round.
  bool add(int count, const std::uint32_t* words, const std::uint8_t* codes, const std::uint32_t* scales,
           LaneSums& sums) const;

 private:
  enum class Kind : std::uint8_t { none, e2m1, wide, hif4 };
  static Kind kind_of(const Profile& profile);
  bool describe(std::uint32_t amax_bits, std::uint32_t scale_word, PlainBlock& block) const;

  template <class Magnitude, class Count>
  ErrorSplit add_plain(int count, const std::uint32_t* words, const PlainBlock* blocks, Count count_magnitudes,
                       LaneSums& sums) const;

  Profile profile_;
  Kind kind_;
  IdealTies ties_;
  WideGrid grid_;
  double factor_;
  double full_;          ///< what m is coded as
  double unit_element_;  ///< what PlainBlock's steps are of
};

}  // namespace fp4proof::portable
