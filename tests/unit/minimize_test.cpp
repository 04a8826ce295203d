// The minimiser against kernels with one planted fault each: what is left must still fail in the same way, and nothing
// of it may be superfluous.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/minimize/atoms.h"
#include "conformance/minimize/find_failures.h"
#include "conformance/minimize/minimal_case.h"
#include "conformance/minimize/minimize_case.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/sets.h"
#include "formats/element.h"
#include "formats/spec_profiles.h"

namespace fp4proof::minimize {
namespace {

using runners::GroupAnswers;
using runners::SubjectReply;
using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;
using suite::Operation;

SharedProfile shared(std::string_view name) { return {SharedProfile(), find_profile(name)}; }

/// A kernel in this process.
class Kernel : public runners::Subject {
 public:
  /// Fills the outputs of the only group, or says what went wrong.
  using Run = std::function<std::string(CaseTable&)>;

  explicit Kernel(Run run) : run_(std::move(run)) {}
  Kernel(bool whole_blocks, Run run) : only_blocks(whole_blocks), run_(std::move(run)) {}

  SubjectReply open() override { return {SubjectReply::Kind::ok, {}}; }
  const runners::BackendDescription& description() const override { return description_; }
  SubjectReply supports(Operation operation, const Profile&, const CaseGroup& group) override {
    const bool is_offered = operation == offered && (!only_blocks || is_block_row(group.spec));
    if (is_offered) return {SubjectReply::Kind::ok, {}};
    return {SubjectReply::Kind::unsupported, "the kind counts, not this text"};
  }
  Result<GroupAnswers> answer(Operation operation, const Profile& profile, const CaseGroup& group) override {
    ++calls;
    CaseTable table;
    table.operation = operation;
    table.profile = SharedProfile(SharedProfile(), &profile);
    table.groups.push_back(group);
    GroupAnswers answers;
    answers.fault = run_(table);
    if (!answers.fault.empty()) return answers;
    for (const CaseTensor& tensor : table.groups.front().tensors)
      if (tensor.expected) answers.outputs.push_back(tensor.bytes);
    answers.differs.assign(group.size(), false);
    if (differs) {
      for (std::size_t i = 0; i < group.size(); ++i) answers.differs[i] = differs(group, i);
    }
    return answers;
  }
  runners::SessionEnd close() override {
    if (on_close) on_close();
    return {};
  }

  static bool is_block_row(const suite::GroupSpec& spec) {
    return spec.axis == 1 && spec.tail == portable::Tail::error && spec.columns % 32 == 0;
  }

  Operation offered = Operation::quantize;
  bool only_blocks = false;  ///< offers whole blocks along the columns alone
  std::function<bool(const CaseGroup&, std::size_t)> differs;
  std::function<void()> on_close;
  int calls = 0;

