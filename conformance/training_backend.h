#pragma once
/*
 * The operators of the training harness: what a backend supplies beside backend.h, so that a whole GRPO run is made of
 * its arithmetic. C99, no dependency. docs/rules-training.md fixes every bit of every operator; the rule is named here.
 *
 *     const fp4proof_training *fp4proof_open_training(uint32_t host_version);
 *
 * A table is valid until close(); the library may be opened again behind it. Every pointer in a call is memory of the
 * backend, made by allocate(), dense and row-major, of binary32 numbers unless stated otherwise. Calls return at once
 * and run in the order in which they were made; synchronize() and the copies wait for everything before them. A row is
 * a token: rows = sequences x positions, position fastest.
 *
 * Each struct starts with its size in bytes. Later versions append fields and functions and never change what stands
 * here; a missing function means that the backend does not offer it.
 */

#include "conformance/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using,readability-identifier-naming): C has no using, and its names have a prefix. */

#define FP4PROOF_TRAINING_VERSION 1u

/* Philox address of random words (docs/randomness.md): words of elements first, first + 1, ... */
typedef struct fp4proof_random {
  uint64_t seed;
  uint32_t stream;
  uint32_t step;
  uint64_t first;
} fp4proof_random;

/* One coded part of a matrix (docs/vectors.md): [lines, ...] with the block axis last. Pointers that the profile or
 * stack has no use for are NULL. */
typedef struct fp4proof_part {
  uint8_t* codes;
  uint8_t* scales;
  float* tensor_scale;
  uint8_t* macro;
} fp4proof_part;

/* x[rows, columns] under a named profile and a named stack of corrections. axis 1: blocks along the columns, lines are
 * rows; axis 0: blocks along the rows, lines are columns. Where the length is no multiple of the block, zeros fill up.
 * Stochastic rounding (of profile or stack, or where `stochastic` is 1) takes Philox words by place in x. T20 */
typedef struct fp4proof_quantize_call {
  size_t size;
  const char* profile;
  const char* stack;
  int64_t rows;
  int64_t columns;
  int32_t axis;
  int32_t stochastic;
  fp4proof_random random;
  uint32_t product; /* number of the product, for fresh Hadamard signs */
  const float* x;
  fp4proof_part first;
  fp4proof_part residual;
  float* values; /* [lines, length], what the parts stand for together, or NULL */
} fp4proof_quantize_call;

/* One side of a product: `lines` lines of length k, coded by a quantize call. */
typedef struct fp4proof_operand {
  const char* profile;
  const char* stack;
  int64_t lines;
  fp4proof_part first;
  fp4proof_part residual;
} fp4proof_operand;

/* c[m][n] = sum over k of a[m][k] b[n][k] in the order seq512; at most one side has a residual. T21 */
typedef struct fp4proof_multiply_call {
  size_t size;
  int64_t k;
  fp4proof_operand a;
  fp4proof_operand b;
  float* c;
} fp4proof_multiply_call;

/* y = x rounded to bfloat16 words, [rows, columns], or [columns, rows] where `transpose` is 1. T22 */
typedef struct fp4proof_to_bf16_call {
  size_t size;
  int64_t rows;
  int64_t columns;
  int32_t transpose;
  int32_t reserved;
  const float* x;
  uint16_t* y;
} fp4proof_to_bf16_call;

/* c[m][n] = sum over k of a[m][k] b[n][k], bfloat16 words, in the order seq512. T23 */
typedef struct fp4proof_multiply_bf16_call {
  size_t size;
  int64_t m;
  int64_t n;
  int64_t k;
  const uint16_t* a;
  const uint16_t* b;
  float* c;
} fp4proof_multiply_bf16_call;

/* y[r] = token_table[tokens[r]] + position_table[positions[r]]. T30 */
typedef struct fp4proof_embed_call {
  size_t size;
  int64_t rows;
  int64_t columns;
  const int32_t* tokens;
  const int32_t* positions;
  const float* token_table;
  const float* position_table;
  float* y;
} fp4proof_embed_call;

/* table_gradient[i] = sum of dy[r] over the rows r with indices[r] == i, in row order; `entries` rows. T31 */
typedef struct fp4proof_embed_backward_call {
  size_t size;
  int64_t rows;
  int64_t columns;
  int64_t entries;
  const int32_t* indices;
  const float* dy;
  float* table_gradient;
} fp4proof_embed_backward_call;

