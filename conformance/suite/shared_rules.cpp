#include "conformance/suite/shared_rules.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "conformance/profiles/profile_fields.h"
#include "formats/spec_profiles.h"

namespace fp4proof::suite {

namespace {

/// Fields that do not show in canonical bytes.
constexpr std::array<std::string_view, 3> packing_fields = {"nibble_order", "scale_layout", "micro_order"};

/// Fields that give codes and scales their meaning.
constexpr std::array<std::string_view, 3> meaning_fields = {"family", "element", "tensor_scale"};

bool matters(Operation operation, const Profile& profile, std::string_view field) {
  if (!needs_whole_rule(operation)) return std::ranges::find(meaning_fields, field) != meaning_fields.end();
  if (field == "random_bits") return profile.rounding == Rounding::stochastic;
  return std::ranges::find(packing_fields, field) == packing_fields.end();
}

/// The fields that matter, as numbers in a fixed order.
std::vector<int> rule_key(Operation operation, const Profile& profile) {
  std::vector<int> key;
  for_each_field(profile, [&](std::string_view name, FieldScope scope, const auto& field) {
    if (!in_scope(scope, profile.family) || !matters(operation, profile, name)) return;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, BlockShape>) {
      key.push_back(field.rows);
      key.push_back(field.cols);
    } else {
      key.push_back(static_cast<int>(field));
    }
  });
  return key;
}

}  // namespace

bool same_rule(Operation operation, const Profile& a, const Profile& b) {
  return rule_key(operation, a) == rule_key(operation, b);
}

const Profile& representative(Operation operation, const Profile& profile) {
  for (const Profile& candidate : profiles())
    if (same_rule(operation, candidate, profile)) return candidate;
  return profile;
}

std::vector<std::string_view> aliases(Operation operation, const Profile& profile) {
  std::vector<std::string_view> names;
  for (const Profile& candidate : profiles())
    if (candidate.name != profile.name && same_rule(operation, candidate, profile)) names.push_back(candidate.name);
  return names;
}

std::vector<const Profile*> distinct_profiles(Operation operation) {
  std::vector<const Profile*> distinct;
  for (const Profile& profile : profiles())
    if (&representative(operation, profile) == &profile) distinct.push_back(&profile);
  return distinct;
}

}  // namespace fp4proof::suite
