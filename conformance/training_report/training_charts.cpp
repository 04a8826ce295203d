#include "conformance/training_report/training_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "conformance/report/bar_chart.h"
#include "conformance/report/line_chart.h"
#include "conformance/report/page_text.h"
#include "conformance/report/xml_text.h"
#include "conformance/training_report/curves.h"

namespace fp4proof::training_report {

namespace {

constexpr double card_width = 580;
constexpr double page_width = 1180;
constexpr std::size_t most_end_labels = 6;
constexpr std::size_t longest_end_label = 20;
constexpr std::size_t most_points = 24;
constexpr std::size_t most_operators = 8;
constexpr std::array<const char*, most_operators + 1> operator_colours = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#b3a125", "#999999"};

/// What one chart of curves shows.
struct CurveChart {
  std::string title;
  std::string about;
  std::string y_label;
  CurveOf curve;
  bool has_log_y = false;
  std::vector<double> marks = {};
};

/// Names of groups by what is said of them.
using Remarks = std::map<std::string, std::vector<std::string>>;

std::string remarks_text(const Remarks& remarks) {
  std::string html;
  for (const auto& [reason, names] : remarks) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + report::shown(name, 60);
    html += fmt::format("<p class=\"faint\">{}: {}.</p>\n", report::xml_text(reason), list);
  }
  return html;
}

std::string card(const std::string& title, const std::string& about, const std::string& content,
                 const char* style = "") {
  return fmt::format("<section class=\"card{}\"><h3>{}</h3><p class=\"faint\">{}</p>\n{}</section>\n", style,
                     report::xml_text(title), report::xml_text(about), content);
}

std::string section(const std::string& title, const std::string& about, const std::string& cards) {
  return fmt::format("<h2>{}</h2>\n<p class=\"about\">{}</p>\n<div class=\"charts\">\n{}</div>\n",
                     report::xml_text(title), report::xml_text(about), cards);
}

class Charts {
 public:
  Charts(std::span<const RunGroup> groups, const SeriesStyles& styles) : groups_(groups), styles_(styles) {
    has_end_labels_ = groups.size() <= most_end_labels &&
                      std::ranges::all_of(groups, [](const RunGroup& g) { return g.name.size() <= longest_end_label; });
    for (const RunGroup& group : groups) {
      for (const TrainingRun* run : group.runs) {
        last_step_ = std::max(last_step_, static_cast<double>(run->steps.size()));
      }
    }
    has_bands_ = std::ranges::any_of(groups, [](const RunGroup& g) { return g.runs.size() > 1; });
  }

  std::string all() const { return learning() + mismatch() + quantization() + gradients() + times(); }

 private:
  std::string curves(const std::vector<CurveChart>& charts) const {
    std::string html;
    for (const CurveChart& chart : charts) html += curve_card(chart);
    return html;
  }

  std::string curve_card(const CurveChart& what) const {
    LineChart chart;
    chart.x_label = "step";
    chart.y_label = what.y_label;
    chart.y_step = 0;
    chart.has_log_y = what.has_log_y;
    chart.has_round_x = true;
    chart.x_range = {0, last_step_};
    chart.marks_y = what.marks;
    chart.most_points = most_points;
    chart.layout = {card_width, 320, 74, has_end_labels_ ? 138.0 : 16.0, 14, 52, 1.7, has_end_labels_};
    Remarks remarks;
    for (const RunGroup& group : groups_) {
      GroupCurve curve = curve_of(group, what.curve);
      if (curve.missing.empty()) curve.missing = why_not_drawn(curve.series, what.has_log_y);
      if (!curve.missing.empty()) {
        remarks[curve.missing].push_back(group.name);
        continue;
      }
      if (curve.left_out_at) {
        remarks[fmt::format("Numbers that are not finite are left out, the first at step {}", *curve.left_out_at)]
            .push_back(group.name);
      }
      curve.series.colour = "currentColor";
      curve.series.dashes = styles_.dashes(group);
      curve.series.style_class = styles_.style_class(group);
      chart.series.push_back(std::move(curve.series));
    }
    const std::string drawing = chart.series.empty() ? std::string("<p>Nothing to draw.</p>\n")
                                                     : report::inline_drawing(draw(chart), what.title);
    return card(what.title, what.about, drawing + remarks_text(remarks));
  }

