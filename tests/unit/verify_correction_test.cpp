// The verifier against answers to correct, correct-gemm and decompose with one fault planted in each output: it must
// name the output, the place and the kind of fault.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "conformance/suite/drafts.h"
#include "conformance/suite/make_table.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/verify/compare.h"
#include "formats/packing.h"
#include "formats/spec_profiles.h"

namespace fp4proof::verify {
namespace {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;
using suite::GroupSpec;
using suite::Operation;

SharedProfile shared(std::string_view name) { return {SharedProfile(), find_profile(name)}; }

/// A case, its right answer, and the answer to be spoilt.
class Planted {
 public:
  /// A matrix of many magnitudes under a stack, or to be decomposed where there is none.
  Planted(std::string_view profile, std::string_view stack, std::int64_t rows, std::int64_t columns)
      : Planted(profile, stack, rows, columns, many_magnitudes(rows * columns)) {}

  /// These numbers, then zeros.
  Planted(std::string_view profile, std::string_view stack, std::int64_t rows, std::int64_t columns,
          const std::vector<double>& values) {
    table_.operation = stack.empty() ? Operation::decompose : Operation::correct;
    table_.profile = shared(profile);
    GroupSpec spec;
    spec.rows = rows;
    spec.columns = columns;
    spec.correction = stack;
    Result<std::vector<CaseTensor>> tensors = suite::group_tensors(table_.operation, *table_.profile, spec);
    EXPECT_TRUE(tensors.ok()) << tensors.error().message;
    table_.groups.push_back({spec, {0x0123456789ABCDEFU}, {0}, *tensors});
    std::vector<std::uint32_t> words;
    for (const double value : values) words.push_back(suite::word_of(value));
    words.resize(static_cast<std::size_t>(rows * columns));
    if (CaseTensor* random = table_.groups.front().find("random")) random->bytes = suite::bytes_of_words(words);
    table_.groups.front().find("input")->bytes = suite::bytes_of_words(words);
    EXPECT_TRUE(suite::answer_by_reference(table_).ok());
    answer_ = table_;
  }

  /// A case of a set.
  Planted(CaseTable table, std::size_t group, std::size_t index)
      : table_(std::move(table)), answer_(table_), group_(group), index_(index) {}

  /// The bytes of an output of this case, free to change.
  std::span<std::uint8_t> bytes(std::string_view tensor) {
    CaseTensor& found = *answer_.groups[group_].find(tensor);
    return std::span(found.bytes).subspan(index_ * found.case_bytes(), found.case_bytes());
  }
  std::uint32_t word(std::string_view tensor, std::size_t place) { return load_le32(&bytes(tensor)[4 * place]); }
  void set_word(std::string_view tensor, std::size_t place, std::uint32_t word) {
    store_le32(word, &bytes(tensor)[4 * place]);
  }
  std::uint8_t nibble(std::string_view tensor, std::size_t place) {
    return static_cast<std::uint8_t>(bytes(tensor)[place / 2] >> (4 * (place % 2)) & 0xF);
  }
  void set_nibble(std::string_view tensor, std::size_t place, unsigned code) {
    std::uint8_t& byte = bytes(tensor)[place / 2];
    const unsigned kept = place % 2 == 0 ? byte & 0xF0U : byte & 0x0FU;
    byte = static_cast<std::uint8_t>(kept | code << (4 * (place % 2)));
  }
  /// The first place from `from` on whose 4-bit code will do.
  std::size_t find_nibble(std::string_view tensor, std::size_t from, const std::function<bool(unsigned)>& will_do) {
    while (!will_do(nibble(tensor, from))) ++from;
    return from;
  }
  void poison(std::string_view tensor) { std::ranges::fill(bytes(tensor), poison_byte); }
  void poison_all() {
    for (const CaseTensor& tensor : table_.groups[group_].tensors)
      if (tensor.expected) poison(tensor.name);
  }

  const CaseGroup& group() const { return table_.groups[group_]; }
  const Profile& profile() const { return *table_.profile; }

