#include "conformance/profiles/profile_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/profiles/json_fields.h"
#include "conformance/profiles/json_file.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/os_error.h"
#include "formats/spec_profiles.h"

namespace fp4proof {

namespace {

constexpr std::size_t deepest_profile = 2;

std::string_view group_of(std::string_view name) { return name.substr(0, name.find('/')); }

std::vector<std::string> groups() {
  std::vector<std::string> result;
  for (const Profile& profile : profiles()) {
    const std::string group(group_of(profile.name));
    if (std::find(result.begin(), result.end(), group) == result.end()) result.push_back(group);
  }
  return result;
}

std::vector<std::string> names_of_group(std::string_view group) {
  std::vector<std::string> names;
  for (const Profile& profile : profiles()) {
    if (group.empty() || group_of(profile.name) == group) names.emplace_back(profile.name);
  }
  return names;
}

/// The rest of the names that share the group of `name`, or the groups.
std::string what_there_is(std::string_view name) {
  const std::string_view prefix = group_of(name);
  std::vector<std::string> group = prefix.empty() ? std::vector<std::string>() : names_of_group(prefix);
  for (std::string& member : group) member.erase(0, prefix.size() + 1);
  if (!group.empty()) return fmt::format("{}/ has {}", prefix, fmt::join(group, " "));
  return fmt::format("families: {}; 'fp4proof list profiles' shows all, and a profile file must end in .json",
                     fmt::join(groups(), " "));
}

}  // namespace

Result<SharedProfile> named_profile(std::string_view name) {
  if (const Profile* profile = find_profile(name); profile != nullptr) {
    return share_static(profile);
  }
  return Error{ErrorKind::usage, fmt::format("unknown profile {}{}; {}", quote(name),
                                             did_you_mean(name, names_of_group("")), what_there_is(name))};
}

Result<SharedProfile> read_profile_file(std::string_view path) {
  const Result<nlohmann::json> value = read_json_file(path, deepest_profile);
  if (!value) return value.error();
  return profile_from_json(*value, quote_path(path));
}

Result<SharedProfile> find_profile_or_file(std::string_view name_or_path) {
  return name_or_path.ends_with(".json") ? read_profile_file(name_or_path) : named_profile(name_or_path);
}

}  // namespace fp4proof
