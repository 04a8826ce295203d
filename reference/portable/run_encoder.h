#pragma once
// Encodes runs of blocks whose words lie one after the other. The tables make the common profiles fast; every other
// profile, and every block with NaN or infinity, goes through the scalar encode_block of formats/.

#include <array>
#include <cstdint>
#include <optional>

#include "formats/block_codec.h"
#include "reference/portable/decision_tables.h"

namespace fp4proof::portable {

class RunEncoder {
 public:
  RunEncoder(const Profile& profile, float tensor_scale);

  /// Encodes `blocks` blocks. `words` are binary32 words (changed in place where the profile rounds or flushes its
  /// inputs), `random` one word an element or null, `row_scales` block.rows words a block, `codes` one byte an element.
  /// Returns the first rejected block and why, or nothing.
  struct Rejection {
    int block;
    BlockStatus status;
  };
  std::optional<Rejection> encode(int blocks, std::uint32_t* words, const std::uint32_t* random,
                                  std::uint32_t* row_scales, std::uint8_t* codes) const;

 private:
  enum class Path : std::uint8_t { scalar, mx_levels, mx_wide, hif4 };
  static Path choose(const Profile& profile);

  void encode_mx(const std::uint32_t* words, std::uint32_t amax_bits, std::uint32_t* row_scales,
                 std::uint8_t* codes) const;
  void encode_hif4(const std::uint32_t* words, std::uint32_t amax_bits, std::uint32_t* row_scales,
                   std::uint8_t* codes) const;

  Profile profile_;
  float tensor_scale_;
  Path path_;
  Thresholds thresholds_{};
  std::array<Hif4Table, 4> hif4_{};
  std::optional<HalfStepTable> wide_;
};

}  // namespace fp4proof::portable