/* y = x / rms(x) * weight * gain, by rows; `gain` is one fixed factor a column or NULL. inverse[rows] is kept for the
 * backward pass. T32 */
typedef struct fp4proof_rms_norm_call {
  size_t size;
  int64_t rows;
  int64_t columns;
  const float* x;
  const float* weight;
  const float* gain;
  float* y;
  float* inverse;
} fp4proof_rms_norm_call;

/* dx and the gradient of the weight. T33 */
typedef struct fp4proof_rms_norm_backward_call {
  size_t size;
  int64_t rows;
  int64_t columns;
  const float* x;
  const float* weight;
  const float* gain;
  const float* inverse;
  const float* dy;
  float* dx;
  float* weight_gradient;
} fp4proof_rms_norm_backward_call;

/* y = a + b, `count` numbers; y may be a or b. T34 */
typedef struct fp4proof_add_call {
  size_t size;
  int64_t count;
  const float* a;
  const float* b;
  float* y;
} fp4proof_add_call;

/* Causal attention, heads side by side in the columns: q[sequences, queries, heads * head_size],
 * k, v[sequences, capacity, heads * head_size]. Query i sees the keys 0 ... first_position + i. out like q;
 * probabilities[sequences, heads, queries, capacity] are kept for the backward pass, or NULL. T35 */
typedef struct fp4proof_attention_call {
  size_t size;
  int64_t sequences;
  int64_t queries;
  int64_t capacity;
  int64_t first_position;
  int64_t heads;
  int64_t head_size;
  const float* q;
  const float* k;
  const float* v;
  float* out;
  float* probabilities;
} fp4proof_attention_call;

/* Gradients of attention over whole sequences (queries = capacity, first_position = 0). T36 */
typedef struct fp4proof_attention_backward_call {
  size_t size;
  int64_t sequences;
  int64_t queries;
  int64_t heads;
  int64_t head_size;
  const float* q;
  const float* k;
  const float* v;
  const float* probabilities;
  const float* d_out;
  float* dq;
  float* dk;
  float* dv;
} fp4proof_attention_backward_call;

/* y = silu(gate) * up. T37 */
typedef struct fp4proof_swiglu_call {
  size_t size;
  int64_t count;
  const float* gate;
  const float* up;
  float* y;
} fp4proof_swiglu_call;

/* T38 */
typedef struct fp4proof_swiglu_backward_call {
  size_t size;
  int64_t count;
  const float* gate;
  const float* up;
  const float* dy;
  float* d_gate;
  float* d_up;
} fp4proof_swiglu_backward_call;

/* Rows of `width` columns copied between matrices of other strides: to[r * to_stride + c] = from[r * from_stride + c].
 * For key-value caches. T39 */
typedef struct fp4proof_copy_rows_call {
  size_t size;
  int64_t rows;
  int64_t width;
  int64_t from_stride;
  int64_t to_stride;
  const float* from;
  float* to;
} fp4proof_copy_rows_call;

/* y[r] = x[indices[r]]; with `weights` y[r] = weights[r] * x[indices[r]]. An index of -1 gives a row of zeros. T40 */
typedef struct fp4proof_gather_rows_call {
  size_t size;
  int64_t rows;
  int64_t columns;
  const int32_t* indices;
  const float* weights;
  const float* x;
  float* y;
} fp4proof_gather_rows_call;

/* For each row: log-probability of targets[r], the entropy, and the largest logit's lowest index; outputs may be NULL.
 * T41 */
typedef struct fp4proof_log_softmax_call {
  size_t size;
  int64_t rows;
  int64_t vocabulary;
  const float* logits;
  const int32_t* targets;
  float* log_probability;
  float* entropy;
  int32_t* largest;
} fp4proof_log_softmax_call;

/* tokens[r]: drawn from softmax(logits[r]) with the uniform number of element random.first + r. T42 */
typedef struct fp4proof_sample_call {
  size_t size;
  int64_t rows;
  int64_t vocabulary;
  fp4proof_random random;
  const float* logits;
  int32_t* tokens;
} fp4proof_sample_call;

