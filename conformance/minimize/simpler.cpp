#include "conformance/minimize/simpler.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "formats/element.h"
#include "formats/scale_codes.h"

namespace fp4proof::minimize {

namespace {

constexpr std::uint32_t fraction_mask = 0x007FFFFFU;
constexpr int exponent_of_one = 127;

int exponent_field(std::uint32_t word) { return static_cast<int>(word >> 23 & 0xFFU); }

int fraction_bits(std::uint32_t word) {
  const std::uint32_t fraction = word & fraction_mask;
  return fraction == 0 ? 0 : 23 - std::countr_zero(fraction);
}

std::uint64_t word_complexity(std::uint32_t word) {
  if (word == 0) return 0;
  if (word == float_sign_mask) return 1;
  const int exponent = exponent_field(word);
  const std::uint64_t special = exponent == 0xFF ? std::uint64_t{1} << 60 : 0;
  const auto bits = static_cast<std::uint64_t>(fraction_bits(word));
  const auto distance = static_cast<std::uint64_t>(std::abs(exponent - exponent_of_one));
  const std::uint64_t below = exponent < exponent_of_one ? 1 : 0;
  const std::uint64_t sign = word >> 31;
  return special | (bits + 1) << 40 | distance << 28 | below << 27 | sign << 26 | (word & fraction_mask);
}

std::uint64_t bits_complexity(std::uint32_t bits) { return std::uint64_t(std::popcount(bits)) << 32 | bits; }

std::vector<std::uint32_t> fractions_of(std::uint32_t word) {
  std::vector<std::uint32_t> fractions = {word & fraction_mask};
  for (int bits = 0; bits < fraction_bits(word); ++bits) {
    const std::uint32_t unit = 1U << (23 - bits);
    const std::uint32_t down = word & fraction_mask & ~(unit - 1U);
    fractions.push_back(down);
    if (down + unit <= fraction_mask) fractions.push_back(down + unit);
  }
  return fractions;
}

std::vector<int> exponents_of(std::uint32_t word) {
  const int own = exponent_field(word);
  std::vector<int> exponents = {own};
  if (own + 1 < 0xFF) exponents.push_back(own + 1);  // a fraction that is rounded up to a power of two
  for (int step = exponent_of_one - own; step != 0; step /= 2) exponents.push_back(own + step);
  return exponents;
}

std::vector<std::uint32_t> words_like(std::uint32_t word) {
  std::vector<std::uint32_t> words;
  for (const std::uint32_t fraction : fractions_of(word)) {
    for (const int exponent : exponents_of(word)) {
      const std::uint32_t magnitude = static_cast<std::uint32_t>(exponent) << 23 | fraction;
      words.push_back(magnitude);
      words.push_back(magnitude | (word & float_sign_mask));
    }
  }
  return words;
}

std::vector<std::uint32_t> random_like(std::uint32_t word) {
  std::vector<std::uint32_t> words = {0};
  for (int bits = 1; bits < 32; ++bits) {
    const std::uint32_t unit = 1U << (32 - bits);
    words.push_back(word & ~(unit - 1U));
    words.push_back((word & ~(unit - 1U)) + unit);
  }
  return words;
}

std::vector<std::uint32_t> level_bits_like(std::uint32_t bits) {
  std::vector<std::uint32_t> words = {0};
  for (int i = 0; i < 24; ++i) {
    words.push_back(bits & (1U << i));
    words.push_back(bits & ~(1U << i));
  }
  return words;
}

std::vector<std::uint32_t> all_up_to(std::uint32_t most) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t value = 0; value <= most; ++value) values.push_back(value);
  return values;
}

std::vector<std::uint32_t> values_like(const Profile& profile, Role role, std::uint32_t value) {
  switch (role) {
    case Role::word:
    case Role::tensor_scale: return words_like(value);
    case Role::random: return random_like(value);
    case Role::level_bits: return level_bits_like(value);
    case Role::code: return all_up_to((1U << element_spec(profile.element).bits()) - 1U);
    case Role::scale:
    case Role::e6m2:
    case Role::macro: return all_up_to(0xFF);
  }
  return {};
}

std::uint64_t scale_complexity(const Profile& profile, std::uint32_t scale) {
  if (profile.family == Family::nvfp4) {
    return word_complexity(float_bits(decode_e4m3_scale(static_cast<std::uint8_t>(scale))));
  }
  const std::uint64_t distance = static_cast<std::uint64_t>(std::abs(static_cast<int>(scale) - e8m0_bias));
  return 2 * distance + (static_cast<int>(scale) < e8m0_bias ? 1 : 0);
}

}  // namespace

std::uint64_t complexity(const Profile& profile, Role role, std::uint32_t value) {
  switch (role) {
    case Role::word:
    case Role::tensor_scale: return word_complexity(value);
    case Role::code:
      return word_complexity(float_bits(decode_element(profile.element, static_cast<std::uint8_t>(value))));
    case Role::random: return value == 0 ? 0 : std::uint64_t(32 - std::countr_zero(value)) << 32 | value;
    case Role::scale: return scale_complexity(profile, value);
    case Role::e6m2: return word_complexity(float_bits(decode_e6m2(static_cast<std::uint8_t>(value))));
    case Role::level_bits:
    case Role::macro: return bits_complexity(value);
  }
  return 0;
}

std::uint32_t simplest_value(const Profile& profile, Role role) {
  switch (role) {
    case Role::scale:
      return profile.family == Family::nvfp4 ? encode_element(Element::e4m3, Rounding::rne, 1.0F)
                                             : std::uint32_t{e8m0_bias};
    case Role::e6m2: return encode_e6m2({1, 0}, Rounding::rne);
    case Role::tensor_scale: return float_bits(1.0F);
    default: return 0;
  }
}

std::vector<std::uint32_t> simpler_values(const Profile& profile, Role role, std::uint32_t value) {
  const std::uint64_t own = complexity(profile, role, value);
  const bool is_element = role == Role::word || role == Role::code;
  std::vector<std::uint32_t> values = values_like(profile, role, value);
  std::erase_if(values, [&](std::uint32_t other) {
    return complexity(profile, role, other) >= own || (is_element && other == 0);
  });
  const auto order = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(complexity(profile, role, a), a) < std::pair(complexity(profile, role, b), b);
  };
  std::ranges::sort(values, order);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace fp4proof::minimize
