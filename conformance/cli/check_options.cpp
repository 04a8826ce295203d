#include "conformance/cli/check_options.h"

#include <fmt/format.h>

#include <utility>

#include "conformance/cli/common_options.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/sets.h"
#include "conformance/verdict/requirement.h"

namespace fp4proof::cli {

namespace {

template <class Names>
CLI::IsMember one_of(const Names& names) {
  return CLI::IsMember(std::vector<std::string>(names.begin(), names.end()));
}

std::vector<std::string> set_names() {
  std::vector<std::string> names;
  for (const suite::SetPlan& plan : suite::sets()) names.emplace_back(plan.name);
  return names;
}

void add_choice_options(CLI::App& command, CheckOptions& options, const std::vector<std::string>& accumulators) {
  command.add_option("--profile", options.profiles, "Only this profile; may be repeated")
      ->option_text("P")
      ->allow_extra_args(false);
  command.add_option("--operation,--op", options.operation, "Only this operation")
      ->check(one_of(suite::operation_names));
  command.add_option("--accumulate", options.accumulator, "Only products with this accumulator")
      ->check(CLI::IsMember(accumulators));
  command
      .add_option("--require", options.requirement,
                  "What must be offered: offered (nothing), standard (quantize and dequantize, or --operation),\n"
                  "full (everything)")
      ->check(one_of(verdict::requirement_names));
  command.add_option("--level", options.level, "The least set that will do: smoke, quick, full")
      ->check(one_of(set_names()));
  command.add_option("--shard", options.shard, "Only every N-th call, the I-th of them; all/N with --resume")
      ->option_text("I/N");
  command.add_option("--resume", options.resume, "Keep a report of each shard in this folder, and skip those there")
      ->option_text("FOLDER");
}

void add_judging_options(CLI::App& command, CheckOptions& options) {
  command.add_option("--errata", options.errata, "Withdrawn cases; by default ERRATA.json in or beside the set")
      ->option_text("FILE");
  command.add_option("--waivers", options.waivers, "Known failures, which are skipped")->option_text("FILE");
  command.add_flag("--strict", options.strict, "Waivers that are expired or unused fail");
  command.add_flag("--ignore-codes-under-nan", options.ignore_codes_under_nan,
                   "Do not look at element codes under a NaN scale");
  command.add_option("--errors", options.errors, "How many mismatches to list; all are counted")
      ->check(decimal_number(false))
      ->capture_default_str();
  command.add_flag("--no-diagnosis", options.no_diagnosis, "Do not look for what explains the mismatches");
}

void add_speed_options(CLI::App& command, CheckOptions& options) {
  command.add_option("--threads", options.threads, "Threads to compute answers with; no result depends on it")
      ->check(decimal_number(false))
      ->check(CLI::Range(1, 4096))
      ->option_text("N");
  command.add_flag("--timing", options.timing, "Say how many cases a second were asked");
}

/// A profile that is named twice is asked once; two of one name would be one table of the report.
Result<void> add_profile(const SharedProfile& profile, std::vector<SharedProfile>& profiles) {
  for (const SharedProfile& known : profiles) {
    if (known->name != profile->name) continue;
    if (profile_to_json(*known) == profile_to_json(*profile)) return {};
    return Error{ErrorKind::usage, fmt::format("two profiles are called {}; give one another name", profile->name)};
  }
  profiles.push_back(profile);
  return {};
}

}  // namespace

void add_statistical_options(CLI::App& command, CheckOptions& options) {
  command.add_flag("--statistical", options.statistical,
                   "Judge stochastic rounding by kernels that draw their own random words: never better than\n"
                   "STATISTICAL");
  command.add_option("--repetitions", options.repetitions, "How often --statistical draws each element")
      ->check(decimal_number(false))
      ->check(CLI::Range(16, 1 << 20))
      ->option_text("N")
      ->capture_default_str();
}

void add_output_options(CLI::App& command, CheckOptions& options) {
  command.add_option("--json", options.json, "Write the report as JSON; - prints it in place of the text")
      ->option_text("FILE|-");
  command
      .add_option("--report", options.reports, "Write the report as json, junit, sarif, html or text; may be repeated")
      ->option_text("FORMAT=FILE")
      ->allow_extra_args(false);
}

void add_check_options(CLI::App& command, CheckOptions& options, const std::vector<std::string>& accumulators) {
  add_choice_options(command, options, accumulators);
  add_judging_options(command, options);
  add_output_options(command, options);
  add_speed_options(command, options);
}

Result<verdict::CheckRequest> check_request_of(const CheckOptions& options, std::string command, const Session& session,
                                               std::optional<verdict::Waivers>& waivers) {
  verdict::CheckRequest request;
  request.command = std::move(command);
  request.invocation = session.arguments();
  request.operation = suite::operation_named(options.operation);
  request.accumulator = options.accumulator;
  request.requirement = verdict::requirement_named(options.requirement).value_or(verdict::Requirement::offered);
  request.level = suite::find_set(options.level);
  request.most_mismatches = options.errors;
  request.rules.ignore_codes_under_nan = options.ignore_codes_under_nan;
  request.strict = options.strict;
  request.diagnose = !options.no_diagnosis;
  request.threads = options.threads;
  if (options.statistical) request.statistical = verdict::StatisticalPlan{.repetitions = options.repetitions};
  for (const std::string& name : options.profiles) {
    const Result<SharedProfile> profile = find_profile_or_file(name);
    if (!profile) return profile.error();
    if (const Result<void> added = add_profile(*profile, request.profiles); !added) return added.error();
  }
  if (!options.waivers.empty()) {
    Result<verdict::Waivers> read = verdict::read_waivers(options.waivers, verdict::today_utc());
    if (!read) return read.error();
    waivers = std::move(*read);
    request.waivers = &*waivers;
  }
  return request;
}

}  // namespace fp4proof::cli
