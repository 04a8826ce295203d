#include "conformance/sweep/sweep_folder.h"

#include <fmt/format.h>

#include "conformance/sweep/run_result.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::sweep {

namespace {

constexpr const char* json_file = "sweep.json";
constexpr const char* csv_file = "sweep.csv";

}  // namespace

Result<Sweep> read_sweep(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / json_file;
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const auto value = parse_strict_json(text_of(file->bytes()), quote_path(path), 8);
  if (!value) return value.error();
  return sweep_from_json(*value, quote_path(path));
}

Result<void> check_folder(const std::filesystem::path& folder, const Sweep& sweep) {
  if (is_absent(folder / json_file)) return {};
  const Result<Sweep> other = read_sweep(folder);
  if (!other) return other.error();
  const nlohmann::json differences = nlohmann::json::diff(other->settings, sweep.settings);
  if (differences.empty()) return {};
  return Error{ErrorKind::usage, fmt::format("{} holds a sweep that differs in {}; choose another folder",
                                             quote_path(folder), differences[0].at("path").get<std::string>())};
}

Result<std::vector<Outcome>> read_outcomes(const std::filesystem::path& folder, const std::vector<SweepRun>& runs) {
  std::vector<Outcome> outcomes;
  for (const SweepRun& run : runs) {
    auto result = read_run(folder / run.folder, run);
    if (!result) return result.error();
    const RunState state = result->is_null() ? RunState::pending : RunState::done;
    outcomes.push_back({run, state, *std::move(result), {}});
  }
  return outcomes;
}

Result<void> write_sweep(const std::filesystem::path& folder, const Sweep& sweep, const std::string& shard,
                         std::span<const Outcome> outcomes) {
  const auto replace = nlohmann::json::error_handler_t::replace;  // a failure quotes what a run has said
  const std::string text = sweep_document(sweep, shard, outcomes).dump(2, ' ', false, replace) + "\n";
  if (const Result<void> done = write_file(folder / json_file, bytes_of(text)); !done) return done;
  return write_file(folder / csv_file, bytes_of(sweep_csv(outcomes)));
}

}  // namespace fp4proof::sweep
