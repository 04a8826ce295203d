#include "conformance/cli/command_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <sstream>

#include "conformance/cli/early_exit.h"
#include "conformance/cli/session.h"
#include "conformance/cli/usage_error.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/vectors/pending_paths.h"
#include "reference/portable/environment.h"

namespace fp4proof::cli {

namespace {

constexpr const char* purpose =
    "fp4proof: what the bits of 4-bit block-scaled floating point must be (MXFP4, MXFP8, HiF4, NVFP4).";

constexpr const char* first_steps =
    "Start here:\n"
    "  fp4proof list profiles                                        what can be computed\n"
    "  fp4proof quantize in.safetensors out.safetensors --profile mxfp4/ocp\n"
    "  fp4proof compare in.safetensors --profiles mxfp4/ocp,hif4/gcc   which format suits a tensor\n"
    "  fp4proof selftest                                             whether this machine can be trusted\n"
    "Each verb has its own help: fp4proof VERB --help\n"
    "Exit codes: 0 conformant, 1 mismatch, 2 usage, 3 corrupt file, 4 plug-in failed, 5 incomplete, 6 unsupported,\n"
    "7 nondeterministic, 70 internal.";

/// The list of verbs shows the first line of each description.
class VerbFormatter : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* verb) const override {
    const std::string description = verb->get_description();
    std::ostringstream line;
    CLI::detail::format_help(line, verb->get_name(), description.substr(0, description.find('\n')), get_column_width());
    return line.str();
  }
};

/// An empty value, as from an unset shell variable, would otherwise read as zero.
void refuse_empty_values(CLI::App& command) {
  const CLI::Validator not_empty(
      [](std::string& value) { return value.empty() ? std::string("the value is empty") : std::string(); }, "");
  for (CLI::Option* option : command.get_options()) {
    if (option->get_type_size() != 0) option->check(not_empty);
  }
}

int exit_value(ExitCode code) { return static_cast<int>(code); }

int fail(Session& session, const Error& error) {
  session.complain(error);
  return exit_value(exit_code_of(error.kind));
}

/// The exit code once the output is out: lost output outweighs the verdict.
int conclude(Session& session, ExitCode code) {
  const Result<void> finished = session.finish();
  if (finished) return exit_value(code);
  session.complain(finished.error());
  return exit_value(worse_of(code, exit_code_of(finished.error().kind)));
}

int print_and_conclude(Session& session, const std::string& text) {
  session.print(text);
  return conclude(session, ExitCode::conformant);
}

int run_verb(Session& session, const Action& action) {
  if (const Result<void> trusted = portable::check_environment(); !trusted) return fail(session, trusted.error());
  session.apply_threads();
  const Result<ExitCode> outcome = [&] {
    const EarlyExitGuard guard(ExitCode::internal);
    return action();
  }();
  if (outcome) return conclude(session, *outcome);
  session.complain(outcome.error());
  return conclude(session, exit_code_of(outcome.error().kind));
}

int parse_and_run(Session& session, int count, const char* const* arguments) {
  CLI::App app(purpose, "fp4proof");
  app.footer(first_steps);
  app.set_version_flag("--version", fmt::format("fp4proof {}\n", tool_version), "Print the version and exit");
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<VerbFormatter>());
  app.get_formatter()->column_width(30);
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.get_formatter()->label("Subcommands", "Verbs");
  std::map<const CLI::App*, Action> actions;
  for (const Verb& verb : verbs()) {
    CLI::App* command = app.add_subcommand(std::string(verb.name))->group("Verbs");
    actions.emplace(command, verb.add(*command, session));
    refuse_empty_values(*command);
  }
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForHelp&) {
    return print_and_conclude(session, app.help());
  } catch (const CLI::CallForVersion& version) {
    return print_and_conclude(session, version.what());
  } catch (const CLI::ParseError& problem) {
    return fail(session, usage_error(app, problem));
  }
  if (app.get_subcommands().empty()) {
    return fail(session, {ErrorKind::usage, "no verb is given; see 'fp4proof --help'"});
  }
  return run_verb(session, actions.at(app.get_subcommands().front()));
}

/// Where it is closed, files would be opened in its place, and be told errors.
void give_a_standard_error() {
  if (::fcntl(STDERR_FILENO, F_GETFD) != -1) return;
  const int nothing = ::open("/dev/null", O_WRONLY);
  if (nothing == STDERR_FILENO || nothing < 0) return;
  ::dup2(nothing, STDERR_FILENO);
  ::close(nothing);
}

}  // namespace

int run(int count, const char* const* arguments) {
  remove_pending_paths_on_signals();
  std::signal(SIGXFSZ, SIG_IGN);  // writing beyond `ulimit -f` is then an error that can be told
  give_a_standard_error();
  Session session;
  session.set_arguments({arguments + std::min(count, 1), arguments + count});
  try {
    return parse_and_run(session, count, arguments);
  } catch (const std::bad_alloc&) {
    return fail(session, {ErrorKind::internal, "out of memory"});
  } catch (const std::exception& exception) {
    return fail(session, {ErrorKind::internal, fmt::format("unexpected failure: {}", exception.what())});
  }
}

}  // namespace fp4proof::cli
