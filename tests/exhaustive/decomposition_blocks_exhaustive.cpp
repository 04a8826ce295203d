// Random blocks of every profile through the portable error decomposition, against the oracle, bit for bit: terms,
// block sums, row sums and totals, for binary32, bfloat16 and binary16 inputs.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "formats/spec_profiles.h"
#include "tests/exhaustive/decomposition_comparison.h"

namespace {

using namespace fp4proof;

constexpr std::uint64_t seed = 20261130;

/// A short matrix of several blocks a row, the last one incomplete.
std::string compare_batch(const Profile& profile, portable::DType dtype, std::uint64_t first, std::int64_t tiles) {
  const portable::QuantizeOptions options{.tail = portable::Tail::pad, .seed = seed ^ first};
  const exhaustive::Matrix matrix = exhaustive::random_matrix(profile, dtype, seed, first, tiles, 3, 5);
  return exhaustive::difference(profile, matrix, options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Random blocks of every profile through the error decomposition, against the oracle"};
  std::int64_t blocks = 100'000;
  std::string only;
  app.add_option("--blocks", blocks, "blocks a profile; a 2D tile counts as its number of rows")
      ->check(CLI::PositiveNumber);
  app.add_option("--profile", only, "one profile");
  CLI11_PARSE(app, argc, argv);
  std::uint64_t differences = 0;
  std::uint64_t compared = 0;
  constexpr portable::DType dtypes[] = {portable::DType::f32, portable::DType::bf16, portable::DType::f16};
  for (const Profile& profile : profiles()) {
    if (!only.empty() && profile.name != only) continue;
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t step = std::max<std::int64_t>(16 / profile.block.rows, 1);
    const std::int64_t blocks_a_step = step * 3 * profile.block.rows;
    std::int64_t done = 0;
    std::uint64_t wrong = 0;
    for (std::uint64_t batch = 0; done < blocks; ++batch, done += blocks_a_step) {
      const std::string difference =
          compare_batch(profile, dtypes[batch % 3], batch * static_cast<std::uint64_t>(step * 3), step);
      if (difference.empty()) continue;
      ++wrong;
      fmt::print(stderr, "{}: batch {} differs: {}\n", profile.name, batch, difference);
    }
    fmt::print("{:<32} {:>8} blocks  {} batches differ  {:.1f} s\n", profile.name, done, wrong,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
    differences += wrong;
    ++compared;
  }
  fmt::print("{} profiles, {} batches differ\n", compared, differences);
  return differences == 0 && compared != 0 ? 0 : 1;
}
