#pragma once
// The operators that work row by row, under their own names.

#include "conformance/training/operators.h"

namespace fp4proof::training {

inline void embed(Operators& o, std::int64_t rows, std::int64_t columns, const std::int32_t* tokens,
                  const std::int32_t* positions, const float* token_table, const float* position_table, float* y) {
  o.call(&fp4proof_training::embed, "embed", {0, rows, columns, tokens, positions, token_table, position_table, y});
}

inline void embed_backward(Operators& o, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                           const std::int32_t* indices, const float* dy, float* table_gradient) {
  o.call(&fp4proof_training::embed_backward, "embed_backward",
         {0, rows, columns, entries, indices, dy, table_gradient});
}

inline void rms_norm(Operators& o, std::int64_t rows, std::int64_t columns, const float* x, const float* weight,
                     const float* gain, float* y, float* inverse) {
  o.call(&fp4proof_training::rms_norm, "rms_norm", {0, rows, columns, x, weight, gain, y, inverse});
}

inline void rms_norm_backward(Operators& o, std::int64_t rows, std::int64_t columns, const float* x,
                              const float* weight, const float* gain, const float* inverse, const float* dy, float* dx,
                              float* weight_gradient) {
  o.call(&fp4proof_training::rms_norm_backward, "rms_norm_backward",
         {0, rows, columns, x, weight, gain, inverse, dy, dx, weight_gradient});
}

inline void add(Operators& o, std::int64_t count, const float* a, const float* b, float* y) {
  o.call(&fp4proof_training::add, "add", {0, count, a, b, y});
}

inline void swiglu(Operators& o, std::int64_t count, const float* gate, const float* up, float* y) {
  o.call(&fp4proof_training::swiglu, "swiglu", {0, count, gate, up, y});
}

inline void swiglu_backward(Operators& o, std::int64_t count, const float* gate, const float* up, const float* dy,
                            float* d_gate, float* d_up) {
  o.call(&fp4proof_training::swiglu_backward, "swiglu_backward", {0, count, gate, up, dy, d_gate, d_up});
}

/// Rows of `width` numbers between matrices of other strides.
inline void copy_rows(Operators& o, std::int64_t rows, std::int64_t width, const float* from, std::int64_t from_stride,
                      float* to, std::int64_t to_stride) {
  o.call(&fp4proof_training::copy_rows, "copy_rows", {0, rows, width, from_stride, to_stride, from, to});
}

/// y[r] = weights[r] * x[indices[r]], or without weights; zeros where the index is -1.
inline void gather_rows(Operators& o, std::int64_t rows, std::int64_t columns, const std::int32_t* indices,
                        const float* weights, const float* x, float* y) {
  o.call(&fp4proof_training::gather_rows, "gather_rows", {0, rows, columns, indices, weights, x, y});
}

inline void log_softmax(Operators& o, std::int64_t rows, std::int64_t vocabulary, const float* logits,
                        const std::int32_t* targets, float* log_probability, float* entropy, std::int32_t* largest) {
  o.call(&fp4proof_training::log_softmax, "log_softmax",
         {0, rows, vocabulary, logits, targets, log_probability, entropy, largest});
}

inline void log_softmax_backward(Operators& o, std::int64_t rows, std::int64_t vocabulary, const float* logits,
                                 const std::int32_t* targets, const float* weights, float* d_logits) {
  o.call(&fp4proof_training::log_softmax_backward, "log_softmax_backward",
         {0, rows, vocabulary, logits, targets, weights, d_logits});
}

inline void sample(Operators& o, std::int64_t rows, std::int64_t vocabulary, fp4proof_random random,
                   const float* logits, std::int32_t* tokens) {
  o.call(&fp4proof_training::sample, "sample", {0, rows, vocabulary, random, logits, tokens});
}

}  // namespace fp4proof::training
