// Stochastic rounding on the fast road: random words of many elements at once against random_word(), and RunEncoder
// against the scalar codec, with random words on both sides of every decision.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "formats/block_codec.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/quantize.h"
#include "reference/portable/random_words.h"
#include "reference/portable/run_encoder.h"

namespace fp4proof::portable {
namespace {

constexpr int block_length = 32;
constexpr int run_words = blocks_per_run * block_length;

TEST(RandomWords, EqualTheWordOfEachElement) {
  // Starts within a Philox block, and across the end of the low counter word.
  const std::uint64_t starts[] = {0, 1, 2, 3, 61, (std::uint64_t{1} << 34) - 130, (std::uint64_t{1} << 63) + 7};
  for (const std::uint64_t first : starts) {
    for (const int count : {0, 1, 3, 4, 63, 64, 512, 1023, 1024, 4096, 4097}) {
      std::vector<std::uint32_t> words(static_cast<std::size_t>(count) + 1, 0xABCDEF01U);
      draw_random_words(0x123456789ABCDEFU, Stream::sr_gradient, 41, first, count, words.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        ASSERT_EQ(words[i], random_word(0x123456789ABCDEFU, Stream::sr_gradient, 41, first + i)) << first << " + " << i;
      }
      ASSERT_EQ(words.back(), 0xABCDEF01U) << "written beyond " << count;
    }
  }
}

Profile stochastic_profile(Element element, int bits) {
  Profile profile;
  profile.element = element;
  profile.rounding = Rounding::stochastic;
  profile.random_bits = static_cast<std::uint8_t>(bits);
  return profile;
}

/// The smallest random word that moves a scaled magnitude up, or the one before it.
std::uint32_t deciding_word(const Profile& profile, float scaled, bool moves_up) {
  const ElementSpec spec = element_spec(profile.element);
  const int binade = std::max(scaled > 0 ? std::ilogb(scaled) : 1 - spec.bias, 1 - spec.bias);
  const double steps = std::ldexp(double{scaled}, spec.mantissa_bits - binade);
  const double fraction = std::floor(std::ldexp(steps - std::floor(steps), profile.random_bits));
  const double smallest = std::ldexp(1.0, profile.random_bits) - fraction;
  const double word = std::ldexp(smallest, 32 - profile.random_bits) - (moves_up ? 0 : 1);
  return word >= 0x1p32 ? 0xFFFFFFFFU : static_cast<std::uint32_t>(word);
}

/// Codes whole runs by RunEncoder and block by block by the scalar codec.
class Comparison {
 public:
  explicit Comparison(const Profile& profile)
      : profile_(profile),
        encoder_(profile, 1.0F),
        largest_(float_bits(pow2f(element_spec(profile.element).emax))),
        words_(run_words),
        random_(run_words) {}

  /// Under the scale 1, where the block of the word allows it: every block starts with 2^emax.
  void add(std::uint32_t word, std::uint32_t random) {
    if (filled_ % block_length == 0) put(largest_, random);
    put(word, random);
  }
  void finish() {
    while (filled_ != 0) add(0, 0);
  }
  std::int64_t differences() const { return differences_; }
  std::int64_t moved_up() const { return moved_up_; }

 private:
  void put(std::uint32_t word, std::uint32_t random) {
    words_[filled_] = word;
    random_[filled_] = random;
    ++filled_;
    if (filled_ == words_.size()) compare();
  }

  void compare() {
    std::vector<std::uint32_t> prepared = words_;
    std::array<std::uint8_t, run_words> fast;
    std::array<std::uint8_t, run_words> scalar;
    std::array<std::uint32_t, blocks_per_run> fast_scales;
    std::array<std::uint32_t, blocks_per_run> scalar_scales;
    ASSERT_FALSE(encoder_.encode(blocks_per_run, prepared.data(), random_.data(), fast_scales.data(), fast.data()));
    for (std::size_t b = 0; b < blocks_per_run; ++b) {
      const std::size_t at = b * block_length;
      ASSERT_EQ(encode_block(profile_, {words_.data() + at, random_.data() + at, 1.0F, &scalar_scales[b], &scalar[at]}),
                BlockStatus::ok);
    }
    EXPECT_EQ(fast_scales, scalar_scales);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const float magnitude = std::abs(decode_element(profile_.element, scalar[i]));
      moved_up_ += magnitude > float_from_bits(words_[i] & float_magnitude_mask) ? 1 : 0;
      if (fast[i] == scalar[i]) continue;
      if (++differences_ > 3) continue;
      ADD_FAILURE() << std::hex << "word " << words_[i] << " random " << random_[i] << " fast " << int{fast[i]}
                    << " scalar " << int{scalar[i]};
    }
    filled_ = 0;
  }

