// fp4proof compare-training: where two training runs part.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "conformance/cli/early_exit.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/run_files.h"
#include "conformance/cli/verbs.h"
#include "conformance/divergence/divergence.h"
#include "conformance/divergence/divergence_report.h"
#include "conformance/vectors/atomic_file.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string a, b;
  std::string backend_a, backend_b;
  std::string json;
};

ExitCode code_of(const training::RecordedRun& a, const training::RecordedRun& b,
                 const training::Divergence& divergence) {
  if (divergence.not_reproduced) return ExitCode::nondeterministic;
  if (divergence.step) return ExitCode::mismatch;
  const auto is_whole = [](const training::RecordedRun& run) {
    return static_cast<std::int64_t>(run.trace.steps.size()) == run.config.reinforcement.steps;
  };
  const bool complete = a.trace.steps.size() == b.trace.steps.size() && !a.trace.steps.empty();
  return complete && is_whole(a) && is_whole(b) ? ExitCode::conformant : ExitCode::incomplete;
}

Result<training::Divergence> search(const training::RecordedRun& a, const training::RecordedRun& b) {
  std::unique_ptr<Progress> progress;
  std::int64_t ahead = 0;
  return training::find_divergence(a, b, [&](std::string_view what, std::int64_t steps_ahead) {
    if (steps_ahead >= ahead || !progress) {
      progress = std::make_unique<Progress>("comparing", static_cast<std::uint64_t>(steps_ahead));
    } else {
      progress->advance(1, what);
    }
    ahead = steps_ahead;
  });
}

Result<ExitCode> compare_training(const Options& options, Session& session) {
  const auto a = training::read_run(options.a, options.backend_a);
  if (!a) return a.error();
  const auto b = training::read_run(options.b, options.backend_b);
  if (!b) return b.error();
  if (const std::string difference = training::difference_of(*a, *b); !difference.empty()) {
    return Error{ErrorKind::usage, fmt::format("the runs were asked for different things, so every bit may differ: {}; "
                                               "compare runs of one preset, plan and seed",
                                               difference)};
  }
  std::optional<AtomicFile> file;
  if (!options.json.empty() && options.json != "-") {
    for (const std::string& folder : {options.a, options.b}) {
      if (const auto apart = refuse_run_file(folder, options.json); !apart) return apart.error();
    }
    auto created = AtomicFile::create(options.json);  // before the search, which can take hours
    if (!created) return created.error();
    file = *std::move(created);
  }
  EarlyExitGuard::expect_from_library();
  const auto divergence = search(*a, *b);
  if (!divergence) return divergence.error();
  const nlohmann::json report = training::divergence_json(*a, *b, *divergence);
  if (options.json == "-") {
    session.print_json(report);
  } else {
    session.print(training::divergence_text(*a, *b, *divergence));
    if (file) {
      if (const auto done = file->append(bytes_of(report.dump(2) + "\n")); !done) return done.error();
      if (const auto done = file->commit(); !done) return done.error();
    }
  }
  return code_of(*a, *b, *divergence);
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof train --preset tiny --plan mxfp4 --out ours\n"
    "  fp4proof train --preset tiny --plan mxfp4 --backend ./libkernels.so --out theirs\n"
    "  fp4proof compare-training ours theirs\n"
    "A and B are folders of 'fp4proof train' with one preset, plan and seed. Where their digests differ, the first\n"
    "differing step is made again on both backends with every operator call traced: the report names the step, the\n"
    "call, the tensor and the element with both bit patterns, and replays that element. Exit code 0: equal, 1: they\n"
    "differ, 5: equal as far as both go, but one has not ended, 7: a rerun does not give what its run recorded.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Find where two training runs part: step, operator, tensor, element.");
  command.footer(help);
  command.add_option("A", options->a, "The one run, a folder")->required()->type_name("DIR");
  command.add_option("B", options->b, "The other run, a folder")->required()->type_name("DIR");
  command.add_option("--backend-a", options->backend_a, "Backend of A, in place of the one in run.json")
      ->option_text("B");
  command.add_option("--backend-b", options->backend_b, "Backend of B, likewise")->option_text("B");
  command.add_option("--json", options->json, "Write the report as JSON; `-`: print it in place of the text")
      ->option_text("FILE");
  session.add_threads_option(command);
  return [options, &session] { return compare_training(*options, session); };
}

}  // namespace

const Verb compare_training_verb{"compare-training", add};

}  // namespace fp4proof::cli
