// The tensor road against the scalar block codec, for every profile: tables, runs, axes, tails, threads, chunks.

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

#include "formats/block_codec.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {
namespace {

/// Words at many magnitudes: uniform bits, values around 1, exact grid multiples, zeros, sometimes NaN and infinity.
std::vector<float> mixed_values(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto element = static_cast<std::uint64_t>(i);
    const std::uint32_t a = random_word(seed, Stream::cases, 0, element);
    const std::uint32_t kind = random_word(seed, Stream::cases, 1, element / 64) % 8;
    std::uint32_t word = a;
    if (kind >= 2) word = (a & 0x81FFFFFFU) | 0x3E000000U;                   // around 1
    if (kind >= 4) word = (a & 0x807FFFFFU) | 0x3F800000U;                   // one binade
    if (kind == 5) word &= 0xFFF00000U;                                      // grid points and ties
    if (kind == 6) word &= 0x807FFFFFU;                                      // subnormal
    if (kind == 7) word = a % 5 == 0 ? a & 0xFFFF0000U : (a & 0x80000000U);  // mostly zeros
    if (kind != 1 && (word & float_infinity_bits) == float_infinity_bits) word &= 0x807FFFFFU;
    values[static_cast<std::size_t>(i)] = float_from_bits(word);
  }
  return values;
}

TensorView view_of(const std::vector<float>& values, std::span<const std::int64_t> shape) {
  return {DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
}

/// Logical code of (row, column) in canonical packing.
std::uint8_t code_at(const Profile& profile, const Quantized& q, std::int64_t row, std::int64_t column) {
  const std::uint8_t* codes = q.codes.data() + row * q.geometry.code_bytes_per_row;
  if (!element_spec(profile.element).is_nibble()) return codes[column];
  return static_cast<std::uint8_t>((codes[column / 2] >> (4 * (column & 1))) & 15U);
}

std::uint32_t scale_at(const Profile& profile, const Quantized& q, std::int64_t row, std::int64_t block) {
  const int bytes = scale_bytes(profile.family);
  std::uint32_t word = 0;
  for (int k = 0; k < bytes; ++k) {
    const auto at = static_cast<std::size_t>(row * q.geometry.scale_bytes_per_row + block * bytes + k);
    word |= std::uint32_t{q.scales[at]} << (8 * k);
  }
  return word;
}

/// Encodes every block by the scalar codec straight from the definition of the geometry and compares.
void expect_equal_to_scalar(const Profile& profile, const std::vector<float>& values, const Quantized& q,
                            const QuantizeOptions& options) {
  const Geometry& g = q.geometry;
  const BlockShape shape = profile.block;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(shape.size()));
  std::vector<std::uint32_t> random(words.size());
  std::vector<std::uint8_t> codes(words.size());
  std::vector<std::uint32_t> scales(static_cast<std::size_t>(shape.rows));
  for (std::int64_t row = 0; row < g.rows;) {
    const std::int64_t left = g.matrix_rows - row % g.matrix_rows;
    const std::int64_t rows = std::min<std::int64_t>(shape.rows, left);
    for (std::int64_t block = 0; block < g.blocks; ++block) {
      for (int r = 0; r < shape.rows; ++r) {
        for (int c = 0; c < shape.cols; ++c) {
          const std::int64_t column = block * shape.cols + c;
          const auto slot = static_cast<std::size_t>(r * shape.cols + c);
          const bool exists = r < rows && column < g.columns;
          const auto at = exists ? static_cast<std::size_t>(g.first_element(row + r) + column * g.inner) : 0;
          words[slot] = exists ? float_bits(values[at]) : 0;
          random[slot] = exists ? random_word(options.seed, options.stream, options.step, at) : 0;
        }
      }
      const BlockEncoding io{words.data(), random.data(), q.tensor_scale, scales.data(), codes.data()};
      ASSERT_EQ(encode_block(profile, io), BlockStatus::ok);
      for (std::int64_t r = 0; r < rows; ++r) {
        ASSERT_EQ(scale_at(profile, q, row + r, block), scales[static_cast<std::size_t>(r)])
            << profile.name << " row " << row + r << " block " << block;
        for (int c = 0; c < shape.cols && block * shape.cols + c < g.columns; ++c) {
          ASSERT_EQ(code_at(profile, q, row + r, block * shape.cols + c),
                    codes[static_cast<std::size_t>(r * shape.cols + c)])
              << profile.name << " row " << row + r << " column " << block * shape.cols + c << " word " << std::hex
              << words[static_cast<std::size_t>(r * shape.cols + c)];
        }
      }
    }
    row += rows;
  }
}