 private:
  Run run_;
  runners::BackendDescription description_{"kernel", "", "", 1};
};

/// The reference under a changed profile.
Kernel::Run under(const std::function<void(Profile&)>& change) {
  return [change](CaseTable& table) -> std::string {
    Profile other = *table.profile;
    change(other);
    const SharedProfile own = table.profile;
    table.profile = std::make_shared<Profile>(other);
    const Result<void> answered = suite::answer_by_reference(table);
    return answered ? std::string() : answered.error().message;
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// A naive MXFP4 kernel: floor, ties to even, written by enumeration.
// ---------------------------------------------------------------------------------------------------------------------

struct Naive {
  int scale_offset = 0;     ///< planted: added to the scale code of odd exponents
  bool ties_away = false;   ///< planted
  bool wraps = false;       ///< planted: values beyond 6 become 0
  double crashes_at = NAN;  ///< planted: an input of this value ends the kernel

  std::uint8_t code(double scaled, bool negative) const {
    constexpr std::array<double, 8> grid = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const std::uint8_t sign = negative ? 8 : 0;
    if (scaled > 6.0 && wraps) return sign;
    std::uint8_t best = 0;
    for (std::uint8_t c = 1; c < 8; ++c) {
      const double closer = std::abs(scaled - grid[c]) - std::abs(scaled - grid[best]);
      if (closer < 0 || (closer == 0 && (ties_away || c % 2 == 0))) best = c;
    }
    return static_cast<std::uint8_t>(sign | best);
  }

  std::string operator()(CaseTable& table) const {
    CaseGroup& group = table.groups.front();
    const auto input = copy_elements<float>(Bytes(group.find("input")->bytes));
    for (const float x : input)
      if (double{x} == crashes_at) return "in run() the plug-in was killed by signal 8 (SIGFPE)";
    auto& codes = group.find("codes")->bytes;
    auto& scales = group.find("scales")->bytes;
    codes.assign(input.size() / 2, 0);
    scales.assign(input.size() / 32, 0);
    for (std::size_t block = 0; block < scales.size(); ++block) {
      double largest = 0;
      bool is_nan = false;
      for (std::size_t i = 32 * block; i < 32 * (block + 1); ++i) {
        is_nan = is_nan || !std::isfinite(input[i]);
        largest = std::max(largest, std::abs(double{input[i]}));
      }
      const int exponent = largest == 0 ? -127 : std::ilogb(largest) - 2;
      const int offset = std::abs(exponent) % 2 == 1 ? scale_offset : 0;
      const int scale = std::clamp(exponent + 127 + offset, 0, 254);
      scales[block] = static_cast<std::uint8_t>(is_nan ? 255 : scale);
      if (is_nan) continue;
      for (std::size_t i = 32 * block; i < 32 * (block + 1); ++i) {
        const double scaled = std::ldexp(std::abs(double{input[i]}), 127 - scale);
        codes[i / 2] = static_cast<std::uint8_t>(codes[i / 2] | code(scaled, std::signbit(input[i])) << (4 * (i % 2)));
      }
    }
    return {};
  }
};

struct Minimized {
  std::vector<FoundCase> found;
  std::vector<Minimal> minimal;
};

Minimized minimize_all(Kernel& kernel, std::string_view profile, const std::string& class_name = {}) {
  static const runners::CaseSource quick = runners::CaseSource::named(*suite::find_set("smoke"));
  Search search;
  search.cases = &quick;
  search.profiles = {shared(profile)};
  search.class_name = class_name;
  search.operation = kernel.offered;
  Result<FoundCases> found = find_failures(kernel, search);
  EXPECT_TRUE(found.ok()) << found.error().message;
  Minimized all;
  for (const FoundCase& one : found->cases) {
    Judge judge(kernel, one.topic, {});
    Result<Minimal> minimal = minimize_case(judge, one.failure, one.question);
    EXPECT_TRUE(minimal.ok()) << minimal.error().message;
    all.minimal.push_back(std::move(*minimal));
    EXPECT_LT(judge.calls(), 600U) << to_text(one.failure);
  }
  all.found = std::move(found->cases);
  return all;
}

/// How the kernel fails a question that is asked without the minimiser.
std::optional<Failure> verdict_of(Kernel& kernel, const Topic& topic, const Question& question) {
  Result<CaseTable> table = table_of(topic, std::span(&question, 1));
  EXPECT_TRUE(table.ok());
  EXPECT_TRUE(suite::answer_by_reference(*table).ok());
  const auto answers = kernel.answer(topic.operation, *topic.profile, table->groups.front());
  if (!answers->fault.empty()) return failure_by_fault(answers->fault);
  const std::vector<Bytes> actual(answers->outputs.begin(), answers->outputs.end());
  const auto finding = verify::classify_case(*table, table->groups.front(), 0, actual, {});
  if (!finding) return std::nullopt;
  Failure failure;
  failure.finding = *finding;
  return failure;
}

/// The case still fails as it did, and with any one element zero it does not.
void expect_minimal(Kernel& kernel, const FoundCase& found, const Minimal& minimal, std::size_t most_nonzero) {
  const std::string what = to_text(found.failure);
  ASSERT_EQ(minimal.ending, Ending::minimal) << what;
  EXPECT_LE(minimal.nonzero, most_nonzero) << what;
  const auto verdict = verdict_of(kernel, found.topic, minimal.question);
  ASSERT_TRUE(verdict.has_value()) << what;
  EXPECT_TRUE(verdict->is_like(found.failure)) << what << ", now " << to_text(*verdict);
  const auto atoms = atoms_of(found.topic, minimal.question.spec);
  ASSERT_TRUE(atoms.ok());
  EXPECT_EQ(nonzero_elements(minimal.question, *atoms), minimal.nonzero);
  for (const Atom& atom : *atoms) {
    if (!atom.is_element() || value_of(minimal.question, atom) == 0) continue;
    Question zeroed = minimal.question;
    set_value(zeroed, atom, 0);
    const auto without = verdict_of(kernel, found.topic, zeroed);
    EXPECT_FALSE(without && without->is_like(found.failure)) << what << " needs no element " << atom.place;
  }
}

const Minimal* find(const Minimized& all, verify::Cause cause, std::string_view kind) {
  for (const Minimal& minimal : all.minimal)
    if (minimal.failure.finding.cause == cause && minimal.failure.finding.kind == kind) return &minimal;
  return nullptr;
}

void expect_all_minimal(Kernel& kernel, const Minimized& all, std::size_t most_nonzero) {
  for (std::size_t i = 0; i < all.found.size(); ++i) expect_minimal(kernel, all.found[i], all.minimal[i], most_nonzero);
}

std::vector<float> inputs_of(const Minimal& minimal) {
  return copy_elements<float>(Bytes(minimal.question.inputs.front()));
}

TEST(Minimize, LeavesARightKernelAlone) {
  Kernel kernel{true, Naive{}};
  EXPECT_TRUE(minimize_all(kernel, "mxfp4/ocp", "ties").found.empty());
  EXPECT_TRUE(minimize_all(kernel, "mxfp4/ocp", "grid").found.empty());
}

TEST(Minimize, BringsATieToOneValueBesideTheLargest) {
  Kernel kernel{true, Naive{.ties_away = true}};
  const Minimized all = minimize_all(kernel, "mxfp4/ocp", "ties");
  ASSERT_FALSE(all.minimal.empty());
  expect_all_minimal(kernel, all, 2);
  const Minimal* tie = find(all, verify::Cause::element, "tie");
  ASSERT_NE(tie, nullptr);
  EXPECT_EQ(tie->question.spec.rows, 1);
  EXPECT_EQ(tie->question.spec.columns, 32);
  // The only element below 1 that ties to even is the one between 0 and 0.5; alone it would be the largest.
  std::vector<float> values = inputs_of(*tie);
  for (float& value : values) EXPECT_FALSE(std::signbit(value));
  EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return v == 0.0F || v >= 0x1p-8F; }));
}

TEST(Minimize, BringsSaturationToOneValue) {
  Kernel kernel{true, Naive{.wraps = true}};
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  const Minimal* saturation = find(all, verify::Cause::element, "saturation");
  ASSERT_NE(saturation, nullptr);
  expect_all_minimal(kernel, all, 2);
  EXPECT_EQ(saturation->nonzero, 1U);
  EXPECT_GT(inputs_of(*saturation)[0], 0.0F) << "the one value comes first";
}

TEST(Minimize, BringsAScaleToOneValue) {
  Kernel kernel{true, Naive{.scale_offset = 1}};
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  const Minimal* scale = find(all, verify::Cause::scale, "scale-code");
  ASSERT_NE(scale, nullptr);
  expect_all_minimal(kernel, all, 2);
  EXPECT_EQ(scale->nonzero, 1U);
  // An odd exponent of the scale, nearest to 1, and nothing in the fraction.
  EXPECT_EQ(std::abs(std::ilogb(inputs_of(*scale)[0])), 1);
  EXPECT_EQ(float_bits(inputs_of(*scale)[0]) & 0x007FFFFFU, 0U);
}

TEST(Minimize, BringsACrashToTheValueThatCrashes) {
  Kernel kernel{true, Naive{.crashes_at = 3.0}};
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  ASSERT_EQ(all.minimal.size(), 1U);
  EXPECT_EQ(all.minimal[0].nonzero, 1U);
  EXPECT_EQ(inputs_of(all.minimal[0])[0], 3.0F);
  EXPECT_EQ(to_text(all.minimal[0].failure), "in run() the plug-in was killed by signal 8 (SIGFPE)");
  expect_all_minimal(kernel, all, 1);
}

TEST(Minimize, BringsElementFaultsOfEveryFamilyToTwoValues) {
  for (const std::string_view profile : {"mxfp8-e4m3/ocp", "hif4/gcc", "nvfp4/direct", "nvfp4/tensor-scale"}) {
    Kernel kernel{under([](Profile& p) { p.rounding = Rounding::ties_down; })};
    const Minimized all = minimize_all(kernel, profile);
    const Minimal* tie = find(all, verify::Cause::element, "tie");
    ASSERT_NE(tie, nullptr) << profile;
    expect_all_minimal(kernel, all, 2);
  }
}

TEST(Minimize, BringsAMicroExponentToFewValues) {
  Kernel kernel{under([](Profile& p) { p.threshold_arithmetic = ThresholdArithmetic::bf16; })};
  const Minimized all = minimize_all(kernel, "hif4/gcc");
  EXPECT_TRUE(find(all, verify::Cause::micro, "level2-bit") || find(all, verify::Cause::micro, "level3-bit"));
  expect_all_minimal(kernel, all, 3);
}

TEST(Minimize, MakesRandomWordsSimple) {
  Kernel kernel{under([](Profile& p) { p.random_bits = 7; })};
  const Minimized all = minimize_all(kernel, "mxfp4/rceil-sr8");
  const Minimal* random = find(all, verify::Cause::element, "random-bits");
  ASSERT_NE(random, nullptr);
  expect_all_minimal(kernel, all, 2);
  const auto words = copy_elements<std::uint32_t>(Bytes(random->question.inputs[1]));
  EXPECT_LE(std::ranges::count_if(words, [](std::uint32_t word) { return word != 0; }), 1);
}

/// Adds the products of a row from the last one on.
std::string backwards(CaseTable& table) {
  CaseGroup& group = table.groups.front();
  for (const std::string prefix : {"a_", "b_"}) {
    const std::int64_t rows = prefix == "a_" ? group.spec.rows : group.spec.other_rows;
    auto& codes = group.find(prefix + "codes")->bytes;
    auto& scales = group.find(prefix + "scales")->bytes;
    const std::size_t row_codes = codes.size() / static_cast<std::size_t>(rows) / group.size();
    const std::size_t row_scales = scales.size() / static_cast<std::size_t>(rows) / group.size();
    for (auto at = codes.begin(); at != codes.end(); at += static_cast<std::ptrdiff_t>(row_codes)) {
      std::reverse(at, at + static_cast<std::ptrdiff_t>(row_codes));
    }
    for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(byte >> 4 | byte << 4);
    for (auto at = scales.begin(); at != scales.end(); at += static_cast<std::ptrdiff_t>(row_scales)) {
      std::reverse(at, at + static_cast<std::ptrdiff_t>(row_scales));
    }
  }
  const Result<void> answered = suite::answer_by_reference(table);
  return answered ? std::string() : answered.error().message;
}

TEST(Minimize, BringsAnOrderOfSumsToAFewProducts) {
  Kernel kernel{backwards};
  kernel.offered = Operation::gemm;
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  ASSERT_FALSE(all.minimal.empty());
  expect_all_minimal(kernel, all, 8);
  for (const Minimal& minimal : all.minimal) {
    EXPECT_EQ(minimal.question.spec.rows, 1);
    EXPECT_EQ(minimal.question.spec.other_rows, 1);
  }
}

TEST(Minimize, BringsAWrongElementTableToOneCode) {
  Kernel kernel{[](CaseTable& table) -> std::string {
    if (!suite::answer_by_reference(table)) return "failed";
    CaseGroup& group = table.groups.front();
    const auto values = copy_elements<float>(Bytes(group.find("values")->bytes));
    std::vector<std::uint32_t> words;
    for (const float value : values) {
      int exponent = 0;
      const bool is_three = std::isfinite(value) && std::frexp(std::abs(value), &exponent) == 0.75F;
      words.push_back(float_bits(is_three ? value * 1.0625F : value));  // every 1.5 times a power of two
    }
    const Bytes bytes = fp4proof::bytes_of(words);
    group.find("values")->bytes.assign(bytes.begin(), bytes.end());
    return {};
  }};
  kernel.offered = Operation::dequantize;
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  ASSERT_FALSE(all.minimal.empty());
  expect_all_minimal(kernel, all, 1);
  EXPECT_EQ(all.minimal[0].question.inputs[1], std::vector<std::uint8_t>{127});
}

TEST(Minimize, SaysWhatDoesNotFailAlone) {
  Kernel kernel{[](CaseTable& table) -> std::string {
    if (!suite::answer_by_reference(table)) return "failed";
    CaseGroup& group = table.groups.front();
    if (group.size() > 1) group.find("scales")->bytes.back() ^= 1U;  // the last case of a call
    return {};
  }};
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  ASSERT_FALSE(all.minimal.empty());
  EXPECT_EQ(all.minimal[0].ending, Ending::not_reproduced);
  EXPECT_EQ(all.minimal[0].question, all.found[0].question);
}

/// The first case of all is wrong among others and right alone; those that start with more than 1 are always wrong.
TEST(Minimize, TakesTheNextCaseWhereTheFirstDoesNotFailAlone) {
  std::vector<float> first;
  Kernel kernel{[&first](CaseTable& table) -> std::string {
    if (!suite::answer_by_reference(table)) return "failed";
    CaseGroup& group = table.groups.front();
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto words = copy_elements<float>(group.find("input")->of_case(i));
      if (first.empty()) first = words;
      const bool is_wrong = words == first ? group.size() > 1 : words[0] > 1.0F;
      if (is_wrong) group.find("scales")->bytes[i * group.find("scales")->case_bytes()] ^= 1U;
    }
    return {};
  }};
  const runners::CaseSource smoke = runners::CaseSource::named(*suite::find_set("smoke"));
  Search search;
  search.cases = &smoke;
  search.profiles = {shared("mxfp4/ocp")};
  const Result<FoundCases> found = find_failures(kernel, search);
  ASSERT_TRUE(found.ok());
  ASSERT_FALSE(found->cases.empty());
  Judge judge(kernel, found->cases[0].topic, {});
  const Result<MinimalCase> one = minimize_found(judge, found->cases[0]);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->minimal.ending, Ending::minimal);
  EXPECT_NE(one->found.case_id, found->cases[0].case_id);
  EXPECT_EQ(one->minimal.nonzero, 1U);
  EXPECT_NE(one->story.command.find("fp4proof explain --profile mxfp4/ocp --values"), std::string::npos);
}

