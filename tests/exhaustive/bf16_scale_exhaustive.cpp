// All bfloat16 words under all scale codes: E2M1 under every E8M0 code, S1P2 under every E6M2 code and level sum, each
// rounding, against the oracle. The expected code of each word is decided by exact rationals at every threshold word.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/block_codec.h"
#include "formats/spec_profiles.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace {

using namespace fp4proof;

constexpr std::uint32_t bf16_infinity = 0x7F80;

/// Codes of every non-negative finite bfloat16 word by the oracle: value * factor rounded under `rounding`.
std::vector<std::uint8_t> oracle_codes(Element element, Rounding rounding, const exact::Rational& factor) {
  std::vector<std::uint8_t> codes(bf16_infinity);
  for (std::uint32_t half = 0; half < bf16_infinity; ++half) {
    codes[half] = exact::encode_magnitude(element, rounding, exact::float_value(half << 16) * factor);
  }
  return codes;
}

struct Count {
  std::uint64_t words = 0;
  std::uint64_t mismatches = 0;
};

/// Compares both signs of every finite word; `ours` gives the code of a binary32 word.
template <class Encode>
Count compare(const std::vector<std::uint8_t>& expected, std::uint8_t sign_mask, Encode ours) {
  Count count;
  for (std::uint32_t half = 0; half < bf16_infinity; ++half) {
    count.words += 2;
    count.mismatches += ours(half << 16) != expected[half] ? 1U : 0U;
    count.mismatches += ours((half << 16) | float_sign_mask) != (expected[half] | sign_mask) ? 1U : 0U;
  }
  return count;
}

Count mx_under_scale(Rounding rounding, std::uint8_t scale) {
  Profile profile = *find_profile("mxfp4/ocp");
  profile.rounding = rounding;
  const exact::Rational factor = exact::Rational(1) / exact::e8m0_value(scale);
  return compare(oracle_codes(profile.element, rounding, factor), 8,
                 [&](std::uint32_t word) { return mx_encode_element(profile, scale, word, 0); });
}

Count hif4_under_scale(Rounding rounding, std::uint8_t scale) {
  Profile profile = *find_profile("hif4/gcc");
  profile.rounding = rounding;
  profile.zero_sign = ZeroSign::kept;
  // The rule rounds the reciprocal to bfloat16.
  const std::uint32_t reciprocal_word =
      std::uint32_t{exact::round_to_bf16(exact::Rational(1) / exact::e6m2_value(scale))} << 16;
  const exact::Rational reciprocal = exact::float_value(reciprocal_word);
  Count total;
  for (int levels = 0; levels <= 2; ++levels) {
    const auto expected = oracle_codes(profile.element, rounding, reciprocal * exact::Rational::power_of_two(-levels));
    const Count count =
        compare(expected, 8, [&](std::uint32_t word) { return hif4_encode_element(profile, scale, levels, word, 0); });
    total.words += count.words;
    total.mismatches += count.mismatches;
  }
  return total;
}

std::uint64_t report(std::string_view name, Rounding rounding, int stride,
                     Count (*under_scale)(Rounding, std::uint8_t)) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t words = 0;
  std::uint64_t mismatches = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : words, mismatches)
  for (int scale = 0; scale <= 254; scale += stride) {
    const Count count = under_scale(rounding, static_cast<std::uint8_t>(scale));
    words += count.words;
    mismatches += count.mismatches;
  }
  fmt::print("{} {:<10} {:>10} words  {} mismatches  {:.1f} s\n", name, name_of(rounding), words, mismatches,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return mismatches;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"All bfloat16 words under all scale codes, against the oracle"};
  int stride = 1;
  app.add_option("--scale-stride", stride, "take every N-th scale code, from code 0")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  std::uint64_t mismatches = 0;
  for (const Rounding rounding : {Rounding::rne, Rounding::rna, Rounding::rtz, Rounding::ties_down}) {
    mismatches += report("e2m1 under e8m0", rounding, stride, mx_under_scale);
    mismatches += report("s1p2 under e6m2", rounding, stride, hif4_under_scale);
  }
  fmt::print("{} mismatches\n", mismatches);
  return mismatches == 0 ? 0 : 1;
}
