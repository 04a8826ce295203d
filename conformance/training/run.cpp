#include "conformance/training/run.h"

#include <fmt/format.h>

#include <chrono>

#include "conformance/training/checkpoint.h"
#include "conformance/training/config_json.h"
#include "conformance/training/measures.h"
#include "conformance/training/record_files.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/bytes.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::training {

namespace {

constexpr const char* warm_start_phase = "warm-start";
constexpr const char* reinforcement_phase = "reinforcement";
constexpr const char* warm_start_file = "warm_start.safetensors";
constexpr const char* checkpoint_file = "checkpoint.safetensors";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One run; its members live as long as it does.
class Run {
 public:
  Run(Operators& operators, const RunOptions& options, const RunWatch& watch, PlanCodings plan, PlanCodings bf16)
      : operators_(operators),
        options_(options),
        config_(options.config),
        watch_(watch),
        plan_(std::move(plan)),
        bf16_(std::move(bf16)),
        parameters_(initial_parameters(operators, options.config)) {
    if (options.measure_every == 0) return;
    measures_.emplace(operators, config_, options.measure_every, plan_, bf16_, parameters_);
  }

  Result<Records> go() {
    const std::filesystem::path last = options_.folder / checkpoint_file;
    std::int64_t done = 0;
    if (!is_absent(last)) {
      const auto state = load_checkpoint(last, operators_, parameters_, run_identity(config_, options_.plan));
      if (!state) return state.error();
      auto records = Records::load(options_.folder, state->step);
      if (!records) return records.error();
      if (state->step < 1 || records->trace().chain() != state->chain) return parted(last);
      records_ = *std::move(records);
      if (measures_) {
        if (const auto loaded = measures_->load(options_.folder, state->step); !loaded) return loaded.error();
      }
      trace_ = Trace(state->chain);
      done = state->step;
    } else if (const Result<bool> ready = warm_up(); !ready) {
      return ready.error();
    } else if (!*ready) {
      return std::move(records_);
    }
    if (const Result<void> reinforced = reinforce(done); !reinforced) return reinforced.error();
    return std::move(records_);
  }

 private:
  static Error parted(const std::filesystem::path& checkpoint) {
    return {ErrorKind::corrupt, fmt::format("{} and {} beside it are not of one run; start again in another folder",
                                            quote_path(checkpoint), trace_file)};
  }

  bool goes_on(const RunStep& step) const { return !watch_ || watch_(step); }

  /// False where the watch stopped it.
  Result<bool> warm_up() {
    const std::int64_t steps = config_.warm_start.steps;
    const bool borrowed = !options_.warm_start.empty();
    const std::filesystem::path path = borrowed ? options_.warm_start : options_.folder / warm_start_file;
    const std::string identity = warm_start_identity(config_);
    std::int64_t done = 0;
    if (borrowed || !is_absent(path)) {
      const auto state = load_checkpoint(path, operators_, parameters_, identity);
      if (!state) return state.error();
      done = state->step;
      trace_ = Trace(state->chain);
    }
    if (done < steps) {
      WarmStarter starter(operators_, config_, bf16_, parameters_);
      for (std::int64_t step = done + 1; step <= steps; ++step) {
        starter.step(step, &trace_);
        trace_.end();
        if (const Result<void> sound = operators_.check(); !sound) return sound.error();
        if (step == steps || step % options_.checkpoint_every == 0) {
          const auto saved =
              save_checkpoint(path, operators_, parameters_, {warm_start_phase, step, trace_.chain(), identity});
          if (!saved) return saved.error();
        }
        if (!goes_on({warm_start_phase, step, steps, 0.0})) return false;
      }
    }
    records_.warm_start_done(trace_.chain());
    clear_moments(operators_, parameters_);
    return true;
  }

