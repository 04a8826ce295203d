#include "conformance/verdict/judge.h"

#include <fmt/format.h>

#include <string_view>

#include "conformance/suite/operation.h"
#include "conformance/suite/sets.h"
#include "conformance/verdict/document_fields.h"
#include "conformance/verdict/requirement.h"
#include "conformance/verdict/subject_word.h"
#include "conformance/verify/mismatch.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

/// "unused", "expired on 2026-01-31".
std::string waiver_problem(const json& entry) {
  const std::string what =
      entry.contains("case") ? "case " + text(entry, "case") : fmt::format("class {}", text(entry, "class"));
  const std::string why = entry["state"] == "expired" ? fmt::format("expired on {}", text(entry, "expiry"))
                                                      : std::string("waives nothing that fails");
  return fmt::format("waiver of {} in {}: {}; remove it, or ask {} about it", what, text(entry, "operation"), why,
                     text(entry, "owner"));
}

/// Whether the document is of one shard of several: what is unused there may be used in another.
bool is_part(const json& document) { return !text(document["cases"], "shard").ends_with("/1"); }

std::vector<std::string> waiver_problems(const json& document) {
  std::vector<std::string> problems;
  if (document["waivers"].is_null()) return problems;
  for (const json& entry : document["waivers"]["entries"]) {
    const bool is_unused = entry["state"] == "unused" && !is_part(document);
    if (is_unused || entry["state"] == "expired") problems.push_back(waiver_problem(entry));
  }
  return problems;
}

class Judge {
 public:
  explicit Judge(const json& document)
      : document_(document),
        demands_(document.at("demands")),
        requirement_(requirement_named(text(demands_, "require")).value_or(Requirement::full)) {}

  Judgement run() {
    judge_subject();
    for (const json& table : document_["tables"]) judge_table(table);
    for (const json& absent : document_["absent"]) judge_absent(absent);
    judge_scope();
    if (demands_["strict"] == true)
      for (std::string& problem : waiver_problems(document_)) add(ExitCode::mismatch, std::move(problem));
    return std::move(judgement_);
  }

 private:
  void add(ExitCode code, std::string why) {
    judgement_.code = worse_of(judgement_.code, code);
    judgement_.reasons.push_back({code, std::move(why)});
  }

  std::string subject_word() const { return std::string(word_of_subject(text(document_["subject"], "kind"))); }

  void judge_subject() {
    const std::string word = subject_word();
    const std::string load_problem = text(document_, "load_problem");
    if (!load_problem.empty()) add(ExitCode::plugin_failed, fmt::format("{}: {}", word, load_problem));
    for (const json& fault : document_["faults"]) {
      add(ExitCode::plugin_failed,
          fmt::format("{}: {} {} {}, {} cases from {} on: {}", word, text(fault, "operation"), text(fault, "profile"),
                      text(fault, "group"), count(fault, "cases"), text(fault, "first_case"), text(fault, "what")));
    }
    const std::string close_problem = text(document_, "close_problem");
    if (!close_problem.empty()) add(ExitCode::plugin_failed, fmt::format("{}: at its end it {}", word, close_problem));
  }

  void judge_table(const json& table) {
    std::uint64_t wrong = 0;
    for (const auto& [cause, kinds] : table["causes"].items()) {
      if (cause == name_of(verify::Cause::nondeterministic)) continue;
      for (const json& kind : kinds) wrong += count(kind, "cases");
    }
    if (wrong != 0) add(ExitCode::mismatch, fmt::format("{}: {} wrong answers", table_name(table), wrong));
    judge_statistics(table);
    if (const std::uint64_t cases = count(table, "nondeterministic"); cases != 0) {
      add(ExitCode::nondeterministic, fmt::format("{}: two runs differ in {} cases", table_name(table), cases));
    }
    if (const std::uint64_t missing = count(table, "missing"); missing != 0) {
      const bool is_file = document_["subject"]["kind"] == "files";
      add(ExitCode::incomplete, fmt::format("{}: {} {}", table_name(table), missing,
                                            is_file ? "answers are missing" : "cases were not asked after the faults"));
    }
    judge_offers(table);
  }

  void judge_statistics(const json& table) {
    if (table["statistical"].is_null()) return;
    for (const json& alarm : table["statistical"]["alarms"])
      add(ExitCode::mismatch, fmt::format("{}: {}", table_name(table), alarm.get<std::string>()));
  }

  bool is_required(const std::string& operation) const {
    if (requirement_ != Requirement::standard) return requirement_ == Requirement::full;
    if (!demands_["operation"].is_null()) return true;
    return operation == suite::name_of(suite::Operation::quantize) ||
           operation == suite::name_of(suite::Operation::dequantize);
  }