  /// The one mismatch of the comparison; none where the case passes.
  std::optional<Mismatch> verdict() const {
    static const std::vector<suite::ClassEntry> classes = suite::class_entries();
    VerifyReport report;
    report.tables.emplace_back();
    CompareContext context;
    context.classes = &classes;
    context.most_mismatches = 100;
    std::vector<Bytes> tensors;
    for (const CaseTensor& tensor : answer_.groups[group_].tensors)
      if (tensor.expected) tensors.emplace_back(tensor.bytes);
    compare_group(context, table_, group(), ActualGroup::in_order(std::move(tensors), group().size()), report.tables[0],
                  report);
    EXPECT_LE(report.mismatches.size(), 1U);
    EXPECT_EQ(report.tables[0].total().failed, report.mismatches.size());
    return report.mismatches.empty() ? std::nullopt : std::optional(report.mismatches.front());
  }

 private:
  static std::vector<double> many_magnitudes(std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 37 % 101 - 50) / 7.0);
    return values;
  }

  CaseTable table_;
  CaseTable answer_;
  std::size_t group_ = 0;
  std::size_t index_ = 0;
};

struct Place {
  std::int64_t row = 0;
  std::int64_t block = 0;
  std::int64_t element = -1;
};

/// Checks the verdict, the first lines of its text and the fields of its JSON.
void expect_verdict(const Planted& planted, Cause cause, std::string_view kind, std::string_view tensor,
                    const Place& place, std::int64_t distance) {
  const std::optional<Mismatch> mismatch = planted.verdict();
  ASSERT_TRUE(mismatch.has_value()) << kind;
  const Finding& finding = mismatch->finding;
  EXPECT_EQ(finding.cause, cause) << to_text(*mismatch);
  EXPECT_EQ(finding.kind, kind);
  EXPECT_EQ(finding.tensor, tensor);
  EXPECT_EQ(finding.row, place.row);
  EXPECT_EQ(finding.block, place.block);
  EXPECT_EQ(finding.element, place.element);
  EXPECT_EQ(finding.distance, distance);
  EXPECT_NE(likely_cause(finding.kind), "unknown") << kind;

  const nlohmann::json json = to_json(*mismatch);
  EXPECT_EQ(json["operation"], suite::name_of(mismatch->operation));
  EXPECT_EQ(json["group"], suite::group_name(planted.group().spec));
  EXPECT_EQ(json["cause"], name_of(cause));
  EXPECT_EQ(json["kind"], kind);
  EXPECT_EQ(json["row"], place.row);
  EXPECT_EQ(json["block"], place.block);
  EXPECT_EQ(json["distance"], distance);
  EXPECT_EQ(json.value("tensor", ""), tensor);
  EXPECT_EQ(json.value("element", -1), place.element);
  EXPECT_EQ(json["likely"], likely_cause(kind));
}

/// Whether the text of the verdict has these lines, one after the other.
void expect_text(const Planted& planted, const std::string& lines) {
  const std::optional<Mismatch> mismatch = planted.verdict();
  ASSERT_TRUE(mismatch.has_value());
  EXPECT_NE(to_text(*mismatch).find(lines), std::string::npos) << to_text(*mismatch);
}

// ---------------------------------------------------------------------------------------------------------------------
// correct
// ---------------------------------------------------------------------------------------------------------------------

constexpr std::string_view both = "mbs+resq";

TEST(VerifyCorrect, PassesTheRightAnswer) {
  for (const std::string_view stack : {"mbs", "resq", "mbs+resq", "hadamard-16", "tile-32"}) {
    EXPECT_FALSE(Planted("mxfp4/rceil", stack, 32, 160).verdict().has_value()) << stack;
  }
  EXPECT_FALSE(Planted("mxfp4/rceil", "", 2, 64).verdict().has_value());
}

TEST(VerifyCorrect, NamesAMacroByte) {
  Planted first("mxfp4/rceil", both, 2, 160);  // two macro blocks a row
  ASSERT_EQ(first.bytes("macro").size(), 4U);
  first.bytes("macro")[3] = static_cast<std::uint8_t>(first.bytes("macro")[3] ^ 1U);
  const int distance = first.bytes("macro")[3] % 2 == 1 ? 1 : -1;
  expect_verdict(first, Cause::scale, "macro-factor", "macro", {1, 1, -1}, distance);
  expect_text(first,
              "correct mxfp4/rceil 2x160-mbs+resq class ties case 0123456789abcdef\n  SCALE macro-factor, "
              "distance " +
                  std::string(distance > 0 ? "+1" : "-1") + " at macro row 1 block 1\n  likely    ");

  Planted residual("mxfp4/rceil", both, 2, 160);
  std::uint8_t& byte = residual.bytes("residual_macro")[2];
  const int before = byte;
  byte = static_cast<std::uint8_t>(before < 128 ? before + 100 : before - 100);
  expect_verdict(residual, Cause::scale, "macro-factor", "residual_macro", {1, 0, -1}, int{byte} - before);
}

