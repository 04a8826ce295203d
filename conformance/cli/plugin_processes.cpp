// The processes that `fp4proof run` starts: the program itself. Not for people.

#include <memory>
#include <string>

#include "conformance/cli/early_exit.h"
#include "conformance/cli/verbs.h"
#include "conformance/runners/guardian.h"
#include "conformance/runners/plugin_host.h"
#include "conformance/runners/process_host.h"

namespace fp4proof::cli {

namespace {

Action add_guardian(CLI::App& command, Session&) {
  auto verb = std::make_shared<std::string>();
  auto argument = std::make_shared<std::string>();
  command.description("Started by 'fp4proof run'.")->group("");
  command.add_option("VERB", *verb)->required();
  command.add_option("ARGUMENT", *argument)->required();
  return [verb, argument]() -> Result<ExitCode> {
    EarlyExitGuard::dismiss();
    runners::guard(*verb, *argument);
  };
}

template <void (*Serve)(const std::string&) noexcept>
Action add_host(CLI::App& command, Session&) {
  auto argument = std::make_shared<std::string>();
  command.description("Started by 'fp4proof run'.")->group("");
  command.add_option("ARGUMENT", *argument)->required();
  return [argument]() -> Result<ExitCode> {
    EarlyExitGuard::dismiss();
    Serve(*argument);
    return ExitCode::internal;
  };
}

}  // namespace

const Verb plugin_guardian_verb{runners::guardian_verb, add_guardian};
const Verb plugin_host_verb{runners::host_verb, add_host<runners::host_plugin>};
const Verb process_host_verb{runners::process_verb, add_host<runners::host_process>};

}  // namespace fp4proof::cli
