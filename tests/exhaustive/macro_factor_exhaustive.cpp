// Rule C15, in exact integers: for every element f M <= max 2^k, for all bfloat16 M without a single lowering, and for
// all binary32 significands, where the factor is lowered exactly where the product would exceed it. For bfloat16 M the
// whole correction runs too: it stores that factor, and its block scale is 2^k, so nothing clips. Where f M leaves
// binary32 (M near 2^128) the block meets the profile's policy for infinity instead.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "formats/float_bits.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "reference/portable/macro_block.h"

namespace {

using namespace fp4proof;

struct Case {
  const char* profile;
  std::uint64_t twice_max;  ///< 2 max, an integer
};
constexpr Case cases[] = {{"mxfp4/rceil", 12},
                          {"mxfp8-e4m3/rceil", 896},
                          {"mxfp8-e5m2/rceil", 114688},
                          {"mxfp6-e2m3/rceil", 15},
                          {"mxfp6-e3m2/rceil", 56}};

/// M = significand * 2^exponent, normal or not.
struct Parts {
  std::uint64_t significand;
  int exponent;
};
Parts parts_of(std::uint32_t word) {
  const std::uint32_t field = word >> 23;
  if (field == 0) return {word, -149};
  return {(word & 0x7FFFFFU) | 0x800000U, static_cast<int>(field) - 150};
}

/// Whether (1 + byte / 256) M > max 2^k, exactly.
bool exceeds(std::uint64_t twice_max, const Parts& m, int byte, int k) {
  const std::uint64_t product = 2 * static_cast<std::uint64_t>(256 + byte) * m.significand;  // 2^9 .. 2^34
  const std::uint64_t bound = twice_max * 256;                                               // 2^11 .. 2^25
  const int left = k - m.exponent;
  if (left > 34) return false;
  if (left < -25) return true;
  return left >= 0 ? product > bound << left : product << -left > bound;
}

struct Tally {
  std::uint64_t checked = 0;
  std::uint64_t without_quotient = 0;  ///< M so small that max / M is infinite
  std::uint64_t lowered = 0;
  std::uint64_t wrapped = 0;  ///< lowered from 0 to 511/256
  std::uint64_t wrong = 0;
  Tally& operator+=(const Tally& other) {
    checked += other.checked;
    without_quotient += other.without_quotient;
    lowered += other.lowered;
    wrapped += other.wrapped;
    wrong += other.wrong;
    return *this;
  }
};
#pragma omp declare reduction(tally:Tally : omp_out += omp_in)

/// The exponent k that belongs to the stored factor; nothing where max / M is infinite.
struct Expected {
  int byte = 0;
  int k = 0;
  bool has_quotient = false;
  bool lowered = false;
};
Expected expected_of(std::uint64_t twice_max, std::uint32_t word) {
  const float q = static_cast<float>(twice_max) / 2.0F / float_from_bits(word);
  if (is_inf_bits(float_bits(q))) return {};
  Expected expected{static_cast<int>((float_bits(q) >> 15) & 0xFFU), -floor_log2_bits(float_bits(q)), true, false};
  if (!exceeds(twice_max, parts_of(word), expected.byte, expected.k)) return expected;
  expected.lowered = true;
  if (expected.byte == 0) ++expected.k;
  expected.byte = (expected.byte + 255) % 256;
  return expected;
}

Tally check(const Case& tested, Element element, std::uint32_t word) {
  const Expected expected = expected_of(tested.twice_max, word);
  Tally tally;
  tally.checked = 1;
  tally.without_quotient = expected.has_quotient ? 0 : 1;
  tally.lowered = expected.lowered ? 1 : 0;
  tally.wrapped = expected.lowered && expected.byte == 255 ? 1 : 0;
  const int byte = macro_byte(MacroForm::multiply, element, word);
  bool good = byte == expected.byte;
  if (expected.has_quotient) {
    const Parts m = parts_of(word);
    good = good && !exceeds(tested.twice_max, m, byte, expected.k);
    // Truncation and lowering lose two steps at most: three more always exceed.
    good = good && exceeds(tested.twice_max, m, byte + 3, expected.k);
  }
  tally.wrong = good ? 0 : 1;
  return tally;
}

/// The scale code that the block of M gets: 2^k, clamped, or NaN where f M overflows binary32.
int expected_scale(const Expected& expected, std::uint32_t word) {
  const float product = static_cast<float>(256 + expected.byte) / 256.0F * float_from_bits(word);
  return is_inf_bits(float_bits(product)) ? e8m0_nan : std::max(expected.k + e8m0_bias, 0);
}

struct Corrections {
  std::uint64_t overflowing = 0;
  std::uint64_t wrong = 0;
};

/// All bfloat16 M through correct(): each alone in a block of its own.
Corrections check_corrections(const Case& tested, const Profile& profile) {
  constexpr std::int64_t rows = 0x7F7F;
  std::vector<std::uint16_t> words(static_cast<std::size_t>(rows) * 32);
  for (std::size_t row = 0; row < rows; ++row) words[row * 32 + row % 32] = static_cast<std::uint16_t>(row + 1);
  const std::vector<std::int64_t> shape = {rows, 32};
  const portable::TensorView view{portable::DType::bf16, shape, reinterpret_cast<const std::byte*>(words.data())};
  const auto corrected = portable::correct(profile, *find_correction_stack("mbs-32"), view);
  if (!corrected) throw std::runtime_error(corrected.error().message);
  Corrections result;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t word = static_cast<std::uint32_t>(row + 1) << 16;
    const Expected expected = expected_of(tested.twice_max, word);
    const int scale = corrected->first.quantized.scales[row];
    const int wanted = expected_scale(expected, word);
    const bool good = corrected->first.macro[row] == expected.byte && (!expected.has_quotient || scale == wanted);
    result.overflowing += wanted == e8m0_nan ? 1 : 0;
    result.wrong += good ? 0 : 1;
  }
  return result;
}

