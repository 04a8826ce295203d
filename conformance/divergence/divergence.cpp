#include "conformance/divergence/divergence.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/training/checkpoint.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::training {

namespace {

Error corrupt(const RecordedRun& a, const RecordedRun& b, std::int64_t step) {
  return {ErrorKind::corrupt,
          fmt::format("the traces of {} and {} contradict themselves at step {}: chains and digests "
                      "do not agree on whether it differs",
                      quote_path(a.folder), quote_path(b.folder), step)};
}

// ---------------------------------------------------------------------------------------------------------------------
// The search
// ---------------------------------------------------------------------------------------------------------------------

class Search {
 public:
  Search(const RecordedRun& a, const RecordedRun& b, const RerunWatch& watch) : a_(a), b_(b), watch_(watch) {}

  Result<Divergence> go() {
    const auto first = first_differing_step(a_, b_);
    if (!first) return first.error();
    found_.step = *first;
    if (!found_.step) return std::move(found_);
    const bool warm_start = found_.step->phase == Phase::warm_start;
    const auto at = warm_start ? in_warm_start() : before_step(leader(), found_.step->step);
    if (!at) return at.error();
    if (!*at) return std::move(found_);
    if (const auto done = compare_calls(**at); !done) return done.error();
    return std::move(found_);
  }

 private:
  char name_of(const RecordedRun& run) const { return &run == &a_ ? 'A' : 'B'; }
  const RecordedRun& other(const RecordedRun& run) const { return &run == &a_ ? b_ : a_; }
  const RecordedRun& leader() const { return a_.backend != "reference" && b_.backend == "reference" ? b_ : a_; }

  void tell(std::string_view what, std::int64_t ahead) const {
    if (watch_) watch_(what, ahead);
  }

  void not_reproduced(const RecordedRun& run, const std::string& step) {
    found_.not_reproduced = name_of(run);
    found_.doubts.push_back(fmt::format(
        "the rerun of {} of {} does not give what the run recorded: the result depends on more than its inputs (a "
        "race, "
        "memory that is not initialised, state kept from earlier calls, a faulty machine), or the library has changed",
        step, name_of(run)));
  }

  void warm_start_not_reproduced(const RecordedRun& run) {
    not_reproduced(run, "the warm start");
    if (run.warm_start.empty()) return;
    found_.doubts.push_back(
        fmt::format("{} began from {}, which another backend may have made", name_of(run), quote_path(run.warm_start)));
  }

  // --- Reinforcement -------------------------------------------------------------------------------------------------

  /// Steps of reinforcement behind the state that a file of either run brings; nothing where there is none.
  std::optional<std::int64_t> load(Rerun& rerun, const RecordedRun& run, std::int64_t last) const {
    const TraceFile& trace = run.trace;
    const auto holds = [&](const std::filesystem::path& path, std::int64_t step) {
      const auto done = rerun.load(path, Phase::reinforcement);
      return done && *done == step && rerun.chain() == trace.steps[static_cast<std::size_t>(step - 1)].chain;
    };
    for (std::int64_t step = last; step >= 1; --step) {
      for (const RecordedRun* from : {&run, &other(run)}) {
        const std::filesystem::path kept = kept_checkpoint(from->folder, step);
        if (!is_absent(kept) && holds(kept, step)) return step;
      }
    }
    for (const RecordedRun* from : {&run, &other(run)}) {
      for (const auto& path : {from->folder / "warm_start.safetensors", from->warm_start}) {
        const auto done = rerun.load(path, Phase::warm_start);
        if (!done || *done != run.config.warm_start.steps || rerun.chain() != trace.warm_start) continue;
        rerun.begin_reinforcement();
        return 0;
      }
    }
    return std::nullopt;
  }

  Result<bool> make_warm_start(Rerun& rerun, const RecordedRun& run) {
    for (std::int64_t step = 1; step <= run.config.warm_start.steps; ++step) {
      tell("warm start", run.config.warm_start.steps - step + 1);
      if (const auto made = rerun.step(Phase::warm_start, step); !made) return made.error();
    }
    if (rerun.chain() != run.trace.warm_start) {
      warm_start_not_reproduced(run);
      return false;
    }
    rerun.begin_reinforcement();
    return true;
  }

