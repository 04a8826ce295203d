// quantize() and dequantize() on the device against the portable reference, bit for bit: every profile, number format
// and axis, odd shapes, scale layouts, given random words and Philox words.

#include "gpu/quantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "formats/spec_profiles.h"
#include "gpu/dequantize.h"
#include "gpu/general_quantize.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"
#include "tests/gpu/device_memory.h"
#include "tests/gpu/random_matrices.h"

namespace fp4proof::gpu {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A profile and what else can be asked of a quantizer.
struct Subject {
  std::string name;
  Profile profile;
  bool three_quarters = false;
};

Profile changed(const char* name, auto change) {
  Profile profile = *find_profile(name);
  change(profile);
  return profile;
}

/// The named profiles, and choices that no named profile makes.
std::vector<Subject> all_subjects() {
  std::vector<Subject> subjects;
  for (const Profile& profile : profiles()) subjects.push_back({std::string(profile.name), profile});
  for (const int n : {8, 16, 32, 64}) {
    for (const char* base : {"mxfp4/ocp", "mxfp4/rceil-sr", "mxfp8-e4m3/rceil", "mxfp4/triton-round-up"}) {
      const auto side = static_cast<std::uint8_t>(n);
      subjects.push_back({std::string(base) + "/tile" + std::to_string(n), changed(base, [&](Profile& p) {
                            p.block = {side, side};
                          })});
    }
  }
  for (const char* base : {"mxfp4/ocp", "mxfp4/ocp-sr", "mxfp6-e2m3/ocp", "mxfp4-2d/ocp", "mxfp4/triton-round-down"}) {
    subjects.push_back({std::string(base) + "/three-quarters", *find_profile(base), true});
  }
  const auto add = [&](const char* name, const char* base, auto change) {
    subjects.push_back({std::string(base) + "/" + name, changed(base, change)});
  };
  for (const char* base : {"mxfp4/rceil", "hif4/gcc", "hif4-2d/exact", "nvfp4/tensor-scale", "nvfp4/direct"}) {
    add("flush-inputs", base, [](Profile& p) { p.tiny = TinyPolicy::flush_inputs; });
    add("specials-go-on", base, [](Profile& p) {
      p.nan = NanPolicy::ignore;
      p.inf = InfPolicy::saturate;
    });
    add("through-bf16", base, [](Profile& p) {
      p.input_rounding = InputRounding::bf16;
      p.element_arithmetic = ElementArithmetic::fp32_bf16;
      p.zero_sign = ZeroSign::zero_scaled_dropped;
    });
    add("sixteen-bits", base, [](Profile& p) {
      p.rounding = Rounding::stochastic;
      p.random_bits = 16;
      p.zero_sign = ZeroSign::dropped;
    });
    add("rtz", base, [](Profile& p) { p.rounding = Rounding::rtz; });
  }
  add("zero-scale", "mxfp8-e5m2/ocp", [](Profile& p) { p.zero_scale_code = 127; });
  return subjects;
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = all_subjects();
  return all;
}

struct Answer {
  Bytes codes;
  Bytes scales;
  std::vector<float> tensor_scales;
};

struct Case {
  const Subject& subject;
  DType dtype;
  MatrixShape shape;
  ScaleLayout layout;
};

/// Scales in row-major order as the layout has them.
void place_scales(const CodedShape& shape, const Bytes& row_major, std::uint8_t* buffer) {
  const ScaleGrid grid = shape.scale_grid();
  std::fill_n(buffer, shape.scale_bytes_per_matrix(), scale_padding);
  for (std::size_t i = 0; i < row_major.size(); ++i) {
    const ScalePlace place = scale_place(ScaleLayout::row_major, grid, i);
    buffer[scale_offset(shape.layout, grid, place.row, place.col, place.byte)] = row_major[i];
  }
}

/// Each matrix by itself on the CPU. `words` are the random words of the whole input.
struct Expected {
  Answer answer;
  std::vector<portable::Quantized> matrices;
};

Expected expected_answer(const Case& c, const std::vector<std::byte>& input, std::span<const std::uint32_t> words) {
  const Profile& profile = c.subject.profile;
  const CodedShape coded = coded_shape(profile, c.shape, c.layout);
  const std::vector<std::int64_t> extents = {c.shape.rows, c.shape.columns};
  const auto elements = static_cast<std::size_t>(c.shape.rows * c.shape.columns);
  Expected expected;
  expected.answer.scales.resize(static_cast<std::size_t>(coded.scale_bytes()));
  for (std::size_t b = 0; b < static_cast<std::size_t>(c.shape.batch); ++b) {
    portable::QuantizeOptions options;
    options.axis = c.shape.axis;
    options.tail = portable::Tail::pad;
    options.three_quarters = c.subject.three_quarters;
    options.random_words = words.subspan(b * elements, elements);
    const portable::TensorView view{portable_dtype(c.dtype), extents,
                                    input.data() + b * elements * static_cast<std::size_t>(bytes_of(c.dtype))};
    auto matrix = portable::quantize(profile, view, options);
    if (!matrix) throw std::runtime_error(matrix.error().message);
    expected.answer.codes.insert(expected.answer.codes.end(), matrix->codes.begin(), matrix->codes.end());
    place_scales(coded, matrix->scales,
                 expected.answer.scales.data() + b * static_cast<std::size_t>(coded.scale_bytes_per_matrix()));
    expected.answer.tensor_scales.push_back(matrix->tensor_scale);
    expected.matrices.push_back(*std::move(matrix));
  }
  return expected;
}

/// The road that quantize() takes, or the one that takes every job.
enum class Road { chosen, general };

Answer device_answer(const Case& c, const std::vector<std::byte>& input, const RandomSource& random,
                     Road road = Road::chosen) {
  const Profile& profile = c.subject.profile;
  const CodedShape shape = coded_shape(profile, c.shape, c.layout);
  const bool has_tensor_scale = profile.family == Family::nvfp4 && profile.tensor_scale;
  const DeviceArray<std::byte> device_input{std::span(input)};
  const DeviceArray<std::uint8_t> codes(static_cast<std::size_t>(shape.code_bytes()));
  const DeviceArray<std::uint8_t> scales(static_cast<std::size_t>(shape.scale_bytes()));
  const DeviceArray<float> tensor_scales(has_tensor_scale ? static_cast<std::size_t>(c.shape.batch) : 0);
  const QuantizeJob job{profile, c.dtype, c.shape, device_input.get(), random, c.layout, c.subject.three_quarters};
  const DeviceArray<std::byte> workspace(quantize_workspace(job));
  const Coded coded{codes.get(), scales.get(), has_tensor_scale ? tensor_scales.get() : nullptr};
  Status status = quantize(job, coded, workspace.get(), workspace.bytes(), {});
  if (status == Status::ok && road == Road::general) {
    require(cudaMemset(codes.get(), 0xA5, codes.bytes()));
    require(cudaMemset(scales.get(), scale_padding, scales.bytes()));
    status = general_quantize(job, coded, {});
  }
  if (status != Status::ok) throw std::runtime_error(status_text(status));
  Answer answer{codes.values(), scales.values(), tensor_scales.values()};
  if (!has_tensor_scale) answer.tensor_scales.assign(static_cast<std::size_t>(c.shape.batch), 1.0F);
  EXPECT_TRUE(codes.margin_is_whole() && scales.margin_is_whole() && tensor_scales.margin_is_whole() &&
              workspace.margin_is_whole() && device_input.margin_is_whole());
  return answer;
}

template <class Word>
void expect_equal(const std::vector<Word>& actual, const std::vector<Word>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  std::size_t different = 0;
  std::size_t first = 0;
  for (std::size_t i = actual.size(); i-- > 0;) {
    if (actual[i] == expected[i]) continue;
    ++different;
    first = i;
  }
  EXPECT_EQ(different, 0U) << what << ": first at " << first << " of " << actual.size() << ", " << std::hex
                           << +actual[first] << " in place of " << +expected[first];
}

std::vector<std::uint32_t> words_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(std::bit_cast<std::uint32_t>(value));
  return words;
}

