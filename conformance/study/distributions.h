#pragma once
// Named random matrices for studies: Philox-addressed and rounded to bfloat16. Same bits for any number of threads,
// compiler and instruction set; no library function takes part. docs/study.md gives the formulas.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/result.h"
#include "reference/portable/tensor.h"

namespace fp4proof {

enum class DistributionKind : std::uint8_t {
  gaussian,          ///< standard normal
  student_t,         ///< Student's t with an even number of degrees of freedom
  laplace,           ///< density exp(-|x|) / 2
  uniform,           ///< (-1, 1)
  lognormal,         ///< a random sign times exp(log_sigma n)
  outlier_channels,  ///< standard normal; columns 0, period, 2 period, ... are multiplied by `gain`
};

/// A distribution as data. Every number is multiplied by `scale`, then by `gain` in an outlier channel, each product
/// rounded to binary32, and then rounded to bfloat16, ties to even. The defaults of outlier_channels are the definition
/// that comes nearest to the published figures on outlier channels, docs/correction-figures.md.
struct Distribution {
  DistributionKind kind = DistributionKind::gaussian;
  float scale = 1.0F;
  std::uint32_t degrees = 4;   ///< student_t: even, 2 to 64
  float log_sigma = 1.0F;      ///< lognormal
  float gain = 30.0F;          ///< outlier_channels
  std::uint32_t period = 256;  ///< outlier_channels: 1 to 65536
  bool operator==(const Distribution&) const = default;
};

/// A row-major matrix of bfloat16 words. view() is valid as long as the matrix stays where it is.
struct Bf16Matrix {
  std::array<std::int64_t, 2> shape = {0, 0};  ///< rows, columns
  std::vector<std::uint16_t> words;

  portable::TensorView view() const;
  /// The element at row-major place `index`, exact.
  float at(std::size_t index) const;
};

/// What a user writes: a name of distribution_names() (student-tN for any even N), then optionally `:KEY=VALUE` and
/// further `,KEY=VALUE`, for example `student-t4`, `outlier-channels:gain=16,period=64`, `gaussian:scale=0.02`.
/// ErrorKind::usage with the known names or keys for anything else.
Result<Distribution> parse_distribution(std::string_view text);

/// The names that parse_distribution() knows, one a DistributionKind, in its order.
std::vector<std::string> distribution_names();

/// The text that parse_distribution() turns back into `distribution`.
std::string name_of(const Distribution& distribution);

/// Draws rows x columns numbers: stream `eval`, `seed`, `step`, element = the row-major index.
Bf16Matrix draw(const Distribution& distribution, std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                std::uint32_t step);

}  // namespace fp4proof
