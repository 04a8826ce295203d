#include "conformance/profiles/profile_json.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "conformance/profiles/json_fields.h"
#include "conformance/profiles/profile_fields.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/profiles/profile_rules.h"
#include "conformance/vectors/os_error.h"
#include "formats/spec_profiles.h"

namespace fp4proof {

namespace {

using nlohmann::json;

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  const Profile any;
  for_each_field(any, [&](const char* name, FieldScope, const auto&) { names.emplace_back(name); });
  return names;
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
  if (!complaint.empty()) return field_problem(label, complaint);
  if (const Result<void> fits = check_profile(profile); !fits) return field_problem(label, fits.error().message);
  return {};
}

Result<void> require_all_fields(const json& value, std::string_view label) {
  Profile probe;
  if (value.contains("family")) {
    if (const std::string text = set_field(probe.family, value.at("family")); !text.empty()) {
      return field_problem(label, fmt::format("field \"family\" {}", text));
    }
  }
  std::vector<std::string> missing;
  for_each_field(probe, [&](const char* name, FieldScope scope, const auto&) {
    if (in_scope(scope, probe.family) && !value.contains(name)) missing.emplace_back(name);
  });
  if (missing.empty()) return {};
  return field_problem(label,
                       fmt::format("without \"base\" every field must be given; missing: {}", fmt::join(missing, " ")));
}

Result<void> check_name(const std::string& name, std::string_view label) {
  if (const Result<void> form = check_name_form(name, label); !form) return form;
  if (find_profile(name) != nullptr) {
    return field_problem(label, fmt::format("name {} belongs to a named profile; choose another", quote(name)));
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
  if (!base) return field_problem(label, fmt::format("field \"base\": {}", base.error().message));
  return **base;
}

}  // namespace

nlohmann::json profile_to_json(const Profile& profile) {
  json value = {{"format", profile_format}, {"name", profile.name}, {"summary", profile.summary}};
  for_each_field(profile, [&](const char* name, FieldScope scope, const auto& field) {
    if (in_scope(scope, profile.family)) value[name] = field_to_json(field);
  });
  return value;
}

Result<SharedProfile> profile_from_json(const json& value, std::string_view label) {
  if (!value.is_object()) return field_problem(label, "a profile must be a JSON object");
  std::vector<std::string> known = field_names();
  known.insert(known.end(), {"base", "format", "name", "summary"});
  if (const Result<void> keys = refuse_unknown_keys(value, known, label); !keys) return keys.error();
  if (const Result<void> format = check_format_field(value, profile_format, label); !format) return format.error();
  Result<std::string> name = text_field(value, "name", true, label);
  if (!name) return name.error();
  if (const Result<void> named = check_name(*name, label); !named) return named.error();
  Result<std::string> summary = text_field(value, "summary", false, label);
  if (!summary) return summary.error();
  Result<Profile> profile = starting_point(value, label);
  if (!profile) return profile.error();
  profile->name = *name;
  if (const Result<void> applied = apply_fields(*profile, value, label); !applied) return applied.error();
  return share_named(*std::move(name), *std::move(summary), *profile);
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
  return share_named(std::move(name), std::string(base.summary), profile);
}

}  // namespace fp4proof
