// gemm_bf16() on the device against the portable reference, bit for bit.

#include "gpu/gemm_bf16.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "reference/portable/gemm.h"
#include "tests/gpu/device_memory.h"

namespace fp4proof::gpu {
namespace {

enum class Words : std::uint8_t {
  around_one,
  tiny,  ///< products underflow
  any,   ///< NaN and infinities among them
};

std::vector<std::uint16_t> random_words(std::int64_t count, Words kind, std::uint64_t seed) {
  std::vector<std::uint16_t> words(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t random = random_word(seed, Stream::cases, 0, i);
    std::uint32_t word = random >> 16;
    if (kind == Words::around_one) word = (word & 0x81FFU) | 0x3F00U;
    if (kind == Words::tiny) word = (word & 0x87FFU) | 0x1800U;
    if (kind == Words::any && (random & 63U) != 0 && (word & 0x7F80U) == 0x7F80U) word &= 0xBFFFU;
    words[i] = static_cast<std::uint16_t>(word);
  }
  return words;
}

void expect_equal(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, Words kind) {
  const std::vector<std::uint16_t> a = random_words(batch * m * k, kind, 1);
  const std::vector<std::uint16_t> b = random_words(batch * n * k, kind, 2);
  const DeviceArray<std::uint16_t> a_on_device(a);
  const DeviceArray<std::uint16_t> b_on_device(b);
  const DeviceArray<float> c(static_cast<std::size_t>(batch * m * n));
  ASSERT_EQ(gemm_bf16({batch, m, n, k, a_on_device.get(), b_on_device.get(), c.get()}, nullptr), Status::ok);
  const std::vector<float> actual = c.values();
  EXPECT_TRUE(c.margin_is_whole());
  std::size_t mismatches = 0;
  for (std::int64_t matrix = 0; matrix < batch; ++matrix) {
    const auto part = [&](const std::vector<std::uint16_t>& words, std::int64_t lines) {
      return std::span(words).subspan(static_cast<std::size_t>(matrix * lines * k),
                                      static_cast<std::size_t>(lines * k));
    };
    const auto expected = portable::gemm_bf16(part(a, m), part(b, n), m, n, k);
    ASSERT_TRUE(expected) << expected.error().message;
    for (std::size_t i = 0; i < expected->size(); ++i) {
      const float is = actual[static_cast<std::size_t>(matrix * m * n) + i];
      mismatches += float_bits(is) != float_bits((*expected)[i]) ? 1 : 0;
    }
  }
  EXPECT_EQ(mismatches, 0U) << batch << " x [" << m << ", " << n << ", " << k << "], words " << static_cast<int>(kind);
}

class GemmBf16 : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_F(GemmBf16, ShapesAndValues) {
  for (const Words kind : {Words::around_one, Words::tiny, Words::any}) {
    expect_equal(1, 1, 1, 1, kind);
    expect_equal(1, 64, 64, 512, kind);
    expect_equal(2, 65, 130, 1030, kind);
    expect_equal(1, 200, 3, 513, kind);
    expect_equal(3, 7, 70, 31, kind);
    expect_equal(2, 5, 6, 0, kind);
    expect_equal(1, 130, 70, 4099, kind);
    for (std::int64_t k = 1; k < 40; ++k) expect_equal(1, 40, 40, k, kind);
  }
}

TEST(GemmBf16Refusals, ShapesAndPointers) {
  std::uint16_t word = 0;
  float c = 0.0F;
  EXPECT_EQ(gemm_bf16({1, 1, 1, -1, &word, &word, &c}, nullptr), Status::invalid);
  EXPECT_EQ(gemm_bf16({1, INT64_MAX, 1, 1, &word, &word, &c}, nullptr), Status::invalid);
  EXPECT_EQ(gemm_bf16({1, 1, 1, 1, nullptr, &word, &c}, nullptr), Status::invalid);
  EXPECT_EQ(gemm_bf16({1, 1, 1, 1, &word, &word, nullptr}, nullptr), Status::invalid);
  EXPECT_EQ(gemm_bf16({1, 0, 1, 1, nullptr, nullptr, nullptr}, nullptr), Status::ok);
}

}  // namespace
}  // namespace fp4proof::gpu
