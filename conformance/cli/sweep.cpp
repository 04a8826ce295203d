// fp4proof sweep: plans x seeds, each run a process of its own.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/sweep_request.h"
#include "conformance/cli/sweep_run.h"
#include "conformance/cli/sweep_table.h"
#include "conformance/cli/verbs.h"
#include "conformance/sweep/sweep_folder.h"
#include "conformance/vectors/folder_lock.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

Result<ExitCode> report(const SweepOptions& options, const SweepRequest& request,
                        const std::vector<sweep::Outcome>& outcomes, Session& session) {
  if (options.json) {
    session.print_json(sweep::sweep_document(request.sweep, options.shard, outcomes));
  } else {
    session.print(sweep_table(sweep::summary_of(request.sweep, outcomes)));
  }
  for (const std::string& note : divergence_notes(outcomes)) session.note(note);
  ExitCode code = ExitCode::conformant;
  for (const sweep::Outcome& outcome : outcomes) {
    if (outcome.state == sweep::RunState::done) continue;
    session.complain({ErrorKind::data,
                      fmt::format("run {} ({}) failed: {}", outcome.run.index, outcome.run.folder, outcome.failure)});
    code = ExitCode::incomplete;
  }
  return code;
}

Result<ExitCode> run(const SweepOptions& options, Session& session) {
  const Result<SweepRequest> request = request_of(options);
  if (!request) return request.error();
  if (const auto fits = sweep::check_folder(options.out, request->sweep); !fits) return fits.error();
  if (options.dry_run) {
    const auto outcomes = sweep::read_outcomes(options.out, request->runs);
    if (!outcomes) return outcomes.error();
    if (options.json) {
      session.print_json(sweep::sweep_document(request->sweep, options.shard, *outcomes));
    } else {
      session.print(run_list(*outcomes));
    }
    return ExitCode::conformant;
  }
  std::error_code failure;
  std::filesystem::create_directories(options.out, failure);
  if (failure) return os_error("make", options.out, failure.value());
  const auto lock = lock_folder(options.out, "sweep");
  if (!lock) return lock.error();
  auto outcomes = sweep::read_outcomes(options.out, request->runs);
  if (!outcomes) return outcomes.error();
  if (const auto made = make_pending_runs(options, *request, *outcomes); !made) return made.error();
  return report(options, *request, *outcomes, session);
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof sweep --preset micro --plans bf16,mxfp4,hif4,hif4+resq --seeds 1-3 --out sweep\n"
    "  fp4proof sweep --preset micro --seeds 1-3 --out sweep --dry-run          which runs there are\n"
    "  fp4proof sweep --preset micro --seeds 1-3 --out part2 --shard 2/8        then 'fp4proof merge-sweeps'\n"
    "The same command again goes on where a killed one was. Every run is a process and gets a folder SEED-PLAN;\n"
    "sweep.json and sweep.csv sum them up (docs/training.md). Exit codes: 5 where a run failed, whose name is told.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<SweepOptions>();
  command.description("Train every plan with every seed, side by side, and sum the runs up.");
  command.footer(help);
  add_train_options(command, options->train, 1);
  add_list_option(command, "--plans", options->plans, "Named plans and plan files, or `all` (default: all)")
      ->option_text("PLAN,PLAN,...");
  add_list_option(command, "--seeds", options->seeds, "Seeds and ranges of seeds (default: 1)")
      ->option_text("S,S-S,...");
  command.add_option("--out", options->out, "Folder of the sweep")->required()->option_text("DIR REQUIRED");
  command.add_option("--shard", options->shard, "The I-th of N parts of the runs (default: 1/1)")->option_text("I/N");
  const CLI::Range counts(1, 4096);
  command.add_option("--jobs", options->jobs, "Runs side by side (default: cores / threads of a run)")
      ->check(decimal_number(false))
      ->check(counts)
      ->option_text("N");
  command.add_option("--threads-per-run", options->threads, "Threads of each run (default: 1)")
      ->check(decimal_number(false))
      ->check(counts)
      ->option_text("N");
  command.add_flag("--dry-run", options->dry_run, "List the runs and where they stand, and make none");
  command.add_flag("--json", options->json, "Print sweep.json in place of a table");
  return [options, &session] {
    if (options->jobs == 0) {
      options->jobs = std::max<std::size_t>(1, std::thread::hardware_concurrency() / options->threads);
    }
    return run(*options, session);
  };
}

}  // namespace

const Verb sweep_verb{"sweep", add};

}  // namespace fp4proof::cli