class EveryProfile : public testing::TestWithParam<const Profile*> {};

TEST_P(EveryProfile, TensorRoadEqualsScalarCodec) {
  const Profile& profile = *GetParam();
  const std::vector<std::int64_t> shape = {2, 65, 320};
  const std::vector<float> values = mixed_values(2 * 65 * 320, 11);
  for (int axis = 0; axis < 3; ++axis) {
    const QuantizeOptions options{.axis = axis, .tail = Tail::pad, .seed = 77};
    const auto q = quantize(profile, view_of(values, shape), options);
    ASSERT_TRUE(q.ok()) << q.error().message;
    expect_equal_to_scalar(profile, values, *q, options);
  }
}

TEST_P(EveryProfile, ThreadsAndChunksDoNotMatter) {
  const Profile& profile = *GetParam();
  const std::vector<std::int64_t> shape = {192, 256};
  const std::vector<float> values = mixed_values(192 * 256, 5);
  const int threads = omp_get_max_threads();
  const QuantizeOptions options{.seed = 3};
  omp_set_num_threads(1);
  const auto once = quantize(profile, view_of(values, shape), options);
  ASSERT_TRUE(once.ok());
  for (const int count : {2, 7}) {
    omp_set_num_threads(count);
    const auto again = quantize(profile, view_of(values, shape), options);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(once->codes, again->codes) << profile.name;
    EXPECT_EQ(once->scales, again->scales) << profile.name;
  }
  omp_set_num_threads(threads);
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  for (std::int64_t row = 0; row < 192; row += 64) {
    std::vector<std::uint8_t> c(static_cast<std::size_t>(64 * once->geometry.code_bytes_per_row));
    std::vector<std::uint8_t> s(static_cast<std::size_t>(64 * once->geometry.scale_bytes_per_row));
    ASSERT_TRUE(
        quantize_rows(profile, view_of(values, shape), once->geometry, options, once->tensor_scale, row, row + 64, c, s)
            .ok());
    codes.insert(codes.end(), c.begin(), c.end());
    scales.insert(scales.end(), s.begin(), s.end());
  }
  EXPECT_EQ(once->codes, codes) << profile.name;
  EXPECT_EQ(once->scales, scales) << profile.name;
}

TEST_P(EveryProfile, DequantizeEqualsScalarCodec) {
  const Profile& profile = *GetParam();
  const std::vector<std::int64_t> shape = {64, 192};
  const std::vector<float> values = mixed_values(64 * 192, 9);
  const auto q = quantize(profile, view_of(values, shape), {});
  ASSERT_TRUE(q.ok());
  const std::vector<float> back = dequantize(profile, *q);
  for (std::int64_t row = 0; row < 64; ++row) {
    for (std::int64_t column = 0; column < 192; ++column) {
      const float expected =
          decode_block_element(profile, scale_at(profile, *q, row, column / profile.block.cols), q->tensor_scale,
                               static_cast<int>(column % profile.block.cols), code_at(profile, *q, row, column));
      ASSERT_EQ(float_bits(back[static_cast<std::size_t>(row * 192 + column)]), float_bits(expected))
          << profile.name << " row " << row << " column " << column;
    }
  }
}

std::vector<const Profile*> all_profiles() {
  std::vector<const Profile*> list;
  for (const Profile& profile : profiles()) list.push_back(&profile);
  return list;
}

std::string test_name(const testing::TestParamInfo<const Profile*>& info) {
  std::string name(info.param->name);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Portable, EveryProfile, testing::ValuesIn(all_profiles()), test_name);

