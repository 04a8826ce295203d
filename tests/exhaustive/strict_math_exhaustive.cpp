// Compares strict::exp or strict::log with the correctly rounded result on all 2^32 binary32 words, or on a sample.
//
// The judge is MPFR. Because MPFR takes microseconds, a long double evaluation goes first where long double has at
// least 64 bits: if its value, moved by 2^-44 relative to either side, rounds to one and the same binary32 number, that
// number is taken; all other inputs go to MPFR. With --mpfr-only every input goes to MPFR.
//
// Prints the count, mismatches, the digest of our results (word_digest.h), the digest of the expected results and
// seconds. Exit code 0: no mismatch; 1: mismatches; other: wrong usage.

#include <fmt/core.h>
#include <mpfr.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "formats/float_bits.h"
#include "formats/strict_math.h"
#include "tests/exhaustive/word_digest.h"

namespace {

using fp4proof::float_bits;
using fp4proof::float_from_bits;

/// One function under test and its two judges.
struct Function {
  float (*ours)(float);
  long double (*wide)(long double);
  int (*exact)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
};

struct Options {
  std::string function = "exp";
  std::uint64_t stride = 1;
  int jobs = 0;
  bool mpfr_only = false;
};

struct Tally {
  std::uint64_t count = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t judged_by_mpfr = 0;
  std::uint64_t digest = 0;
  std::uint64_t expected_digest = 0;
};

constexpr std::uint64_t word_count = std::uint64_t{1} << 32;
constexpr std::uint64_t reported_mismatches = 10;

float strict_exp(float x) { return fp4proof::strict::exp(x); }
float strict_log(float x) { return fp4proof::strict::log(x); }
long double wide_exp(long double x) { return std::exp(x); }
long double wide_log(long double x) { return std::log(x); }
int exact_exp(mpfr_t result, mpfr_srcptr x, mpfr_rnd_t mode) { return mpfr_exp(result, x, mode); }
int exact_log(mpfr_t result, mpfr_srcptr x, mpfr_rnd_t mode) { return mpfr_log(result, x, mode); }

/// MPFR set up as binary32: 24 bits, its exponent range, gradual underflow. The range is a thread's own.
class Binary32Judge {
 public:
  Binary32Judge() {
    mpfr_init2(argument_, 24);
    mpfr_init2(result_, 24);
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
  }
  ~Binary32Judge() {
    mpfr_clear(argument_);
    mpfr_clear(result_);
  }
  Binary32Judge(const Binary32Judge&) = delete;
  Binary32Judge& operator=(const Binary32Judge&) = delete;

  std::uint32_t expected(const Function& function, float x) {
    mpfr_set_flt(argument_, x, MPFR_RNDN);
    const int direction = function.exact(result_, argument_, MPFR_RNDN);
    mpfr_subnormalize(result_, direction, MPFR_RNDN);
    if (mpfr_nan_p(result_)) return fp4proof::canonical_nan_bits;
    return float_bits(mpfr_get_flt(result_, MPFR_RNDN));
  }