TEST(VerifyCorrect, NamesAScale) {
  for (const std::string tensor : {"scales", "residual_scales"}) {
    Planted planted("mxfp4/rceil", both, 2, 128);  // four blocks a row
    const unsigned expected = planted.bytes(tensor)[6];
    planted.bytes(tensor)[6] = static_cast<std::uint8_t>(expected - 2);
    expect_verdict(planted, Cause::scale, "scale-code", tensor, {1, 2, -1}, -2);
    const Finding finding = planted.verdict()->finding;
    EXPECT_EQ(finding.expected_scale, expected);
    EXPECT_EQ(finding.actual_scale, expected - 2);
    expect_text(planted, "  SCALE scale-code, distance -2 at " + tensor + " row 1 block 2\n  scale     expected " +
                             scale_text(planted.profile(), expected) + ", actual " +
                             scale_text(planted.profile(), expected - 2) + "\n");
  }
}

TEST(VerifyCorrect, NamesTheScaleOfTheTensor) {
  Planted planted("nvfp4/tensor-scale", "resq", 1, 32);
  planted.set_word("residual_tensor_scale", 0, planted.word("residual_tensor_scale", 0) + 1);
  expect_verdict(planted, Cause::scale, "tensor-scale", "residual_tensor_scale", {0, 0, -1}, 0);
}

TEST(VerifyCorrect, NamesMicroExponents) {
  for (const std::string tensor : {"scales", "residual_scales"}) {
    Planted level2("hif4/gcc", "resq", 2, 128);
    level2.set_word(tensor, 3, level2.word(tensor, 3) ^ 1U << 13);
    expect_verdict(level2, Cause::micro, "level2-bit", tensor, {1, 1, -1}, 0);
    Planted level3("hif4/gcc", "resq", 2, 128);
    level3.set_word(tensor, 1, level3.word(tensor, 1) ^ 1U << 31);
    expect_verdict(level3, Cause::micro, "level3-bit", tensor, {0, 1, -1}, 0);
    Planted scale("hif4/gcc", "resq", 2, 128);
    scale.set_word(tensor, 2, scale.word(tensor, 2) + 3);
    expect_verdict(scale, Cause::scale, "scale-code", tensor, {1, 0, -1}, 3);
  }
}

TEST(VerifyCorrect, NamesACode) {
  Planted planted("mxfp4/rceil", both, 2, 128);
  // Row 1, block 1 or later: codes 1 to 6 are positive and have a code above them.
  const std::size_t at = planted.find_nibble("codes", 128 + 32, [](unsigned code) { return code >= 1 && code <= 6; });
  const std::uint8_t code = planted.nibble("codes", at);
  planted.set_nibble("codes", at, code + 1U);
  const auto column = static_cast<std::int64_t>(at) - 128;
  expect_verdict(planted, Cause::element, "neighbour", "codes", {1, column / 32, column % 32}, 1);
  EXPECT_EQ(planted.verdict()->finding.expected, code);
  EXPECT_EQ(planted.verdict()->finding.actual, code + 1U);
  EXPECT_EQ(to_json(*planted.verdict())["actual"], code + 1);
  expect_text(planted, "  expected  " + code_fields(planted.profile(), code) + " = code " + std::to_string(code));

  Planted wide("mxfp8-e4m3/rceil", "fallback", 2, 64);
  wide.bytes("codes")[64 + 33] = static_cast<std::uint8_t>(wide.bytes("codes")[64 + 33] ^ 0x80U);
  EXPECT_EQ(wide.verdict()->finding.tensor, "codes");
  EXPECT_EQ(wide.verdict()->finding.block, 1);
  EXPECT_EQ(wide.verdict()->finding.element, 1);
}

