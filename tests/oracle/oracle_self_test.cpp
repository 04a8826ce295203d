// The oracle against what can be known without it: typed tables, the machine's own IEEE conversions, other arithmetic.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

using boost::multiprecision::cpp_rational;

Rational of_double(double value) { return *value_of(binary64, std::bit_cast<std::uint64_t>(value)); }
Rational of_float(float value) { return float_value(std::bit_cast<std::uint32_t>(value)); }
std::uint32_t word_of_float(float value) { return std::bit_cast<std::uint32_t>(value); }

/// A random binary64 whose exponent lies near the range of binary32, its edges included.
double random_double(std::mt19937_64& random) {
  const double significand = 1.0 + std::ldexp(static_cast<double>(random() >> 12), -52);
  const int exponent = static_cast<int>(random() % 300) - 160;
  return std::ldexp(random() % 2 == 0 ? significand : -significand, exponent);
}

// --- numbers ---------------------------------------------------------------------------------------------------------

TEST(Rational, AgreesWithBoost) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Rational a = of_double(random_double(random));
    const Rational b = of_double(random_double(random)) / Rational(static_cast<std::int64_t>(random() % 1000 + 1));
    const cpp_rational x = a.to_cpp_rational();
    const cpp_rational y = b.to_cpp_rational();
    EXPECT_EQ((a + b).to_cpp_rational(), cpp_rational(x + y));
    EXPECT_EQ((a - b).to_cpp_rational(), cpp_rational(x - y));
    EXPECT_EQ((a * b).to_cpp_rational(), cpp_rational(x * y));
    EXPECT_EQ((a / b).to_cpp_rational(), cpp_rational(x / y));
    EXPECT_EQ(a < b, x < y);
    EXPECT_EQ(a == b, x == y);
    EXPECT_TRUE(a + b - b == a);
  }
}

TEST(Rational, LogarithmsAndFloor) {
  EXPECT_EQ(Rational(1).floor_log2(), 0);
  EXPECT_EQ(Rational(1).ceil_log2(), 0);
  EXPECT_EQ((Rational(7) / Rational(8)).floor_log2(), -1);
  EXPECT_EQ((Rational(7) / Rational(8)).ceil_log2(), 0);
  EXPECT_EQ((Rational(1) / Rational(3)).floor_log2(), -2);
  EXPECT_EQ((Rational(1) / Rational(3)).ceil_log2(), -1);
  EXPECT_EQ((Rational(100) / Rational(7)).floor(), Integer(14));
  EXPECT_EQ(Rational::power_of_two(-149).floor_log2(), -149);
}

TEST(FloatWord, RoundsAsTheMachineDoes) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    const double value = random_double(random);
    ASSERT_EQ(round_to_float(of_double(value)), word_of_float(static_cast<float>(value))) << value;
  }
}

TEST(FloatWord, RoundsAnchorsOfTheDefinition) {
  EXPECT_EQ(round_to_float(Rational(1) / Rational(3)), 0x3EAAAAABU);
  EXPECT_EQ(round_to_float(Rational(1) / Rational(6)), 0x3E2AAAABU);
  EXPECT_EQ(round_to_float(Rational::power_of_two(-149)), 0x00000001U);
  EXPECT_EQ(round_to_float(Rational::power_of_two(-150)), 0x00000000U);   // tie to even
  EXPECT_EQ(round_to_float(-Rational::power_of_two(-150)), 0x80000000U);  // the sign stays
  EXPECT_EQ(round_to_float(Rational(3).scaled(-150)), 0x00000002U);       // tie to even, upward
  EXPECT_EQ(round_to_float(Rational::power_of_two(-126) - Rational::power_of_two(-150)), 0x00800000U);
  const Rational largest = float_value(0x7F7FFFFFU);
  const Rational half_step = Rational::power_of_two(103);
  EXPECT_EQ(round_to_float(largest + half_step), 0x7F800000U);
  EXPECT_EQ(round_to_float(largest + half_step - Rational::power_of_two(-149)), 0x7F7FFFFFU);
}

