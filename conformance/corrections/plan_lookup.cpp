#include "conformance/corrections/plan_lookup.h"

#include "conformance/profiles/json_file.h"
#include "conformance/profiles/named_lookup.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {

namespace {

constexpr std::size_t deepest_plan = 3;

}  // namespace

Result<SharedPlan> named_plan(std::string_view name) { return find_named("precision plan", name, precision_plans()); }

Result<SharedPlan> read_plan_file(std::string_view path) {
  const Result<nlohmann::json> value = read_json_file(path, deepest_plan);
  if (!value) return value.error();
  return plan_from_json(*value, quote_path(path));
}

Result<SharedPlan> find_plan_or_file(std::string_view name_or_path) {
  return name_or_path.ends_with(".json") ? read_plan_file(name_or_path) : named_plan(name_or_path);
}

}  // namespace fp4proof
