#pragma once
// The JSON of `fp4proof decompose`; docs/command-line.md describes it.

#include <cstdint>
#include <nlohmann/json.hpp>

#include "conformance/cli/decompose_stream.h"

namespace fp4proof::cli {

/// The most blocks, and the most elements, of a tensor that are written one by one.
inline constexpr std::int64_t most_listed_blocks = 65536;
inline constexpr std::int64_t most_listed_elements = 65536;

/// The sums of one tensor. `all_error` is the error of all tensors.
nlohmann::json to_json(const portable::ErrorSplit& split, double all_error);

/// The sums of every block of a tensor, row by row.
Result<nlohmann::json> listed_blocks(const DecomposeTask& task, Progress& progress);

/// The terms of every element of a tensor, row by row.
Result<nlohmann::json> listed_elements(const DecomposeTask& task, Progress& progress);

}  // namespace fp4proof::cli