/// Answers with wrong scales to every call but the first, and to inputs of more than `most` nonzero elements.
Kernel::Run wrong_later(int& asked, std::ptrdiff_t most) {
  return [&asked, most](CaseTable& table) -> std::string {
    if (!suite::answer_by_reference(table)) return "failed";
    CaseGroup& group = table.groups.front();
    const bool is_first = asked++ == 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto words = copy_elements<float>(group.find("input")->of_case(i));
      const bool is_long = std::ranges::count_if(words, [](float x) { return x != 0.0F; }) > most;
      if (!is_first || is_long) group.find("scales")->bytes[i * group.find("scales")->case_bytes()] ^= 1U;
    }
    return {};
  };
}

TEST(Minimize, AsksAFreshProcessInTheEnd) {
  int asked = 0;
  Kernel kernel{wrong_later(asked, 1'000'000)};
  kernel.on_close = [&asked] { asked = 0; };
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  ASSERT_FALSE(all.minimal.empty());
  EXPECT_EQ(all.minimal[0].ending, Ending::stateful);
  EXPECT_FALSE(all.minimal[0].fails_fresh);
  EXPECT_EQ(all.minimal[0].question, all.found[0].question);
  EXPECT_FALSE(all.minimal[0].judged.failure.has_value());
}

TEST(Minimize, TellsACaseThatFailsAloneFromWhatItWasCutDownTo) {
  int asked = 0;
  Kernel kernel{wrong_later(asked, 3)};
  kernel.on_close = [&asked] { asked = 0; };
  const Minimized all = minimize_all(kernel, "mxfp4/ocp", "random-gaussian");
  ASSERT_FALSE(all.minimal.empty());
  EXPECT_EQ(all.minimal[0].ending, Ending::stateful);
  EXPECT_TRUE(all.minimal[0].fails_fresh);
  EXPECT_EQ(all.minimal[0].question, all.found[0].question);
}

