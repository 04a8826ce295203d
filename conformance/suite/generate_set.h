#pragma once
// Writing a whole set.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "conformance/suite/sets.h"
#include "conformance/suite/vector_set.h"
#include "formats/result.h"

namespace fp4proof::suite {

/// One of `count` parts of a set, counted from 1.
struct Shard {
  std::uint32_t index = 1;
  std::uint32_t count = 1;
};

/// "I/N" with 1 <= I <= N.
std::optional<Shard> parse_shard(std::string_view text);

struct GenerateRequest {
  const SetPlan* set = nullptr;
  std::filesystem::path folder;
  std::string tool_version;
  bool inputs_only = false;                         ///< leave the expected outputs out
  bool force = false;                               ///< replace an existing set
  Shard shard;                                      ///< which files: table number modulo count
  std::optional<Operation> operation;               ///< only this one
  SharedProfile profile;                            ///< only this one, or the one that has its cases
  std::function<void(std::size_t total)> progress;  ///< called after each of `total` tables
};

/// Writes a set to a folder that appears complete or not at all: the files go to a hidden sibling that takes the
/// folder's name at the end. Memory: one table at a time. The same bytes on every machine, for any shard count.
/// `usage` error for a folder that holds something (unless it is a set and `force`), or where no table is asked for.
Result<VectorSet> generate_set(const GenerateRequest& request);

}  // namespace fp4proof::suite
