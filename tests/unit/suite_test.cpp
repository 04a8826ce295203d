// Case classes and the tables that the sets take from them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "conformance/suite/make_table.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/suite/vector_set.h"
#include "formats/scale_codes.h"
#include "formats/spec_profiles.h"

namespace fp4proof::suite {
namespace {

SharedProfile shared(const Profile& profile) { return {SharedProfile(), &profile}; }
SharedProfile shared(std::string_view name) { return shared(*find_profile(name)); }

CaseTable questions(std::string_view set, Operation operation, std::string_view profile) {
  Result<CaseTable> table = make_questions(*find_set(set), operation, shared(profile));
  EXPECT_TRUE(table.ok());
  return std::move(*table);
}

std::set<std::string> classes_in(const CaseTable& table) {
  std::set<std::string> names;
  for (const CaseGroup& group : table.groups) {
    for (const std::uint16_t index : group.classes) names.emplace(case_classes()[index].name);
  }
  return names;
}

TEST(CaseClasses, AreNamedAndSayWhichBugTheyCatch) {
  std::set<std::string_view> names;
  for (const CaseClass& of_class : case_classes()) {
    EXPECT_TRUE(names.insert(of_class.name).second) << of_class.name;
    EXPECT_EQ(of_class.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
    EXPECT_GT(of_class.bug.size(), 20U) << of_class.name;
    EXPECT_EQ(of_class.bug.back(), '.') << of_class.name;
    EXPECT_EQ(find_class(of_class.name), &of_class);
  }
  EXPECT_EQ(find_class("no-such-class"), nullptr);
}

TEST(CaseClasses, StandInTheManual) {
  std::ifstream in(std::string(FP4PROOF_SOURCE_DIR) + "/docs/case-classes.md");
  const std::string manual(std::istreambuf_iterator<char>(in), {});
  for (const CaseClass& of_class : case_classes()) {
    const std::string row = "| `" + std::string(of_class.name) + "` | " + std::string(of_class.bug) + " |";
    EXPECT_NE(manual.find(row), std::string::npos) << row;
  }
}

TEST(CaseClasses, EachHasCasesForSomeProfile) {
  for (const CaseClass& of_class : case_classes()) {
    std::size_t cases = 0;
    for (const Profile& profile : profiles()) {
      if (profile.block.is_2d() && of_class.name != "transposed-pairs") continue;
      if (!of_class.applies(profile)) continue;
      cases += of_class.make({profile, Level::full, 4, suite_seed, class_step(of_class.name)}).size();
      if (cases != 0) break;
    }
    EXPECT_GT(cases, 0U) << of_class.name;
  }
}

TEST(CaseClasses, QuickHasEveryClassButTheExhaustiveOnes) {
  std::set<std::string> present;
  for (const Operation operation : operations) {
    for (const Profile* profile : distinct_profiles(operation)) {
      const std::set<std::string> names = classes_in(questions("quick", operation, profile->name));
      present.insert(names.begin(), names.end());
    }
  }
  const std::set<std::string_view> full_only = {"every-bf16-maximum", "decompose-long"};
  for (const CaseClass& of_class : case_classes()) {
    EXPECT_EQ(present.contains(std::string(of_class.name)), !full_only.contains(of_class.name)) << of_class.name;
  }
}

TEST(CaseClasses, EveryDistinctRuleHasCasesInSmoke) {
  for (const Operation operation : operations) {
    for (const Profile* profile : distinct_profiles(operation)) {
      const bool asked = is_asked_of(operation, *profile);
      EXPECT_EQ(questions("smoke", operation, profile->name).case_count() > 0U, asked) << profile->name;
      EXPECT_TRUE(asked || operation >= Operation::correct) << profile->name;
    }
  }
}

TEST(CaseClasses, LevelsGrow) {
  for (const std::string_view profile : {"mxfp4/ocp", "hif4/gcc", "nvfp4/direct", "mxfp8-e4m3/ocp", "mxfp4/rceil-sr"}) {
    const std::size_t smoke = questions("smoke", Operation::quantize, profile).case_count();
    const std::size_t quick = questions("quick", Operation::quantize, profile).case_count();
    const std::size_t full = questions("full", Operation::quantize, profile).case_count();
    EXPECT_LT(3 * smoke, quick) << profile;
    EXPECT_LT(10 * quick, full) << profile;
  }
}

TEST(CaseClasses, RepeatToTheBit) {
  for (const std::string_view profile : {"mxfp4/rceil-sr8", "hif4/gcc", "nvfp4/tensor-scale"}) {
    const CaseTable once = questions("quick", Operation::quantize, profile);
    const CaseTable again = questions("quick", Operation::quantize, profile);
    ASSERT_EQ(once.groups.size(), again.groups.size());
    for (std::size_t g = 0; g < once.groups.size(); ++g) {
      EXPECT_EQ(once.groups[g].ids, again.groups[g].ids);
      EXPECT_EQ(once.groups[g].classes, again.groups[g].classes);
      for (std::size_t t = 0; t < once.groups[g].tensors.size(); ++t) {
        EXPECT_EQ(once.groups[g].tensors[t].bytes, again.groups[g].tensors[t].bytes);
      }
    }
  }
}

TEST(CaseClasses, NoQuestionTwice) {
  for (const std::string_view profile : {"mxfp4/ocp", "hif4/exact", "mxfp4/microxcaling-python"}) {
    std::set<std::uint64_t> ids;
    const CaseTable table = questions("full", Operation::quantize, profile);
    for (const CaseGroup& group : table.groups) ids.insert(group.ids.begin(), group.ids.end());
    EXPECT_EQ(ids.size(), table.case_count()) << profile;
  }
}

/// The block maxima of a class must reach scale codes at both ends, whatever the rule.
TEST(CaseClasses, ScalesReachBothEnds) {
  for (const std::string_view profile : {"mxfp4/ocp", "mxfp4/rceil", "mxfp8-e5m2/ocp", "mxfp8-e4m3/rceil"}) {
    const Result<CaseTable> table = make_table(*find_set("quick"), Operation::quantize, shared(profile));
    ASSERT_TRUE(table.ok());
    std::set<int> scales;
    for (const CaseGroup& group : table->groups) {
      for (const std::uint8_t scale : group.find("scales")->bytes) scales.insert(scale);
    }
    const int emax = element_spec(find_profile(profile)->element).emax;
    for (const int code : {0, 1, 254 - emax - 1, 255}) EXPECT_TRUE(scales.contains(code)) << profile << " " << code;
  }
}

/// Every element code appears, and for HiF4 every code under every sum of micro-exponents.
TEST(CaseClasses, EveryElementCodeAppears) {
  const Result<CaseTable> table = make_table(*find_set("quick"), Operation::quantize, shared("hif4/gcc"));
  ASSERT_TRUE(table.ok());
  const CaseGroup& group = table->groups.front();
  std::set<std::pair<int, int>> seen;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Bytes codes = group.find("codes")->of_case(i);
    const Bytes scales = group.find("scales")->of_case(i);
    for (std::size_t e = 0; e < 64; ++e) {
      const int code = codes[e / 2] >> (4 * (e % 2)) & 15;
      const int levels = (scales[1] >> (e / 8) & 1) + (scales[2 + e / 32] >> (e / 4 % 8) & 1);
      seen.emplace(code, levels);
    }
  }
  EXPECT_EQ(seen.size(), 16U * 3U);
}

/// How many elements of a class miss a tie that their binary32 rounding hits; `scaled` gives the exact scaled value.
int traps_in(const CaseTable& table, std::string_view class_name,
             const std::function<double(const CaseGroup&, std::size_t index, std::size_t element)>& scaled) {
  const ElementSpec spec = element_spec(table.profile->element);
  int traps = 0;
  for (const CaseGroup& group : table.groups) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (case_classes()[group.classes[i]].name != class_name) continue;
      for (std::size_t e = 0; e < static_cast<std::size_t>(group.spec.columns); ++e) {
        const double value = scaled(group, i, e);
        const double twice = 2.0 * double{static_cast<float>(value)} * (1 << spec.mantissa_bits);
        const bool on_half_step = twice == std::floor(twice) && std::fmod(twice, 2.0) == 1.0 && twice < 8.0;
        if (on_half_step && double{static_cast<float>(value)} != value) ++traps;
      }
    }
  }
  return traps;
}

