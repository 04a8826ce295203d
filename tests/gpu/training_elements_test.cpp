// The element arithmetic of the CUDA training operators, run on the host, against the reference's operators.

#include "gpu/training_elements.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <vector>

#include "reference/portable/training/products.h"
#include "reference/portable/training/rows.h"
#include "reference/portable/training/tokens.h"
#include "reference/portable/training/weights.h"

namespace fp4proof::gpu::training {
namespace {

namespace on_cpu = portable::training;

constexpr std::int64_t count = 50000;

/// Normal numbers, and any word of binary32 in every third place.
std::vector<float> numbers(std::uint32_t salt, std::int64_t n = count) {
  constexpr std::uint32_t listed[] = {0x7F800000U, 0xFF800000U, 0x7FC12345U, 0xFF812345U, 0x80000000U,
                                      0x00000001U, 0x807FFFFFU, 0x7F7FFFFFU, 0x00800000U, 0x00000000U};
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t word = random_word(3, Stream::cases, salt, i);
    values[i] = i % 3 == 0   ? float_from_bits(word)
                : i % 7 == 1 ? float_from_bits(listed[word % std::size(listed)])
                             : 3.0F * random_normal(5, Stream::cases, salt, i);
  }
  return values;
}

/// found(i) has the bits of expected[i].
template <class T, class Found>
void expect_bits(const std::vector<T>& expected, const Found& found) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const T value = found(i);
    if (__builtin_memcmp(&value, &expected[i], sizeof(T)) != 0) ++differing;
  }
  EXPECT_EQ(differing, 0U);
}

TEST(TrainingElements, SumsProductsAndBfloat16) {
  const std::vector<float> a = numbers(1);
  const std::vector<float> b = numbers(2);
  std::vector<float> y(a.size());
  on_cpu::add(count, a.data(), b.data(), y.data());
  expect_bits(y, [&](std::size_t i) { return plus(a[i], b[i]); });
  std::vector<std::uint16_t> words(a.size());
  on_cpu::to_bf16(1, count, false, a.data(), words.data());
  expect_bits(words, [&](std::size_t i) { return bf16_word(a[i]); });
  const std::int32_t row = 0;
  on_cpu::gather_rows(1, count, &row, b.data() + 4, a.data(), y.data());
  expect_bits(y, [&](std::size_t i) { return times(b[4], a[i]); });
}

TEST(TrainingElements, Swiglu) {
  const std::vector<float> gate = numbers(3);
  const std::vector<float> up = numbers(4);
  const std::vector<float> dy = numbers(5);
  std::vector<float> y(gate.size());
  std::vector<float> d_gate(gate.size());
  std::vector<float> d_up(gate.size());
  on_cpu::swiglu(count, gate.data(), up.data(), y.data());
  on_cpu::swiglu_backward(count, gate.data(), up.data(), dy.data(), d_gate.data(), d_up.data());
  expect_bits(y, [&](std::size_t i) { return swiglu(gate[i], up[i]); });
  expect_bits(d_gate, [&](std::size_t i) { return swiglu_gradient(gate[i], up[i], dy[i]).gate; });
  expect_bits(d_up, [&](std::size_t i) { return swiglu_gradient(gate[i], up[i], dy[i]).up; });
}

/// Rows of one column: the sums of T32 and T33 have one term.
TEST(TrainingElements, RmsNorm) {
  const std::vector<float> x = numbers(6);
  const std::vector<float> dy = numbers(7);
  std::vector<float> y(x.size());
  std::vector<float> inverse(x.size());
  std::vector<float> dx(x.size());
  for (const float weight : {1.0F, -0.37F, 0x1p-140F}) {
    for (const float factor : {8.0F, 0.3F}) {
      for (const float* const gain : {static_cast<const float*>(nullptr), &factor}) {
        float weight_gradient = 0.0F;
        on_cpu::rms_norm(count, 1, x.data(), &weight, gain, y.data(), inverse.data());
        on_cpu::rms_norm_backward(count, 1, x.data(), &weight, gain, inverse.data(), dy.data(), dx.data(),
                                  &weight_gradient);
        expect_bits(inverse, [&](std::size_t i) { return inverse_rms(0.0F + x[i] * x[i], 1.0F); });
        expect_bits(y, [&](std::size_t i) { return normalised(x[i], inverse[i], weight, gain); });
        expect_bits(dx, [&](std::size_t i) {
          const float h = gained(dy[i], gain) * weight;
          return plus(h * inverse[i], -(x[i] * norm_correction(0.0F + h * x[i], inverse[i], 1.0F)));
        });
      }
    }
  }
}

TEST(TrainingElements, LogitGradient) {
  constexpr std::int64_t vocabulary = 2;  // a sum of two exponentials, which are folded in the order 0 + 1
  const std::vector<float> weights = numbers(8, count / vocabulary);
  std::vector<float> logits(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = 4.0F * random_normal(7, Stream::cases, 9, i);
  const std::vector<std::int32_t> targets(weights.size(), 1);
  std::vector<float> gradient(logits.size());
  on_cpu::log_softmax_backward(count / vocabulary, vocabulary, logits.data(), targets.data(), weights.data(),
                               gradient.data());
  expect_bits(gradient, [&](std::size_t i) {
    const std::size_t row = i / 2 * 2;
    const float largest = logits[row] > logits[row + 1] ? logits[row] : logits[row + 1];
    const float sum = strict::exp(logits[row] - largest) + strict::exp(logits[row + 1] - largest);
    const float weight = weights[i / 2];
    return weight == 0.0F ? 0.0F : logit_gradient(strict::exp(logits[i] - largest) / sum, i % 2 == 1, weight);
  });
}

TEST(TrainingElements, Weights) {
  const std::vector<float> gradient = numbers(10);
  const std::vector<float> first = numbers(11);
  const std::vector<float> second = numbers(12);
  const std::vector<float> weight = numbers(13);
  const AdamRates rates{5e-4F, 0.9F, 0.95F, 1e-8F, 0.19F, 0.0975F, 0.37F};
  std::vector<float> m = first;
  std::vector<float> v = second;
  std::vector<float> w = weight;
  on_cpu::adam({rates.learning_rate, rates.beta1, rates.beta2, rates.epsilon, rates.correction1, rates.correction2,
                rates.gradient_scale},
               count, gradient.data(), m.data(), v.data(), w.data());
  const auto next = [&](std::size_t i) { return adam_step(rates, {first[i], second[i], weight[i]}, gradient[i]); };
  expect_bits(m, [&](std::size_t i) { return next(i).first_moment; });
  expect_bits(v, [&](std::size_t i) { return next(i).second_moment; });
  expect_bits(w, [&](std::size_t i) { return next(i).weight; });
  for (const float sigma : {0.0F, 0.01F, 3e38F}) {
    on_cpu::add_noise(count, {9, Stream::aqn, 4, 77}, sigma, weight.data(), w.data());
    expect_bits(w, [&](std::size_t i) { return noisy(weight[i], sigma, 9, Stream::aqn, 4, 77 + i); });
  }
}

TEST(TrainingElements, Digest) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = random_word(3, Stream::cases, 14, i);
    sum += digest_term(i, words[i]);
  }
  EXPECT_EQ(sum, on_cpu::digest(count, words.data()));
  EXPECT_EQ(digest_term(std::uint64_t{1} << 32, 5), digest_term(0, 5)) << "i counts modulo 2^32";
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15U), 0xE220A8397B1DCDAFU) << "the first number of splitmix64 from the seed 0";
}

}  // namespace
}  // namespace fp4proof::gpu::training
