// Rule C27: the residual of a bfloat16 number that MXFP4 or HiF4 coded is a bfloat16 number. Every bfloat16 magnitude x
// is coded under every block maximum m >= x. In HiF4 it also stands under every pair of level bits that a neighbour can
// give it: three layouts of the block. Counted apart are blocks whose scale has an end code (MX 0; HiF4 0x00 or 0xFE),
// where it may be clamped, and numbers that decode to infinity (x near 2^128 where the code is worth 2^128).

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "formats/float_bits.h"
#include "formats/spec_profiles.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"

namespace {

using namespace fp4proof;

constexpr std::uint16_t largest_bf16 = 0x7F7F;

/// What each place of a block holds: the maximum m, a zero, or the next x.
enum class Place : std::uint8_t { maximum, zero, next };
using Layout = std::vector<Place>;

std::vector<Layout> layouts_of(const Profile& profile) {
  const auto size = static_cast<std::size_t>(profile.block.cols);
  if (profile.family == Family::mx) {
    Layout one(size, Place::next);
    one[0] = Place::maximum;
    return {one};
  }
  Layout both_bits(size, Place::next);  // m in every quarter of an eighth
  Layout upper_bit(size, Place::next);  // m in the first quarter, x in the second: level 3 by the x alone
  Layout own_bits(size, Place::zero);   // one x an eighth, m in the last
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 4 == 0) both_bits[i] = Place::maximum;
    if (i % 8 < 4) upper_bit[i] = i % 8 == 0 ? Place::maximum : Place::zero;
    if (i % 8 == 0) own_bits[i] = i + 8 < size ? Place::next : Place::maximum;
    if (i % 8 > 4) upper_bit[i] = Place::zero;
  }
  return {both_bits, upper_bit, own_bits};
}

struct Count {
  std::uint64_t elements = 0;
  std::uint64_t failures = 0;
  void add(bool is_good) {
    ++elements;
    failures += is_good ? 0 : 1;
  }
  Count& operator+=(const Count& other) {
    elements += other.elements;
    failures += other.failures;
    return *this;
  }
};

struct Tally {
  Count inside;   ///< scale codes between the ends
  Count lowest;   ///< scale code 0
  Count highest;  ///< HiF4: scale code 0xFE
  std::uint64_t overflows = 0;
  std::uint64_t nonzero_residuals = 0;
  Tally& operator+=(const Tally& other) {
    inside += other.inside;
    lowest += other.lowest;
    highest += other.highest;
    overflows += other.overflows;
    nonzero_residuals += other.nonzero_residuals;
    return *this;
  }
};
#pragma omp declare reduction(tally:Tally : omp_out += omp_in)

/// Whether x - x1 is exactly a bfloat16 number. A difference that binary64 does not hold has more than eight bits.
bool residual_is_bf16(float x, float x1) {
  const double a = x;
  const double b = -double{x1};
  const double sum = a + b;
  const double b_part = sum - a;
  const bool is_exact = (a - (sum - b_part)) + (b - b_part) == 0;  // Knuth's two-sum
  const auto single = static_cast<float>(sum);
  return is_exact && double{single} == sum && (float_bits(single) & 0xFFFFU) == 0;
}

Count& count_of(Tally& tally, Family family, std::uint8_t scale) {
  if (scale == 0) return tally.lowest;
  return family == Family::hif4 && scale == e6m2_max ? tally.highest : tally.inside;
}

/// All x of 1 .. m under the maximum m, as words of bfloat16 magnitudes.
Tally sweep_maximum(const Profile& profile, const Layout& layout, std::uint16_t m) {
  std::vector<std::uint16_t> words;
  std::uint16_t x = 0;
  while (x < m) {
    for (const Place place : layout) {
      std::uint16_t word = 0;
      if (place == Place::maximum) word = m;
      if (place == Place::next && x < m) word = ++x;
      words.push_back(static_cast<std::uint16_t>(word | ((words.size() * 0x9E37U) & 0x8000U)));
    }
  }
  const auto size = static_cast<std::int64_t>(layout.size());
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(words.size()) / size, size};
  const portable::TensorView view{portable::DType::bf16, shape, reinterpret_cast<const std::byte*>(words.data())};
  const auto quantized = portable::quantize(profile, view);
  if (!quantized) throw std::runtime_error(quantized.error().message);
  const std::vector<float> values = portable::dequantize(profile, *quantized);
  Tally tally;
  const auto scale_stride = static_cast<std::size_t>(scale_bytes(profile.family));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if ((words[i] & 0x7FFFU) == 0) continue;
    const float input = bf16_to_float(words[i]);
    if (is_inf_bits(float_bits(values[i]))) {
      ++tally.overflows;
      continue;
    }
    const std::uint8_t scale = quantized->scales[i / layout.size() * scale_stride];
    count_of(tally, profile.family, scale).add(residual_is_bf16(input, values[i]));
    if (input != values[i]) ++tally.nonzero_residuals;
  }
  return tally;
}

Tally sweep(const Profile& profile, int stride) {
  Tally total;
  for (const Layout& layout : layouts_of(profile)) {
#pragma omp parallel for schedule(dynamic, 16) reduction(tally : total)
    for (int m = largest_bf16; m >= 1; m -= stride)
      total += sweep_maximum(profile, layout, static_cast<std::uint16_t>(m));
  }
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The residual of a bfloat16 number is a bfloat16 number: every x under every block maximum"};
  int stride = 1;
  std::vector<std::string> names = {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "hif4/gcc"};
  app.add_option("--stride", stride, "every n-th maximum")->check(CLI::PositiveNumber);
  app.add_option("--profile", names, "profiles");
  CLI11_PARSE(app, argc, argv);
  bool all_good = true;
  for (const std::string& name : names) {
    const Profile* profile = find_profile(name);
    if (profile == nullptr) {
      fmt::print(stderr, "no profile {}\n", name);
      return 64;
    }
    const auto start = std::chrono::steady_clock::now();
    const Tally tally = sweep(*profile, stride);
    fmt::print(
        "{:<12} not bfloat16: {} of {} elements; at the lowest scale code {} of {}, at the highest {} of {}; {} decode "
        "to "
        "infinity; {} residuals are not 0; {:.1f} s\n",
        name, tally.inside.failures, tally.inside.elements, tally.lowest.failures, tally.lowest.elements,
        tally.highest.failures, tally.highest.elements, tally.overflows, tally.nonzero_residuals,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
    all_good = all_good && tally.inside.failures == 0 && tally.inside.elements != 0 && tally.nonzero_residuals != 0;
  }
  return all_good ? 0 : 1;
}