double magnitude_at(const CaseGroup& group, std::size_t index, std::size_t element) {
  const auto words = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
  return std::fabs(double{float_from_bits(words[element])});
}

TEST(CaseClasses, AskNothingThatTheProfileRefuses) {
  auto lenient = std::make_shared<Profile>(*find_profile("hif4/pto-a6"));
  lenient->name = "mine";
  auto strict = std::make_shared<Profile>(*lenient);
  strict->nan = NanPolicy::error;
  strict->inf = InfPolicy::error;
  const Result<CaseTable> table = make_table(*find_set("quick"), Operation::quantize, strict);
  ASSERT_TRUE(table.ok()) << table.error().message;
  const Result<CaseTable> all = make_table(*find_set("quick"), Operation::quantize, lenient);
  ASSERT_TRUE(all.ok()) << all.error().message;
  const std::size_t others = all->case_count();
  EXPECT_LT(table->case_count(), others);
  EXPECT_GT(table->case_count(), others / 2);
}

TEST(CaseClasses, DoubleRoundingTrapsAreTraps) {
  const Result<CaseTable> hif4 = make_table(*find_set("quick"), Operation::quantize, shared("hif4/gcc"));
  ASSERT_TRUE(hif4.ok());
  EXPECT_GT(traps_in(*hif4, "double-rounding-fp32",
                     [](const CaseGroup& group, std::size_t index, std::size_t element) {
                       const Bytes scales = group.find("scales")->of_case(index);
                       const Magnitude reciprocal = e6m2_reciprocal_bf16(scales[0]);
                       const int levels =
                           (scales[1] >> (element / 8) & 1) + (scales[2 + element / 32] >> (element / 4 % 8) & 1);
                       return magnitude_at(group, index, element) *
                              std::ldexp(static_cast<double>(reciprocal.significand), reciprocal.exponent - levels);
                     }),
            20);
  const Result<CaseTable> nvfp4 = make_table(*find_set("quick"), Operation::quantize, shared("nvfp4/tensor-scale"));
  ASSERT_TRUE(nvfp4.ok());
  EXPECT_GT(traps_in(*nvfp4, "nvfp4-tensor-scale-ties",
                     [](const CaseGroup& group, std::size_t index, std::size_t element) {
                       const Bytes scales = group.find("scales")->of_case(index);
                       const float tensor = copy_elements<float>(group.find("tensor_scale")->of_case(index)).front();
                       const double scale = double{decode_e4m3_scale(scales[element / 16])} * double{tensor};
                       return magnitude_at(group, index, element) / scale;
                     }),
            20);
}

