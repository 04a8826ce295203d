#pragma once
// Encodes runs of blocks whose words lie one after the other. Tables and vectorised kernels make the common profiles
// fast; every other profile, and every block that is not plain numbers, goes through the scalar encode_block.

#include <array>
#include <cstdint>
#include <optional>

#include "formats/block_codec.h"
#include "reference/portable/decision_tables.h"
#include "reference/portable/level_kernels.h"

namespace fp4proof::portable {

inline constexpr int blocks_per_run = 16;

class RunEncoder {
 public:
  /// `three_quarters` (MX): the elements are RN(0.75 x) under the scale of x.
  RunEncoder(const Profile& profile, float tensor_scale, bool three_quarters = false);

  struct Rejection {
    int block;
    BlockStatus status;
  };

  /// Encodes `blocks` (at most blocks_per_run) blocks. `words` are binary32 words (changed in place where the profile
  /// rounds or flushes its inputs, and under three-quarters), `random` one word an element or null, `row_scales`
  /// block.rows words a block, `codes` one byte an element. Returns the first rejected block and why, or nothing.
  std::optional<Rejection> encode(int blocks, std::uint32_t* words, const std::uint32_t* random,
                                  std::uint32_t* row_scales, std::uint8_t* codes) const;

 private:
  enum class Path : std::uint8_t { scalar, mx_levels, mx_wide, mx_stochastic, hif4 };
  static Path choose(const Profile& profile);
  BlockStatus encode_scalar(const BlockEncoding& io) const;

  /// Fast paths: encode every block as if it were plain, and report in `plain` which ones were.
  using Plain = std::array<bool, blocks_per_run>;
  void encode_mx(int blocks, std::uint32_t* words, const std::uint32_t* random, std::uint32_t* row_scales,
                 std::uint8_t* codes, Plain& plain) const;
  void encode_hif4(int blocks, const std::uint32_t* words, std::uint32_t* row_scales, std::uint8_t* codes,
                   Plain& plain) const;
  void encode_wide(const std::uint32_t* words, float factor, std::uint8_t* codes) const;

  Profile profile_;
  float tensor_scale_;
  bool three_quarters_;
  Path path_;
  Thresholds thresholds_{};
  StochasticGrid stochastic_{};
  std::array<Hif4Table, 4> hif4_{};
  std::optional<MxScaleTable> mx_scale_;
  std::optional<Hif4ScaleTable> hif4_scale_;
  std::optional<HalfStepTable> wide_;
};

}  // namespace fp4proof::portable