/* d_logits[r][v] = weights[r] * (probability of v - [v == targets[r]]). T43 */
typedef struct fp4proof_log_softmax_backward_call {
  size_t size;
  int64_t rows;
  int64_t vocabulary;
  const float* logits;
  const int32_t* targets;
  const float* weights;
  float* d_logits;
} fp4proof_log_softmax_backward_call;

/* sum[0] = sum of x^2 in binary64. T44 */
typedef struct fp4proof_sum_squares_call {
  size_t size;
  int64_t count;
  const float* x;
  double* sum;
} fp4proof_sum_squares_call;

/* One step of Adam; the gradient is multiplied by gradient_scale first. T45 */
typedef struct fp4proof_adam_call {
  size_t size;
  int64_t count;
  float learning_rate;
  float beta1;
  float beta2;
  float epsilon;
  float correction1; /* 1 - beta1^t */
  float correction2; /* 1 - beta2^t */
  float gradient_scale;
  float reserved;
  const float* gradient;
  float* first_moment;
  float* second_moment;
  float* weight;
} fp4proof_adam_call;

/* y = weight + sigma * normal of elements random.first + i (C51). T46 */
typedef struct fp4proof_add_noise_call {
  size_t size;
  int64_t count;
  fp4proof_random random;
  float sigma;
  float reserved;
  const float* weight;
  float* y;
} fp4proof_add_noise_call;

/* digest[0] = sum over i of mix64(i * 2^32 + word i) modulo 2^64, of `count` 32-bit words. T50 */
typedef struct fp4proof_digest_call {
  size_t size;
  int64_t count;
  const void* words;
  uint64_t* digest;
} fp4proof_digest_call;

/* What a backend offers. Every function returns OK, UNSUPPORTED, INVALID or FAILED; `error()` says why the last one
 * failed. */
typedef struct fp4proof_training {
  size_t size;
  uint32_t version;
  uint32_t reserved;
  const char* name;
  const char* description;

  void* (*allocate)(size_t bytes); /* zeroed; NULL where there is none left */
  void (*release)(void* memory);
  fp4proof_status (*copy_in)(void* to, const void* host, size_t bytes);
  fp4proof_status (*copy_out)(void* host, const void* from, size_t bytes);
  fp4proof_status (*synchronize)(void);
  const char* (*error)(void);
  void (*close)(void);

  fp4proof_status (*quantize)(const fp4proof_quantize_call*);
  fp4proof_status (*multiply)(const fp4proof_multiply_call*);
  fp4proof_status (*to_bf16)(const fp4proof_to_bf16_call*);
  fp4proof_status (*multiply_bf16)(const fp4proof_multiply_bf16_call*);
  fp4proof_status (*embed)(const fp4proof_embed_call*);
  fp4proof_status (*embed_backward)(const fp4proof_embed_backward_call*);
  fp4proof_status (*rms_norm)(const fp4proof_rms_norm_call*);
  fp4proof_status (*rms_norm_backward)(const fp4proof_rms_norm_backward_call*);
  fp4proof_status (*add)(const fp4proof_add_call*);
  fp4proof_status (*attention)(const fp4proof_attention_call*);
  fp4proof_status (*attention_backward)(const fp4proof_attention_backward_call*);
  fp4proof_status (*swiglu)(const fp4proof_swiglu_call*);
  fp4proof_status (*swiglu_backward)(const fp4proof_swiglu_backward_call*);
  fp4proof_status (*copy_rows)(const fp4proof_copy_rows_call*);
  fp4proof_status (*gather_rows)(const fp4proof_gather_rows_call*);
  fp4proof_status (*log_softmax)(const fp4proof_log_softmax_call*);
  fp4proof_status (*sample)(const fp4proof_sample_call*);
  fp4proof_status (*log_softmax_backward)(const fp4proof_log_softmax_backward_call*);
  fp4proof_status (*sum_squares)(const fp4proof_sum_squares_call*);
  fp4proof_status (*adam)(const fp4proof_adam_call*);
  fp4proof_status (*add_noise)(const fp4proof_add_noise_call*);
  fp4proof_status (*digest)(const fp4proof_digest_call*);
} fp4proof_training;

/* NULL where the library cannot work with that version. */
FP4PROOF_EXPORT const fp4proof_training* fp4proof_open_training(uint32_t host_version);

/* NOLINTEND(modernize-use-using,readability-identifier-naming) */

#ifdef __cplusplus
}
#endif
