#include <algorithm>
#include <cmath>

#include "tests/plugin/kernels/kernel.h"

namespace kernels {

namespace {

/// The largest magnitude of the elements that belong to a part.
template <class Belongs>
double largest(const Kernel& k, const std::vector<double>& x, Belongs belongs) {
  double result = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (belongs(i)) result = k.larger(result, k.measure(x[i]));
  return result;
}

double largest(const Kernel& k, const std::vector<double>& x) {
  return largest(k, x, [](std::size_t) { return true; });
}

unsigned with_sign(const Kernel& k, unsigned magnitude, double x) {
  return magnitude | (k.negative(x, magnitude) ? k.format.sign() : 0U);
}

Block mx_block(const Kernel& k, const std::vector<double>& x, const std::uint32_t* random) {
  Block block;
  const double amax = largest(k, x);
  if (!std::isfinite(amax)) {
    block.scale = k.special_scale(amax, k.family);
  } else {
    block.scale = static_cast<std::uint32_t>(amax == 0 ? k.zero_block_code : k.scale_code(k.exponent(amax, k.format)));
  }
  if (!std::isfinite(amax) && !k.codes_survive_special) {
    block.codes.assign(x.size(), 0);
    return block;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double y = k.divided(std::fabs(x[i]), static_cast<int>(block.scale));
    const std::uint32_t word = random == nullptr ? 0 : random[k.shares_random_word ? 0 : i];
    const unsigned magnitude = k.is_random ? k.stochastic(y, word, k.format) : k.rounded(y, k.format);
    block.codes.push_back(with_sign(k, magnitude, x[i]));
  }
  return block;
}

Block hif4_block(const Kernel& k, const std::vector<double>& x) {
  Block block;
  const double amax = largest(k, x);
  if (!std::isfinite(amax)) {
    block.scale = k.special_scale(amax, k.family);
    block.codes.assign(x.size(), 0);
    return block;
  }
  const std::uint32_t scale = k.e6m2(k.seventh(amax));
  const double reciprocal = k.reciprocal(k.scale(scale, k.family));
  std::uint32_t level2 = 0;
  for (std::size_t j = 0; j < 8; ++j) {
    const double most = largest(k, x, [&](std::size_t i) { return k.level2_of(i) == j; });
    if (k.threshold(most * reciprocal) >= 4) level2 |= 1U << j;
  }
  std::uint32_t level3 = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t part = k.level3_of(i);
    const double most = largest(k, x, [&](std::size_t n) { return k.level3_of(n) == part; });
    const int above = static_cast<int>(level2 >> k.level2_of(i) & 1U);
    if (k.threshold(std::ldexp(most * reciprocal, -above)) >= 2) level3 |= 1U << part;
  }
  block.scale = scale | level2 << 8 | level3 << 16;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int shift = static_cast<int>((level2 >> k.level2_of(i) & 1U) + (level3 >> k.level3_of(i) & 1U));
    const double y = k.scaled(std::ldexp(std::fabs(x[i]) * reciprocal, -shift));
    block.codes.push_back(with_sign(k, k.rounded(y, k.format), x[i]));
  }
  return block;
}

Block nvfp4_block(const Kernel& k, const std::vector<double>& x, double tensor_scale) {
  Block block;
  const double amax = largest(k, x);
  if (!std::isfinite(amax)) {
    block.scale = k.special_scale(amax, k.family);
    block.codes.assign(x.size(), 0);
    return block;
  }
  block.scale = k.block_scale(amax, tensor_scale);
  const double scale = k.scale(block.scale, k.family);
  for (const double value : x) {
    const double y = scale == 0 ? 0 : k.quotient(std::fabs(value), scale, tensor_scale);
    block.codes.push_back(with_sign(k, k.rounded(y, k.format), value));
  }
  return block;
}

}  // namespace

Block quantize_block(const Kernel& k, const std::vector<double>& inputs, const std::uint32_t* random,
                     double tensor_scale) {
  std::vector<double> x;
  for (const double input : inputs) x.push_back(k.load(input));
  Block block;
  switch (k.family) {
    case Family::mx: block = mx_block(k, x, random); break;
    case Family::hif4: block = hif4_block(k, x); break;
    case Family::nvfp4: block = nvfp4_block(k, x, tensor_scale); break;
  }
  if (k.finish != nullptr) k.finish(block, k);
  return block;
}

}  // namespace kernels
