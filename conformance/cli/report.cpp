// fp4proof report: one page that compares training runs.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/cli/run_files.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/training_report/run_groups.h"
#include "conformance/training_report/training_page.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/counted.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

using training_report::EqualRuns;
using training_report::TrainingRun;

struct Options {
  std::vector<std::string> folders;
  std::string out;
  bool json = false;
};

std::string name_of(const EqualRuns& entry) {
  const TrainingRun& run = *entry.runs.front();
  return fmt::format("{} {} seed {}", run.preset, run.plan_name, run.seed);
}

std::string text(const std::vector<TrainingRun>& runs, const std::vector<EqualRuns>& equal, const std::string& out) {
  std::string lines;
  for (const EqualRuns& entry : equal) {
    const std::string first = quote_path(entry.runs.front()->path);
    if (entry.have_equal_digests()) {
      lines += fmt::format("equal    {}: {}, {}\n", quote(name_of(entry)), entry.runs.front()->summary->digest,
                           counted(entry.runs.size(), "run"));
    } else {
      lines += fmt::format("differs  {}: {}; fp4proof compare-training {} {}\n", quote(name_of(entry)), entry.where,
                           first, quote_path(entry.differing->path));
    }
  }
  for (const TrainingRun& run : runs) {
    if (const auto step = run.diverged_at()) {
      lines += fmt::format("diverged {}: step {}\n", quote_path(run.path), *step);
    }
  }
  return lines + fmt::format("{} on {}\n", counted(runs.size(), "run"), quote_path(out));
}

nlohmann::json to_json(const TrainingRun& run) {
  const auto reward = training_report::final_reward(run);
  const auto k3 = training_report::final_k3(run);
  nlohmann::json value = {{"folder", run.folder},    {"preset", run.preset},   {"plan", run.plan_name},
                          {"seed", run.seed},        {"backend", run.backend}, {"steps", run.steps.size()},
                          {"final_reward", nullptr}, {"k3", nullptr},          {"digest", nullptr},
                          {"diverged_at", nullptr}};
  if (reward) value["final_reward"] = *reward;
  if (k3) value["k3"] = *k3;
  if (const auto step = run.diverged_at()) value["diverged_at"] = *step;
  if (run.summary) value["digest"] = run.summary->digest;
  return value;
}

nlohmann::json to_json(const EqualRuns& entry) {
  nlohmann::json folders = nlohmann::json::array();
  for (const TrainingRun* run : entry.runs) folders.push_back(run->folder);
  nlohmann::json value = {{"folders", folders}, {"equal", entry.have_equal_digests()}};
  if (!entry.have_equal_digests()) value["differs_at"] = entry.where;
  return value;
}

nlohmann::json to_json(const std::vector<TrainingRun>& runs, const std::vector<EqualRuns>& equal) {
  nlohmann::json value = {{"format", "fp4proof-training-report/1"},
                          {"tool_version", tool_version},
                          {"runs", nlohmann::json::array()},
                          {"equal_runs", nlohmann::json::array()}};
  for (const TrainingRun& run : runs) value["runs"].push_back(to_json(run));
  for (const EqualRuns& entry : equal) value["equal_runs"].push_back(to_json(entry));
  return value;
}

Result<ExitCode> run(const Options& options, Session& session) {
  auto page = AtomicFile::create(options.out);
  if (!page) return page.error();
  const auto runs = training_report::read_training_runs(options.folders);
  if (!runs) return runs.error();
  for (const TrainingRun& run : *runs) {
    if (const auto apart = refuse_run_file(run.path, options.out); !apart) return apart.error();
  }
  const auto equal = training_report::compare_equal_runs(*runs);
  if (!equal) return equal.error();
  if (auto written = page->append(bytes_of(training_report::training_page(*runs, *equal))); !written) {
    return written.error();
  }
  if (auto written = page->commit(); !written) return written.error();
  if (options.json) {
    session.print_json(to_json(*runs, *equal));
  } else {
    session.print(text(*runs, *equal, options.out));
  }
  const bool all_equal = std::ranges::all_of(*equal, &EqualRuns::have_equal_digests);
  return all_equal ? ExitCode::conformant : ExitCode::mismatch;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof report run1 --out run1.html\n"
    "  fp4proof report sweep --out sweep.html                  every run in the folders of sweep\n"
    "  fp4proof report on-cpu on-gpu --out backends.html       equal runs must have equal digests\n"
    "Exit code 1 where runs of the same preset, plan and seed have different digests. docs/training.md describes the "
    "page.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Compare training runs on one page: curves, errors, gradients, times, digests.");
  command.footer(help);
  command.add_option("DIR", options->folders, "Folders of `train`, or folders that hold such")
      ->required()
      ->type_name("DIR...");
  command.add_option("--out", options->out, "The page")->required()->option_text("FILE.html REQUIRED");
  command.add_flag("--json", options->json, "Print runs and digests as JSON");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb report_verb{"report", add};

}  // namespace fp4proof::cli
