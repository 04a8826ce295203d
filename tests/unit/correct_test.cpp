// correct() and dequantize() of corrected tensors: values worked by hand, and properties over every named stack.

#include <gtest/gtest.h>
#include <omp.h>

#include "formats/mx.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "reference/portable/correct_segment.h"
#include "reference/portable/corrected_parts.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/residual_mask.h"
#include "tests/unit/correction_inputs.h"

namespace fp4proof::portable {
namespace {

const Profile& profile(const char* name) { return *find_profile(name); }
const CorrectionStack& stack(const char* name) { return *find_correction_stack(name); }

void expect_equal(const CodedPart& a, const CodedPart& b, const std::string& where) {
  EXPECT_EQ(a.quantized.codes, b.quantized.codes) << where;
  EXPECT_EQ(a.quantized.scales, b.quantized.scales) << where;
  EXPECT_EQ(a.macro, b.macro) << where;
  EXPECT_EQ(float_bits(a.quantized.tensor_scale), float_bits(b.quantized.tensor_scale)) << where;
}

void expect_equal(const Corrected& a, const Corrected& b, const std::string& where) {
  expect_equal(a.first, b.first, where + " first part");
  ASSERT_EQ(a.residual.has_value(), b.residual.has_value()) << where;
  if (a.residual) expect_equal(*a.residual, *b.residual, where + " residual");
}

/// One thread while it lives: hundreds of small tensors cost more to share than to do.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

/// Calls visit(profile, stack, name) for every pair that is not refused.
template <class Visit>
void for_each_pair(Visit visit) {
  const OneThread one_thread;
  for (const Profile& p : profiles()) {
    for (const CorrectionStack& s : correction_stacks()) {
      if (check_stack(p, s).ok()) visit(p, s, std::string(s.name) + " on " + std::string(p.name));
    }
  }
}

// --- Values by hand --------------------------------------------------------------------------------------------------

TEST(Correct, ResidualOfASaturatedElement) {
  // 7 under scale 2^0 clamps to 6; r = 1 has scale 2^-2 and code 6 (4 * 2^-2).
  std::vector<float> x = filled(32, 0.0F);
  x[9] = -7.0F;
  const std::int64_t shape[] = {1, 32};
  const auto whole = correct(profile("mxfp4/ocp"), stack("rfq"), view_of(x, shape));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(scale_of(whole->first, 0, 0), 127);
  EXPECT_EQ(nibble_of(whole->first, 0, 9), 0xF);
  EXPECT_EQ(scale_of(*whole->residual, 0, 0), 125);
  EXPECT_EQ(nibble_of(*whole->residual, 0, 9), 0xE);
  EXPECT_EQ(dequantize(*whole)[9], -7.0F);
  const auto half = correct(profile("mxfp4/ocp"), stack("fallback"), view_of(x, shape));
  EXPECT_EQ(half->residual->quantized.scales, whole->residual->quantized.scales);  // alpha is not folded into the scale
  EXPECT_EQ(dequantize(*half)[9], -6.5F);
}

TEST(Correct, HalfTheResidualUnderTheLowestScale) {
  // 7 * 2^-127: scale code 0, 6 * 2^-127; r = 2^-127 wants scale 2^-129, clamps to code 0: element 1 (code 2).
  // Half of it is 2^-128, and the sum is 13 * 2^-128 = 1.625 * 2^-125.
  std::vector<float> x = filled(32, 0.0F);
  x[0] = 7.0F * pow2f(-127);
  const std::int64_t shape[] = {1, 32};
  const auto c = correct(profile("mxfp4/ocp"), stack("fallback"), view_of(x, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(scale_of(c->first, 0, 0), 0);
  EXPECT_EQ(nibble_of(c->first, 0, 0), 7);
  EXPECT_EQ(scale_of(*c->residual, 0, 0), 0);
  EXPECT_EQ(nibble_of(*c->residual, 0, 0), 2);
  EXPECT_EQ(float_bits(dequantize(*c)[0]), 0x01500000U);
}

TEST(Correct, AlphaTimesTheSecondPartIsRoundedBeforeTheSum) {
  // x1 = 6, x2 = 1, alpha = RN(1/3): 6.33333334 rounds to 0x40CAAAAB.
  std::vector<float> x = filled(32, 0.0F);
  x[0] = 7.0F;
  const std::int64_t shape[] = {1, 32};
  CorrectionStack s = stack("rfq");
  s.residual.alpha = 1.0F / 3.0F;
  EXPECT_EQ(float_bits(dequantize(*correct(profile("mxfp4/ocp"), s, view_of(x, shape)))[0]), 0x40CAAAABU);
  s.residual.alpha = -1.0F;
  EXPECT_EQ(dequantize(*correct(profile("mxfp4/ocp"), s, view_of(x, shape)))[0], 5.0F);
}

TEST(Correct, TwoOfFourLeavesTheScaleOfTheWholeResidual) {
  // r = 0.25 -0.25 0.25 0 in the group of the block maximum of r at column 8 (r = 1): only columns 4 and 5 survive.
  std::vector<float> x = filled(32, 0.0F);
  x[4] = 2.25F;   // 2 (tie at 2.5 not reached), r = 0.25
  x[5] = -2.25F;  // r = -0.25
  x[6] = 2.25F;
  x[8] = 7.0F;
  const std::int64_t shape[] = {1, 32};
  const auto c = correct(profile("mxfp4/ocp"), stack("resq"), view_of(x, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(scale_of(*c->residual, 0, 0), 125);
  const int expected[] = {2, 0xA, 0, 0, 6};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(nibble_of(*c->residual, 0, 4 + i), expected[i]) << i;
  const std::vector<float> back = dequantize(*c);
  EXPECT_EQ(back[4], 2.25F);
  EXPECT_EQ(back[5], -2.25F);
  EXPECT_EQ(back[6], 2.0F);
  EXPECT_EQ(back[8], 7.0F);
}

TEST(Correct, NanBlocksStayNan) {
  std::vector<float> x = filled(64, 1.0F);
  x[3] = float_from_bits(0x7F800001U);
  const std::int64_t shape[] = {1, 64};
  const auto c = correct(profile("mxfp4/rceil"), stack("resq"), view_of(x, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(scale_of(c->first, 0, 0), 255);
  EXPECT_EQ(scale_of(*c->residual, 0, 0), 255);
  const auto words = words_of(dequantize(*c));
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], i < 32 ? 0x7FC00000U : 0x3F800000U);
}

TEST(Correct, ThreeQuarters) {
  // amax 7.5: floor scale 2^0. 0.75 * 7.5 = 5.625 rounds to 6, which decodes to RN(6 / 0.75) = 8. 0.75 * 4 = 3 gives 4.
  // 0.75 * 1 = 0.75 is a tie of 0.5 and 1: even code 2 (1), which decodes to RN(1 / 0.75) = 1.3333334.
  std::vector<float> x = filled(32, 0.0F);
  x[0] = 7.5F;
  x[1] = -4.0F;
  x[2] = 1.0F;
  const std::int64_t shape[] = {1, 32};
  const auto c = correct(profile("mxfp4/ocp"), stack("three-quarters-rn"), view_of(x, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(scale_of(c->first, 0, 0), 127);
  EXPECT_EQ(nibble_of(c->first, 0, 0), 7);
  EXPECT_EQ(nibble_of(c->first, 0, 1), 0xD);
  EXPECT_EQ(nibble_of(c->first, 0, 2), 2);
  const std::vector<float> back = dequantize(*c);
  EXPECT_EQ(back[0], 8.0F);
  EXPECT_EQ(back[1], -4.0F);
  EXPECT_EQ(float_bits(back[2]), 0x3FAAAAABU);
}

TEST(Correct, ThreeQuartersRoundsTheProduct) {
  // 0.75 * 3 * 2^-149 = 2.25 * 2^-149 is RN to 2 * 2^-149; scale code 0; far below half a step: zero, scale of x.
  // The largest number: 0.75 x does not overflow and the scale is that of x, 2^(127 - 2).
  std::vector<float> x = filled(64, 0.0F);
  x[0] = float_from_bits(3);
  x[32] = float_from_bits(0x7F7FFFFFU);
  x[33] = float_from_bits(0x7E800000U);  // 2^126: 0.75 * 2 = 1.5 (code 3)
  const std::int64_t shape[] = {1, 64};
  const auto c = correct(profile("mxfp4/ocp"), stack("three-quarters-rn"), view_of(x, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(scale_of(c->first, 0, 0), 0);
  EXPECT_EQ(nibble_of(c->first, 0, 0), 0);
  EXPECT_EQ(scale_of(c->first, 0, 1), 252);
  EXPECT_EQ(nibble_of(c->first, 0, 32), 7);  // 5.9999: 6
  EXPECT_EQ(nibble_of(c->first, 0, 33), 3);
}

TEST(Correct, ThreeQuartersStochasticClipsNothing) {
  const std::vector<float> x = mixed_values(64 * 256, 8);
  const std::int64_t shape[] = {64, 256};
  for (const char* name : {"mxfp4/ocp", "mxfp8-e4m3/ocp", "mxfp6-e3m2/ocp"}) {
    const auto c = correct(profile(name), stack("three-quarters"), view_of(x, shape), {.quantize = {.seed = 5}});
    ASSERT_TRUE(c.ok());
    for (std::size_t i = 0; i < x.size(); ++i) {  // the scalar encoder on 0.75 x under the stored scale
      const auto scale = static_cast<std::uint8_t>(
          scale_of(c->first, static_cast<std::int64_t>(i / 256), static_cast<std::int64_t>(i % 256 / 32)));
      if (scale == e8m0_nan) continue;
      const std::uint8_t expected =
          mx_encode_element(c->profile, scale, float_bits(0.75F * x[i]), random_word(5, Stream::sr_activation, 0, i));
      const std::uint8_t code = name[4] == '4'
                                    ? static_cast<std::uint8_t>(nibble_of(c->first, static_cast<std::int64_t>(i / 256),
                                                                          static_cast<std::int64_t>(i % 256)))
                                    : c->first.quantized.codes[i];
      ASSERT_EQ(code, expected) << name << " " << i;
    }
  }
}

TEST(Correct, ThreeQuartersNeedsMx) {
  const std::vector<float> x = filled(64, 1.0F);
  const std::int64_t shape[] = {1, 64};
  const auto refused = quantize(profile("hif4/gcc"), view_of(x, shape), {.three_quarters = true});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
}

// --- Properties ------------------------------------------------------------------------------------------------------

TEST(Correct, SegmentsEqualTheStepsOnWholeTensors) {
  int pairs = 0;
  for (const std::int64_t columns : {64, 1024, 1216}) {
    const std::int64_t rows = 8;
    const std::vector<float> x = mixed_values(rows * columns, static_cast<std::uint64_t>(columns));
    const std::int64_t shape[] = {rows, columns};
    for_each_pair([&](const Profile& p, const CorrectionStack& s, const std::string& where) {
      for (const bool twice : {false, true}) {  // 2:4 of a three-quarters stack has no name
        CorrectionStack used = s;
        if (twice && !(s.three_quarters && !s.stochastic)) continue;
        if (twice) used.residual = stack("resq").residual;
        Corrected steps{used.effective(p), used, 3, {}, std::nullopt};
        const auto g = cut_into_blocks(steps.profile, shape, -1, Tail::pad);
        ASSERT_TRUE(g.ok());
        if (!goes_by_segments(steps.profile, used, *g)) continue;
        QuantizeOptions options{.tail = Tail::pad, .three_quarters = used.three_quarters};
        ASSERT_TRUE(correct_by_steps(view_of(x, shape), *g, options, steps).ok()) << where;
        Corrected segments{steps.profile, used, 3, {}, std::nullopt};
        correct_by_segments(view_of(x, shape), *g, segments);
        expect_equal(segments, steps, where);
        ++pairs;
      }
    });
  }
  EXPECT_GT(pairs, 600);
}

TEST(Correct, SegmentsWithPartialBlocks) {
  const std::int64_t shape[] = {2, 3, 1000};
  const std::vector<float> x = mixed_values(6000, 17);
  for_each_pair([&](const Profile& p, const CorrectionStack& s, const std::string& where) {
    if (s.hadamard.is_on()) return;  // 1000 is no multiple
    const QuantizeOptions options{.tail = Tail::pad, .three_quarters = s.three_quarters};
    const auto c = correct(p, s, view_of(x, shape), {.quantize = options});
    ASSERT_TRUE(c.ok()) << where;
    if (!goes_by_segments(c->profile, s, c->geometry())) return;
    Corrected steps{s.effective(p), s, 0, {}, std::nullopt};
    ASSERT_TRUE(correct_by_steps(view_of(x, shape), c->geometry(), options, steps).ok());
    expect_equal(*c, steps, where);
  });
}

TEST(Correct, ThreadsDoNotMatter) {
  const std::int64_t shape[] = {64, 192};
  const std::vector<float> x = mixed_values(64 * 192, 23);
  const int threads = omp_get_max_threads();
  for (const char* name :
       {"mxfp4/rceil", "mxfp4/even", "mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp4-2d/rceil"}) {
    for (const CorrectionStack& s : correction_stacks()) {
      if (!check_stack(profile(name), s).ok()) continue;
      omp_set_num_threads(1);
      const auto once = correct(profile(name), s, view_of(x, shape));
      const auto values = words_of(dequantize(*once));
      for (const int count : {2, 7}) {
        omp_set_num_threads(count);
        const auto again = correct(profile(name), s, view_of(x, shape));
        expect_equal(*again, *once, std::string(name) + " " + std::string(s.name));
        EXPECT_EQ(words_of(dequantize(*again)), values);
      }
    }
  }
  omp_set_num_threads(threads);
}

/// [batch, length, inner] with axis 1 moved last.
template <class T>
std::vector<T> axis_moved_last(const std::vector<T>& values, std::size_t batch, std::size_t length, std::size_t inner) {
  std::vector<T> moved;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t i = 0; i < inner; ++i) {
      for (std::size_t k = 0; k < length; ++k) moved.push_back(values[(b * length + k) * inner + i]);
    }
  }
  return moved;
}

TEST(Correct, AnotherAxisIsTheMovedTensor) {
  const std::int64_t shape[] = {1, 128, 64};
  const std::int64_t moved_shape[] = {1, 64, 128};
  const std::vector<float> x = mixed_values(128 * 64, 31);
  const std::vector<float> moved = axis_moved_last(x, 1, 128, 64);
  std::vector<std::uint32_t> random;
  for (std::uint64_t i = 0; i < x.size(); ++i) random.push_back(random_word(12, Stream::sr_activation, 0, i));
  const std::vector<std::uint32_t> moved_random = axis_moved_last(random, 1, 128, 64);
  for_each_pair([&](const Profile& p, const CorrectionStack& s, const std::string& where) {
    // The words of the first tensor come from their addresses (C3), those of the second are handed in.
    const auto a = correct(p, s, view_of(x, shape), {.quantize = {.axis = 1, .seed = 12}, .product = 5});
    const auto b =
        correct(p, s, view_of(moved, moved_shape), {.quantize = {.random_words = moved_random}, .product = 5});
    ASSERT_TRUE(a.ok() && b.ok()) << where;
    expect_equal(*a, *b, where);
    const std::vector<float> values = dequantize(*a);
    ASSERT_EQ(words_of(values), words_of(dequantize(*b))) << where;
    ASSERT_EQ(words_of(axis_moved_last(restore_axis(a->geometry(), values), 1, 128, 64)), words_of(values)) << where;
  });
}

TEST(Correct, TilesCommuteWithTransposition) {
  const std::int64_t shape[] = {128, 128};
  const std::vector<float> x = mixed_values(128 * 128, 41);
  const std::vector<float> xt = axis_moved_last(x, 1, 128, 128);
  for (const Profile& p : profiles()) {
    if (p.family != Family::mx || p.rounding == Rounding::stochastic) continue;
    for (const char* name : {"tile-8", "tile-16", "tile-32", "tile-64"}) {
      const auto a = correct(p, stack(name), view_of(x, shape));
      const auto b = correct(p, stack(name), view_of(xt, shape));
      ASSERT_TRUE(a.ok() && b.ok());
      ASSERT_EQ(words_of(axis_moved_last(dequantize(*a), 1, 128, 128)), words_of(dequantize(*b))) << p.name << name;
    }
  }
}

TEST(Correct, TilesOfEightByHand) {
  // Tile (0, 1) of 8x8 holds 12 (scale 2^1), the others 1 (scale 2^-2 under floor: 1 = 4 * 2^-2).
  std::vector<float> x = filled(16 * 16, 1.0F);
  x[5 * 16 + 8] = 12.0F;
  const std::int64_t shape[] = {16, 16};
  const auto c = correct(profile("mxfp4/ocp"), stack("tile-8"), view_of(x, shape));
  ASSERT_TRUE(c.ok());
  ASSERT_EQ(c->first.quantized.scales.size(), 32U);
  for (int row = 0; row < 16; ++row) {
    EXPECT_EQ(scale_of(c->first, row, 0), 125);
    EXPECT_EQ(scale_of(c->first, row, 1), row < 8 ? 128 : 125);
    EXPECT_EQ(nibble_of(c->first, row, 0), 6);
    EXPECT_EQ(nibble_of(c->first, row, 15), row < 8 ? 1 : 6);
  }
  EXPECT_EQ(dequantize(*c), x);
}

TEST(Correct, MaskAndCodingCommuteInMxfp4AndHif4) {
  // S(Q(r)) = Q(S(r)): the masked codes are the codes of the masked residual.
  const std::int64_t shape[] = {64, 256};
  std::vector<float> x;
  for (std::uint64_t i = 0; i < 64 * 256; ++i) x.push_back(random_normal(3, Stream::cases, 0, i));
  for (const char* name : {"mxfp4/rceil", "mxfp4/ocp", "hif4/gcc"}) {
    const auto c = correct(profile(name), stack("resq"), view_of(x, shape));
    std::vector<float> r = difference(x, decode_part(*c, c->first));
    const auto mask = residual_mask(stack("resq").residual, c->geometry(), x, r);
    for (std::size_t i = 0; i < r.size(); ++i) {
      if (mask[i] == 0) r[i] = 0.0F;
    }
    const auto coded = quantize(profile(name), view_of(r, shape));
    EXPECT_EQ(coded->codes, c->residual->quantized.codes) << name;
    EXPECT_EQ(coded->scales, c->residual->quantized.scales) << name;
  }
}

TEST(Correct, HalfTypesEqualTheirWidenedValues) {
  std::vector<std::uint16_t> halves(8 * 256);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i * 40503U);
  const std::int64_t shape[] = {8, 256};
  for (const DType dtype : {DType::bf16, DType::f16}) {
    std::vector<float> wide;
    for (const std::uint16_t h : halves) wide.push_back(dtype == DType::bf16 ? bf16_to_float(h) : fp16_to_float(h));
    for (const char* name : {"resq", "resq-channels", "hadamard-64", "mbs+fallback"}) {
      const auto narrow = correct(profile("mxfp4/rceil"), stack(name),
                                  {dtype, shape, reinterpret_cast<const std::byte*>(halves.data())});
      ASSERT_TRUE(narrow.ok());
      expect_equal(*narrow, *correct(profile("mxfp4/rceil"), stack(name), view_of(wide, shape)), name);
    }
  }
}

TEST(Correct, EmptyAndScalarTensors) {
  const std::vector<float> one = {7.0F};
  for (const CorrectionStack& s : correction_stacks()) {
    for (const char* name : {"mxfp4/rceil", "mxfp4/ocp", "mxfp4/even"}) {
      if (!check_stack(profile(name), s).ok()) continue;
      for (const std::vector<std::int64_t>& shape :
           {std::vector<std::int64_t>{0, 64}, std::vector<std::int64_t>{64, 0}, std::vector<std::int64_t>{3, 0, 64}}) {
        const auto c = correct(profile(name), s, view_of(one, shape));
        ASSERT_TRUE(c.ok()) << s.name << ": " << c.error().message;
        EXPECT_TRUE(dequantize(*c).empty());
      }
      if (s.hadamard.is_on()) continue;
      const auto scalar = correct(profile(name), s, view_of(one, {}), {.quantize = {.tail = Tail::pad}});
      ASSERT_TRUE(scalar.ok()) << s.name;
      EXPECT_EQ(dequantize(*scalar).size(), 1U);
    }
  }
}

}  // namespace
}  // namespace fp4proof::portable
