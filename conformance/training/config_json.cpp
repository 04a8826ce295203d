#include "conformance/training/config_json.h"

#include "conformance/corrections/plan_json.h"

namespace fp4proof::training {

namespace {

using nlohmann::json;

json model_to_json(const ModelShape& m) {
  return {{"width", m.width},
          {"layers", m.layers},
          {"heads", m.heads},
          {"head_size", m.head_size},
          {"feed_forward", m.feed_forward},
          {"experts", m.experts},
          {"vocabulary", m.vocabulary},
          {"outlier_gain", m.outlier_gain}};
}

json adam_to_json(const AdamSettings& a) {
  return {{"learning_rate", a.learning_rate},
          {"warm_up", a.warm_up},
          {"beta1", a.beta1},
          {"beta2", a.beta2},
          {"epsilon", a.epsilon},
          {"clip_norm", a.clip_norm}};
}

json warm_start_to_json(const WarmStart& w) {
  return {{"steps", w.steps}, {"batch", w.batch}, {"noise", w.noise}, {"adam", adam_to_json(w.adam)}};
}

/// Evaluations change no bit of a run.
json reinforcement_to_json(const Reinforcement& r) {
  return {{"steps", r.steps},
          {"prompts", r.prompts},
          {"group", r.group},
          {"loss", name_of(r.loss)},
          {"clip_low", r.clip_low},
          {"clip_high", r.clip_high},
          {"importance_cap", r.importance_cap},
          {"adam", adam_to_json(r.adam)}};
}

}  // namespace

json config_to_json(const Config& config) {
  return {{"task", name_of(config.task)},
          {"model", model_to_json(config.model)},
          {"warm_start", warm_start_to_json(config.warm_start)},
          {"reinforcement", reinforcement_to_json(config.reinforcement)},
          {"seed", config.seed}};
}

std::string warm_start_identity(const Config& config) {
  json identity = config_to_json(config);
  identity.erase("reinforcement");
  return identity.dump();
}

json without_words(json plan) {
  if (!plan.is_object()) return plan;
  for (const char* const words : {"name", "summary", "format"}) plan.erase(words);
  return plan;
}

std::string run_identity(const Config& config, const PrecisionPlan& plan) {
  return json{{"config", config_to_json(config)}, {"plan", without_words(plan_to_json(plan))}}.dump();
}

}  // namespace fp4proof::training