/// One wrong code, its right one, and why it is wrong.
struct WrongCode {
  std::size_t place;
  unsigned right;
  unsigned wrong;
  std::string_view kind;
};

void expect_kinds(const std::function<Planted()>& right, std::string_view tensor, const std::vector<WrongCode>& codes) {
  for (const WrongCode& code : codes) {
    Planted planted = right();
    ASSERT_EQ(planted.nibble(tensor, code.place), code.right) << tensor << " " << code.place;
    planted.set_nibble(tensor, code.place, code.wrong);
    const std::optional<Mismatch> mismatch = planted.verdict();
    ASSERT_TRUE(mismatch.has_value());
    EXPECT_EQ(mismatch->finding.kind, code.kind) << to_text(*mismatch);
    EXPECT_EQ(mismatch->finding.cause, Cause::element);
    EXPECT_EQ(mismatch->finding.tensor, tensor);
    EXPECT_EQ(mismatch->finding.element, static_cast<std::int64_t>(code.place));
    EXPECT_TRUE(mismatch->finding.input.has_value());
    EXPECT_NE(likely_cause(code.kind), "unknown");
  }
}

/// MXFP4, scale 1: the codes 0 to 7 stand for 0, 0.5, 1, 1.5, 2, 3, 4, 6.
const std::vector<double> kinds_input = {7, 0.25, 0.3, -0.2, 1.2, 0.25 + 0x1p-20, 2.5, 1.0625};

TEST(VerifyCorrect, NamesTheKindsOfACode) {
  expect_kinds([] { return Planted("mxfp4/ocp", "fallback", 1, 32, kinds_input); }, "codes",
               {{0, 7, 6, "saturation"},
                {1, 0, 1, "tie"},
                {2, 1, 0, "flushed-subnormal"},
                {3, 8, 0, "sign-of-zero"},
                {4, 2, 3, "neighbour"},
                {4, 2, 10, "sign"},
                {4, 2, 6, "code"},
                {5, 1, 0, "double-rounding"},
                {6, 4, 5, "tie"}});
}

/// The residual of 7 is 1, so its scale is 1/4: 1.0625 leaves 1/16, which is 1/4 there and a tie.
TEST(VerifyCorrect, NamesTheKindsOfACodeOfTheResidual) {
  expect_kinds([] { return Planted("mxfp4/ocp", "fallback", 1, 32, kinds_input); }, "residual_codes",
               {{0, 6, 7, "neighbour"}, {1, 2, 3, "neighbour"}, {7, 0, 1, "tie"}, {2, 10, 2, "sign"}});
}

/// The factor of a macro block with the maximum 4 is 1.5: 0.5 lies on the grid, and 0.75 half way.
TEST(VerifyCorrect, NamesTheKindsOfACodeUnderAMacroFactor) {
  const auto right = [] { return Planted("mxfp4/rceil", "mbs", 1, 128, {4, 0.5, 1, 3}); };
  Planted planted = right();
  ASSERT_EQ(planted.bytes("macro")[0], 128U);
  ASSERT_EQ(planted.bytes("scales")[0], 127U);
  expect_kinds(right, "codes",
               {{0, 7, 6, "neighbour"}, {1, 2, 1, "tie"}, {2, 3, 2, "neighbour"}, {3, 6, 7, "neighbour"}});
}

TEST(VerifyCorrect, NamesRandomBits) {
  const auto right = [] { return Planted("mxfp4/rceil", "sr", 1, 32, {6, 1.2}); };
  Planted planted = right();
  const unsigned code = planted.nibble("codes", 1);
  ASSERT_TRUE(code == 2 || code == 3);
  expect_kinds(right, "codes", {{1, code, 5 - code, "random-bits"}, {1, code, 7, "code"}});
}

TEST(VerifyCorrect, NamesCodesUnderANanScale) {
  Planted planted("mxfp4/ocp", "fallback", 1, 32, {1, std::nan("")});
  ASSERT_EQ(planted.bytes("scales")[0], 255U);
  planted.set_nibble("codes", 0, 2);
  const Finding finding = planted.verdict()->finding;
  EXPECT_EQ(finding.cause, Cause::special);
  EXPECT_EQ(finding.kind, "nan-scale-codes");
}

