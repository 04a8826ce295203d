#include "reference/portable/decompose_run.h"

#include <limits>

#include "reference/portable/level_kernels.h"

namespace fp4proof::portable {

namespace {

constexpr int max_run_words = blocks_per_run * 64;
constexpr float infinity = std::numeric_limits<float>::infinity();

double full_scale_of(const Profile& profile) {
  if (profile.family == Family::hif4) return 7.0;
  return double{decode_element(profile.element, element_spec(profile.element).max_code)};
}

/// Where the scalar encoder steps from one code to the next. A tie is a number of few bits, so a step whose word has
/// low bits set is the word just above the tie.
IdealTies ties_of(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  IdealTies result;
  const bool grouped = profile.family == Family::hif4;
  result.levels = spec.max_code;
  result.slots = result.levels + (grouped ? 2 : 0);
  result.full = full_scale_of(profile);
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

WideGrid grid_of(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  WideGrid grid;
  grid.mantissa_bits = spec.mantissa_bits;
  grid.exponent_bias = spec.bias;
  grid.magnitude_mask = spec.sign_mask() - 1U;
  grid.smallest_normal = pow2d(1 - spec.bias);
  grid.drop = 52 - spec.mantissa_bits;
  constexpr std::int64_t slack = 1 << 10;
  const std::int64_t half_step = std::int64_t{1} << (grid.drop - 1);
  switch (profile.rounding) {
    case Rounding::rne:
      grid.bias = half_step - slack;
      grid.odd_bias = 2 * slack;
      break;
    case Rounding::rna: grid.bias = half_step + slack; break;
    case Rounding::ties_down: grid.bias = half_step - slack; break;
    case Rounding::rtz: grid.bias = slack; break;
    case Rounding::stochastic: break;
  }
  return grid;
}

}  // namespace

RunDecomposer::RunDecomposer(const Profile& profile)
    : profile_(profile),
      kind_(kind_of(profile)),
      factor_(decomposition_factor(profile)),
      full_(full_scale_of(profile)),
      unit_element_(kind_ == Kind::wide ? 1.0 : double{decode_element(profile.element, 1)}) {
  if (kind_ == Kind::e2m1 || kind_ == Kind::hif4) ties_ = ties_of(profile);
  if (kind_ == Kind::wide) grid_ = grid_of(profile);
}

RunDecomposer::Kind RunDecomposer::kind_of(const Profile& profile) {
  if (profile.rounding == Rounding::stochastic) return Kind::none;
  if (profile.family == Family::hif4) return profile.block == BlockShape{1, 64} ? Kind::hif4 : Kind::none;
  if (profile.family != Family::mx || profile.block != BlockShape{1, 32}) return Kind::none;
  switch (profile.element) {
    case Element::e2m1: return Kind::e2m1;
    case Element::e2m3:
    case Element::e3m2:
    case Element::e4m3:
    case Element::e5m2: return Kind::wide;
    default: return Kind::none;
  }
}

bool RunDecomposer::covers(const Profile& profile) { return kind_of(profile) != Kind::none; }

/// Under a scale within 2^4 of the ideal one every term of a block is exact (rule D3). Far from the ends of binary32 no
/// threshold is subnormal and no Q(x) is infinite.
bool RunDecomposer::describe(std::uint32_t amax_bits, std::uint32_t scale_word, PlainBlock& block) const {
  if (amax_bits >= float_infinity_bits) return false;
  const auto code = static_cast<std::uint8_t>(scale_word);
  const double scale = double{profile_.family == Family::hif4 ? decode_e6m2(code) : decode_e8m0(code)};
  const auto amax = double{float_from_bits(amax_bits)};
  const double reach = scale * full_;
  const bool near = amax <= 16 * reach && reach <= 16 * amax && amax >= 0x1p-100 && amax <= 0x1p100;
  const bool flushed = profile_.tiny == TinyPolicy::flush_block && code == 0;
  if (amax_bits != 0 && (!near || flushed)) return false;
  block.scale_word = scale_word;
  const double ideal_step = amax * (factor_ / full_);  // times a power of two
  block.quantized_step = amax_bits == 0 ? 0.0 : factor_ * scale * unit_element_;
  block.ideal_step = ideal_step * unit_element_;
  block.over_unit = amax_bits == 0 ? 0.0 : full_ / amax;
  return true;
}

template <class Magnitude, class Count>
ErrorSplit RunDecomposer::add_plain(int count, const std::uint32_t* words, const PlainBlock* blocks,
                                    Count count_magnitudes, LaneSums& sums) const {
  std::array<Magnitude, max_run_words> quantized;
  std::array<Magnitude, max_run_words> ideal;
  const ZeroCounts zeros = count_magnitudes(quantized.data(), ideal.data());
  ErrorSplit counts;
  counts.elements = std::int64_t{count} * profile_.block.cols;
  counts.in_deadzone = zeros.in_deadzone;
  counts.zeroed = zeros.zeroed;
  counts.identity_failures =
      add_products(words, quantized.data(), ideal.data(), blocks, count, profile_.block.cols, factor_, sums.lanes());
  return counts;
}

bool RunDecomposer::add(int count, const std::uint32_t* words, const std::uint8_t* codes, const std::uint32_t* scales,
                        LaneSums& sums) const {
  std::array<std::uint32_t, blocks_per_run> amax_bits;
  std::array<float, blocks_per_run> largest;
  std::array<PlainBlock, blocks_per_run> blocks;
  block_maxima(words, count, profile_.block.cols, amax_bits.data());
  for (std::size_t b = 0; b < static_cast<std::size_t>(count); ++b) {
    if (!describe(amax_bits[b], scales[b], blocks[b])) return false;
    largest[b] = amax_bits[b] != 0 ? float_from_bits(amax_bits[b]) : infinity;
  }
  if (kind_ == Kind::wide) {
    sums.add_counts(add_plain<float>(
        count, words, blocks.data(),
        [&](float* quantized, float* ideal) {
          return count_levels_wide(grid_, words, codes, blocks.data(), count, quantized, ideal);
        },
        sums));
    return true;
  }
  find_thresholds(ties_, largest.data(), count, blocks.data());
  sums.add_counts(add_plain<std::int32_t>(
      count, words, blocks.data(),
      [&](std::int32_t* quantized, std::int32_t* ideal) {
        return kind_ == Kind::e2m1
                   ? count_steps_e2m1(words, codes, blocks.data(), count, quantized, ideal)
                   : count_steps_hif4(ties_.levels, words, codes, blocks.data(), count, quantized, ideal);
      },
      sums));
  return true;
}

}  // namespace fp4proof::portable
