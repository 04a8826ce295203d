// Kernels with randomness of their own: right ones pass, each way of being wrong is found.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/runners/reference_subject.h"
#include "conformance/suite/make_table.h"
#include "conformance/verdict/check.h"
#include "conformance/verdict/drawn_group.h"
#include "conformance/verdict/statistical.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"

namespace fp4proof {
namespace {

using nlohmann::json;

/// The word of element `index` of call `call`.
using Words = std::function<std::uint32_t(std::uint64_t call, std::uint64_t index)>;

std::uint32_t fresh(std::uint64_t call, std::uint64_t index) {
  return random_word(42, Stream::sr_activation, static_cast<std::uint32_t>(call), index);
}

/// The reference with random words of its own in place of those it is given.
class OwnWords : public runners::ReferenceSubject {
 public:
  explicit OwnWords(Words words) : words_(std::move(words)) {}

  Result<runners::GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                                       const suite::CaseGroup& group) override {
    suite::CaseGroup own = group;
    if (suite::CaseTensor* random = own.find("random")) {
      for (std::size_t i = 0; i < random->bytes.size() / 4; ++i) {
        const std::uint32_t word = words_(call_, i);
        for (std::size_t b = 0; b < 4; ++b) random->bytes[4 * i + b] = static_cast<std::uint8_t>(word >> (8 * b));
      }
      ++call_;
    }
    Result<runners::GroupAnswers> answers = ReferenceSubject::answer(operation, profile, own);
    if (answers) spoil(group, *answers);
    return answers;
  }

  virtual void spoil(const suite::CaseGroup&, runners::GroupAnswers&) {}

