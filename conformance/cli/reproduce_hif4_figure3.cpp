// fp4proof reproduce hif4-figure-3

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/cli/progress.h"
#include "conformance/cli/reproduce_figures.h"
#include "conformance/figures/hif4_figure3.h"
#include "conformance/report/line_chart.h"
#include "conformance/vectors/atomic_file.h"

namespace fp4proof::cli {

namespace {

nlohmann::json to_json(const Figure3& figure) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Figure3Row& row : figure.rows) {
    rows.push_back({{"x", row.x},
                    {"hif4_mse_over_sigma2", row.hif4},
                    {"mxfp4_over_hif4", row.mxfp4_ratio},
                    {"nvfp4_over_hif4", row.nvfp4_ratio},
                    {"nvfp4_direct_over_hif4", row.nvfp4_direct_ratio}});
  }
  nlohmann::json checks = nlohmann::json::array();
  for (const Figure3Check& check : figure.checks) {
    checks.push_back({{"name", check.name},
                      {"mean", check.mean},
                      {"lowest", check.lowest},
                      {"highest", check.highest},
                      {"bounds", {check.low_bound, check.high_bound}},
                      {"holds", check.holds()}});
  }
  return {{"figure", "hif4-figure-3"}, {"rows", rows}, {"checks", checks}};
}

void print_table(Session& session, const Figure3& figure) {
  session.print(fmt::format("{:>3} {:>18} {:>12} {:>20} {:>14}\n", "x", "HiF4 MSE/sigma^2", "MXFP4/HiF4",
                            "NVFP4+scale/HiF4", "NVFP4/HiF4"));
  for (const Figure3Row& row : figure.rows) {
    session.print(fmt::format("{:>3} {:>18.4e} {:>12.4f} {:>20.4f} {:>14.4f}\n", row.x, row.hif4, row.mxfp4_ratio,
                              row.nvfp4_ratio, row.nvfp4_direct_ratio));
  }
  session.print("\n");
  for (const Figure3Check& check : figure.checks) {
    session.print(fmt::format("{:<32} mean {:.5g}, every matrix in [{:.5g}, {:.5g}], bounds [{:.5g}, {:.5g}]: {}\n",
                              check.name, check.mean, check.lowest, check.highest, check.low_bound, check.high_bound,
                              check.holds() ? "holds" : "FAILS"));
  }
}

}  // namespace

Result<ExitCode> reproduce_hif4_figure3(const ReproduceOptions& options, Session& session) {
  Figure3 figure;
  {
    Progress progress("matrices", 18);
    figure = hif4_figure3(options.seed.value_or(1), [&] { progress.advance(1); });
  }
  if (!options.svg.empty()) {
    const std::string svg = to_svg(figure3_chart(figure));
    const auto written = write_file(options.svg, {reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size()});
    if (!written) return written.error();
  }
  if (options.json) {
    session.print_json(to_json(figure));
  } else {
    print_table(session, figure);
  }
  for (const Figure3Check& check : figure.checks) {
    if (!check.holds()) return ExitCode::mismatch;
  }
  return ExitCode::conformant;
}

}  // namespace fp4proof::cli
