#include <fmt/format.h>

#include <memory>
#include <string>

#include "conformance/cli/verb.h"
#include "conformance/cli/verbs.h"
#include "formats/spec_profiles.h"

namespace fp4proof::cli {

namespace {

Action add(CLI::App& command, Session& session) {
  command.description("List the profiles");
  return [&session]() -> Result<ExitCode> {
    for (const Profile& profile : profiles()) session.print(fmt::format("{}\n", profile.name));
    return ExitCode::conformant;
  };
}

}  // namespace

const Verb list_verb{"list", add};

}  // namespace fp4proof::cli