TEST(SharedRules, AliasesAreTheSameRule) {
  const auto alias_set = [](Operation operation, std::string_view profile) {
    const std::vector<std::string_view> names = aliases(operation, *find_profile(profile));
    return std::set<std::string_view>(names.begin(), names.end());
  };
  EXPECT_TRUE(alias_set(Operation::quantize, "mxfp4/rceil").contains("mxfp4/truncation-free"));
  EXPECT_TRUE(alias_set(Operation::quantize, "mxfp4/ocp").contains("mxfp4/torchao-2026-08-floor"));
  EXPECT_FALSE(alias_set(Operation::quantize, "mxfp4/rceil").contains("mxfp4/torchao-2026-08-rceil"));
  EXPECT_TRUE(alias_set(Operation::dequantize, "mxfp4/ocp").contains("mxfp4/rceil-sr"));
  EXPECT_FALSE(alias_set(Operation::dequantize, "mxfp4/ocp").contains("nvfp4/direct"));
  EXPECT_TRUE(alias_set(Operation::gemm, "hif4/gcc").contains("hif4-2d/amct"));
  EXPECT_EQ(representative(Operation::quantize, *find_profile("mxfp4/truncation-free")).name, "mxfp4/rceil");
  EXPECT_FALSE(same_rule(Operation::quantize, *find_profile("mxfp4/rceil-sr"), *find_profile("mxfp4/rceil-sr16")));
}

TEST(SharedRules, EveryProfileHasCasesUnderSomeName) {
  for (const Operation operation : operations) {
    std::map<std::string_view, int> places;
    for (const Profile* profile : distinct_profiles(operation)) {
      ++places[profile->name];
      for (const std::string_view alias : aliases(operation, *profile)) ++places[alias];
    }
    for (const Profile& profile : profiles()) EXPECT_EQ(places[profile.name], 1) << profile.name;
  }
}

/// The id of an all-zero block, from the sha256 program and not from this one:
/// (printf 'fp4proof-case/1\nquantize\nmxfp4/ocp\n1x32\n'; head -c 128 /dev/zero) | sha256sum
TEST(CaseId, IsTheDigestOfTheQuestion) {
  const CaseTable table = questions("smoke", Operation::quantize, "mxfp4/ocp");
  const CaseGroup& group = table.groups.front();
  ASSERT_EQ(group_name(group.spec), "1x32");
  bool found = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Bytes input = group.find("input")->of_case(i);
    if (!std::ranges::all_of(input, [](std::uint8_t byte) { return byte == 0; })) continue;
    EXPECT_EQ(id_text(group.ids[i]), "d948dcb79fd91674");
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST(CaseId, DependsOnOperationProfileAndShape) {
  std::set<std::uint64_t> ids;
  for (const std::string_view profile : {"mxfp4/ocp", "mxfp4/ceil", "mxfp4/rceil"}) {
    const CaseTable table = questions("smoke", Operation::quantize, profile);
    ids.insert(table.groups.front().ids.front());
  }
  EXPECT_EQ(ids.size(), 3U);
}

TEST(GroupName, TellsShapesApart) {
  GroupSpec spec;
  spec.rows = 3;
  spec.columns = 45;
  spec.tail = portable::Tail::pad;
  EXPECT_EQ(group_name(spec), "3x45-pad");
  spec.axis = 0;
  EXPECT_EQ(group_name(spec), "3x45-axis0-pad");
  GroupSpec gemm;
  gemm.rows = 2;
  gemm.other_rows = 3;
  gemm.columns = 64;
  gemm.accumulator = "seq512";
  EXPECT_EQ(group_name(gemm), "2x3x64-seq512");
}

}  // namespace
}  // namespace fp4proof::suite
