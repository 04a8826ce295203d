// Relative squared errors: scale rules, residuals and their masks, the weight of the residual.

#include <fmt/format.h>

#include <array>

#include "conformance/figures/correction_figure_tables.h"
#include "formats/spec_profiles.h"

namespace fp4proof {

namespace {

constexpr std::array distributions = {"gaussian", "student-t4", "outlier-channels"};

/// Within `share` of the published number.
CorrectionFigure within(std::string name, double measured, double published, double share, std::string remark = {}) {
  return {std::move(name), measured, published, FigureBounds{published * (1 - share), published * (1 + share)},
          std::move(remark)};
}

}  // namespace

FigureTable scale_rule_errors(CorrectionMeasurements& measurements) {
  struct Rule {
    const char* profile;
    std::array<double, 3> published;  ///< as `distributions`
  };
  constexpr std::array rules = {Rule{"mxfp4/rceil", {0.01330, 0.01935, 0.02389}},
                                Rule{"mxfp4/ocp", {0.01319, 0.01724, 0.02588}},
                                Rule{"mxfp4/even", {0.01253, 0.01673, 0.02222}}};
  FigureTable table{"Scale rules", "|e|^2 / |x|^2 of MXFP4.", {}};
  for (const Rule& rule : rules) {
    for (std::size_t i = 0; i < distributions.size(); ++i) {
      const double error = measurements.split(distributions[i], rule.profile).relative_error();
      table.figures.push_back(
          within(fmt::format("{}, {}", rule.profile, distributions[i]), error, rule.published[i], 0.02));
    }
  }
  return table;
}

FigureTable residual_errors(CorrectionMeasurements& measurements) {
  struct Case {
    const char* profile;
    const char* distribution;
    std::array<double, 3> published;  ///< none, 2:4, dense
  };
  constexpr std::array cases = {Case{"mxfp4/rceil", "gaussian", {0.01330, 0.00188, 0.00020}},
                                Case{"mxfp4/rceil", "outlier-channels", {0.02389, 0.00288, 0.00052}},
                                Case{"hif4/gcc", "gaussian", {0.00689, 0.00136, 0.00004}},
                                Case{"hif4/gcc", "outlier-channels", {0.01019, 0.00170, 0.00006}}};
  constexpr std::array stacks = {"none", "resq", "rfq"};
  constexpr std::array names = {"no residual", "2:4", "dense"};
  constexpr double last_digit = 0.5e-5;
  FigureTable table{
      "Residuals", "|e|^2 / |x|^2 without a residual, with a 2:4 one and with a dense one, alpha = 1.", {}};
  for (const Case& c : cases) {
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      const double error = measurements.split(c.distribution, c.profile, stacks[i]).relative_error();
      CorrectionFigure figure =
          within(fmt::format("{}, {}, {}", c.profile, c.distribution, names[i]), error, c.published[i], 0.02);
      figure.bounds->low -= last_digit;
      figure.bounds->high += last_digit;
      table.figures.push_back(std::move(figure));
    }
  }
  return table;
}

FigureTable residual_masks(CorrectionMeasurements& measurements) {
  FigureTable table{"Masks of the residual",
                    "|e|^2 / |x|^2. Channels and tiles keep half of the elements, as 2:4 does. They mix rows, so they "
                    "are no choice for a rollout that must not depend on its batch.",
                    {}};
  struct Mask {
    const char* name;
    const char* stack;
  };
  for (const char* profile : {"mxfp4/rceil", "hif4/gcc"}) {
    for (const char* distribution : {"gaussian", "outlier-channels"}) {
      for (const Mask& mask : {Mask{"none", "none"}, Mask{"2:4", "resq"}, Mask{"channels", "resq-channels"},
                               Mask{"tiles", "resq-tiles"}, Mask{"dense", "rfq"}}) {
        table.figures.push_back({fmt::format("{}, {}, {}", profile, distribution, mask.name),
                                 measurements.split(distribution, profile, mask.stack).relative_error(),
                                 {},
                                 {},
                                 {}});
      }
    }
  }
  return table;
}

FigureTable alpha_sweep(CorrectionMeasurements& measurements) {
  constexpr std::array alphas = {0.5F,  0.6F,  0.7F,   0.8F,  0.85F, 0.9F, 0.925F, 0.95F,
                                 0.96F, 0.97F, 0.975F, 0.98F, 0.99F, 1.0F, 1.05F,  1.1F};
  FigureTable table{
      "Weight of the residual", "|e|^2 / |x|^2 of a dense residual times alpha, `mxfp4/rceil`, Gaussian.", {}};
  CorrectionStack stack = *find_correction_stack("rfq");
  double best = 0;
  double least = 1;
  for (const float alpha : alphas) {
    stack.residual.alpha = alpha;
    const double error = measurements.split_of("gaussian", *find_profile("mxfp4/rceil"), stack).relative_error();
    table.figures.push_back({fmt::format("alpha = {}", alpha), error, {}, {}, {}});
    if (error < least) {
      least = error;
      best = double{alpha};
    }
  }
  table.figures.push_back({"alpha with the least error", best, 0.975, FigureBounds{0.9699, 0.9801},
                           "arXiv 2605.20402 chose 1/2, by accuracy and drift of the rollout"});
  return table;
}

}  // namespace fp4proof
