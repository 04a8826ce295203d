// The processes that `fp4proof run` starts: the program itself, with the library as its argument. Not for people.

#include <memory>
#include <string>

#include "conformance/cli/verbs.h"
#include "conformance/runners/plugin_host.h"

namespace fp4proof::cli {

namespace {

template <void (*Serve)(const std::string&) noexcept>
Action add(CLI::App& command, Session&) {
  auto library = std::make_shared<std::string>();
  command.description("Started by 'fp4proof run'.")->group("");
  command.add_option("LIB", *library)->required();
  return [library]() -> Result<ExitCode> {
    Serve(*library);
    return ExitCode::internal;
  };
}

}  // namespace

const Verb plugin_guardian_verb{runners::guardian_verb, add<runners::guard_plugin>};
const Verb plugin_host_verb{runners::host_verb, add<runners::host_plugin>};

}  // namespace fp4proof::cli
