#include "conformance/training_report/training_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/report/page_frame.h"
#include "conformance/report/page_text.h"
#include "conformance/report/verdict_page_style.h"
#include "conformance/training_report/run_groups.h"
#include "conformance/training_report/run_table.h"
#include "conformance/training_report/series_style.h"
#include "conformance/training_report/training_charts.h"
#include "conformance/training_report/training_page_style.h"

namespace fp4proof::training_report {

namespace {

using report::grouped;
using report::shown;

constexpr std::size_t most_in_banner = 10;
constexpr std::size_t most_open_rows = 24;

std::string name_of(const EqualRuns& entry) {
  const TrainingRun& run = *entry.runs.front();
  return fmt::format("{}, {}, seed {}", shown(run.preset, 40), shown(run.plan_name, 60), run.seed);
}

std::string backends_of(const EqualRuns& entry) {
  std::string text;
  for (const TrainingRun* run : entry.runs) text += (text.empty() ? "" : ", ") + shown(run->backend, 40);
  return text;
}

std::string equal_line(const EqualRuns& entry) {
  return fmt::format("{}: <code>{}</code> on {}", name_of(entry), entry.runs.front()->summary->digest,
                     backends_of(entry));
}

std::string differing_line(const EqualRuns& entry) {
  const TrainingRun& a = *entry.runs.front();
  const TrainingRun& b = *entry.differing;
  return fmt::format(
      "{}: {} (<code>{}</code>) and {} (<code>{}</code>) part at {}. Find the bit: <code>fp4proof compare-training {} "
      "{}</code>",
      name_of(entry), shown(a.backend, 40), a.summary->digest, shown(b.backend, 40), b.summary->digest,
      shown(entry.where, 100), shown(a.folder, 200), shown(b.folder, 200));
}

std::string list_of(const std::vector<std::string>& items) {
  std::string html = "<ul class=\"banner-list\">";
  for (std::size_t i = 0; i < std::min(items.size(), most_in_banner); ++i) html += "<li>" + items[i] + "</li>";
  if (items.size() > most_in_banner) html += fmt::format("<li>and {} more</li>", items.size() - most_in_banner);
  return html + "</ul>";
}

std::string banner(std::span<const EqualRuns> equal) {
  if (equal.empty()) {
    return report::to_html(
        {"none", report::marks::dots, "NOT COMPARED", "digests of equal runs",
         "<strong>No preset, plan and seed was trained twice to its end.</strong> Train one again with "
         "<code>--backend</code> and put both folders on this page: equal runs must have equal "
         "digests."});
  }
  std::vector<std::string> differing;
  std::vector<std::string> same;
  for (const EqualRuns& entry : equal) {
    (entry.have_equal_digests() ? same : differing)
        .push_back(entry.have_equal_digests() ? equal_line(entry) : differing_line(entry));
  }
  const std::string runs = grouped(equal.size(), "run");
  if (differing.empty()) {
    return report::to_html({"pass", report::marks::tick, "SAME BITS", "digests of equal runs",
                            fmt::format("<strong>{} trained several times, every token, gradient and weight the same"
                                        "</strong>{}",
                                        runs, list_of(same))});
  }
  return report::to_html({"fail", report::marks::cross, "BITS DIFFER", "digests of equal runs",
                          fmt::format("<strong>Digests differ in {} of {} trained several times</strong>{}",
                                      differing.size(), runs, list_of(differing))});
}

std::string tables(std::span<const TrainingRun> runs, std::span<const RunGroup> groups,
                   std::span<const EqualRuns> equal, const SeriesStyles& styles) {
  const std::string explanation =
      "<p class=\"faint small\">Final reward and k3 are means of the last 20 steps. To bf16: final reward less that of "
      "the "
      "bf16 run of the same preset and seed, in percentage points. Steps to 0.8: the first step with such a "
      "reward.</p>\n";
  const bool has_seeds = std::ranges::any_of(groups, [](const RunGroup& group) { return group.runs.size() > 1; });
  std::string html;
  if (has_seeds) {
    html +=
        "<h2>Plans</h2>\n<section class=\"card\">" + group_table(groups, runs, styles) + explanation + "</section>\n";
  }
  html += fmt::format("<h2>Runs</h2>\n<section class=\"card\"><details{}><summary>{}</summary>",
                      runs.size() <= most_open_rows ? " open=\"open\"" : "", grouped(runs.size(), "run"));
  html += run_table(runs, equal) + "</details>";
  if (!has_seeds) html += explanation;
  return html + "</section>\n";
}

std::string subtitle(std::span<const TrainingRun> runs) {
  std::set<std::string> presets;
  std::set<std::string> plans;
  std::set<std::uint64_t> seeds;
  for (const TrainingRun& run : runs) {
    presets.insert(run.preset);
    plans.insert(run.plan_name);
    seeds.insert(run.seed);
  }
  std::string text = fmt::format("{}, {}, {}, preset", grouped(runs.size(), "run"), grouped(plans.size(), "plan"),
                                 grouped(seeds.size(), "seed"));
  for (const std::string& preset : presets) text += " " + shown(preset, 40);
  return fmt::format("<h1>Training runs</h1>\n<p class=\"faint\">{}</p>\n", text);
}

/// The groups of each preset side by side, as group_runs() orders them.
std::string charts(std::span<const RunGroup> groups, const SeriesStyles& styles) {
  std::string html;
  for (auto first = groups.begin(); first != groups.end();) {
    const auto last = std::find_if(first, groups.end(), [&](const auto& g) { return g.preset != first->preset; });
    const bool is_only = first == groups.begin() && last == groups.end();
    if (!is_only) html += fmt::format("<h1 class=\"preset\">{}</h1>\n", shown(first->preset, 60));
    html += training_charts({first, last}, styles);
    first = last;
  }
  return html;
}

}  // namespace

std::string training_page(std::span<const TrainingRun> runs, std::span<const EqualRuns> equal) {
  const std::vector<RunGroup> groups = group_runs(runs);
  const SeriesStyles styles(groups);
  return report::html_document(
      "Training runs \u2013 fp4proof", report::verdict_page_style + std::string(training_page_style) + styles.css(),
      subtitle(runs) + banner(equal) + tables(runs, groups, equal, styles) + styles.legend() + charts(groups, styles));
}

}  // namespace fp4proof::training_report
