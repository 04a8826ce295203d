#include "conformance/cli/sweep_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "conformance/cli/version.h"
#include "conformance/corrections/plan_json.h"
#include "conformance/corrections/plan_lookup.h"
#include "conformance/suite/generate_set.h"
#include "conformance/training/config_json.h"
#include "conformance/training/run.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

/// "7" or "1-3".
Result<void> add_seeds(const std::string& item, std::vector<std::uint64_t>& seeds) {
  const Error unreadable{ErrorKind::usage,
                         fmt::format("--seeds: {} is no seed and no range; write 1,2,7 or 1-3", quote(item))};
  std::uint64_t first = 0;
  const char* const end = item.data() + item.size();
  auto read = std::from_chars(item.data(), end, first);
  if (read.ec != std::errc()) return unreadable;
  std::uint64_t last = first;
  if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
  if (read.ec != std::errc() || read.ptr != end || last < first) return unreadable;
  if (last - first >= sweep::most_runs) {
    return Error{ErrorKind::usage, fmt::format("--seeds: {} are more than {}", quote(item), sweep::most_runs)};
  }
  for (std::uint64_t i = 0; i <= last - first; ++i) {
    if (std::find(seeds.begin(), seeds.end(), first + i) != seeds.end()) {
      return Error{ErrorKind::usage, fmt::format("seed {} is given twice; keep one", first + i)};
    }
    seeds.push_back(first + i);
  }
  return {};
}

std::vector<std::string> plan_words(const SweepOptions& options) {
  if (options.plans != std::vector<std::string>{"all"}) return options.plans;
  std::vector<std::string> names;
  for (const PrecisionPlan& plan : precision_plans()) names.emplace_back(plan.name);
  return names;
}

Result<void> add_plan(const std::string& word, const training::Config& config, const std::filesystem::path& folder,
                      SweepRequest& request) {
  const Result<SharedPlan> plan = find_plan_or_file(word);
  if (!plan) return plan.error();
  if (!request.plan_words.emplace((*plan)->name, word).second) {
    return Error{ErrorKind::usage, fmt::format("plan {} is given twice; keep one", quote((*plan)->name))};
  }
  request.sweep.plans.push_back(plan_to_json(**plan));
  return training::check_run({config, **plan, folder, {}, true});
}

/// Neighbours in the order of seeds, so that a shard needs few warm starts.
Result<std::vector<sweep::SweepRun>> runs_of_shard(const sweep::Sweep& sweep, const std::string& text) {
  const auto shard = suite::parse_shard(text);
  if (!shard) return Error{ErrorKind::usage, fmt::format("--shard: {} is not I/N with 1 <= I <= N", quote(text))};
  std::vector<sweep::SweepRun> runs = sweep::runs_of(sweep);
  const std::size_t all = runs.size();
  if (shard->count > all) {
    return Error{ErrorKind::usage, fmt::format("--shard: {} runs make no {} shards", all, shard->count)};
  }
  std::erase_if(runs,
                [&](const sweep::SweepRun& run) { return (run.index - 1) * shard->count / all != shard->index - 1; });
  return runs;
}

}  // namespace

Result<SweepRequest> request_of(const SweepOptions& options) {
  const auto config = config_of(options.train, 0);
  if (!config) return config.error();
  SweepRequest request;
  request.sweep.settings = {{"tool_version", tool_version},
                            {"preset", options.train.preset},
                            {"backend", options.train.backend},
                            {"measure_every", options.train.measure_every},
                            {"config", training::config_to_json(*config)}};
  request.sweep.settings["config"].erase("seed");
  for (const std::string& item : options.seeds) {
    if (const Result<void> added = add_seeds(item, request.sweep.seeds); !added) return added.error();
  }
  for (const std::string& word : plan_words(options)) {
    if (const auto added = add_plan(word, *config, options.out, request); !added) return added.error();
  }
  if (request.sweep.plans.size() > sweep::most_runs / request.sweep.seeds.size()) {
    return Error{ErrorKind::usage, fmt::format("these are more than {} runs; name fewer seeds", sweep::most_runs)};
  }
  auto runs = runs_of_shard(request.sweep, options.shard);
  if (!runs) return runs.error();
  request.runs = *std::move(runs);
  return request;
}

}  // namespace fp4proof::cli
