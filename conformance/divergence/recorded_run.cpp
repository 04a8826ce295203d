#include "conformance/divergence/recorded_run.h"

#include <fmt/format.h>

#include <optional>

#include "conformance/corrections/plan_lookup.h"
#include "conformance/training/config_json.h"
#include "conformance/training/record_files.h"
#include "conformance/training/text_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::training {

namespace {

using nlohmann::json;

constexpr std::size_t deepest_nesting = 16;

template <class T>
std::optional<T> value_at(const json& object, const char* pointer) {
  const json::json_pointer place(pointer);
  if (!object.contains(place)) return std::nullopt;
  const json& value = object.at(place);
  if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (!value.is_number_unsigned()) return std::nullopt;
  } else {
    if (!value.is_number()) return std::nullopt;
  }
  return value.get<T>();
}

/// The preset with what an option can change. Whether it is the whole configuration is for the caller to check.
std::optional<Config> changed_preset(const json& facts) {
  const auto name = value_at<std::string>(facts, "/preset");
  const auto seed = value_at<std::uint64_t>(facts, "/config/seed");
  const auto steps = value_at<std::uint64_t>(facts, "/config/reinforcement/steps");
  const auto loss = value_at<std::string>(facts, "/config/reinforcement/loss");
  const auto gain = value_at<float>(facts, "/config/model/outlier_gain");
  const Config* const preset = name ? find_preset(*name) : nullptr;
  if (preset == nullptr || !seed || !steps || *steps > most_steps || !loss || !gain) return std::nullopt;
  Config config = *preset;
  config.seed = *seed;
  config.reinforcement.steps = static_cast<std::int64_t>(*steps);
  config.model.outlier_gain = *gain;
  config.reinforcement.loss = find_loss(*loss).value_or(preset->reinforcement.loss);
  return config;
}

/// The first place where two JSON values differ, with both values.
std::string first_difference(const json& a, const json& b) {
  const json changes = json::diff(a, b);
  if (changes.empty()) return {};
  const std::string place = changes.front().value("path", "");
  const json::json_pointer pointer(place);
  const auto text = [&](const json& side) { return side.contains(pointer) ? side.at(pointer).dump() : "missing"; };
  return fmt::format("{} is {} in A and {} in B", place, text(a), text(b));
}

Result<Config> config_of(const json& facts, const std::string& label) {
  const std::optional<Config> config = changed_preset(facts);
  if (!config) return Error{ErrorKind::corrupt, fmt::format("{} has no preset and configuration of a run", label)};
  const json known = config_to_json(*config);
  const json& stored = facts.at("config");
  if (stored == known) return *config;
  return Error{ErrorKind::usage, fmt::format("{} is of another version of fp4proof, whose preset {} was another one; "
                                             "train again",
                                             label, config->preset)};
}

Result<SharedPlan> plan_of(const json& facts, const std::string& label) {
  const auto name = value_at<std::string>(facts, "/plan/name");
  if (!name) return Error{ErrorKind::corrupt, fmt::format("{} has no plan", label)};
  const Result<SharedPlan> named = named_plan(*name);
  if (!named) return plan_from_json(facts.at("plan"), label);
  if (plan_to_json(**named) == facts.at("plan")) return named;
  return Error{ErrorKind::usage,
               fmt::format("{} is of another version of fp4proof, whose plan {} was another one; train again", label,
                           quote(*name))};
}

Result<std::string> backend_of(const json& facts, const std::string& label) {
  if (const auto library = value_at<std::string>(facts, "/backend/library")) return *library;
  return Error{ErrorKind::usage, fmt::format("{} does not say which backend the run had; name it as --backend-a or "
                                             "--backend-b",
                                             label)};
}

}  // namespace

Result<RecordedRun> read_run(const std::filesystem::path& folder, const std::string& backend) {
  const std::filesystem::path path = folder / run_file;
  const std::string label = quote_path(path);
  const auto text = content_of(path);
  if (!text) return Error{ErrorKind::io, fmt::format("cannot read {}; name a folder of 'fp4proof train'", label)};
  const Result<json> facts = parse_strict_json(*text, label, deepest_nesting);
  if (!facts) return facts.error();
  if (value_at<std::string>(*facts, "/format") != run_format) {
    return Error{ErrorKind::corrupt, fmt::format("{} is no {}", label, run_format)};
  }
  const Result<Config> config = config_of(*facts, label);
  if (!config) return config.error();
  const Result<SharedPlan> plan = plan_of(*facts, label);
  if (!plan) return plan.error();
  const Result<std::string> library = backend.empty() ? backend_of(*facts, label) : Result<std::string>(backend);
  if (!library) return library.error();
  Result<TraceFile> trace = read_trace(folder / trace_file);
  if (!trace) return trace.error();
  return RecordedRun{
      folder, *config, *plan, *library, value_at<std::string>(*facts, "/warm_start").value_or(""), *std::move(trace)};
}

std::string difference_of(const RecordedRun& a, const RecordedRun& b) {
  const auto identity = [](const RecordedRun& run) {
    Config config = run.config;
    if (!run.plan->noise.on) config.reinforcement.steps = 0;
    return json::parse(run_identity(config, *run.plan));
  };
  return first_difference(identity(a), identity(b));
}

}  // namespace fp4proof::training