  /// The state before a step of reinforcement, checked against the chain; nothing where `run` does not give it again.
  Result<std::optional<StepAt>> before_step(const RecordedRun& run, std::int64_t step) {
    const auto rerun = Rerun::open(run);
    if (!rerun) return rerun.error();
    const TrainingState initial = (*rerun)->state();
    std::optional<std::int64_t> done = load(**rerun, run, step - 1);
    if (!done) {
      (*rerun)->set(initial);
      const auto ready = make_warm_start(**rerun, run);
      if (!ready) return ready.error();
      if (!*ready) return std::optional<StepAt>();
      done = 0;
    }
    for (std::int64_t next = *done + 1; next < step; ++next) {
      tell("steps before the difference", step - next);
      const auto made = (*rerun)->step(Phase::reinforcement, next);
      if (!made) return made.error();
      if (made->chain == run.trace.steps[static_cast<std::size_t>(next - 1)].chain) continue;
      not_reproduced(run, fmt::format("step {}", next));
      return std::optional<StepAt>();
    }
    return std::optional(StepAt{Phase::reinforcement, step, (*rerun)->state()});
  }

  // --- Warm start ----------------------------------------------------------------------------------------------------

  Result<std::vector<std::uint64_t>> warm_start_chains(const RecordedRun& run) {
    const auto rerun = Rerun::open(run);
    if (!rerun) return rerun.error();
    std::vector<std::uint64_t> chains;
    for (std::int64_t step = 1; step <= run.config.warm_start.steps; ++step) {
      tell("warm start of A", run.config.warm_start.steps - step + 1);
      const auto made = (*rerun)->step(Phase::warm_start, step);
      if (!made) return made.error();
      chains.push_back(made->chain);
    }
    return chains;
  }

  /// The first step of the warm start at which reruns of both differ, with the state before it.
  Result<std::optional<StepAt>> in_warm_start() {
    const auto chains = warm_start_chains(a_);
    if (!chains) return chains.error();
    if (!chains->empty() && chains->back() != a_.trace.warm_start) warm_start_not_reproduced(a_);
    const auto rerun = Rerun::open(b_);
    if (!rerun) return rerun.error();
    for (std::size_t i = 0; i < chains->size(); ++i) {
      tell("warm start of B", static_cast<std::int64_t>(chains->size() - i));
      const auto step = static_cast<std::int64_t>(i) + 1;
      TrainingState before = (*rerun)->state();
      const auto made = (*rerun)->step(Phase::warm_start, step);
      if (!made) return made.error();
      if (made->chain == (*chains)[i]) continue;
      found_.step->step = step;
      return std::optional(StepAt{Phase::warm_start, step, std::move(before)});
    }
    if ((*rerun)->chain() != b_.trace.warm_start) warm_start_not_reproduced(b_);
    return std::optional<StepAt>();
  }

  // --- The step ------------------------------------------------------------------------------------------------------

  void check_reproduction(const RecordedRun& run, const StepAt& at, const TraceStep& made) {
    if (at.phase == Phase::warm_start) return;
    if (made.chain == run.trace.steps[static_cast<std::size_t>(at.step - 1)].chain) return;
    not_reproduced(run, fmt::format("step {}", at.step));
  }

  Result<void> compare_calls(const StepAt& at) {
    auto compared = compare_step(a_, b_, at, watch_);
    if (!compared) return compared.error();
    check_reproduction(a_, at, compared->a);
    check_reproduction(b_, at, compared->b);
    if (at.phase == Phase::warm_start) found_.step->tensor = first_differing_tensor(compared->a, compared->b);
    if (compared->unstable) found_.not_reproduced = 'B';
    found_.doubts.insert(found_.doubts.end(), compared->doubts.begin(), compared->doubts.end());
    found_.call = std::move(compared->call);
    return {};
  }

  const RecordedRun& a_;
  const RecordedRun& b_;
  const RerunWatch& watch_;
  Divergence found_;
};

}  // namespace

Result<std::optional<FirstStep>> first_differing_step(const RecordedRun& a, const RecordedRun& b) {
  if (a.trace.warm_start != b.trace.warm_start) return std::optional(FirstStep{Phase::warm_start, 0, {}});
  for (std::size_t i = 0; i < std::min(a.trace.steps.size(), b.trace.steps.size()); ++i) {
    const TraceStep& in_a = a.trace.steps[i];
    const TraceStep& in_b = b.trace.steps[i];
    const std::string tensor = first_differing_tensor(in_a, in_b);
    if ((in_a.chain == in_b.chain) != tensor.empty()) return corrupt(a, b, in_a.step);
    if (!tensor.empty()) return std::optional(FirstStep{Phase::reinforcement, in_a.step, tensor});
  }
  return std::optional<FirstStep>();
}

Result<Divergence> find_divergence(const RecordedRun& a, const RecordedRun& b, const RerunWatch& watch) {
  return Search(a, b, watch).go();
}

}  // namespace fp4proof::training
