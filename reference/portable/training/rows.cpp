#include "reference/portable/training/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "formats/strict_math.h"
#include "reference/portable/training/row_sum.h"
#include "reference/portable/training/threads.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable::training {

namespace {

constexpr std::int64_t exp_cost = 8;
constexpr float norm_epsilon = 1e-5F;

// --- Element by element ----------------------------------------------------------------------------------------------

FP4PROOF_CLONES void add_row(const float* a, const float* b, std::int64_t count, float* y) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) y[i] = strict::canonicalise_nan(a[i] + b[i]);
}

FP4PROOF_CLONES void swiglu_row(const float* gate, const float* up, std::int64_t count, float* y) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) y[i] = strict::canonicalise_nan(strict::silu(gate[i]) * up[i]);
}

FP4PROOF_CLONES void swiglu_backward_row(const float* gate, const float* up, const float* dy, std::int64_t count,
                                         float* d_gate, float* d_up) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = gate[i];
    const float d = dy[i];
    const float u = up[i];
    const float sigma = 1.0F / (1.0F + strict::exp(-g));
    const float slope = sigma * (1.0F + g * (1.0F - sigma));
    d_up[i] = strict::canonicalise_nan(d * strict::silu(g));
    d_gate[i] = strict::canonicalise_nan((d * u) * slope);
  }
}

FP4PROOF_CLONES void scale_row(const float* x, float weight, std::int64_t count, float* y) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) y[i] = strict::canonicalise_nan(weight * x[i]);
}

FP4PROOF_CLONES void canonicalise_row(std::int64_t count, float* y) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) y[i] = strict::canonicalise_nan(y[i]);
}

FP4PROOF_CLONES void accumulate_row(const float* x, std::int64_t count, float* sums) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) sums[i] += x[i];
}

// --- RMSNorm ---------------------------------------------------------------------------------------------------------

FP4PROOF_CLONES float norm_row(const float* x, const float* weight, const float* gain, std::int64_t columns, float* y) {
  const float mean = row_sum_of_products(x, x, columns) / static_cast<float>(columns);
  const float inverse = strict::rsqrt(mean + norm_epsilon);
  if (gain == nullptr) {
    FP4PROOF_VECTORIZE_LOOP
    for (std::int64_t i = 0; i < columns; ++i) y[i] = strict::canonicalise_nan((x[i] * inverse) * weight[i]);
  } else {
    FP4PROOF_VECTORIZE_LOOP
    for (std::int64_t i = 0; i < columns; ++i) y[i] = strict::canonicalise_nan((x[i] * inverse) * weight[i] * gain[i]);
  }
  return inverse;
}

/// dx of a row; `scratch` holds `columns` numbers.
FP4PROOF_CLONES void norm_backward_row(const float* x, const float* weight, const float* gain, float inverse,
                                       const float* dy, std::int64_t columns, float* scratch, float* dx) {
  if (gain == nullptr) {
    FP4PROOF_VECTORIZE_LOOP
    for (std::int64_t i = 0; i < columns; ++i) scratch[i] = dy[i] * weight[i];
  } else {
    FP4PROOF_VECTORIZE_LOOP
    for (std::int64_t i = 0; i < columns; ++i) scratch[i] = (dy[i] * gain[i]) * weight[i];
  }
  const float sum = row_sum_of_products(scratch, x, columns);
  const float factor = (sum * (inverse * inverse * inverse)) / static_cast<float>(columns);
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < columns; ++i) dx[i] = strict::canonicalise_nan(scratch[i] * inverse - x[i] * factor);
}

struct NormGradient {
  std::int64_t columns;
  const float* x;
  const float* gain;
  const float* inverse;
  const float* dy;
};

constexpr std::int64_t strip_columns = 32;

/// The gradient of up to 32 neighbouring weights over the rows of one segment: CS (T3).
FP4PROOF_CLONES void weight_gradient_strip(const NormGradient& in, std::int64_t first_row, std::int64_t last_row,
                                           std::int64_t column, std::int64_t count, float* sums) {
  alignas(64) std::array<std::array<float, strip_columns>, sum_lanes> lanes = {};
  for (std::int64_t row = first_row; row < last_row; ++row) {
    std::array<float, strip_columns>& lane = lanes[static_cast<std::size_t>(row - first_row) % sum_lanes];
    const float* x = in.x + row * in.columns + column;
    const float* dy = in.dy + row * in.columns + column;
    const float inverse = in.inverse[row];
    if (in.gain == nullptr) {
      FP4PROOF_VECTORIZE_LOOP
      for (std::int64_t c = 0; c < count; ++c) lane[static_cast<std::size_t>(c)] += dy[c] * (x[c] * inverse);
    } else {
      const float* gain = in.gain + column;
      FP4PROOF_VECTORIZE_LOOP
      for (std::int64_t c = 0; c < count; ++c)
        lane[static_cast<std::size_t>(c)] += (dy[c] * gain[c]) * (x[c] * inverse);
    }
  }
  for (std::size_t width = sum_lanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane)
      accumulate_row(lanes[lane + width].data(), strip_columns, lanes[lane].data());
  }
  std::copy_n(lanes[0].begin(), count, sums);
}

