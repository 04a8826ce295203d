// The digest of one training run, for builds that do not have the command:
//
//     determinism_training PRESET PLAN FOLDER [STEPS [WARM_START]]
//
// as `fp4proof train --preset PRESET --plan PLAN --out FOLDER --steps STEPS --warm-start WARM_START`. compare_builds
// does not run it: a preset that is worth it takes minutes.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/training/reference_training.h"
#include "conformance/training/run.h"
#include "formats/spec_plans.h"

namespace fp4proof::training {
namespace {

Result<std::string> digest_of_run(int count, char** words) {
  if (count < 4 || count > 6) return Error{ErrorKind::usage, "PRESET PLAN FOLDER [STEPS [WARM_START]]"};
  const Config* const preset = find_preset(words[1]);
  if (preset == nullptr) return Error{ErrorKind::usage, std::string("no preset ") + words[1]};
  const PrecisionPlan* const plan = find_precision_plan(words[2]);
  if (plan == nullptr) return Error{ErrorKind::usage, std::string("no plan ") + words[2]};
  RunOptions options{*preset, *plan, words[3], count > 5 ? words[5] : ""};
  if (count > 4) options.config.reinforcement.steps = std::atoll(words[4]);
  if (options.config.reinforcement.steps < 1) return Error{ErrorKind::usage, "steps start at 1"};
  Operators operators(*reference_training());
  const Result<Records> records = run(operators, options);
  if (!records) return records.error();
  return records->summary().at("digest").get<std::string>();
}

}  // namespace
}  // namespace fp4proof::training

int main(int count, char** words) {
  const auto digest = fp4proof::training::digest_of_run(count, words);
  if (!digest) {
    std::fprintf(stderr, "determinism_training: %s\n", digest.error().message.c_str());
    return 1;
  }
  std::printf("%s %s %s\n", words[1], words[2], digest->c_str());
}