TEST(VerifyCorrect, NamesAnotherMask) {
  const auto is_kept = [](unsigned code) { return code >= 1 && code <= 6; };
  Planted lost("mxfp4/rceil", both, 1, 128);
  const std::size_t kept = lost.find_nibble("residual_codes", 64, is_kept);
  const int before = lost.nibble("residual_codes", kept);
  lost.set_nibble("residual_codes", kept, 0);
  const auto column = static_cast<std::int64_t>(kept);
  expect_verdict(lost, Cause::element, "residual-mask", "residual_codes", {0, column / 32, column % 32}, -before);
  expect_text(lost, "  ELEMENT residual-mask, distance -" + std::to_string(before) + " at residual_codes row 0 block " +
                        std::to_string(column / 32) + " element " + std::to_string(column % 32) + "\n");

  Planted extra("mxfp4/rceil", both, 1, 128);
  const std::size_t zero = extra.find_nibble("residual_codes", 0, [](unsigned code) { return code == 0; });
  extra.set_nibble("residual_codes", zero, 2);
  expect_verdict(extra, Cause::element, "residual-mask", "residual_codes",
                 {0, static_cast<std::int64_t>(zero) / 32, static_cast<std::int64_t>(zero) % 32}, 2);

  Planted other("mxfp4/rceil", both, 1, 128);
  other.set_nibble("residual_codes", kept, static_cast<unsigned>(before) + 1U);
  expect_verdict(other, Cause::element, "neighbour", "residual_codes", {0, column / 32, column % 32}, 1);

  Planted dense("mxfp4/rceil", "fallback", 1, 128);  // nothing is masked, so a lost code is a wrong code
  const std::size_t coded = dense.find_nibble("residual_codes", 0, is_kept);
  const int value = dense.nibble("residual_codes", coded);
  dense.set_nibble("residual_codes", coded, 0);
  const auto place = static_cast<std::int64_t>(coded);
  expect_verdict(dense, Cause::element, "code", "residual_codes", {0, place / 32, place % 32}, -value);
}

TEST(VerifyCorrect, NamesAValue) {
  struct Change {
    std::function<std::uint32_t(std::uint32_t)> change;
    Cause cause;
    std::string_view kind;
  };
  const std::vector<Change> changes = {
      {[](std::uint32_t word) { return word + 1; }, Cause::element, "neighbour"},
      {[](std::uint32_t word) { return word ^ float_sign_mask; }, Cause::element, "sign"},
      {[](std::uint32_t word) { return word + 0x00800000U; }, Cause::element, "value"},
      {[](std::uint32_t) { return canonical_nan_bits; }, Cause::special, "nan-value"},
  };
  for (const Change& change : changes) {
    Planted planted("hif4/gcc", "hadamard-16+resq", 2, 64);
    const std::uint32_t word = planted.word("values", 64 + 17);
    ASSERT_NE(word & float_magnitude_mask, 0U);
    planted.set_word("values", 64 + 17, change.change(word));
    const Finding finding = planted.verdict()->finding;
    expect_verdict(planted, change.cause, change.kind, "values", {1, 0, 17}, finding.distance);
    EXPECT_EQ(finding.expected, word);
    EXPECT_EQ(finding.actual, change.change(word));
    if (change.kind == "neighbour") {
      EXPECT_EQ(finding.distance, (word & float_sign_mask) != 0 ? -1 : 1);
    }
    if (change.kind == "nan-value") {
      EXPECT_EQ(finding.distance, 0);
    }
    expect_text(planted, " at values row 1 column 17\n  expected  " + hex_float(word) + " = ");
  }
}

/// NaN payloads are no mismatch.
TEST(VerifyCorrect, TakesAnyNan) {
  Planted planted("mxfp4/rceil", "mbs", 1, 128);
  CaseTable table;
  table.operation = Operation::correct;
  table.profile = shared("mxfp4/rceil");
  table.groups.push_back(planted.group());
  std::vector<std::uint8_t>& input = table.groups[0].find("input")->bytes;
  store_le32(canonical_nan_bits, &input[4 * 40]);
  ASSERT_TRUE(suite::answer_by_reference(table).ok());
  Planted with_nan(table, 0, 0);
  ASSERT_EQ(with_nan.word("values", 45), canonical_nan_bits);
  with_nan.set_word("values", 45, 0xFFC12345U);
  EXPECT_FALSE(with_nan.verdict().has_value());
  with_nan.set_word("values", 45, 0x3F800000U);
  expect_verdict(with_nan, Cause::special, "nan-value", "values", {0, 0, 45}, 0);
}

