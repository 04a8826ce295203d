#pragma once
// What softmax over keys and over a vocabulary share.

#include <cstdint>
#include <limits>

#include "formats/strict_math.h"
#include "reference/portable/lanes.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable::training {

struct Largest {
  float value = -std::numeric_limits<float>::infinity();
  std::int64_t index = 0;
};

/// The largest number and its lowest index. A NaN is never the largest; -infinity at index 0 where nothing is larger.
FP4PROOF_INLINE Largest largest_of(const float* x, std::int64_t count) {
  Largest largest;
  for (std::int64_t i = 0; i < count; ++i) {
    if (x[i] > largest.value) largest = {x[i], i};
  }
  return largest;
}

/// e_i = exp(RN(x_i - largest)); e may be x.
FP4PROOF_INLINE void exponentials(const float* x, std::int64_t count, float largest, float* e) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) e[i] = strict::exp(x[i] - largest);
}

}  // namespace fp4proof::portable::training
