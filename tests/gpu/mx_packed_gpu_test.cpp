// The packed roads on the device against the portable reference, bit for bit: shapes that they take, at the edges of
// their tiles, under every scale rule and layout; and which jobs they leave to the general road.

#include "gpu/mx_packed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "formats/scale_layout.h"
#include "formats/spec_profiles.h"
#include "reference/portable/quantize.h"
#include "tests/gpu/device_memory.h"
#include "tests/gpu/random_matrices.h"

namespace fp4proof::gpu {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Answer {
  Bytes codes;
  Bytes scales;
};

MatrixShape along(const MatrixShape& shape, int axis) {
  MatrixShape turned = shape;
  turned.axis = axis;
  return turned;
}

/// Each matrix by itself on the CPU.
Answer expected_answer(const Profile& profile, const MatrixShape& shape, ScaleLayout layout,
                       const std::vector<std::byte>& input) {
  const CodedShape coded = coded_shape(profile, shape, layout);
  const ScaleGrid grid = coded.scale_grid();
  const std::vector<std::int64_t> extents = {shape.rows, shape.columns};
  const auto matrix_bytes = static_cast<std::size_t>(shape.rows * shape.columns * bytes_of(DType::bf16));
  Answer answer;
  answer.scales.assign(static_cast<std::size_t>(coded.scale_bytes()), scale_padding);
  for (std::size_t b = 0; b < static_cast<std::size_t>(shape.batch); ++b) {
    portable::QuantizeOptions options;
    options.axis = shape.axis;
    const portable::TensorView view{portable::DType::bf16, extents, input.data() + b * matrix_bytes};
    const auto matrix = portable::quantize(profile, view, options);
    if (!matrix) throw std::runtime_error(matrix.error().message);
    answer.codes.insert(answer.codes.end(), matrix->codes.begin(), matrix->codes.end());
    const std::size_t first = b * static_cast<std::size_t>(coded.scale_bytes_per_matrix());
    for (std::size_t i = 0; i < matrix->scales.size(); ++i) {
      answer.scales[first + scale_offset(layout, grid, i / grid.cols, i % grid.cols)] = matrix->scales[i];
    }
  }
  return answer;
}

/// Device memory for one answer.
struct Output {
  DeviceArray<std::uint8_t> codes;
  DeviceArray<std::uint8_t> scales;