TEST(FloatWord, EveryBf16RoundTripsAndNeighboursRoundByTheWordRule) {
  for (std::uint32_t high = 0; high < 0x7F80U; ++high) {
    ASSERT_EQ(round_to_bf16(float_value(high << 16)), high);
    for (const std::uint32_t low : {0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      const std::uint32_t word = (high << 16) | low;
      const std::uint32_t expected = (word + 0x7FFFU + ((word >> 16) & 1U)) >> 16;
      ASSERT_EQ(round_to_bf16(float_value(word)), expected) << std::hex << word;
    }
  }
  EXPECT_EQ(round_word_to_bf16(0x80000001U), 0x80000000U);
  EXPECT_EQ(round_word_to_bf16(0xFF7FFFFFU), 0xFF800000U);
  EXPECT_TRUE(is_nan(round_word_to_bf16(0x7F800001U)));
}

TEST(FloatWord, TowardZeroAndOverflow) {
  EXPECT_EQ(*round_to(binary32, Rational(2) - Rational::power_of_two(-30), Direction::toward_zero),
            of_float(std::nextafter(2.0F, 0.0F)));
  EXPECT_EQ(*round_to(binary32, float_value(0x7F7FFFFFU) + Rational(1), Direction::toward_zero),
            float_value(0x7F7FFFFFU));
  EXPECT_FALSE(round_to(binary32, Rational::power_of_two(128)).has_value());
  EXPECT_FALSE(value_of(binary32, 0x7F800000U).has_value());
  EXPECT_EQ(*value_of(binary64, 0x0000000000000001U), Rational::power_of_two(-1074));
}

// --- elements --------------------------------------------------------------------------------------------------------

void expect_table(Element element, const std::vector<double>& typed) {
  const std::vector<Rational>& levels = magnitudes(element);
  ASSERT_EQ(levels.size(), typed.size());
  for (std::size_t code = 0; code < typed.size(); ++code) {
    EXPECT_EQ(levels[code], of_double(typed[code])) << code;
    const auto negative = static_cast<std::uint8_t>(code | element_spec(element).sign_mask());
    EXPECT_EQ(value_of_code(element, negative), of_double(-typed[code])) << code;
  }
}

TEST(Element, TypedTables) {
  expect_table(Element::e2m1, {0, 0.5, 1, 1.5, 2, 3, 4, 6});
  expect_table(Element::s1p1, {0, 0.5, 1, 1.5});
  expect_table(Element::s1p2, {0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75});
  expect_table(Element::s1p3,
               {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875});
  expect_table(Element::e2m3,
               {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875,
                2, 2.25,  2.5,  2.75,  3,   3.25,  3.5,  3.75,  4, 4.5,   5,    5.5,   6,   6.5,   7,    7.5});
  expect_table(Element::e3m2,
               {0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625, 0.75, 0.875, 1,  1.25, 1.5, 1.75,
                2, 2.5,    3,     3.5,    4,    5,      6,     7,      8,   10,    12,   14,    16, 20,   24,  28});
}

TEST(Element, Fp8Anchors) {
  const auto e4m3 = [](int code) { return value_of_code(Element::e4m3, static_cast<std::uint8_t>(code)); };
  EXPECT_EQ(magnitudes(Element::e4m3).size(), 127U);
  EXPECT_EQ(e4m3(0x01), of_double(0x1p-9));
  EXPECT_EQ(e4m3(0x07), of_double(0x1.Cp-7));
  EXPECT_EQ(e4m3(0x08), of_double(0x1p-6));
  EXPECT_EQ(e4m3(0x38), Rational(1));
  EXPECT_EQ(e4m3(0x39), of_double(1.125));
  EXPECT_EQ(e4m3(0x77), Rational(240));
  EXPECT_EQ(e4m3(0x79), Rational(288));
  EXPECT_EQ(e4m3(0x7E), Rational(448));
  EXPECT_EQ(e4m3(0xFE), Rational(-448));
  EXPECT_EQ(kind_of_code(Element::e4m3, 0x7F), CodeKind::nan);
  EXPECT_EQ(kind_of_code(Element::e4m3, 0xFF), CodeKind::nan);
  const auto e5m2 = [](int code) { return value_of_code(Element::e5m2, static_cast<std::uint8_t>(code)); };
  EXPECT_EQ(magnitudes(Element::e5m2).size(), 124U);
  EXPECT_EQ(e5m2(0x01), of_double(0x1p-16));
  EXPECT_EQ(e5m2(0x03), of_double(0x1.8p-15));
  EXPECT_EQ(e5m2(0x04), of_double(0x1p-14));
  EXPECT_EQ(e5m2(0x3C), Rational(1));
  EXPECT_EQ(e5m2(0x7B), Rational(57344));
  EXPECT_EQ(kind_of_code(Element::e5m2, 0x7C), CodeKind::infinity);
  EXPECT_EQ(kind_of_code(Element::e5m2, 0xFC), CodeKind::infinity);
  for (const int code : {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF})
    EXPECT_EQ(kind_of_code(Element::e5m2, static_cast<std::uint8_t>(code)), CodeKind::nan);
}

/// E5M2 is the high byte of binary16, and E4M3 rescaled is one too: the value through the machine's binary64.
TEST(Element, Fp8CodesByLdexp) {
  for (int code = 1; code <= 0x7B; ++code) {
    const int field = code >> 2;
    const double value = field == 0 ? std::ldexp(code, -16) : std::ldexp(4 + (code & 3), field - 17);
    EXPECT_EQ(magnitudes(Element::e5m2)[static_cast<std::size_t>(code)], of_double(value)) << code;
  }
  for (int code = 1; code <= 0x7E; ++code) {
    const int field = code >> 3;
    const double value = field == 0 ? std::ldexp(code, -9) : std::ldexp(8 + (code & 7), field - 10);
    EXPECT_EQ(magnitudes(Element::e4m3)[static_cast<std::size_t>(code)], of_double(value)) << code;
  }
}

constexpr std::array all_elements = {Element::e2m1, Element::e2m3, Element::e3m2, Element::e4m3,
                                     Element::e5m2, Element::s1p1, Element::s1p2, Element::s1p3};
constexpr std::array nearest_modes = {Rounding::rne, Rounding::rna, Rounding::ties_down};

TEST(Element, EveryLevelEncodesToItselfAndLargerClamps) {
  for (const Element element : all_elements) {
    for (std::size_t code = 0; code < magnitudes(element).size(); ++code) {
      const Rational& level = magnitudes(element)[code];
      for (const Rounding rounding : {Rounding::rne, Rounding::rna, Rounding::ties_down, Rounding::rtz})
        EXPECT_EQ(encode_magnitude(element, rounding, level), code);
      EXPECT_EQ(encode_magnitude(element, Rounding::stochastic, level, {0xFFFFFFFFU, 32}), code);
    }
    const std::uint8_t max_code = element_spec(element).max_code;
    const Rational huge = Rational::power_of_two(200);
    EXPECT_EQ(encode_magnitude(element, Rounding::rtz, huge), max_code);
    EXPECT_EQ(encode_magnitude(element, Rounding::stochastic, huge, {0, 8}), max_code);
  }
}

/// No other code may be nearer, and at equal distance the mode decides: a search over all codes.
TEST(Element, NearestByExhaustiveSearch) {
  std::mt19937_64 random(3);
  for (const Element element : all_elements) {
    const std::vector<Rational>& levels = magnitudes(element);
    for (int i = 0; i < 300; ++i) {
      const auto code = static_cast<std::size_t>(random() % (levels.size() - 1));
      const auto eighths = static_cast<std::int64_t>(random() % 9);
      const Rational y = levels[code] + (levels[code + 1] - levels[code]) * Rational(eighths).scaled(-3);
      for (const Rounding rounding : nearest_modes) {
        const std::uint8_t chosen = encode_magnitude(element, rounding, y);
        for (std::size_t other = 0; other < levels.size(); ++other)
          ASSERT_LE((levels[chosen] - y).abs(), (levels[other] - y).abs());
      }
    }
  }
}

TEST(Element, TiesOfE2M1) {
  const std::vector<double> ties = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0};
  const std::vector<int> even = {0, 2, 2, 4, 4, 6, 6};
  for (std::size_t i = 0; i < ties.size(); ++i) {
    const Rational y = of_double(ties[i]);
    EXPECT_EQ(encode_magnitude(Element::e2m1, Rounding::rne, y), even[i]) << ties[i];
    EXPECT_EQ(encode_magnitude(Element::e2m1, Rounding::rna, y), i + 1) << ties[i];
    EXPECT_EQ(encode_magnitude(Element::e2m1, Rounding::ties_down, y), i) << ties[i];
    EXPECT_EQ(encode_magnitude(Element::e2m1, Rounding::rtz, y), i) << ties[i];
  }
}

