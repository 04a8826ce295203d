#include "conformance/training_report/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "conformance/report/page_text.h"
#include "conformance/training_report/numbers.h"

namespace fp4proof::training_report {

namespace {

constexpr const char* minus = "\u2212";
constexpr const char* nothing = "<span class=\"faint\">\u2013</span>";

/// A share as a bar, with a mark from the lowest to the highest where they differ.
std::string meter(const Numbers& numbers) {
  std::string html = fmt::format("<span class=\"meter\"><i style=\"width:{:.1f}%\"></i>", 100 * numbers.mean());
  if (numbers.high() > numbers.low()) {
    html += fmt::format("<b style=\"left:{:.1f}%;width:{:.1f}%\"></b>", 100 * numbers.low(),
                        100 * (numbers.high() - numbers.low()));
  }
  return html + fmt::format("</span>{:.3f}", numbers.mean());
}

std::string points_text(double gap) {
  return fmt::format("{}{:.1f}", gap < -0.0005 ? minus : gap > 0.0005 ? "+" : "", std::abs(100 * gap));
}

std::optional<double> gap_of(const TrainingRun& run, std::span<const TrainingRun> runs) {
  const TrainingRun* base = run.is_bf16() ? nullptr : bf16_of(run, runs);
  if (base == nullptr || !run.summary) return std::nullopt;
  return run.summary->final_reward - base->summary->final_reward;
}

std::optional<double> steps_to_goal(const TrainingRun& run) {
  if (!run.summary || !run.summary->steps_to_goal) return std::nullopt;
  return static_cast<double>(*run.summary->steps_to_goal);
}

std::string k3_text(double k3) { return k3 == 0 ? "0" : fmt::format("{:.2g}", k3); }

std::string cell(const std::string& html, const char* style = "n") {
  return fmt::format("<td class=\"{}\">{}</td>", style, html.empty() ? nothing : html);
}

struct GroupNumbers {
  Numbers reward;
  Numbers gap;
  Numbers steps;
  Numbers k3;

