#pragma once
// One tensor looked at closely: which magnitudes and which blocks its error comes from.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/cli/decompose_stream.h"

namespace fp4proof::cli {

/// The elements whose |x| over the largest magnitude of their block lies in one bin. Zeros are in none.
struct MagnitudeBin {
  std::int64_t elements = 0;
  std::int64_t in_deadzone = 0;
  double error = 0;  ///< sums of squares, F^2 times each (rule D3 of docs/rules-corrections.md)
  double scale = 0;
  double deadzone = 0;
  double grid = 0;

  void add(const MagnitudeBin& other);
};

struct TensorDetail {
  std::vector<MagnitudeBin> bins;  ///< they cut 0 .. 1 evenly; the last one holds 1
  double deadzone_end = 0;         ///< the largest |x| over the block's largest that the ideal quantizer makes zero
  std::size_t cell_rows = 0;       ///< the blocks, gathered to at most 64 x 96 cells
  std::size_t cell_columns = 0;
  std::vector<double> cell_errors;  ///< sums of (F e)^2, row-major
  std::vector<double> cell_values;  ///< sums of (F x)^2
};

/// How many bins show the steps of the profile's elements: the rounding thresholds of E2M1 and HiF4 fall on edges.
std::size_t magnitude_bins(const Profile& profile);

/// Goes over the whole tensor once more. `task` has the geometry of the tensor itself.
Result<TensorDetail> look_closely(const DecomposeTask& task, Progress& progress);

}  // namespace fp4proof::cli