template <class Word>
Tally sweep(const Case& tested, Element element, std::int64_t first, std::int64_t last, std::int64_t stride,
            Word word_of) {
  Tally total;
#pragma omp parallel for schedule(static) reduction(tally : total)
  for (std::int64_t i = first; i < last; i += stride) total += check(tested, element, word_of(i));
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Macro-block factors never let the largest element clip: every bfloat16 M, every binary32 significand"};
  std::int64_t stride = 1;
  app.add_option("--stride", stride, "every n-th binary32 significand")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  bool all_good = true;
  for (const Case& tested : cases) {
    const Profile& profile = *find_profile(tested.profile);
    const Tally bf16 = sweep(tested, profile.element, 1, 0x7F80, 1,
                             [](std::int64_t i) { return static_cast<std::uint32_t>(i) << 16; });
    const Corrections corrections = check_corrections(tested, profile);
    // Two binades: every significand of 24 bits twice.
    const Tally fp32 = sweep(tested, profile.element, 0x3F800000, 0x40800000, stride,
                             [](std::int64_t i) { return static_cast<std::uint32_t>(i); });
    fmt::print(
        "{:<17} bfloat16: {} M, {} without a quotient, {} lowered, {} wrong, {} blocks overflow, {} wrong "
        "corrections; binary32: {} M, {} lowered ({} from 0 to 511/256), {} wrong\n",
        tested.profile, bf16.checked, bf16.without_quotient, bf16.lowered, bf16.wrong, corrections.overflowing,
        corrections.wrong, fp32.checked, fp32.lowered, fp32.wrapped, fp32.wrong);
    all_good = all_good && bf16.lowered == 0 && bf16.wrong == 0 && corrections.wrong == 0 && fp32.wrong == 0;
    all_good = all_good && (stride != 1 || fp32.lowered != 0);
  }
  return all_good ? 0 : 1;
}