  GroupNumbers(const RunGroup& group, std::span<const TrainingRun> runs) {
    for (const TrainingRun* run : group.runs) {
      reward.add(final_reward(*run));
      gap.add(gap_of(*run, runs));
      steps.add(steps_to_goal(*run));
      k3.add(final_k3(*run));
    }
  }
};

/// How many of the runs have the number, where not all have.
std::string share_of_runs(const Numbers& numbers, std::size_t runs) {
  if (numbers.values.size() == runs) return {};
  return fmt::format(" <span class=\"faint\">({} of {})</span>", numbers.values.size(), runs);
}

std::string group_row(const RunGroup& group, const GroupNumbers& numbers, const SeriesStyles& styles) {
  const std::size_t runs = group.runs.size();
  std::string steps;
  if (!numbers.steps.values.empty()) steps = fmt::format("{:.0f}", numbers.steps.mean());
  if (!steps.empty()) steps += share_of_runs(numbers.steps, runs);
  std::string k3;
  if (!numbers.k3.values.empty()) k3 = k3_text(numbers.k3.mean()) + share_of_runs(numbers.k3, runs);
  const auto range = [](const Numbers& of) {
    return of.values.size() < 2 ? std::string() : fmt::format("{:.3f} \u2013 {:.3f}", of.low(), of.high());
  };
  return "<tr>" + cell(styles.swatch(group) + report::shown(group.name, 60), "") +
         cell(report::shown(group.preset, 40), "") + cell(std::to_string(runs)) +
         cell(numbers.reward.values.empty() ? "" : meter(numbers.reward)) + cell(range(numbers.reward)) +
         cell(numbers.gap.values.empty() ? "" : points_text(numbers.gap.mean())) + cell(steps) + cell(k3) + "</tr>\n";
}

/// Whether equal runs have the digest of this one.
std::string digest_mark(const TrainingRun& run, std::span<const EqualRuns> equal) {
  for (const EqualRuns& entry : equal) {
    if (std::ranges::find(entry.runs, &run) == entry.runs.end()) continue;
    return entry.have_equal_digests() ? " <span class=\"same\" title=\"equal runs have this digest\">\u2713</span>"
                                      : " <span class=\"other\" title=\"equal runs have another digest\">\u2717</span>";
  }
  return {};
}

std::string digest_text(const TrainingRun& run, std::span<const EqualRuns> equal) {
  std::string text;
  if (run.summary) {
    text = fmt::format("<code class=\"digest\">{}</code>{}", run.summary->digest, digest_mark(run, equal));
  } else {
    text =
        fmt::format("<span class=\"faint\">stopped after {} of {} steps</span>", run.steps.size(), run.planned_steps);
  }
  if (const auto step = run.diverged_at()) text += fmt::format(" <strong>diverged at step {}</strong>", *step);
  return text;
}

std::string greedy_text(const TrainingRun& run) {
  const auto last = std::ranges::find_if(run.steps.rbegin(), run.steps.rend(),
                                         [](const StepLine& line) { return line.greedy.has_value(); });
  return last == run.steps.rend() ? std::string() : fmt::format("{:.3f}", last->greedy->rollout);
}

std::string run_row(const TrainingRun& run, std::span<const TrainingRun> runs, std::span<const EqualRuns> equal) {
  Numbers reward;
  reward.add(final_reward(run));
  const auto gap = gap_of(run, runs);
  const auto steps = steps_to_goal(run);
  const auto k3 = final_k3(run);
  return "<tr>" + cell(report::shown(run.plan_name, 60), "") + cell(report::shown(run.preset, 40), "") +
         cell(std::to_string(run.seed)) + cell(report::shown(run.backend, 40), "") +
         cell(reward.values.empty() ? "" : meter(reward)) + cell(gap ? points_text(*gap) : "") +
         cell(steps ? fmt::format("{:.0f}", *steps) : "") + cell(k3 ? k3_text(*k3) : "") + cell(greedy_text(run)) +
         cell(digest_text(run, equal), "") + cell(report::shown(run.folder, 120), "folder") + "</tr>\n";
}

}  // namespace

std::string group_table(std::span<const RunGroup> groups, std::span<const TrainingRun> runs,
                        const SeriesStyles& styles) {
  std::vector<std::pair<const RunGroup*, GroupNumbers>> rows;
  for (const RunGroup& group : groups) rows.emplace_back(&group, GroupNumbers(group, runs));
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    const auto order = [](const auto& row) {
      const std::vector<double>& rewards = row.second.reward.values;
      return std::pair(row.first->preset, rewards.empty() ? 1.0 : -row.second.reward.mean());
    };
    return order(a) < order(b);
  });
  std::string html =
      "<div class=\"scroll\"><table class=\"runs\"><tr><th>plan</th><th>preset</th><th class=\"n\">seeds</th>"
      "<th class=\"n\">final reward</th><th class=\"n\">smallest \u2013 largest</th><th class=\"n\">to bf16, points"
      "</th><th class=\"n\">steps to 0.8</th><th class=\"n\">k3</th></tr>\n";
  for (const auto& [group, numbers] : rows) html += group_row(*group, numbers, styles);
  return html + "</table></div>\n";
}

std::string run_table(std::span<const TrainingRun> runs, std::span<const EqualRuns> equal) {
  std::vector<const TrainingRun*> order;
  for (const TrainingRun& run : runs) order.push_back(&run);
  std::ranges::stable_sort(order, {}, [](const TrainingRun* run) {
    return std::tuple(run->preset, !run->is_bf16(), run->plan_name, run->seed, run->backend);
  });
  std::string html =
      "<div class=\"scroll\"><table class=\"runs\"><tr><th>plan</th><th>preset</th><th class=\"n\">seed</th><th>backend"
      "</th><th class=\"n\">final reward</th><th class=\"n\">to bf16, points</th><th class=\"n\">steps to 0.8</th>"
      "<th class=\"n\">k3</th><th class=\"n\">greedy</th><th>digest</th><th>folder</th></tr>\n";
  for (const TrainingRun* run : order) html += run_row(*run, runs, equal);
  return html + "</table></div>\n";
}

}  // namespace fp4proof::training_report
