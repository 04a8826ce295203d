#include "conformance/study/product_error.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reference/portable/correct.h"

namespace fp4proof {

namespace {

constexpr std::uint32_t weight_step = 1;

/// [weight_rows, columns] to [columns, weight_rows]: then a sum over K runs in order in every lane.
std::vector<float> transposed(std::span<const float> weights, std::int64_t columns) {
  std::vector<float> result(weights.size());
  for (std::int64_t row = 0; row < ProductStudy::weight_rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      result[static_cast<std::size_t>(column * ProductStudy::weight_rows + row)] =
          weights[static_cast<std::size_t>(row * columns + column)];
    }
  }
  return result;
}

}  // namespace

ProductStudy::ProductStudy(std::span<const float> rows, std::int64_t row_count, std::int64_t columns,
                           std::uint64_t seed)
    : row_length_(columns),
      columns_(std::min(columns, most_columns)),
      weights_(draw({}, weight_rows, columns_, seed, weight_step)) {
  const std::int64_t count = std::min(row_count, most_rows);
  for (std::int64_t i = 0; i < count; ++i) taken_.push_back(i * row_count / count);
  left_out_.reserve(static_cast<std::size_t>(count * columns_));
  for (const std::int64_t row : taken_) {
    for (std::int64_t column = 0; column < columns_; ++column)
      left_out_.push_back(std::isfinite(rows[static_cast<std::size_t>(row * columns + column)]) ? 0 : 1);
  }
  std::vector<float> exact_weights(weights_.words.size());
  for (std::size_t i = 0; i < exact_weights.size(); ++i) exact_weights[i] = weights_.at(i);
  exact_ = products(rows, transposed(exact_weights, columns_));
}

std::vector<double> ProductStudy::products(std::span<const float> rows, std::span<const float> weights) const {
  std::vector<double> result(taken_.size() * weight_rows);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const float* row = rows.data() + taken_[i] * row_length_;
    const std::uint8_t* left_out = left_out_.data() + static_cast<std::int64_t>(i) * columns_;
    std::array<double, weight_rows> sums{};
    for (std::int64_t column = 0; column < columns_; ++column) {
      if (left_out[column] != 0) continue;
      const double x = double{row[column]};
      const float* weight = weights.data() + column * weight_rows;
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += x * double{weight[j]};
    }
    std::copy(sums.begin(), sums.end(), result.begin() + static_cast<std::ptrdiff_t>(i * weight_rows));
  }
  return result;
}

Result<ProductError> ProductStudy::measure(const Profile& profile, const CorrectionStack& stack,
                                           const portable::QuantizeOptions& options,
                                           std::span<const float> corrected) const {
  const CorrectionStack weight_stack = stack.without_residual();
  portable::CorrectOptions weight_options;
  weight_options.quantize.tail = options.tail;
  weight_options.quantize.seed = options.seed;
  weight_options.quantize.stream = Stream::sr_weight;
  const auto weights = portable::correct(profile, weight_stack, weights_.view(), weight_options);
  if (!weights) return weights.error();
  const std::vector<double> found = products(corrected, transposed(portable::dequantize(*weights), columns_));
  ProductError sums;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = found[i] - exact_[i];
    sums.error += error * error;
    sums.value += exact_[i] * exact_[i];
  }
  return sums;
}

}  // namespace fp4proof
