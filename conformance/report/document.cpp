#include "conformance/report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace fp4proof::report {

namespace {

constexpr std::array<std::pair<std::int64_t, std::string_view>, 9> exit_code_names = {{
    {0, "conformant"},
    {1, "mismatch"},
    {2, "usage"},
    {3, "corrupt"},
    {4, "plug-in failed"},
    {5, "incomplete"},
    {6, "unsupported"},
    {7, "nondeterministic"},
    {70, "internal"},
}};

std::optional<std::int64_t> integer_of(const Json& value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > most)) {
    return std::nullopt;
  }
  return value.get<std::int64_t>();
}

}  // namespace

Json readable(const Json& document) {
  return Json::parse(document.dump(-1, ' ', false, Json::error_handler_t::replace), nullptr, false);
}

const Json& at(const Json& value, std::string_view name) {
  static const Json nothing;
  if (!value.is_object()) return nothing;
  const auto found = value.find(name);
  return found == value.end() ? nothing : *found;
}

std::string text_at(const Json& value, std::string_view name) {
  const Json& found = at(value, name);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::optional<std::int64_t> integer_at(const Json& value, std::string_view name) { return integer_of(at(value, name)); }

std::uint64_t count_of(const Json& value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(value).value_or(0)));
}

std::uint64_t count_at(const Json& value, std::string_view name) { return count_of(at(value, name)); }

std::vector<std::string> texts_at(const Json& value, std::string_view name) {
  std::vector<std::string> texts;
  const Json& list = at(value, name);
  if (!list.is_array()) return texts;
  for (const Json& entry : list)
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  return texts;
}

verify::Tally tally_of(const Json& value) {
  return {count_at(value, "passed"), count_at(value, "failed"), count_at(value, "skipped")};
}

std::string table_name(const Json& value) {
  return fmt::format("{} under {}", text_at(value, "operation"), text_at(value, "profile"));
}

bool same_table(const Json& a, const Json& b) {
  return at(a, "operation") == at(b, "operation") && at(a, "profile") == at(b, "profile");
}

std::vector<std::string> alarms_of(const Json& table) { return texts_at(at(table, "statistical"), "alarms"); }

bool is_failing(const Json& table) { return count_at(at(table, "tally"), "failed") != 0 || !alarms_of(table).empty(); }

std::string subject_name(const Json& document) {
  const Json& subject = at(document, "subject");
  const std::string name = text_at(subject, "name");
  if (!name.empty()) {
    const std::string version = text_at(subject, "version");
    return version.empty() ? name : name + " " + version;
  }
  const std::string path = text_at(subject, "path");
  return path.empty() ? "the answers" : path;
}

std::string_view exit_code_name(std::int64_t code) {
  const auto found = std::ranges::find(exit_code_names, code, [](const auto& row) { return row.first; });
  return found == exit_code_names.end() ? std::string_view() : found->second;
}

std::vector<CauseRow> causes_of(const Json& table) {
  std::vector<CauseRow> rows;
  const Json& causes = at(table, "causes");
  if (!causes.is_object()) return rows;
  for (const auto& [cause, kinds] : causes.items()) {
    if (!kinds.is_object()) continue;
    for (const auto& [kind, counts] : kinds.items()) {
      rows.push_back({cause, kind, count_at(counts, "cases"), &at(counts, "distances")});
    }
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &CauseRow::cases);
  return rows;
}

}  // namespace fp4proof::report
