#pragma once
// What a sweep is: every plan with every seed, all else equal.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/result.h"

namespace fp4proof::sweep {

inline constexpr const char* sweep_format = "fp4proof-sweep/1";

/// A sweep has at most so many runs.
inline constexpr std::size_t most_runs = 16384;

struct Sweep {
  /// What all runs have in common: `tool_version`, `preset`, `backend` as the user named it, `measure_every`, `config`
  /// as training::config_to_json() but without the seed.
  nlohmann::json settings;
  std::vector<std::uint64_t> seeds;
  nlohmann::json plans = nlohmann::json::array();  ///< each as plan_to_json(); their names differ

  bool operator==(const Sweep&) const = default;
  std::int64_t steps() const { return settings.at("config").at("reinforcement").at("steps"); }
};

/// One of its runs.
struct SweepRun {
  std::size_t index = 0;  ///< counted from 1, seed by seed
  std::uint64_t seed = 0;
  std::string plan;
  std::string folder;    ///< its name inside the folder of the sweep: SEED-PLAN, with @ for /
  nlohmann::json facts;  ///< what its run.json must hold
  bool on_reference = true;
};

std::vector<SweepRun> runs_of(const Sweep& sweep);

/// The warm start of a seed, which the runs of that seed share: a run of no steps.
SweepRun warm_start_of(const Sweep& sweep, std::uint64_t seed);

/// The fields `format`, `settings`, `seeds` and `plans` of sweep.json, and back. A `corrupt` error starts with `label`.
nlohmann::json to_json(const Sweep& sweep);
Result<Sweep> sweep_from_json(const nlohmann::json& value, const std::string& label);

}  // namespace fp4proof::sweep