  Profile profile_;
  RunEncoder encoder_;
  std::uint32_t largest_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> random_;
  std::size_t filled_ = 0;
  std::int64_t differences_ = 0;
  std::int64_t moved_up_ = 0;
};

TEST(StochasticE2m1, EverySignificand) {
  for (const int bits : {32, 16, 8}) {
    const Profile profile = stochastic_profile(Element::e2m1, bits);
    Comparison comparison(profile);
    std::int64_t words = 0;
    for (int exponent = -2; exponent <= 2; ++exponent) {
      const std::uint32_t first = static_cast<std::uint32_t>(exponent + 127) << 23;
      for (std::uint32_t significand = 0; significand < 1U << 23; significand += bits == 32 ? 1 : 7) {
        const std::uint32_t word = first | significand;
        for (const bool up : {false, true}) {
          comparison.add(word | significand << 31, deciding_word(profile, float_from_bits(word), up));
          ++words;
        }
      }
    }
    comparison.finish();
    EXPECT_EQ(comparison.differences(), 0) << bits;
    // Both answers come up: half of all words moves up, but for grid points and what clamps.
    EXPECT_GT(comparison.moved_up(), words * 2 / 5) << bits;
    EXPECT_LT(comparison.moved_up(), words / 2) << bits;
  }
}

TEST(StochasticElements, EveryBinade) {
  for (const Element element : {Element::e2m1, Element::e2m3, Element::e3m2, Element::e4m3, Element::e5m2}) {
    for (const int bits : {32, 16, 8}) {
      for (const ZeroSign sign :
           {ZeroSign::kept, ZeroSign::dropped, ZeroSign::zero_input_dropped, ZeroSign::zero_scaled_dropped}) {
        Profile profile = stochastic_profile(element, bits);
        profile.zero_sign = sign;
        Comparison comparison(profile);
        const int highest = element_spec(element).emax;
        for (int exponent = highest; exponent >= highest - 90; --exponent) {
          for (std::uint64_t i = 0; i < 700; ++i) {
            const std::uint32_t draw = random_word(3, Stream::cases, static_cast<std::uint32_t>(exponent + 200), i);
            std::uint32_t significand = draw & 0x7FFFFFU;
            if (i % 7 == 0) significand &= 0x780000U;                            // grid points and middles
            if (i % 7 == 1) significand = (significand & 0x780000U) | 1U;        // just above
            if (i % 7 == 2) significand = (significand | 0x7FFFFU) & 0x7FFFFFU;  // just below
            const std::uint32_t word = (static_cast<std::uint32_t>(exponent + 127) << 23) | significand;
            const std::uint32_t decides = deciding_word(profile, float_from_bits(word), i % 2 == 0);
            comparison.add(word | (draw & float_sign_mask), i % 5 == 0 ? draw * 2654435761U : decides);
          }
        }
        for (const std::uint32_t word : {0U, float_sign_mask, 1U, 0x807FFFFFU, 0x00800000U}) {
          for (const std::uint32_t random : {0U, 1U, 0x7FFFFFFFU, 0xFFFFFFFFU}) comparison.add(word, random);
        }
        comparison.finish();
        EXPECT_EQ(comparison.differences(), 0) << element_spec(element).name << " bits " << bits;
      }
    }
  }
}

/// Blocks at every scale, clamped and flushed ones, NaN and infinity under every policy that accepts them.
TEST(StochasticElements, EveryScaleAndPolicy) {
  for (const Element element : {Element::e2m1, Element::e4m3, Element::e5m2}) {
    for (const NanPolicy nan : {NanPolicy::scale_nan, NanPolicy::ignore, NanPolicy::scale_zero}) {
      for (const TinyPolicy tiny : {TinyPolicy::clamp, TinyPolicy::flush_block, TinyPolicy::flush_inputs}) {
        Profile profile = stochastic_profile(element, 32);
        profile.nan = nan;
        profile.tiny = tiny;
        profile.inf = nan == NanPolicy::scale_nan ? InfPolicy::scale_nan : InfPolicy::saturate;
        profile.scale_rule = nan == NanPolicy::ignore ? ScaleRule::rceil : ScaleRule::floor;
        const RunEncoder encoder(profile, 1.0F);
        for (std::uint32_t field = 0; field < 255; ++field) {
          std::array<std::uint32_t, run_words> words;
          std::array<std::uint32_t, run_words> random;
          for (std::size_t i = 0; i < words.size(); ++i) {
            random[i] = random_word(9, Stream::cases, field, i);
            const std::uint32_t draw = random_word(10, Stream::cases, field, i);
            const std::uint32_t below = std::min(field, draw >> 27);
            words[i] = (draw & 0x807FFFFFU) | (field - below) << 23;
            if (draw % 300 == 7) words[i] = canonical_nan_bits;
            if (draw % 300 == 8) words[i] = float_infinity_bits | (draw & float_sign_mask);
          }
          std::array<std::uint32_t, run_words> prepared = words;
          std::array<std::uint8_t, run_words> fast;
          std::array<std::uint32_t, blocks_per_run> scales;
          ASSERT_FALSE(encoder.encode(blocks_per_run, prepared.data(), random.data(), scales.data(), fast.data()));
          for (std::size_t b = 0; b < blocks_per_run; ++b) {
            const std::size_t at = b * block_length;
            std::array<std::uint8_t, block_length> scalar;
            std::uint32_t scale = 0;
            ASSERT_EQ(encode_block(profile, {words.data() + at, random.data() + at, 1.0F, &scale, scalar.data()}),
                      BlockStatus::ok);
            ASSERT_EQ(scales[b], scale) << "field " << field;
            ASSERT_TRUE(std::equal(scalar.begin(), scalar.end(), fast.begin() + static_cast<std::ptrdiff_t>(at)))
                << element_spec(element).name << " field " << field << " block " << b;
          }
        }
      }
    }
  }
}

/// The tensor road takes given words from their places, and draws those of the elements from `first_element` on.
class StochasticTensor : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(FirstElement, StochasticTensor, testing::Values(0, 5, (std::uint64_t{1} << 40) + 3));

TEST_P(StochasticTensor, GivenWordsAreTheElementsOwn) {
  const std::vector<std::int64_t> shape = {3, 5, 100};
  std::vector<float> x(3 * 5 * 100);
  std::vector<std::uint32_t> random(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = random_normal(1, Stream::cases, 0, i);
    random[i] = random_word(5, Stream::sr_weight, 6, GetParam() + i);
  }
  const TensorView view = {DType::f32, shape, reinterpret_cast<const std::byte*>(x.data())};
  for (const char* name : {"mxfp4/ocp-sr", "mxfp4/rceil-sr16", "mxfp4/rceil-sr8", "mxfp4-2d/rceil-sr", "hif4/gcc-sr"}) {
    for (const int axis : {0, 1, 2}) {
      QuantizeOptions options{.axis = axis, .tail = Tail::pad, .seed = 5, .stream = Stream::sr_weight, .step = 6};
      options.first_element = GetParam();
      const auto drawn = quantize(*find_profile(name), view, options);
      options.seed = 99;
      options.random_words = random;
      const auto given = quantize(*find_profile(name), view, options);
      ASSERT_TRUE(drawn.ok() && given.ok());
      EXPECT_EQ(drawn->codes, given->codes) << name << " axis " << axis;
      EXPECT_EQ(drawn->scales, given->scales) << name << " axis " << axis;
    }
  }
}

}  // namespace
}  // namespace fp4proof::portable