  Result<void> reinforce(std::int64_t done) {
    const Reinforcement& settings = config_.reinforcement;
    Reinforcer reinforcer(operators_, config_, plan_, parameters_);
    Evaluator own(operators_, config_, plan_, parameters_, settings.evaluation_prompts);
    Evaluator bf16(operators_, config_, bf16_, parameters_, settings.evaluation_prompts);
    for (std::int64_t step = done + 1; step <= settings.steps; ++step) {
      const auto start = std::chrono::steady_clock::now();
      if (measures_) measures_->begin(step);
      const StepRecord record = reinforcer.step(step, &trace_, measures_ ? &*measures_ : nullptr);
      records_.add(trace_.end());
      const double seconds = seconds_since(start);
      if (measures_) {
        if (const Result<void> measured = measures_->end(); !measured) return measured;
      }
      std::optional<Evaluation> evaluation;
      if (step % settings.evaluate_every == 0 || step == settings.steps) {
        evaluation = {own.accuracy(Product::rollout, step), own.accuracy(Product::forward, step),
                      bf16.accuracy(Product::forward, step)};
      }
      records_.add(record, evaluation, seconds);
      if (const Result<void> sound = operators_.check(); !sound) return sound;
      if (options_.keep_every != 0 && step % options_.keep_every == 0) {
        if (const Result<void> kept = save_weights(kept_checkpoint(options_.folder, step), step); !kept) return kept;
      }
      if (step % options_.checkpoint_every == 0 || step == settings.steps) {
        if (const Result<void> saved = save(step); !saved) return saved;
      }
      if (!goes_on({reinforcement_phase, step, settings.steps, record.reward})) return {};
    }
    const std::string summary = records_.summary().dump(2) + "\n";
    return write_file(options_.folder / summary_file, bytes_of(summary));
  }

  /// The checkpoint last: the records may be ahead of it, never behind.
  Result<void> save(std::int64_t step) {
    if (const Result<void> saved = records_.save(options_.folder); !saved) return saved;
    if (measures_) {
      if (const Result<void> saved = measures_->save(options_.folder); !saved) return saved;
    }
    return save_weights(options_.folder / checkpoint_file, step);
  }

  Result<void> save_weights(const std::filesystem::path& path, std::int64_t step) {
    return save_checkpoint(path, operators_, parameters_,
                           {reinforcement_phase, step, trace_.chain(), run_identity(config_, options_.plan)});
  }

  Operators& operators_;
  const RunOptions& options_;
  const Config& config_;
  const RunWatch& watch_;
  PlanCodings plan_, bf16_;
  Parameters parameters_;
  Trace trace_;
  Records records_;
  std::optional<Measures> measures_;
};

/// Refuses a run that would not begin from its own checkpoint or warm start.
Result<void> check_start(const RunOptions& options) {
  const std::filesystem::path last = options.folder / checkpoint_file;
  if (!is_absent(last)) {
    const auto state = check_checkpoint(last, reinforcement_phase, run_identity(options.config, options.plan));
    return state ? Result<void>() : state.error();
  }
  const bool borrowed = !options.warm_start.empty();
  const std::filesystem::path path = borrowed ? options.warm_start : options.folder / warm_start_file;
  if (!borrowed && is_absent(path)) return {};
  const auto state = check_checkpoint(path, warm_start_phase, warm_start_identity(options.config));
  if (!state) return state.error();
  if (!borrowed || state->step == options.config.warm_start.steps) return {};
  return Error{ErrorKind::usage, fmt::format("the warm start {} is not finished; finish its run", quote_path(path))};
}

}  // namespace

Result<void> check_run(const RunOptions& options) {
  const auto plan = PlanCodings::of(options.plan);
  if (!plan) return plan.error();
  if (std::error_code unknown; !options.resume && std::filesystem::exists(options.folder / checkpoint_file, unknown)) {
    return Error{ErrorKind::usage,
                 fmt::format("{} holds a run; resume it, or choose another folder", quote_path(options.folder))};
  }
  if (const Result<void> fits = check_start(options); !fits) return fits;
  return Reinforcer::check(options.config, *plan);
}

Result<void> remove_stale_records(const std::filesystem::path& folder) {
  if (!is_absent(folder / checkpoint_file)) return {};
  for (const char* name : {summary_file, steps_file, trace_file, quant_file, gradients_file, operators_file}) {
    std::error_code failure;
    std::filesystem::remove(folder / name, failure);
    if (failure) return os_error("remove", folder / name, failure.value());
  }
  return {};
}

Result<Records> run(Operators& operators, const RunOptions& options, const RunWatch& watch) {
  if (const Result<void> sound = check_run(options); !sound) return sound.error();
  auto plan = PlanCodings::of(options.plan);
  if (!plan) return plan.error();
  auto bf16 = PlanCodings::of(PrecisionPlan{});
  if (!bf16) return bf16.error();
  std::error_code failure;
  std::filesystem::create_directories(options.folder, failure);
  if (failure) {
    return Error{ErrorKind::io, fmt::format("cannot make {}: {}", quote_path(options.folder), failure.message())};
  }
  return Run(operators, options, watch, *std::move(plan), *std::move(bf16)).go();
}

}  // namespace fp4proof::training
