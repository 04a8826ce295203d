#include "conformance/report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "conformance/report/mismatch_view.h"
#include "conformance/report/svg.h"
#include "conformance/vectors/counted.h"

namespace fp4proof::report {

namespace {

constexpr std::size_t most_results = 5000;
constexpr const char* plugin_rule = "PLUGIN/fault";
constexpr const char* schema_uri = "https://json.schemastore.org/sarif-2.1.0.json";

bool stays_in_uri(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/+@").find(c) != std::string_view::npos;
}

/// A path as a URI reference: relative ones without "./" in front, absolute ones with the scheme file.
std::string uri_of(const std::string& path) {
  const std::string plain = std::filesystem::path(path).lexically_normal().generic_string();
  std::string uri = plain.starts_with('/') ? "file://" : "";
  for (const char c : plain) {
    uri += stays_in_uri(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string rule_id(const std::string& cause, const std::string& kind) { return cause + "/" + kind; }

Json message(const std::string& text) { return {{"text", text}}; }

Json rule_of(const std::string& id, const std::string& summary, const std::string& help) {
  return {{"id", id},
          {"name", id},
          {"shortDescription", message(summary)},
          {"fullDescription", message(help)},
          {"help", {{"text", help}, {"markdown", fmt::format("**{}**: {}", id, help)}}},
          {"defaultConfiguration", {{"level", "error"}}},
          {"properties", {{"tags", Json::array({"conformance", "numerics"})}, {"precision", "very-high"}}}};
}

/// Causes and kinds in the order of their first appearance.
class Rules {
 public:
  std::size_t index_of(const std::string& cause, const std::string& kind) {
    const std::string id = rule_id(cause, kind);
    const std::string help = fmt::format("Likely: {}.", verify::likely_cause(kind));
    return index_of(id, fmt::format("{} mismatch: {}", cause, kind), help);
  }

  std::size_t plugin_fault() {
    return index_of(plugin_rule, "A plug-in failed",
                    "The plug-in crashed, hung, ended, wrote where it must not, or broke a promise of the interface.");
  }

  std::size_t alarm() {
    return index_of("STATISTICAL/alarm", "Stochastic rounding fails a statistical test",
                    "The share of values rounded up is one that a right kernel has next to never.");
  }

  std::size_t incomplete() {
    return index_of("VERDICT/not-conformant", "The run did not end conformant",
                    "Nothing compared is wrong, but less was compared than was asked for, or it could not be.");
  }

  const Json& list() const { return list_; }

 private:
  /// Readers take 255 characters of an id and 1 024 of a summary.
  std::size_t index_of(const std::string& name, const std::string& summary, const std::string& help) {
    const std::string id = elided(name, 250);
    const auto [place, is_new] = places_.try_emplace(id, list_.size());
    if (is_new) list_.push_back(rule_of(id, elided(summary, 1000), help));
    return place->second;
  }

  std::map<std::string, std::size_t> places_;
  Json list_ = Json::array();
};

class Run {
 public:
  explicit Run(const Json& document) : document_(document), artifact_(artifact_uri()) {}

  Json result() {
    add_mismatches();
    add_counted_causes();
    add_alarms();
    add_faults();
    add_verdict();
    Json run = {{"tool", {{"driver", driver()}}},
                {"columnKind", "utf16CodeUnits"},
                {"invocations", Json::array({invocation()})},
                {"artifacts", Json::array({artifact()})},
                {"results", results_}};
    run["automationDetails"] = {{"id", fmt::format("fp4proof/{}/", text_at(document_, "command"))}};
    return run;
  }

 private:
  std::string artifact_uri() const {
    const std::string path = text_at(at(document_, "subject"), "path");
    if (!path.empty()) return uri_of(path);
    const std::string source = text_at(at(document_, "cases"), "source");
    return source.starts_with("folder ") ? uri_of(source.substr(7)) : uri_of(source.empty() ? "cases" : source);
  }

  void add(std::size_t rule, const std::string& text, const std::string& fingerprint, const Json& logical_location,
           Json properties) {
    if (results_.size() == most_results) {
      ++left_out_;
      return;
    }
    const int number = ++seen_[fingerprint];
    const std::string unique = number == 1 ? fingerprint : fmt::format("{}:{}", fingerprint, number);
    results_.push_back({{"ruleId", rules_.list()[rule]["id"]},
                        {"ruleIndex", rule},
                        {"level", "error"},
                        {"message", message(text)},
                        {"partialFingerprints", {{"fp4proofCase/v1", unique}, {"primaryLocationLineHash", unique}}},
                        {"locations", Json::array({location_of(logical_location)})},
                        {"properties", std::move(properties)}});
  }

  Json location_of(const Json& logical_location) const {
    return {{"physicalLocation",
             {{"artifactLocation", {{"uri", artifact_}, {"index", 0}}}, {"region", {{"startLine", 1}}}}},
            {"logicalLocations", Json::array({logical_location})}};
  }

  static Json logical(const Json& value, const std::string& name, const std::string& rest) {
    return {
        {"name", name},
        {"kind", "resource"},
        {"fullyQualifiedName", fmt::format("{}/{}{}", text_at(value, "operation"), text_at(value, "profile"), rest)}};
  }

  const Json& diagnosis_of(const Json& value) const {
    for (const Json& table : at(document_, "tables"))
      if (same_table(table, value)) return at(table, "diagnosis");
    return at(document_, "");
  }

  static Json bits_of(const Json& mismatch) {
    Json properties = {{"operation", at(mismatch, "operation")}, {"profile", at(mismatch, "profile")},
                       {"group", at(mismatch, "group")},         {"class", at(mismatch, "class")},
                       {"case", at(mismatch, "case_id")},        {"place", place_of(mismatch)},
                       {"distance", at(mismatch, "distance")}};
    for (const NumberView& view : numbers_of(mismatch)) {
      properties[view.label] = {{"value", view.value}, {"bits", view.bits}, {"fields", fields_text(view)}};
    }
    return properties;
  }

  void add_mismatches() {
    for (const Json& mismatch : at(document_, "mismatches")) {
      const std::string kind = text_at(mismatch, "kind");
      const std::string id = text_at(mismatch, "case_id");
      covered_.insert(key_of(mismatch, text_at(mismatch, "cause"), kind));
      const std::string diagnosis = text_at(diagnosis_of(mismatch), "text");
      std::string text = fmt::format("{} in {}; likely {}.\n{}", cause_of(mismatch), table_name(mismatch),
                                     text_at(mismatch, "likely"), text_of(mismatch));
      if (!diagnosis.empty()) text += fmt::format("Diagnosis: {}\n", diagnosis);
      Json location = logical(mismatch, id, fmt::format("/{}/{}", text_at(mismatch, "group"), id));
      add(rules_.index_of(text_at(mismatch, "cause"), kind), text, fmt::format("{}:{}", id, kind), location,
          bits_of(mismatch));
    }
  }

  static std::string key_of(const Json& value, const std::string& cause, const std::string& kind) {
    return fmt::format("{}:{}:{}:{}", text_at(value, "operation"), text_at(value, "profile"), cause, kind);
  }

  void add_counted_causes() {
    for (const Json& table : at(document_, "tables")) {
      for (const CauseRow& row : causes_of(table)) {
        const std::string key = key_of(table, row.cause, row.kind);
        if (covered_.contains(key)) continue;
        const std::string text =
            fmt::format("{} {}: {} of {} fail; likely {}.", row.cause, row.kind, counted(row.cases, "case"),
                        table_name(table), verify::likely_cause(row.kind));
        add(rules_.index_of(row.cause, row.kind), text, key, logical(table, text_at(table, "profile"), ""),
            {{"cases", row.cases}, {"distances", *row.distances}});
      }
    }
  }

  void add_alarms() {
    for (const Json& table : at(document_, "tables")) {
      for (const std::string& alarm : alarms_of(table)) {
        const std::size_t rule = rules_.alarm();
        add(rule, fmt::format("{}: {}", table_name(table), alarm), key_of(table, "STATISTICAL", "alarm"),
            logical(table, text_at(table, "profile"), ""), at(table, "statistical"));
      }
    }
  }

  void add_faults() {
    for (const Json& fault : at(document_, "faults")) {
      const std::string text =
          fmt::format("{} {}, {} from {} on: {}", table_name(fault), text_at(fault, "group"),
                      counted(count_at(fault, "cases"), "case"), text_at(fault, "first_case"), text_at(fault, "what"));
      add(rules_.plugin_fault(), text, fmt::format("{}:fault", text_at(fault, "first_case")),
          logical(fault, text_at(fault, "group"), "/" + text_at(fault, "group")), fault);
    }
    for (const char* problem : {"load_problem", "close_problem"}) {
      const std::string text = text_at(document_, problem);
      if (text.empty()) continue;
      const Json location = {{"name", problem}, {"kind", "resource"}, {"fullyQualifiedName", problem}};
      add(rules_.plugin_fault(), text, problem, location, Json::object());
    }
  }

  /// A file without a result means exit code 0.
  void add_verdict() {
    const std::uint64_t code = count_at(document_, "exit_code");
    if (code == 0 || !results_.empty()) return;
    std::string text = fmt::format("Exit code {}, {}.", code, exit_code_name(static_cast<std::int64_t>(code)));
    for (const std::string& reason : texts_at(document_, "reasons")) text += "\n" + reason;
    const Json location = {{"name", "verdict"}, {"kind", "resource"}, {"fullyQualifiedName", "verdict"}};
    add(rules_.incomplete(), text, fmt::format("verdict:{}", code), location, Json::object());
  }

  Json driver() const {
    return {{"name", "fp4proof"},
            {"version", text_at(document_, "tool_version")},
            {"semanticVersion", text_at(document_, "tool_version")},
            {"shortDescription", message("Bit-exact conformance of 4-bit block-scaled floating point")},
            {"rules", rules_.list()}};
  }

  Json invocation() const {
    const std::uint64_t code = count_at(document_, "exit_code");
    Json notifications = Json::array();
    for (const std::string& reason : texts_at(document_, "reasons")) {
      notifications.push_back({{"level", "error"}, {"message", message(reason)}});
    }
    if (left_out_ != 0) {
      notifications.push_back({{"level", "warning"}, {"message", message(counted(left_out_, "result") + " left out")}});
    }
    return {{"executionSuccessful", code <= 1},
            {"exitCode", code},
            {"exitCodeDescription", exit_code_name(static_cast<std::int64_t>(code))},
            {"arguments", texts_at(document_, "invocation")},
            {"toolExecutionNotifications", notifications}};
  }

  Json artifact() const {
    Json artifact = {{"location", {{"uri", artifact_}}}, {"roles", Json::array({"analysisTarget"})}};
    const std::string digest = text_at(at(document_, "subject"), "sha256");
    if (!digest.empty()) artifact["hashes"] = {{"sha-256", digest}};
    return artifact;
  }

  const Json& document_;
  std::string artifact_;
  Rules rules_;
  Json results_ = Json::array();
  std::map<std::string, int> seen_;
  std::set<std::string> covered_;
  std::size_t left_out_ = 0;
};

}  // namespace

std::string sarif(const Json& document) {
  const Json clean = readable(document);
  const Json log = {{"$schema", schema_uri}, {"version", "2.1.0"}, {"runs", Json::array({Run(clean).result()})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fp4proof::report
