#include "conformance/sweep/merge.h"

#include <fmt/format.h>

#include <system_error>

#include "conformance/sweep/sweep_folder.h"
#include "conformance/vectors/folder_entries.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/pending_folder.h"

namespace fp4proof::sweep {

namespace fs = std::filesystem;

namespace {

Result<void> check_same(const Sweep& first, const Sweep& other, const fs::path& first_folder, const fs::path& folder) {
  const nlohmann::json differences = nlohmann::json::diff(to_json(first), to_json(other));
  if (differences.empty()) return {};
  return Error{ErrorKind::usage,
               fmt::format("{} and {} are no shards of one sweep: they differ in {}", quote_path(first_folder),
                           quote_path(folder), differences[0].at("path").get<std::string>())};
}

void take(MergedSweep& merged, const std::vector<Outcome>& outcomes, const fs::path& folder) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    Outcome& known = merged.outcomes[i];
    if (outcomes[i].state != RunState::done) continue;
    if (known.state != RunState::done) {
      known = outcomes[i];
      merged.folders[i] = folder / known.run.folder;
    } else if (known.result != outcomes[i].result) {
      merged.differing.push_back(
          fmt::format("{} and {}", quote_path(merged.folders[i]), quote_path(folder / known.run.folder)));
    }
  }
}

Result<void> copy_records(const fs::path& from, const fs::path& to) {
  const auto entries = folder_entries(from);
  if (!entries) return entries.error();
  std::error_code failure;
  fs::create_directory(to, failure);
  for (const fs::directory_entry& entry : *entries) {
    if (failure) break;
    const fs::path extension = entry.path().extension();
    const bool is_record = entry.symlink_status(failure).type() == fs::file_type::regular;
    if (failure || !is_record || (extension != ".json" && extension != ".csv")) continue;
    fs::copy_file(entry.path(), to / entry.path().filename(), failure);
  }
  if (!failure) return {};
  return Error{ErrorKind::io, fmt::format("cannot copy the records of {}: {}", quote_path(from), failure.message())};
}

}  // namespace

Result<MergedSweep> merge(std::span<const fs::path> shards) {
  MergedSweep merged;
  for (const fs::path& folder : shards) {
    const Result<Sweep> sweep = read_sweep(folder);
    if (!sweep) return sweep.error();
    if (merged.outcomes.empty()) {
      merged.sweep = *sweep;
      for (SweepRun& run : runs_of(*sweep)) merged.outcomes.push_back({std::move(run), {}, {}, {}});
      merged.folders.resize(merged.outcomes.size());
    }
    if (const auto same = check_same(merged.sweep, *sweep, shards.front(), folder); !same) return same.error();
    const auto outcomes = read_outcomes(folder, runs_of(*sweep));
    if (!outcomes) return outcomes.error();
    take(merged, *outcomes, folder);
  }
  return merged;
}

Result<void> write_merged(const fs::path& folder, const MergedSweep& merged) {
  if (const Result<void> free = check_new_folder(folder); !free) return free;
  Result<PendingFolder> pending = PendingFolder::create(folder);
  if (!pending) return pending.error();
  for (std::size_t i = 0; i < merged.outcomes.size(); ++i) {
    if (merged.outcomes[i].state != RunState::done) continue;
    const auto copied = copy_records(merged.folders[i], pending->path() / merged.outcomes[i].run.folder);
    if (!copied) return copied;
  }
  if (const auto written = write_sweep(pending->path(), merged.sweep, "1/1", merged.outcomes); !written) return written;
  return pending->commit(false);
}

}  // namespace fp4proof::sweep