void expect_equal(const Answer& actual, const Answer& expected) {
  expect_equal(actual.codes, expected.codes, "codes");
  expect_equal(actual.scales, expected.scales, "scales");
  expect_equal(words_of(actual.tensor_scales), words_of(expected.tensor_scales), "tensor scales");
}

/// binary32 to the words of a number format, ties to even, written down anew.
std::uint32_t rounded_word(DType dtype, float value) {
  if (std::isnan(value)) return dtype == DType::f32 ? 0x7FC00000U : dtype == DType::f16 ? 0x7E00U : 0x7FC0U;
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(value);
  const int fraction_bits = dtype == DType::f16 ? 10 : 7;
  const int smallest = dtype == DType::f16 ? -14 : -126;
  const int largest = dtype == DType::f16 ? 15 : 127;
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  const std::uint32_t infinity = static_cast<std::uint32_t>(largest - smallest + 2) << fraction_bits;
  const double magnitude = std::fabs(double{value});
  if (magnitude == 0.0) return sign;
  if (std::isinf(value)) return sign | infinity;
  const int binade = std::max(std::ilogb(magnitude), smallest);
  const double steps = std::nearbyint(std::ldexp(magnitude, fraction_bits - binade));
  const auto word =
      static_cast<std::uint32_t>(steps) + (static_cast<std::uint32_t>(binade - smallest) << fraction_bits);
  return sign | std::min(word, infinity);
}

