#include "conformance/verdict/document_check.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "conformance/suite/generate_set.h"
#include "conformance/verdict/document_fields.h"
#include "conformance/verdict/judge.h"
#include "conformance/verify/mismatch.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

/// Of any count: sums of as many shards as there may be stay below 2^64.
constexpr std::uint64_t largest_count = std::uint64_t{1} << 48;

constexpr std::array<const char*, 3> tally_fields = {"passed", "failed", "skipped"};

using Name = std::pair<std::string, std::string>;

Name name_of_table(const json& value) { return {text(value, "operation"), text(value, "profile")}; }

/// Finds the first problem; empty where there is none.
class DocumentCheck {
 public:
  explicit DocumentCheck(const json& document) : document_(document) {}

  std::string run() {
    check_shard();
    for (const json& fault : document_.at("faults")) faults_[name_of_table(fault)] += count(fault, "cases", "faults");
    Tally sum{};
    for (const json& table : document_.at("tables")) {
      check_table(table);
      add(sum, table.at("tally"), "a table");
    }
    expect(sum == tally_of(document_.at("tally"), "tally"), "the tally is not the sum of those of the tables");
    count(document_, "survivors", "the report");
    check_mismatches();
    if (!document_.at("waivers").is_null())
      for (const json& entry : document_.at("waivers").at("entries")) count(entry, "cases", "waivers");
    if (problem_.empty()) check_verdict();
    return problem_;
  }

 private:
  using Tally = std::array<std::uint64_t, tally_fields.size()>;

  void expect(bool holds, std::string_view problem) {
    if (!holds && problem_.empty()) problem_ = problem;
  }

  std::uint64_t number(const json& value, std::string_view what) {
    const bool is_natural = value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
    const std::uint64_t counted = is_natural ? value.get<std::uint64_t>() : 0;
    expect(is_natural && counted <= largest_count, fmt::format("{}: {} is no count", what, value.dump()));
    return is_natural && counted <= largest_count ? counted : 0;
  }

  std::uint64_t count(const json& value, const char* field, std::string_view what) {
    return number(value.at(field), fmt::format("{} of {}", field, what));
  }

  Tally tally_of(const json& value, std::string_view what) {
    Tally tally{};
    for (std::size_t i = 0; i < tally.size(); ++i) tally[i] = count(value, tally_fields[i], what);
    return tally;
  }

  void add(Tally& sum, const json& value, std::string_view what) {
    const Tally part = tally_of(value, what);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }

  void check_shard() {
    const std::optional<suite::Shard> shard = suite::parse_shard(text(document_.at("cases"), "shard"));
    expect(shard.has_value(), "the shard is not I/N");
    if (!shard) return;
    for (const json& table : document_.at("tables"))
      expect(table.contains("group_places") == (shard->count != 1),
             "a shard and a whole run list other places, and this report those of the other");
  }

  std::uint64_t cases_of(const std::string& table, const std::string& cause, const json& kinds) {
    std::uint64_t cases = 0;
    for (const auto& [kind, tally] : kinds.items()) {
      const std::string what = fmt::format("{}: {} {}", table, cause, kind);
      const std::uint64_t of_kind = count(tally, "cases", what);
      std::uint64_t at_distances = 0;
      for (const json& cell : tally.at("distances")) at_distances += number(cell, what);
      expect(at_distances <= of_kind, fmt::format("{} has more distances than cases", what));
      cases += of_kind;
    }
    return cases;
  }

  void check_table(const json& table) {
    const Name name = name_of_table(table);
    const std::string what = fmt::format("{} under {}", name.first, name.second);
    expect(failed_.try_emplace(name, 0).second, fmt::format("{} is listed twice", what));
    Tally sum{};
    for (const json& tally : table.at("classes")) add(sum, tally, what);
    const Tally tally = tally_of(table.at("tally"), what);
    expect(sum == tally, fmt::format("{}: the tally is not the sum of those of the classes", what));
    failed_[name] = tally[1];
    const std::uint64_t let_pass =
        count(table, "withdrawn", what) + count(table, "waived", what) + count(table, "missing", what);
    expect(let_pass <= tally[2], fmt::format("{}: more cases were let pass than skipped", what));
    expect(count(table, "withdrawn", what) == 0 || document_.at("cases").contains("errata"),
           fmt::format("{}: cases are withdrawn, and nothing names them", what));
    count(table, "offered_groups", what);
    std::uint64_t wrong = 0;
    std::uint64_t nondeterministic = 0;
    for (const auto& [cause, kinds] : table.at("causes").items()) {
      const std::uint64_t cases = cases_of(what, cause, kinds);
      wrong += cases;
      if (cause == name_of(verify::Cause::nondeterministic)) nondeterministic += cases;
    }
    expect(count(table, "nondeterministic", what) == nondeterministic,
           fmt::format("{}: two numbers of cases in which two runs differ", what));
    if (!table.at("statistical").is_null()) return;
    expect(wrong + faults_[name] == tally[1],
           fmt::format("{}: {} cases failed, but {} have a cause", what, tally[1], wrong + faults_[name]));
  }

  void check_mismatches() {
    std::map<Name, std::uint64_t> listed;
    for (const json& mismatch : document_.at("mismatches")) {
      count(mismatch, "place", "a mismatch");
      ++listed[name_of_table(mismatch)];
    }
    for (const auto& [name, cases] : listed)
      expect(failed_.contains(name) && failed_.at(name) >= cases,
             fmt::format("{} under {}: more mismatches are listed than cases failed", name.first, name.second));
    const std::uint64_t most = number(document_.at("demands").at("errors"), "errors");
    expect(document_.at("mismatches").size() <= most, "more mismatches are listed than were asked for");
  }

  void check_verdict() {
    json judged = document_;
    pronounce(judged);
    for (const char* field : {"exit_code", "verdict", "reasons"})
      expect(judged.at(field) == document_.at(field), fmt::format("{} is {}, but the findings give {}", field,
                                                                  document_.at(field).dump(), judged.at(field).dump()));
  }

  const json& document_;
  std::map<Name, std::uint64_t> faults_;
  std::map<Name, std::uint64_t> failed_;
  std::string problem_;
};

Error corrupt(std::string_view label, std::string_view problem) {
  return {ErrorKind::corrupt, fmt::format("{}: not as fp4proof writes it: {}", label, problem)};
}

}  // namespace

Result<void> check_document(const json& document, std::string_view label) {
  try {
    const std::string problem = DocumentCheck(document).run();
    if (problem.empty()) return {};
    return corrupt(label, problem);
  } catch (const json::exception& problem) {
    return corrupt(label, problem.what());
  }
}

}  // namespace fp4proof::verdict
