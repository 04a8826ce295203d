// Decoders and products with planted faults, written without the code under test, against the diagnosis.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/diagnose_tables.h"
#include "tests/unit/naive_mxfp4.h"

namespace fp4proof::diagnose {
namespace {

using suite::Operation;
using Ids = std::vector<std::string>;

Ids ids_of(const TableDiagnosis& diagnosis) {
  Ids all;
  for (const Explanation& explanation : diagnosis.explanations) {
    std::string ids;
    for (const NamedChange& change : explanation.changes) ids += (ids.empty() ? "" : " + ") + change.id;
    all.push_back(ids);
  }
  return all;
}

void expect_diagnosis(const suite::CaseTable& table, const Kernel& kernel, const Ids& ids) {
  const std::vector<TableDiagnosis> diagnoses = diagnoses_of(table, kernel);
  ASSERT_EQ(diagnoses.size(), 1U);
  EXPECT_EQ(ids_of(diagnoses[0]), ids) << to_text(diagnoses[0]);
  EXPECT_EQ(diagnoses[0].outcome, ids.size() == 1 ? Outcome::explained : Outcome::ambiguous) << to_text(diagnoses[0]);
}

void put(std::vector<std::uint8_t>& bytes, std::size_t place, float value) {
  if (std::isnan(value)) value = std::nanf("");
  std::memcpy(&bytes[4 * place], &value, 4);
}

constexpr std::array<float, 8> e2m1 = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};

/// What may be wrong with a decoder of MXFP4.
struct Decoder {
  bool zero_is_zero = false;
  bool nan_is_infinity = false;
  bool raw_byte = false;
  int bias = 127;
  bool swapped = false;
  bool next_block = false;   ///< one scale for two blocks
  bool fixed_point = false;  ///< S1P2 in place of E2M1
  bool flushes = false;
  bool flushes_reciprocal = false;  ///< values / (1 / scale), where 2^-127 is flushed
  bool nan_in_number = false;       ///< NaN where the decoded scale is 128
};

double e8m0(const Decoder& decoder, int code) {
  if (decoder.raw_byte) return code;
  if (decoder.nan_in_number && code == 134) return std::nan("");
  if (decoder.flushes_reciprocal && code == 254) return HUGE_VAL;
  if (code == 255) return decoder.nan_is_infinity || decoder.nan_in_number ? HUGE_VAL : std::nan("");
  return code == 0 && decoder.zero_is_zero ? 0.0 : std::ldexp(1.0, code - decoder.bias);
}

float mxfp4_element(const Decoder& decoder, Bytes codes, std::size_t place) {
  const bool high = (place % 2 == 1) != decoder.swapped;
  const unsigned code = high ? codes[place / 2] >> 4U : codes[place / 2] & 15U;
  const float magnitude = decoder.fixed_point ? static_cast<float>(code & 7U) / 4 : e2m1[code & 7U];
  return (code & 8U) != 0 ? -magnitude : magnitude;
}

Kernel decoder_kernel(const Decoder& decoder) {
  return [decoder](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    const Bytes codes = group.find("codes")->of_case(index);
    const Bytes scales = group.find("scales")->of_case(index);
    const auto count = static_cast<std::size_t>(group.spec.rows * group.spec.columns);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t block = decoder.next_block ? i / 64 : i / 32;
      auto value = static_cast<float>(double{mxfp4_element(decoder, codes, i)} * e8m0(decoder, scales[block]));
      if (decoder.flushes && std::fpclassify(value) == FP_SUBNORMAL) value = std::copysign(0.0F, value);
      put(answer[0], i, value);
    }
  };
}

