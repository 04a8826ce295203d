#pragma once
// `--profile` and the options that change single fields of it.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "conformance/profiles/profile_lookup.h"
#include "formats/result.h"

namespace fp4proof::cli {

/// What the user wrote about the profile.
struct ProfileOption {
  std::string name;                  ///< a named profile or a .json file
  std::string rounding;              ///< short for --set rounding=...
  std::string random_bits;           ///< short for --set random_bits=...
  std::vector<std::string> changes;  ///< FIELD=VALUE

  /// Adds --profile (required), --rounding, --random-bits and --set.
  void add_to(CLI::App& command);

  /// The profile with its changes.
  Result<SharedProfile> resolve() const;
};

}  // namespace fp4proof::cli
