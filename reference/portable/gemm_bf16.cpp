// The matrix product of bfloat16 operands.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "formats/float_bits.h"
#include "reference/portable/gemm.h"
#include "reference/portable/gemm_matrix.h"
#include "reference/portable/gemm_rounded_sum.h"
#include "reference/portable/gemm_tile.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// The exponents between which the finite nonzero values of an operand lie, in multiples of 2^lowest, below 2^highest.
struct ExponentRange {
  int lowest = 0;
  int highest = 0;
};

ExponentRange range_of(std::span<const std::uint16_t> words) {
  constexpr int fraction_bits = 7;
  int smallest_field = 254;
  int largest_field = 1;
  for (const std::uint16_t word : words) {
    const int field = (word >> fraction_bits) & 0xFF;
    if (field == 0xFF || (word & 0x7FFFU) == 0) continue;
    smallest_field = std::min(smallest_field, std::max(field, 1));
    largest_field = std::max(largest_field, field);
  }
  return {smallest_field - 127 - fraction_bits, largest_field - 127 + 1};
}

/// Whether every product of finite values is a binary32 number.
bool products_are_exact(const ExponentRange& a, const ExponentRange& b) {
  return a.lowest + b.lowest >= -149 && a.highest + b.highest <= 128;
}

Panels<float> unpack(std::span<const std::uint16_t> words, std::int64_t rows, std::int64_t k, int width) {
  Panels<float> panels(rows, k, width);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < k; ++i)
      panels.at(row, i) = bf16_to_float(words[static_cast<std::size_t>(row * k + i)]);
  }
  return panels;
}

/// sums = fma(a, b, sums) over `count` steps of k, where every product is exact: then one product and one sum are a
/// fused multiply-add.
FP4PROOF_CLONES void add_exact_products(const float* a, const float* b, std::int64_t count, float* sums) {
  using FloatRow = float __attribute__((vector_size(64)));
  constexpr int lanes = 16;
  for (int column = 0; column < tile_columns; column += lanes) {
    FloatRow rows[tile_rows];
    for (int i = 0; i < tile_rows; ++i) std::memcpy(&rows[i], sums + i * tile_columns + column, sizeof rows[i]);
    for (std::int64_t k = 0; k < count; ++k) {
      FloatRow factors;
      std::memcpy(&factors, b + k * tile_columns + column, sizeof factors);
      for (int i = 0; i < tile_rows; ++i) rows[i] += factors * a[k * tile_rows + i];
    }
    for (int i = 0; i < tile_rows; ++i) std::memcpy(sums + i * tile_columns + column, &rows[i], sizeof rows[i]);
  }
}

/// The same where products leave the range of binary32: they are exact in binary64.
void add_any_products(const float* a, const float* b, std::int64_t count, float* sums) {
  for (std::int64_t k = 0; k < count; ++k) {
    for (int i = 0; i < tile_rows; ++i) {
      for (int j = 0; j < tile_columns; ++j) {
        float& sum = sums[i * tile_columns + j];
        sum = rounded_sum(double{a[k * tile_rows + i]} * double{b[k * tile_columns + j]}, sum);
      }
    }
  }
}

Error wrong_length(const char* name, std::size_t length, std::int64_t rows, std::int64_t k) {
  return {ErrorKind::usage, std::string("gemm_bf16: operand ") + name + " of shape [" + std::to_string(rows) + ", " +
                                std::to_string(k) + "] does not fit its span of " + std::to_string(length) + " words"};
}

bool fits(std::size_t length, std::int64_t rows, std::int64_t k) {
  if (rows < 0 || k < 0) return false;
  const auto row_length = static_cast<std::size_t>(k);
  if (row_length == 0) return length == 0;
  return length % row_length == 0 && length / row_length == static_cast<std::size_t>(rows);
}

void multiply(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b, std::int64_t m, std::int64_t n,
              std::int64_t k, float* c) {
  const Panels<float> panels_a = unpack(a, m, k, tile_rows);
  const Panels<float> panels_b = unpack(b, n, k, tile_columns);
  const auto add = products_are_exact(range_of(a), range_of(b)) ? add_exact_products : add_any_products;
  const Tiles tiles(m, n);
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles.count(); ++tile) {
    alignas(64) std::array<float, tile_size> totals{};
    for (std::int64_t first = 0; first < k; first += chunk_elements) {
      alignas(64) std::array<float, tile_size> sums{};
      add(panels_a.panel(tiles.panel_of_a(tile), first), panels_b.panel(tiles.panel_of_b(tile), first),
          std::min(chunk_elements, k - first), sums.data());
      if (first == 0) {
        totals = sums;
      } else {
        for (std::size_t i = 0; i < sums.size(); ++i) totals[i] += sums[i];
      }
    }
    tiles.store(tile, totals.data(), c);
  }
}

}  // namespace

Result<std::vector<float>> gemm_bf16(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b, std::int64_t m,
                                     std::int64_t n, std::int64_t k) {
  if (!fits(a.size(), m, k)) return wrong_length("A", a.size(), m, k);
  if (!fits(b.size(), n, k)) return wrong_length("B", b.size(), n, k);
  return make_matrix("gemm_bf16", m, n, [&](std::vector<float>& c) { multiply(a, b, m, n, k, c.data()); });
}

}  // namespace fp4proof::portable
