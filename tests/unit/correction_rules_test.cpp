// Every refusal of rule C4, with its reason and what to choose instead.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "tests/unit/correction_inputs.h"

namespace fp4proof::portable {
namespace {

const Profile& profile(const char* name) { return *find_profile(name); }
const CorrectionStack& stack(const char* name) { return *find_correction_stack(name); }

void expect_refused(const Profile& p, const CorrectionStack& s, const char* reason, const char* choice) {
  const auto checked = check_stack(p, s);
  ASSERT_FALSE(checked.ok()) << s.name << " on " << p.name;
  EXPECT_EQ(checked.error().kind, ErrorKind::usage);
  const std::string& message = checked.error().message;
  EXPECT_NE(message.find(reason), std::string::npos) << message;
  EXPECT_NE(message.find(choice), std::string::npos) << message;
  EXPECT_NE(message.find(p.name), std::string::npos) << message;
  EXPECT_NE(message.find(s.name), std::string::npos) << message;
  // correct() says the same and does nothing.
  const std::vector<float> values(64 * 64, 1.0F);
  const std::int64_t shape[] = {64, 64};
  const auto corrected = correct(p, s, view_of(values, shape));
  ASSERT_FALSE(corrected.ok());
  EXPECT_EQ(corrected.error().message, message);
}

TEST(CorrectionRules, ResidualWithStochasticRounding) {
  CorrectionStack s = stack("resq");
  s.stochastic = true;
  expect_refused(profile("mxfp4/rceil"), s, "same random word", "without stochastic rounding");
  expect_refused(profile("mxfp4/rceil-sr"), stack("rfq"), "same random word", "without stochastic rounding");
  expect_refused(profile("hif4/gcc-sr"), stack("fallback"), "same random word", "without stochastic rounding");
}

TEST(CorrectionRules, MacroBlocks) {
  expect_refused(profile("mxfp4/ocp"), stack("mbs"), "rceil keeps without clipping", "mxfp4/rceil");
  expect_refused(profile("mxfp4/torchao-2026-08-rceil"), stack("mbs"), "exact scale rule rceil", "mxfp4/rceil");
  expect_refused(profile("mxfp4/rceil"), stack("mbs-divide"), "exact scale rule even absorbs", "mxfp4/even");
  expect_refused(profile("mxfp4/torchao-2026-08-even"), stack("mbs-divide"), "exact scale rule even", "mxfp4/even");
  expect_refused(profile("hif4/gcc"), stack("mbs"), "refines a power-of-two scale", "an MX profile");
  expect_refused(profile("nvfp4/direct"), stack("mbs+resq"), "refines a power-of-two scale", "an MX profile");
  CorrectionStack s = stack("mbs-32");
  s.tile = 64;
  expect_refused(profile("mxfp4/rceil"), s, "a macro block holds whole blocks", "smaller tile");
  s = stack("mbs");
  s.macro.size = 96;
  expect_refused(profile("mxfp4/rceil"), s, "32, 64 or 128", "choose");
}

TEST(CorrectionRules, ThreeQuarters) {
  expect_refused(profile("mxfp4/rceil"), stack("three-quarters"), "floor would clip", "mxfp4/ocp");
  expect_refused(profile("mxfp4/torchao-2026-08-ceil"), stack("three-quarters-rn"), "floor would clip", "mxfp4/ocp");
  expect_refused(profile("mxfp4/ggml"), stack("three-quarters-rn"), "exact scale rule floor", "mxfp4/ocp");
  expect_refused(profile("hif4/gcc"), stack("three-quarters"), "only MX has one", "an MX profile");
  CorrectionStack s = stack("mbs");
  s.three_quarters = true;
  expect_refused(profile("mxfp4/ocp"), s, "need different scale rules", "one of the two");
}

TEST(CorrectionRules, Tiles) {
  expect_refused(profile("hif4/gcc"), stack("tile-32"), "hif4-2d", "an MX profile");
  expect_refused(profile("nvfp4/direct"), stack("tile-16"), "no tiles", "an MX profile");
  CorrectionStack s = stack("tile-32");
  s.tile = 24;
  expect_refused(profile("mxfp4/ocp"), s, "8, 16, 32 or 64", "choose");
}

TEST(CorrectionRules, Hadamard) {
  expect_refused(profile("mxfp4-2d/rceil"), stack("hadamard-16"), "runs along K alone", "1D profile");
  expect_refused(profile("hif4-2d/gcc"), stack("hadamard-64"), "runs along K alone", "1D profile");
  CorrectionStack s = stack("hadamard-16");
  s.tile = 32;
  expect_refused(profile("mxfp4/ocp"), s, "invariant under transposition", "without tiles");
  s = stack("hadamard-16");
  s.hadamard.size = 32;
  expect_refused(profile("mxfp4/ocp"), s, "size 16 or 64", "choose");
}

TEST(CorrectionRules, ResidualNumbers) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float alpha : {0.0F, -0.0F, nan, infinity, -infinity}) {
    CorrectionStack s = stack("fallback");
    s.residual.alpha = alpha;
    expect_refused(profile("mxfp4/ocp"), s, "alpha must be finite and not zero", "1 or 0.5");
  }
  for (const float fraction : {0.0F, -0.5F, 1.0001F, nan}) {
    for (const char* name : {"resq-channels", "resq-tiles", "rfq-max"}) {
      CorrectionStack s = stack(name);
      s.residual.fraction = fraction;
      expect_refused(profile("mxfp4/ocp"), s, "must lie in (0, 1]", "0.5");
    }
  }
  for (const float threshold : {-1.0F, nan}) {
    CorrectionStack s = stack("rfq-theta");
    s.residual.threshold = threshold;
    expect_refused(profile("mxfp4/ocp"), s, "must not be negative or NaN", "choose");
  }
  for (const char* name : {"rfq-max", "rfq-theta"}) {
    CorrectionStack s = stack(name);
    s.residual.tile_cols = 0;
    expect_refused(profile("mxfp4/ocp"), s, "at least one row and one column", "64x64");
  }
  // What the mask does not use is not asked for.
  CorrectionStack s = stack("resq");
  s.residual.fraction = 0.0F;
  s.residual.tile_rows = 0;
  s.residual.threshold = nan;
  EXPECT_TRUE(check_stack(profile("mxfp4/ocp"), s).ok());
}

