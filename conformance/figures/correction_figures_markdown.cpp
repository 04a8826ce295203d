#include "conformance/figures/correction_figures_markdown.h"

#include <fmt/format.h>

#include <string_view>

#include "conformance/figures/correction_measurements.h"
#include "conformance/study/distributions.h"

namespace fp4proof {

namespace {

constexpr const char* preface =
    "# Figures on decomposition and corrections\n\n"
    "Every published figure on error decomposition and corrections that needs no trained model, measured again. This "
    "page\nis the output of\n\n"
    "    fp4proof reproduce corrections --markdown docs/correction-figures.md\n\n"
    "which takes half a minute and ends with exit code 1 where a figure leaves its bounds. Tensors have {} x {} "
    "elements,\ndrawn from Philox (seed {}) and rounded to bfloat16, so every number below is the same on every "
    "machine.\n[study.md](study.md) defines the distributions, [rules-corrections.md](rules-corrections.md) the "
    "corrections and the\ndecomposition. \"-\": nothing was published, or the figure is shown and not judged.\n\n"
    "The published tensors are not at hand. Gaussian and Student's t leave no choice, so a difference there is one of "
    "the\nsample. The tensor with outlier channels is published without its definition. It was found by search over "
    "the "
    "spacing\n(32 to 256) and the gain (4 to 100) of outlier channels, evenly spaced or at random: **standard normal "
    "numbers, every {}th\nchannel times {}** is the one that meets all ten published figures together: three scale "
    "rules, two residuals, HiF4 with\nand without them, and 0.155 of the scale error after macro-block scaling. The "
    "last "
    "figure tells evenly spaced channels\nfrom channels at random, which leave 0.20 to 0.27 of it; and under a gain of "
    "10 "
    "to 20 `rceil` is worse than `floor`, not\nbetter as published.\n\n";

constexpr const char* components_text =
    "## What each correction does to its own part of the error\n\n"
    "Each part over |x|^2, on the tensor of the pathway that the correction is made for. *scale* is |e_scale|^2 of the "
    "corrected\ntensor against the ideal quantizer of the profile (rules D1, D3, D8). The corrections of the residual "
    "kind leave Q\\* and\ntherefore e_deadzone and e_grid as they are by definition, so *deadzone* is the error of the "
    "corrected tensor on the\nelements of D, and *grid* that on all others. **worse** marks a part that the correction "
    "makes larger: stochastic\nrounding and three-quarters pay variance for being unbiased, tiles pay for being "
    "transposable, and a Hadamard transform\nof 16 spreads an outlier over 15 small neighbours.\n\n"
    "| correction | profile | tensor | part | before | after | whole error before | after | |\n"
    "|---|---|---|---|---|---|---|---|---|\n";

constexpr const char* quoted_text =
    "\n## Results of the papers that were not run here\n\n"
    "They need trained models of 1 to 30 billion parameters; the numbers are the papers' own.\n\n"
    "| paper | what | numbers |\n|---|---|---|\n";

std::string optional_text(const std::optional<double>& value) { return value ? figure_text(*value) : "-"; }

std::string bounds_text(const std::optional<FigureBounds>& bounds) {
  return bounds ? fmt::format("{} to {}", figure_text(bounds->low), figure_text(bounds->high)) : "-";
}

/// Text in which `also` and what Markdown would take for a tag stand for themselves.
std::string escaped(const std::string& text, std::string_view also = {}) {
  std::string result;
  for (const char c : text) {
    if (c == '<' || also.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string escaped_cell(const std::string& text) { return escaped(text, "|*"); }

std::string table_text(const FigureTable& table) {
  std::string text = fmt::format("## {}\n\n{}\n\n", table.title, escaped(table.text));
  text += "| figure | published | ours | bounds | verdict | remark |\n|---|---|---|---|---|---|\n";
  for (const CorrectionFigure& figure : table.figures) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", escaped_cell(figure.name), optional_text(figure.published),
                        figure_text(figure.measured), bounds_text(figure.bounds), verdict_text(figure),
                        escaped_cell(figure.remark));
  }
  return text + "\n";
}

std::string change_text(const ComponentChange& change) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", change.correction, change.profile,
                     change.tensor, change.component, figure_text(change.before), figure_text(change.after),
                     figure_text(change.whole_before), figure_text(change.whole_after),
                     change.is_worse() ? "**worse**" : "");
}

}  // namespace

std::string figure_text(double value) { return fmt::format("{:.5g}", value); }

std::string verdict_text(const CorrectionFigure& figure) {
  if (!figure.bounds) return "-";
  return figure.holds() ? "holds" : "LEAVES ITS BOUNDS";
}

std::string to_markdown(const CorrectionFigures& figures) {
  const Distribution outliers = {.kind = DistributionKind::outlier_channels};
  std::string text = fmt::format(fmt::runtime(preface), CorrectionMeasurements::rows, CorrectionMeasurements::columns,
                                 figures.seed, outliers.period, outliers.gain);
  for (const FigureTable& table : figures.tables) text += table_text(table);
  text += components_text;
  for (const ComponentChange& change : figures.changes) text += change_text(change);
  text += quoted_text;
  for (const QuotedFigure& quoted : quoted_figures()) {
    text += fmt::format("| {} | {} | {} |\n", quoted.paper, quoted.subject, quoted.numbers);
  }
  return text;
}

}  // namespace fp4proof
