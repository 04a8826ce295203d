#pragma once
// The router of a mixture of experts: binary32 on the host, so it is the same for every backend. Rule T47.

#include <cstdint>
#include <span>
#include <vector>

namespace fp4proof::training {

/// Rows of each expert are padded with rows of zeros to a multiple of this.
inline constexpr std::int64_t expert_row_multiple = 64;

/// Which rows go where. Rows of an expert stand in the order of the tokens, experts one after another.
struct Routing {
  std::vector<std::int64_t> begin;  ///< [experts + 1] the first row of each expert
  std::vector<std::int32_t> token;  ///< [expert rows] the row of x, or -1
  std::vector<float> weight;        ///< [expert rows]
  std::vector<std::int32_t> low;    ///< [rows] the expert row of the chosen expert with the lower number
  std::vector<std::int32_t> high;   ///< [rows] of the other one
  std::vector<float> low_weight;    ///< [rows]
  std::vector<float> high_weight;   ///< [rows]

  std::int64_t expert_rows() const { return begin.back(); }
};

/// The most expert rows that so many rows can take.
constexpr std::int64_t most_expert_rows(std::int64_t rows, std::int64_t experts) {
  return 2 * rows + experts * expert_row_multiple;
}

/// The best two experts of every row of x [rows, width] under router [experts, width]; of equal ones the lower number.
Routing route(std::span<const float> x, std::span<const float> router, std::int64_t width);

struct RouterGradient {
  std::vector<float> router;  ///< [experts, width]
  std::vector<float> x;       ///< [rows, width]: what flows back through the weights
};

/// From dy [rows, width] and the outputs of the experts [expert rows, width].
RouterGradient router_gradient(const Routing& routing, std::span<const float> x, std::span<const float> router,
                               std::span<const float> dy, std::span<const float> outputs, std::int64_t width);

}  // namespace fp4proof::training
