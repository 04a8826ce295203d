#include "reference/portable/gemm_sums.h"

#include "reference/portable/gemm_rounded_sum.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// sums += RN32(dot * scales). The binary64 product is exact, so the conversion is the only rounding before the sum.
FP4PROOF_CLONES void add_products(const double* dots, const double* scales_a, const double* scales_b, float* sums) {
  for (int i = 0; i < tile_rows; ++i) {
    const double scale = scales_a[i];
    for (int j = 0; j < tile_columns; ++j) {
      sums[i * tile_columns + j] += static_cast<float>(dots[i * tile_columns + j] * (scale * scales_b[j]));
    }
  }
}

void add_split_products(const TileDots& dots, const double* scales_a, const double* scales_b, float* sums) {
  for (int i = 0; i < tile_rows; ++i) {
    for (int j = 0; j < tile_columns; ++j) {
      const auto at = static_cast<std::size_t>(i * tile_columns + j);
      const double scale = scales_a[i] * scales_b[j];
      sums[at] += rounded_sum(dots.high[at] * scale, dots.low[at] * scale);
    }
  }
}

}  // namespace

void SequentialSums::add(const TileDots& dots, const double* scales_a, const double* scales_b) {
  if (dots.is_split) {
    add_split_products(dots, scales_a, scales_b, sums_.data());
  } else {
    add_products(dots.high.data(), scales_a, scales_b, sums_.data());
  }
  if (++blocks_in_chunk_ == blocks_per_chunk_) close_chunk();
}

void SequentialSums::close_chunk() {
  if (is_first_chunk_) {
    totals_ = sums_;
  } else {
    for (std::size_t i = 0; i < sums_.size(); ++i) totals_[i] += sums_[i];
  }
  sums_.fill(0.0F);
  blocks_in_chunk_ = 0;
  is_first_chunk_ = false;
}

const float* SequentialSums::finish() {
  if (blocks_in_chunk_ != 0) close_chunk();
  return totals_.data();
}

void ExactSums::add(const TileDots& dots, const double* scales_a, const double* scales_b) {
  for (int i = 0; i < tile_rows; ++i) {
    for (int j = 0; j < tile_columns; ++j) {
      const auto at = static_cast<std::size_t>(i * tile_columns + j);
      const double scale = scales_a[i] * scales_b[j];
      sums_[at].add(dots.high[at] * scale);
      if (dots.is_split) sums_[at].add(dots.low[at] * scale);
    }
  }
}

const float* ExactSums::finish() {
  for (std::size_t i = 0; i < sums_.size(); ++i) values_[i] = sums_[i].rounded();
  return values_.data();
}

}  // namespace fp4proof::portable
