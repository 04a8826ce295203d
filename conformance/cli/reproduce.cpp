#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/cli/common_options.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/verb.h"
#include "conformance/cli/verbs.h"
#include "conformance/figures/hif4_figure3.h"
#include "conformance/report/line_chart.h"
#include "conformance/vectors/atomic_file.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string figure;
  std::string svg;
  std::uint64_t seed = 1;
  bool json = false;
};

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

Result<ExitCode> run(const Options& options, Session& session) {
  Figure3 figure;
  {
    Progress progress("matrices", 18);
    figure = hif4_figure3(options.seed, [&] { progress.advance(1); });
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

Action add(CLI::App& command, Session& session) {
  command.description(
      "Reproduce a published figure and check it against its bounds.\n"
      "Exit code 0: every bound holds; 1: one does not.");
  auto options = std::make_shared<Options>();
  command.add_option("FIGURE", options->figure, "which figure")->required()->check(CLI::IsMember({"hif4-figure-3"}));
  command.add_option("--svg", options->svg, "write the chart to this file");
  command.add_option("--seed", options->seed, "Philox seed of the matrices")
      ->check(decimal_number(false))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print the numbers as JSON");
  session.add_threads_option(command);
  command.footer("Examples:\n  fp4proof reproduce hif4-figure-3 --svg figure3.svg");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb reproduce_verb{"reproduce", add};

}  // namespace fp4proof::cli
