// Every sweep of sweeps.h on the device against the CPU. exp and log also against the digests of the correctly rounded
// functions, which strict_math_exhaustive has from MPFR (docs/elementary-functions.md).

#include "tests/gpu/sweeps.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/gpu/device_memory.h"
#include "tests/gpu/sweeps_device.h"

namespace fp4proof::sweeps {
namespace {

class EverySweep : public testing::TestWithParam<std::size_t> {};

TEST_P(EverySweep, HasOneDigest) {
  if (!gpu::has_device()) GTEST_SKIP() << "no CUDA device";
  const std::size_t index = GetParam();
  const std::uint64_t zero = 0;
  const gpu::DeviceArray<std::uint64_t> digest{std::span(&zero, 1)};
  gpu::require(add_device_digest(index, digest.get(), {}));
  const std::uint64_t on_device = digest.values()[0];
  EXPECT_EQ(on_device, cpu_digest(index)) << sweeps()[index].what;
  static const std::map<std::string, std::uint64_t> correctly_rounded = {{"exp", 0x4CCC7CDDAEA06B26U},
                                                                         {"log", 0x117FA2A6BBDEA567U}};
  if (const auto found = correctly_rounded.find(sweeps()[index].name); found != correctly_rounded.end()) {
    EXPECT_EQ(on_device, found->second);
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
