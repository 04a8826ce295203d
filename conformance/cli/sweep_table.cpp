#include "conformance/cli/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/cli/table.h"

namespace fp4proof::cli {

namespace {

struct Column {
  const char* key;
  const char* heading;
  int decimals;
};

constexpr std::array columns = {Column{"final_reward", "reward", 3},
                                Column{"spread", "spread", 3},
                                Column{"gap", "gap", 1},
                                Column{"final_k3", "k3", 4},
                                Column{"first_entropy", "entropy", 3},
                                Column{"final_entropy", "at the end", 3},
                                Column{"deadzone_fraction", "in deadzone", 3},
                                Column{"scale_bias", "scale", 5},
                                Column{"deadzone", "deadzone", 5},
                                Column{"grid", "grid", 5},
                                Column{"gradient_cosine", "cosine", 4}};

std::string cell(const nlohmann::json& number, int decimals) {
  return number.is_null() ? "-" : fmt::format("{:.{}f}", number.get<double>(), decimals);
}

/// How a line of the table names a plan: with how many of its runs diverged.
std::string title_of(const nlohmann::json& line) {
  const std::string plan = line["plan"];
  const auto diverged = line["diverged"].get<std::size_t>();
  return diverged == 0 ? plan : fmt::format("{} ({} diverged)", plan, diverged);
}

}  // namespace

std::string sweep_table(const nlohmann::json& summary) {
  std::vector<Column> shown;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(shown), [&](const Column& column) {
    return std::any_of(summary.begin(), summary.end(), [&](const auto& line) { return !line[column.key].is_null(); });
  });
  std::vector<std::string> heading = {"plan", "runs"};
  for (const Column& column : shown) heading.emplace_back(column.heading);
  Table table("lr");
  table.add(heading);
  for (const nlohmann::json& line : summary) {
    std::vector<std::string> cells = {
        title_of(line), fmt::format("{}/{}", line["done"].get<std::size_t>(), line["runs"].get<std::size_t>())};
    for (const Column& column : shown) cells.push_back(cell(line[column.key], column.decimals));
    table.add(std::move(cells));
  }
  return table.text();
}

std::vector<std::string> divergence_notes(std::span<const sweep::Outcome> outcomes) {
  std::vector<std::string> notes;
  for (const sweep::Outcome& outcome : outcomes) {
    if (outcome.state != sweep::RunState::done || outcome.result.at("diverged_at").is_null()) continue;
    notes.push_back(fmt::format("run {} ({}) diverged at step {}", outcome.run.index, outcome.run.folder,
                                outcome.result.at("diverged_at").dump()));
  }
  return notes;
}

std::string run_list(std::span<const sweep::Outcome> outcomes) {
  Table table("rrl");
  table.add({"index", "seed", "plan", "folder", "state"});
  for (const sweep::Outcome& outcome : outcomes) {
    const sweep::SweepRun& run = outcome.run;
    table.add({fmt::format("{}", run.index), fmt::format("{}", run.seed), run.plan, run.folder,
               std::string(name_of(outcome.state))});
  }
  return table.text();
}

}  // namespace fp4proof::cli
