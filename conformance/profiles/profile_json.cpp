#include "conformance/profiles/profile_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/profiles/nearest_name.h"
#include "conformance/profiles/profile_fields.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/profiles/profile_rules.h"
#include "conformance/vectors/os_error.h"
#include "formats/spec_profiles.h"

namespace fp4proof {

namespace {

using nlohmann::json;

struct OwnedProfile {
  std::string name;
  std::string summary;
  Profile profile;
};

SharedProfile share(std::string name, std::string summary, const Profile& profile) {
  auto owned = std::make_shared<OwnedProfile>(OwnedProfile{std::move(name), std::move(summary), profile});
  owned->profile.name = owned->name;
  owned->profile.summary = owned->summary;
  return {owned, &owned->profile};
}

Error problem(std::string_view label, std::string_view text) {
  return {ErrorKind::usage, fmt::format("{}: {}", label, text)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Values: to JSON, and from JSON with a sentence about what was expected
// ---------------------------------------------------------------------------------------------------------------------

template <class Enum>
requires std::is_enum_v<Enum> json to_json(Enum value) { return std::string(name_of(value)); }

json to_json(BlockShape block) { return fmt::format("{}x{}", block.rows, block.cols); }
json to_json(std::uint8_t number) { return number; }
json to_json(bool flag) { return flag; }

/// Sets `field` from `value`; the text of the complaint, empty on success.
template <class Enum>
requires std::is_enum_v<Enum> std::string set_field(Enum& field, const json& value) {
  const auto& names = EnumNames<Enum>::names;
  const std::vector<std::string> known(names.begin(), names.end());
  const std::string choices = fmt::format("one of {}", fmt::join(names, " "));
  if (!value.is_string()) return fmt::format("must be {}", choices);
  const auto& text = value.get_ref<const std::string&>();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    return fmt::format("has no value {}{}; it must be {}", quote(text), did_you_mean(text, known), choices);
  }
  field = static_cast<Enum>(found - names.begin());
  return {};
}

std::string set_field(BlockShape& field, const json& value) {
  static constexpr const char* expected = "must be \"ROWSxCOLUMNS\", for example \"1x32\"";
  if (!value.is_string()) return expected;
  const auto& text = value.get_ref<const std::string&>();
  const char* end = text.data() + text.size();
  const auto rows = std::from_chars(text.data(), end, field.rows);
  if (rows.ec != std::errc() || rows.ptr == end || *rows.ptr != 'x') return expected;
  const auto cols = std::from_chars(rows.ptr + 1, end, field.cols);
  return cols.ec == std::errc() && cols.ptr == end ? std::string() : expected;
}

std::string set_field(std::uint8_t& field, const json& value) {
  if (!value.is_number_integer() || value < 0 || value > 255) return "must be a whole number in 0..255";
  field = value.get<std::uint8_t>();
  return {};
}

std::string set_field(bool& field, const json& value) {
  if (!value.is_boolean()) return "must be true or false";
  field = value.get<bool>();
  return {};
}

// ---------------------------------------------------------------------------------------------------------------------
// Objects
// ---------------------------------------------------------------------------------------------------------------------

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  const Profile any;
  for_each_field(any, [&](const char* name, FieldScope, const auto&) { names.emplace_back(name); });
  return names;
}

Result<void> refuse_unknown_keys(const json& value, std::vector<std::string> known, std::string_view label) {
  for (const auto& [key, unused] : value.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return problem(label, fmt::format("unknown field {}{}; the fields are {}", quote(key), did_you_mean(key, known),
                                        fmt::join(known, " ")));
    }
  }
  return {};
}

/// Sets every field of `profile` that `fields` has.
Result<void> apply_fields(Profile& profile, const json& fields, std::string_view label) {
  std::string complaint;
  for_each_field(profile, [&](const char* name, FieldScope, auto& field) {
    if (!complaint.empty() || !fields.contains(name)) return;
    if (const std::string text = set_field(field, fields.at(name)); !text.empty()) {
      complaint = fmt::format("field \"{}\" {}", name, text);
    }
  });
  for_each_field(profile, [&](const char* name, FieldScope scope, const auto&) {
    if (complaint.empty() && fields.contains(name) && !in_scope(scope, profile.family)) {
      complaint = fmt::format("field \"{}\" means nothing to the family {}; remove it", name, name_of(profile.family));
    }
  });
  if (!complaint.empty()) return problem(label, complaint);
  if (const Result<void> fits = check_profile(profile); !fits) return problem(label, fits.error().message);
  return {};
}

Result<void> require_all_fields(const json& value, std::string_view label) {
  Profile probe;
  if (value.contains("family")) {
    if (const std::string text = set_field(probe.family, value.at("family")); !text.empty()) {
      return problem(label, fmt::format("field \"family\" {}", text));
    }
  }
  std::vector<std::string> missing;
  for_each_field(probe, [&](const char* name, FieldScope scope, const auto&) {
    if (in_scope(scope, probe.family) && !value.contains(name)) missing.emplace_back(name);
  });
  if (missing.empty()) return {};
  return problem(label,
                 fmt::format("without \"base\" every field must be given; missing: {}", fmt::join(missing, " ")));
}

/// A text of the object, or nothing where it is absent and not required.
Result<std::string> text_field(const json& value, const char* key, bool required, std::string_view label) {
  if (!value.contains(key)) {
    if (!required) return std::string();
    return problem(label, fmt::format("field \"{}\" is missing", key));
  }
  if (!value.at(key).is_string()) return problem(label, fmt::format("field \"{}\" must be a text", key));
  return value.at(key).get<std::string>();
}

Result<void> check_name(const std::string& name, std::string_view label) {
  static constexpr std::size_t longest = 200;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._/+-=").find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > longest || !std::all_of(name.begin(), name.end(), allowed)) {
    return problem(label, fmt::format("name {} must be 1 to {} letters, digits and . _ / + - =", quote(name), longest));
  }
  if (find_profile(name) != nullptr) {
    return problem(label, fmt::format("name {} belongs to a named profile; choose another", quote(name)));
  }
  return {};
}

