#pragma once
// Random words of consecutive elements (formats/philox.h) with everything that neighbours share worked out beforehand.

#include <cstdint>

#include "formats/philox.h"

namespace fp4proof::gpu {

/// Philox blocks that differ in the low word of the block number alone: seed, stream, step and the high word are known,
/// and with them half of the first two rounds.
class PhiloxWords {
 public:
  PhiloxWords() = default;
  constexpr PhiloxWords(std::uint64_t seed, Stream stream, std::uint32_t step, std::uint32_t block_high) {
    PhiloxKey key = philox_key(seed);
    for (int round = 0; round < philox::rounds; ++round) {
      keys_[round] = key;
      key.word[0] += philox::weyl0;
      key.word[1] += philox::weyl1;
    }
    const std::uint64_t of_step = philox::multiplier1 * step;
    const auto word0 = static_cast<std::uint32_t>(of_step >> 32) ^ block_high ^ keys_[0].word[0];
    const std::uint64_t of_word0 = philox::multiplier0 * word0;
    first2_ = static_cast<std::uint32_t>(stream) ^ keys_[0].word[1];
    second0_ = static_cast<std::uint32_t>(of_step) ^ keys_[1].word[0];
    second2_ = static_cast<std::uint32_t>(of_word0 >> 32) ^ keys_[1].word[1];
    second3_ = static_cast<std::uint32_t>(of_word0);
  }

  /// The words of the elements 4b .. 4b + 3, b = block_high * 2^32 + block_low.
  FP4PROOF_HD constexpr PhiloxBlock block(std::uint32_t block_low) const {
    const std::uint64_t of_block = philox::multiplier0 * block_low;
    const std::uint64_t of_word2 = philox::multiplier1 * (high(of_block) ^ first2_);
    PhiloxBlock state{{high(of_word2) ^ second0_, low(of_word2), low(of_block) ^ second2_, second3_}};
    for (int round = 2; round < philox::rounds; ++round) {
      const std::uint64_t product0 = philox::multiplier0 * state.word[0];
      const std::uint64_t product1 = philox::multiplier1 * state.word[2];
      state = {{high(product1) ^ state.word[1] ^ keys_[round].word[0], low(product1),
                high(product0) ^ state.word[3] ^ keys_[round].word[1], low(product0)}};
    }
    return state;
  }

 private:
  FP4PROOF_HD static constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
  FP4PROOF_HD static constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

  PhiloxKey keys_[philox::rounds] = {};
  std::uint32_t first2_ = 0;  // what enters the words after the first and the second round
  std::uint32_t second0_ = 0;
  std::uint32_t second2_ = 0;
  std::uint32_t second3_ = 0;
};

}  // namespace fp4proof::gpu
