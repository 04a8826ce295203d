#pragma once
// Inputs of operators for tests, and the comparison of their outputs.

#include <gtest/gtest.h>
#include <omp.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/training/reference_training.h"
#include "formats/philox.h"

namespace fp4proof::testing {

enum class Spice : std::uint8_t { none, specials };

/// `count` numbers of a bell curve; with specials one in eleven is a NaN with a payload, an infinity, a zero of either
/// sign, a subnormal, or close to overflow.
inline std::vector<float> numbers(std::size_t count, std::uint32_t which, float spread = 1.0F,
                                  Spice spice = Spice::none) {
  constexpr std::uint32_t special[] = {0x7FC00001, 0xFFA00000, 0x7F800000, 0xFF800000, 0x80000000,
                                       0x00000000, 0x00000007, 0x80400000, 0x7F7FFFFF, 0xFF000000};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = spread * random_normal(7, Stream::cases, which, i);
    const std::uint32_t word = random_word(8, Stream::cases, which, i);
    if (spice == Spice::specials && word % 11 == 0) values[i] = float_from_bits(special[word / 11 % 10]);
  }
  return values;
}

/// A matrix; with specials one row in five has some.
inline std::vector<float> matrix(std::size_t rows, std::size_t columns, std::uint32_t which, Spice spice) {
  std::vector<float> values = numbers(rows * columns, which);
  if (spice == Spice::none) return values;
  const std::vector<float> special = numbers(rows * columns, which, 1.0F, Spice::specials);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i / columns % 5 == 3) values[i] = special[i];
  }
  return values;
}

inline std::vector<std::int32_t> indices_below(std::size_t count, std::uint32_t limit, std::uint32_t which) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<std::int32_t>(random_word(9, Stream::cases, which, i) % limit);
  return values;
}

inline void expect_same_bits(std::span<const float> actual, std::span<const float> expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(float_bits(actual[i]), float_bits(expected[i]))
        << what << ", element " << i << ": " << actual[i] << " in place of " << expected[i];
  }
}

/// Runs an operator of the CPU table, which must succeed.
template <class Call>
void run_on_cpu(fp4proof_status (*fp4proof_training::*function)(const Call*), Call call) {
  const fp4proof_training& table = *training::reference_training();
  call.size = sizeof call;
  ASSERT_EQ((table.*function)(&call), FP4PROOF_OK) << table.error();
}

/// Calls test() with 1, 2 and 7 threads.
template <class Test>
void with_threads(Test test) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 7}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    omp_set_num_threads(threads);
    test();
  }
  omp_set_num_threads(before);
}

}  // namespace fp4proof::testing
