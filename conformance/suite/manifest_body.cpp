// The manifest's body, to JSON and back.

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "conformance/suite/vector_set.h"
#include "conformance/vectors/os_error.h"
#include "formats/spec_profiles.h"

namespace fp4proof::suite {

namespace {

using nlohmann::json;

constexpr std::string_view pad_name = "pad";
constexpr std::string_view error_name = "error";

json group_to_json(const GroupEntry& group) {
  const GroupSpec& spec = group.spec;
  json value = {{"cases", group.cases}, {"columns", spec.columns}, {"name", group_name(spec)}, {"rows", spec.rows}};
  if (spec.accumulator.empty()) {
    value["axis"] = spec.axis;
    value["tail"] = spec.tail == portable::Tail::pad ? pad_name : error_name;
  } else {
    value["accumulator"] = spec.accumulator;
    value["other_rows"] = spec.other_rows;
  }
  if (!spec.correction.empty()) value["correction"] = spec.correction;
  return value;
}

json table_to_json(const TableEntry& table) {
  json groups = json::array();
  for (const GroupEntry& group : table.groups) groups.push_back(group_to_json(group));
  return {{"aliases", table.aliases},
          {"cases", table.cases},
          {"classes", table.classes},
          {"file", table.file},
          {"groups", groups},
          {"operation", name_of(table.operation)},
          {"profile", profile_to_json(*table.profile)}};
}

/// Reads fields and remembers the first thing that is wrong.
class FieldReader {
 public:
  explicit FieldReader(std::string_view label) : label_(label) {}

  bool ok() const { return problem_.empty(); }
  Error error() const { return {ErrorKind::corrupt, fmt::format("{}: {}", label_, problem_)}; }
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  /// Complains unless `value` is an object of exactly these fields, and `optional` if it is there.
  bool object(const json& value, std::string_view what, std::initializer_list<std::string_view> fields,
              std::string_view optional = {}) {
    const std::size_t more = value.is_object() && !optional.empty() && value.contains(optional) ? 1 : 0;
    if (!value.is_object() || value.size() != fields.size() + more) {
      fail(fmt::format("{} is not an object of {} fields", what, fields.size() + more));
    }
    for (const std::string_view field : fields) {
      if (ok() && !value.contains(field)) fail(fmt::format("{}: field \"{}\" is missing", what, field));
    }
    return ok();
  }

  std::string text(const json& value, std::string_view what) {
    if (value.is_string()) return value.get<std::string>();
    fail(fmt::format("{} is not a string", what));
    return {};
  }

  std::uint64_t number(const json& value, std::string_view what, std::uint64_t most) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return value.get<std::uint64_t>();
    fail(fmt::format("{} is not a number of 0 to {}", what, most));
    return 0;
  }

  bool flag(const json& value, std::string_view what) {
    if (value.is_boolean()) return value.get<bool>();
    fail(fmt::format("{} is neither true nor false", what));
    return false;
  }

  const json& array(const json& value, std::string_view what) {
    static const json empty = json::array();
    if (value.is_array()) return value;
    fail(fmt::format("{} is not an array", what));
    return empty;
  }

  Operation operation(const json& value, std::string_view what) {
    const std::optional<Operation> known = operation_named(text(value, what));
    if (!known) fail(fmt::format("{} is no operation", what));
    return known.value_or(Operation::quantize);
  }

