#include "conformance/vectors/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t deepest_manifest = 64;
constexpr std::size_t most_reported = 8;
constexpr std::string_view hexadecimal = "0123456789abcdef";

bool is_plain_name(std::string_view name) {
  const auto is_forbidden = [](char c) {
    return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 32 || c == 127;
  };
  return !name.empty() && name != "." && name.find("..") == std::string_view::npos &&
         std::ranges::none_of(name, is_forbidden);
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of(hexadecimal) == std::string_view::npos;
}

Error corrupt(std::string problem) { return {ErrorKind::corrupt, std::move(problem)}; }

Result<void> check_record(const std::string& name, const FileRecord& record) {
  if (!is_plain_name(name)) {
    return corrupt(
        fmt::format("file name {} must be a plain name, without folders, \"..\" or control characters", quote(name)));
  }
  if (!is_digest(record.sha256)) {
    return corrupt(fmt::format("file {}: sha256 must be 64 lower-case hexadecimal digits", quote(name)));
  }
  return {};
}

/// Refuses an object that has other fields than `fields`, or lacks one.
Result<void> check_fields(const json& value, std::string_view what, const std::vector<std::string_view>& fields) {
  if (!value.is_object()) return corrupt(fmt::format("{} is not an object", what));
  for (const std::string_view field : fields) {
    if (!value.contains(field)) return corrupt(fmt::format("{}: field \"{}\" is missing", what, field));
  }
  for (const auto& [field, unused] : value.items()) {
    if (std::ranges::find(fields, field) == fields.end()) {
      return corrupt(fmt::format("{}: unknown field {}", what, quote(field)));
    }
  }
  return {};
}

Result<FileRecord> read_record(const std::string& name, const json& value) {
  const std::string what = fmt::format("file {}", quote(name));
  if (Result<void> fields = check_fields(value, what, {"bytes", "sha256"}); !fields) return fields.error();
  if (!value["bytes"].is_number_unsigned()) return corrupt(what + ": bytes is not a non-negative integer");
  if (!value["sha256"].is_string()) return corrupt(what + ": sha256 is not a string");
  FileRecord record{value["sha256"].get<std::string>(), value["bytes"].get<std::uint64_t>()};
  if (Result<void> sound = check_record(name, record); !sound) return sound.error();
  return record;
}

Result<void> check_format(const json& document) {
  for (const char* field : {"format", "set", "tool_version"}) {
    if (!document[field].is_string()) return corrupt(fmt::format("field \"{}\" is not a string", field));
  }
  const auto& format = document["format"].get_ref<const std::string&>();
  if (format == manifest_format) return {};
  return corrupt(fmt::format("format {} is not \"{}\", the one this version reads; use the version that wrote it",
                             quote(format), manifest_format));
}

Result<Manifest> read_document(json document) {
  const Result<void> fields =
      check_fields(document, "the manifest", {"body", "files", "format", "set", "tool_version"});
  if (!fields) return fields.error();
  if (Result<void> format = check_format(document); !format) return format.error();
  if (!document["body"].is_object()) return corrupt("field \"body\" is not an object");
  if (!document["files"].is_object()) return corrupt("field \"files\" is not an object");
  Manifest manifest{
      document["tool_version"].get<std::string>(), document["set"].get<std::string>(), {}, std::move(document["body"])};
  for (const auto& [name, value] : document["files"].items()) {
    Result<FileRecord> record = read_record(name, value);
    if (!record) return record.error();
    manifest.files.emplace(name, std::move(*record));
  }
  return manifest;
}

json to_document(const Manifest& manifest) {
  json files = json::object();
  for (const auto& [name, record] : manifest.files) {
    files[name] = {{"sha256", record.sha256}, {"bytes", record.bytes}};
  }
  return {{"format", manifest_format},
          {"tool_version", manifest.tool_version},
          {"set", manifest.set},
          {"files", std::move(files)},
          {"body", manifest.body}};
}

/// What is wrong with one file; empty when it is as recorded.
std::string difference(const fs::path& path, const FileRecord& record) {
  std::error_code code;
  if (!fs::exists(path, code)) return "it is missing";
  const Result<FileRecord> found = record_file(path);
  if (!found) return found.error().message;
  if (found->bytes != record.bytes) return fmt::format("it has {} bytes, not {}", found->bytes, record.bytes);
  if (found->sha256 != record.sha256) return fmt::format("its sha256 is {}, not {}", found->sha256, record.sha256);
  return "";
}

}  // namespace

Result<std::string> manifest_text(const Manifest& manifest) {
  const auto usage = [](std::string_view problem) {
    return Error{ErrorKind::usage, fmt::format("the manifest cannot be written: {}", problem)};
  };
  const json document = to_document(manifest);
  std::string text;
  try {
    text = document.dump(2) + "\n";
  } catch (const json::exception&) {
    return usage("it holds text that is not valid UTF-8");
  }
  // Reading it back catches whatever a reader would refuse, and values that JSON turns into null.
  const Result<json> again = parse_strict_json(text, "the text", deepest_manifest);
  if (!again) return usage(again.error().message);
  if (*again != document) return usage("its body holds a value without a JSON form (NaN, infinity or binary)");
  if (const Result<Manifest> read = read_document(*again); !read) return usage(read.error().message);
  return text;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view label) {
  Result<json> document = parse_strict_json(text, label, deepest_manifest);
  if (!document) return document.error();
  Result<Manifest> manifest = read_document(std::move(*document));
  if (!manifest) return corrupt(fmt::format("{}: {}", label, manifest.error().message));
  return manifest;
}

Result<void> write_manifest(const fs::path& path, const Manifest& manifest) {
  const Result<std::string> text = manifest_text(manifest);
  if (!text) return text.error();
  return write_file(path, bytes_of(*text));
}

Result<Manifest> read_manifest(const fs::path& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  return parse_manifest(text_of(file->bytes()), quote_path(path));
}

Result<FileRecord> record_file(const fs::path& path) {
  const Result<FileDigest> digest = sha256_of_file(path);
  if (!digest) return digest.error();
  return FileRecord{to_hex(digest->digest), digest->bytes};
}

Result<void> check_files(const fs::path& folder, const Manifest& manifest) {
  std::vector<std::string> problems;
  for (const auto& [name, record] : manifest.files) {
    if (Result<void> sound = check_record(name, record); !sound) return sound;
    if (const std::string problem = difference(folder / name, record); !problem.empty()) {
      problems.push_back(fmt::format("{}: {}", quote(name), problem));
    }
  }
  if (problems.empty()) return {};
  const std::size_t shown = std::min(problems.size(), most_reported);
  return corrupt(fmt::format("{} of the {} files in {} do not match their manifest; generate the set again\n  {}{}",
                             problems.size(), manifest.files.size(), quote_path(folder),
                             fmt::join(problems.begin(), problems.begin() + static_cast<std::ptrdiff_t>(shown), "\n  "),
                             shown < problems.size() ? "\n  ..." : ""));
}

}  // namespace fp4proof