TEST(PortableQuantize, TwoDimensionalTilesCommuteWithTransposition) {
  const std::int64_t n = 128;
  const std::vector<std::int64_t> shape = {n, n};
  const std::vector<float> x = mixed_values(n * n, 21);
  std::vector<float> xt(x.size());
  for (std::int64_t r = 0; r < n; ++r) {
    for (std::int64_t c = 0; c < n; ++c)
      xt[static_cast<std::size_t>(c * n + r)] = x[static_cast<std::size_t>(r * n + c)];
  }
  for (const Profile& profile : profiles()) {
    if (!profile.block.is_2d() || profile.rounding == Rounding::stochastic) continue;
    const auto a = dequantize(profile, *quantize(profile, view_of(x, shape), {}));
    const auto b = dequantize(profile, *quantize(profile, view_of(xt, shape), {}));
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t c = 0; c < n; ++c) {
        ASSERT_EQ(float_bits(a[static_cast<std::size_t>(r * n + c)]),
                  float_bits(b[static_cast<std::size_t>(c * n + r)]))
            << profile.name;
      }
    }
  }
}

TEST(PortableQuantize, HalfTypesEqualTheirWidenedValues) {
  const std::vector<std::int64_t> shape = {4, 64};
  std::vector<std::uint16_t> halves(256);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i * 251U);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    std::vector<float> wide;
    for (const std::uint16_t h : halves) wide.push_back(dtype == DType::bf16 ? bf16_to_float(h) : fp16_to_float(h));
    const Profile& profile = *find_profile("mxfp4/ocp");
    const auto narrow = quantize(profile, {dtype, shape, reinterpret_cast<const std::byte*>(halves.data())}, {});
    const auto widened = quantize(profile, view_of(wide, shape), {});
    EXPECT_EQ(narrow->codes, widened->codes);
    EXPECT_EQ(narrow->scales, widened->scales);
  }
}

TEST(PortableQuantize, RefusesWhatItCannotCut) {
  const Profile& profile = *find_profile("mxfp4/ocp");
  const std::vector<float> values(66);
  const std::vector<std::int64_t> odd = {2, 33};
  const auto tail = quantize(profile, view_of(values, odd), {});
  ASSERT_FALSE(tail.ok());
  EXPECT_EQ(tail.error().kind, ErrorKind::usage);
  EXPECT_NE(tail.error().message.find("33"), std::string::npos);
  EXPECT_NE(tail.error().message.find("--tail pad"), std::string::npos);
  const auto axis = quantize(profile, view_of(values, odd), {.axis = 2});
  ASSERT_FALSE(axis.ok());
  EXPECT_EQ(axis.error().kind, ErrorKind::usage);
}

TEST(PortableQuantize, EmptyAndScalarTensors) {
  const Profile& profile = *find_profile("mxfp4/ocp");
  const std::vector<float> one = {6.0F};
  const std::vector<std::int64_t> empty = {0, 32};
  const auto none = quantize(profile, view_of(one, empty), {});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->codes.empty());
  const auto scalar = quantize(profile, view_of(one, {}), {.tail = Tail::pad});
  ASSERT_TRUE(scalar.ok());
  ASSERT_EQ(scalar->codes.size(), 16U);
  EXPECT_EQ(scalar->codes[0], 0x07);  // 6 under scale 1
  EXPECT_EQ(scalar->scales[0], 127);
}

TEST(PortableQuantize, RejectionNamesTheFirstBlock) {
  Profile profile = *find_profile("mxfp4/ocp");
  profile.nan = NanPolicy::error;
  std::vector<float> values(4 * 64, 1.0F);
  values[2 * 64 + 40] = canonical_nan();
  values[3 * 64] = canonical_nan();
  const std::vector<std::int64_t> shape = {4, 64};
  const auto q = quantize(profile, view_of(values, shape), {});
  ASSERT_FALSE(q.ok());
  EXPECT_EQ(q.error().kind, ErrorKind::data);
  EXPECT_NE(q.error().message.find("row 2, block 1"), std::string::npos) << q.error().message;
}

}  // namespace
}  // namespace fp4proof::portable
