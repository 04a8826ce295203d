// The error decomposition: blocks worked out by hand from rules D1 to D8 of docs/rules-corrections.md, the identity,
// the order of the sums, and what must not matter (threads, chunks, axes).

#include "reference/portable/decompose.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/element.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"

namespace fp4proof::portable {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
using Shape = std::vector<std::int64_t>;

TensorView view_of(const std::vector<float>& values, const Shape& shape) {
  return {DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
}

struct Decomposed {
  Geometry geometry;
  std::vector<ErrorSplit> rows;
  std::vector<ErrorSplit> blocks;
  std::vector<ErrorTerms> elements;
};

struct Source {
  const Profile& profile;
  TensorView tensor;
  QuantizeOptions options = {};
  std::vector<float> values = {};
};

/// Every output, by calls of `rows_per_call` rows (0: one call).
Decomposed decompose_all(const Source& source, std::int64_t rows_per_call = 0) {
  const Profile& profile = source.profile;
  Decomposed d;
  auto geometry = cut_into_blocks(profile, source.tensor.shape, source.options.axis, source.options.tail);
  EXPECT_TRUE(geometry.ok());
  d.geometry = *geometry;
  const std::int64_t rows = d.geometry.rows;
  const std::int64_t columns = d.geometry.columns;
  d.rows.resize(static_cast<std::size_t>(rows));
  d.blocks.resize(static_cast<std::size_t>(rows * d.geometry.blocks));
  d.elements.resize(static_cast<std::size_t>(rows * columns));
  const float tensor_scale = tensor_scale_of(profile, source.tensor);
  const std::int64_t step = rows_per_call > 0 ? rows_per_call : std::max<std::int64_t>(rows, 1);
  for (std::int64_t begin = 0; begin < rows; begin += step) {
    const std::int64_t end = std::min(begin + step, rows);
    const auto part = [&](auto& all, std::int64_t per_row) {
      return std::span(all).subspan(static_cast<std::size_t>(begin * per_row),
                                    static_cast<std::size_t>((end - begin) * per_row));
    };
    const std::span<const float> values =
        source.values.empty() ? std::span<const float>() : std::span<const float>(part(source.values, columns));
    const auto done =
        decompose_rows(profile, source.tensor, d.geometry, source.options, tensor_scale, begin, end, values,
                       {part(d.rows, 1), part(d.blocks, d.geometry.blocks), part(d.elements, columns)});
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
  }
  return d;
}

Decomposed decompose_all(const char* profile, const std::vector<float>& values, const Shape& shape,
                         const QuantizeOptions& options = {}) {
  return decompose_all({*find_profile(profile), view_of(values, shape), options, {}});
}

/// One block row of `size` zeros with some elements set.
std::vector<float> block_of(int size, std::initializer_list<std::pair<int, float>> elements) {
  std::vector<float> block(static_cast<std::size_t>(size), 0.0F);
  for (const auto& [at, value] : elements) block[static_cast<std::size_t>(at)] = value;
  return block;
}

void expect_terms(const ErrorTerms& actual, const ErrorTerms& expected, int at) {
  EXPECT_EQ(actual.error, expected.error) << "element " << at;
  EXPECT_EQ(actual.scale, expected.scale) << "element " << at;
  EXPECT_EQ(actual.deadzone, expected.deadzone) << "element " << at;
  EXPECT_EQ(actual.grid, expected.grid) << "element " << at;
}

// ---------------------------------------------------------------------------------------------------------------------
// By hand
// ---------------------------------------------------------------------------------------------------------------------

TEST(DecomposeByHand, Factors) {
  EXPECT_EQ(decomposition_factor(*find_profile("mxfp4/ocp")), 6);
  EXPECT_EQ(decomposition_factor(*find_profile("nvfp4/direct")), 6);
  EXPECT_EQ(decomposition_factor(*find_profile("mxfp8-e4m3/ocp")), 7);   // 448 = 7 * 64
  EXPECT_EQ(decomposition_factor(*find_profile("mxfp8-e5m2/ocp")), 7);   // 57344 = 7 * 8192
  EXPECT_EQ(decomposition_factor(*find_profile("mxfp6-e3m2/ocp")), 7);   // 28 = 7 * 4
  EXPECT_EQ(decomposition_factor(*find_profile("mxfp6-e2m3/ocp")), 15);  // 7.5 = 15 / 2
  for (const char* name : {"hif4/gcc", "hifx3/gcc", "hifx5/gcc", "hif4-2d/exact"}) {
    EXPECT_EQ(decomposition_factor(*find_profile(name)), 7) << name;
  }
}

/// m = 7: rceil gives the scale 2; the ideal unit is 7/6, so 6 Q* = 7 q.
TEST(DecomposeByHand, MxRceil) {
  const auto x = block_of(32, {{0, 7.0F}, {1, 1.0F}, {2, -2.0F}, {3, 0.25F}, {31, 0.4375F}});
  const Decomposed d = decompose_all("mxfp4/rceil", x, {1, 32});
  expect_terms(d.elements[0], {6, 6, 0, 0}, 0);                // 3.5 ties to 4: Q = 8; q = 6
  expect_terms(d.elements[1], {0, -1, 0, 1}, 1);               // Q = 1; 6/7 goes to q = 1
  expect_terms(d.elements[2], {0, -1.5, 0, 1.5}, 2);           // Q = -2; 12/7 goes to q = 1.5
  expect_terms(d.elements[3], {-1.5, 0, -1.5, 0}, 3);          // Q = 0; 1.5/7 < 1/4
  expect_terms(d.elements[4], {0, 0, 0, 0}, 4);                // a zero
  expect_terms(d.elements[31], {-2.625, -3.5, 0, 0.875}, 31);  // Q = 0; 2.625/7 = 3/8 goes to q = 1/2
  const ErrorSplit& row = d.rows[0];
  EXPECT_EQ(row.elements, 32);
  EXPECT_EQ(row.excluded, 0);
  EXPECT_EQ(row.in_deadzone, 1);
  EXPECT_EQ(row.zeroed, 2);
  EXPECT_EQ(row.inexact, 0);
  EXPECT_EQ(row.identity_failures, 0);
  EXPECT_EQ(row.value, 1953.140625);
  EXPECT_EQ(row.quantized_value, 2196.0);
  EXPECT_EQ(row.error, 45.140625);
  EXPECT_EQ(row.scale, 51.5);
  EXPECT_EQ(row.deadzone, 2.25);
  EXPECT_EQ(row.grid, 4.015625);
  EXPECT_EQ(row.scale_grid, -6.3125);
  EXPECT_EQ(row.scale_deadzone, 0.0);
  EXPECT_EQ(d.blocks[0], row);
  EXPECT_DOUBLE_EQ(row.scale_share(), 51.5 / 45.140625);
  EXPECT_DOUBLE_EQ(row.floor_share(), 6.265625 / 45.140625);
  EXPECT_DOUBLE_EQ(row.scale_grid_cosine(), -6.3125 / std::sqrt(51.5 * 4.015625));
  EXPECT_DOUBLE_EQ(row.gain(), 2196.0 / 1953.140625);
  EXPECT_DOUBLE_EQ(row.deadzone_fraction(), 1.0 / 32);
  EXPECT_DOUBLE_EQ(row.zeroed_fraction(), 2.0 / 32);
}

/// m = 7: floor gives the scale 1, below 7/6. 9/32 lies in the deadzone (24 * 9/32 <= 7), yet Q makes 1/2 of it: the
/// scale and the deadzone term are not orthogonal.
TEST(DecomposeByHand, FloorIsNotOrthogonal) {
  const auto x = block_of(32, {{0, 7.0F}, {5, 0.28125F}});
  const Decomposed d = decompose_all("mxfp4/ocp", x, {1, 32});
  expect_terms(d.elements[0], {-6, -6, 0, 0}, 0);  // clips at 6
  expect_terms(d.elements[5], {1.3125, 3, -1.6875, 0}, 5);
  EXPECT_EQ(d.rows[0].scale_deadzone, -5.0625);
  EXPECT_EQ(decompose_all("mxfp4/rceil", x, {1, 32}).rows[0].scale_deadzone, 0.0);
}

/// m = 8: the scale is 1.25 (8 bf16(1/7) = 1.140625, nearer to 1.25 than to 1), the ideal unit 8/7.
TEST(DecomposeByHand, Hif4) {
  const auto x = block_of(64, {{0, 8.0F}, {1, 3.0F}, {4, 2.0F}, {8, 0.125F}, {12, 0.15625F}});
  const Decomposed d = decompose_all("hif4/gcc", x, {1, 64});
  expect_terms(d.elements[0], {-3.5, -3.5, 0, 0}, 0);               // both bits; Q = 7.5, q = 1.75
  expect_terms(d.elements[1], {-3.5, -6.5, 0, 3}, 1);               // both bits; Q = 2.5, 2.625/4 goes to 0.75
  expect_terms(d.elements[4], {-0.875, -2.875, 0, 2}, 4);           // one bit; Q = 1.875, 0.875 ties away to 1
  expect_terms(d.elements[8], {-0.875, 0, -0.875, 0}, 8);           // no bit; 7/64 < 1/8
  expect_terms(d.elements[12], {1.09375, 0.1875, 0, 0.90625}, 12);  // Q = 0.3125, 35/256 goes to 1/4
  EXPECT_EQ(d.rows[0].in_deadzone, 1);
  EXPECT_EQ(d.rows[0].zeroed, 1);
}

/// m = 6.5: 6.5/6 goes to the block scale 1.125.
TEST(DecomposeByHand, Nvfp4) {
  const auto x = block_of(16, {{0, 6.5F}, {9, -1.0F}});
  const Decomposed d = decompose_all("nvfp4/direct", x, {1, 16});
  expect_terms(d.elements[0], {1.5, 1.5, 0, 0}, 0);
  expect_terms(d.elements[9], {-0.75, -0.25, 0, -0.5}, 9);
}

/// m = 450: the scale is 2, the ideal unit 450/448; F = 7.
TEST(DecomposeByHand, MxFp8) {
  const auto x = block_of(32, {{0, 450.0F}, {1, 1.0F}});
  const Decomposed d = decompose_all("mxfp8-e4m3/rceil", x, {1, 32});
  expect_terms(d.elements[0], {-14, -14, 0, 0}, 0);  // 225 goes to 224
  expect_terms(d.elements[1], {0, -0.03125, 0, 0.03125}, 1);
}

TEST(DecomposeByHand, StochasticRoundingTakesTheSameWords) {
  const auto x = block_of(32, {{0, 6.0F}, {1, 2.5F}, {2, -2.5F}});  // rceil: the scale is 1 and so is the ideal unit
  std::vector<std::uint32_t> words(32, 0);
  words[2] = 0xFFFFFFFFU;
  const Decomposed d = decompose_all("mxfp4/rceil-sr", x, {1, 32}, {.random_words = words});
  expect_terms(d.elements[1], {-3, 0, 0, -3}, 1);  // down to 2
  expect_terms(d.elements[2], {-3, 0, 0, -3}, 2);  // up in magnitude, to -3
}

TEST(Decompose, DrawsTheWordsFromTheFirstElementOn) {
  constexpr std::uint64_t first = (std::uint64_t{1} << 40) + 3;
  std::vector<float> x(64 * 32);
  std::vector<std::uint32_t> words(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = random_normal(1, Stream::cases, 0, i);
    words[i] = random_word(5, Stream::sr_gradient, 6, first + i);
  }
  for (const int axis : {0, 1}) {
    QuantizeOptions options{.axis = axis, .seed = 5, .stream = Stream::sr_gradient, .step = 6, .first_element = first};
    const Decomposed drawn = decompose_all("mxfp4/rceil-sr", x, {64, 32}, options);
    const Decomposed given = decompose_all("mxfp4/rceil-sr", x, {64, 32}, {.axis = axis, .random_words = words});
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(drawn.elements[i].error, given.elements[i].error) << i;
  }
}

/// A tile has one largest magnitude, wherever it stands.
TEST(DecomposeByHand, SmallTile) {
  Profile profile = *find_profile("mxfp4/rceil");
  profile.block = {8, 8};
  std::vector<float> x(16 * 16, 0.0F);
  x[5 * 16 + 3] = 7.0F;
  x[0] = 1.0F;  // in the tile of the 7
  x[8] = 1.0F;  // alone in its tile: 1 = 6 / 6, scale 1/4, exact under both
  const Shape shape = {16, 16};
  const Decomposed d = decompose_all({profile, view_of(x, shape)});
  expect_terms(d.elements[0], {0, -1, 0, 1}, 0);
  expect_terms(d.elements[5 * 16 + 3], {6, 6, 0, 0}, 83);
  expect_terms(d.elements[8], {0, 0, 0, 0}, 8);
  EXPECT_EQ(d.rows[0].scale, 1.0);
  EXPECT_EQ(d.rows[5].error, 36.0);
  EXPECT_EQ(d.blocks[2 * 5].elements, 8);
  EXPECT_EQ(d.blocks[2 * 5].error, 36.0);
  EXPECT_EQ(d.blocks[2 * 5 + 1].error, 0.0);
}

/// D8: given values take the place of Q(x); Q* and D stay.
TEST(DecomposeByHand, GivenValues) {
  const auto x = block_of(32, {{0, 7.0F}, {1, 1.0F}, {3, 0.25F}, {4, 0.5F}});
  const Shape shape = {1, 32};
  Source source{*find_profile("mxfp4/ocp"), view_of(x, shape), {}, x};
  source.values[3] = 0.5F;
  source.values[4] = std::numeric_limits<float>::quiet_NaN();
  const Decomposed d = decompose_all(source);
  expect_terms(d.elements[0], {0, 0, 0, 0}, 0);
  expect_terms(d.elements[1], {0, -1, 0, 1}, 1);
  expect_terms(d.elements[3], {1.5, 3, -1.5, 0}, 3);
  expect_terms(d.elements[4], {0, 0, 0, 0}, 4);
  EXPECT_EQ(d.rows[0].excluded, 1);
  EXPECT_EQ(d.rows[0].in_deadzone, 1);
  const auto total = decompose(source.profile, source.tensor, {}, source.values);
  ASSERT_TRUE(total.ok());
  EXPECT_EQ(*total, d.rows[0]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Special values and the ends of the range
// ---------------------------------------------------------------------------------------------------------------------

TEST(DecomposeSpecials, NanBlockIsExcludedAlone) {
  std::vector<float> x(64, 1.0F);
  x[40] = canonical_nan();
  const Decomposed d = decompose_all("mxfp4/rceil", x, {1, 64});
  EXPECT_EQ(d.rows[0].elements, 64);
  EXPECT_EQ(d.rows[0].excluded, 32);
  EXPECT_EQ(d.blocks[0].excluded, 0);
  EXPECT_EQ(d.blocks[1].excluded, 32);
  EXPECT_EQ(d.blocks[1].value, 0.0);
  EXPECT_EQ(d.rows[0].value, 32 * 36.0);
}

TEST(DecomposeSpecials, SaturatedInfinityIsExcludedAlone) {
  std::vector<float> x(32, 3.0F);
  x[7] = -infinity;
  const Decomposed d = decompose_all("mxfp4/cuda-rceil", x, {1, 32});  // scale code 254: everything else is zeroed
  EXPECT_EQ(d.rows[0].excluded, 1);
  EXPECT_EQ(d.rows[0].zeroed, 31);
  EXPECT_EQ(d.rows[0].in_deadzone, 0);  // the ideal unit comes from the finite elements
  expect_terms(d.elements[0], {-18, -18, 0, 0}, 0);
  expect_terms(d.elements[7], {0, 0, 0, 0}, 7);
}

TEST(DecomposeSpecials, ZeroBlocks) {
  const std::vector<float> x(64, -0.0F);
  for (const Profile& profile : profiles()) {
    if (profile.block.is_2d()) continue;
    const Decomposed d = decompose_all({profile, view_of(x, {1, 64})});
    ErrorSplit nothing;
    nothing.elements = 64;
    EXPECT_EQ(d.rows[0], nothing) << profile.name;
    EXPECT_EQ(d.rows[0].scale_share(), 0.0);
    EXPECT_EQ(d.rows[0].scale_grid_cosine(), 0.0);
  }
}

TEST(DecomposeSpecials, SmallestScaleClamps) {
  const auto x =
      block_of(32, {{0, 0x1p-133F}});  // the smallest bfloat16; the scale would be 2^-135, the smallest is 2^-127
  const Decomposed d = decompose_all("mxfp4/rceil", x, {1, 32});
  expect_terms(d.elements[0], {-6 * 0x1p-133, -6 * 0x1p-133, 0, 0}, 0);
  EXPECT_EQ(d.rows[0].zeroed, 1);
  EXPECT_EQ(d.rows[0].inexact, 0);
}

TEST(DecomposeSpecials, SaturatedScaleIsCountedInexact) {
  const auto x = block_of(64, {{0, 0x1p100F}});
  const Decomposed d = decompose_all("hif4/gcc", x, {1, 64});
  EXPECT_EQ(d.rows[0].inexact, 1);  // 7 * 7 * 1.5 * 2^15 - 7 * 2^100 has more than 53 bits
  EXPECT_EQ(d.elements[0].grid, 0.0);
}

TEST(DecomposeSpecials, RefusedBlockIsNamedAsByTheQuantizer) {
  Profile profile = *find_profile("mxfp4/ocp");
  profile.nan = NanPolicy::error;
  std::vector<float> x(300 * 64, 1.0F);
  x[250 * 64 + 40] = canonical_nan();
  x[260 * 64] = canonical_nan();
  const Shape shape = {300, 64};
  const auto split = decompose(profile, view_of(x, shape));
  const auto quantized = quantize(profile, view_of(x, shape));
  ASSERT_FALSE(split.ok());
  EXPECT_EQ(split.error().kind, ErrorKind::data);
  EXPECT_EQ(split.error().message, quantized.error().message);
  EXPECT_NE(split.error().message.find("row 250, block 1"), std::string::npos) << split.error().message;
}

TEST(DecomposeSpecials, Usage) {
  const std::vector<float> x(64, 1.0F);
  const Profile& profile = *find_profile("mxfp4/ocp");
  EXPECT_EQ(decompose(profile, view_of(x, {2, 32}), {}, std::span(x).first(63)).error().kind, ErrorKind::usage);
  EXPECT_EQ(decompose(profile, view_of(x, {2, 31})).error().kind, ErrorKind::usage);
  Profile odd = profile;
  odd.block = {1, 48};
  EXPECT_EQ(decompose(odd, view_of(x, {1, 48})).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(decompose(profile, view_of(x, {2, 32}), {.three_quarters = true}).error().kind, ErrorKind::usage);
  const std::vector<float> none;
  const auto empty = decompose(profile, view_of(none, {0, 32}));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(*empty, ErrorSplit{});
}

// ---------------------------------------------------------------------------------------------------------------------
// Properties, every profile
// ---------------------------------------------------------------------------------------------------------------------

/// bfloat16 values: normals, many binades in a block, grid points and ties, zeros; within the range of every scale.
std::vector<float> mixed_values(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t word = random_word(seed, Stream::cases, 0, i);
    const std::uint32_t kind = random_word(seed, Stream::cases, 1, i / 64) % 5;
    const std::uint32_t binade = word % 24 + 115;
    values[i] = round_to_bf16(random_normal(seed, Stream::cases, 2, i));
    if (kind == 1) values[i] = float_from_bits((word & 0x807F0000U) | (binade << 23));
    if (kind == 2) values[i] = float_from_bits((word & 0x80700000U) | 0x3F800000U);
    if (kind == 3) values[i] = word % 3 == 0 ? values[i] : float_from_bits(word & 0x80000000U);
  }
  return values;
}

class EveryProfile : public testing::TestWithParam<const Profile*> {};

TEST_P(EveryProfile, IdentityHoldsBitForBit) {
  const Profile& profile = *GetParam();
  const Shape shape = {2, 65, 320};
  const std::vector<float> x = mixed_values(2 * 65 * 320, 3);
  for (int axis = 0; axis < 3; ++axis) {
    const Decomposed d = decompose_all({profile, view_of(x, shape), {.axis = axis, .tail = Tail::pad, .seed = 5}, {}});
    ErrorSplit total;
    for (const ErrorSplit& row : d.rows) total.add(row);
    EXPECT_EQ(total.elements, 2 * 65 * 320);
    EXPECT_EQ(total.excluded, 0);
    EXPECT_EQ(total.inexact, 0);
    EXPECT_EQ(total.identity_failures, 0);
    EXPECT_GT(total.error, 0.0);
    for (const ErrorTerms& t : d.elements) {
      ASSERT_EQ(bits_as<std::uint64_t>(t.error), bits_as<std::uint64_t>((t.scale + t.deadzone) + t.grid));
      ASSERT_TRUE(t.deadzone == 0.0 || t.grid == 0.0);
    }
  }
}

/// Q* is the level q whose m q / max is nearest to |x|; F times both are exact, since F / max is a power of two.
TEST_P(EveryProfile, MxTermsEqualTheNearestLevel) {
  const Profile& profile = *GetParam();
  if (profile.family != Family::mx || profile.rounding != Rounding::rne || profile.block.is_2d()) return;
  const std::vector<float> x = mixed_values(256 * 64, 8);
  const Shape shape = {256, 64};
  const Decomposed d = decompose_all({profile, view_of(x, shape)});
  const ElementSpec spec = element_spec(profile.element);
  const auto max = double{decode_element(profile.element, spec.max_code)};
  const double factor = decomposition_factor(profile);
  for (std::size_t b = 0; b < x.size(); b += 32) {
    double m = 0;
    for (std::size_t i = b; i < b + 32; ++i) m = std::max(m, std::fabs(double{x[i]}));
    for (std::size_t i = b; i < b + 32; ++i) {
      const double wanted = factor * std::fabs(double{x[i]});
      double best = 0;
      double best_distance = wanted;
      for (int code = 1; code <= spec.max_code; ++code) {
        const double level =
            m * double{decode_element(profile.element, static_cast<std::uint8_t>(code))} * (factor / max);
        const double distance = std::fabs(level - wanted);
        if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
          best = level;
          best_distance = distance;
        }
      }
      const double rest = std::copysign(best, double{x[i]}) - factor * double{x[i]};
      ASSERT_EQ(d.elements[i].deadzone, best == 0.0 ? rest : 0.0) << profile.name << " x " << x[i] << " m " << m;
      ASSERT_EQ(d.elements[i].grid, best == 0.0 ? 0.0 : rest) << profile.name << " x " << x[i] << " m " << m;
    }
  }
}

TEST_P(EveryProfile, ScaleAndDeadzoneAreOrthogonalUnderRceil) {
  const Profile& profile = *GetParam();
  const bool covers = profile.family == Family::mx && profile.scale_rule == ScaleRule::rceil &&
                      profile.scale_arithmetic == ScaleArithmetic::exact && profile.rounding != Rounding::stochastic;
  if (!covers) return;
  const std::vector<float> x = mixed_values(128 * 512, 4);
  const auto split = decompose(profile, view_of(x, {128, 512}));
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->scale_deadzone, 0.0);
  EXPECT_GT(split->scale, 0.0);
}

TEST_P(EveryProfile, ThreadsAndChunksDoNotMatter) {
  const Profile& profile = *GetParam();
  const std::vector<float> x = mixed_values(128 * 128, 5);
  const Shape shape = {128, 128};
  const Source source{profile, view_of(x, shape), {.seed = 3}, {}};
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const Decomposed once = decompose_all(source);
  const ErrorSplit total = *decompose(profile, source.tensor, source.options);
  for (const int count : {2, 7}) {
    omp_set_num_threads(count);
    for (const std::int64_t rows_per_call : {0, 64}) {
      const Decomposed again = decompose_all(source, rows_per_call);
      EXPECT_TRUE(once.rows == again.rows) << profile.name;
      EXPECT_TRUE(once.blocks == again.blocks) << profile.name;
      EXPECT_TRUE(once.elements == again.elements) << profile.name;
    }
    EXPECT_EQ(*decompose(profile, source.tensor, source.options), total);
  }
  omp_set_num_threads(threads);
  ErrorSplit sum;
  for (const ErrorSplit& row : once.rows) sum.add(row);
  EXPECT_EQ(sum, total);
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

INSTANTIATE_TEST_SUITE_P(Decompose, EveryProfile, testing::ValuesIn(all_profiles()), test_name);

// ---------------------------------------------------------------------------------------------------------------------
// Order of the sums, axes, shares
// ---------------------------------------------------------------------------------------------------------------------

/// Rule D5 written out: 32 lanes, folded by halves.
double lane_sum(std::span<const ErrorTerms> terms, double ErrorTerms::*a, double ErrorTerms::*b) {
  std::vector<double> lanes(32, 0.0);
  for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % 32] += terms[i].*a * terms[i].*b;
  for (const std::size_t distance : {16U, 8U, 4U, 2U, 1U}) {
    std::vector<double> folded(32);
    for (std::size_t l = 0; l < 32; ++l) folded[l] = lanes[l] + lanes[l ^ distance];
    lanes = folded;
  }
  return lanes[0];
}

TEST(DecomposeSums, FollowTheOrderOfTheRule) {
  const std::int64_t columns = 2 * 4096 + 64;
  const std::vector<float> x = mixed_values(3 * columns, 17);
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "hif4/gcc", "nvfp4/direct", "mxfp4/rceil-sr"}) {
    const Decomposed d = decompose_all(name, x, {3, columns});
    const auto width = d.geometry.padded_columns / d.geometry.blocks;
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto terms = std::span<const ErrorTerms>(d.elements)
                             .subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
      const auto over_segments = [&](double ErrorTerms::*a, double ErrorTerms::*b) {
        return (lane_sum(terms.first(4096), a, b) + lane_sum(terms.subspan(4096, 4096), a, b)) +
               lane_sum(terms.last(64), a, b);
      };
      const ErrorSplit& split = d.rows[static_cast<std::size_t>(row)];
      EXPECT_EQ(split.error, over_segments(&ErrorTerms::error, &ErrorTerms::error)) << name;
      EXPECT_EQ(split.scale, over_segments(&ErrorTerms::scale, &ErrorTerms::scale)) << name;
      EXPECT_EQ(split.deadzone, over_segments(&ErrorTerms::deadzone, &ErrorTerms::deadzone)) << name;
      EXPECT_EQ(split.grid, over_segments(&ErrorTerms::grid, &ErrorTerms::grid)) << name;
      EXPECT_EQ(split.scale_grid, over_segments(&ErrorTerms::scale, &ErrorTerms::grid)) << name;
      EXPECT_EQ(split.scale_deadzone, over_segments(&ErrorTerms::scale, &ErrorTerms::deadzone)) << name;
      for (std::int64_t b = 0; b < d.geometry.blocks; ++b) {
        const auto block = terms.subspan(static_cast<std::size_t>(b * width), static_cast<std::size_t>(width));
        EXPECT_EQ(d.blocks[static_cast<std::size_t>(row * d.geometry.blocks + b)].error,
                  lane_sum(block, &ErrorTerms::error, &ErrorTerms::error))
            << name;
      }
    }
  }
}