/// Dequantizes on the device to the words of a number format.
std::vector<std::uint32_t> device_values(const Case& c, DType dtype, const Answer& coded) {
  const DeviceArray<std::uint8_t> codes{std::span(coded.codes)};
  const DeviceArray<std::uint8_t> scales{std::span(coded.scales)};
  const DeviceArray<float> tensor_scales{std::span(coded.tensor_scales)};
  const auto count = static_cast<std::size_t>(c.shape.elements());
  const DeviceArray<std::uint8_t> values(count * static_cast<std::size_t>(bytes_of(dtype)));
  const Profile& profile = c.subject.profile;
  const Status status = dequantize({profile,
                                    coded_shape(profile, c.shape, c.layout),
                                    {codes.get(), scales.get(), tensor_scales.get()},
                                    dtype,
                                    values.get()},
                                   {});
  if (status != Status::ok) throw std::runtime_error(status_text(status));
  const Bytes bytes = values.values();
  EXPECT_TRUE(values.margin_is_whole());
  std::vector<std::uint32_t> words(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&words[i], bytes.data() + i * static_cast<std::size_t>(bytes_of(dtype)),
                static_cast<std::size_t>(bytes_of(dtype)));
  }
  return words;
}

void expect_values(const Case& c, const Expected& expected) {
  std::vector<float> values;
  for (const portable::Quantized& matrix : expected.matrices) {
    const std::vector<float> part = portable::dequantize(c.subject.profile, matrix);
    values.insert(values.end(), part.begin(), part.end());
  }
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    std::vector<std::uint32_t> words;
    for (const float value : values) words.push_back(rounded_word(dtype, value));
    expect_equal(device_values(c, dtype, expected.answer), words, ("values in " + name_of_dtype(dtype)).c_str());
  }
}

/// Codes and scales that no quantizer need have written: every code, every scale byte.
void expect_values_of_any_codes(const Case& c, std::uint64_t seed) {
  const Profile& profile = c.subject.profile;
  const CodedShape shape = coded_shape(profile, c.shape, c.layout);
  Expected any;
  any.answer.scales.resize(static_cast<std::size_t>(shape.scale_bytes()));
  for (std::int64_t b = 0; b < c.shape.batch; ++b) {
    const std::vector<std::int64_t> extents = {c.shape.rows, c.shape.columns};
    portable::Quantized matrix;
    matrix.geometry = *portable::cut_into_blocks(profile, extents, c.shape.axis, portable::Tail::pad);
    matrix.codes.resize(static_cast<std::size_t>(matrix.geometry.code_bytes()));
    matrix.scales.resize(static_cast<std::size_t>(matrix.geometry.scale_bytes()));
    const auto byte = [&](std::uint32_t step, std::size_t i) {
      return static_cast<std::uint8_t>(random_word(seed, Stream::cases, step, i) >> 24);
    };
    const auto step = static_cast<std::uint32_t>(3 * b);
    for (std::size_t i = 0; i < matrix.codes.size(); ++i) matrix.codes[i] = byte(step, i);
    for (std::size_t i = 0; i < matrix.scales.size(); ++i) matrix.scales[i] = byte(step + 1, i);
    if (profile.tensor_scale) matrix.tensor_scale = static_cast<float>(1 + byte(step + 2, 0)) * 0x1p-12F;
    any.answer.codes.insert(any.answer.codes.end(), matrix.codes.begin(), matrix.codes.end());
    place_scales(shape, matrix.scales, any.answer.scales.data() + b * shape.scale_bytes_per_matrix());
    any.answer.tensor_scales.push_back(matrix.tensor_scale);
    any.matrices.push_back(std::move(matrix));
  }
  expect_values(c, any);
}

