// fp4proof merge: the reports of all shards to the report of the whole.

#include <memory>
#include <string>
#include <vector>

#include "conformance/cli/check_options.h"
#include "conformance/cli/check_run.h"
#include "conformance/cli/check_run_paths.h"
#include "conformance/cli/verbs.h"
#include "conformance/verdict/merge.h"

namespace fp4proof::cli {

namespace {

struct Options {
  CheckOptions check;  ///< of which a merger has those that say where reports go
  std::vector<std::string> shards;
};

Result<ExitCode> merge(const Options& options, Session& session) {
  const Result<void> apart = check_report_paths(options.check, {options.shards, {}});
  if (!apart) return apart.error();
  std::vector<verdict::ShardDocument> shards;
  for (const std::string& path : options.shards) {
    Result<verdict::ShardDocument> shard = verdict::read_report(path);
    if (!shard) return shard.error();
    shards.push_back(std::move(*shard));
  }
  const Result<nlohmann::json> document = verdict::merge_shards(std::move(shards));
  if (!document) return document.error();
  return conclude_check(options.check, *document, session);
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Make the report of a whole run from the reports of its shards.");
  command.add_option("REPORT", options->shards, "The JSON reports of all shards, in any order")->required();
  add_output_options(command, options->check);
  command.footer(
      "Example:\n"
      "  fp4proof run --backend ./libkernel.so --set full --shard 1/2 --json a.json\n"
      "  fp4proof run --backend ./libkernel.so --set full --shard 2/2 --json b.json\n"
      "  fp4proof merge a.json b.json --json whole.json --report html=report.html\n"
      "Exit codes: those of run, for the whole; 2 a shard is missing, given twice, or of another run.");
  return [options, &session] { return merge(*options, session); };
}

}  // namespace

const Verb merge_verb{"merge", add};

}  // namespace fp4proof::cli
