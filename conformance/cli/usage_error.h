#pragma once
// What the user typed that could not be understood, in words that help.

#include <CLI/CLI.hpp>

#include "formats/result.h"

namespace fp4proof::cli {

/// Turns a parser's complaint about `app` (after a failed parse) into a `usage` error: unknown verbs and options with
/// the nearest known name, repeated options, missing and malformed values; each with the way to the help.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem);

}  // namespace fp4proof::cli
