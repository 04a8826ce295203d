#include "conformance/verify/report.h"

#include <fmt/format.h>

namespace fp4proof::verify {

namespace {

/// "+1 x 40, -2 x 3": the most frequent first would need sorting; the number line is as good.
std::string distances_text(const CauseTally& tally) {
  constexpr std::size_t most = 6;
  if (tally.distances.empty() || tally.distances.size() > most) return {};
  std::string text;
  for (const auto& [distance, count] : tally.distances) {
    if (distance != 0) text += fmt::format("{}{:+} x {}", text.empty() ? " (distance " : ", ", distance, count);
  }
  return text.empty() ? text : text + ")";
}

nlohmann::json to_json(const Tally& tally) {
  return {{"passed", tally.passed}, {"failed", tally.failed}, {"skipped", tally.skipped}};
}

nlohmann::json to_json(const CauseTally& tally) {
  nlohmann::json distances = nlohmann::json::object();
  for (const auto& [distance, count] : tally.distances) distances[fmt::format("{:+}", distance)] = count;
  return {{"cases", tally.cases}, {"distances", distances}};
}

nlohmann::json to_json(const TableReport& table) {
  nlohmann::json classes = nlohmann::json::object();
  for (const auto& [name, tally] : table.classes) classes[name] = to_json(tally);
  nlohmann::json causes = nlohmann::json::object();
  for (const auto& [cause, kinds] : table.causes) {
    nlohmann::json& of_cause = causes[std::string(name_of(cause))];
    for (const auto& [kind, tally] : kinds) of_cause[kind] = to_json(tally);
  }
  return {{"operation", suite::name_of(table.operation)},
          {"profile", table.profile->name},
          {"tally", to_json(table.total())},
          {"classes", classes},
          {"causes", causes},
          {"withdrawn", table.withdrawn},
          {"missing", table.missing},
          {"missing_tensors", table.missing_tensors}};
}

std::string table_text(const TableReport& table) {
  std::string text =
      fmt::format("{} {}: {}\n", suite::name_of(table.operation), table.profile->name, to_text(table.total()));
  for (const std::string& name : table.missing_tensors) text += fmt::format("  missing tensor {}\n", name);
  for (const auto& [cause, kinds] : table.causes) {
    for (const auto& [kind, tally] : kinds) {
      text += fmt::format("  {} {}: {} cases{}; likely {}\n", name_of(cause), kind, tally.cases, distances_text(tally),
                          likely_cause(kind));
    }
  }
  std::string failing;
  for (const auto& [name, tally] : table.classes) {
    if (tally.failed != 0)
      failing += fmt::format("{}{} ({}/{})", failing.empty() ? "" : ", ", name, tally.failed, tally.total());
  }
  if (!failing.empty()) text += fmt::format("  failing classes: {}\n", failing);
  return text;
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  passed += other.passed;
  failed += other.failed;
  skipped += other.skipped;
  return *this;
}

Tally TableReport::total() const {
  Tally sum;
  for (const auto& [name, tally] : classes) sum += tally;
  return sum;
}

Tally VerifyReport::total() const {
  Tally sum;
  for (const TableReport& table : tables) sum += table.total();
  return sum;
}

bool VerifyReport::has_missing() const {
  for (const TableReport& table : tables)
    if (table.missing != 0) return true;
  return false;
}

std::string to_text(const Tally& tally) {
  return fmt::format("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped);
}

std::string to_text(const VerifyReport& report) {
  std::string text;
  for (const TableReport& table : report.tables) text += table_text(table);
  for (const Mismatch& mismatch : report.mismatches) text += "\n" + to_text(mismatch);
  return text;
}

nlohmann::json to_json(const VerifyReport& report) {
  nlohmann::json tables = nlohmann::json::array();
  for (const TableReport& table : report.tables) tables.push_back(to_json(table));
  nlohmann::json mismatches = nlohmann::json::array();
  for (const Mismatch& mismatch : report.mismatches) mismatches.push_back(to_json(mismatch));
  return {{"tally", to_json(report.total())}, {"tables", tables}, {"mismatches", mismatches}};
}

}  // namespace fp4proof::verify
