#include <fmt/format.h>

#include <memory>
#include <string>

#include "conformance/cli/progress.h"
#include "conformance/cli/verb.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/generate_set.h"
#include "conformance/vectors/counted.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string set;
  std::string folder;
  std::string shard = "1/1";
  std::string profile;
  std::string operation;
  bool inputs_only = false;
  bool force = false;
};

Result<suite::GenerateRequest> request_of(const Options& options) {
  suite::GenerateRequest request;
  request.set = suite::find_set(options.set);
  request.folder = options.folder;
  request.tool_version = tool_version;
  request.inputs_only = options.inputs_only;
  request.force = options.force;
  const std::optional<suite::Shard> shard = suite::parse_shard(options.shard);
  if (!shard) {
    return Error{ErrorKind::usage,
                 fmt::format("--shard {}: must be I/N with 1 <= I <= N, for example 2/8", options.shard)};
  }
  request.shard = *shard;
  request.operation = suite::operation_named(options.operation);
  if (!options.profile.empty()) {
    const Result<SharedProfile> profile = find_profile_or_file(options.profile);
    if (!profile) return profile.error();
    request.profile = *profile;
  }
  return request;
}

Result<ExitCode> generate(const Options& options, Session& session) {
  Result<suite::GenerateRequest> request = request_of(options);
  if (!request) return request.error();
  std::optional<Progress> progress;
  request->progress = [&](std::size_t total) {
    if (!progress) progress.emplace("generating", total);
    progress->advance(1);
  };
  const Result<suite::VectorSet> set = suite::generate_set(*request);
  progress.reset();
  if (!set) return set.error();
  std::uint64_t bytes = 0;
  std::uint64_t cases = 0;
  for (const auto& [name, record] : set->manifest.files) bytes += record.bytes;
  for (const suite::TableEntry& table : set->tables) cases += table.cases;
  session.print(fmt::format("{}: {} in {}, {}\n", options.folder, counted(cases, "case"),
                            counted(set->tables.size(), "file"), counted(bytes, "byte")));
  return ExitCode::conformant;
}

template <class Names>
std::vector<std::string> texts(const Names& names) {
  return {names.begin(), names.end()};
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Write a set of test vectors.");
  std::vector<std::string> set_names;
  for (const suite::SetPlan& set : suite::sets()) set_names.emplace_back(set.name);
  command.add_option("--set", options->set, "Which set")->required()->check(CLI::IsMember(set_names));
  command.add_option("--out", options->folder, "The folder to make; it appears complete or not at all")
      ->required()
      ->option_text("DIR");
  command.add_flag("--inputs-only", options->inputs_only, "Leave the expected outputs out");
  command.add_option("--shard", options->shard, "Only part I of N; the parts together are the whole set")
      ->option_text("I/N");
  command.add_option("--profile", options->profile, "Only the cases of this profile")->option_text("P");
  command.add_option("--op", options->operation, "Only the cases of this operation")
      ->check(CLI::IsMember(texts(suite::operation_names)));
  command.add_flag("--force", options->force, "Replace the set that DIR holds");
  session.add_threads_option(command);
  command.footer(
      "Example:\n"
      "  fp4proof generate --set quick --out questions --inputs-only --profile hif4/gcc\n"
      "  ... your kernel reads questions/ and writes actual.safetensors ...\n"
      "  fp4proof verify questions --actual actual.safetensors");
  return [options, &session] { return generate(*options, session); };
}

}  // namespace

const Verb generate_verb{"generate", add};

}  // namespace fp4proof::cli
