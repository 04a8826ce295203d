// fp4proof train: a whole GRPO run, on the reference or on a backend.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "conformance/cli/common_options.h"
#include "conformance/cli/early_exit.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/run_facts.h"
#include "conformance/cli/train_options.h"
#include "conformance/cli/verbs.h"
#include "conformance/corrections/plan_lookup.h"
#include "conformance/training/load_backend.h"
#include "conformance/training/mixed_training.h"
#include "conformance/training/run.h"
#include "conformance/vectors/folder_lock.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

struct Options {
  TrainOptions train;
  std::string plan;
  std::string out;
  std::string warm_start;
  std::uint64_t seed = 1;
  std::int64_t keep_every = 0;
  bool resume = false;
};

Result<ExitCode> run(const Options& options, Session& session) {
  const auto config = config_of(options.train, options.seed);
  if (!config) return config.error();
  const auto plan = find_plan_or_file(options.plan);
  if (!plan) return plan.error();
  if (options.train.backend != "reference") EarlyExitGuard::expect_from_library();
  const auto backend = training::load_backend(options.train.backend);
  if (!backend) return backend.error();

  training::RunOptions run_options{*config, **plan, options.out, options.warm_start, options.resume};
  run_options.measure_every = options.train.measure_every;
  run_options.keep_every = options.keep_every;
  const auto library = library_facts(options.train.backend);
  if (!library) return library.error();
  const RunFacts facts{options.train, options.warm_start, *config, **plan, **backend, *library};
  const auto check = [&]() -> Result<void> {
    if (const auto fits = training::check_run(run_options); !fits) return fits;
    return options.resume ? check_facts(options.out, facts) : Result<void>();
  };
  if (const auto fits = check(); !fits) return fits.error();
  std::error_code failure;
  std::filesystem::create_directories(options.out, failure);
  if (failure) return os_error("make", options.out, failure.value());
  const auto lock = lock_folder(options.out, "run");
  if (!lock) return lock.error();
  if (const auto fits = check(); !fits) return fits.error();  // another run may have been at work there
  if (const auto clean = training::remove_stale_records(options.out); !clean) return clean.error();
  if (const auto written = write_facts(options.out, facts, options.resume); !written) return written.error();
  training::Operators operators(**backend);
  const auto steps = static_cast<std::uint64_t>(config->reinforcement.steps +
                                                (options.warm_start.empty() ? config->warm_start.steps : 0));
  Progress progress("training", steps);
  bool idle = false;
  const auto records = training::run(operators, run_options, [&](const training::RunStep& step) {
    idle = training::mixed_answered_nothing();
    if (idle) return false;
    progress.advance(1, step.phase == "reinforcement" ? fmt::format("reward {:.3f}", step.reward) : "warm start");
    return true;
  });
  if (!records) return records.error();
  if (idle) {
    return Error{ErrorKind::unsupported,
                 fmt::format("{} offers nothing of what plan {} asks, so the reference would do everything; see "
                             "'fp4proof info {}'",
                             quote(options.train.backend), quote(options.plan), options.train.backend)};
  }
  if (const std::string account = training::mixed_account(); !account.empty()) session.note(account);
  if (const auto step = records->diverged_at()) {
    session.note(
        fmt::format("the run diverged: step {} is the first in steps.csv with a number that is not finite; "
                    "choose a smaller --outlier-gain or another plan",
                    *step));
  }
  session.print_json(records->summary());
  return ExitCode::conformant;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof train --preset tiny --plan mxfp4 --out tiny-mxfp4\n"
    "  fp4proof train --preset micro --plan hif4+resq --seed 2 --out run2\n"
    "  fp4proof train --preset micro --plan hif4+resq --seed 2 --out run2 --resume      after a kill\n"
    "  fp4proof train --preset micro --plan mxfp4 --backend ./libgpu.so --out gpu\n"
    "--steps 0 makes the warm start alone. The same preset, plan and seed give the same digest on every backend. "
    "docs/training.md describes the files.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Train a small policy by reinforcement, forward and backward in a precision plan.");
  command.footer(help);
  add_train_options(command, options->train, 0);
  command.add_option("--plan", options->plan, "Named precision plan, or a plan file")
      ->required()
      ->option_text("PLAN REQUIRED");
  command.add_option("--out", options->out, "Folder of the run")->required()->option_text("DIR REQUIRED");
  command.add_option("--seed", options->seed, "Seed of every random number (default: 1)")
      ->check(decimal_number(false))
      ->option_text("S");
  command.add_option("--warm-start", options->warm_start, "Begin from the warm_start.safetensors of another run")
      ->option_text("FILE");
  command
      .add_option("--keep-every", options->keep_every,
                  "Keep the checkpoint of every Nth step; 0: of the last one (default: 0)")
      ->check(CLI::Range(std::int64_t{0}, training::most_steps))
      ->option_text("N");
  command.add_flag("--resume", options->resume, "Go on in DIR after a kill, with the same bits");
  session.add_threads_option(command);
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb train_verb{"train", add};

}  // namespace fp4proof::cli
