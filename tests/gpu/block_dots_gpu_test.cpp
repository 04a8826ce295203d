// Block dots of the matrix instructions against integers.

#include "tests/gpu/block_dots.h"

#include <gtest/gtest.h>

#include "tests/gpu/device_memory.h"

namespace fp4proof::gpu {
namespace {

constexpr unsigned blocks = 264;

class BlockDots : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no device";
  }

  /// What a launch function adds to the count.
  template <class Launch>
  static unsigned long long wrong(Launch launch) {
    const unsigned long long zero[] = {0};
    const DeviceArray<unsigned long long> count(zero);
    launch(count.get());
    require(cudaGetLastError());
    return count.values()[0];
  }
};

TEST_F(BlockDots, Mxfp4) {
  for (std::uint32_t pattern = 0; pattern < dot_patterns; ++pattern) {
    for (const auto exponents : {DotExponents::any, DotExponents::lowest, DotExponents::highest}) {
      EXPECT_EQ(wrong([&](unsigned long long* count) {
                  count_wrong_mx_dots(static_cast<DotPattern>(pattern), exponents, 1 + pattern, blocks, count, nullptr);
                }),
                0U)
          << "pattern " << pattern << ", exponents " << static_cast<int>(exponents);
    }
  }
}

TEST_F(BlockDots, Hif4) {
  for (std::uint32_t pattern = 0; pattern < dot_patterns; ++pattern) {
    EXPECT_EQ(wrong([&](unsigned long long* count) {
                count_wrong_hif4_dots(static_cast<DotPattern>(pattern), 1 + pattern, blocks, count, nullptr);
              }),
              0U)
        << "pattern " << pattern;
  }
}

}  // namespace
}  // namespace fp4proof::gpu
