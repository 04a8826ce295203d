// fp4proof reproduce corrections

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/cli/progress.h"
#include "conformance/cli/reproduce_figures.h"
#include "conformance/cli/table.h"
#include "conformance/cli/version.h"
#include "conformance/figures/correction_figures.h"
#include "conformance/figures/correction_figures_markdown.h"
#include "conformance/vectors/atomic_file.h"

namespace fp4proof::cli {

namespace {

nlohmann::json to_json(const CorrectionFigure& figure) {
  nlohmann::json json = {{"name", figure.name}, {"measured", figure.measured}, {"published", nullptr},
                         {"bounds", nullptr},   {"holds", figure.holds()},     {"remark", figure.remark}};
  if (figure.published) json["published"] = *figure.published;
  if (figure.bounds) json["bounds"] = {figure.bounds->low, figure.bounds->high};
  return json;
}

nlohmann::json to_json(const FigureTable& table) {
  nlohmann::json figures = nlohmann::json::array();
  for (const CorrectionFigure& figure : table.figures) figures.push_back(to_json(figure));
  return {{"title", table.title}, {"text", table.text}, {"figures", figures}};
}

nlohmann::json to_json(const ComponentChange& change) {
  return {{"correction", change.correction},     {"profile", change.profile},         {"tensor", change.tensor},
          {"component", change.component},       {"before", change.before},           {"after", change.after},
          {"whole_before", change.whole_before}, {"whole_after", change.whole_after}, {"worse", change.is_worse()}};
}

nlohmann::json to_json(const CorrectionFigures& figures) {
  nlohmann::json tables = nlohmann::json::array();
  for (const FigureTable& table : figures.tables) tables.push_back(to_json(table));
  nlohmann::json changes = nlohmann::json::array();
  for (const ComponentChange& change : figures.changes) changes.push_back(to_json(change));
  nlohmann::json quoted = nlohmann::json::array();
  for (const QuotedFigure& figure : quoted_figures()) {
    quoted.push_back({{"paper", figure.paper}, {"subject", figure.subject}, {"numbers", figure.numbers}});
  }
  return {{"format", "fp4proof-correction-figures/1"},
          {"tool_version", tool_version},
          {"seed", figures.seed},
          {"tables", tables},
          {"components", changes},
          {"not_run_here", quoted},
          {"holds", figures.hold()}};
}

void print_tables(Session& session, const CorrectionFigures& figures) {
  Table table("lrrrl");
  table.add({"figure", "published", "ours", "bounds", "verdict"});
  for (const FigureTable& part : figures.tables) {
    table.add({""});
    table.add({part.title});
    for (const CorrectionFigure& figure : part.figures) {
      const std::string bounds =
          figure.bounds ? figure_text(figure.bounds->low) + " to " + figure_text(figure.bounds->high) : "-";
      table.add({"  " + figure.name, figure.published ? figure_text(*figure.published) : "-",
                 figure_text(figure.measured), bounds, verdict_text(figure)});
    }
  }
  session.print(table.text());
  Table changes("llllrrl");
  changes.add({"correction", "profile", "tensor", "part", "before", "after", ""});
  for (const ComponentChange& change : figures.changes) {
    changes.add({change.correction, change.profile, change.tensor, change.component, figure_text(change.before),
                 figure_text(change.after), change.is_worse() ? "worse" : ""});
  }
  session.print("\nParts of the error over |x|^2, before and after the correction made for them\n");
  session.print(changes.text());
  session.print("\nResults of the papers that need a trained model: not run here\n");
  for (const QuotedFigure& quoted : quoted_figures()) {
    session.print(fmt::format("  {}, {}: {}\n", quoted.paper, quoted.subject, quoted.numbers));
  }
  session.print(figures.hold() ? "\nEvery bound holds.\n" : "\nSome figures LEAVE THEIR BOUNDS.\n");
}

}  // namespace

Result<ExitCode> reproduce_corrections(const ReproduceOptions& options, Session& session) {
  std::optional<AtomicFile> page;
  if (!options.markdown.empty()) {
    auto created = AtomicFile::create(options.markdown);
    if (!created) return created.error();
    page = *std::move(created);
  }
  CorrectionFigures figures;
  {
    Progress progress("measuring", correction_measurement_count);
    figures = correction_figures(options.seed.value_or(1), [&] { progress.advance(1); });
  }
  if (page) {
    const std::string text = to_markdown(figures);
    auto written = page->append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    if (written) written = page->commit();
    if (!written) return written.error();
  }
  if (options.json) {
    session.print_json(to_json(figures));
  } else {
    print_tables(session, figures);
  }
  return figures.hold() ? ExitCode::conformant : ExitCode::mismatch;
}

}  // namespace fp4proof::cli
