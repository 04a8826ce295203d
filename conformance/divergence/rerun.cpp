#include "conformance/divergence/rerun.h"

#include "conformance/training/checkpoint.h"
#include "conformance/training/config_json.h"

namespace fp4proof::training {

Result<std::unique_ptr<Rerun>> Rerun::open(const RecordedRun& run) {
  auto backend = load_backend(run.backend);
  if (!backend) return backend.error();
  auto plan = PlanCodings::of(*run.plan);
  if (!plan) return plan.error();
  auto bf16 = PlanCodings::of(PrecisionPlan{});
  if (!bf16) return bf16.error();
  if (const auto fits = Reinforcer::check(run.config, *plan); !fits) return fits.error();
  std::unique_ptr<Rerun> rerun(new Rerun(run, *backend, *std::move(plan), *std::move(bf16)));
  if (const auto sound = rerun->operators_.check(); !sound) return sound.error();
  return rerun;
}

Rerun::Rerun(const RecordedRun& run, SharedBackend backend, PlanCodings plan, PlanCodings bf16)
    : run_(&run),
      backend_(std::move(backend)),
      operators_(*backend_),
      plan_(std::move(plan)),
      bf16_(std::move(bf16)),
      parameters_(initial_parameters(operators_, run.config)) {}

Result<std::int64_t> Rerun::load(const std::filesystem::path& checkpoint, Phase phase) {
  const std::string identity =
      phase == Phase::warm_start ? warm_start_identity(run_->config) : run_identity(run_->config, *run_->plan);
  const auto state = load_checkpoint(checkpoint, operators_, parameters_, identity);
  if (!state) return state.error();
  trace_ = Trace(state->chain);
  return state->step;
}

void Rerun::begin_reinforcement() { clear_moments(operators_, parameters_); }

Result<TraceStep> Rerun::step(Phase phase, std::int64_t step, CallObserver* observer) {
  operators_.observe(observer);
  if (phase == Phase::warm_start) {
    if (!starter_) starter_.emplace(operators_, run_->config, bf16_, parameters_);
    starter_->step(step, &trace_);
  } else {
    if (!reinforcer_) reinforcer_.emplace(operators_, run_->config, plan_, parameters_);
    reinforcer_->step(step, &trace_);
  }
  operators_.observe(nullptr);
  if (const auto sound = operators_.check(); !sound) return sound.error();
  return trace_.end();
}

template <class Visit>
void Rerun::visit_tensors(Visit visit) {
  for (const Parameter& p : parameters_.all) {
    for (const Floats* tensor : {&p.weight, &p.first_moment, &p.second_moment}) visit(*tensor);
  }
}

TrainingState Rerun::state() {
  TrainingState state{{}, trace_.chain()};
  visit_tensors([&](const Floats& tensor) { state.tensors.push_back(operators_.download(tensor)); });
  return state;
}

void Rerun::set(const TrainingState& state) {
  auto next = state.tensors.begin();
  visit_tensors([&](const Floats& tensor) { operators_.copy_in<float>(tensor, *next++); });
  trace_ = Trace(state.chain);
}

}  // namespace fp4proof::training
