// fp4proof list: what can be named on the command line.

#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/cli/format_tables.h"
#include "conformance/cli/table.h"
#include "conformance/cli/verbs.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/case_class.h"
#include "conformance/suite/sets.h"
#include "formats/spec_profiles.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;

struct Options {
  std::string what;
  std::string name;
  bool as_json = false;
  bool verbose = false;
};

/// Rows of text under a heading, and the same as JSON objects with the heading's words as keys.
struct Listing {
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> rows;

  std::string text() const {
    Table table("l");
    table.add(heading);
    for (const auto& row : rows) table.add(row);
    return table.text();
  }

  json as_json() const {
    json list = json::array();
    for (const auto& row : rows) {
      json object = json::object();
      for (std::size_t i = 0; i < row.size(); ++i) object[heading[i]] = row[i];
      list.push_back(std::move(object));
    }
    return list;
  }
};

Listing list_operations() {
  static constexpr std::array<const char*, 3> summaries = {
      "binary32 numbers to codes and scales",
      "codes and scales to binary32 numbers",
      "two quantized matrices to a binary32 matrix, C[m,n] = sum over k of A[m,k] * B[n,k]",
  };
  Listing listing{{"operation", "summary"}, {}};
  for (const suite::Operation operation : suite::operations) {
    listing.rows.push_back({std::string(suite::name_of(operation)), summaries[static_cast<std::size_t>(operation)]});
  }
  return listing;
}

Listing list_classes() {
  Listing listing{{"class", "operation", "bug"}, {}};
  for (const suite::CaseClass& one : suite::case_classes()) {
    listing.rows.push_back({std::string(one.name), std::string(suite::name_of(one.operation)), std::string(one.bug)});
  }
  return listing;
}

Listing list_sets() {
  Listing listing{{"set", "summary"}, {}};
  for (const suite::SetPlan& set : suite::sets()) {
    listing.rows.push_back({std::string(set.name), std::string(set.summary)});
  }
  return listing;
}

std::string summary_of(portable::Accumulator accumulator) {
  using enum portable::Accumulator;
  switch (accumulator) {
    case seq512: return "normative: binary32, block after block, a new sum every 512 elements of K";
    case seq: return "the same with one chunk";
    case exact: return "the exact sum, rounded once";
    case tc_hopper_fp16: return "model of Hopper's fp16 instructions for the block dots, then as seq512";
    case tc_hopper_fp8: return "model of Hopper's fp8 instructions for the block dots, then as seq512";
    case tc_blackwell_mxf8f6f4: return "model of Blackwell's block-scaled instructions for MX elements of 4 to 8 bits";
    case tc_blackwell_mxf4: return "model of Blackwell's block-scaled instructions for E2M1";
  }
  return {};
}

Listing list_accumulators() {
  Listing listing{{"accumulator", "summary"}, {}};
  for (const portable::Accumulator accumulator : portable::accumulators) {
    listing.rows.push_back({std::string(name_of(accumulator)), summary_of(accumulator)});
  }
  return listing;
}

Listing list_profiles() {
  Listing listing{{"profile", "summary"}, {}};
  for (const Profile& profile : profiles()) {
    listing.rows.push_back({std::string(profile.name), std::string(profile.summary)});
  }
  return listing;
}

json all_profiles_as_json() {
  json list = json::array();
  for (const Profile& profile : profiles()) list.push_back(profile_to_json(profile));
  return list;
}

void print(Session& session, const Options& options, const Listing& listing) {
  if (options.as_json) {
    session.print_json({{options.what, listing.as_json()}});
  } else {
    session.print(listing.text());
  }
}

Result<ExitCode> show_profile(const Options& options, Session& session) {
  const Result<SharedProfile> profile = find_profile_or_file(options.name);
  if (!profile) return profile.error();
  if (options.as_json) {
    session.print_json(profile_to_json(**profile));
  } else {
    session.print(profile_text(**profile));
  }
  return ExitCode::conformant;
}

void show_profiles(const Options& options, Session& session) {
  if (options.as_json) {
    session.print_json({{"profiles", all_profiles_as_json()}});
  } else if (options.verbose) {
    for (const Profile& profile : profiles()) session.print(profile_text(profile) + "\n");
  } else {
    session.print(list_profiles().text());
  }
}

Result<ExitCode> list(const Options& options, Session& session) {
  if (options.what == "profiles" && !options.name.empty()) return show_profile(options, session);
  if (!options.name.empty()) {
    return Error{ErrorKind::usage, fmt::format("list: only profiles are listed by name; remove {}", options.name)};
  }
  if (options.what == "profiles") {
    show_profiles(options, session);
  } else if (options.what == "formats") {
    options.as_json ? session.print_json(formats_as_json()) : session.print(formats_text());
  } else {
    static const std::map<std::string, Listing (*)()> listings = {{"accumulators", list_accumulators},
                                                                  {"classes", list_classes},
                                                                  {"operations", list_operations},
                                                                  {"sets", list_sets}};
    print(session, options, listings.at(options.what)());
  }
  return ExitCode::conformant;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof list profiles\n"
    "  fp4proof list profiles --verbose                      every field of every profile\n"
    "  fp4proof list profiles mxfp4/ocp --json > mine.json   a complete profile to edit: give it another name\n"
    "  fp4proof list formats --json";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("List what can be named: profiles, formats, operations, case classes, sets, accumulators.");
  command.footer(help);
  command.add_option("WHAT", options->what, "profiles, formats, operations, classes, sets or accumulators")
      ->required()
      ->check(CLI::IsMember({"profiles", "formats", "operations", "classes", "sets", "accumulators"}))
      ->option_text("REQUIRED");
  command.add_option("NAME", options->name, "Show this profile alone (a name or a .json file)")->option_text(" ");
  command.add_flag("--json", options->as_json, "Print JSON");
  command.add_flag("--verbose", options->verbose, "Show every field of the profiles");
  return [options, &session] { return list(*options, session); };
}

}  // namespace

const Verb list_verb{"list", add};

}  // namespace fp4proof::cli
