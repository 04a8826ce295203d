#include "conformance/cli/float_environment.h"

#include <array>
#include <string>

#include "formats/float_bits.h"

namespace fp4proof::cli {

namespace {

/// Hides a constant from the compiler, so that the expression is evaluated by the processor.
float opaque(float value) {
  volatile float hidden = value;
  return hidden;
}

bool products_are_not_fused() {
  const float a = opaque(1.0F + 0x1p-12F);
  const float c = opaque(-(1.0F + 0x1p-11F));
  return a * a + c == 0.0F;  // fused: 0x1p-24
}

bool subnormal_results_survive() { return float_bits(opaque(0x1p-126F) * opaque(0.5F)) == 0x00400000U; }

bool subnormal_inputs_survive() { return opaque(0x1p-149F) * opaque(0x1p100F) == 0x1p-49F; }

bool rounds_to_nearest_even() {
  const float one = opaque(1.0F);
  const float half_step = opaque(0x1p-24F);
  return one + half_step == 1.0F && opaque(1.0F + 0x1p-23F) + half_step == 1.0F + 0x1p-22F && -one - half_step == -1.0F;
}

bool float_is_not_widened() { return float_bits(opaque(16777216.0F) + opaque(1.0F) - opaque(16777216.0F)) == 0U; }

bool division_is_rounded_correctly() { return float_bits(opaque(1.0F) / opaque(3.0F)) == 0x3EAAAAABU; }

}  // namespace

std::span<const Canary> float_canaries() {
  static std::array<Canary, 6> canaries;
  canaries = {{
      {"a product and a sum are rounded apart (no contraction)", products_are_not_fused()},
      {"subnormal results are kept (no FTZ)", subnormal_results_survive()},
      {"subnormal inputs are kept (no DAZ)", subnormal_inputs_survive()},
      {"results round to nearest, ties to even", rounds_to_nearest_even()},
      {"binary32 is not evaluated in a wider format", float_is_not_widened()},
      {"division is rounded correctly", division_is_rounded_correctly()},
  }};
  return canaries;
}

Result<void> check_float_environment() {
  for (const Canary& canary : float_canaries()) {
    if (!canary.holds) {
      return Error{ErrorKind::internal, "the arithmetic of this process is not IEEE 754: not true that " +
                                            std::string(canary.name) +
                                            "; a preloaded library or the compiler's flags changed it"};
    }
  }
  return {};
}

}  // namespace fp4proof::cli
