// Every sweep of sweeps.h on the device against the CPU, and, where a program of tests/exhaustive has compared every
// input with a judge of its own, against the digest that it printed: strict_math_exhaustive (MPFR) for exp and log,
// element_exhaustive (the oracle's thresholds) for the element encoders.

#include "tests/gpu/sweeps.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/gpu/device_memory.h"
#include "tests/gpu/sweeps_device.h"

namespace fp4proof::sweeps {
namespace {

const std::map<std::string, std::uint64_t>& judged_digests() {
  static const std::map<std::string, std::uint64_t> digests = {
      {"e2m1-rne", 0x0A23CA603DC3D874U}, {"e2m3-rne", 0xCC9257733D6BF02BU}, {"e3m2-rne", 0xC086F282BC7AF62EU},
      {"e4m3-rne", 0x35602388B88E3C51U}, {"e5m2-rne", 0x101F3556FADA69F5U}, {"s1p1-rne", 0x08E11A0428D6323AU},
      {"s1p2-rne", 0x867B37FD3F00E589U}, {"s1p3-rne", 0x6C7BC8507E0B3EE7U}, {"s1p1-rna", 0x0EC39AB792F715EFU},
      {"s1p2-rna", 0x9263A4ABEADF7C6EU}, {"s1p3-rna", 0xFFD1702C96270BCEU}, {"exp", 0x4CCC7CDDAEA06B26U},
      {"log", 0x117FA2A6BBDEA567U}};
  return digests;
}

class EverySweep : public testing::TestWithParam<std::size_t> {};

TEST_P(EverySweep, HasOneDigest) {
  if (!gpu::has_device()) GTEST_SKIP() << "no CUDA device";
  const std::size_t index = GetParam();
  const std::uint64_t zero = 0;
  const gpu::DeviceArray<std::uint64_t> digest{std::span(&zero, 1)};
  gpu::require(add_device_digest(index, digest.get(), {}));
  const std::uint64_t on_device = digest.values()[0];
  EXPECT_EQ(on_device, cpu_digest(index)) << sweeps()[index].what;
  const auto judged = judged_digests().find(sweeps()[index].name);
  if (judged != judged_digests().end()) {
    EXPECT_EQ(on_device, judged->second);
  }
}

std::string name_of_case(const testing::TestParamInfo<std::size_t>& info) {
  std::string name = sweeps()[info.param].name;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EverySweep, testing::Range(std::size_t{0}, sweeps().size()), name_of_case);

}  // namespace
}  // namespace fp4proof::sweeps