/// The row sums must not depend on which outputs are asked for, nor on the type that holds the same values.
TEST(DecomposeSums, DoNotDependOnTheOtherOutputsOrTheType) {
  const std::int64_t columns = 4096 + 320;
  std::vector<float> x = mixed_values(5 * columns, 23);
  x[7] = canonical_nan();
  x[static_cast<std::size_t>(columns) + 4099] = infinity;
  const Shape shape = {5, columns};
  std::vector<std::uint16_t> halves;
  for (const float value : x) halves.push_back(float_to_bf16(value));
  const TensorView narrow = {DType::bf16, shape, reinterpret_cast<const std::byte*>(halves.data())};
  for (const Profile& profile : profiles()) {
    const QuantizeOptions options{.tail = Tail::pad};
    const Decomposed full = decompose_all({profile, view_of(x, shape), options, {}});
    for (const TensorView& tensor : {view_of(x, shape), narrow}) {
      std::vector<ErrorSplit> rows(5);
      ASSERT_TRUE(decompose_rows(profile, tensor, full.geometry, options, tensor_scale_of(profile, tensor), 0, 5, {},
                                 {.rows = rows})
                      .ok());
      for (std::size_t r = 0; r < 5; ++r) EXPECT_EQ(rows[r], full.rows[r]) << profile.name << " row " << r;
    }
  }
}