TEST(Minimize, KeepsWhatAlsoFailsInAFreshProcess) {
  int closed = 0;
  Kernel kernel{true, Naive{.scale_offset = 1}};
  kernel.on_close = [&closed] { ++closed; };
  const Minimized all = minimize_all(kernel, "mxfp4/ocp");
  ASSERT_FALSE(all.minimal.empty());
  EXPECT_EQ(closed, static_cast<int>(all.minimal.size()));
  for (const Minimal& minimal : all.minimal) EXPECT_TRUE(minimal.fails_fresh);
}

TEST(Minimize, CutsACaseWhoseRunsDiffer) {
  Kernel kernel{under([](Profile&) {})};
  kernel.differs = [](const CaseGroup& group, std::size_t index) {
    const auto words = copy_elements<float>(group.find("input")->of_case(index));
    return std::ranges::any_of(words, [](float x) { return x > 5.0F; });
  };
  const Minimized all = minimize_all(kernel, "mxfp4/ocp", "ties");
  ASSERT_EQ(all.minimal.size(), 1U);
  EXPECT_EQ(all.minimal[0].failure.finding.cause, verify::Cause::nondeterministic);
  EXPECT_EQ(all.minimal[0].nonzero, 1U);
  EXPECT_EQ(inputs_of(all.minimal[0])[0], 8.0F);
}

