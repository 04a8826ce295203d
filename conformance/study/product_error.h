#pragma once
// What the error of a tensor does to its products with weights.

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/study/distributions.h"
#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "reference/portable/quantize.h"

namespace fp4proof {

/// Squares summed over products: |X^ W^T - X W^T|^2 and |X W^T|^2. Their quotient's root is the relative Frobenius
/// error.
struct ProductError {
  double error = 0;
  double value = 0;
};

/// The exact side of X W^T, made once a tensor: W is `weight_rows` independent standard normal rows (Philox stream
/// `eval`, step 1, rounded to bfloat16), and of X at most `most_rows` rows, evenly spaced, take part. Sums are binary64
/// in order of K; for bfloat16 X each product in them is exact. Elements of X that are NaN or infinite count as 0.
class ProductStudy {
 public:
  static constexpr std::int64_t weight_rows = 64;
  static constexpr std::int64_t most_rows = 512;
  static constexpr std::int64_t most_columns = 65536;  ///< of a longer K the products take the first ones

  /// `rows` is X, row-major [rows of the geometry, columns], block axis last.
  ProductStudy(std::span<const float> rows, std::int64_t row_count, std::int64_t columns, std::uint64_t seed);

  /// The error of the products when X is replaced by `corrected` (same shape as `rows`) and W by its own quantization
  /// under `profile` and `stack` without the residual.
  Result<ProductError> measure(const Profile& profile, const CorrectionStack& stack,
                               const portable::QuantizeOptions& options, std::span<const float> corrected) const;

 private:
  /// [taking part, weight_rows] products of `rows` with `weights`, [columns, weight_rows].
  std::vector<double> products(std::span<const float> rows, std::span<const float> weights) const;

  std::int64_t row_length_;          ///< columns of X
  std::int64_t columns_;             ///< those that take part
  std::vector<std::int64_t> taken_;  ///< the rows that take part
  Bf16Matrix weights_;
  std::vector<std::uint8_t> left_out_;  ///< 1 where X is not finite, [taking part, columns]
  std::vector<double> exact_;
};

}  // namespace fp4proof
