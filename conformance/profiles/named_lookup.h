#pragma once
// Looking a name up in a table of named things, with a suggestion where there is none.

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/profiles/json_fields.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/os_error.h"
#include "formats/result.h"

namespace fp4proof {

/// The `usage` error "unknown KIND NAME", which suggests the nearest of `names` and lists them.
inline Error unknown_name(std::string_view kind, std::string_view name, std::span<const std::string> names) {
  return {ErrorKind::usage, fmt::format("unknown {} {}{}; there are {}; a file must end in .json", kind, quote(name),
                                        did_you_mean(name, names), fmt::join(names, " "))};
}

/// The entry of that exact name, or unknown_name().
template <class T>
Result<std::shared_ptr<const T>> find_named(std::string_view kind, std::string_view name, std::span<const T> table) {
  std::vector<std::string> names;
  for (const T& entry : table) {
    if (entry.name == name) return share_static(&entry);
    names.emplace_back(entry.name);
  }
  return unknown_name(kind, name, names);
}

}  // namespace fp4proof
