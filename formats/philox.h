#pragma once
// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11) addressed by logical index.
//
// A random word is a pure function of (seed, stream, step, element). There is no generator state, so the same words
// come out for any number of threads, any launch shape and any order of evaluation. docs/randomness.md gives the rules.

#include <cstdint>

#include "formats/host_device.h"
#include "formats/strict_math.h"

namespace fp4proof {

/// What a random word is used for. The number is the last counter word and never changes once published.
enum class Stream : std::uint32_t {
  init = 0,           ///< initial weights
  sft_prompt = 1,     ///< prompts of supervised fine-tuning
  sft_noise = 2,      ///< label noise of supervised fine-tuning
  rl_prompt = 3,      ///< prompts of reinforcement learning
  sample = 4,         ///< token sampling
  sr_activation = 5,  ///< stochastic rounding of activations
  sr_weight = 6,      ///< stochastic rounding of weights
  sr_gradient = 7,    ///< stochastic rounding of gradients
  aqn = 8,            ///< adaptive quantization noise
  eval = 9,           ///< evaluation sets
  cases = 10,         ///< generated test cases
  hadamard = 11,      ///< signs of random Hadamard transforms
};
inline constexpr std::uint32_t stream_count = 12;

/// The input of one Philox block.
struct PhiloxCounter {
  std::uint32_t word[4];
};

/// The key of a Philox block; a 64-bit seed enters low word first.
struct PhiloxKey {
  std::uint32_t word[2];
};

/// The four random words of one Philox block.
struct PhiloxBlock {
  std::uint32_t word[4];
};

FP4PROOF_HD constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
}

/// The counter of the block that holds `element`: (element >> 2 low, element >> 2 high, step, stream).
FP4PROOF_HD constexpr PhiloxCounter philox_counter(Stream stream, std::uint32_t step, std::uint64_t element) {
  const std::uint64_t block = element >> 2;
  return {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), step,
           static_cast<std::uint32_t>(stream)}};
}

/// Philox4x32-10: the published multipliers and Weyl constants.
namespace philox {
inline constexpr std::uint64_t multiplier0 = 0xD2511F53U;
inline constexpr std::uint64_t multiplier1 = 0xCD9E8D57U;
inline constexpr std::uint32_t weyl0 = 0x9E3779B9U;
inline constexpr std::uint32_t weyl1 = 0xBB67AE85U;
inline constexpr int rounds = 10;
}  // namespace philox

/// Ten rounds of Philox4x32.
FP4PROOF_HD constexpr PhiloxBlock philox_block(PhiloxCounter counter, PhiloxKey key) {
  PhiloxBlock state{{counter.word[0], counter.word[1], counter.word[2], counter.word[3]}};
  for (int round = 0; round < philox::rounds; ++round) {
    const std::uint64_t product0 = philox::multiplier0 * state.word[0];
    const std::uint64_t product1 = philox::multiplier1 * state.word[2];
    state = {{static_cast<std::uint32_t>(product1 >> 32) ^ state.word[1] ^ key.word[0],
              static_cast<std::uint32_t>(product1),
              static_cast<std::uint32_t>(product0 >> 32) ^ state.word[3] ^ key.word[1],
              static_cast<std::uint32_t>(product0)}};
    key.word[0] += philox::weyl0;
    key.word[1] += philox::weyl1;
  }
  return state;
}

/// The block of four words that holds elements 4b .. 4b+3, b = element >> 2.
FP4PROOF_HD constexpr PhiloxBlock random_block(std::uint64_t seed, Stream stream, std::uint32_t step,
                                               std::uint64_t element) {
  return philox_block(philox_counter(stream, step, element), philox_key(seed));
}

/// The 32-bit random word of one element: word `element & 3` of its block.
FP4PROOF_HD constexpr std::uint32_t random_word(std::uint64_t seed, Stream stream, std::uint32_t step,
                                                std::uint64_t element) {
  return random_block(seed, stream, step, element).word[element & 3];
}

/// A random word as a number of [0, 1): its upper 24 bits times 2^-24, exact.
FP4PROOF_HD constexpr float uniform_from_word(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

/// The uniform number of one element.
FP4PROOF_HD constexpr float random_uniform(std::uint64_t seed, Stream stream, std::uint32_t step,
                                           std::uint64_t element) {
  return uniform_from_word(random_word(seed, stream, step, element));
}

/// Two independent standard normals.
struct NormalPair {
  float cosine;  ///< radius times cosine: the normal of the even element
  float sine;    ///< radius times sine: the normal of the odd element
};

/// Box-Muller. Both words enter as (word + 1/2) * 2^-32, so neither 0 nor 1 occurs and no result is zero:
///     radius = sqrt(-2 log((radius_word + 1/2) 2^-32)),  angle = 2 pi (angle_word + 1/2) 2^-32,
/// in binary64 with strict::log_double, strict::sqrt_double and strict::sincos_turns; each product is rounded once to
/// binary64 and once more to binary32. The largest magnitude is sqrt(66 log 2) = 6.76...
FP4PROOF_HD inline NormalPair normals_from_words(std::uint32_t radius_word, std::uint32_t angle_word) {
  const double radius_uniform = (static_cast<double>(radius_word) + 0.5) * 0x1p-32;
  const double angle_turns = (static_cast<double>(angle_word) + 0.5) * 0x1p-32;
  const double radius = strict::sqrt_double(-2.0 * strict::log_double(radius_uniform));
  const strict::SinCos angle = strict::sincos_turns(angle_turns);
  return {static_cast<float>(radius * angle.cosine), static_cast<float>(radius * angle.sine)};
}

/// The standard normal of one element. Elements 2p and 2p+1 share the words of 2p (radius) and 2p+1 (angle), which
/// always lie in one Philox block; 2p takes the cosine, 2p+1 the sine.
FP4PROOF_HD inline float random_normal(std::uint64_t seed, Stream stream, std::uint32_t step, std::uint64_t element) {
  const PhiloxBlock block = random_block(seed, stream, step, element);
  const std::uint64_t first = element & 2;
  const NormalPair pair = normals_from_words(block.word[first], block.word[first + 1]);
  return (element & 1) == 0 ? pair.cosine : pair.sine;
}

}  // namespace fp4proof
