#include "reference/portable/decompose_run.h"

#include <limits>

#include "reference/portable/level_kernels.h"

namespace fp4proof::portable {

namespace {

constexpr int max_run_words = blocks_per_run * 64;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Where the scalar encoder steps from one code to the next. A tie is a number of few bits, so a step whose word has
/// low bits set is the word just above the tie.
IdealTies ties_of(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  IdealTies result;
  const bool grouped = profile.family == Family::hif4;
  result.levels = spec.max_code;
  result.slots = result.levels + (grouped ? 2 : 0);
  result.full = grouped ? 7.0 : 6.0;
  result.ties.fill(double{infinity});
  for (std::size_t c = 0; c < spec.max_code; ++c) {
    const std::uint32_t word =
        first_word([&](std::uint32_t w) { return encode_magnitude(spec, profile.rounding, magnitude_of_bits(w)) > c; });
    const bool at_tie = (word & 0xFFFU) == 0;
    result.above_tie[c] = at_tie ? 0 : -1;
    result.ties[c] = double{float_from_bits(at_tie ? word : word - 1)};
  }
  if (grouped) {
    result.ties[spec.max_code] = 4.0;
    result.ties[spec.max_code + 1U] = 2.0;
  }
  return result;
}

}  // namespace

RunDecomposer::RunDecomposer(const Profile& profile)
    : profile_(profile),
      factor_(decomposition_factor(profile)),
      smallest_element_(double{decode_element(profile.element, 1)}) {
  if (covers(profile)) ties_ = ties_of(profile);
}

bool RunDecomposer::covers(const Profile& profile) {
  if (profile.rounding == Rounding::stochastic) return false;
  const bool e2m1 =
      profile.family == Family::mx && profile.element == Element::e2m1 && profile.block == BlockShape{1, 32};
  const bool hif4 = profile.family == Family::hif4 && profile.block == BlockShape{1, 64};
  return e2m1 || hif4;
}

/// Under a scale within 2^4 of the ideal one every term of a block is exact (rule D3). Far from the ends of binary32 no
/// threshold is subnormal and no Q(x) is infinite.
bool RunDecomposer::describe(std::uint32_t amax_bits, std::uint32_t scale_word, PlainBlock& block) const {
  if (amax_bits >= float_infinity_bits) return false;
  const auto code = static_cast<std::uint8_t>(scale_word);
  const double scale = double{profile_.family == Family::hif4 ? decode_e6m2(code) : decode_e8m0(code)};
  const auto amax = double{float_from_bits(amax_bits)};
  const double reach = scale * ties_.full;
  const bool near = amax <= 16 * reach && reach <= 16 * amax && amax >= 0x1p-100 && amax <= 0x1p100;
  const bool flushed = profile_.tiny == TinyPolicy::flush_block && code == 0;
  if (amax_bits != 0 && (!near || flushed)) return false;
  block.scale_word = scale_word;
  block.quantized_step = amax_bits == 0 ? 0.0 : factor_ * scale * smallest_element_;
  block.ideal_step = amax * smallest_element_;  // F / full is 1
  return true;
}

bool RunDecomposer::add(int count, const std::uint32_t* words, const std::uint8_t* codes, const std::uint32_t* scales,
                        LaneSums& sums) const {
  const int length = profile_.block.cols;
  std::array<std::uint32_t, blocks_per_run> amax_bits;
  std::array<float, blocks_per_run> largest;
  std::array<PlainBlock, blocks_per_run> blocks;
  block_maxima(words, count, length, amax_bits.data());
  for (std::size_t b = 0; b < static_cast<std::size_t>(count); ++b) {
    if (!describe(amax_bits[b], scales[b], blocks[b])) return false;
    largest[b] = amax_bits[b] != 0 ? float_from_bits(amax_bits[b]) : infinity;
  }
  find_thresholds(ties_, largest.data(), count, blocks.data());
  std::array<std::int32_t, max_run_words> quantized;
  std::array<std::int32_t, max_run_words> ideal;
  const ZeroCounts zeros =
      profile_.family == Family::mx
          ? count_steps_e2m1(words, codes, blocks.data(), count, quantized.data(), ideal.data())
          : count_steps_hif4(ties_.levels, words, codes, blocks.data(), count, quantized.data(), ideal.data());
  ErrorSplit counts;
  counts.elements = std::int64_t{count} * length;
  counts.in_deadzone = zeros.in_deadzone;
  counts.zeroed = zeros.zeroed;
  counts.identity_failures =
      add_products(words, quantized.data(), ideal.data(), blocks.data(), count, length, factor_, sums.lanes());
  sums.add_counts(counts);
  return true;
}

}  // namespace fp4proof::portable
