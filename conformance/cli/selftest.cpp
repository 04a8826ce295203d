// fp4proof selftest: whether this build on this machine can be trusted.

#include <fmt/format.h>

#include <memory>
#include <string>

#include "conformance/cli/check_list.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/selftest_checks.h"
#include "conformance/cli/verbs.h"
#include "formats/spec_profiles.h"
#include "reference/portable/environment.h"

namespace fp4proof::cli {

namespace {

void check_arithmetic(CheckList& checks) {
  for (const portable::Canary& canary : portable::environment_canaries()) {
    checks.add(fmt::format("arithmetic: {}", canary.claim),
               canary.holds ? std::string() : fmt::format("broken, usually by {}", canary.cause));
  }
}

void check_tables(CheckList& checks) {
  for (std::size_t i = 0; i < element_count; ++i) {
    const auto element = static_cast<Element>(i);
    checks.add(
        fmt::format("element {}: every code, and every rounding threshold, as the oracle has it", name_of(element)),
        element_problem(element));
  }
  checks.add("scale e8m0: every code as the oracle has it", e8m0_problem());
  checks.add("scale e6m2: every code as the oracle has it", e6m2_problem());
  checks.add("scale e4m3: every code as the oracle has it", e4m3_problem());
  checks.add("philox: published known answers", philox_problem());
  checks.add("sha256: published known answer", sha256_problem());
  checks.add("packing: every nibble order and scale layout is a bijection", packing_problem());
}

void check_profiles(CheckList& checks) {
  Progress progress("testing profiles", profiles().size());
  for (const Profile& profile : profiles()) {
    const ProfileCheck check = check_profile_roads(profile);
    checks.add(
        fmt::format("profile {}: fast road = scalar codec = oracle, {} smoke blocks", profile.name, check.blocks),
        check.problem);
    progress.advance(1);
  }
}

void check_gemm(CheckList& checks) {
  for (const portable::Accumulator accumulator : portable::accumulators) {
    checks.add(fmt::format("gemm {}: as the oracle has it", name_of(accumulator)), gemm_problem(accumulator));
  }
}

Result<ExitCode> selftest(Session& session) {
  CheckList checks(session);
  check_arithmetic(checks);
  check_tables(checks);
  checks.add("threads: one and many give the same bits", thread_problem());
  check_gemm(checks);
  check_profiles(checks);
  checks.print_tally();
  return checks.failed() == 0 ? ExitCode::conformant : ExitCode::internal;
}

Action add(CLI::App& command, Session& session) {
  command.description(
      "Test this program on this machine against known answers and its oracle.\n"
      "Arithmetic, code tables, random numbers, packing, and every profile and accumulator; the oracle is a second\n"
      "implementation on exact numbers.");
  command.footer(
      "Example:\n"
      "  fp4proof selftest\n"
      "Takes seconds. Exit code 0: all checks pass, 70: one fails, and no result of this program should be used.");
  session.add_threads_option(command);
  return [&session] { return selftest(session); };
}

}  // namespace

const Verb selftest_verb{"selftest", add};

}  // namespace fp4proof::cli
