#pragma once
// Whether this thread computes as IEEE 754 says. A library that turns on flush-to-zero, a changed rounding mode, or a
// compiler that contracts or reorders would change results without a sign. Programs call check_environment() before
// the first number.

#include <array>
#include <string_view>

#include "formats/result.h"

namespace fp4proof::portable {

/// One expression whose value tells a wrong environment from a right one.
struct Canary {
  std::string_view claim;  ///< what must hold, for example "subnormal results are kept"
  std::string_view cause;  ///< what usually breaks it
  bool holds = false;
};

inline constexpr std::size_t canary_count = 9;

/// Evaluates every canary in the calling thread, on the processor and not in the compiler. Threads that the calling
/// thread starts afterwards inherit its environment.
std::array<Canary, canary_count> environment_canaries();

/// Success when every canary holds. Otherwise an ErrorKind::internal that names each claim that fails, what usually
/// breaks it, and how to restore it: no result of this thread could be trusted.
Result<void> check_environment();

}  // namespace fp4proof::portable