TEST(Element, ThresholdWordsOfE2M1) {
  const std::vector<std::uint32_t> ties = {0x3E800000, 0x3F400000, 0x3FA00000, 0x3FE00000,
                                           0x40200000, 0x40600000, 0x40A00000};
  const std::vector<std::uint32_t> levels = {0x3F000000, 0x3F800000, 0x3FC00000, 0x40000000,
                                             0x40400000, 0x40800000, 0x40C00000};
  for (std::uint8_t code = 1; code <= 7; ++code) {
    const std::size_t i = code - 1U;
    const std::uint32_t to_even = ties[i] + (code % 2 == 0 ? 0 : 1);
    EXPECT_EQ(threshold_word(Element::e2m1, Rounding::rne, code), to_even);
    EXPECT_EQ(threshold_word(Element::e2m1, Rounding::rna, code), ties[i]);
    EXPECT_EQ(threshold_word(Element::e2m1, Rounding::ties_down, code), ties[i] + 1);
    EXPECT_EQ(threshold_word(Element::e2m1, Rounding::rtz, code), levels[i]);
  }
  EXPECT_EQ(threshold_word(Element::e2m1, Rounding::rne, 0), 0U);
  EXPECT_FALSE(threshold_word(Element::e2m1, Rounding::rne, 8).has_value());
}

