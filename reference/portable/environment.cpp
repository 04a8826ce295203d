#include "reference/portable/environment.h"

#include <cmath>
#include <string>

#include "formats/float_bits.h"

namespace fp4proof::portable {

namespace {

/// Hides a constant from the compiler, so that the expression around it is evaluated by the processor.
template <class T>
T opaque(T value) {
  volatile T hidden = value;
  return hidden;
}

// (1 + e)^2 - 1 is 2e when the product is rounded first, and 2e + e^2 when it is fused with the subtraction.
template <class T>
bool products_are_rounded(T e) {
  const T a = opaque(1 + e);
  const T b = opaque(1 + e);
  const T c = opaque(T{-1});
  return a * b + c == 2 * e;
}

// The sum loses `small`; a wider intermediate format or an algebraic rewrite brings it back.
template <class T>
bool sums_are_rounded(T large, T small) {
  const T a = opaque(large);
  const T b = opaque(small);
  return a + b - a == 0;
}

bool subnormal_results_are_kept() { return float_bits(opaque(0x1p-126F) * opaque(0.5F)) == 0x00400000U; }

bool subnormal_inputs_are_kept() { return float_bits(opaque(0x1p-149F) * opaque(0x1p100F)) == float_bits(0x1p-49F); }

bool ties_go_to_even() {
  const float half_step = opaque(0x1p-24F);
  const float even = opaque(1.0F);
  const float odd = opaque(0x1.000002p0F);
  return even + half_step == 1.0F && odd + half_step == 0x1.000004p0F && -even - half_step == -1.0F &&
         -odd - half_step == -0x1.000004p0F;
}

bool quotients_are_rounded() { return float_bits(opaque(1.0F) / opaque(3.0F)) == 0x3EAAAAABU; }

bool roots_are_rounded() { return float_bits(std::sqrt(opaque(3.0F))) == 0x3FDDB3D7U; }

std::string describe(const Canary& canary) {
  return "\n  not true that " + std::string(canary.claim) + " (broken by " + std::string(canary.cause) + ")";
}

}  // namespace

std::array<Canary, canary_count> environment_canaries() {
  constexpr std::string_view contraction = "-ffp-contract=fast, -ffast-math";
  constexpr std::string_view excess = "x87 arithmetic, -ffast-math";
  constexpr std::string_view approximation = "-mrecip, -ffast-math";
  return {{
      {"a binary32 product is rounded before it is added", contraction, products_are_rounded(0x1p-12F)},
      {"a binary64 product is rounded before it is added", contraction, products_are_rounded(0x1p-27)},
      {"a binary32 sum is rounded to binary32", excess, sums_are_rounded(1.0F, 0x1p-30F)},
      {"a binary64 sum is rounded to binary64", excess, sums_are_rounded(1.0, 0x1p-60)},
      {"subnormal results are kept", "flush-to-zero, FTZ", subnormal_results_are_kept()},
      {"subnormal inputs are kept", "denormals-are-zero, DAZ", subnormal_inputs_are_kept()},
      {"results round to nearest, ties to even", "fesetround, MXCSR", ties_go_to_even()},
      {"a quotient is rounded correctly", approximation, quotients_are_rounded()},
      {"a square root is rounded correctly", approximation, roots_are_rounded()},
  }};
}

Result<void> check_environment() {
  std::string broken;
  for (const Canary& canary : environment_canaries()) {
    if (!canary.holds) broken += describe(canary);
  }
  if (broken.empty()) return {};
  return Error{ErrorKind::internal,
               "the arithmetic of this thread is not IEEE 754, so its results would be wrong:" + broken +
                   "\nRestore it with fesetenv(FE_DFL_ENV), and build and link without the options named above."};
}

}  // namespace fp4proof::portable