 private:
  mpfr_t argument_;
  mpfr_t result_;
};

/// The correctly rounded result if the long double value leaves no doubt about it.
bool decided_by_long_double(const Function& function, float x, std::uint32_t& expected) {
  if constexpr (std::numeric_limits<long double>::digits < 64) return false;
  const long double value = function.wide(static_cast<long double>(x));
  if (!std::isfinite(value)) return false;
  const auto below = static_cast<float>(value * (1.0L - 0x1p-44L));
  const auto above = static_cast<float>(value * (1.0L + 0x1p-44L));
  expected = float_bits(below);
  return expected == float_bits(above) && below != 0.0F;
}

void check_word(const Function& function, std::uint32_t word, bool mpfr_only, Binary32Judge& judge, Tally& tally) {
  const float x = float_from_bits(word);
  const std::uint32_t ours = float_bits(function.ours(x));
  std::uint32_t expected = 0;
  if (mpfr_only || !decided_by_long_double(function, x, expected)) {
    expected = judge.expected(function, x);
    ++tally.judged_by_mpfr;
  }
  ++tally.count;
  tally.digest += fp4proof::exhaustive::digest_term(word, ours);
  tally.expected_digest += fp4proof::exhaustive::digest_term(word, expected);
  if (ours == expected) return;
  ++tally.mismatches;
  if (tally.mismatches <= reported_mismatches) {
    fmt::print(stderr, "mismatch: input {:08x} ({:a}) gave {:08x}, correctly rounded is {:08x}\n", word,
               static_cast<double>(x), ours, expected);
  }
}

/// The words around which something changes: every power of two, zero, the subnormal border, infinity, NaN, and the
/// overflow and underflow limits of exp, each with 64 neighbours on both sides, both signs.
std::vector<std::uint32_t> boundary_words() {
  constexpr int neighbours = 64;
  std::vector<std::uint32_t> centres = {0x42B17217U, 0x42AEAC4FU, 0x42CFF1B4U, 0x3F3504F3U, 0x3FB504F3U, 0x7FC00000U};
  for (std::uint32_t field = 0; field < 256; ++field) centres.push_back(field << 23);
  for (std::uint32_t bit = 0; bit < 23; ++bit) centres.push_back(1U << bit);
  std::vector<std::uint32_t> words;
  for (const std::uint32_t centre : centres) {
    for (int offset = -neighbours; offset <= neighbours; ++offset) {
      const std::uint32_t word = centre + static_cast<std::uint32_t>(offset);
      words.push_back(word & fp4proof::float_magnitude_mask);
      words.push_back(word | fp4proof::float_sign_mask);
    }
  }
  return words;
}

Tally check_all(const Function& function, const Options& options) {
  const std::vector<std::uint32_t> boundaries = options.stride == 1 ? std::vector<std::uint32_t>{} : boundary_words();
  const auto strided = static_cast<std::int64_t>((word_count + options.stride - 1) / options.stride);
  const auto total = strided + static_cast<std::int64_t>(boundaries.size());
  Tally sum;
#pragma omp parallel num_threads(options.jobs)
  {
    Binary32Judge judge;
    Tally mine;
#pragma omp for schedule(dynamic, 65536)
    for (std::int64_t i = 0; i < total; ++i) {
      const std::uint32_t word = i < strided
                                     ? static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * options.stride)
                                     : boundaries[static_cast<std::size_t>(i - strided)];
      check_word(function, word, options.mpfr_only, judge, mine);
    }
#pragma omp critical
    {
      sum.count += mine.count;
      sum.mismatches += mine.mismatches;
      sum.judged_by_mpfr += mine.judged_by_mpfr;
      sum.digest += mine.digest;
      sum.expected_digest += mine.expected_digest;
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compare strict exp or log with the correctly rounded result.");
  app.add_option("--function", options.function, "exp or log")->check(CLI::IsMember({"exp", "log"}));
  app.add_option("--stride", options.stride, "test every STRIDE-th word, and the boundary words if STRIDE > 1")
      ->check(CLI::Range(std::uint64_t{1}, word_count - 1));
  app.add_option("--jobs", options.jobs, "threads; 0 means one for each processor")->check(CLI::Range(0, 4096));
  app.add_flag("--mpfr-only", options.mpfr_only, "send every input to MPFR");
  CLI11_PARSE(app, argc, argv);
  if (options.jobs == 0) options.jobs = omp_get_num_procs();
  if (mpfr_buildopt_tls_p() == 0) options.jobs = 1;

  const Function function =
      options.function == "exp" ? Function{strict_exp, wide_exp, exact_exp} : Function{strict_log, wide_log, exact_log};
  const auto start = std::chrono::steady_clock::now();
  const Tally tally = check_all(function, options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print(
      "function {} stride {} count {} mismatches {} digest {:016x} expected_digest {:016x} judged_by_mpfr {} "
      "seconds {:.1f}\n",
      options.function, options.stride, tally.count, tally.mismatches, tally.digest, tally.expected_digest,
      tally.judged_by_mpfr, elapsed.count());
  return tally.mismatches == 0 ? 0 : 1;
}
