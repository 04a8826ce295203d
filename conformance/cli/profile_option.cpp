#include "conformance/cli/profile_option.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;

/// A whole number, true or false, else a text.
json value_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  return text;
}

}  // namespace

void ProfileOption::add_to(CLI::App& command) {
  command.add_option("--profile", name, "A named profile (see 'fp4proof list profiles') or a profile file, *.json")
      ->required()
      ->type_name("P");
  command.add_option("--rounding", rounding, "Round elements so: rne rna rtz ties-down stochastic")->type_name("R");
  command.add_option("--random-bits", random_bits, "Random bits an element for stochastic rounding: 8 16 32")
      ->type_name("N");
  command.add_option("--set", changes, "Change a field of the profile, for example nan=error (may be repeated)")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false);
}

Result<SharedProfile> ProfileOption::resolve() const {
  Result<SharedProfile> profile = find_profile_or_file(name);
  if (!profile) return profile;
  json fields = json::object();
  std::vector<std::string> all = changes;
  if (!rounding.empty()) all.push_back("rounding=" + rounding);
  if (!random_bits.empty()) all.push_back("random_bits=" + random_bits);
  for (const std::string& change : all) {
    const std::size_t equals = change.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorKind::usage, fmt::format("--set {} must be FIELD=VALUE", quote(change))};
    }
    const std::string field = change.substr(0, equals);
    if (fields.contains(field)) {
      return Error{ErrorKind::usage, fmt::format("field {} is set twice; keep one", quote(field))};
    }
    fields[field] = value_of(change.substr(equals + 1));
  }
  if (fields.empty()) return profile;
  return changed_profile(**profile, fields, "the options");
}

}  // namespace fp4proof::cli