TEST(DiagnoseDequantize, NamesFaultsOfAnMxfp4Decoder) {
  const suite::CaseTable table = table_of(Operation::dequantize, "mxfp4/ocp");
  EXPECT_TRUE(diagnoses_of(table, decoder_kernel({})).empty());
  expect_diagnosis(table, decoder_kernel({.zero_is_zero = true}), {"scale-decode=zero-is-zero"});
  expect_diagnosis(table, decoder_kernel({.nan_is_infinity = true}), {"scale-decode=nan-is-infinity"});
  expect_diagnosis(table, decoder_kernel({.flushes_reciprocal = true}), {"scale-decode=reciprocal-flushed"});
  expect_diagnosis(table, decoder_kernel({.nan_in_number = true}), {"scale-decode=nan-in-number"});
  expect_diagnosis(table, decoder_kernel({.zero_is_zero = true, .nan_is_infinity = true}),
                   {"scale-decode=exponent-field"});
  expect_diagnosis(table, decoder_kernel({.raw_byte = true}), {"scale-decode=raw-byte"});
  expect_diagnosis(table, decoder_kernel({.bias = 125}), {"scale-offset=+2"});
  expect_diagnosis(table, decoder_kernel({.bias = 128}), {"scale-offset=-1"});
  expect_diagnosis(table, decoder_kernel({.swapped = true}), {"code-order=swapped-nibbles"});
  expect_diagnosis(table, decoder_kernel({.fixed_point = true}), {"element=s1p2"});
  expect_diagnosis(table, decoder_kernel({.flushes = true}), {"output=flushed"});
  expect_diagnosis(table, decoder_kernel({.bias = 128, .swapped = true}),
                   {"scale-offset=-1 + code-order=swapped-nibbles"});
}

/// What may be wrong with a decoder of HiF4.
struct Hif4Decoder {
  bool strided = false;
  bool levels = true;
  bool msb_first = false;
};

Kernel hif4_kernel(const Hif4Decoder& decoder) {
  return [decoder](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    const Bytes codes = group.find("codes")->of_case(index);
    const Bytes scales = group.find("scales")->of_case(index);
    const auto count = static_cast<std::size_t>(group.spec.rows * group.spec.columns);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* word = &scales[i / 64 * 4];
      const std::size_t c = i % 64;
      const std::size_t eighth = decoder.strided ? c % 8 : c / 8;
      const std::size_t sixteenth = decoder.strided ? c % 16 : c / 4;
      const auto bit = [&](std::uint8_t byte, std::size_t k) { return byte >> (decoder.msb_first ? 7 - k : k) & 1; };
      const int levels = bit(word[1], eighth) + bit(word[2 + sixteenth / 8], sixteenth % 8);
      const unsigned code = i % 2 == 1 ? codes[i / 2] >> 4U : codes[i / 2] & 15U;
      const double element = ((code & 8U) != 0 ? -1.0 : 1.0) * (code & 7U) / 4.0;
      const double scale = word[0] == 255 ? std::nan("") : std::ldexp(4 + (word[0] & 3), (word[0] >> 2) - 50);
      put(answer[0], i, static_cast<float>(std::ldexp(element * scale, decoder.levels ? levels : 0)));
    }
  };
}

TEST(DiagnoseDequantize, NamesFaultsOfAHif4Decoder) {
  const suite::CaseTable table = table_of(Operation::dequantize, "hif4/gcc");
  EXPECT_TRUE(diagnoses_of(table, hif4_kernel({})).empty());
  expect_diagnosis(table, hif4_kernel({.strided = true}), {"levels=strided"});
  expect_diagnosis(table, hif4_kernel({.levels = false}), {"levels=ignored"});
  expect_diagnosis(table, hif4_kernel({.msb_first = true}), {"micro-order=msb-first"});
}

/// What may be wrong with a product of MXFP4 matrices.
struct Product {
  bool bf16_products = false;
  bool exchanged_scales = false;
  bool element_by_element = false;
  bool bf16_output = false;
  bool transposed = false;
  bool padded_rows = false;   ///< scale rows taken to be padded to 256 elements
  bool copies_first = false;  ///< the first product is not added to zero
  std::size_t chunk = 512;
};

