#pragma once
// Where the random numbers of an operator come from.

#include <cstdint>

#include "formats/philox.h"

namespace fp4proof::portable::training {

/// The Philox address of the first element; those after it follow.
struct RandomAddress {
  std::uint64_t seed = 0;
  Stream stream = Stream::sr_activation;
  std::uint32_t step = 0;
  std::uint64_t first = 0;
};

}  // namespace fp4proof::portable::training
