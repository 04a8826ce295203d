// All 2^32 binary32 words through each element encoder under each rounding at scale 1, against the oracle's thresholds.
//
// The oracle names, for each magnitude code, the smallest word that reaches it (exact::threshold_word, found by
// enumerating codes over rationals). Between thresholds the code is constant, so a sweep in ascending order knows the
// expected code of every word without asking again. Stochastic rounding is swept once per listed random value.
//
// Prints per element and rounding the words compared, the mismatches and an order-free digest. Exit code 0: no
// mismatch.

#include <fmt/core.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/element.h"
#include "reference/exact/element.h"
#include "tests/exhaustive/word_digest.h"

namespace {

using namespace fp4proof;

struct Mode {
  Rounding rounding;
  std::uint32_t u = 0;
  int bits = 32;
};

constexpr std::array<Mode, 11> modes = {{{Rounding::rne},
                                         {Rounding::rna},
                                         {Rounding::rtz},
                                         {Rounding::ties_down},
                                         {Rounding::stochastic, 0, 32},
                                         {Rounding::stochastic, 0x80000000U, 32},
                                         {Rounding::stochastic, 0xFFFFFFFFU, 32},
                                         {Rounding::stochastic, 1, 16},
                                         {Rounding::stochastic, 0xFFFFU, 16},
                                         {Rounding::stochastic, 0x5A, 8},
                                         {Rounding::stochastic, 0xFF, 8}}};

struct Tally {
  std::uint64_t count = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t digest = 0;
};

/// thresholds[c]: the smallest word that reaches code c; one entry past the last code is out of reach.
std::vector<std::uint32_t> oracle_thresholds(Element element, const Mode& mode) {
  std::vector<std::uint32_t> thresholds = {0};
  for (int code = 1; code <= element_spec(element).max_code; ++code) {
    const auto word =
        exact::threshold_word(element, mode.rounding, static_cast<std::uint8_t>(code), {mode.u, mode.bits});
    thresholds.push_back(word.value_or(float_infinity_bits));
  }
  thresholds.push_back(float_infinity_bits);
  return thresholds;
}

/// Every `stride`-th word of [begin, end), and its negative. Flattened, so that the encoder is compiled for one element
/// and one rounding.
template <Element E, Rounding R>
[[gnu::flatten]] Tally sweep_range(std::uint64_t begin, std::uint64_t end, std::uint64_t stride, std::uint32_t u,
                                   int bits, const std::vector<std::uint32_t>& thresholds) {
  constexpr std::uint32_t sign_mask = element_spec(E).sign_mask();
  Tally tally;
  std::uint32_t expected = 0;
  for (std::uint64_t at = (begin + stride - 1) / stride * stride; at < end; at += stride) {
    const auto word = static_cast<std::uint32_t>(at);
    while (expected + 2 < thresholds.size() && word >= thresholds[expected + 1]) ++expected;
    const std::uint32_t positive = encode_element(E, R, float_from_bits(word), u, bits);
    const std::uint32_t negative = encode_element(E, R, float_from_bits(word | float_sign_mask), u, bits);
    tally.count += 2;
    tally.mismatches += positive != expected ? 1U : 0U;
    tally.mismatches += negative != (expected | sign_mask) ? 1U : 0U;
    tally.digest += exhaustive::digest_term(word, positive) + exhaustive::digest_term(word | float_sign_mask, negative);
  }
  return tally;
}

template <Element E, Rounding R>
Tally sweep(const Mode& mode, std::uint64_t stride) {
  const std::vector<std::uint32_t> thresholds = oracle_thresholds(E, mode);
  constexpr std::int64_t chunks = 4096;
  constexpr std::uint64_t chunk_size = float_infinity_bits / chunks;
  static_assert(chunk_size * chunks == float_infinity_bits);
  std::uint64_t count = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t digest = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : count, mismatches, digest)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t begin = static_cast<std::uint64_t>(chunk) * chunk_size;
    const Tally tally = sweep_range<E, R>(begin, begin + chunk_size, stride, mode.u, mode.bits, thresholds);
    count += tally.count;
    mismatches += tally.mismatches;
    digest += tally.digest;
  }
  return {count, mismatches, digest};
}

