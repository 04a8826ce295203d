#include "conformance/profiles/json_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace fp4proof {

namespace {

using nlohmann::json;

template <class Number>
std::string set_whole_number(Number& field, const json& value) {
  constexpr std::uint64_t largest = std::numeric_limits<Number>::max();
  const bool natural = value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!natural || value.get<std::uint64_t>() > largest) {
    return fmt::format("must be a whole number in 0..{}", largest);
  }
  field = value.get<Number>();
  return {};
}

}  // namespace

Error field_problem(std::string_view label, std::string_view text) {
  return {ErrorKind::usage, fmt::format("{}: {}", label, text)};
}

json field_to_json(BlockShape block) { return fmt::format("{}x{}", block.rows, block.cols); }

json field_to_json(float number) {
  const std::string shortest = fmt::format("{}", number);
  double wide = 0;
  std::from_chars(shortest.data(), shortest.data() + shortest.size(), wide);
  return static_cast<float>(wide) == number ? wide : double{number};
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

std::string set_field(std::uint8_t& field, const json& value) { return set_whole_number(field, value); }
std::string set_field(std::uint32_t& field, const json& value) { return set_whole_number(field, value); }
std::string set_field(std::uint64_t& field, const json& value) { return set_whole_number(field, value); }

std::string set_field(bool& field, const json& value) {
  if (!value.is_boolean()) return "must be true or false";
  field = value.get<bool>();
  return {};
}

std::string set_field(std::string& field, const json& value) {
  if (!value.is_string()) return "must be a text";
  field = value.get<std::string>();
  return {};
}

std::string set_field(float& field, const json& value) {
  static constexpr double rounds_to_infinity = 0x1.ffffffp127;
  static constexpr const char* too_far = "must be a number that binary32 can hold";
  if (!value.is_number()) return "must be a number";
  const auto wide = value.get<double>();
  if (std::fabs(wide) >= rounds_to_infinity) return too_far;
  field = static_cast<float>(wide);
  return field == 0 && wide != 0 ? too_far : std::string();
}

Result<void> refuse_unknown_keys(const json& object, const std::vector<std::string>& known, std::string_view label,
                                 std::string_view prefix) {
  for (const auto& [key, unused] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string name = std::string(prefix) + key;
      return field_problem(label, fmt::format("unknown field {}{}; the fields are {}", quote(name),
                                              did_you_mean(key, known), fmt::join(known, " ")));
    }
  }
  return {};
}

Result<std::string> text_field(const json& object, const char* key, bool required, std::string_view label) {
  if (!object.contains(key)) {
    if (!required) return std::string();
    return field_problem(label, fmt::format("field \"{}\" is missing", key));
  }
  if (!object.at(key).is_string()) return field_problem(label, fmt::format("field \"{}\" must be a text", key));
  std::string text = object.at(key).get<std::string>();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return field_problem(label, fmt::format("field \"{}\" must be one line without control characters", key));
  }
  return text;
}

Result<void> check_format_field(const json& object, std::string_view format, std::string_view label) {
  const Result<std::string> given = text_field(object, "format", false, label);
  if (!given) return given.error();
  if (object.contains("format") && *given != format) {
    return field_problem(label, fmt::format("format {} is not {}", quote(*given), format));
  }
  return {};
}

Result<void> check_name_form(const std::string& name, std::string_view label) {
  static constexpr std::size_t longest = 200;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._/+-=").find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > longest || !std::all_of(name.begin(), name.end(), allowed)) {
    return field_problem(label,
                         fmt::format("name {} must be 1 to {} letters, digits and . _ / + - =", quote(name), longest));
  }
  return {};
}

}  // namespace fp4proof
