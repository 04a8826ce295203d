#include "conformance/corrections/plan_lookup.h"

#include <string>
#include <vector>

#include "conformance/profiles/json_file.h"
#include "conformance/profiles/named_lookup.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {

namespace {

constexpr std::size_t deepest_plan = 3;

}  // namespace

Result<SharedPlan> named_plan(std::string_view name) {
  if (const PrecisionPlan* const plan = find_precision_plan(name); plan != nullptr) return share_static(plan);
  std::vector<std::string> names;
  for (const PrecisionPlan& plan : precision_plans()) names.emplace_back(plan.name);
  for (const PlanAlias& alias : plan_aliases) names.emplace_back(alias.name);
  return unknown_name("precision plan", name, names);
}

Result<SharedPlan> read_plan_file(std::string_view path) {
  const Result<nlohmann::json> value = read_json_file(path, deepest_plan);
  if (!value) return value.error();
  return plan_from_json(*value, quote_path(path));
}

Result<SharedPlan> find_plan_or_file(std::string_view name_or_path) {
  return name_or_path.ends_with(".json") ? read_plan_file(name_or_path) : named_plan(name_or_path);
}

}  // namespace fp4proof
