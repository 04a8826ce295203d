// fp4proof merge-sweeps: the shards of a sweep to the whole.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "conformance/cli/sweep_table.h"
#include "conformance/cli/verbs.h"
#include "conformance/sweep/merge.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::vector<std::string> shards;
  std::string out;
  bool json = false;
};

Result<ExitCode> run(const Options& options, Session& session) {
  const std::vector<std::filesystem::path> folders(options.shards.begin(), options.shards.end());
  const Result<sweep::MergedSweep> merged = sweep::merge(folders);
  if (!merged) return merged.error();
  for (const std::string& pair : merged->differing) {
    session.complain({ErrorKind::data, fmt::format("{} are the same run with different results", pair)});
  }
  if (!merged->differing.empty()) return ExitCode::nondeterministic;
  if (const auto written = sweep::write_merged(options.out, *merged); !written) return written.error();
  if (options.json) {
    session.print_json(sweep::sweep_document(merged->sweep, "1/1", merged->outcomes));
  } else {
    session.print(sweep_table(sweep::summary_of(merged->sweep, merged->outcomes)));
  }
  for (const std::string& note : divergence_notes(merged->outcomes)) session.note(note);
  ExitCode code = ExitCode::conformant;
  for (const sweep::Outcome& outcome : merged->outcomes) {
    if (outcome.state == sweep::RunState::done) continue;
    session.complain({ErrorKind::data, fmt::format("run {} ({}) is missing", outcome.run.index, outcome.run.folder)});
    code = ExitCode::incomplete;
  }
  return code;
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Make the folder of a whole sweep from those of its shards.");
  command.add_option("DIR", options->shards, "The folders of the shards, in any order")->required();
  command.add_option("--out", options->out, "New folder, with the records of every run, not its weights")
      ->required()
      ->option_text("DIR REQUIRED");
  command.add_flag("--json", options->json, "Print the sweep as JSON in place of the table");
  command.footer(
      "Example:\n"
      "  fp4proof sweep --preset micro --plans bf16,mxfp4 --seeds 1-3 --shard 1/2 --out a\n"
      "  fp4proof sweep --preset micro --plans bf16,mxfp4 --seeds 1-3 --shard 2/2 --out b\n"
      "  fp4proof merge-sweeps a b --out whole\n"
      "Exit codes: 5 where runs are missing, 7 where two folders hold the same run with different results.");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb merge_sweeps_verb{"merge-sweeps", add};

}  // namespace fp4proof::cli