  static std::string why_not_drawn(const ChartSeries& series, bool has_log_y) {
    if (std::ranges::none_of(series.y, [](double value) { return std::isfinite(value); })) {
      return "Not finite on any step";
    }
    const bool is_zero = std::ranges::all_of(series.y, [](double value) { return !(value > 0); });
    return has_log_y && is_zero ? "0 on every step, which a logarithmic axis has no place for" : "";
  }

  std::string learning() const {
    const std::string band =
        has_bands_ ? " Lines are means over seeds, bands reach from the smallest to the largest." : "";
    return section(
        "Learning",
        "Numbers of every step are drawn as the mean of the ten steps up to it in runs of more than 60 steps." + band,
        curves({
            {"Reward", "Sampled exact match: the share of answers that the verifier accepts.", "share of answers",
             of_steps(&StepLine::reward)},
            {"Entropy", "How undecided the policy is when it samples.", "nats per token", of_steps(&StepLine::entropy)},
            {"Greedy accuracy in the rollout", "256 fixed prompts, precision of the rollout.", "share of answers",
             of_greedy(&Greedy::rollout)},
            {"Greedy accuracy in training", "The same prompts, precision of the forward pass of training.",
             "share of answers", of_greedy(&Greedy::training)},
            {"Greedy accuracy in bfloat16", "The same prompts and weights without any quantization.",
             "share of answers", of_greedy(&Greedy::bf16)},
            {"Gradient norm", "Before clipping.", "norm of the whole gradient", of_steps(&StepLine::gradient_norm),
             true},
        }));
  }

  std::string mismatch() const {
    return section("Rollout against training",
                   "Both run the same operators, so every difference between their probabilities is quantization.",
                   curves({{"k3", "Mean of exp(d) - 1 - d, d = training minus rollout log-probability of a token.",
                            "k3, nats per token", of_steps(&StepLine::k3), true},
                           {"Ratio",
                            "99 % of tokens have a smaller exp(d).",
                            "probability ratio",
                            of_steps(&StepLine::ratio_p99),
                            false,
                            {1}}}));
  }

  std::string quantization() const {
    std::string cards;
    for (const Role& role : roles()) {
      cards += curve_card({fmt::format("Deadzone of {}", role.name),
                           "Elements that become zero under the ideal scale of their block.", "share of elements",
                           of_deadzone(role)});
      cards += error_card(role);
    }
    return section("Quantization",
                   "What coding costs, measured on step 1 and every tenth. Errors are over |x|\u00b2, means of all "
                   "tensors and measured steps. The parts need not add up to the error: scale and grid partly cancel.",
                   cards);
  }

  std::string error_card(const Role& role) const {
    BarChart chart;
    chart.axis_label = "|e part|\u00b2 / |x|\u00b2, %";
    chart.parts = {{"scale bias", palette::orange}, {"deadzone", palette::blue}, {"grid", palette::sky}};
    chart.number_headings = {"error, %"};
    chart.label_width = 176;
    chart.number_width = 68;
    Remarks remarks;
    for (const RunGroup& group : groups_) {
      const auto error = mean_error(group, role.has, &QuantLine::relative_error);
      if (!error) {
        const std::string missing = missing_role(*group.runs.front(), role);
        remarks[missing.empty() ? "Not finite on any step" : missing].push_back(group.name);
        continue;
      }
      std::vector<double> parts;
      for (const auto part : {&QuantLine::scale_bias, &QuantLine::deadzone, &QuantLine::grid}) {
        parts.push_back(100 * *mean_error(group, role.has, part));
      }
      chart.rows.push_back({group.name, parts, {fmt::format("{:.3g}", 100 * *error)}, false});
    }
    const std::string title = fmt::format("Error of {}", role.name);
    return card(title, "Scale bias, deadzone and grid; the error itself stands at the right.",
                bars(chart, card_width, title) + remarks_text(remarks), " bars");
  }