/// What a kernel computes first is blamed first.
TEST(VerifyCorrect, BlamesInOrderOfWork) {
  Planted planted("mxfp4/rceil", both, 1, 128);
  const std::vector<std::string> order = {"values", "residual_codes", "residual_scales", "residual_macro", "codes",
                                          "scales", "macro"};
  for (const std::string& tensor : order) {
    std::uint8_t& byte = planted.bytes(tensor).back();
    byte = static_cast<std::uint8_t>(byte ^ 0x11U);
    ASSERT_TRUE(planted.verdict().has_value()) << tensor;
    EXPECT_EQ(planted.verdict()->finding.tensor, tensor);
  }
}

TEST(VerifyCorrect, NamesOutputsThatWereNotWritten) {
  Planted all("mxfp4/rceil", both, 1, 128);
  all.poison_all();
  expect_verdict(all, Cause::unwritten, "poison", "macro", {0, 0, -1}, 0);
  for (const std::string tensor : {"residual_codes", "residual_scales"}) {
    Planted one("mxfp4/rceil", both, 1, 128);
    one.poison(tensor);
    ASSERT_TRUE(one.verdict().has_value());
    EXPECT_EQ(one.verdict()->finding.cause, Cause::unwritten);
    EXPECT_EQ(one.verdict()->finding.kind, "poison");
    EXPECT_EQ(one.verdict()->finding.tensor, tensor);
  }
  Planted values("mxfp4/rceil", "mbs", 2, 128);
  values.poison("values");
  EXPECT_EQ(values.verdict()->finding.cause, Cause::unwritten);
  expect_text(values, "  UNWRITTEN poison at values row 0 column 0\n");
}

// ---------------------------------------------------------------------------------------------------------------------
// correct-gemm
// ---------------------------------------------------------------------------------------------------------------------

const CaseTable& products() {
  static const CaseTable table =
      std::move(*suite::make_table(*suite::find_set("quick"), Operation::correct_gemm, shared("mxfp4/rceil")));
  return table;
}

/// The first case of a 2x3 product.
Planted small_product() {
  const auto& groups = products().groups;
  const auto found = std::ranges::find_if(groups, [](const CaseGroup& group) {
    return group.spec.rows == 2 && group.spec.other_rows == 3 && group.spec.accumulator == "seq512";
  });
  EXPECT_NE(found, groups.end());
  return {products(), static_cast<std::size_t>(found - groups.begin()), 0};
}

TEST(VerifyCorrectGemm, NamesAValue) {
  Planted planted = small_product();
  EXPECT_FALSE(planted.verdict().has_value());
  const std::uint32_t word = planted.word("c", 5);
  planted.set_word("c", 5, word + 1);
  expect_verdict(planted, Cause::element, "neighbour", "", {1, 0, 2}, (word & float_sign_mask) != 0 ? -1 : 1);
  expect_text(planted, "correct-gemm mxfp4/rceil " + suite::group_name(planted.group().spec) +
                           " class correct-gemm-random case ");
  expect_text(planted, " at row 1 column 2\n  expected  " + hex_float(word));
  planted.set_word("c", 5, word + 3);  // no accumulator that is known gives this
  expect_verdict(planted, Cause::element, "value", "", {1, 0, 2}, (word & float_sign_mask) != 0 ? -3 : 3);
  planted.set_word("c", 5, canonical_nan_bits);
  expect_verdict(planted, Cause::special, "nan-value", "", {1, 0, 2}, 0);
}

TEST(VerifyCorrectGemm, NamesExchangedRowsAndColumns) {
  Planted planted = small_product();
  std::vector<std::uint32_t> c;
  for (std::size_t i = 0; i < 6; ++i) c.push_back(planted.word("c", i));
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t m = 0; m < 2; ++m) planted.set_word("c", n * 2 + m, c[m * 3 + n]);
  }
  expect_verdict(planted, Cause::packing, "transposed", "", {0, 0, 1}, 0);
}

