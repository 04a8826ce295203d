#pragma once
// Fields of JSON objects that users write: typed reading with a sentence about what was expected, and writing. Shared
// by profiles, correction stacks and precision plans.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/os_error.h"
#include "formats/result.h"
#include "formats/spec.h"

namespace fp4proof {

/// A `usage` error "LABEL: TEXT".
Error field_problem(std::string_view label, std::string_view text);

// ---------------------------------------------------------------------------------------------------------------------
// Values to JSON
// ---------------------------------------------------------------------------------------------------------------------

template <class Enum>
requires std::is_enum_v<Enum> nlohmann::json field_to_json(Enum value) { return std::string(name_of(value)); }

/// "ROWSxCOLUMNS".
nlohmann::json field_to_json(BlockShape block);
inline nlohmann::json field_to_json(std::uint8_t number) { return number; }
inline nlohmann::json field_to_json(std::uint32_t number) { return number; }
inline nlohmann::json field_to_json(std::uint64_t number) { return number; }
inline nlohmann::json field_to_json(bool flag) { return flag; }
/// The shortest decimal that reads back to the same binary32 number, which must be finite.
nlohmann::json field_to_json(float number);

// ---------------------------------------------------------------------------------------------------------------------
// Values from JSON: sets `field`, or returns what is wrong as the rest of a sentence about the field. Empty: success.
// ---------------------------------------------------------------------------------------------------------------------

template <class Enum>
requires std::is_enum_v<Enum> std::string set_field(Enum& field, const nlohmann::json& value) {
  const auto& names = EnumNames<Enum>::names;
  const std::vector<std::string> known(names.begin(), names.end());
  const std::string choices = fmt::format("one of {}", fmt::join(known, " "));
  if (!value.is_string()) return fmt::format("must be {}", choices);
  const auto& text = value.get_ref<const std::string&>();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    return fmt::format("has no value {}{}; it must be {}", quote(text), did_you_mean(text, known), choices);
  }
  field = static_cast<Enum>(found - names.begin());
  return {};
}

std::string set_field(BlockShape& field, const nlohmann::json& value);
std::string set_field(std::uint8_t& field, const nlohmann::json& value);
std::string set_field(std::uint32_t& field, const nlohmann::json& value);
std::string set_field(std::uint64_t& field, const nlohmann::json& value);
std::string set_field(bool& field, const nlohmann::json& value);
std::string set_field(std::string& field, const nlohmann::json& value);
/// Rounds to binary32, ties to even; a number that overflows, and one other than 0 that becomes 0, is refused.
std::string set_field(float& field, const nlohmann::json& value);

// ---------------------------------------------------------------------------------------------------------------------
// Objects
// ---------------------------------------------------------------------------------------------------------------------

/// Refuses keys that are not in `known`, with the nearest one. `prefix` precedes every name in the message: "macro."
/// for the fields of an object called macro.
Result<void> refuse_unknown_keys(const nlohmann::json& object, const std::vector<std::string>& known,
                                 std::string_view label, std::string_view prefix = "");

/// A text of the object, one line without control characters, or nothing where it is absent and not required.
Result<std::string> text_field(const nlohmann::json& object, const char* key, bool required, std::string_view label);

/// The optional field `format` must be `format` where it stands.
Result<void> check_format_field(const nlohmann::json& object, std::string_view format, std::string_view label);

/// What a name that users give to something of their own must look like.
Result<void> check_name_form(const std::string& name, std::string_view label);

// ---------------------------------------------------------------------------------------------------------------------
// Names that live as long as what they name
// ---------------------------------------------------------------------------------------------------------------------

/// `value` with its own copies of `name` and `summary`, which its members of these names view.
template <class T>
std::shared_ptr<const T> share_named(std::string name, std::string summary, const T& value) {
  struct Owned {
    std::string name;
    std::string summary;
    T value;
  };
  auto owned = std::make_shared<Owned>(Owned{std::move(name), std::move(summary), value});
  owned->value.name = owned->name;
  owned->value.summary = owned->summary;
  return {owned, &owned->value};
}

/// A value that lives as long as the program, as the named ones do.
template <class T>
std::shared_ptr<const T> share_static(const T* value) {
  return {std::shared_ptr<void>(), value};
}

}  // namespace fp4proof
