#include "conformance/training_report/record_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::training_report {

namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr std::size_t deepest = 16;

Error refused(const std::filesystem::path& path, std::string_view problem) {
  return {ErrorKind::corrupt, fmt::format("{}: {}; train the run again, or leave it out", quote_path(path), problem)};
}

bool is_digest(const json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_fraction(const json& value) {
  return value.is_number() && value.get<double>() >= 0 && value.get<double>() <= 1;
}

}  // namespace

Result<std::string> read_record(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  if (file->bytes().size() > most_bytes) return refused(path, "larger than any record of a run");
  return std::string(fp4proof::text_of(file->bytes()));
}

Result<JsonRecord> JsonRecord::read(const std::filesystem::path& path) {
  const auto text = read_record(path);
  if (!text) return text.error();
  auto value = parse_strict_json(*text, quote_path(path), deepest);
  if (!value) return value.error();
  return JsonRecord(path, *std::move(value));
}

bool JsonRecord::has(const char* pointer) const {
  const json::json_pointer place(pointer);
  return value_.contains(place) && !value_.at(place).is_null();
}

const json& JsonRecord::at(const char* pointer, bool (*is_right)(const json&), std::string_view what) {
  static const json nothing;
  const json::json_pointer place(pointer);
  if (value_.contains(place) && is_right(value_.at(place))) return value_.at(place);
  if (problem_.empty()) problem_ = fmt::format("{} is no {}", pointer, what);
  return nothing;
}

json JsonRecord::object(const char* pointer) {
  return at(
      pointer, [](const json& value) { return value.is_object(); }, "object");
}

std::string JsonRecord::text(const char* pointer) {
  const json& value = at(
      pointer, [](const json& v) { return v.is_string(); }, "text");
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::uint64_t JsonRecord::count(const char* pointer) {
  const json& value = at(
      pointer, [](const json& v) { return v.is_number_unsigned(); }, "whole number");
  return value.is_number() ? value.get<std::uint64_t>() : 0;
}

double JsonRecord::fraction(const char* pointer) {
  const json& value = at(pointer, is_fraction, "number from 0 to 1");
  return value.is_number() ? value.get<double>() : 0;
}

std::string JsonRecord::digest(const char* pointer) {
  const json& value = at(pointer, is_digest, "digest");
  return value.is_string() ? value.get<std::string>() : std::string();
}

void JsonRecord::expect(const char* pointer, std::string_view text) {
  const json::json_pointer place(pointer);
  if (value_.contains(place) && value_.at(place) == text) return;
  if (problem_.empty()) problem_ = fmt::format("{} is not {}, which this version reads", pointer, quote(text));
}

Result<void> JsonRecord::check() const {
  if (problem_.empty()) return {};
  return refused(path_, problem_);
}

}  // namespace fp4proof::training_report
