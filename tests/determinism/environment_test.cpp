// The environment check accepts a sound environment, refuses each way of breaking it, and says which.
#include "reference/portable/environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <string>
#include <vector>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace fp4proof::portable {
namespace {

std::vector<std::string> broken_claims() {
  std::vector<std::string> claims;
  for (const Canary& canary : environment_canaries()) {
    if (!canary.holds) claims.emplace_back(canary.claim);
  }
  return claims;
}

class Environment : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(std::fegetenv(&sound_), 0); }
  void TearDown() override { ASSERT_EQ(std::fesetenv(&sound_), 0); }

 private:
  std::fenv_t sound_;
};

TEST_F(Environment, SoundIsAccepted) {
  EXPECT_TRUE(check_environment().ok());
  EXPECT_EQ(broken_claims(), std::vector<std::string>{});
}

TEST_F(Environment, EveryDirectedRoundingModeIsRefused) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const Result<void> checked = check_environment();
    ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
    ASSERT_FALSE(checked.ok()) << "rounding mode " << mode;
    EXPECT_EQ(checked.error().kind, ErrorKind::internal);
    EXPECT_NE(checked.error().message.find("round to nearest"), std::string::npos) << checked.error().message;
  }
}

#if defined(__SSE__)
constexpr unsigned flush_to_zero = 0x8000;
constexpr unsigned denormals_are_zero = 0x0040;

TEST_F(Environment, FlushToZeroIsRefused) {
  _mm_setcsr(_mm_getcsr() | flush_to_zero);
  EXPECT_EQ(broken_claims(), std::vector<std::string>{"subnormal results are kept"});
  EXPECT_FALSE(check_environment().ok());
}

TEST_F(Environment, DenormalsAreZeroIsRefused) {
  _mm_setcsr(_mm_getcsr() | denormals_are_zero);
  EXPECT_EQ(broken_claims(), std::vector<std::string>{"subnormal inputs are kept"});
  EXPECT_FALSE(check_environment().ok());
}

TEST_F(Environment, TheMessageTellsHowToMend) {
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
  const std::string message = check_environment().error().message;
  EXPECT_NE(message.find("FTZ"), std::string::npos) << message;
  EXPECT_NE(message.find("DAZ"), std::string::npos) << message;
  ASSERT_NE(message.find("fesetenv(FE_DFL_ENV)"), std::string::npos) << message;
  std::fesetenv(FE_DFL_ENV);
  EXPECT_TRUE(check_environment().ok()) << "the remedy that the message names does not work";
}
#endif

}  // namespace
}  // namespace fp4proof::portable