  static std::string bars(const BarChart& chart, double width, const std::string& title) {
    return chart.rows.empty() ? "<p>Nothing to draw.</p>\n" : report::inline_drawing(draw(chart, width), title);
  }

  std::string gradients() const {
    return section(
        "Gradients",
        "The whole gradient g, not clipped, beside g\u2080, that of bfloat16 of the same batch and weights; on "
        "measured "
        "steps.",
        curves({
            {"Cosine", "Of g and g\u2080. 1 is the same direction.", "cosine", of_gradients(&GradientLine::cosine)},
            {"Norm ratio",
             "1 is the same length.",
             "|g| / |g\u2080|",
             of_gradients(&GradientLine::norm_ratio),
             false,
             {1}},
            {"Bias", "Plans that round at random: the mean of several gradients from other random words.",
             "|mean g - g\u2080| / |g\u2080|", of_random_gradients(&GradientLine::bias), true},
            {"Variance", "Of the same gradients, around their mean.", "variance / |g\u2080|\u00b2",
             of_random_gradients(&GradientLine::variance), true},
        }));
  }

  using Seconds = std::map<std::string, double>;

  /// Seconds by operator, of the first run of the group that has them.
  static Seconds seconds_of(const RunGroup& group) {
    Seconds seconds;
    for (const TrainingRun* run : group.runs) {
      if (!run->operators) continue;
      for (const OperatorLine& line : *run->operators) seconds[line.name] += line.seconds;
      break;
    }
    return seconds;
  }

  static double sum_of(const Seconds& seconds) {
    double sum = 0;
    for (const auto& [name, time] : seconds) sum += time;
    return sum;
  }

  /// The operators with the largest shares over all groups, in that order.
  static std::vector<std::string> longest(const std::vector<Seconds>& all) {
    Seconds shares;
    for (const Seconds& seconds : all) {
      for (const auto& [name, time] : seconds) shares[name] += time / std::max(sum_of(seconds), 1e-12);
    }
    std::vector<std::string> names;
    for (const auto& [name, share] : shares) names.push_back(name);
    std::ranges::stable_sort(names, [&](const auto& a, const auto& b) { return shares[a] > shares[b]; });
    if (names.size() > most_operators) names.resize(most_operators);
    return names;
  }

  std::string times() const {
    std::vector<Seconds> all;
    for (const RunGroup& group : groups_) all.push_back(seconds_of(group));
    const std::vector<std::string> names = longest(all);
    BarChart chart;
    chart.axis_label = "% of the time in operators";
    chart.number_headings = {"seconds"};
    chart.mark = 100;
    chart.label_width = 200;
    for (std::size_t i = 0; i < names.size(); ++i) chart.parts.push_back({names[i], operator_colours[i]});
    chart.parts.push_back({"others", operator_colours[most_operators]});
    Remarks remarks;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const double whole = sum_of(all[i]);
      if (whole == 0) {
        remarks["Without operators.csv"].push_back(groups_[i].name);
        continue;
      }
      std::vector<double> shares;
      double rest = 100;
      for (const std::string& name : names) {
        shares.push_back(100 * all[i][name] / whole);
        rest -= shares.back();
      }
      shares.push_back(std::max(rest, 0.0));
      chart.rows.push_back({groups_[i].name, shares, {fmt::format("{:.3g}", whole)}, false});
    }
    return section("Time", "Of the measured steps, on the machine and the backend of the first run of each line.",
                   card("Share of time per operator", "The longest eight, and the others together.",
                        bars(chart, page_width, "Share of time per operator") + remarks_text(remarks), " wide"));
  }

  std::span<const RunGroup> groups_;
  const SeriesStyles& styles_;
  double last_step_ = 1;
  bool has_end_labels_;
  bool has_bands_;
};

}  // namespace

std::string training_charts(std::span<const RunGroup> groups, const SeriesStyles& styles) {
  return Charts(groups, styles).all();
}

}  // namespace fp4proof::training_report
