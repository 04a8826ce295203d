// The packed road from 4-bit codes to bfloat16, on the host: every code under every scale, against formats/.

#include <gtest/gtest.h>

#include <cstdint>

#include "formats/hif4.h"
#include "formats/mx.h"
#include "gpu/packed.h"
#include "gpu/values_packed.h"

namespace fp4proof::gpu {
namespace {

/// A binary32 value as the bfloat16 word of the rules: rounded once, NaN canonical.
std::uint32_t bf16_word(float value) { return is_nan_bits(float_bits(value)) ? 0x7FC0U : float_to_bf16(value); }

/// The four codes of 15:0, each at the place that it has in `packed_values()`.
std::uint32_t word_of(const FourBf16& values, int i) {
  return (i < 2 ? values.first : values.second) >> (16 * (i % 2)) & 0xFFFFU;
}

TEST(PackedValues, EveryCodeAtEveryPlace) {
  for (const Element element : {Element::e2m1, Element::s1p2}) {
    const PackedValueTable table = packed_value_table(element);
    for (std::uint32_t codes = 0; codes < 0x10000U; ++codes) {
      const FourBf16 values = packed_values(table, codes | 0xA5C30000U);
      for (int i = 0; i < 4; ++i) {
        const float value = decode_element(element, static_cast<std::uint8_t>(codes >> (4 * i) & 0xFU));
        ASSERT_EQ(word_of(values, i) << 16, float_bits(value)) << codes << " " << i;
      }
    }
  }
}

template <class Decode>
void expect_products(Element element, std::uint32_t scale, bool is_nan, Decode decode) {
  const PackedValueTable table = packed_value_table(element);
  for (std::uint32_t first = 0; first < 16; first += 4) {
    const FourBf16 values = packed_values(table, first * 0x1111U + 0x3210U);
    const FourBf16 products = {packed_scaled_values(values.first, both_halves(scale), kept_bits(is_nan)),
                               packed_scaled_values(values.second, both_halves(scale), kept_bits(is_nan))};
    for (int i = 0; i < 4; ++i) {
      const auto code = static_cast<std::uint8_t>(first + static_cast<std::uint32_t>(i));
      const float value = decode(code);
      ASSERT_EQ(word_of(products, i), bf16_word(value)) << "scale " << scale << " code " << int{code};
      if (!is_nan) {
        ASSERT_EQ(word_of(products, i) << 16, float_bits(value));  // as binary32
      }
    }
  }
}

TEST(PackedValues, MxProducts) {
  for (int scale = 0; scale < 256; ++scale) {
    const auto code = static_cast<std::uint8_t>(scale);
    expect_products(Element::e2m1, bf16_of_e8m0(code), code == e8m0_nan,
                    [&](std::uint8_t element) { return mx_decode_element(Element::e2m1, code, element); });
    if (HasFatalFailure()) return;
  }
}

TEST(PackedValues, Hif4Products) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    for (std::uint32_t levels = 0; levels <= 2; ++levels) {
      const std::uint32_t word = hif4_word(static_cast<std::uint8_t>(code), levels > 0 ? 1U : 0U, levels > 1 ? 1U : 0U);
      expect_products(Element::s1p2, bf16_of_e6m2(code, levels), code == e6m2_nan,
                      [&](std::uint8_t element) { return hif4_decode_element(Element::s1p2, word, 0, element); });
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace fp4proof::gpu