  void judge_offers(const json& table) {
    const std::string operation = text(table, "operation");
    const json& unsupported = table["unsupported_groups"];
    const std::uint64_t offered = count(table, "offered_groups");
    const bool is_product = suite::is_product(*suite::operation_named(operation));
    const bool other_accumulators_lack = is_product && offered != 0;
    if (unsupported.empty() || other_accumulators_lack || !is_required(operation)) return;
    if (offered == 0) {
      return add(ExitCode::unsupported, fmt::format("{}: the {} does not offer it", table_name(table), subject_word()));
    }
    const auto names = unsupported.get<std::vector<std::string>>();
    add(requirement_ == Requirement::full ? ExitCode::unsupported : ExitCode::incomplete,
        fmt::format("{}: the {} does not offer the groups {}", table_name(table), subject_word(),
                    fmt::join(names, ", ")));
  }

  void judge_absent(const json& absent) {
    if (!is_required(text(absent, "operation")) && demands_["level"].is_null()) return;
    add(ExitCode::incomplete,
        fmt::format("{}: required, but {} has no cases of it", table_name(absent), text(document_["cases"], "source")));
  }

  void judge_scope() {
    const json& tally = document_["tally"];
    if (count(tally, "passed") + count(tally, "failed") == 0) {
      add(ExitCode::incomplete, fmt::format("no case was compared: {}", why_nothing()));
    }
    if (requirement_ == Requirement::full && !demands_["operation"].is_null()) {
      add(ExitCode::incomplete,
          fmt::format("every operation is required, but {} alone was asked about", text(demands_, "operation")));
    }
    judge_withdrawn();
    judge_level();
  }

  std::uint64_t total(const char* field) const {
    std::uint64_t sum = 0;
    for (const json& table : document_["tables"]) sum += count(table, field);
    return sum;
  }

  /// Why not a single case was compared.
  std::string why_nothing() const {
    const std::uint64_t let_pass = total("waived") + total("withdrawn");
    if (let_pass != 0) {
      const bool is_all = let_pass == count(document_["tally"], "skipped");
      return fmt::format("{} waived, {} withdrawn{}", total("waived"), total("withdrawn"),
                         is_all ? ", and none is left" : ", and the rest was not answered");
    }
    if (is_part(document_)) return "nothing of what was asked for is in this shard, or offered";
    if (document_["subject"]["kind"] == "files") return "the answers hold none of what was asked for";
    return fmt::format("the {} offers none of what was asked for", subject_word());
  }

  /// Anybody can withdraw cases; who demands completeness gets no less than the project's own set.
  void judge_withdrawn() {
    const json& cases = document_["cases"];
    if (!cases.contains("errata") || (demands_["level"].is_null() && demands_["strict"] == false)) return;
    const std::uint64_t foreign = count(cases["errata"], "foreign");
    const std::uint64_t withdrawn = total("withdrawn");
    if (foreign == 0 || withdrawn == 0) return;
    add(ExitCode::incomplete,
        fmt::format("{} cases are withdrawn by {}, of whose entries {} are not withdrawn by fp4proof itself", withdrawn,
                    text(cases["errata"], "path"), foreign));
  }

  void judge_level() {
    if (demands_["level"].is_null()) return;
    const std::string wanted = text(demands_, "level");
    const json& cases = document_["cases"];
    const suite::SetPlan* least = suite::find_set(wanted);
    const suite::SetPlan* had = suite::find_set(text(cases, "set"));
    if (least == nullptr || had == nullptr || had->level < least->level) {
      add(ExitCode::incomplete, fmt::format("level {} is required, but the cases are those of {}, set {}", wanted,
                                            text(cases, "source"), text(cases, "set")));
    }
    if (text(cases, "part") != "1/1") {
      add(ExitCode::incomplete, fmt::format("level {} is required, but {} is part {} of its set", wanted,
                                            text(cases, "source"), text(cases, "part")));
    }
    if (is_part(document_)) {
      add(ExitCode::incomplete, fmt::format("level {} is required, but this is shard {} of it; fp4proof merge judges "
                                            "the level from the reports of all shards",
                                            wanted, text(cases, "shard")));
    }
  }

  const json& document_;
  const json& demands_;
  Requirement requirement_;
  Judgement judgement_;
};

std::string_view verdict_word(ExitCode code, const json& document) {
  switch (code) {
    case ExitCode::conformant: break;
    case ExitCode::mismatch:
    case ExitCode::nondeterministic: return "FAIL";
    case ExitCode::incomplete:
    case ExitCode::unsupported: return "INCOMPLETE";
    default: return "ERROR";
  }
  for (const json& table : document["tables"])
    if (!table["statistical"].is_null()) return "STATISTICAL";
  return "PASS";
}

}  // namespace

Judgement judge(const json& document) { return Judge(document).run(); }

Judgement pronounce(json& document) {
  Judgement judgement = judge(document);
  document["exit_code"] = static_cast<int>(judgement.code);
  document["verdict"] = verdict_word(judgement.code, document);
  document["reasons"] = json::array();
  for (const Reason& reason : judgement.reasons) document["reasons"].push_back(reason.text);
  return judgement;
}

std::vector<std::string> warnings(const json& document) {
  if (document["demands"]["strict"] == true) return {};
  return waiver_problems(document);
}

}  // namespace fp4proof::verdict
