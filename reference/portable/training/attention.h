#pragma once
// Causal attention and its gradients: rules T35 and T36 of docs/rules-training.md.

#include <cstdint>

namespace fp4proof::portable::training {

/// Heads stand side by side in the columns. Query i of a sequence sees the keys 0 ... first_position + i of the
/// `capacity` that it has.
struct AttentionShape {
  std::int64_t sequences = 0;
  std::int64_t queries = 0;
  std::int64_t capacity = 0;
  std::int64_t first_position = 0;
  std::int64_t heads = 0;
  std::int64_t head_size = 0;
};

/// `probabilities` [sequences, heads, queries, capacity] may be null. T35
void attention(const AttentionShape& shape, const float* q, const float* k, const float* v, float* out,
               float* probabilities);

/// Whole sequences: capacity = queries, first_position = 0. T36
void attention_backward(const AttentionShape& shape, const float* q, const float* k, const float* v,
                        const float* probabilities, const float* d_out, float* dq, float* dk, float* dv);

}  // namespace fp4proof::portable::training
