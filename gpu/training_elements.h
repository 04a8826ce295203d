#pragma once
// The arithmetic of single elements under docs/rules-training.md, the same on host and device. Numbers that are written
// are made canonical here; the sums stand in gpu/training_sums.h.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/host_device.h"
#include "formats/mix64.h"
#include "formats/philox.h"
#include "formats/strict_math.h"

namespace fp4proof::gpu::training {

FP4PROOF_HD constexpr float plus(float a, float b) { return strict::canonicalise_nan(a + b); }
FP4PROOF_HD constexpr float times(float a, float b) { return strict::canonicalise_nan(a * b); }

/// T22
FP4PROOF_HD constexpr std::uint16_t bf16_word(float x) { return float_to_bf16(strict::canonicalise_nan(x)); }

/// 1 / rms from the sum of squares. T32
FP4PROOF_HD inline float inverse_rms(float sum, float columns) { return strict::rsqrt(sum / columns + 1e-5F); }

/// y of T32; `gain` may be null.
FP4PROOF_HD constexpr float normalised(float x, float inverse, float weight, const float* gain) {
  const float y = x * inverse * weight;
  return strict::canonicalise_nan(gain != nullptr ? y * *gain : y);
}

/// d of T33
FP4PROOF_HD constexpr float gained(float dy, const float* gain) { return gain != nullptr ? dy * *gain : dy; }

/// c of T33
FP4PROOF_HD constexpr float norm_correction(float sum, float inverse, float columns) {
  return sum * (inverse * inverse * inverse) / columns;
}

/// T37
FP4PROOF_HD constexpr float swiglu(float gate, float up) { return times(strict::silu(gate), up); }

struct SwigluGradient {
  float gate;
  float up;
};

/// T38
FP4PROOF_HD constexpr SwigluGradient swiglu_gradient(float gate, float up, float dy) {
  const float sigma = 1.0F / (1.0F + strict::exp(-gate));
  const float slope = sigma * (1.0F + gate * (1.0F - sigma));
  return {times(dy * up, slope), times(dy, strict::silu(gate))};
}

/// T43, from the probability.
FP4PROOF_HD constexpr float logit_gradient(float probability, bool is_target, float weight) {
  return times(weight, is_target ? probability - 1.0F : probability);
}

struct AdamRates {
  float learning_rate;
  float beta1;
  float beta2;
  float epsilon;
  float correction1;
  float correction2;
  float gradient_scale;
};

struct AdamState {
  float first_moment;
  float second_moment;
  float weight;
};

/// T45
FP4PROOF_HD inline AdamState adam_step(const AdamRates& rates, const AdamState& state, float gradient) {
  const float g = gradient * rates.gradient_scale;
  const float m = plus(rates.beta1 * state.first_moment, (1.0F - rates.beta1) * g);
  const float v = plus(rates.beta2 * state.second_moment, (1.0F - rates.beta2) * (g * g));
  const float down = rates.learning_rate * (m / rates.correction1);
  const float up = strict::sqrt(v / rates.correction2) + rates.epsilon;
  return {m, v, strict::canonicalise_nan(state.weight - down / up)};
}

/// T46: w + sigma n of one element; sigma 0 keeps the bits.
FP4PROOF_HD inline float noisy(float weight, float sigma, std::uint64_t seed, Stream stream, std::uint32_t step,
                               std::uint64_t element) {
  return sigma == 0.0F ? weight : plus(weight, sigma * random_normal(seed, stream, step, element));
}

/// What word `i` adds to the digest. T50
FP4PROOF_HD constexpr std::uint64_t digest_term(std::uint64_t i, std::uint32_t word) { return mix64((i << 32) + word); }

}  // namespace fp4proof::gpu::training
