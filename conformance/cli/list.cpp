// fp4proof list: what can be named on the command line.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "conformance/cli/correction_tables.h"
#include "conformance/cli/format_tables.h"
#include "conformance/cli/table.h"
#include "conformance/cli/verbs.h"
#include "conformance/corrections/plan_lookup.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/diagnose/hypotheses.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/case_class.h"
#include "conformance/suite/sets.h"
#include "formats/spec_corrections.h"
#include "formats/spec_plans.h"
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

std::string summary_of(suite::Operation operation) {
  using enum suite::Operation;
  switch (operation) {
    case quantize: return "binary32 numbers to codes and scales";
    case dequantize: return "codes and scales to binary32 numbers";
    case gemm: return "two quantized matrices to a binary32 matrix, C[m,n] = sum over k of A[m,k] * B[n,k]";
    case correct: return "binary32 numbers to the coded parts of a corrected tensor, and what they stand for";
    case correct_gemm: return "two corrected matrices to a binary32 matrix, as gemm";
    case decompose: return "binary32 numbers to the terms of their quantization error";
  }
  return {};
}

Listing list_operations() {
  Listing listing{{"operation", "summary"}, {}};
  for (const suite::Operation operation : suite::operations) {
    listing.rows.push_back({std::string(suite::name_of(operation)), summary_of(operation)});
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

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// What a diagnosis tries: docs/diagnosis.md.
Listing list_hypotheses() {
  Listing listing{{"hypothesis", "operations", "families", "behaves-as"}, {}};
  for (const diagnose::Hypothesis& hypothesis : diagnose::hypotheses()) {
    std::vector<std::string> of_operations;
    for (const suite::Operation operation : suite::operations) {
      if ((hypothesis.operations & diagnose::set_of(operation)) != 0) of_operations.emplace_back(name_of(operation));
    }
    std::vector<std::string> of_families;
    for (const Family family : {Family::mx, Family::hif4, Family::nvfp4}) {
      if ((hypothesis.families & diagnose::set_of(family)) != 0) of_families.emplace_back(name_of(family));
    }
    listing.rows.push_back({hypothesis.id(), joined(of_operations), joined(of_families), hypothesis.text});
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

void print(Session& session, const Options& options, const Listing& listing) {
  if (options.as_json) {
    session.print_json({{options.what, listing.as_json()}});
  } else {
    session.print(listing.text());
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables of named things that users can also write: shown whole, field by field, or one alone
// ---------------------------------------------------------------------------------------------------------------------

struct ProfileTable {
  static constexpr const char* entry = "profile";
  static auto all() { return profiles(); }
  static std::span<const PlanAlias> aliases() { return {}; }
  static auto find(std::string_view name_or_path) { return find_profile_or_file(name_or_path); }
  static json as_json(const Profile& profile) { return profile_to_json(profile); }
  static std::string text(const Profile& profile) { return profile_text(profile); }
};

struct StackTable {
  static constexpr const char* entry = "stack";
  static auto all() { return correction_stacks(); }
  static std::span<const PlanAlias> aliases() { return {}; }
  static auto find(std::string_view name_or_path) { return find_stack_or_file(name_or_path); }
  static json as_json(const CorrectionStack& stack) { return stack_to_json(stack); }
  static std::string text(const CorrectionStack& stack) { return stack_text(stack); }
};

struct PlanTable {
  static constexpr const char* entry = "plan";
  static auto all() { return precision_plans(); }
  static std::span<const PlanAlias> aliases() { return plan_aliases; }
  static auto find(std::string_view name_or_path) { return find_plan_or_file(name_or_path); }
  static json as_json(const PrecisionPlan& plan) { return plan_to_json(plan); }
  static std::string text(const PrecisionPlan& plan) { return plan_text(plan); }
};

std::string summary_of(const PlanAlias& alias) { return fmt::format("another name of {}", alias.plan); }

template <class NamedTable>
Result<ExitCode> show_one(const Options& options, Session& session) {
  const auto found = NamedTable::find(options.name);
  if (!found) return found.error();
  if (options.as_json) {
    session.print_json(NamedTable::as_json(**found));
  } else {
    session.print(NamedTable::text(**found));
  }
  return ExitCode::conformant;
}

template <class NamedTable>
json table_as_json(const std::string& what) {
  json list = json::array();
  for (const auto& entry : NamedTable::all()) list.push_back(NamedTable::as_json(entry));
  json table = {{what, std::move(list)}};
  for (const PlanAlias& alias : NamedTable::aliases()) table["aliases"][std::string(alias.name)] = alias.plan;
  return table;
}

template <class NamedTable>
Listing names_and_summaries() {
  Listing listing{{NamedTable::entry, "summary"}, {}};
  for (const auto& entry : NamedTable::all()) {
    listing.rows.push_back({std::string(entry.name), std::string(entry.summary)});
  }
  for (const PlanAlias& alias : NamedTable::aliases()) {
    listing.rows.push_back({std::string(alias.name), summary_of(alias)});
  }
  return listing;
}

template <class NamedTable>
Result<ExitCode> show(const Options& options, Session& session) {
  if (!options.name.empty()) return show_one<NamedTable>(options, session);
  if (options.as_json) {
    session.print_json(table_as_json<NamedTable>(options.what));
  } else if (options.verbose) {
    for (const auto& entry : NamedTable::all()) session.print(NamedTable::text(entry) + "\n");
    for (const PlanAlias& alias : NamedTable::aliases())
      session.print(fmt::format("{}  {}\n", alias.name, summary_of(alias)));
  } else {
    session.print(names_and_summaries<NamedTable>().text());
  }
  return ExitCode::conformant;
}

Result<ExitCode> list(const Options& options, Session& session) {
  if (options.what == "profiles") return show<ProfileTable>(options, session);
  if (options.what == "corrections") return show<StackTable>(options, session);
  if (options.what == "plans") return show<PlanTable>(options, session);
  if (!options.name.empty()) {
    return Error{ErrorKind::usage,
                 fmt::format("list: only profiles, corrections and plans are listed by name; remove {}", options.name)};
  }
  if (options.what == "formats") {
    options.as_json ? session.print_json(formats_as_json()) : session.print(formats_text());
  } else {
    static const std::map<std::string, Listing (*)()> listings = {{"accumulators", list_accumulators},
                                                                  {"classes", list_classes},
                                                                  {"hypotheses", list_hypotheses},
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
    "  fp4proof list corrections resq                        one correction stack\n"
    "  fp4proof list plans mxfp4+all --json > plan.json      a complete precision plan to edit\n"
    "  fp4proof list formats --json";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description(
      "List what can be named: profiles, corrections, precision plans, formats, operations, case classes, sets, "
      "accumulators, hypotheses.");
  command.footer(help);
  command
      .add_option("WHAT", options->what,
                  "profiles, corrections, plans, formats, operations, classes, sets, accumulators or hypotheses")
      ->required()
      ->check(CLI::IsMember({"profiles", "corrections", "plans", "formats", "operations", "classes", "sets",
                             "accumulators", "hypotheses"}))
      ->option_text("REQUIRED");
  command.add_option("NAME", options->name, "Show this profile, stack or plan alone (a name or a .json file)")
      ->option_text(" ");
  command.add_flag("--json", options->as_json, "Print JSON");
  command.add_flag("--verbose", options->verbose, "Show every field of profiles, stacks and plans");
  return [options, &session] { return list(*options, session); };
}

}  // namespace

const Verb list_verb{"list", add};

}  // namespace fp4proof::cli