class QuantizeOnDevice : public testing::TestWithParam<std::tuple<std::size_t, DType, int>> {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_P(QuantizeOnDevice, GivesTheBitsOfTheReference) {
  const auto [index, dtype, axis] = GetParam();
  const Subject& subject = subjects()[index];
  const Profile& profile = subject.profile;
  const ScaleLayout other_layout =
      scale_bytes(profile.family) == 1 ? ScaleLayout::tiled_128x4 : ScaleLayout::patches_16;
  // Lines and lengths: a single element; odd both ways; whole tiles; a few long lines; many short ones.
  constexpr std::int64_t shapes[][3] = {{2, 1, 1}, {2, 37, 101}, {1, 128, 256}, {3, 5, 520}, {1, 257, 40}};
  std::uint64_t seed = 31 * index;
  for (const auto& [batch, lines, length] : shapes) {
    const MatrixShape shape{batch, axis == 1 ? lines : length, axis == 1 ? length : lines, axis};
    SCOPED_TRACE(testing::Message() << batch << " x " << shape.rows << " x " << shape.columns);
    const std::vector<std::byte> input = random_matrices(profile, dtype, shape, ++seed);
    const RandomSource philox{seed << 32 | index, Stream::sr_gradient, 7, nullptr};
    const std::vector<std::uint32_t> words = philox_words(philox, shape.elements());
    for (const ScaleLayout layout : {ScaleLayout::row_major, other_layout}) {
      const Case c{subject, dtype, shape, layout};
      const Expected expected = expected_answer(c, input, words);
      for (const Road road : {Road::chosen, Road::general}) {
        SCOPED_TRACE(road == Road::chosen ? "the chosen road" : "the general road");
        expect_equal(device_answer(c, input, philox, road), expected.answer);
      }
      expect_values(c, expected);
      if (profile.rounding != Rounding::stochastic) continue;
      const DeviceArray<std::uint32_t> given{std::span(words)};
      expect_equal(device_answer(c, input, {0, Stream::sr_activation, 0, given.get()}), expected.answer);
    }
  }
}

class DequantizeOnDevice : public testing::TestWithParam<std::tuple<std::size_t, int>> {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_P(DequantizeOnDevice, DecodesAnyCodesAndScales) {
  const auto [index, axis] = GetParam();
  const Subject& subject = subjects()[index];
  expect_values_of_any_codes({subject, DType::f32, {2, 133, 193, axis}, ScaleLayout::row_major}, index);
}

std::string test_name(std::string name) {
  for (char& c : name)
    if (c == '/' || c == '-') c = '_';
  return name;
}

std::string quantize_case(const testing::TestParamInfo<QuantizeOnDevice::ParamType>& info) {
  const auto [index, dtype, axis] = info.param;
  return test_name(subjects()[index].name + "_" + name_of_dtype(dtype) + "_axis" + std::to_string(axis));
}

std::string dequantize_case(const testing::TestParamInfo<DequantizeOnDevice::ParamType>& info) {
  const auto [index, axis] = info.param;
  return test_name(subjects()[index].name + "_axis" + std::to_string(axis));
}

INSTANTIATE_TEST_SUITE_P(AllProfiles, QuantizeOnDevice,
                         testing::Combine(testing::Range(std::size_t{0}, subjects().size()),
                                          testing::Values(DType::f32, DType::f16, DType::bf16), testing::Values(0, 1)),
                         quantize_case);
INSTANTIATE_TEST_SUITE_P(AllProfiles, DequantizeOnDevice,
                         testing::Combine(testing::Range(std::size_t{0}, subjects().size()), testing::Values(0, 1)),
                         dequantize_case);

/// More than 2^31 elements: zeros but for the last lines, which are compared with the CPU by themselves.
TEST(QuantizeLargeMatrix, AddressesEveryPlace) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  const Subject subject{"mxfp4/rceil-sr", *find_profile("mxfp4/rceil-sr")};
  constexpr std::int64_t last = 48;
  for (const int axis : {1, 0}) {
    SCOPED_TRACE(axis);
    const MatrixShape shape{1, (1 << 16) + 17, (1 << 15) + 40, axis};
    const MatrixShape part{1, axis == 1 ? last : shape.rows, axis == 1 ? shape.columns : last, axis};
    const std::int64_t first_row = shape.rows - part.rows;
    const std::int64_t first_column = shape.columns - part.columns;
    const std::vector<std::byte> input = random_matrices(subject.profile, DType::bf16, part, 9);
    const RandomSource philox{77, Stream::sr_weight, 3, nullptr};
    std::vector<std::uint32_t> words;
    for (std::int64_t row = 0; row < part.rows; ++row) {
      for (std::int64_t column = 0; column < part.columns; ++column) {
        const std::int64_t place = (first_row + row) * shape.columns + first_column + column;
        words.push_back(random_word(philox.seed, philox.stream, philox.step, static_cast<std::uint64_t>(place)));
      }
    }
    const DeviceArray<std::uint16_t> device_input(static_cast<std::size_t>(shape.elements()));
    require(cudaMemset(device_input.get(), 0, device_input.bytes()));
    const auto part_pitch = static_cast<std::size_t>(part.columns) * sizeof(std::uint16_t);
    require(cudaMemcpy2D(device_input.get() + first_row * shape.columns + first_column,
                         static_cast<std::size_t>(shape.columns) * sizeof(std::uint16_t), input.data(), part_pitch,
                         part_pitch, static_cast<std::size_t>(part.rows), cudaMemcpyHostToDevice));
    const CodedShape coded = coded_shape(subject.profile, shape);
    const DeviceArray<std::uint8_t> codes(static_cast<std::size_t>(coded.code_bytes()));
    const DeviceArray<std::uint8_t> scales(static_cast<std::size_t>(coded.scale_bytes()));
    const QuantizeJob job{subject.profile, DType::bf16, shape, device_input.get(), philox};
    ASSERT_EQ(quantize(job, {codes.get(), scales.get(), nullptr}, nullptr, 0, {}), Status::ok);
    const Expected expected = expected_answer({subject, DType::bf16, part, ScaleLayout::row_major}, input, words);
    const auto last_of = [](const DeviceArray<std::uint8_t>& array, std::size_t count) {
      Bytes bytes(count);
      require(cudaMemcpy(bytes.data(), array.get() + array.bytes() - count, count, cudaMemcpyDeviceToHost));
      return bytes;
    };
    expect_equal(last_of(codes, expected.answer.codes.size()), expected.answer.codes, "codes");
    expect_equal(last_of(scales, expected.answer.scales.size()), expected.answer.scales, "scales");
  }
}

TEST(QuantizeShapes, MayBeEmpty) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  for (const char* name : {"mxfp4/ocp", "hif4-2d/gcc", "nvfp4/tensor-scale"}) {
    const Subject subject{name, *find_profile(name)};
    for (const MatrixShape& shape :
         {MatrixShape{0, 3, 64, 1}, {2, 0, 64, 1}, {2, 3, 0, 1}, {2, 3, 0, 0}, {2, 0, 5, 0}}) {
      const Case c{subject, DType::bf16, shape, ScaleLayout::row_major};
      const Answer answer = device_answer(c, {}, {});
      EXPECT_TRUE(answer.codes.empty() && answer.scales.empty());
      EXPECT_EQ(answer.tensor_scales, std::vector<float>(static_cast<std::size_t>(shape.batch), 1.0F));
      EXPECT_TRUE(device_values(c, DType::f32, answer).empty());
    }
  }
}