TEST(Minimize, StopsAtTheLimitOfCalls) {
  Kernel kernel{true, Naive{.ties_away = true}};
  const Minimized all = minimize_all(kernel, "mxfp4/ocp", "ties");
  ASSERT_FALSE(all.found.empty());
  JudgeOptions options;
  options.most_calls = 3;
  Judge judge(kernel, all.found[0].topic, options);
  const Result<Minimal> minimal = minimize_case(judge, all.found[0].failure, all.found[0].question);
  ASSERT_TRUE(minimal.ok());
  EXPECT_EQ(minimal->ending, Ending::limit);
  EXPECT_LE(judge.calls(), 4U);
  const auto verdict = verdict_of(kernel, all.found[0].topic, minimal->question);
  EXPECT_TRUE(verdict && verdict->is_like(all.found[0].failure));
}

TEST(Minimize, GivesTheSameCaseAgain) {
  const auto once = [] {
    Kernel kernel{true, Naive{.ties_away = true}};
    const Minimized all = minimize_all(kernel, "mxfp4/ocp");
    std::vector<Question> questions;
    for (const Minimal& minimal : all.minimal) questions.push_back(minimal.question);
    return std::pair(questions, kernel.calls);
  };
  EXPECT_EQ(once(), once());
}

TEST(FindFailures, CountsWhatIsNotOfferedApart) {
  const runners::CaseSource smoke = runners::CaseSource::named(*suite::find_set("smoke"));
  Kernel kernel{Naive{}};
  kernel.offered = Operation::gemm;
  Search search;
  search.cases = &smoke;
  search.profiles = {shared("mxfp4/ocp")};
  search.operation = Operation::quantize;
  const Result<FoundCases> found = find_failures(kernel, search);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->cases.empty());
  EXPECT_EQ(found->compared, 0U);
  EXPECT_GT(found->unsupported, 0U);
  EXPECT_EQ(kernel.calls, 0);
}

TEST(FindFailures, RefusesWhatTheSetDoesNotHave) {
  const runners::CaseSource smoke = runners::CaseSource::named(*suite::find_set("smoke"));
  Kernel kernel{true, Naive{}};
  Search search;
  search.cases = &smoke;
  search.profiles = {shared("mxfp4/ocp")};
  search.class_name = "no-such-class";
  EXPECT_EQ(find_failures(kernel, search).error().kind, ErrorKind::usage);
  search.class_name.clear();
  search.case_id = 1;
  EXPECT_EQ(find_failures(kernel, search).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace fp4proof::minimize
