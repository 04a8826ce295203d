// Every profile on seeded random blocks: the tensor road and the scalar codec against the oracle, codes, scales and
// dequantized values, bit for bit. Profiles that are the same rule under another name are compared once.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/block.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"
#include "tests/exhaustive/random_blocks.h"

namespace {

using namespace fp4proof;

constexpr std::uint64_t seed = 20261129;

struct Batch {
  std::vector<std::uint32_t> words;  ///< row-major [tiles * rows, cols], one block a row band
  portable::Quantized quantized;
  std::vector<float> values;
};

/// Quantizes `count` blocks, from `first` on, as one tensor of one block per row band.
Batch make_batch(const Profile& profile, std::uint64_t first, std::int64_t count,
                 const portable::QuantizeOptions& options) {
  const auto size = static_cast<std::size_t>(profile.block.size());
  Batch batch;
  batch.words.resize(static_cast<std::size_t>(count) * size);
  for (std::int64_t b = 0; b < count; ++b) {
    const std::span<std::uint32_t> block(batch.words.data() + static_cast<std::size_t>(b) * size, size);
    exhaustive::fill_random_block(seed, first + static_cast<std::uint64_t>(b), block);
  }
  const std::vector<std::int64_t> shape = {count * profile.block.rows, profile.block.cols};
  const portable::TensorView view{portable::DType::f32, shape, reinterpret_cast<const std::byte*>(batch.words.data())};
  auto quantized = portable::quantize(profile, view, options);
  if (!quantized) {
    fmt::print(stderr, "{}: {}\n", profile.name, quantized.error().message);
    std::exit(70);
  }
  batch.quantized = *std::move(quantized);
  batch.values = portable::dequantize(profile, batch.quantized);
  return batch;
}

/// The oracle's block in the canonical packing of the tensor road.
struct Canonical {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
};

Canonical canonical(const Profile& profile, const exact::EncodedBlock& block) {
  Profile lsb_first = profile;
  lsb_first.micro_order = MicroOrder::lsb_first;
  Canonical result;
  for (int row = 0; row < profile.block.rows; ++row) {
    if (profile.family == Family::hif4) {
      const auto bytes = exact::hif4_scale_bytes(lsb_first, block, row);
      result.scales.insert(result.scales.end(), bytes.begin(), bytes.end());
    } else {
      result.scales.push_back(block.scale);
    }
  }
  if (!element_spec(profile.element).is_nibble()) return {block.codes, result.scales};
  for (std::size_t i = 0; i < block.codes.size(); i += 2) {
    result.codes.push_back(static_cast<std::uint8_t>(block.codes[i] | (block.codes[i + 1] << 4)));
  }
  return result;
}

bool same_values(const std::vector<std::uint32_t>& expected, const float* ours) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (float_bits(ours[i]) != expected[i]) return false;
  }
  return true;
}

std::uint64_t compare_batch(const Profile& profile, std::uint64_t first, std::int64_t count) {
  const portable::QuantizeOptions options{.seed = seed ^ first};
  const Batch batch = make_batch(profile, first, count, options);
  const auto size = static_cast<std::size_t>(profile.block.size());
  const std::uint32_t tensor_scale = exact::tensor_scale_word(profile, batch.words);
  std::uint64_t mismatches = tensor_scale != float_bits(batch.quantized.tensor_scale) ? 1 : 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : mismatches)
  for (std::int64_t b = 0; b < count; ++b) {
    const auto at = static_cast<std::size_t>(b);
    const std::span<const std::uint32_t> words(batch.words.data() + at * size, size);
    std::vector<std::uint32_t> random;
    if (profile.rounding == Rounding::stochastic) {
      for (std::size_t i = 0; i < size; ++i) {
        random.push_back(random_word(options.seed, options.stream, options.step, at * size + i));
      }
    }
    const exact::EncodedBlock expected = exact::encode_block(profile, words, random, tensor_scale);
    const Canonical wanted = canonical(profile, expected);
    const std::uint8_t* codes = batch.quantized.codes.data() + at * wanted.codes.size();
    const std::uint8_t* scales = batch.quantized.scales.data() + at * wanted.scales.size();
    const bool same =
        std::equal(wanted.codes.begin(), wanted.codes.end(), codes) &&
        std::equal(wanted.scales.begin(), wanted.scales.end(), scales) &&
        same_values(exact::decode_block(profile, expected, tensor_scale), batch.values.data() + at * size);
    if (!same) {
      ++mismatches;
#pragma omp critical
      fmt::print(stderr, "{}: block {} differs (words begin {:08x} {:08x})\n", profile.name, first + at, words[0],
                 words[1]);
    }
  }
  return mismatches;
}

/// Whether an earlier profile of the table has the same rule.
bool is_alias(const Profile& profile) {
  for (const Profile& other : profiles()) {
    if (other.name == profile.name) return false;
    Profile renamed = other;
    renamed.name = profile.name;
    renamed.summary = profile.summary;
    if (renamed == profile) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Random blocks of every profile through the tensor road, against the oracle"};
  std::int64_t blocks = 1'000'000;
  std::string only;
  app.add_option("--blocks", blocks, "blocks a rule; a 2D tile counts as its number of rows")
      ->check(CLI::PositiveNumber);
  app.add_option("--profile", only, "one profile");
  CLI11_PARSE(app, argc, argv);
  std::uint64_t mismatches = 0;
  std::uint64_t compared = 0;
  for (const Profile& profile : profiles()) {
    if (!only.empty() ? profile.name != only : is_alias(profile)) continue;
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t count = std::max<std::int64_t>(blocks / profile.block.rows, 4);
    const std::int64_t step = std::max<std::int64_t>(16384 / profile.block.rows, 1);
    std::uint64_t wrong = 0;
    for (std::int64_t b = 0; b < count; b += step) {
      wrong += compare_batch(profile, static_cast<std::uint64_t>(b), std::min(step, count - b));
    }
    fmt::print("{:<32} {:>8} blocks  {} mismatches  {:.1f} s\n", profile.name, count, wrong,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
    mismatches += wrong;
    ++compared;
  }
  fmt::print("{} rules, {} mismatches\n", compared, mismatches);
  return mismatches == 0 && compared != 0 ? 0 : 1;
}
