#include "conformance/cli/stored_corrections.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/corrections/stack_lookup.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::cli {

namespace {

constexpr std::size_t deepest_stack = 2;
constexpr std::int64_t group_size = 4;

Error corrupt(std::string message) { return {ErrorKind::corrupt, std::move(message)}; }

std::int64_t groups_of(const portable::Geometry& geometry) { return geometry.padded_columns / group_size; }

}  // namespace

bool corrects(const CorrectionStack& stack) {
  CorrectionStack nothing;
  nothing.name = stack.name;
  nothing.summary = stack.summary;
  return stack != nothing;
}

std::string text_of_stack(const CorrectionStack& stack) { return stack_to_json(stack).dump(); }

Result<SharedStack> stack_of_text(const std::string& text, std::string_view what) {
  const Result<nlohmann::json> value = parse_strict_json(text, what, deepest_stack);
  if (!value) return value.error();
  const bool has_name = value->is_object() && value->contains("name") && value->at("name").is_string();
  const std::string name = has_name ? value->at("name").get<std::string>() : std::string();
  if (find_correction_stack(name) != nullptr) {
    Result<SharedStack> stack = named_stack(name);
    if (!stack || stack_to_json(**stack) == *value) return stack;
    return corrupt(fmt::format("{}: the parts are not those of the named stack {}", what, quote(name)));
  }
  Result<SharedStack> stack = stack_from_json(*value, what);
  if (!stack) return corrupt(stack.error().message);
  return stack;
}

Result<SharedStack> without_residual(const SharedStack& stack) {
  if (!stack->residual.is_on()) return stack;
  nlohmann::json value = stack_to_json(*stack);
  value.erase("residual");
  value["name"] = fmt::format("{}-no-residual", stack->name.substr(0, 180));
  value["summary"] = fmt::format("{} without its residual", stack->name);
  return stack_from_json(value, fmt::format("stack {} without its residual", stack->name));
}

bool can_be_packed(const Profile& profile, const CorrectionStack& stack) {
  return element_spec(profile.element).is_nibble() && stack.residual.is_on() &&
         stack.residual.mask == ResidualMask::two_four;
}

std::int64_t packed_code_bytes_per_row(const portable::Geometry& geometry) { return groups_of(geometry); }

std::int64_t place_bytes_per_row(const portable::Geometry& geometry) { return (groups_of(geometry) + 1) / 2; }

}  // namespace fp4proof::cli