 private:
  std::string_view label_;
  std::string problem_;
};

/// Sizes of a group stay far from overflow, whatever a manifest says.
constexpr std::uint64_t most_rows = std::uint64_t{1} << 20;

GroupEntry read_group_entry(const json& value, FieldReader& reader) {
  GroupEntry group;
  const bool is_gemm = value.is_object() && value.contains("accumulator");
  const bool sound =
      is_gemm ? reader.object(value, "group", {"accumulator", "cases", "columns", "name", "other_rows", "rows"},
                              "correction")
              : reader.object(value, "group", {"axis", "cases", "columns", "name", "rows", "tail"}, "correction");
  if (!sound) return group;
  if (value.contains("correction")) {
    group.spec.correction = reader.text(value["correction"], "correction");
    if (const Result<CorrectionStack> known = stack_of(group.spec); !known) reader.fail(known.error().message);
  }
  group.cases = reader.number(value["cases"], "cases of a group", std::numeric_limits<std::uint32_t>::max());
  group.spec.rows = static_cast<std::int64_t>(reader.number(value["rows"], "rows", most_rows));
  group.spec.columns = static_cast<std::int64_t>(reader.number(value["columns"], "columns", most_rows));
  if (is_gemm) {
    group.spec.accumulator = reader.text(value["accumulator"], "accumulator");
    group.spec.other_rows = static_cast<std::int64_t>(reader.number(value["other_rows"], "other_rows", most_rows));
  } else {
    group.spec.axis = static_cast<int>(reader.number(value["axis"], "axis", 1));
    const std::string tail = reader.text(value["tail"], "tail");
    if (tail != pad_name && tail != error_name) reader.fail("tail is neither \"pad\" nor \"error\"");
    group.spec.tail = tail == pad_name ? portable::Tail::pad : portable::Tail::error;
  }
  if (reader.ok() && group_name(group.spec) != reader.text(value["name"], "name of a group")) {
    reader.fail(fmt::format("group {} has not the name of its fields", value["name"].dump()));
  }
  return group;
}

/// A named profile if it is what this program knows under the name; else a profile of its own.
SharedProfile read_profile(const json& value, FieldReader& reader) {
  const std::string name = value.is_object() && value.contains("name") ? reader.text(value["name"], "name") : "";
  if (const Profile* known = find_profile(name)) {
    if (profile_to_json(*known) != value) {
      reader.fail(fmt::format("profile {} is not the profile that this program knows under that name", quote(name)));
    }
    return {SharedProfile(), known};
  }
  const Result<SharedProfile> own = profile_from_json(value, "profile");
  if (own) return *own;
  reader.fail(own.error().message);
  return nullptr;
}

TableEntry read_table_entry(const json& value, FieldReader& reader) {
  TableEntry table;
  if (!reader.object(value, "table", {"aliases", "cases", "classes", "file", "groups", "operation", "profile"})) {
    return table;
  }
  table.file = reader.text(value["file"], "file");
  table.operation = reader.operation(value["operation"], "operation of a table");
  table.profile = read_profile(value["profile"], reader);
  table.cases = reader.number(value["cases"], "cases", std::numeric_limits<std::uint32_t>::max());
  for (const json& alias : reader.array(value["aliases"], "aliases")) {
    table.aliases.push_back(reader.text(alias, "alias"));
  }
  for (const json& group : reader.array(value["groups"], "groups")) {
    table.groups.push_back(read_group_entry(group, reader));
  }
  if (!value["classes"].is_object()) reader.fail("classes of a table are not an object");
  if (!reader.ok()) return table;
  for (const auto& [name, count] : value["classes"].items()) {
    table.classes[name] = reader.number(count, "cases of a class", table.cases);
  }
  return table;
}

ClassEntry read_class_entry(const json& value, FieldReader& reader) {
  if (!reader.object(value, "class", {"bug", "name", "operation"})) return {};
  return {reader.text(value["name"], "name of a class"), reader.text(value["bug"], "bug of a class"),
          reader.operation(value["operation"], "operation of a class")};
}

}  // namespace

nlohmann::json manifest_body(const VectorSet& set) {
  json classes = json::array();
  for (const ClassEntry& entry : set.classes) {
    classes.push_back({{"bug", entry.bug}, {"name", entry.name}, {"operation", name_of(entry.operation)}});
  }
  json tables = json::array();
  for (const TableEntry& table : set.tables) tables.push_back(table_to_json(table));
  return {{"classes", classes},
          {"inputs_only", set.inputs_only},
          {"seed", set.seed},
          {"shard", set.shard},
          {"tables", tables}};
}

namespace {

/// What the manifest says twice must agree: a set that lost a table, or counts one twice, must not pass as whole.
void check_consistency(const VectorSet& set, const Manifest& manifest, FieldReader& reader) {
  std::set<std::string_view> files;
  for (const TableEntry& table : set.tables) {
    if (!files.insert(table.file).second) reader.fail(fmt::format("{} is listed as two tables", quote(table.file)));
    std::uint64_t in_classes = 0;
    std::uint64_t in_groups = 0;
    for (const auto& [name, cases] : table.classes) in_classes += cases;
    for (const GroupEntry& group : table.groups) in_groups += group.cases;
    if (in_classes != table.cases || in_groups != table.cases) {
      reader.fail(fmt::format("table {} counts {} cases, {} in its groups and {} in its classes", quote(table.file),
                              table.cases, in_groups, in_classes));
    }
  }
  for (const auto& [name, record] : manifest.files) {
    if (!files.contains(name)) reader.fail(fmt::format("{} is among the files but is no table", quote(name)));
  }
  if (set.tables.empty()) reader.fail("the set has no tables");
}

}  // namespace

Result<VectorSet> parse_vector_set(Manifest manifest, std::string_view label) {
  FieldReader reader(label);
  VectorSet set;
  const json& body = manifest.body;
  if (!reader.object(body, "body", {"classes", "inputs_only", "seed", "shard", "tables"})) return reader.error();
  set.inputs_only = reader.flag(body["inputs_only"], "inputs_only");
  set.seed = reader.number(body["seed"], "seed", std::numeric_limits<std::uint64_t>::max());
  set.shard = reader.text(body["shard"], "shard");
  for (const json& value : reader.array(body["classes"], "classes")) {
    set.classes.push_back(read_class_entry(value, reader));
  }
  for (const json& value : reader.array(body["tables"], "tables")) {
    set.tables.push_back(read_table_entry(value, reader));
    if (!reader.ok()) return reader.error();
    if (!manifest.files.contains(set.tables.back().file)) {
      reader.fail(fmt::format("table {} is not among the files", quote(set.tables.back().file)));
    }
  }
  check_consistency(set, manifest, reader);
  if (!reader.ok()) return reader.error();
  set.manifest = std::move(manifest);
  return set;
}

}  // namespace fp4proof::suite