float mxfp4_product(const Product& product, const suite::CaseGroup& group, std::size_t index, std::size_t m,
                    std::size_t n) {
  const auto of = [&](std::string_view name) { return group.find(name)->of_case(index); };
  const auto columns = static_cast<std::size_t>(group.spec.columns);
  const std::size_t blocks = columns / 32;
  const Bytes scales_a = of(product.exchanged_scales ? "b_scales" : "a_scales");
  const Bytes scales_b = of(product.exchanged_scales ? "a_scales" : "b_scales");
  const std::size_t stride = product.padded_rows ? (blocks + 7) / 8 * 8 : blocks;
  const auto scale_at = [&](Bytes scales, std::size_t row, std::size_t block) {
    return e8m0({}, scales[std::min(row * stride + block, scales.size() - 1)]);
  };
  float total = 0;
  float sum = product.copies_first ? -0.0F : 0.0F;
  bool first = true;
  for (std::size_t block = 0; block < blocks; ++block) {
    const double sa = scale_at(scales_a, m, block);
    const double sb = scale_at(scales_b, n, block);
    double dot = product.copies_first ? -0.0 : 0.0;
    for (std::size_t k = block * 32; k < block * 32 + 32; ++k) {
      const double a = mxfp4_element({}, of("a_codes"), m * columns + k);
      const double b = mxfp4_element({}, of("b_codes"), n * columns + k);
      if (product.element_by_element) {
        sum = static_cast<float>(double{sum} + double{static_cast<float>(a * sa)} * double{static_cast<float>(b * sb)});
      }
      dot += a * b;
    }
    auto term = static_cast<float>(dot * sa * sb);
    if (product.bf16_products) term = static_cast<float>(naive::to_bf16(double{term}));
    if (!product.element_by_element) sum += term;
    if ((block + 1) * 32 % product.chunk != 0 && block + 1 != blocks) continue;
    total = first ? sum : total + sum;
    first = false;
    sum = product.copies_first ? -0.0F : 0.0F;
  }
  return product.bf16_output && std::isfinite(total) ? static_cast<float>(naive::to_bf16(double{total})) : total;
}

Kernel product_kernel(const Product& product) {
  return [product](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    if (group.spec.accumulator != "seq512") return;
    const auto rows = static_cast<std::size_t>(group.spec.rows);
    const auto width = static_cast<std::size_t>(group.spec.other_rows);
    for (std::size_t m = 0; m < rows; ++m) {
      for (std::size_t n = 0; n < width; ++n) {
        const std::size_t place = product.transposed ? n * rows + m : m * width + n;
        put(answer[0], place, mxfp4_product(product, group, index, m, n));
      }
    }
  };
}

/// Only the groups of the normative accumulator: a kernel has one.
suite::CaseTable seq512_table() {
  suite::CaseTable table = table_of(Operation::gemm, "mxfp4/ocp", "quick");
  std::erase_if(table.groups, [](const suite::CaseGroup& group) { return group.spec.accumulator != "seq512"; });
  return table;
}

TEST(DiagnoseGemm, NamesFaultsOfAProduct) {
  const suite::CaseTable table = seq512_table();
  EXPECT_TRUE(diagnoses_of(table, product_kernel({})).empty());
  expect_diagnosis(table, product_kernel({.bf16_products = true}), {"product=bf16"});
  expect_diagnosis(table, product_kernel({.element_by_element = true}), {"accumulation=elements"});
  expect_diagnosis(table, product_kernel({.bf16_output = true}), {"output=bf16"});
  expect_diagnosis(table, product_kernel({.padded_rows = true}), {"scale-layout=padded-256"});
  expect_diagnosis(table, product_kernel({.copies_first = true}), {"zero-sign=sum-kept"});
  expect_diagnosis(table, product_kernel({.transposed = true}), {"axis=transposed-output"});
  expect_diagnosis(table, product_kernel({.chunk = 1U << 20}), {"accumulation=seq"});
  expect_diagnosis(table, product_kernel({.chunk = 256}), {"accumulation=chunk-256"});
}

}  // namespace
}  // namespace fp4proof::diagnose
