#pragma once
// Operators over all numbers of a tensor of weights: rules T44 to T50 of docs/rules-training.md.

#include <cstdint>

#include "reference/portable/training/random_address.h"

namespace fp4proof::portable::training {

/// T44
double sum_squares(std::int64_t count, const float* x);

struct AdamStep {
  float learning_rate = 0.0F;
  float beta1 = 0.0F;
  float beta2 = 0.0F;
  float epsilon = 0.0F;
  float correction1 = 1.0F;  ///< 1 - beta1^t
  float correction2 = 1.0F;  ///< 1 - beta2^t
  float gradient_scale = 1.0F;
};

/// T45
void adam(const AdamStep& step, std::int64_t count, const float* gradient, float* first_moment, float* second_moment,
          float* weight);

/// T46
void add_noise(std::int64_t count, const RandomAddress& random, float sigma, const float* weight, float* y);

/// T50 of `count` words of 32 bits.
std::uint64_t digest(std::int64_t count, const std::uint32_t* words);

}  // namespace fp4proof::portable::training
