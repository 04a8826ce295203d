#pragma once
// The checks of `fp4proof selftest`. Each returns what is wrong, or an empty text.

#include <cstddef>
#include <string>

#include "formats/spec.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::cli {

/// Every code of an element decodes to the oracle's value, and the smallest word that reaches each code under each
/// deterministic rounding is the oracle's.
std::string element_problem(Element element);

/// Every scale code decodes to the oracle's value.
std::string e8m0_problem();
std::string e6m2_problem();
std::string e4m3_problem();

/// Philox4x32-10 gives the three answers that its authors published.
std::string philox_problem();

/// The digest of "abc" is that of FIPS 180-4.
std::string sha256_problem();

/// Packing and unpacking give back every code and every scale byte.
std::string packing_problem();

/// A tensor quantized by one thread and by all has the same bytes.
std::string thread_problem();

/// A small product under the accumulator has the oracle's bits.
std::string gemm_problem(portable::Accumulator accumulator);

/// The quantize cases of the set `smoke` under one profile, through the fast road, the scalar codec and the oracle, and
/// back through both decoders.
struct ProfileCheck {
  std::size_t blocks = 0;
  std::string problem;
};
ProfileCheck check_profile_roads(const Profile& profile);

}  // namespace fp4proof::cli