TEST(DecomposeSums, BlockAxisMayBeAnyAxis) {
  const std::vector<float> x = mixed_values(96 * 128, 31);
  std::vector<float> transposed(x.size());
  for (std::size_t r = 0; r < 96; ++r) {
    for (std::size_t c = 0; c < 128; ++c) transposed[c * 96 + r] = x[r * 128 + c];
  }
  for (const char* name : {"mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp4-2d/rceil"}) {
    const Decomposed last = decompose_all(name, x, {96, 128});
    const Decomposed first = decompose_all(name, transposed, {128, 96}, {.axis = 0});
    EXPECT_TRUE(last.rows == first.rows) << name;
    EXPECT_TRUE(last.elements == first.elements) << name;
  }
}

TEST(DecomposeShares, GaussianMatchesTheKnownShares) {
  std::vector<float> x(1 << 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = round_to_bf16(random_normal(1, Stream::cases, 0, i));
  const ErrorSplit rceil = *decompose(*find_profile("mxfp4/rceil"), view_of(x, {1024, 1024}));
  EXPECT_NEAR(rceil.scale_share(), 1.774, 0.01);
  EXPECT_NEAR(rceil.deadzone_share(), 0.0205, 0.01);
  EXPECT_NEAR(rceil.grid_share(), 0.748, 0.01);
  EXPECT_NEAR(rceil.scale_grid_cosine(), -0.670, 0.01);
  EXPECT_NEAR(rceil.relative_error(), 0.01330, 0.0002);
  EXPECT_NEAR(rceil.deadzone_fraction(), 0.0775, 0.001);
  EXPECT_NEAR(rceil.zeroed_fraction(), 0.107, 0.001);
  const ErrorSplit hif4 = *decompose(*find_profile("hif4/exact"), view_of(x, {1024, 1024}));
  EXPECT_NEAR(hif4.scale_share(), 1.09, 0.01);
  EXPECT_NEAR(hif4.deadzone_share(), 0.105, 0.01);
  EXPECT_NEAR(hif4.grid_share(), 0.86, 0.01);
}

}  // namespace
}  // namespace fp4proof::portable