TEST(QuantizeBothAxes, GivesWhatEachAxisGives) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  for (const char* name : {"mxfp4/rceil", "mxfp4/rceil-sr", "mxfp4-2d/rceil", "hif4/gcc", "nvfp4/tensor-scale"}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      SCOPED_TRACE(name + name_of_dtype(dtype));
      const Subject subject{name, *find_profile(name)};
      const MatrixShape columns{2, 203, 165, 1};
      const MatrixShape rows{2, 203, 165, 0};
      const RandomSource philox{3, Stream::sr_weight, 1, nullptr};
      const std::vector<std::byte> input = random_matrices(subject.profile, dtype, columns, 5);
      const std::vector<std::uint32_t> words = philox_words(philox, columns.elements());
      const DeviceArray<std::byte> device_input{std::span(input)};
      const QuantizeJob job{subject.profile, dtype, columns, device_input.get(), philox};
      const DeviceArray<std::byte> workspace(quantize_workspace(job));
      std::vector<Expected> expected;
      std::vector<CodedShape> shapes;
      for (const MatrixShape& shape : {columns, rows}) {
        expected.push_back(expected_answer({subject, dtype, shape, ScaleLayout::row_major}, input, words));
        shapes.push_back(coded_shape(subject.profile, shape));
      }
      const DeviceArray<std::uint8_t> codes0(static_cast<std::size_t>(shapes[0].code_bytes()));
      const DeviceArray<std::uint8_t> codes1(static_cast<std::size_t>(shapes[1].code_bytes()));
      const DeviceArray<std::uint8_t> scales0(static_cast<std::size_t>(shapes[0].scale_bytes()));
      const DeviceArray<std::uint8_t> scales1(static_cast<std::size_t>(shapes[1].scale_bytes()));
      const DeviceArray<float> tensor_scales(4);
      ASSERT_EQ(quantize_both_axes(job, {codes0.get(), scales0.get(), tensor_scales.get()},
                                   {codes1.get(), scales1.get(), tensor_scales.get() + 2}, workspace.get(),
                                   workspace.bytes(), {}),
                Status::ok);
      expect_equal(codes0.values(), expected[0].answer.codes, "codes along columns");
      expect_equal(scales0.values(), expected[0].answer.scales, "scales along columns");
      expect_equal(codes1.values(), expected[1].answer.codes, "codes along rows");
      expect_equal(scales1.values(), expected[1].answer.scales, "scales along rows");
      EXPECT_TRUE(codes0.margin_is_whole() && codes1.margin_is_whole() && scales0.margin_is_whole() &&
                  scales1.margin_is_whole());
    }
  }
}

