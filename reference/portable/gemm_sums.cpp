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

void add_block(const TileDots& dots, const double* scales_a, const double* scales_b, float* sums) {
  if (dots.is_split) {
    add_split_products(dots, scales_a, scales_b, sums);
  } else {
    add_products(dots.high.data(), scales_a, scales_b, sums);
  }
}

/// sums += RN32(part * RN32(weight_a * weight_b)), and part = 0.
FP4PROOF_CLONES void move_part(float* part, const float* weights_a, const float* weights_b, float* sums) {
  for (int i = 0; i < tile_rows; ++i) {
    const float weight = weights_a[i];
    for (int j = 0; j < tile_columns; ++j) {
      sums[i * tile_columns + j] += part[i * tile_columns + j] * (weight * weights_b[j]);
      part[i * tile_columns + j] = 0.0F;
    }
  }
}

/// Calls add_term(i, j, index of the element, term) for every exact summand of the block products.
template <class AddTerm>
void for_each_term(const TileDots& dots, const double* scales_a, const double* scales_b, AddTerm add_term) {
  for (int i = 0; i < tile_rows; ++i) {
    for (int j = 0; j < tile_columns; ++j) {
      const auto at = static_cast<std::size_t>(i * tile_columns + j);
      const double scale = scales_a[i] * scales_b[j];
      add_term(i, j, at, dots.high[at] * scale);
      if (dots.is_split) add_term(i, j, at, dots.low[at] * scale);
    }
  }
}

}  // namespace

void ChunkedSums::end_step() {
  if (++steps_in_chunk_ == steps_per_chunk_) close_chunk();
}

void ChunkedSums::close_chunk() {
  if (is_first_chunk_) {
    totals_ = sums_;
  } else {
    for (std::size_t i = 0; i < sums_.size(); ++i) totals_[i] += sums_[i];
  }
  sums_.fill(0.0F);
  steps_in_chunk_ = 0;
  is_first_chunk_ = false;
}

const float* ChunkedSums::finish() {
  if (steps_in_chunk_ != 0) close_chunk();
  return totals_.data();
}

void SequentialSums::add(const TileDots& dots, const double* scales_a, const double* scales_b) {
  add_block(dots, scales_a, scales_b, chunks_.open());
  chunks_.end_step();
}

void ExactSums::add(const TileDots& dots, const double* scales_a, const double* scales_b) {
  for_each_term(dots, scales_a, scales_b, [&](int, int, std::size_t at, double term) { sums_[at].add(term); });
}

void ExactSums::add_weighted(const TileDots& dots, const double* scales_a, const double* scales_b,
                             const float* weights_a, const float* weights_b) {
  for_each_term(dots, scales_a, scales_b, [&](int i, int j, std::size_t at, double term) {
    sums_[at].add_product(term, weights_a[i] * weights_b[j]);
  });
}

const float* ExactSums::finish() {
  for (std::size_t i = 0; i < sums_.size(); ++i) values_[i] = sums_[i].rounded();
  return values_.data();
}

void SlicedSums::add(const TileDots& dots, const double* scales_a, const double* scales_b) {
  add_block(dots, scales_a, scales_b, part_.data());
  slice_.count_block();
  if (slice_.is_full()) close_slice();
}

void SlicedSums::close_slice() {
  move_part(part_.data(), slice_.weights_a(), slice_.weights_b(), chunks_.open());
  slice_.next();
  chunks_.end_step();
}

const float* SlicedSums::finish() {
  if (!slice_.is_empty()) close_slice();
  return chunks_.finish();
}

void ExactSlicedSums::add(const TileDots& dots, const double* scales_a, const double* scales_b) {
  sums_.add_weighted(dots, scales_a, scales_b, slice_.weights_a(), slice_.weights_b());
  slice_.count_block();
  if (slice_.is_full()) slice_.next();
}

}  // namespace fp4proof::portable
