#include "conformance/cli/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "conformance/cli/progress.h"
#include "conformance/sweep/run_result.h"
#include "conformance/sweep/sweep_folder.h"
#include "conformance/sweep/tasks.h"
#include "conformance/training_report/training_run.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

namespace fs = std::filesystem;
using sweep::Outcome;
using sweep::RunState;
using sweep::SweepRun;

constexpr const char* warm_start_plan = "bf16";
constexpr std::size_t most_warm_start_threads = 8;  // the models are too small for more
constexpr std::size_t most_remarks = 3;

/// The last line that a run has left in its log, as the end of a sentence.
std::string last_words(const fs::path& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) last = line;
  std::erase_if(last, [](unsigned char c) { return std::iscntrl(c) != 0; });
  return last.empty() ? "" : ": " + last;
}

/// The sweep at work in its folder.
class Conductor {
 public:
  Conductor(const SweepOptions& options, const SweepRequest& request, std::vector<Outcome>& outcomes)
      : options_(options), request_(request), outcomes_(outcomes), progress_("sweep", outcomes.size()) {}

  Result<void> conduct() {
    if (const Result<void> saved = save(); !saved) return saved;
    if (const Result<void> made = make_warm_starts(); !made) return made;
    return make_runs();
  }

 private:
  Result<void> save() const { return write_sweep(options_.out, request_.sweep, options_.shard, outcomes_); }
  fs::path folder_of(const SweepRun& run) const { return fs::path(options_.out) / run.folder; }
  fs::path log_of(const SweepRun& run) const { return folder_of(run) / "train.log"; }

  std::vector<Outcome*> pending() {
    std::vector<Outcome*> ahead;
    for (Outcome& outcome : outcomes_) {
      if (outcome.state == RunState::pending) ahead.push_back(&outcome);
    }
    return ahead;
  }

  /// A run of `train`, whose folder is made. It goes on where an earlier sweep was ended.
  Result<sweep::Task> task_of(const SweepRun& run, const std::string& plan, std::int64_t steps, std::size_t threads) {
    std::error_code failure;
    fs::create_directories(folder_of(run), failure);
    if (failure) return os_error("make", folder_of(run), failure.value());
    std::vector<std::string> words = {"train", "--resume", "--plan", plan, "--out", folder_of(run).string()};
    words.insert(words.end(), {"--seed", fmt::format("{}", run.seed), "--threads", fmt::format("{}", threads)});
    for (std::string& word : words_of(options_.train, steps)) words.push_back(std::move(word));
    return sweep::Task{std::move(words), log_of(run)};
  }

  /// One for each seed that has runs ahead, each with its share of the cores.
  Result<void> make_warm_starts() {
    std::vector<SweepRun> missing;
    for (const Outcome* outcome : pending()) {
      SweepRun run = warm_start_of(request_.sweep, outcome->run.seed);
      if (!missing.empty() && missing.back().seed == run.seed) continue;
      const auto result = read_run(folder_of(run), run);
      if (!result) return result.error();
      if (result->is_null()) missing.push_back(std::move(run));
    }
    std::vector<sweep::Task> tasks;
    for (const SweepRun& run : missing) {
      const std::size_t threads = options_.jobs * options_.threads / std::min(options_.jobs, missing.size());
      auto task = task_of(run, warm_start_plan, 0, std::min(threads, most_warm_start_threads));
      if (!task) return task.error();
      tasks.push_back(*std::move(task));
    }
    const auto ended = [&](std::size_t task, const std::string& failure) -> Result<void> {
      if (failure.empty()) return {};
      give_up(missing[task], failure);
      return save();
    };
    const auto waiting = [&](const auto&) { progress_.advance(0, "warm starts"); };
    return run_tasks(tasks, options_.jobs, {ended, waiting});
  }

  /// Every run of a seed fails with its warm start.
  void give_up(const SweepRun& warm_start, const std::string& failure) {
    for (Outcome* outcome : pending()) {
      if (outcome->run.seed != warm_start.seed) continue;
      outcome->state = RunState::failed;
      outcome->failure = fmt::format("its warm start {}{}", failure, last_words(log_of(warm_start)));
    }
  }

  Result<void> make_runs() {
    const std::vector<Outcome*> ahead = pending();
    std::vector<sweep::Task> tasks;
    for (const Outcome* outcome : ahead) {
      const SweepRun& run = outcome->run;
      auto task = task_of(run, request_.plan_words.at(run.plan), request_.sweep.steps(), options_.threads);
      if (!task) return task.error();
      const fs::path warm_start = folder_of(warm_start_of(request_.sweep, run.seed)) / "warm_start.safetensors";
      task->arguments.insert(task->arguments.end(), {"--warm-start", warm_start.string()});
      tasks.push_back(*std::move(task));
    }
    progress_.advance(outcomes_.size() - ahead.size());
    const auto ended = [&](std::size_t task, const std::string& failure) {
      conclude(*ahead[task], failure);
      progress_.advance(1);
      return save();
    };
    const auto waiting = [&](const std::vector<std::size_t>& running) { progress_.advance(0, remark(ahead, running)); };
    return run_tasks(tasks, options_.jobs, {ended, waiting});
  }

  void conclude(Outcome& outcome, std::string failure) const {
    auto result = read_run(folder_of(outcome.run), outcome.run);
    if (failure.empty() && !result) failure = "left records that make no sense: " + result.error().message;
    if (failure.empty() && result->is_null()) failure = "left no summary.json";
    if (failure.empty()) {
      outcome.state = RunState::done;
      outcome.result = *std::move(result);
    } else {
      outcome.state = RunState::failed;
      outcome.failure = failure + last_words(log_of(outcome.run));
    }
  }

  /// How many runs have ended, and the last reward of a few that have not.
  std::string remark(const std::vector<Outcome*>& ahead, const std::vector<std::size_t>& running) const {
    const auto ended = std::count_if(outcomes_.begin(), outcomes_.end(),
                                     [](const Outcome& outcome) { return outcome.state != RunState::pending; });
    std::string text = fmt::format("{} of {} runs", ended, outcomes_.size());
    for (std::size_t i = 0; i < std::min(running.size(), most_remarks); ++i) {
      const SweepRun& run = ahead[running[i]]->run;
      const auto read = training_report::read_training_run(folder_of(run));
      text += read && !read->steps.empty() ? fmt::format("  {} {:.3f}", run.folder, read->steps.back().reward) : "";
    }
    return text;
  }

  const SweepOptions& options_;
  const SweepRequest& request_;
  std::vector<Outcome>& outcomes_;
  Progress progress_;
};

}  // namespace

Result<void> make_pending_runs(const SweepOptions& options, const SweepRequest& request,
                               std::vector<Outcome>& outcomes) {
  return Conductor(options, request, outcomes).conduct();
}

}  // namespace fp4proof::cli
