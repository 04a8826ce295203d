#pragma once
// Whether this process computes as IEEE 754 says. A library that sets FTZ/DAZ, another rounding mode, or a compiler
// that contracts multiply and add would silently change results.

#include <span>
#include <string_view>

#include "formats/result.h"

namespace fp4proof::cli {

/// One expression whose value tells a wrong environment from a right one.
struct Canary {
  std::string_view name;
  bool holds;
};

/// Evaluates every canary in the calling thread.
std::span<const Canary> float_canaries();

/// Success, or an `internal` error that names the canary that died.
Result<void> check_float_environment();

}  // namespace fp4proof::cli
