// Stochastic rounding has an exact expectation: of the 2^r random values exactly floor(2^r * fraction) round up, for
// every interval of every element. Shown on the fast road by counting (8 bits), or by finding the one value where the
// decision turns (16 and 32 bits, the decision being monotone in the random value), against the oracle's rationals.

#include <gtest/gtest.h>

#include <string>

#include "formats/element.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"

namespace fp4proof {
namespace {

constexpr Element elements[] = {Element::e2m1, Element::e2m3, Element::e3m2, Element::e4m3,
                                Element::e5m2, Element::s1p1, Element::s1p2, Element::s1p3};

class StochasticRounding : public testing::TestWithParam<Element> {
 protected:
  int max_code() const { return element_spec(GetParam()).max_code; }

  /// A value in [low, high) of the interval above `code`, `part` of 2^20 from its low end; binary32 holds it exactly.
  float between(int code, std::uint32_t part) const {
    const float low = decode_element(GetParam(), static_cast<std::uint8_t>(code));
    const float high = decode_element(GetParam(), static_cast<std::uint8_t>(code + 1));
    return low + (high - low) * static_cast<float>(part) * 0x1p-20F;
  }

  bool goes_up(int code, float value, std::uint32_t u, int bits) const {
    const int result = encode_element(GetParam(), Rounding::stochastic, value, u, bits);
    EXPECT_TRUE(result == code || result == code + 1) << "value " << value << " left its interval";
    return result == code + 1;
  }

  /// How many random values round up, by bisection on the first that does.
  std::uint64_t values_that_go_up(int code, float value, int bits) const {
    std::uint64_t low = 0;
    std::uint64_t high = std::uint64_t{1} << bits;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (goes_up(code, value, static_cast<std::uint32_t>(middle), bits)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return (std::uint64_t{1} << bits) - low;
  }

  exact::Integer expected(float value, int bits) const {
    return exact::stochastic_numerator(GetParam(), exact::float_value(float_bits(value)), bits);
  }
};

TEST_P(StochasticRounding, EightBitsByCountingEveryValue) {
  for (int code = 0; code < max_code(); ++code) {
    for (std::uint32_t part = 0; part < (1U << 20); part += 4099) {
      const float value = between(code, part);
      int count = 0;
      for (std::uint32_t u = 0; u < 256; ++u) count += goes_up(code, value, u, 8) ? 1 : 0;
      ASSERT_EQ(exact::Integer(count), expected(value, 8)) << "code " << code << " part " << part;
    }
  }
}

TEST_P(StochasticRounding, WiderDrawsByTheTurningPoint) {
  for (const int bits : {8, 16, 32}) {
    for (int code = 0; code < max_code(); ++code) {
      for (const std::uint32_t part : {0U, 1U, 2U, 4095U, 4096U, 4097U, 349525U, 524287U, 524288U, 524289U, 1048575U}) {
        const float value = between(code, part);
        ASSERT_EQ(exact::Integer(values_that_go_up(code, value, bits)), expected(value, bits))
            << "code " << code << " part " << part << " bits " << bits;
      }
    }
  }
}

TEST_P(StochasticRounding, MeanOfTheDrawIsTheValueWhereTheFractionFitsTheBits) {
  // With f = part / 2^20 and 32 bits nothing is lost: the expectation low + f * (high - low) is the value itself.
  for (int code = 0; code < max_code(); ++code) {
    for (std::uint32_t part = 1; part < (1U << 20); part = part * 3 + 1) {
      const float value = between(code, part);
      ASSERT_EQ(values_that_go_up(code, value, 32), std::uint64_t{part} << 12) << "code " << code << " part " << part;
    }
  }
}

TEST_P(StochasticRounding, GridValuesNeverMove) {
  for (int code = 0; code <= max_code(); ++code) {
    const float value = decode_element(GetParam(), static_cast<std::uint8_t>(code));
    for (const std::uint32_t u : {0U, 1U, 0x80000000U, 0xFFFFFFFFU}) {
      EXPECT_EQ(encode_element(GetParam(), Rounding::stochastic, value, u, 32), code);
    }
  }
}

TEST_P(StochasticRounding, ZeroRandomBitsKeepTheLowerMagnitude) {
  for (int code = 0; code < max_code(); ++code) {
    EXPECT_FALSE(goes_up(code, between(code, (1U << 20) - 1), 0, 32));
    EXPECT_TRUE(goes_up(code, between(code, (1U << 20) - 1), 0xFFFFFFFFU, 32));
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, StochasticRounding, testing::ValuesIn(elements),
                         [](const auto& element) { return std::string(name_of(element.param)); });

}  // namespace
}  // namespace fp4proof