TEST(QuantizeRequests, AreCheckedBeforeAnythingIsLaunched) {
  std::uint8_t nothing[8] = {};
  float number = 0.0F;
  const Coded coded{nothing, nothing, &number};
  const QuantizeJob job{*find_profile("mxfp4/ocp"), DType::f32, {1, 4, 64, 1}, &number, {}};
  const auto status_of = [&](auto change, const Coded& output) {
    QuantizeJob other = job;
    change(other);
    return quantize(other, output, nullptr, 0, {});
  };
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.shape.axis = 2; }, coded), Status::invalid);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.shape.rows = -1; }, coded), Status::invalid);
  // 2^64 elements, which 64 bits would take for none; a length whose padding would not fit.
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.shape.rows = j.shape.columns = std::int64_t{1} << 32; }, coded),
            Status::invalid);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.shape = {1, 1, INT64_MAX, 1}; }, coded), Status::invalid);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.input = nullptr; }, coded), Status::invalid);
  EXPECT_EQ(status_of([&](QuantizeJob& j) { j.input = nothing + 1; }, coded), Status::invalid);
  EXPECT_EQ(status_of([](QuantizeJob&) {}, {nullptr, nothing, nullptr}), Status::invalid);
  EXPECT_EQ(status_of([](QuantizeJob&) {}, {nothing, nullptr, nullptr}), Status::invalid);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.profile.block = {1, 24}; }, coded), Status::invalid);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.profile.nan = NanPolicy::error; }, coded), Status::unsupported);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.profile.inf = InfPolicy::error; }, coded), Status::unsupported);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.profile.element = Element::s1p2; }, coded), Status::unsupported);
  EXPECT_EQ(status_of([](QuantizeJob& j) { j.scale_layout = ScaleLayout::patches_16; }, coded), Status::unsupported);
  const auto choose = [](const char* name) { return [name](QuantizeJob& j) { j.profile = *find_profile(name); }; };
  EXPECT_EQ(status_of(choose("nvfp4/tensor-scale"), coded), Status::small_workspace);
  EXPECT_EQ(status_of(choose("nvfp4/tensor-scale"), {nothing, nothing, nullptr}), Status::invalid);
  const auto hif4_three_quarters = [](QuantizeJob& j) {
    j.profile = *find_profile("hif4/gcc");
    j.three_quarters = true;
  };
  EXPECT_EQ(status_of(hif4_three_quarters, coded), Status::invalid);
}

}  // namespace
}  // namespace fp4proof::gpu
