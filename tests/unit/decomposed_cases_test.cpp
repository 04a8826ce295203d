// What the errors of wrong answers consist of, as reports have it.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suite/make_table.h"
#include "conformance/verdict/decomposed_cases.h"
#include "conformance/verdict/statistical.h"
#include "formats/spec_profiles.h"
#include "reference/portable/decompose.h"

namespace fp4proof {
namespace {

using nlohmann::json;
using suite::CaseGroup;
using suite::CaseTable;
using suite::Operation;
using verdict::DecomposedCases;

SharedProfile shared(const char* name) { return {SharedProfile(), find_profile(name)}; }

/// Shows an answer to a case as a wrong one.
void show(DecomposedCases& decomposed, const CaseTable& table, std::size_t index, std::span<const Bytes> actual) {
  verify::TableReport report;
  report.operation = table.operation;
  report.profile = table.profile;
  const std::optional<verify::Finding> finding = verify::Finding{};
  decomposed.saw({table, table.groups[0], index, actual, finding, report});
}

/// The case of one block of mxfp4/ocp that all of this file's numbers are worked out for. The largest magnitude is 6,
/// so the floor scale is the ideal one, 1. |x|^2 = 36 + 2 * 2.25^2 + 8 / 64 + 16 + 1 + 3 / 4 = 64. 2.25 becomes 2,
/// twice: grid 2 / 16 over 64. 1/8 becomes 0, eight times: deadzone 8 / 64 over 64.
struct HandBlock {
  CaseTable table;
  std::vector<std::uint8_t> scales = {127};

  explicit HandBlock(const char* profile = "mxfp4/ocp", std::uint64_t first = 0) {
    table.operation = Operation::quantize;
    table.profile = shared(profile);
    CaseGroup group;
    group.spec.columns = 32;
    group.ids = {1};
    group.classes = {0};
    group.first = first;
    group.tensors = *suite::group_tensors(Operation::quantize, *table.profile, group.spec);
    put(group, "input", words());
    put(group, "codes", codes());
    put(group, "scales", scales);
    table.groups.push_back(std::move(group));
  }

  static void put(CaseGroup& group, std::string_view tensor, std::vector<std::uint8_t> bytes) {
    group.find(tensor)->bytes = std::move(bytes);
  }

  static std::vector<std::uint8_t> words(float first = 6.0F) {
    std::array<float, 32> x = {first, 2.25F, -2.25F, 4.0F, 1.0F, 0.5F, -0.5F, 0.5F};
    std::fill_n(x.begin() + 8, 8, 0.125F);
    const Bytes bytes = bytes_of(x);
    return {bytes.begin(), bytes.end()};
  }

  static std::vector<std::uint8_t> codes() {
    // 6 and 2; -2 and 4; 1 and 0.5; -0.5 and 0.5
    std::vector<std::uint8_t> bytes = {0x47, 0x6C, 0x12, 0x19};
    bytes.resize(16, 0);
    return bytes;
  }

  json answered(std::uint8_t scale, int times = 1) {
    DecomposedCases decomposed;
    for (int i = 0; i < times; ++i) answer(decomposed, scale);
    return decomposed.of_profile(table.profile->name);
  }

