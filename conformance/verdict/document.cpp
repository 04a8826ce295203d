#include "conformance/verdict/document.h"

#include <fmt/format.h>

#include "conformance/vectors/os_error.h"
#include "conformance/verdict/host.h"
#include "conformance/verdict/invocation.h"
#include "conformance/verify/report.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;
using runners::PluginFault;
using runners::TableOutcome;

json text_or_null(std::string_view text) { return text.empty() ? json() : json(text); }

json cases_of(const CheckRequest& request) {
  const runners::CaseSource& cases = *request.cases;
  json facts = {{"source", cases.label()},
                {"set", cases.set_name()},
                {"part", cases.part()},
                {"manifest_sha256", text_or_null(cases.manifest_sha256())},
                {"seed", fmt::format("{:#018x}", cases.seed())},
                {"shard", fmt::format("{}/{}", request.shard.index, request.shard.count)}};
  const suite::Errata& errata = cases.errata();
  if (errata.withdrawn.empty()) return facts;
  facts["errata"] = {{"path", errata.path.string()}, {"sha256", errata.sha256}, {"foreign", errata.foreign_count()}};
  return facts;
}

json subject_of(const SubjectFacts& facts, const runners::BackendDescription& description) {
  json subject = {{"kind", facts.kind},
                  {"name", description.name},
                  {"version", description.version},
                  {"description", description.description},
                  {"abi_version", description.abi_version},
                  {"path", facts.path},
                  {"sha256", facts.sha256}};
  for (const FileFact& file : facts.files) subject["files"].push_back({{"path", file.path}, {"sha256", file.sha256}});
  return subject;
}

json demands_of(const CheckRequest& request) {
  json profiles = json::array();
  for (const SharedProfile& profile : request.profiles) profiles.push_back(profile_to_json(*profile));
  json demands = {{"require", name_of(request.requirement)},
                  {"operation", request.operation ? json(suite::name_of(*request.operation)) : json()},
                  {"accumulate", text_or_null(request.accumulator)},
                  {"profiles", profiles},
                  {"level", request.level != nullptr ? json(request.level->name) : json()},
                  {"errors", request.most_mismatches},
                  {"strict", request.strict},
                  {"ignore_codes_under_nan", request.rules.ignore_codes_under_nan},
                  {"diagnosis", request.diagnose},
                  {"statistical", json()}};
  if (request.statistical) {
    demands["statistical"] = {{"repetitions", request.statistical->repetitions},
                              {"false_alarm_rate", request.statistical->false_alarm_rate}};
  }
  return demands;
}

json to_json(const PluginFault& fault) {
  return {{"operation", suite::name_of(fault.operation)},
          {"profile", fault.profile},
          {"group", fault.group},
          {"cases", fault.cases},
          {"first_case", fault.first_case},
          {"what", fault.what}};
}

/// Adds what only a runner knows to what the comparison counted.
void complete_table(const CheckRequest& request, const Findings& findings, std::size_t index, json& table) {
  const TableOutcome& outcome = findings.report.tables[index];
  table["waived"] = outcome.report.waived;
  table["offered_groups"] = outcome.offered_groups;
  table["unsupported_groups"] = outcome.unsupported_groups;
  table["nondeterministic"] = outcome.nondeterministic;
  const json groups = findings.places.groups(outcome.report.operation, outcome.report.profile->name);
  table["places"] = most_failed(groups);
  if (request.shard.count != 1) table["group_places"] = groups;
  table["diagnosis"] = findings.diagnoses.empty() ? json() : findings.diagnoses[index];
  table["statistical"] = findings.statistics.empty() ? json() : findings.statistics[index];
  if (outcome.report.operation != suite::Operation::quantize) return;
  json decomposition = findings.decomposed.of_profile(outcome.report.profile->name);
  if (!decomposition.is_null()) table["decomposition"] = std::move(decomposition);
}

std::string date_text(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

json waivers_of(const Waivers& waivers, const std::vector<std::uint64_t>& cases) {
  json entries = json::array();
  for (std::size_t i = 0; i < waivers.list.size(); ++i) {
    const Waiver& waiver = waivers.list[i];
    json entry = {{"operation", suite::name_of(waiver.operation)},
                  {"profile", text_or_null(waiver.profile)},
                  {"reason", waiver.reason},
                  {"owner", waiver.owner},
                  {"expiry", date_text(waiver.expiry)},
                  {"cases", cases[i]},
                  {"state", waivers.is_expired(waiver) ? "expired"
                            : cases[i] != 0            ? "used"
                                                       : "unused"}};
    if (waiver.case_id) entry["case"] = suite::id_text(*waiver.case_id);
    if (!waiver.case_id) entry["class"] = waiver.class_name;
    entries.push_back(std::move(entry));
  }
  return {{"path", waivers.path}, {"sha256", waivers.sha256}, {"entries", entries}};
}

}  // namespace

json document_of(const CheckRequest& request, const Findings& findings) {
  const runners::RunReport& report = findings.report;
  json document = verify::to_json(report.verify_report());
  document["format"] = report_format;
  document["command"] = request.command;
  document["tool_version"] = FP4PROOF_VERSION;
  document["invocation"] = asking_arguments(request.invocation);
  document["host"] = host_facts();
  document["cases"] = cases_of(request);
  document["subject"] = subject_of(request.facts, report.backend);
  document["demands"] = demands_of(request);
  for (std::size_t i = 0; i < report.tables.size(); ++i) complete_table(request, findings, i, document["tables"][i]);
  for (std::size_t i = 0; i < report.mismatches.size(); ++i) {
    document["mismatches"][i]["place"] = report.mismatches[i].place;
    document["mismatches"][i]["text"] = verify::to_text(report.mismatches[i]);
  }
  findings.explained.add_to(document["mismatches"]);
  document["absent"] = json::array();
  for (const runners::AbsentTable& absent : report.absent)
    document["absent"].push_back({{"operation", suite::name_of(absent.operation)}, {"profile", absent.profile}});
  document["waivers"] = request.waivers == nullptr ? json() : waivers_of(*request.waivers, findings.waived_cases);
  document["faults"] = json::array();
  for (const PluginFault& fault : report.faults) document["faults"].push_back(to_json(fault));
  document["load_problem"] = report.load_problem;
  document["close_problem"] = report.close_problem;
  document["survivors"] = report.survivors;
  document["gave_up"] = report.gave_up;
  return document;
}

}  // namespace fp4proof::verdict
