#include "conformance/suite/errata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::suite {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t deepest = 4;

constexpr std::array<std::uint64_t, 0> project_errata = {};

bool is_text(const json& object, const char* field) { return object.contains(field) && object[field].is_string(); }

std::optional<std::uint64_t> parse_id(const std::string& text) {
  std::uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id, 16);
  if (text.size() != 16 || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return id;
}

}  // namespace

std::uint64_t Errata::foreign_count() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(withdrawn, [](const auto& entry) {
    return std::ranges::find(project_errata, entry.first) == project_errata.end();
  }));
}

std::span<const std::uint64_t> withdrawn_by_project() { return project_errata; }

Result<Errata> read_errata(const fs::path& path) {
  const std::string label = quote(path.string());
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const Result<json> document = parse_strict_json(text_of(file->bytes()), label, deepest);
  if (!document) return document.error();
  const auto corrupt = [&](std::string_view problem) {
    return Error{ErrorKind::corrupt, fmt::format("{}: {}", label, problem)};
  };
  if (!document->is_object() || !is_text(*document, "format") || (*document)["format"] != errata_format) {
    return corrupt(fmt::format("not an object of format {}", errata_format));
  }
  if (document->size() != 2 || !document->contains("withdrawn") || !(*document)["withdrawn"].is_array()) {
    return corrupt("must have the fields format and withdrawn, a list");
  }
  Errata errata;
  for (const json& entry : (*document)["withdrawn"]) {
    if (!entry.is_object() || entry.size() != 3 || !is_text(entry, "case_id") || !is_text(entry, "reason") ||
        !is_text(entry, "since")) {
      return corrupt("each withdrawn case has case_id, reason and since, all texts");
    }
    const std::optional<std::uint64_t> id = parse_id(entry["case_id"].get<std::string>());
    if (!id) return corrupt(fmt::format("case_id {} is not 16 hexadecimal digits", entry["case_id"].dump()));
    if (!errata.withdrawn.emplace(*id, entry["reason"].get<std::string>()).second) {
      return corrupt(fmt::format("case {} is withdrawn twice", entry["case_id"].dump()));
    }
  }
  const Result<Sha256Digest> digest = sha256(file->bytes());
  if (!digest) return digest.error();
  errata.path = path;
  errata.sha256 = to_hex(*digest);
  return errata;
}

std::optional<fs::path> errata_path_of_set(const fs::path& folder) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(folder).lexically_normal();
  const fs::path beside = (whole.has_filename() ? whole : whole.parent_path()).parent_path();
  for (const fs::path& place : {folder, beside}) {
    if (fs::exists(place / errata_name, ignored)) return place / errata_name;
  }
  return std::nullopt;
}

Result<Errata> errata_of_set(const fs::path& folder) {
  const std::optional<fs::path> path = errata_path_of_set(folder);
  return path ? read_errata(*path) : Result<Errata>(Errata{});
}

}  // namespace fp4proof::suite
