#include "conformance/corrections/stack_lookup.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "conformance/profiles/json_fields.h"
#include "conformance/profiles/json_file.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {

namespace {

constexpr std::size_t deepest_stack = 2;

std::vector<std::string> stack_names() {
  std::vector<std::string> names;
  for (const CorrectionStack& stack : correction_stacks()) names.emplace_back(stack.name);
  return names;
}

}  // namespace

Result<SharedStack> named_stack(std::string_view name) {
  if (const CorrectionStack* stack = find_correction_stack(name); stack != nullptr) return share_static(stack);
  const std::vector<std::string> names = stack_names();
  return Error{ErrorKind::usage, fmt::format("unknown correction stack {}{}; there are {}; a file must end in .json",
                                             quote(name), did_you_mean(name, names), fmt::join(names, " "))};
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
