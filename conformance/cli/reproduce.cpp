// fp4proof reproduce: published figures, measured again.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "conformance/cli/common_options.h"
#include "conformance/cli/reproduce_figures.h"
#include "conformance/cli/verb.h"
#include "conformance/cli/verbs.h"

namespace fp4proof::cli {

namespace {

constexpr const char* figure3 = "hif4-figure-3";
constexpr const char* corrections = "corrections";
constexpr const char* training = "training";

Error misplaced(const char* option, const char* figures) {
  return {ErrorKind::usage, fmt::format("{} belongs to {}; remove it", option, figures)};
}

Result<ExitCode> run(const ReproduceOptions& options, Session& session) {
  if (options.figure == training) {
    if (options.seed) return misplaced("--seed", "the figures hif4-figure-3 and corrections");
    if (!options.svg.empty() && std::filesystem::path(options.svg).lexically_normal() ==
                                    std::filesystem::path(options.markdown).lexically_normal()) {
      return Error{ErrorKind::usage, "--svg and --markdown name one file; name two"};
    }
    return reproduce_training(options, session);
  }
  if (!options.runs.empty()) return misplaced("--runs", "the figure training");
  if (options.figure == figure3) {
    if (!options.markdown.empty()) return misplaced("--markdown", "the figures corrections and training");
    return reproduce_hif4_figure3(options, session);
  }
  if (!options.svg.empty()) return misplaced("--svg", "the figures hif4-figure-3 and training");
  return reproduce_corrections(options, session);
}

constexpr const char* help =
    "Figures:\n"
    "  hif4-figure-3  error of HiF4, NVFP4 and MXFP4 on Gaussian matrices\n"
    "  corrections    every published figure on error decomposition and corrections\n"
    "  training       what papers say of reinforcement learning in four bits, asked of the runs of a sweep\n"
    "Examples:\n"
    "  fp4proof reproduce hif4-figure-3 --svg figure3.svg\n"
    "  fp4proof reproduce corrections --markdown figures.md\n"
    "  fp4proof reproduce training --runs sweep --markdown results.md --svg rewards.svg";

Action add(CLI::App& command, Session& session) {
  command.description(
      "Reproduce a published figure and check it against its bounds.\n"
      "Exit code 0: every bound holds; 1: one does not. Of training no claim is judged by the exit code.");
  auto options = std::make_shared<ReproduceOptions>();
  command.add_option("FIGURE", options->figure, "Which figure")
      ->required()
      ->check(CLI::IsMember({figure3, corrections, training}))
      ->option_text("REQUIRED");
  command.add_option("--svg", options->svg, "hif4-figure-3, training: write the chart to this file")
      ->option_text("FILE");
  command.add_option("--markdown", options->markdown, "corrections, training: write the tables as a page to this file")
      ->option_text("FILE");
  command.add_option("--runs", options->runs, "training: folders of runs or sweeps")->option_text("DIR...");
  command.add_option("--seed", options->seed, "hif4-figure-3, corrections: Philox seed of the matrices (default: 1)")
      ->check(decimal_number(false))
      ->option_text("S");
  command.add_flag("--json", options->json, "Print the numbers as JSON");
  session.add_threads_option(command);
  command.footer(help);
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb reproduce_verb{"reproduce", add};

}  // namespace fp4proof::cli
