#include "conformance/verify/report.h"

#include <fmt/format.h>

namespace fp4proof::verify {

namespace {

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

nlohmann::json to_json(const VerifyReport& report) {
  nlohmann::json tables = nlohmann::json::array();
  for (const TableReport& table : report.tables) tables.push_back(to_json(table));
  nlohmann::json mismatches = nlohmann::json::array();
  for (const Mismatch& mismatch : report.mismatches) mismatches.push_back(to_json(mismatch));
  return {{"tally", to_json(report.total())}, {"tables", tables}, {"mismatches", mismatches}};
}

}  // namespace fp4proof::verify