/// Cases under seq512 whose sum is another one under seq.
TEST(VerifyCorrectGemm, NamesAnotherAccumulator) {
  int planted_cases = 0;
  for (std::size_t g = 0; g < products().groups.size(); ++g) {
    const CaseGroup& group = products().groups[g];
    if (group.spec.accumulator != "seq512") continue;
    Planted planted(products(), g, 0);
    const auto other = suite::gemm_of_case(planted.profile(), group, 0, "seq");
    ASSERT_TRUE(other.ok());
    for (std::size_t i = 0; i < other->size(); ++i) planted.set_word("c", i, (*other)[i]);
    const std::optional<Mismatch> verdict = planted.verdict();
    if (!verdict) continue;
    ++planted_cases;
    EXPECT_EQ(verdict->finding.cause, Cause::order);
    EXPECT_EQ(verdict->finding.kind, "accumulation");
    EXPECT_EQ(to_json(*verdict)["cause"], "ORDER");
  }
  EXPECT_GT(planted_cases, 0);
}

TEST(VerifyCorrectGemm, NamesAnOutputThatWasNotWritten) {
  Planted planted = small_product();
  planted.poison_all();
  expect_verdict(planted, Cause::unwritten, "poison", "", {0, 0, 0}, 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// decompose
// ---------------------------------------------------------------------------------------------------------------------

TEST(VerifyDecompose, NamesATerm) {
  const std::vector<std::string> kinds = {"scale-term", "deadzone-term", "grid-term"};
  for (std::size_t term = 0; term < kinds.size(); ++term) {
    for (const std::size_t half : {0U, 1U}) {
      Planted planted("mxfp4/rceil", "", 2, 64);
      const std::size_t word = (64 + 33) * 6 + 2 * term + half;
      planted.set_word("terms", word, planted.word("terms", word) ^ 1U);
      expect_verdict(planted, Cause::element, kinds[term], "terms", {1, 0, 33}, 0);
      expect_text(planted, "decompose mxfp4/rceil 2x64 class ties case 0123456789abcdef\n  ELEMENT " + kinds[term] +
                               " at terms row 1 column 33\n  likely    ");
    }
  }
}

TEST(VerifyDecompose, NamesASum) {
  for (const std::size_t word : {std::size_t{0}, std::size_t{15}}) {
    Planted planted("hif4/gcc", "", 2, 64);
    planted.set_word("sums", 16 + word, planted.word("sums", 16 + word) ^ 1U);
    expect_verdict(planted, Cause::order, "accumulation", "sums", {1, 0, -1}, 0);
    expect_text(planted, "  ORDER accumulation at sums row 1\n");
  }
}

TEST(VerifyDecompose, NamesACount) {
  Planted planted("nvfp4/direct", "", 3, 64);
  planted.set_word("counts", 4 * 2 + 1, planted.word("counts", 4 * 2 + 1) + 1);
  expect_verdict(planted, Cause::element, "count", "counts", {2, 0, -1}, 0);
  expect_text(planted, "  ELEMENT count at counts row 2\n");
}

TEST(VerifyDecompose, BlamesTermsBeforeSumsBeforeCounts) {
  Planted planted("mxfp4/rceil", "", 2, 64);
  for (const std::string tensor : {"counts", "sums", "terms"}) {
    planted.set_word(tensor, 0, planted.word(tensor, 0) ^ 1U);
    ASSERT_TRUE(planted.verdict().has_value());
    EXPECT_EQ(planted.verdict()->finding.tensor, tensor);
  }
}

TEST(VerifyDecompose, NamesOutputsThatWereNotWritten) {
  Planted planted("mxfp4/rceil", "", 2, 64);
  planted.poison("counts");
  expect_verdict(planted, Cause::unwritten, "poison", "counts", {0, 0, -1}, 0);
  planted.poison_all();
  expect_verdict(planted, Cause::unwritten, "poison", "terms", {0, 0, 0}, 0);
}

}  // namespace
}  // namespace fp4proof::verify
