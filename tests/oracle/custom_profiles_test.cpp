// Any combination of choices that a user may write into a profile, on the scalar codec and the tensor road against the
// oracle: the named profiles visit few of them.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "formats/block_codec.h"
#include "formats/spec_profiles.h"
#include "reference/exact/block.h"
#include "reference/portable/quantize.h"
#include "tests/exhaustive/random_blocks.h"

namespace fp4proof {
namespace {

/// Draws choices one after the other from Philox.
class Chooser {
 public:
  explicit Chooser(std::uint64_t trial) : trial_(trial) {}
  std::uint32_t below(std::uint32_t count) { return random_word(1, Stream::cases, next_++, trial_) % count; }
  template <class Enum>
  Enum any() {
    return static_cast<Enum>(below(static_cast<std::uint32_t>(EnumNames<Enum>::names.size())));
  }

 private:
  std::uint64_t trial_;
  std::uint32_t next_ = 100;
};

Profile random_profile(std::uint64_t trial) {
  Chooser choose(trial);
  Profile p = *find_profile(std::array{"mxfp4/ocp", "mxfp4/ocp", "hif4/gcc", "nvfp4/direct"}[choose.below(4)]);
  p.name = "custom";
  p.rounding = choose.any<Rounding>();
  p.random_bits = static_cast<std::uint8_t>(8U << choose.below(3));
  p.element_arithmetic = choose.any<ElementArithmetic>();
  p.input_rounding = choose.any<InputRounding>();
  p.nan = choose.any<NanPolicy>();
  p.inf = choose.any<InfPolicy>();
  p.tiny = choose.any<TinyPolicy>();
  p.zero_sign = choose.any<ZeroSign>();
  p.scale_rule = choose.any<ScaleRule>();
  p.scale_arithmetic = choose.any<ScaleArithmetic>();
  p.seventh = choose.any<SeventhRule>();
  p.scale_rounding = choose.below(2) == 0 ? Rounding::rne : Rounding::rna;
  p.reciprocal = choose.any<Reciprocal>();
  p.threshold_arithmetic = choose.any<ThresholdArithmetic>();
  p.inf_scale_code = static_cast<std::uint8_t>(choose.below(255));
  p.zero_scale_code = static_cast<std::uint8_t>(choose.below(255));
  if (p.family == Family::mx) {
    p.element = choose.any<Element>();
  } else {
    if (p.nan == NanPolicy::scale_zero) p.nan = NanPolicy::scale_nan;
    const bool mx_only = p.element_arithmetic == ElementArithmetic::fp32_half_add ||
                         p.element_arithmetic == ElementArithmetic::fp32_distance;
    if (mx_only) p.element_arithmetic = ElementArithmetic::exact;
  }
  return p;
}

std::string describe(const Profile& p) {
  std::string text;
  for (const std::string_view part :
       {name_of(p.family), name_of(p.element), name_of(p.rounding), name_of(p.element_arithmetic),
        name_of(p.input_rounding), name_of(p.nan), name_of(p.inf), name_of(p.tiny), name_of(p.zero_sign),
        name_of(p.scale_rule), name_of(p.scale_arithmetic), name_of(p.seventh), name_of(p.threshold_arithmetic)}) {
    text += std::string(part) + " ";
  }
  return text + std::to_string(p.inf_scale_code) + " " + std::to_string(p.zero_scale_code);
}

std::uint32_t oracle_scale_word(const Profile& profile, const exact::EncodedBlock& block) {
  if (profile.family != Family::hif4) return block.scale;
  const auto bytes = exact::hif4_scale_bytes(profile, block);
  return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24;
}

TEST(CustomProfiles, EveryRoadEqualsTheOracle) {
  constexpr int trials = 40000;
  int rejected = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const Profile profile = random_profile(trial);
    const auto size = static_cast<std::size_t>(profile.block.size());
    std::vector<std::uint32_t> words(size);
    std::vector<std::uint32_t> random(size);
    exhaustive::fill_random_block(7, trial, words);
    for (std::size_t i = 0; i < size; ++i) random[i] = random_word(trial, Stream::sr_activation, 0, i);
    const exact::EncodedBlock expected = exact::encode_block(profile, words, random);

    std::array<std::uint32_t, 1> scale{};
    std::vector<std::uint8_t> codes(size);
    const bool stochastic = profile.rounding == Rounding::stochastic;
    const BlockStatus status =
        encode_block(profile, {words.data(), stochastic ? random.data() : nullptr, 1.0F, scale.data(), codes.data()});
    ASSERT_EQ(status != BlockStatus::ok, expected.rejected) << describe(profile) << " trial " << trial;

    const std::array<std::int64_t, 1> shape = {profile.block.cols};
    const portable::TensorView view{portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())};
    const auto tensor = portable::quantize(profile, view, {.seed = trial});
    ASSERT_EQ(!tensor.ok(), expected.rejected) << describe(profile) << " trial " << trial;
    if (expected.rejected) {
      ++rejected;
      continue;
    }
    ASSERT_EQ(scale[0], oracle_scale_word(profile, expected)) << describe(profile) << " trial " << trial;
    ASSERT_EQ(codes, expected.codes) << describe(profile) << " trial " << trial;
    for (std::size_t i = 0; i < size; ++i) {
      const bool nibble = element_spec(profile.element).is_nibble();
      const std::uint8_t code = nibble ? (tensor->codes[i / 2] >> (4 * (i % 2))) & 15 : tensor->codes[i];
      ASSERT_EQ(code, expected.codes[i]) << describe(profile) << " trial " << trial << " element " << i;
    }
    ASSERT_EQ(tensor->scales[0], expected.scale) << describe(profile) << " trial " << trial;
  }
  EXPECT_GT(rejected, 100) << "the refusing policies were not visited";
}

/// zero_scaled_dropped asks whether the scaled value rounds to zero in binary32: exactly 2^-150 does, a little more
/// does not. The blocks below put -2^-149 under scale 2, and its neighbours around it.
TEST(CustomProfiles, ScaledValuesAtHalfTheSmallestBinary32) {
  struct Case {
    const char* base;
    float amax;  ///< the element that makes the scale 2
  };
  for (const Case& c : {Case{"mxfp4/ocp", 8.0F}, Case{"hif4/gcc", 14.0F}, Case{"nvfp4/direct", 12.0F}}) {
    Profile profile = *find_profile(c.base);
    profile.zero_sign = ZeroSign::zero_scaled_dropped;
    const auto size = static_cast<std::size_t>(profile.block.size());
    std::vector<std::uint32_t> words(size, 0x80000000U);
    words[0] = float_bits(c.amax);
    for (std::size_t i = 1; i < size; ++i) words[i] |= static_cast<std::uint32_t>(i % 7);
    const exact::EncodedBlock expected = exact::encode_block(profile, words);
    std::array<std::uint32_t, 1> scale{};
    std::vector<std::uint8_t> codes(size);
    ASSERT_EQ(encode_block(profile, {words.data(), nullptr, 1.0F, scale.data(), codes.data()}), BlockStatus::ok);
    EXPECT_EQ(codes, expected.codes) << c.base;
    EXPECT_EQ(codes[size - 1 - (size - 2) % 7], 0) << c.base << ": -2^-149 / 2 keeps no sign";
    EXPECT_EQ(codes[size - 1 - (size - 3) % 7], 8) << c.base << ": -2^-148 / 2 keeps its sign";
  }
}

}  // namespace
}  // namespace fp4proof
