#pragma once
// Operators that work row by row: rules T30 to T34 and T37 to T40 of docs/rules-training.md.
//
// Matrices are dense and row-major. Same bits for any number of threads, compiler and instruction set.

#include <cstdint>

namespace fp4proof::portable::training {

/// y[r] = token_table[tokens[r]] + position_table[positions[r]]. T30
void embed(std::int64_t rows, std::int64_t columns, const std::int32_t* tokens, const std::int32_t* positions,
           const float* token_table, const float* position_table, float* y);

/// Sums of the rows of dy by index; an index outside of 0 ... entries - 1 takes no part. T31
void embed_backward(std::int64_t rows, std::int64_t columns, std::int64_t entries, const std::int32_t* indices,
                    const float* dy, float* table_gradient);

/// `gain` may be null. T32
void rms_norm(std::int64_t rows, std::int64_t columns, const float* x, const float* weight, const float* gain, float* y,
              float* inverse);

/// `gain` may be null; dx may be dy. T33
void rms_norm_backward(std::int64_t rows, std::int64_t columns, const float* x, const float* weight, const float* gain,
                       const float* inverse, const float* dy, float* dx, float* weight_gradient);

/// y may be a or b. T34
void add(std::int64_t count, const float* a, const float* b, float* y);

/// T37
void swiglu(std::int64_t count, const float* gate, const float* up, float* y);

/// T38
void swiglu_backward(std::int64_t count, const float* gate, const float* up, const float* dy, float* d_gate,
                     float* d_up);

/// T39
void copy_rows(std::int64_t rows, std::int64_t width, std::int64_t from_stride, std::int64_t to_stride,
               const float* from, float* to);

/// `weights` may be null. T40
void gather_rows(std::int64_t rows, std::int64_t columns, const std::int32_t* indices, const float* weights,
                 const float* x, float* y);

}  // namespace fp4proof::portable::training