void norm_weight_gradient(const NormGradient& in, std::int64_t rows, float* weight_gradient) {
  const std::int64_t segments = std::max<std::int64_t>(1, (rows + sum_segment - 1) / sum_segment);
  const std::int64_t strips = (in.columns + strip_columns - 1) / strip_columns;
  std::vector<float> partial(static_cast<std::size_t>(segments * in.columns));
  const std::int64_t cost = 4 * strip_columns * std::min(rows, sum_segment);
  in_ranges(strips * segments, cost, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t item = first; item < last; ++item) {
      const std::int64_t segment = item % segments;
      const std::int64_t column = item / segments * strip_columns;
      weight_gradient_strip(in, segment * sum_segment, std::min(rows, (segment + 1) * sum_segment), column,
                            std::min(strip_columns, in.columns - column),
                            partial.data() + segment * in.columns + column);
    }
  });
  std::copy_n(partial.begin(), in.columns, weight_gradient);
  for (std::int64_t segment = 1; segment < segments; ++segment)
    accumulate_row(partial.data() + segment * in.columns, in.columns, weight_gradient);
  canonicalise_row(in.columns, weight_gradient);
}

}  // namespace

void embed(std::int64_t rows, std::int64_t columns, const std::int32_t* tokens, const std::int32_t* positions,
           const float* token_table, const float* position_table, float* y) {
  in_ranges(rows, columns, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      add_row(token_table + tokens[row] * columns, position_table + positions[row] * columns, columns,
              y + row * columns);
    }
  });
}

void embed_backward(std::int64_t rows, std::int64_t columns, std::int64_t entries, const std::int32_t* indices,
                    const float* dy, float* table_gradient) {
  in_ranges(columns, rows, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t count = last - first;
    for (std::int64_t entry = 0; entry < entries; ++entry)
      std::fill_n(table_gradient + entry * columns + first, count, 0.0F);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t index = indices[row];
      if (index < 0 || index >= entries) continue;
      accumulate_row(dy + row * columns + first, count, table_gradient + index * columns + first);
    }
    for (std::int64_t entry = 0; entry < entries; ++entry)
      canonicalise_row(count, table_gradient + entry * columns + first);
  });
}

void rms_norm(std::int64_t rows, std::int64_t columns, const float* x, const float* weight, const float* gain, float* y,
              float* inverse) {
  in_ranges(rows, 4 * columns, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      inverse[row] = norm_row(x + row * columns, weight, gain, columns, y + row * columns);
  });
}

void rms_norm_backward(std::int64_t rows, std::int64_t columns, const float* x, const float* weight, const float* gain,
                       const float* inverse, const float* dy, float* dx, float* weight_gradient) {
  norm_weight_gradient({columns, x, gain, inverse, dy}, rows, weight_gradient);
  in_ranges(rows, 6 * columns, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> scratch(static_cast<std::size_t>(columns));
    for (std::int64_t row = first; row < last; ++row) {
      norm_backward_row(x + row * columns, weight, gain, inverse[row], dy + row * columns, columns, scratch.data(),
                        dx + row * columns);
    }
  });
}

void add(std::int64_t count, const float* a, const float* b, float* y) {
  in_ranges(count, 1,
            [&](std::int64_t first, std::int64_t last) { add_row(a + first, b + first, last - first, y + first); });
}

void swiglu(std::int64_t count, const float* gate, const float* up, float* y) {
  in_ranges(count, exp_cost, [&](std::int64_t first, std::int64_t last) {
    swiglu_row(gate + first, up + first, last - first, y + first);
  });
}

void swiglu_backward(std::int64_t count, const float* gate, const float* up, const float* dy, float* d_gate,
                     float* d_up) {
  in_ranges(count, exp_cost, [&](std::int64_t first, std::int64_t last) {
    swiglu_backward_row(gate + first, up + first, dy + first, last - first, d_gate + first, d_up + first);
  });
}

void copy_rows(std::int64_t rows, std::int64_t width, std::int64_t from_stride, std::int64_t to_stride,
               const float* from, float* to) {
  const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(float);
  in_ranges(rows, width, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      std::memcpy(to + row * to_stride, from + row * from_stride, bytes);
  });
}

void gather_rows(std::int64_t rows, std::int64_t columns, const std::int32_t* indices, const float* weights,
                 const float* x, float* y) {
  in_ranges(rows, columns, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      float* to = y + row * columns;
      if (indices[row] < 0) {
        std::fill_n(to, columns, 0.0F);
        continue;
      }
      const float* from = x + indices[row] * columns;
      if (weights == nullptr) {
        std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(float));
      } else {
        scale_row(from, weights[row], columns, to);
      }
    }
  });
}

}  // namespace fp4proof::portable::training