  void answer(DecomposedCases& decomposed, std::uint8_t scale) {
    const std::vector<std::uint8_t> answered_scales = {scale};
    const std::array<Bytes, 2> actual = {Bytes(table.groups[0].find("codes")->bytes), Bytes(answered_scales)};
    show(decomposed, table, 0, actual);
  }
};

json split(double error, double scale, double deadzone, double grid) {
  return {{"error", error}, {"scale", scale}, {"deadzone", deadzone}, {"grid", grid}};
}

const double floor_term = std::ldexp(1.0, -9);
const json right_split = split(2 * floor_term, 0.0, floor_term, floor_term);

TEST(DecomposedCases, ScaleOneHighIsAllScale) {
  // Q(x) = 2 Q*(x). |Q*|^2 = 36 + 2 * 4 + 16 + 1 + 3 / 4 = 61.75.
  // |e|^2 = 36 + 2 * (4 - 2.25)^2 + 8 / 64 + 16 + 1 + 3 / 4 = 60.
  const json expected = {{"cases", 1},
                         {"left_out", 0},
                         {"expected", right_split},
                         {"actual", split(60.0 / 64, 61.75 / 64, floor_term, floor_term)}};
  EXPECT_EQ(HandBlock().answered(128), expected);
}

TEST(DecomposedCases, ScaleOneLow) {
  // Q(x) = Q*(x) / 2, so |Q - Q*|^2 = 61.75 / 4. |e|^2 = 9 + 2 * 1.25^2 + 8 / 64 + 4 + 1 / 4 + 3 / 16 = 16.6875.
  EXPECT_EQ(HandBlock().answered(126)["actual"], split(16.6875 / 64, 61.75 / 256, floor_term, floor_term));
}

TEST(DecomposedCases, CasesAddUp) {
  const json found = HandBlock().answered(128, 3);
  EXPECT_EQ(found["cases"], 3);
  EXPECT_EQ(found["expected"], split(6 * floor_term, 0.0, 3 * floor_term, 3 * floor_term));
  EXPECT_EQ(found["actual"]["error"], 3 * 60.0 / 64);
}

TEST(DecomposedCases, ShardsGiveTheWhole) {
  HandBlock block;
  HandBlock::put(block.table.groups[0], "input", HandBlock::words(5.3F));  // shares that no binary64 number holds
  DecomposedCases whole;
  std::array<DecomposedCases, 3> parts;
  const std::array<std::uint8_t, 7> answers = {126, 255, 125, 128, 160, 124, 123};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    block.answer(whole, answers[i]);
    block.answer(parts[i % 3], answers[i]);
  }
  const auto of = [](const DecomposedCases& cases) { return cases.of_profile("mxfp4/ocp"); };
  const json merged = verdict::sum_of_decompositions(
      of(parts[2]), verdict::sum_of_decompositions(json::parse(of(parts[1]).dump()), of(parts[0])));
  EXPECT_EQ(merged.dump(), of(whole).dump());
  EXPECT_EQ(merged["cases"], 5);
  EXPECT_EQ(merged["left_out"], 2);
}

TEST(DecomposedCases, WhatHasNoSensibleShareIsLeftOut) {
  const json nothing = split(0.0, 0.0, 0.0, 0.0);
  const json left_out = {{"cases", 0}, {"left_out", 1}, {"expected", nothing}, {"actual", nothing}};
  EXPECT_EQ(HandBlock().answered(255), left_out) << "NaN scale";
  EXPECT_EQ(HandBlock().answered(254), left_out) << "infinite";
  // Four times Q*: |e|^2 is near 9 |x|^2, eight times: near 49 |x|^2.
  EXPECT_EQ(HandBlock().answered(129)["cases"], 1);
  EXPECT_EQ(HandBlock().answered(130), left_out) << "wild";
  HandBlock zeros;
  HandBlock::put(zeros.table.groups[0], "input", std::vector<std::uint8_t>(128, 0));
  EXPECT_EQ(zeros.answered(127), left_out);
  HandBlock not_a_number;
  HandBlock::put(not_a_number.table.groups[0], "input", HandBlock::words(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(not_a_number.answered(127), left_out);
}

TEST(DecomposedCases, WhatIsNotAsked) {
  HandBlock block;
  DecomposedCases decomposed;
  const std::array<Bytes, 2> right = {Bytes(block.table.groups[0].find("codes")->bytes), Bytes(block.scales)};
  const verify::TableReport report = {Operation::quantize, block.table.profile, {}, {}, 0, 0, 0, {}};
  const std::optional<verify::Finding> no_finding;
  decomposed.saw({block.table, block.table.groups[0], 0, right, no_finding, report});
  EXPECT_TRUE(decomposed.of_profile("mxfp4/ocp").is_null()) << "a right answer";
  EXPECT_TRUE(HandBlock("mxfp4/ocp-sr").answered(128).is_null()) << "stochastic";
  EXPECT_TRUE(HandBlock("mxfp4/ocp", verdict::most_decomposed_cases).answered(128).is_null()) << "beyond the bound";
  EXPECT_FALSE(HandBlock("mxfp4/ocp", verdict::most_decomposed_cases - 1).answered(128).is_null());
  block.table.operation = Operation::decompose;
  EXPECT_TRUE(block.answered(128).is_null()) << "another operation";
}

/// What the profile's own quantization of a case consists of.
portable::ErrorSplit own_split(const CaseTable& table, std::size_t index) {
  const CaseGroup& group = table.groups[0];
  const std::array<std::int64_t, 2> shape = {group.spec.rows, group.spec.columns};
  const auto words = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
  portable::QuantizeOptions options;
  options.axis = group.spec.axis;
  options.tail = group.spec.tail;
  const auto tensor = portable::TensorView{portable::DType::f32, shape, std::as_bytes(std::span(words)).data()};
  return portable::decompose(*table.profile, tensor, options).value();
}

TEST(DecomposedCases, AnswersAreReadRightUnderEveryProfile) {
  for (const Profile& profile : profiles()) {
    if (verdict::is_drawn(Operation::quantize, profile)) continue;
    CaseTable table = *suite::make_table(*suite::find_set("smoke"), Operation::quantize, {SharedProfile(), &profile});
    std::size_t compared = 0;
    for (const CaseGroup& group : std::vector<CaseGroup>(table.groups)) {
      table.groups = {group};
      for (std::size_t i = 0; i < group.size(); ++i) {
        std::vector<Bytes> answer;
        for (const suite::CaseTensor& tensor : group.tensors)
          if (tensor.expected) answer.push_back(tensor.of_case(i));
        DecomposedCases decomposed;
        show(decomposed, table, i, answer);
        const json found = decomposed.of_profile(profile.name);
        ASSERT_FALSE(found.is_null());
        ASSERT_EQ(found["expected"], found["actual"]);
        if (found["left_out"] == 1) continue;
        const portable::ErrorSplit own = own_split(table, i);
        ++compared;
        const double half_a_step = std::ldexp(1.0, -25);
        ASSERT_NEAR(found["actual"]["error"].get<double>(), own.error / own.value, half_a_step) << profile.name;
        ASSERT_NEAR(found["actual"]["scale"].get<double>(), own.scale / own.value, half_a_step) << profile.name;
        ASSERT_NEAR(found["actual"]["deadzone"].get<double>(), own.deadzone / own.value, half_a_step) << profile.name;
        ASSERT_NEAR(found["actual"]["grid"].get<double>(), own.grid / own.value, half_a_step) << profile.name;
      }
    }
    EXPECT_GT(compared, 0U) << profile.name;
  }
}

}  // namespace
}  // namespace fp4proof
