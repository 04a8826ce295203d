#include "reference/portable/training/attention.h"

#include <algorithm>
#include <vector>

#include "formats/strict_math.h"
#include "reference/portable/training/row_sum.h"
#include "reference/portable/training/softmax.h"
#include "reference/portable/training/threads.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable::training {

namespace {

/// sums_c := RN(sums_c + RN(factor x_c)).
FP4PROOF_INLINE void add_scaled(float factor, const float* x, std::int64_t count, float* sums) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t c = 0; c < count; ++c) sums[c] += factor * x[c];
}

FP4PROOF_INLINE void canonicalise(std::int64_t count, float* x) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t c = 0; c < count; ++c) x[c] = strict::canonicalise_nan(x[c]);
}

/// One head of one sequence: rows of `size` numbers, `stride` apart.
struct Head {
  std::int64_t size;
  std::int64_t stride;
  float scale;
};

/// One query against the `visible` first keys; p gets their probabilities.
FP4PROOF_CLONES void attend(const Head& head, std::int64_t visible, const float* q, const float* k, const float* v,
                            float* p, float* out) {
  for (std::int64_t j = 0; j < visible; ++j) p[j] = row_sum_of_products(q, k + j * head.stride, head.size) * head.scale;
  exponentials(p, visible, largest_of(p, visible).value, p);
  float sum = 0.0F;
  for (std::int64_t j = 0; j < visible; ++j) sum += p[j];
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t j = 0; j < visible; ++j) p[j] = strict::divide(p[j], sum);
  std::fill_n(out, head.size, 0.0F);
  for (std::int64_t j = 0; j < visible; ++j) add_scaled(p[j], v + j * head.stride, head.size, out);
  canonicalise(head.size, out);
}

/// All queries of one head of one sequence; the gradients start at zero, `ds` holds one number a query.
FP4PROOF_CLONES void attend_backward(const Head& head, std::int64_t queries, const float* q, const float* k,
                                     const float* v, const float* probabilities, const float* d_out, float* dq,
                                     float* dk, float* dv, float* ds) {
  for (std::int64_t i = 0; i < queries; ++i) {
    const float* p = probabilities + i * queries;
    const float* d_row = d_out + i * head.stride;
    float t = 0.0F;
    for (std::int64_t j = 0; j <= i; ++j) {
      ds[j] = row_sum_of_products(d_row, v + j * head.stride, head.size);
      t += p[j] * ds[j];
    }
    FP4PROOF_VECTORIZE_LOOP
    for (std::int64_t j = 0; j <= i; ++j) ds[j] = (p[j] * (ds[j] - t)) * head.scale;
    for (std::int64_t j = 0; j <= i; ++j) {
      add_scaled(ds[j], k + j * head.stride, head.size, dq + i * head.stride);
      add_scaled(ds[j], q + i * head.stride, head.size, dk + j * head.stride);
      add_scaled(p[j], d_row, head.size, dv + j * head.stride);
    }
  }
  for (std::int64_t i = 0; i < queries; ++i) {
    for (float* gradient : {dq, dk, dv}) canonicalise(head.size, gradient + i * head.stride);
  }
}

Head head_of(const AttentionShape& shape) {
  return {shape.head_size, shape.heads * shape.head_size, strict::rsqrt(static_cast<float>(shape.head_size))};
}

}  // namespace

void attention(const AttentionShape& shape, const float* q, const float* k, const float* v, float* out,
               float* probabilities) {
  const Head head = head_of(shape);
  const std::int64_t longest = shape.first_position + shape.queries;
  const std::int64_t cost = 2 * longest * (shape.head_size + 16);
  in_ranges(shape.sequences * shape.heads * shape.queries, cost, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> scratch(static_cast<std::size_t>(longest));
    for (std::int64_t item = first; item < last; ++item) {
      const std::int64_t query = item % shape.queries;
      const std::int64_t column = item / shape.queries % shape.heads * shape.head_size;
      const std::int64_t sequence = item / shape.queries / shape.heads;
      const std::int64_t visible = shape.first_position + query + 1;
      const std::int64_t row = (sequence * shape.queries + query) * head.stride + column;
      const std::int64_t keys = sequence * shape.capacity * head.stride + column;
      float* p = probabilities == nullptr ? scratch.data() : probabilities + item * shape.capacity;
      attend(head, visible, q + row, k + keys, v + keys, p, out + row);
      if (probabilities != nullptr) std::fill(p + visible, p + shape.capacity, 0.0F);
    }
  });
}

void attention_backward(const AttentionShape& shape, const float* q, const float* k, const float* v,
                        const float* probabilities, const float* d_out, float* dq, float* dk, float* dv) {
  const Head head = head_of(shape);
  const std::int64_t queries = shape.queries;
  const std::int64_t cost = 3 * queries * queries * (shape.head_size + 16);
  in_ranges(shape.sequences * shape.heads, cost, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> scratch(static_cast<std::size_t>(queries));
    for (std::int64_t item = first; item < last; ++item) {
      const std::int64_t at = item / shape.heads * queries * head.stride + item % shape.heads * shape.head_size;
      for (std::int64_t i = 0; i < queries; ++i) {
        for (float* gradient : {dq, dk, dv}) std::fill_n(gradient + at + i * head.stride, shape.head_size, 0.0F);
      }
      attend_backward(head, queries, q + at, k + at, v + at, probabilities + item * queries * queries, d_out + at,
                      dq + at, dk + at, dv + at, scratch.data());
    }
  });
}

}  // namespace fp4proof::portable::training