TEST(CorrectionRules, ProfilesThatScreenTheirInput) {
  Profile refuses_nan = profile("mxfp4/ocp");
  refuses_nan.nan = NanPolicy::error;
  Profile refuses_inf = profile("mxfp4/ocp");
  refuses_inf.inf = InfPolicy::error;
  Profile flushes = profile("mxfp4/ocp");
  flushes.tiny = TinyPolicy::flush_inputs;
  for (const Profile& p : {refuses_nan, refuses_inf, flushes, profile("mxfp4/triton-round-up"),
                           profile("mxfp4/triton-round-down"), profile("hif4/pto-a6")}) {
    for (const char* name : {"resq", "hadamard-16"}) {
      expect_refused(p, stack(name), "other numbers than the quantizer", "choose a profile without");
    }
    EXPECT_TRUE(check_stack(p, stack("none")).ok());
    EXPECT_TRUE(check_stack(p, stack("sr")).ok());
  }
  expect_refused(flushes, stack("three-quarters"), "other numbers than the quantizer", "choose a profile without");
  Profile rceil = profile("mxfp4/rceil");
  rceil.nan = NanPolicy::scale_zero;
  expect_refused(rceil, stack("mbs"), "other numbers than the quantizer", "choose a profile without");
}

TEST(CorrectionRules, HadamardOnATensor) {
  const std::vector<float> values(2 * 40, 1.0F);
  const std::int64_t shape[] = {2, 40};
  const auto refused =
      correct(profile("mxfp4/ocp"), stack("hadamard-16"), view_of(values, shape), {.quantize = {.tail = Tail::pad}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("length 40 is no multiple of the Hadamard size 16"), std::string::npos)
      << refused.error().message;
}

TEST(CorrectionRules, EveryNamedStackWorksOnEveryProfileOrIsRefusedWithAReason) {
  const std::vector<float> values = mixed_values(64 * 64, 3);
  const std::int64_t shape[] = {64, 64};
  int works = 0;
  int refused = 0;
  for (const Profile& p : profiles()) {
    for (const CorrectionStack& s : correction_stacks()) {
      const auto checked = check_stack(p, s);
      const auto corrected = correct(p, s, view_of(values, shape));
      ASSERT_EQ(checked.ok(), corrected.ok()) << s.name << " on " << p.name;
      if (corrected.ok()) {
        ++works;
        EXPECT_EQ(dequantize(*corrected).size(), values.size());
        EXPECT_EQ(corrected->residual.has_value(), s.residual.is_on());
        EXPECT_EQ(corrected->first.macro.size(),
                  s.macro.is_on() ? 64U * static_cast<std::size_t>(macro_blocks_per_row(s.macro, 64)) : 0U);
      } else {
        ++refused;
        EXPECT_EQ(corrected.error().kind, ErrorKind::usage);
        EXPECT_NE(corrected.error().message.find("choose"), std::string::npos) << corrected.error().message;
      }
    }
  }
  EXPECT_GT(works, 500);
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace fp4proof::portable
