#include "conformance/training_report/equal_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "conformance/training/record_files.h"
#include "conformance/training/trace_file.h"
#include "conformance/training_report/run_groups.h"

namespace fp4proof::training_report {

namespace {

using training::TraceFile;

Result<TraceFile> trace_of(const TrainingRun& run) {
  auto trace = training::read_trace(run.path / training::trace_file);
  if (trace) return trace;
  return Error{trace.error().kind, trace.error().message + "; train the run again, or leave it out"};
}

/// Empty where the traces do not differ.
std::string difference_of(const TraceFile& a, const TraceFile& b) {
  if (a.warm_start != b.warm_start) return "the warm start";
  for (std::size_t i = 0; i < std::min(a.steps.size(), b.steps.size()); ++i) {
    if (a.steps[i].chain == b.steps[i].chain) continue;
    const std::string tensor = training::first_differing_tensor(a.steps[i], b.steps[i]);
    return fmt::format("step {}, {}", a.steps[i].step, tensor.empty() ? "the tensors traced" : tensor);
  }
  return {};
}

Result<std::string> first_difference(const TrainingRun& a, const TrainingRun& b) {
  const auto trace_a = trace_of(a);
  if (!trace_a) return trace_a.error();
  const auto trace_b = trace_of(b);
  if (!trace_b) return trace_b.error();
  return difference_of(*trace_a, *trace_b);
}

}  // namespace

Result<std::vector<EqualRuns>> compare_equal_runs(std::span<const TrainingRun> runs) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<const TrainingRun*>> same;
  for (const TrainingRun& run : runs) {
    if (run.summary) same[{identity_of(run), run.seed}].push_back(&run);
  }
  std::vector<EqualRuns> result;
  for (auto& [key, equal] : same) {
    if (equal.size() < 2) continue;
    EqualRuns entry{std::move(equal), nullptr, {}};
    const TrainingRun& first = *entry.runs.front();
    const auto differing = std::ranges::find_if(
        entry.runs, [&](const TrainingRun* run) { return run->summary->digest != first.summary->digest; });
    if (differing != entry.runs.end()) {
      auto where = first_difference(first, **differing);
      if (!where) return where.error();
      entry.differing = *differing;
      entry.where = where->empty() ? "nothing that their traces hold" : *std::move(where);
    }
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace fp4proof::training_report
