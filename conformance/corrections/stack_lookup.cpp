#include "conformance/corrections/stack_lookup.h"

#include "conformance/profiles/json_file.h"
#include "conformance/profiles/named_lookup.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {

namespace {

constexpr std::size_t deepest_stack = 2;

}  // namespace

Result<SharedStack> named_stack(std::string_view name) {
  return find_named("correction stack", name, correction_stacks());
}

Result<SharedStack> read_stack_file(std::string_view path) {
  const Result<nlohmann::json> value = read_json_file(path, deepest_stack);
  if (!value) return value.error();
  return stack_from_json(*value, quote_path(path));
}

Result<SharedStack> find_stack_or_file(std::string_view name_or_path) {
  return name_or_path.ends_with(".json") ? read_stack_file(name_or_path) : named_stack(name_or_path);
}

}  // namespace fp4proof
