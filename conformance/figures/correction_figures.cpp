#include "conformance/figures/correction_figures.h"

#include <algorithm>

#include "conformance/figures/correction_figure_tables.h"

namespace fp4proof {

bool CorrectionFigures::hold() const {
  return std::all_of(tables.begin(), tables.end(), [](const FigureTable& table) {
    return std::all_of(table.figures.begin(), table.figures.end(),
                       [](const CorrectionFigure& figure) { return figure.holds(); });
  });
}

CorrectionFigures correction_figures(std::uint64_t seed, const std::function<void()>& done) {
  CorrectionMeasurements measurements(seed, done);
  CorrectionFigures figures;
  figures.seed = seed;
  for (const auto table : {scale_rule_errors, gaussian_shares, student_shares, hif4_shares, qwen_shares, identities,
                           macro_scale_left, alpha_sweep, residual_errors, residual_masks, gains}) {
    figures.tables.push_back(table(measurements));
  }
  figures.changes = component_changes(measurements);
  return figures;
}

std::vector<QuotedFigure> quoted_figures() {
  return {
      {"arXiv 2605.20402", "GSM8K accuracy in %, Qwen2.5-3B",
       "BF16 82.0; MXFP4 60.1; with macro-block scaling 75.2; with outlier fallback 77.6; both 80.8; with adaptive "
       "quantization noise 81.3"},
      {"arXiv 2605.20402", "accuracy in %, 30B mixture of experts",
       "BF16 91.51; MXFP4 88.8; with macro-block scaling 90.1; with outlier fallback 90.3; all 91.1 to 91.6 (a peak, "
       "not the final value)"},
      {"arXiv 2607.26515", "GSM8K accuracy in %, Qwen2.5-3B",
       "BF16 86.96; HiF4 82.03, with Rollout-ResQ 85.90; MXFP4 73.31, with Rollout-ResQ 81.65; HiF4 rollout with BF16 "
       "training 78.01"},
      {"arXiv 2607.24953", "average perplexity, BF16 to 2D-FP4",
       "1B: 16.19 to 16.40; 7B: 14.25 to 14.34; 30B mixture of experts: 13.23 to 13.30"},
      {"arXiv 2608.26581", "loss increase in %, Wan2.2 / Qwen3-VL",
       "MXFP4 7.50 / 7.23, with RFQ 1.14 / 1.43; HiF4 2.89 / 2.32, with RFQ 0.61 / 0.66"},
  };
}

}  // namespace fp4proof