Result<Profile> starting_point(const json& value, std::string_view label) {
  if (!value.contains("base")) {
    if (const Result<void> complete = require_all_fields(value, label); !complete) return complete.error();
    return Profile{};
  }
  const Result<std::string> name = text_field(value, "base", true, label);
  if (!name) return name.error();
  const Result<SharedProfile> base = named_profile(*name);
  if (!base) return problem(label, fmt::format("field \"base\": {}", base.error().message));
  return **base;
}

}  // namespace

nlohmann::json profile_to_json(const Profile& profile) {
  json value = {{"format", profile_format}, {"name", profile.name}, {"summary", profile.summary}};
  for_each_field(profile, [&](const char* name, FieldScope scope, const auto& field) {
    if (in_scope(scope, profile.family)) value[name] = to_json(field);
  });
  return value;
}

Result<SharedProfile> profile_from_json(const json& value, std::string_view label) {
  if (!value.is_object()) return problem(label, "a profile must be a JSON object");
  std::vector<std::string> known = field_names();
  known.insert(known.end(), {"base", "format", "name", "summary"});
  if (const Result<void> keys = refuse_unknown_keys(value, std::move(known), label); !keys) return keys.error();
  const Result<std::string> format = text_field(value, "format", false, label);
  if (!format) return format.error();
  if (!format->empty() && *format != profile_format) {
    return problem(label, fmt::format("format {} is not {}", quote(*format), profile_format));
  }
  Result<std::string> name = text_field(value, "name", true, label);
  if (!name) return name.error();
  if (const Result<void> named = check_name(*name, label); !named) return named.error();
  Result<std::string> summary = text_field(value, "summary", false, label);
  if (!summary) return summary.error();
  Result<Profile> profile = starting_point(value, label);
  if (!profile) return profile.error();
  profile->name = *name;
  if (const Result<void> applied = apply_fields(*profile, value, label); !applied) return applied.error();
  return share(*std::move(name), *std::move(summary), *profile);
}

Result<SharedProfile> changed_profile(const Profile& base, const json& fields, std::string_view label) {
  if (const Result<void> keys = refuse_unknown_keys(fields, field_names(), label); !keys) return keys.error();
  Profile profile = base;
  if (const Result<void> applied = apply_fields(profile, fields, label); !applied) return applied.error();
  std::string name(base.name);
  for (const auto& [key, value] : fields.items()) {
    name += fmt::format("+{}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (const Result<void> named = check_name(name, label); !named) return named.error();
  return share(std::move(name), std::string(base.summary), profile);
}

}  // namespace fp4proof