  explicit Output(const CodedShape& shape)
      : codes(static_cast<std::size_t>(shape.code_bytes())), scales(static_cast<std::size_t>(shape.scale_bytes())) {}
  Coded coded() const { return {codes.get(), scales.get(), nullptr}; }
};

void expect_equal(const Bytes& actual, const Bytes& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  const auto [at, other] = std::ranges::mismatch(actual, expected);
  EXPECT_TRUE(at == actual.end()) << what << ": byte " << at - actual.begin() << " of " << actual.size() << " is "
                                  << +*at << ", not " << +*other;
}

void expect_answer(const Output& output, const Answer& expected, const std::string& what) {
  expect_equal(output.codes.values(), expected.codes, "codes " + what);
  expect_equal(output.scales.values(), expected.scales, "scales " + what);
  EXPECT_TRUE(output.codes.margin_is_whole() && output.scales.margin_is_whole()) << what;
}

/// Whole tiles of every kernel; whole tiles and one block more; a single block; blocks of a line that are no multiple
/// of 4; matrices whose scales need padding under tiled_128x4.
constexpr MatrixShape shapes[] = {{1, 512, 1024}, {2, 288, 544}, {1, 32, 32}, {3, 160, 224}, {2, 64, 128}};

class MxPackedOnDevice : public testing::TestWithParam<std::tuple<const char*, ScaleLayout>> {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
  const Profile profile = *find_profile(std::get<0>(GetParam()));
  const ScaleLayout layout = std::get<1>(GetParam());
};

TEST_P(MxPackedOnDevice, GivesTheBitsOfTheReference) {
  std::uint64_t seed = 100;
  int taken = 0;
  for (const MatrixShape& shape : shapes) {
    const std::vector<std::byte> input = random_matrices(profile, DType::bf16, along(shape, 1), ++seed);
    const DeviceArray<std::byte> device_input{std::span(input)};
    for (const int axis : {0, 1}) {
      const std::string what =
          std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " axis " + std::to_string(axis);
      const QuantizeJob job{profile, DType::bf16, along(shape, axis), device_input.get(), {}, layout};
      const Output output(coded_shape(profile, job.shape, layout));
      taken += takes_mx_packed(job, output.coded()) ? 1 : 0;
      ASSERT_EQ(quantize(job, output.coded(), nullptr, 0, {}), Status::ok);
      expect_answer(output, expected_answer(profile, job.shape, layout, input), what);
    }
  }
  const bool straddles = layout == ScaleLayout::tiled_128x4 && !profile.block.is_2d();
  EXPECT_EQ(taken, straddles ? 7 : 10);  // 544, 32 and 224 columns are not a multiple of four blocks
}

TEST_P(MxPackedOnDevice, BothAxesGiveWhatEachAxisGives) {
  std::uint64_t seed = 200;
  for (const MatrixShape& shape : shapes) {
    const std::vector<std::byte> input = random_matrices(profile, DType::bf16, along(shape, 1), ++seed);
    const DeviceArray<std::byte> device_input{std::span(input)};
    const QuantizeJob job{profile, DType::bf16, shape, device_input.get(), {}, layout};
    const Output columns(coded_shape(profile, along(shape, 1), layout));
    const Output rows(coded_shape(profile, along(shape, 0), layout));
    EXPECT_EQ(takes_both_axes_mx_packed(job, columns.coded(), rows.coded()), !profile.block.is_2d());
    ASSERT_EQ(quantize_both_axes(job, columns.coded(), rows.coded(), nullptr, 0, {}), Status::ok);
    const std::string what = std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
    expect_answer(columns, expected_answer(profile, along(shape, 1), layout, input), what + " along columns");
    expect_answer(rows, expected_answer(profile, along(shape, 0), layout, input), what + " along rows");
  }
}

/// Blocks of one word under each of the 2^16 values, which meets every scale and every special value.
TEST_P(MxPackedOnDevice, EveryWord) {
  const MatrixShape shape{1, 2048, 1024, 1};
  std::vector<std::byte> input(static_cast<std::size_t>(shape.elements()) * 2);
  for (std::size_t i = 0; i < input.size() / 2; ++i) {
    const std::size_t row = i / 1024;
    const std::size_t column = i % 1024;
    const auto value = static_cast<std::uint16_t>(row / 32 * 1024 + column / 32 * 32 + row % 32);
    const auto word = static_cast<std::uint16_t>(column % 2 == 0 ? value : value - (column % 32) * 0x10U);
    std::memcpy(input.data() + 2 * i, &word, 2);
  }
  const DeviceArray<std::byte> device_input{std::span(input)};
  for (const int axis : {0, 1}) {
    const QuantizeJob job{profile, DType::bf16, along(shape, axis), device_input.get(), {}, layout};
    const Output output(coded_shape(profile, job.shape, layout));
    ASSERT_TRUE(takes_mx_packed(job, output.coded()));
    ASSERT_EQ(quantize(job, output.coded(), nullptr, 0, {}), Status::ok);
    expect_answer(output, expected_answer(profile, job.shape, layout, input), "axis " + std::to_string(axis));
  }
}

std::string test_name(const testing::TestParamInfo<MxPackedOnDevice::ParamType>& info) {
  std::string name = std::get<0>(info.param);
  name += std::get<1>(info.param) == ScaleLayout::row_major ? "_row_major" : "_tiled";
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryRule, MxPackedOnDevice,
                         testing::Combine(testing::Values("mxfp4/ocp", "mxfp4/ceil", "mxfp4/rceil", "mxfp4/even",
                                                          "mxfp4/nearest", "mxfp4-2d/ocp", "mxfp4-2d/rceil",
                                                          "mxfp4-2d/even"),
                                          testing::Values(ScaleLayout::row_major, ScaleLayout::tiled_128x4)),
                         test_name);

TEST(MxPackedJobs, LeavesTheOthersToTheGeneralRoad) {
  alignas(16) static std::uint8_t memory[64];
  const Coded coded{memory, memory, nullptr};
  const QuantizeJob job{*find_profile("mxfp4/ocp"), DType::bf16, {1, 64, 64, 1}, memory, {}};
  ASSERT_TRUE(takes_mx_packed(job, coded));
  const auto takes = [&](auto change) {
    QuantizeJob other = job;
    change(other);
    return takes_mx_packed(other, coded);
  };
  for (const Profile& profile : profiles()) {
    const Profile plain;
    const bool same = profile.family == Family::mx && profile.element == plain.element &&
                      profile.rounding == plain.rounding && profile.element_arithmetic == plain.element_arithmetic &&
                      profile.nan == plain.nan && profile.inf == plain.inf && profile.tiny == plain.tiny &&
                      profile.zero_scale_code == plain.zero_scale_code && profile.zero_sign == plain.zero_sign &&
                      profile.nibble_order == plain.nibble_order && profile.scale_arithmetic == plain.scale_arithmetic;
    EXPECT_EQ(takes([&](QuantizeJob& j) { j.profile = profile; }), same) << profile.name;
  }
  EXPECT_FALSE(takes([](QuantizeJob& j) { j.dtype = DType::f16; }));
  EXPECT_FALSE(takes([](QuantizeJob& j) { j.three_quarters = true; }));
  EXPECT_FALSE(takes([](QuantizeJob& j) { j.input = memory + 2; }));
  EXPECT_FALSE(takes([](QuantizeJob& j) { j.shape.columns = 48; }));
  EXPECT_FALSE(takes([](QuantizeJob& j) { j.profile.block = {8, 8}; }));
  EXPECT_FALSE(takes([](QuantizeJob& j) { j.shape = {1, 48, 64, 0}; }));
  EXPECT_FALSE(takes([](QuantizeJob& j) { j.shape = {1, 64, 6, 0}; }));
  EXPECT_TRUE(takes([](QuantizeJob& j) { j.shape = {1, 64, 24, 0}; }));
  EXPECT_TRUE(takes([](QuantizeJob& j) { j.shape = {1, 3, 64, 1}; }));
  EXPECT_FALSE(takes_mx_packed(job, {memory + 4, memory, nullptr}));
  EXPECT_FALSE(takes_mx_packed(job, {memory, memory + 2, nullptr}));
}

}  // namespace
}  // namespace fp4proof::gpu
