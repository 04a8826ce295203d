#pragma once
// Every verb of the command.

#include <span>

#include "conformance/cli/verb.h"

namespace fp4proof::cli {

extern const Verb list_verb;
extern const Verb quantize_verb;
extern const Verb reproduce_verb;

/// The verbs in the order of `fp4proof --help`.
std::span<const Verb> verbs();

}  // namespace fp4proof::cli
