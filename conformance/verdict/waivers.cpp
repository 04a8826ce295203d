#include "conformance/verdict/waivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "conformance/suite/case_class.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

constexpr std::size_t deepest = 4;
constexpr std::array<std::string_view, 7> known_fields = {"case",   "class", "operation", "profile",
                                                          "reason", "owner", "expiry"};
constexpr std::array<const char*, 4> required_fields = {"operation", "reason", "owner", "expiry"};

template <class Number>
std::optional<Number> number_of(std::string_view digits, int base) {
  Number number = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number, base);
  if (parsed.ec != std::errc() || parsed.ptr != end || digits.front() == '-') return std::nullopt;
  return number;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

/// YYYY-MM-DD, a day that exists.
std::optional<std::chrono::year_month_day> date_of(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = number_of<int>(text.substr(0, 4), 10);
  const auto month = number_of<unsigned>(text.substr(5, 2), 10);
  const auto day = number_of<unsigned>(text.substr(8, 2), 10);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month), std::chrono::day(*day)};
  return date.ok() ? std::optional(date) : std::nullopt;
}

/// Reads one entry; every problem is told with the number of the entry.
class WaiverReader {
 public:
  WaiverReader(const json& entry, std::string place) : entry_(entry), place_(std::move(place)) {}

  Result<Waiver> read() {
    if (const Result<void> formed = check_form(); !formed) return formed.error();
    Waiver waiver;
    waiver.reason = entry_["reason"];
    waiver.owner = entry_["owner"];
    waiver.profile = entry_.value("profile", "");
    const std::optional<suite::Operation> operation = suite::operation_named(text("operation"));
    if (!operation) return problem(fmt::format("unknown operation {}", quote(text("operation"))));
    waiver.operation = *operation;
    const std::optional<std::chrono::year_month_day> expiry = date_of(text("expiry"));
    if (!expiry) return problem(fmt::format("expiry {} is no date; write YYYY-MM-DD", quote(text("expiry"))));
    waiver.expiry = *expiry;
    return with_target(std::move(waiver));
  }

 private:
  Error problem(std::string_view what) const { return {ErrorKind::corrupt, fmt::format("{}: {}", place_, what)}; }

  std::string text(const char* field) const { return entry_[field].get<std::string>(); }

  Result<void> check_form() const {
    if (!entry_.is_object()) return problem("is no object");
    for (const auto& [name, value] : entry_.items()) {
      if (std::ranges::find(known_fields, name) == known_fields.end())
        return problem(fmt::format("unknown field {}", quote(name)));
      if (!value.is_string() || is_blank(value.get_ref<const std::string&>()))
        return problem(fmt::format("{} must be a text that is not blank", name));
    }
    for (const char* field : required_fields)
      if (!entry_.contains(field)) return problem(fmt::format("{} is missing", field));
    if (entry_.contains("case") == entry_.contains("class")) return problem("must name either a case or a class");
    return {};
  }

  Result<Waiver> with_target(Waiver waiver) const {
    if (entry_.contains("case")) {
      const std::string id = text("case");
      waiver.case_id = id.size() == 16 ? number_of<std::uint64_t>(id, 16) : std::nullopt;
      if (!waiver.case_id) return problem(fmt::format("case {} is not 16 hexadecimal digits", quote(id)));
      return waiver;
    }
    waiver.class_name = text("class");
    const suite::CaseClass* known = suite::find_class(waiver.class_name);
    if (known == nullptr) {
      return problem(fmt::format("unknown class {}; 'fp4proof list classes' names them", quote(waiver.class_name)));
    }
    if (known->operation != waiver.operation) {
      return problem(fmt::format("class {} asks about {}, not {}", waiver.class_name, suite::name_of(known->operation),
                                 suite::name_of(waiver.operation)));
    }
    return waiver;
  }

  const json& entry_;
  std::string place_;
};

}  // namespace

std::optional<std::size_t> Waivers::find(const WaivedCase& wrong) const {
  const auto names = [&](const Waiver& waiver) {
    const bool is_target = waiver.case_id ? *waiver.case_id == wrong.case_id : waiver.class_name == wrong.class_name;
    const bool is_profile = waiver.profile.empty() || waiver.profile == wrong.profile;
    return is_target && is_profile && waiver.operation == wrong.operation && !is_expired(waiver);
  };
  const auto found = std::ranges::find_if(list, names);
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

Result<Waivers> read_waivers(const std::filesystem::path& path, std::chrono::year_month_day today) {
  const std::string label = quote(path.string());
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const Result<json> document = parse_strict_json(text_of(file->bytes()), label, deepest);
  if (!document) return document.error();
  const auto corrupt = [&](std::string_view problem) {
    return Error{ErrorKind::corrupt, fmt::format("{}: {}", label, problem)};
  };
  if (!document->is_object() || document->value("format", json()) != waivers_format) {
    return corrupt(fmt::format("not an object of format {}", waivers_format));
  }
  if (document->size() != 2 || !document->contains("waivers") || !(*document)["waivers"].is_array()) {
    return corrupt("must have the fields format and waivers, a list");
  }
  Waivers waivers;
  for (const json& entry : (*document)["waivers"]) {
    Result<Waiver> waiver = WaiverReader(entry, fmt::format("{}: waiver {}", label, waivers.list.size() + 1)).read();
    if (!waiver) return waiver.error();
    waivers.list.push_back(std::move(*waiver));
  }
  const Result<Sha256Digest> digest = sha256(file->bytes());
  if (!digest) return digest.error();
  waivers.path = path.string();
  waivers.sha256 = to_hex(*digest);
  waivers.today = today;
  return waivers;
}

std::chrono::year_month_day today_utc() {
  return std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
}

}  // namespace fp4proof::verdict
