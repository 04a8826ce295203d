#pragma once
// `--correct` and `--product`: the corrections that a verb applies beside quantizing.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "conformance/corrections/stack_json.h"
#include "formats/result.h"
#include "formats/spec.h"

namespace fp4proof::cli {

/// Adds `--correct STACK`.
CLI::Option* add_correct_option(CLI::App& command, std::string& stack);

/// Adds `--product N`, the product number of fresh Hadamard signs.
void add_product_option(CLI::App& command, std::optional<std::uint32_t>& product);

/// The stack of that name or file; null for an empty name and for a stack that does nothing beside plain quantization.
/// Errors: those of the look-up, and what `profile` cannot take (C4).
Result<SharedStack> stack_for(const Profile& profile, const std::string& name);

/// Whether the signs of a stack (or null) are new for every product, so that --product means something.
bool has_fresh_signs(const SharedStack& stack);

/// A `usage` error where --product is given and no stack has fresh signs.
Result<void> check_product(const std::optional<std::uint32_t>& product, bool any_fresh_signs);

}  // namespace fp4proof::cli