TEST(Element, StochasticCountsAreTheExactProbability) {
  const Rational y = of_double(0.3125);  // 5/8 of the way from 0 to 0.5
  EXPECT_EQ(probability_up(Element::e2m1, y, 8), of_double(0.625));
  for (const double value : {0.3, 0.49, 2.2, 3.999, 5.5}) {
    const Rational x = of_double(value);
    const std::uint8_t low = encode_magnitude(Element::e2m1, Rounding::rtz, x);
    int ups = 0;
    for (std::uint32_t u = 0; u < 256; ++u) {
      const std::uint8_t code = encode_magnitude(Element::e2m1, Rounding::stochastic, x, {u, 8});
      ups += code == low + 1;
    }
    EXPECT_EQ(Rational(ups).scaled(-8), probability_up(Element::e2m1, x, 8)) << value;
    const double fraction = (value - (low < 4    ? low * 0.5
                                      : low == 4 ? 2
                                      : low == 5 ? 3
                                                 : 4)) /
                            (low < 4   ? 0.5
                             : low < 6 ? 1
                                       : 2);
    EXPECT_EQ(ups, static_cast<int>(fraction * 256)) << value;
  }
  EXPECT_EQ(random_bits_of_word(0xABCDEF01U, 8).value, 0xABU);
  EXPECT_EQ(random_bits_of_word(0xABCDEF01U, 16).value, 0xABCDU);
  EXPECT_EQ(random_bits_of_word(0xABCDEF01U, 32).value, 0xABCDEF01U);
}

// --- scales ----------------------------------------------------------------------------------------------------------

