#pragma once
// Options that several verbs have, so that they read and behave alike everywhere.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// `--axis N`: the axis that blocks run along.
void add_axis_option(CLI::App& command, int& axis);

/// `--seed S`: the seed of stochastic rounding.
void add_seed_option(CLI::App& command, std::uint64_t& seed);

/// `--tail error|pad`; `tail` holds the default.
void add_tail_option(CLI::App& command, std::string& tail);

/// The choice that `--tail` names.
portable::Tail tail_of(const std::string& tail);

/// An option whose values are separated by commas. An empty item is refused.
CLI::Option* add_list_option(CLI::App& command, const std::string& name, std::vector<std::string>& list,
                             const std::string& description);

/// `--tensor NAME`, repeatable.
void add_tensor_option(CLI::App& command, std::vector<std::string>& names);

/// Accepts decimal whole numbers up to 2^64 - 1 alone: no sign where `negative` is false, no hexadecimal or octal
/// reading.
CLI::Validator decimal_number(bool negative);

/// Accepts numbers in a range. CLI::Range would let NaN pass.
CLI::Validator number_between(double low, double high);

}  // namespace fp4proof::cli