 protected:
  Words words_;
  std::uint64_t call_ = 0;
};

/// Moves every sixteenth code by one, now and then.
class MovesExactValues : public OwnWords {
 public:
  MovesExactValues() : OwnWords(fresh) {}
  void spoil(const suite::CaseGroup& group, runners::GroupAnswers& answers) override {
    if (group.find("codes") == nullptr) return;
    for (std::size_t i = 0; i < answers.outputs[0].size(); i += 16)
      if (answers.outputs[0][i] == 0 && fresh(call_, i) % 64 == 0) answers.outputs[0][i] = 1;
  }
};

class WrongScale : public OwnWords {
 public:
  WrongScale() : OwnWords(fresh) {}
  void spoil(const suite::CaseGroup&, runners::GroupAnswers& answers) override { ++answers.outputs[1][0]; }
};

json summary_of(runners::Subject& subject, const char* profile_name = "mxfp4/rceil-sr", const char* set = "smoke") {
  const SharedProfile profile(SharedProfile(), find_profile(profile_name));
  const Result<suite::CaseTable> questions =
      suite::make_questions(*suite::find_set(set), suite::Operation::quantize, profile);
  EXPECT_TRUE(questions.ok());
  const Result<verdict::StatisticalTable> table = verdict::test_stochastic_rounding(
      subject, *profile, *questions, suite::class_entries(), verdict::StatisticalPlan{.repetitions = 128}, 1e-9);
  EXPECT_TRUE(table.ok());
  EXPECT_TRUE(table->fault.empty());
  return table->summary;
}

/// The alarms in one text.
std::string alarms_of(runners::Subject& subject, const char* profile = "mxfp4/rceil-sr") {
  const json summary = summary_of(subject, profile);
  std::string text;
  for (const json& alarm : summary["alarms"]) text += alarm.get<std::string>() + "\n";
  return text;
}

std::string alarms_of(Words words) {
  OwnWords subject(std::move(words));
  return alarms_of(subject);
}

TEST(Statistical, RightKernelsRaiseNoAlarm) {
  for (const char* profile : {"mxfp4/rceil-sr", "mxfp4/ocp-sr", "hif4/gcc-sr", "mxfp4/rceil-sr8"}) {
    OwnWords subject(fresh);
    const json summary = summary_of(subject, profile);
    EXPECT_TRUE(summary["alarms"].empty()) << profile << summary["alarms"].dump();
    EXPECT_GT(summary["elements"], 500) << profile;
    EXPECT_EQ(summary["draws"], summary["elements"].get<int>() * 128);
  }
}

TEST(Statistical, OurRandomWordsAreRightToo) {
  runners::ReferenceSubject subject;
  EXPECT_EQ(alarms_of(subject), "");
}

TEST(Statistical, FewerRandomBitsThanStatedGoUnnoticed) {
  EXPECT_EQ(alarms_of([](auto call, auto index) { return fresh(call, index) & 0xFFFF0000U; }), "");
}

TEST(Statistical, AlwaysDown) {
  EXPECT_NE(alarms_of([](auto, auto) { return 0U; }).find("do not go up with their fraction"), std::string::npos);
}

TEST(Statistical, AlwaysUp) {
  EXPECT_NE(alarms_of([](auto, auto) { return 0xFFFFFFFFU; }).find("do not go up with their fraction"),
            std::string::npos);
}

/// Fractions about a half go up an eighth too often: no element shows it, the sums do.
TEST(Statistical, Biased) {
  const std::string alarms = alarms_of([](auto call, auto index) {
    const std::uint32_t word = fresh(call, index);
    return word >= 0x60000000U && word < 0xA0000000U ? 0xA0000000U : word;
  });
  EXPECT_NE(alarms.find("biased"), std::string::npos) << alarms;
  EXPECT_EQ(alarms.find("share randomness"), std::string::npos) << alarms;
  EXPECT_EQ(alarms.find("do not go up with their fraction"), std::string::npos) << alarms;
}

TEST(Statistical, OneRandomWordForAllElements) {
  const std::string alarms = alarms_of([](auto call, auto) { return fresh(call, 0); });
  EXPECT_NE(alarms.find("elements 1 apart share randomness"), std::string::npos) << alarms;
}

TEST(Statistical, OneRandomWordForTwoElements) {
  const std::string alarms = alarms_of([](auto call, auto index) { return fresh(call, index / 2); });
  EXPECT_NE(alarms.find("elements 1 apart share randomness"), std::string::npos) << alarms;
}

TEST(Statistical, TheSameWordsInEveryBlock) {
  const std::string alarms = alarms_of([](auto call, auto index) { return fresh(call, index % 32); });
  EXPECT_NE(alarms.find("elements 32 apart share randomness"), std::string::npos) << alarms;
}

TEST(Statistical, TheSameWordsInEveryCall) {
  const std::string alarms = alarms_of([](auto, auto index) { return fresh(0, index); });
  EXPECT_NE(alarms.find("calls share randomness"), std::string::npos) << alarms;
}

TEST(Statistical, ExactValuesThatMove) {
  MovesExactValues subject;
  EXPECT_NE(alarms_of(subject).find("that codes stand for moved"), std::string::npos);
}

TEST(Statistical, WrongScales) {
  WrongScale subject;
  EXPECT_NE(alarms_of(subject).find("wrong scales"), std::string::npos);
}

TEST(Statistical, RoundingToNearest) {
  EXPECT_NE(alarms_of([](auto, auto) { return 0x80000000U; }).find("do not go up with their fraction"),
            std::string::npos);
}

/// The probability of 2.5 between the codes of 2 and 3 is a half, of 2.25 a quarter.
TEST(Statistical, ProbabilitiesAreFractions) {
  const Profile& profile = *find_profile("mxfp4/rceil-sr");
  suite::GroupSpec spec;
  spec.columns = 32;
  Result<std::vector<suite::CaseTensor>> tensors = suite::group_tensors(suite::Operation::quantize, profile, spec);
  ASSERT_TRUE(tensors.ok());
  suite::CaseGroup group{spec, {1}, {0}, std::move(*tensors)};
  std::vector<float> values(32, 0.0F);
  values[0] = 6.0F;
  values[1] = 2.5F;
  values[2] = -2.25F;
  values[3] = 2.0F;
  values[31] = 0.125F;
  group.find("input")->bytes = copy_elements<std::uint8_t>(bytes_of(values));
  group.find("random")->bytes.assign(128, 0);
  const Result<verdict::DrawnGroup> drawn = verdict::DrawnGroup::prepare(profile, group, 1);
  ASSERT_TRUE(drawn.ok());
  const std::vector<verdict::DrawnElement>& elements = drawn->elements();
  ASSERT_EQ(elements.size(), 32U);
  EXPECT_FALSE(elements[0].is_drawn());
  EXPECT_EQ(std::pair(elements[1].low, elements[1].high), std::pair(std::uint8_t{4}, std::uint8_t{5}));
  EXPECT_EQ(elements[1].probability, 0.5);
  EXPECT_EQ(std::pair(elements[2].low, elements[2].high), std::pair(std::uint8_t{12}, std::uint8_t{13}));
  EXPECT_EQ(elements[2].probability, 0.25);
  EXPECT_FALSE(elements[3].is_drawn());
  EXPECT_EQ(elements[31].probability, 0.25);
}

/// Through check(): the verdict is STATISTICAL, and without the plan the same subject fails.
TEST(Statistical, VerdictOfARun) {
  const runners::CaseSource cases = runners::CaseSource::named(*suite::find_set("smoke"));
  verdict::CheckRequest request;
  request.facts = {"python", "", ""};
  request.cases = &cases;
  request.profiles = {SharedProfile(SharedProfile(), find_profile("mxfp4/rceil-sr"))};
  request.diagnose = false;
  request.operation = suite::Operation::quantize;
  const auto outcome = [&](Words words) {
    OwnWords subject(std::move(words));
    request.subject = &subject;
    Result<verdict::CheckOutcome> checked = verdict::check(request);
    EXPECT_TRUE(checked.ok());
    return std::move(checked->document);
  };
  EXPECT_EQ(outcome(fresh)["verdict"], "FAIL");
  request.statistical = verdict::StatisticalPlan{.repetitions = 64};
  const json right = outcome(fresh);
  EXPECT_EQ(right["verdict"], "STATISTICAL");
  EXPECT_EQ(right["exit_code"], 0);
  EXPECT_GT(right["tally"]["passed"], 0);
  EXPECT_NE(verdict::report_text(right).find("STATISTICAL"), std::string::npos);
  const json wrong = outcome([](auto, auto) { return 0U; });
  EXPECT_EQ(wrong["verdict"], "FAIL");
  EXPECT_EQ(wrong["exit_code"], 1);
}

}  // namespace
}  // namespace fp4proof
