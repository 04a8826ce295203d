#pragma once
// Figure 3 of the HiF4 paper (arXiv 2602.11287): the quantization error of HiF4, NVFP4 and MXFP4 on eighteen Gaussian
// 1024 x 1024 matrices of standard deviation 0.01 * 2^x, x = 0 .. 17.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/line_chart.h"

namespace fp4proof {

/// One matrix: mean squared error over sigma^2 of hif4/gcc, and the other formats' error as multiples of it.
struct Figure3Row {
  int x;
  double hif4;
  double mxfp4_ratio;         ///< mxfp4/ocp
  double nvfp4_ratio;         ///< nvfp4/tensor-scale
  double nvfp4_direct_ratio;  ///< nvfp4/direct
};

/// A quantity, its mean over the matrices, and the interval in which every single matrix must lie.
struct Figure3Check {
  std::string_view name;
  double mean;
  double lowest;
  double highest;
  double low_bound;
  double high_bound;
  bool holds() const { return lowest >= low_bound && highest <= high_bound; }
};

struct Figure3 {
  std::vector<Figure3Row> rows;
  std::vector<Figure3Check> checks;
};

/// Draws the matrices from Philox (stream `eval`, step x), quantizes each under the four profiles and measures. The
/// same bits for any number of threads. `done` is called after each matrix.
Figure3 hif4_figure3(
    std::uint64_t seed, const std::function<void()>& done = [] {});

/// The figure as a chart, with the bounds as bands.
LineChart figure3_chart(const Figure3& figure);

}  // namespace fp4proof
