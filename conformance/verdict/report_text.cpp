// A report document in words.

#include <fmt/format.h>

#include <string>

#include "conformance/vectors/os_error.h"
#include "conformance/verdict/check.h"
#include "conformance/verdict/document_fields.h"
#include "conformance/verdict/subject_word.h"
#include "conformance/verify/mismatch.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

std::string tally_text(const json& tally) {
  return fmt::format("{} passed, {} failed, {} skipped", count(tally, "passed"), count(tally, "failed"),
                     count(tally, "skipped"));
}

std::string subject_text(const json& document) {
  const json& subject = document["subject"];
  const std::string kind = text(subject, "kind");
  if (kind == "files") return fmt::format("answers {}\n", quote(text(subject, "path")));
  if (kind == "reference" || !text(document, "load_problem").empty()) return {};
  std::string line = fmt::format("{} {}", word_of_subject(kind), quote(text(subject, "name")));
  const std::string version = text(subject, "version");
  const std::string description = text(subject, "description");
  if (!version.empty()) line += fmt::format(" {}", quote(version));
  if (!description.empty()) line += fmt::format(": {}", quote(description));
  return line + "\n";
}

/// " (distance +1 x 40, -2 x 3)"; nothing where there are too many.
std::string distances_text(const json& distances) {
  constexpr std::size_t most = 6;
  if (distances.empty() || distances.size() > most) return {};
  std::string words;
  for (const auto& [distance, cases] : distances.items()) {
    if (distance == "+0") continue;
    words += fmt::format("{}{} x {}", words.empty() ? " (distance " : ", ", distance, cases.get<std::uint64_t>());
  }
  return words.empty() ? words : words + ")";
}

std::string causes_text(const json& causes) {
  std::string words;
  for (const std::string_view cause : verify::cause_names) {
    if (!causes.contains(std::string(cause))) continue;
    for (const auto& [kind, tally] : causes[std::string(cause)].items()) {
      words += fmt::format("  {} {}: {} cases{}; likely {}\n", cause, kind, count(tally, "cases"),
                           distances_text(tally["distances"]), verify::likely_cause(kind));
    }
  }
  return words;
}

std::string classes_text(const json& classes) {
  std::string failing;
  for (const auto& [name, tally] : classes.items()) {
    const std::uint64_t failed = count(tally, "failed");
    if (failed == 0) continue;
    failing += fmt::format("{}{} ({}/{})", failing.empty() ? "" : ", ", name, failed,
                           count(tally, "passed") + failed + count(tally, "skipped"));
  }
  return failing.empty() ? failing : fmt::format("  failing classes: {}\n", failing);
}

std::string statistics_text(const json& statistics) {
  std::string words = fmt::format("  STATISTICAL: {} tests over {} draws, {} alarms; a false alarm at {} in all\n",
                                  count(statistics, "tests"), count(statistics, "draws"), statistics["alarms"].size(),
                                  statistics["false_alarm_rate"].dump());
  for (const json& alarm : statistics["alarms"]) words += fmt::format("  {}\n", alarm.get<std::string>());
  return words;
}

std::string table_text(const json& table) {
  std::string words =
      fmt::format("{} {}: {}\n", text(table, "operation"), text(table, "profile"), tally_text(table["tally"]));
  for (const json& name : table["missing_tensors"])
    words += fmt::format("  missing tensor {}\n", name.get<std::string>());
  if (const std::uint64_t waived = count(table, "waived"); waived != 0)
    words += fmt::format("  waived: {} cases\n", waived);
  words += causes_text(table["causes"]);
  if (!table["diagnosis"].is_null()) words += fmt::format("  diagnosis: {}\n", text(table["diagnosis"], "text"));
  if (!table["statistical"].is_null()) words += statistics_text(table["statistical"]);
  return words + classes_text(table["classes"]);
}

std::string unsupported_text(const json& table) {
  const json& groups = table["unsupported_groups"];
  if (groups.empty()) return {};
  if (count(table, "offered_groups") == 0) return fmt::format("unsupported: {}\n", table_name(table));
  const auto names = groups.get<std::vector<std::string>>();
  return fmt::format("unsupported: {}: {}\n", table_name(table), fmt::join(names, ", "));
}

std::string waivers_text(const json& waivers) {
  if (waivers.is_null()) return {};
  std::string words;
  for (const json& entry : waivers["entries"]) {
    const std::string what =
        entry.contains("case") ? "case " + text(entry, "case") : fmt::format("class {}", text(entry, "class"));
    words += fmt::format("waiver: {} of {}{}: {}, {} cases, until {}, {}: {}\n", text(entry, "operation"), what,
                         entry["profile"].is_null() ? "" : " under " + text(entry, "profile"), text(entry, "state"),
                         count(entry, "cases"), text(entry, "expiry"), quote(text(entry, "owner")),
                         quote(text(entry, "reason")));
  }
  return words;
}

std::string withdrawn_text(const json& document) {
  std::uint64_t cases = 0;
  for (const json& table : document["tables"]) cases += count(table, "withdrawn");
  if (cases == 0 || !document["cases"].contains("errata")) return {};
  const json& errata = document["cases"]["errata"];
  return fmt::format("withdrawn: {} cases by {}, {} of whose entries are not withdrawn by fp4proof itself\n", cases,
                     quote(text(errata, "path")), count(errata, "foreign"));
}

}  // namespace

std::string report_text(const json& document) {
  std::string words = subject_text(document);
  for (const json& table : document["tables"]) words += table_text(table);
  for (const json& mismatch : document["mismatches"]) words += "\n" + text(mismatch, "text");
  for (const json& table : document["tables"]) words += unsupported_text(table);
  words += waivers_text(document["waivers"]);
  words += withdrawn_text(document);
  if (const std::uint64_t survivors = count(document, "survivors"); survivors != 0)
    words += fmt::format("the subject left {} processes behind; they were ended\n", survivors);
  if (const std::string shard = text(document["cases"], "shard"); shard != "1/1")
    words += fmt::format("shard {}: fp4proof merge makes one report of all\n", shard);
  return words +
         fmt::format("verdict: {} (exit code {})\n", text(document, "verdict"), document["exit_code"].get<int>());
}

std::string totals_line(const json& document) { return tally_text(document["tally"]) + "\n"; }

}  // namespace fp4proof::verdict
