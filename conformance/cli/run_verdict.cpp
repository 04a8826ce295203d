#include "conformance/cli/run_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;
using runners::PluginFault;
using runners::RunReport;
using runners::TableOutcome;
using suite::Operation;

std::string table_name(const TableOutcome& table) {
  return fmt::format("{} under {}", suite::name_of(table.report.operation), table.report.profile->name);
}

std::string fault_text(const PluginFault& fault) {
  return fmt::format("plug-in: {} {} {}, {} cases from {} on: {}", suite::name_of(fault.operation), fault.profile,
                     fault.group, fault.cases, fault.first_case, fault.what);
}

bool is_required(const TableOutcome& table, Requirement requirement, std::optional<Operation> asked) {
  switch (requirement) {
    case Requirement::offered: return false;
    case Requirement::full: return true;
    case Requirement::standard: break;
  }
  if (asked) return true;
  return table.report.operation == Operation::quantize || table.report.operation == Operation::dequantize;
}

bool lacks_something(const TableOutcome& table) { return !table.unsupported_groups.empty() && !table.is_optional_rest; }

bool has_wrong_answers(const TableOutcome& table) {
  return std::ranges::any_of(table.report.causes,
                             [](const auto& entry) { return entry.first != verify::Cause::nondeterministic; });
}

class VerdictBuilder {
 public:
  void add(ExitCode code, std::string reason) {
    verdict_.code = worse_of(verdict_.code, code);
    if (!reason.empty()) verdict_.reasons.push_back(std::move(reason));
  }
  Verdict finish() { return std::move(verdict_); }

 private:
  Verdict verdict_;
};

void judge_plugin(const RunReport& report, VerdictBuilder& verdict) {
  if (!report.load_problem.empty()) {
    verdict.add(ExitCode::plugin_failed, fmt::format("plug-in: {}", report.load_problem));
  }
  for (const PluginFault& fault : report.faults) verdict.add(ExitCode::plugin_failed, fault_text(fault));
  if (!report.close_problem.empty()) {
    verdict.add(ExitCode::plugin_failed, fmt::format("plug-in: at its end it {}", report.close_problem));
  }
}

void judge_table(const TableOutcome& table, bool required, Requirement requirement, VerdictBuilder& verdict) {
  if (has_wrong_answers(table)) verdict.add(ExitCode::mismatch, {});
  if (table.nondeterministic != 0) {
    verdict.add(ExitCode::nondeterministic,
                fmt::format("{}: two runs differ in {} cases", table_name(table), table.nondeterministic));
  }
  if (table.report.missing != 0) {
    verdict.add(ExitCode::incomplete,
                fmt::format("{}: {} cases were not asked after the faults", table_name(table), table.report.missing));
  }
  if (!required || !lacks_something(table)) return;
  if (table.offered_groups == 0) {
    verdict.add(ExitCode::unsupported, fmt::format("{}: the plug-in does not offer it", table_name(table)));
    return;
  }
  const std::string missing = fmt::format("{}: the plug-in does not offer the groups {}", table_name(table),
                                          fmt::join(table.unsupported_groups, ", "));
  verdict.add(requirement == Requirement::full ? ExitCode::unsupported : ExitCode::incomplete, missing);
}

std::string unsupported_text(const TableOutcome& table) {
  if (table.unsupported_groups.empty()) return {};
  if (table.offered_groups == 0) return fmt::format("unsupported: {}\n", table_name(table));
  return fmt::format("unsupported: {}: {}\n", table_name(table), fmt::join(table.unsupported_groups, ", "));
}

json to_json(const PluginFault& fault) {
  return {{"operation", suite::name_of(fault.operation)},
          {"profile", fault.profile},
          {"group", fault.group},
          {"cases", fault.cases},
          {"first_case", fault.first_case},
          {"what", fault.what}};
}

}  // namespace

Verdict verdict_of(const RunReport& report, Requirement requirement, std::optional<Operation> asked) {
  VerdictBuilder verdict;
  judge_plugin(report, verdict);
  for (const TableOutcome& table : report.tables) {
    judge_table(table, is_required(table, requirement, asked), requirement, verdict);
  }
  const verify::Tally total = report.verify_report().total();
  if (total.passed + total.failed == 0) {
    verdict.add(ExitCode::incomplete, "no case was compared: the plug-in offers none of what was asked for");
  }
  return verdict.finish();
}

std::string to_text(const RunReport& report) {
  std::string text;
  if (report.load_problem.empty()) {
    text = fmt::format("plug-in {} {}: {}\n", quote(report.backend.name), quote(report.backend.version),
                       quote(report.backend.description));
  }
  text += verify::to_text(report.verify_report());
  for (const TableOutcome& table : report.tables) text += unsupported_text(table);
  if (report.survivors != 0) {
    text += fmt::format("the plug-in left {} processes behind; they were ended\n", report.survivors);
  }
  return text;
}

json to_json(const RunReport& report) {
  json document = verify::to_json(report.verify_report());
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    document["tables"][i]["offered_groups"] = report.tables[i].offered_groups;
    document["tables"][i]["unsupported_groups"] = report.tables[i].unsupported_groups;
    document["tables"][i]["nondeterministic"] = report.tables[i].nondeterministic;
  }
  document["faults"] = json::array();
  for (const PluginFault& fault : report.faults) document["faults"].push_back(to_json(fault));
  document["backend"] = {{"name", report.backend.name},
                         {"version", report.backend.version},
                         {"description", report.backend.description},
                         {"abi_version", report.backend.abi_version}};
  document["load_problem"] = report.load_problem;
  document["close_problem"] = report.close_problem;
  document["survivors"] = report.survivors;
  document["gave_up"] = report.gave_up;
  return document;
}

}  // namespace fp4proof::cli
