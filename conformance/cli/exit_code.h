#pragma once
// The exit codes, as the verbs name them.

#include "conformance/verdict/exit_code.h"

namespace fp4proof::cli {

using verdict::exit_code_of;
using verdict::ExitCode;
using verdict::worse_of;

}  // namespace fp4proof::cli