/// Infinities clamp to the largest code; every NaN gives the element's NaN code, or its largest code if it has none.
template <Element E, Rounding R>
[[gnu::flatten]] Tally sweep_special(const Mode& mode, std::uint64_t stride) {
  constexpr ElementSpec spec = element_spec(E);
  Tally tally;
  for (std::uint64_t at = float_infinity_bits; at < float_sign_mask; at += at == float_infinity_bits ? 1 : stride) {
    const bool nan = at != float_infinity_bits;
    const std::uint32_t magnitude = nan && spec.nan_code != 0 ? spec.nan_code : spec.max_code;
    for (const std::uint32_t sign : {0U, float_sign_mask}) {
      const std::uint32_t word = static_cast<std::uint32_t>(at) | sign;
      const std::uint32_t code = encode_element(E, R, float_from_bits(word), mode.u, mode.bits);
      ++tally.count;
      tally.mismatches += code != (magnitude | (sign != 0 ? spec.sign_mask() : 0U)) ? 1U : 0U;
      tally.digest += exhaustive::digest_term(word, code);
    }
  }
  return tally;
}

struct Options {
  std::uint64_t stride = 1;
  std::string element = "all";
  std::string rounding = "all";
};

template <Element E, Rounding R>
std::uint64_t report(const Options& options) {
  std::uint64_t mismatches = 0;
  for (const Mode& mode : modes) {
    if (mode.rounding != R) continue;
    const auto start = std::chrono::steady_clock::now();
    Tally tally = sweep<E, R>(mode, options.stride);
    const Tally special = sweep_special<E, R>(mode, options.stride);
    tally.count += special.count;
    tally.mismatches += special.mismatches;
    tally.digest += special.digest;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string random = R == Rounding::stochastic ? fmt::format(" u={:#x} of {} bits", mode.u, mode.bits) : "";
    fmt::print("{} {:<10}{:<26} {:>10} words  {} mismatches  digest {:016x}  {:.1f} s\n", name_of(E), name_of(R),
               random, tally.count, tally.mismatches, tally.digest, seconds);
    std::fflush(stdout);
    mismatches += tally.mismatches;
  }
  return mismatches;
}

template <Element E>
std::uint64_t report_element(const Options& options) {
  if (options.element != "all" && options.element != name_of(E)) return 0;
  const auto wanted = [&](Rounding r) { return options.rounding == "all" || options.rounding == name_of(r); };
  std::uint64_t mismatches = 0;
  if (wanted(Rounding::rne)) mismatches += report<E, Rounding::rne>(options);
  if (wanted(Rounding::rna)) mismatches += report<E, Rounding::rna>(options);
  if (wanted(Rounding::rtz)) mismatches += report<E, Rounding::rtz>(options);
  if (wanted(Rounding::ties_down)) mismatches += report<E, Rounding::ties_down>(options);
  if (wanted(Rounding::stochastic)) mismatches += report<E, Rounding::stochastic>(options);
  return mismatches;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"All binary32 words through each element encoder, against the oracle's thresholds"};
  Options options;
  app.add_option("--stride", options.stride, "take every N-th word")->check(CLI::PositiveNumber);
  app.add_option("--element", options.element, "one element, for example e2m1");
  app.add_option("--rounding", options.rounding, "one rounding, for example rne");
  CLI11_PARSE(app, argc, argv);
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t mismatches = report_element<Element::e2m1>(options) + report_element<Element::e2m3>(options) +
                                   report_element<Element::e3m2>(options) + report_element<Element::e4m3>(options) +
                                   report_element<Element::e5m2>(options) + report_element<Element::s1p1>(options) +
                                   report_element<Element::s1p2>(options) + report_element<Element::s1p3>(options);
  fmt::print("{} mismatches in {:.0f} s on {} threads\n", mismatches,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), omp_get_max_threads());
  return mismatches == 0 ? 0 : 1;
}
