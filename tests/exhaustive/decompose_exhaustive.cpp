// The identity F e = (F e_scale + F e_deadzone) + F e_grid, bit for bit, on many bfloat16 elements of four
// distributions, with no term rounded; and the row sums of the fast road against those of the scalar road. Prints
// counts and shares.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "formats/strict_math.h"
#include "reference/portable/decompose.h"

namespace {

using namespace fp4proof;
using portable::ErrorSplit;
using portable::ErrorTerms;

constexpr std::uint64_t seed = 20261129;
constexpr std::int64_t columns = 4096;
constexpr std::int64_t rows_per_chunk = 256;

enum class Draw : std::uint32_t { gaussian, student_t4, laplace, wide };
constexpr std::array<const char*, 4> draw_names = {"Gaussian", "Student t4", "Laplace", "wide exponents"};

double uniform(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

/// A finite bfloat16 word with a uniform sign and mantissa and a uniform exponent: all of them, or those that leave
/// E6M2 and E4M3 scales unsaturated.
std::uint16_t wide_word(const Profile& profile, std::uint32_t word) {
  const std::uint32_t field = profile.family == Family::mx ? (word >> 16) % 255 : 127 - 30 + (word >> 16) % 44;
  return static_cast<std::uint16_t>((word & 0x807FU) | (field << 7));
}

std::uint16_t draw_word(const Profile& profile, Draw draw, std::uint64_t element) {
  const auto step = static_cast<std::uint32_t>(draw);
  const float normal = random_normal(seed, Stream::cases, step, element);
  const std::uint32_t a = random_word(seed, Stream::cases, step + 4, element);
  const std::uint32_t b = random_word(seed, Stream::cases, step + 8, element);
  switch (draw) {
    case Draw::gaussian: return float_to_bf16(normal);
    case Draw::student_t4: {  // normal / sqrt(chi^2_4 / 4)
      const double chi2 = -2.0 * (strict::log_double(uniform(a)) + strict::log_double(uniform(b)));
      return float_to_bf16(static_cast<float>(double{normal} / std::sqrt(chi2 / 4.0)));
    }
    case Draw::laplace: {
      const double magnitude = -strict::log_double(uniform(a));
      return float_to_bf16(static_cast<float>((b & 1U) != 0 ? -magnitude : magnitude));
    }
    case Draw::wide: return wide_word(profile, a);
  }
  return 0;
}

struct Verdict {
  ErrorSplit sum;
  std::int64_t terms_apart = 0;  ///< elements whose terms do not add up to the error, bit for bit
  std::int64_t rows_apart = 0;   ///< rows whose sums differ between the roads

  bool holds() const { return terms_apart == 0 && rows_apart == 0 && sum.inexact == 0 && sum.identity_failures == 0; }
};

bool adds_up(const ErrorTerms& t) {
  return bits_as<std::uint64_t>(t.error) == bits_as<std::uint64_t>((t.scale + t.deadzone) + t.grid);
}

/// Decomposes one chunk on both roads.
bool check_chunk(const Profile& profile, const std::vector<std::uint16_t>& words, Verdict& verdict) {
  const std::int64_t shape[] = {rows_per_chunk, columns};
  const portable::TensorView view = {portable::DType::bf16, shape, reinterpret_cast<const std::byte*>(words.data())};
  const auto geometry = portable::cut_into_blocks(profile, shape, -1, portable::Tail::error);
  if (!geometry) return false;
  const float tensor_scale = portable::tensor_scale_of(profile, view);
  std::vector<ErrorSplit> scalar(rows_per_chunk);
  std::vector<ErrorSplit> fast(rows_per_chunk);
  std::vector<ErrorTerms> terms(words.size());
  const auto decompose = [&](const portable::DecomposeOutput& output) {
    return decompose_rows(profile, view, *geometry, {}, tensor_scale, 0, rows_per_chunk, {}, output).ok();
  };
  if (!decompose({.rows = scalar, .elements = terms}) || !decompose({.rows = fast})) return false;
  for (const ErrorTerms& t : terms) verdict.terms_apart += adds_up(t) ? 0 : 1;
  for (std::size_t row = 0; row < scalar.size(); ++row) {
    verdict.rows_apart += fast[row] == scalar[row] ? 0 : 1;
    verdict.sum.add(scalar[row]);
  }
  return true;
}

bool check_draw(const Profile& profile, Draw draw, std::int64_t elements) {
  Verdict verdict;
  constexpr std::int64_t chunk = rows_per_chunk * columns;
  std::vector<std::uint16_t> words(static_cast<std::size_t>(chunk));
  for (std::int64_t first = 0; first < elements; first += chunk) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < chunk; ++i) {
      words[static_cast<std::size_t>(i)] = draw_word(profile, draw, static_cast<std::uint64_t>(first + i));
    }
    if (!check_chunk(profile, words, verdict)) return false;
  }
  const ErrorSplit& s = verdict.sum;
  fmt::print(
      "{:20} {:15} {:10} elements, {} excluded, {} apart, {} inexact, {} rows apart | scale {:.4f} deadzone "
      "{:.4f} grid {:.4f} cosine {:.4f} | in D {:.4f} zeroed {:.4f} relative {:.5f}\n",
      profile.name, draw_names[static_cast<std::size_t>(draw)], s.elements, s.excluded,
      verdict.terms_apart + s.identity_failures, s.inexact, verdict.rows_apart, s.scale_share(), s.deadzone_share(),
      s.grid_share(), s.scale_grid_cosine(), s.deadzone_fraction(), s.zeroed_fraction(), s.relative_error());
  std::fflush(stdout);
  return verdict.holds();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The identity of the error decomposition on many bfloat16 elements, bit for bit"};
  std::int64_t elements = 100'000'000;
  std::vector<std::string> names = {"mxfp4/rceil", "mxfp4/ocp", "mxfp4/even", "hif4/gcc", "nvfp4/tensor-scale"};
  app.add_option("--elements", elements, "elements a profile, over all distributions; rounded up to whole chunks")
      ->check(CLI::PositiveNumber);
  app.add_option("--profile", names, "profiles");
  CLI11_PARSE(app, argc, argv);
  bool holds = true;
  for (const std::string& name : names) {
    const Profile* profile = find_profile(name);
    if (profile == nullptr || profile->rounding == Rounding::stochastic) {
      fmt::print(stderr, "{} is no profile that rounds deterministically\n", name);
      return 2;
    }
    for (const Draw draw : {Draw::gaussian, Draw::student_t4, Draw::laplace, Draw::wide}) {
      holds = check_draw(*profile, draw, (elements + 3) / 4) && holds;
    }
  }
  fmt::print("{}\n", holds ? "the identity holds" : "FAILED");
  return holds ? 0 : 1;
}