TEST(Scale, EveryE8M0AndE6M2Code) {
  for (int code = 0; code <= 254; ++code) {
    EXPECT_EQ(e8m0_value(static_cast<std::uint8_t>(code)), of_double(std::ldexp(1.0, code - 127)));
    const double e6m2 = std::ldexp(1.0 + 0.25 * (code & 3), (code >> 2) - 48);
    EXPECT_EQ(e6m2_value(static_cast<std::uint8_t>(code)), of_double(e6m2));
  }
  EXPECT_EQ(e6m2_value(0x00), of_double(0x1p-48));
  EXPECT_EQ(e6m2_value(0xC0), Rational(1));
  EXPECT_EQ(e6m2_value(0xFE), Rational(49152));
}

TEST(Scale, E6M2TiesAndClamps) {
  const std::vector<double> ties = {1.125, 1.375, 1.625, 1.875};
  const std::vector<int> even = {0xC0, 0xC2, 0xC2, 0xC4};
  const std::vector<int> up = {0xC1, 0xC2, 0xC3, 0xC4};
  for (std::size_t i = 0; i < ties.size(); ++i) {
    EXPECT_EQ(encode_e6m2(of_double(ties[i]), Rounding::rne), even[i]);
    EXPECT_EQ(encode_e6m2(of_double(ties[i]), Rounding::rna), up[i]);
  }
  EXPECT_EQ(encode_e6m2(Rational(), Rounding::rne), 0x00);
  EXPECT_EQ(encode_e6m2(Rational(1000000), Rounding::rna), 0xFE);
  for (int code = 0; code <= 0xFE; ++code)
    EXPECT_EQ(encode_e6m2(e6m2_value(static_cast<std::uint8_t>(code)), Rounding::rne), code);
}

Profile with(const char* name, ScaleRule rule, ScaleArithmetic arithmetic = ScaleArithmetic::exact) {
  Profile profile = *find_profile(name);
  profile.scale_rule = rule;
  profile.scale_arithmetic = arithmetic;
  return profile;
}

TEST(Scale, RulesInsideOneBinade) {
  struct Case {
    double amax;
    int floor, ceil, rceil, even, nearest;
  };
  // Codes by hand; max 6, emax 2. Nearest: amax/6 against 1.5 * 2^e.
  const std::vector<Case> cases = {
      {4.0, 127, 127, 127, 127, 126},    {4.4999, 127, 128, 127, 127, 126}, {4.5, 127, 128, 127, 127, 126},
      {4.5001, 127, 128, 127, 127, 127}, {6.0, 127, 128, 127, 127, 127},    {6.0001, 127, 128, 128, 127, 127},
      {6.9999, 127, 128, 128, 127, 127}, {7.0, 127, 128, 128, 128, 127},    {7.9999, 127, 128, 128, 128, 127},
      {8.0, 128, 128, 128, 128, 127},    {9.0, 128, 129, 128, 128, 128},    {18.0, 129, 130, 129, 129, 128},
  };
  for (const Case& c : cases) {
    const Rational amax = of_double(c.amax);
    EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::floor), amax), c.floor) << c.amax;
    EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::ceil), amax), c.ceil) << c.amax;
    EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::rceil), amax), c.rceil) << c.amax;
    EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::even), amax), c.even) << c.amax;
    EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::nearest), amax), c.nearest) << c.amax;
  }
}

TEST(Scale, ClampsAtBothEnds) {
  const Rational smallest = Rational::power_of_two(-149);
  const Rational largest = float_value(0x7F7FFFFFU);
  for (const ScaleRule rule :
       {ScaleRule::floor, ScaleRule::ceil, ScaleRule::rceil, ScaleRule::even, ScaleRule::nearest})
    EXPECT_EQ(select_e8m0(with("mxfp4/ocp", rule), smallest), 0);
  EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::floor), largest), 252);
  EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::ceil), largest), 253);
  EXPECT_EQ(select_e8m0(with("mxfp4/ocp", ScaleRule::even), largest), 253);
  const Profile word_add = with("mxfp4/ocp", ScaleRule::even, ScaleArithmetic::word_add);
  EXPECT_EQ(select_e8m0(word_add, float_value(0x7F600000U)), 255);
  EXPECT_EQ(select_e8m0(word_add, float_value(0x7F5FFFFFU)), 252);
}

/// A binary32 log2 is one too large just under 2^k, k = -125 .. 128, in all binades but those of k = -1, 0, 1, 2.
TEST(Scale, FloatLog2IsWrongUnder250Of254PowersOfTwo) {
  const Profile by_log2 = with("mxfp4/ocp", ScaleRule::floor, ScaleArithmetic::float_log2);
  int wrong = 0;
  for (std::uint32_t field = 1; field <= 254; ++field) {
    const Rational below = float_value((field << 23) | 0x7FFFFFU);
    const std::uint8_t exact = select_e8m0(with("mxfp4/ocp", ScaleRule::floor), below);
    wrong += select_e8m0(by_log2, below) != exact;
    const Rational power = float_value(field << 23);
    EXPECT_EQ(select_e8m0(by_log2, power), select_e8m0(with("mxfp4/ocp", ScaleRule::floor), power));
  }
  EXPECT_EQ(wrong, 250 - 1);  // just under 2^-125 both clamp to code 0
}

/// The wide logarithm against the machine's binary64 one, on numbers near powers of two.
TEST(Scale, FloatLog2AgreesWithBinary64) {
  const Profile by_log2 = with("mxfp4/ocp", ScaleRule::floor, ScaleArithmetic::float_log2);
  for (std::uint32_t field = 4; field <= 254; ++field) {
    for (std::uint32_t back = 1; back <= 120; ++back) {
      const std::uint32_t word = (field << 23) + 0x7FFFFFU + 1 - back;
      const double log2 = std::log2(static_cast<double>(std::bit_cast<float>(word)));
      const int expected = static_cast<int>(std::floor(static_cast<float>(log2))) - 2 + 127;
      ASSERT_EQ(select_e8m0(by_log2, float_value(word)), expected) << std::hex << word;
    }
  }
}

TEST(Scale, ReciprocalDiffersFromDivisionOnlyBelowTheNormals) {
  std::mt19937 random(4);
  const Profile exact = with("mxfp4/ocp", ScaleRule::rceil);
  const Profile reciprocal = with("mxfp4/ocp", ScaleRule::rceil, ScaleArithmetic::fp32_reciprocal);
  const Profile divide = with("mxfp4/ocp", ScaleRule::rceil, ScaleArithmetic::fp32_divide);
  for (int i = 0; i < 20000; ++i) {
    const Rational amax = float_value(0x02000000U + static_cast<std::uint32_t>(random() % 0x7D000000U));
    ASSERT_EQ(select_e8m0(reciprocal, amax), select_e8m0(exact, amax));
    ASSERT_EQ(select_e8m0(divide, amax), select_e8m0(exact, amax));
  }
  // 6 * 2^k and its neighbours decide.
  for (std::uint32_t field = 8; field <= 254; ++field)
    for (const std::uint32_t fraction : {0x3FFFFFU, 0x400000U, 0x400001U})
      ASSERT_EQ(select_e8m0(reciprocal, float_value((field << 23) | fraction)),
                select_e8m0(exact, float_value((field << 23) | fraction)));
}

TEST(Scale, E4M3BlockScale) {
  EXPECT_EQ(encode_e4m3_scale(Rational()), 0);
  EXPECT_EQ(encode_e4m3_scale(Rational(1)), 0x38);
  EXPECT_EQ(encode_e4m3_scale(Rational(100000)), 0x7E);
  EXPECT_EQ(encode_e4m3_scale(Rational::power_of_two(-10)), 0);  // tie to even
  EXPECT_EQ(encode_e4m3_scale(Rational(3).scaled(-10)), 2);      // tie to even
}

}  // namespace
}  // namespace fp4proof::exact
