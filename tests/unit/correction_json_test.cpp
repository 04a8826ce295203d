// Correction stacks as JSON: every named stack goes there and back, and everything that is wrong is refused in words.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "conformance/corrections/stack_json.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/vectors/strict_json.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof {
namespace {

using nlohmann::json;

/// The parts of a stack, without the names.
CorrectionStack parts_of(CorrectionStack stack) {
  stack.name = {};
  stack.summary = {};
  return stack;
}

/// Text to JSON under the rules of files.
json parsed(const std::string& text) {
  const auto value = parse_strict_json(text, "text", 2);
  EXPECT_TRUE(value) << value.error().message;
  return value ? *value : json();
}

Result<SharedStack> read(const std::string& text) { return stack_from_json(parsed(text), "'mine.json'"); }

TEST(CorrectionJson, EveryNamedStackGoesThereAndBack) {
  ASSERT_EQ(correction_stacks().size(), 30U);
  for (const CorrectionStack& stack : correction_stacks()) {
    json value = stack_to_json(stack);
    value["name"] = "mine";
    const auto back = stack_from_json(parsed(value.dump()), "text");
    ASSERT_TRUE(back) << stack.name << ": " << back.error().message;
    EXPECT_EQ(parts_of(**back), parts_of(stack)) << stack.name;
    EXPECT_EQ((*back)->name, "mine");
    EXPECT_EQ((*back)->summary, stack.summary);
  }
}

TEST(CorrectionJson, EveryNamedStackIsABase) {
  for (const CorrectionStack& stack : correction_stacks()) {
    const auto same = stack_from_json({{"name", "mine"}, {"base", stack.name}}, "text");
    ASSERT_TRUE(same) << stack.name << ": " << same.error().message;
    EXPECT_EQ(parts_of(**same), parts_of(stack)) << stack.name;
  }
}

// Written by hand from the form that the manual describes.
TEST(CorrectionJson, OnlyPartsThatAreOnAreWritten) {
  const auto written = [](const char* name) {
    json value = stack_to_json(*find_correction_stack(name));
    value.erase("summary");
    return value;
  };
  EXPECT_EQ(written("none"), parsed(R"({"format": "fp4proof-corrections/1", "name": "none"})"));
  EXPECT_EQ(written("hadamard-16+mbs"), parsed(R"({"format": "fp4proof-corrections/1", "name": "hadamard-16+mbs",
                       "hadamard": {"size": 16, "signs": "fixed", "seed": 0},
                       "macro": {"size": 128, "form": "multiply"}})"));
  EXPECT_EQ(written("hadamard-16-plain"), parsed(R"({"format": "fp4proof-corrections/1", "name": "hadamard-16-plain",
                                                     "hadamard": {"size": 16, "signs": "none"}})"));
  EXPECT_EQ(written("mbs+fallback"), parsed(R"({"format": "fp4proof-corrections/1", "name": "mbs+fallback",
                                                "macro": {"size": 128, "form": "multiply"},
                                                "residual": {"alpha": 0.5, "mask": "dense"}})"));
  EXPECT_EQ(written("resq-channels"), parsed(R"({"format": "fp4proof-corrections/1", "name": "resq-channels",
                       "residual": {"alpha": 1.0, "mask": "top-channels", "fraction": 0.5}})"));
  EXPECT_EQ(written("resq-tiles"), parsed(R"({"format": "fp4proof-corrections/1", "name": "resq-tiles",
                                              "residual": {"alpha": 1.0, "mask": "top-tiles", "fraction": 0.5,
                                                           "measure": "residual-l2", "tile": "32x64"}})"));
  EXPECT_EQ(written("rfq-theta"), parsed(R"({"format": "fp4proof-corrections/1", "name": "rfq-theta",
                                             "residual": {"alpha": 1.0, "mask": "tiles-above", "threshold": 8.0,
                                                          "tile": "64x64"}})"));
  EXPECT_EQ(written("three-quarters"), parsed(R"({"format": "fp4proof-corrections/1", "name": "three-quarters",
                                                  "stochastic": true, "three_quarters": true})"));
  EXPECT_EQ(written("tile-32-sr"), parsed(R"({"format": "fp4proof-corrections/1", "name": "tile-32-sr",
                                              "tile": 32, "stochastic": true})"));
}

TEST(CorrectionJson, EveryPartIsRead) {
  const auto stack = read(R"({"format": "fp4proof-corrections/1", "name": "mine/one", "summary": "all of it",
      "hadamard": {"size": 64, "signs": "fresh", "seed": 18446744073709551615},
      "tile": 16, "stochastic": true, "three_quarters": true,
      "macro": {"size": 32, "form": "divide"},
      "residual": {"alpha": -0.1, "mask": "top-tiles", "measure": "input-max", "fraction": 0.25, "tile": "8x255"}})");
  ASSERT_TRUE(stack) << stack.error().message;
  CorrectionStack expected;
  expected.name = "mine/one";
  expected.summary = "all of it";
  expected.hadamard = {64, HadamardSigns::fresh, 18446744073709551615U};
  expected.tile = 16;
  expected.stochastic = true;
  expected.three_quarters = true;
  expected.macro = {32, MacroForm::divide};
  expected.residual.on = true;
  expected.residual.alpha = -0.1F;
  expected.residual.mask = ResidualMask::top_tiles;
  expected.residual.measure = TileMeasure::input_max;
  expected.residual.fraction = 0.25F;
  expected.residual.tile_rows = 8;
  expected.residual.tile_cols = 255;
  EXPECT_EQ(**stack, expected);
}

TEST(CorrectionJson, ABaseIsChangedFieldByField) {
  const auto stack = read(R"({"name": "mine", "base": "hadamard-16+resq", "hadamard": {"seed": 7},
                              "residual": {"alpha": 0.5}})");
  ASSERT_TRUE(stack) << stack.error().message;
  CorrectionStack expected = parts_of(*find_correction_stack("hadamard-16+resq"));
  expected.hadamard.seed = 7;
  expected.residual.alpha = 0.5F;
  EXPECT_EQ(parts_of(**stack), expected);
}

TEST(CorrectionJson, NullSwitchesAPartOfTheBaseOff) {
  const auto stack = read(R"({"name": "mine", "base": "hadamard-16+resq", "hadamard": null})");
  ASSERT_TRUE(stack) << stack.error().message;
  EXPECT_EQ(parts_of(**stack), parts_of(*find_correction_stack("resq")));
  const auto flat = read(R"({"name": "mine", "base": "tile-32-sr", "tile": 0, "stochastic": false})");
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(parts_of(**flat), CorrectionStack{});
}

// What the new mask does not use must not linger, or two equal stacks would differ.
TEST(CorrectionJson, AnotherMaskForgetsTheFieldsOfTheOld) {
  const auto stack = read(R"({"name": "mine", "base": "resq-tiles", "residual": {"mask": "2:4"}})");
  ASSERT_TRUE(stack) << stack.error().message;
  EXPECT_EQ(parts_of(**stack), parts_of(*find_correction_stack("resq")));
}

TEST(CorrectionJson, NumbersKeepTheirBits) {
  for (const float alpha : {0.1F, 0.975F, 1.0F / 3.0F, 0x1.fffffep-1F, 0x1p-149F, -0x1.fffffep127F, 0x1.000002p0F}) {
    CorrectionStack stack = *find_correction_stack("resq");
    stack.name = "mine";
    stack.residual.alpha = alpha;
    const auto back = stack_from_json(parsed(stack_to_json(stack).dump()), "text");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ((*back)->residual.alpha, alpha);
  }
}

TEST(CorrectionJson, TheStackOutlivesTheText) {
  SharedStack kept;
  {
    const json value = {{"name", "a-name-too-long-for-the-small-string-buffer"}, {"base", "mbs"}};
    const auto stack = stack_from_json(value, "text");
    ASSERT_TRUE(stack) << stack.error().message;
    kept = *stack;
  }
  EXPECT_EQ(kept->name, "a-name-too-long-for-the-small-string-buffer");
}

struct Refused {
  const char* text;
  const char* message;
};

class CorrectionJsonRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(CorrectionJsonRefuses, InWords) {
  const auto stack = read(GetParam().text);
  ASSERT_FALSE(stack);
  EXPECT_EQ(stack.error().kind, ErrorKind::usage);
  EXPECT_EQ(stack.error().message, std::string("'mine.json': ") + GetParam().message);
}

const Refused shapes[] = {
    {R"([])", "a correction stack must be a JSON object"},
    {R"({})", "field \"name\" is missing"},
    {R"({"name": 7})", "field \"name\" must be a text"},
    {R"({"name": "a b"})", "name \"a b\" must be 1 to 200 letters, digits and . _ / + - ="},
    {R"({"name": "resq"})", "name \"resq\" belongs to a named stack; choose another"},
    {R"({"name": "m", "format": "fp4proof-corrections/2"})",
     "format \"fp4proof-corrections/2\" is not fp4proof-corrections/1"},
    {R"({"name": "m", "format": ""})", "format \"\" is not fp4proof-corrections/1"},
    {R"({"name": "m", "summary": []})", "field \"summary\" must be a text"},
    {R"({"name": "m", "summary": "a\u001b[31mb"})", "field \"summary\" must be one line without control characters"},
    {R"({"name": "m", "summary": "a\nb"})", "field \"summary\" must be one line without control characters"},
    {R"({"name": "m", "hadamar": {}})",
     "unknown field \"hadamar\" (did you mean 'hadamard'?); the fields are format name summary base hadamard macro "
     "residual tile stochastic three_quarters"},
    {R"({"name": "m", "macro": {"sise": 32, "form": "divide"}})",
     "unknown field \"macro.sise\" (did you mean 'size'?); the fields are size form"},
    {R"({"name": "m", "macro": 128})", "field \"macro\" must be an object with size form"},
    {R"({"name": "m", "macro": {"size": 128}})", "nothing is guessed; missing: macro.form"},
    {R"({"name": "m", "hadamard": {"size": 16}})", "nothing is guessed; missing: hadamard.signs hadamard.seed"},
    {R"({"name": "m", "residual": {}})", "nothing is guessed; missing: residual.alpha residual.mask"},
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "top-tiles"}})",
     "nothing is guessed; missing: residual.measure residual.fraction residual.tile"},
    {R"({"name": "m", "base": "resq", "residual": {"mask": "tiles-above"}})",
     "nothing is guessed; missing: residual.threshold residual.tile"},
    {R"({"name": "m", "base": "resq-channels", "residual": {"mask": "top-tiles"}})",
     "nothing is guessed; missing: residual.measure residual.tile"},
};
INSTANTIATE_TEST_SUITE_P(Shapes, CorrectionJsonRefuses, ::testing::ValuesIn(shapes));

const Refused values[] = {
    {R"({"name": "m", "hadamard": {"size": 32, "signs": "none"}})", "field \"hadamard.size\" must be 16 or 64"},
    {R"({"name": "m", "hadamard": {"size": 0, "signs": "none"}})", "field \"hadamard.size\" must be 16 or 64"},
    {R"({"name": "m", "hadamard": {"size": 16, "signs": "random", "seed": 1}})",
     "field \"hadamard.signs\" has no value \"random\"; it must be one of none fixed fresh"},
    {R"({"name": "m", "hadamard": {"size": 16, "signs": "fixd", "seed": 1}})",
     "field \"hadamard.signs\" has no value \"fixd\" (did you mean 'fixed'?); it must be one of none fixed fresh"},
    {R"({"name": "m", "hadamard": {"size": 16, "signs": "none", "seed": 1}})",
     "field \"hadamard.seed\" means nothing with signs none; remove it"},
    {R"({"name": "m", "hadamard": {"size": 16, "signs": "fixed", "seed": -1}})",
     "field \"hadamard.seed\" must be a whole number in 0..18446744073709551615"},
    {R"({"name": "m", "hadamard": {"size": 16, "signs": "fixed", "seed": 18446744073709551616}})",
     "field \"hadamard.seed\" must be a whole number in 0..18446744073709551615"},
    {R"({"name": "m", "tile": 12})", "field \"tile\" must be 8, 16, 32 or 64, or 0 for no tiles"},
    {R"({"name": "m", "tile": "32x32"})", "field \"tile\" must be a whole number in 0..255"},
    {R"({"name": "m", "tile": 256})", "field \"tile\" must be a whole number in 0..255"},
    {R"({"name": "m", "tile": 8.0})", "field \"tile\" must be a whole number in 0..255"},
    {R"({"name": "m", "stochastic": 1})", "field \"stochastic\" must be true or false"},
    {R"({"name": "m", "three_quarters": "yes"})", "field \"three_quarters\" must be true or false"},
    {R"({"name": "m", "macro": {"size": 16, "form": "multiply"}})", "field \"macro.size\" must be 32, 64 or 128"},
    {R"({"name": "m", "macro": {"size": 128, "form": 1}})", "field \"macro.form\" must be one of multiply divide"},
    {R"({"name": "m", "residual": {"alpha": 0, "mask": "dense"}})",
     "field \"residual.alpha\" must not be 0: the residual would be lost"},
    {R"({"name": "m", "residual": {"alpha": -0.0, "mask": "dense"}})",
     "field \"residual.alpha\" must not be 0: the residual would be lost"},
    {R"({"name": "m", "residual": {"alpha": 1e39, "mask": "dense"}})",
     "field \"residual.alpha\" must be a number that binary32 can hold"},
    {R"({"name": "m", "residual": {"alpha": 1e-50, "mask": "dense"}})",
     "field \"residual.alpha\" must be a number that binary32 can hold"},
    {R"({"name": "m", "residual": {"alpha": "1", "mask": "dense"}})", "field \"residual.alpha\" must be a number"},
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "2:3"}})",
     "field \"residual.mask\" has no value \"2:3\" (did you mean '2:4'?); it must be one of dense 2:4 top-channels "
     "top-tiles tiles-above"},
};
INSTANTIATE_TEST_SUITE_P(Values, CorrectionJsonRefuses, ::testing::ValuesIn(values));

const Refused contradictions[] = {
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "dense", "fraction": 0.5}})",
     "field \"residual.fraction\" means nothing under the mask dense; remove it"},
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "2:4", "tile": "64x64"}})",
     "field \"residual.tile\" means nothing under the mask 2:4; remove it"},
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "top-channels", "fraction": 0.5, "measure": "input-max"}})",
     "field \"residual.measure\" means nothing under the mask top-channels; remove it"},
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "tiles-above", "threshold": 1, "tile": "8x8", "fraction": 1}})",
     "field \"residual.fraction\" means nothing under the mask tiles-above; remove it"},
    {R"({"name": "m", "base": "rfq-max", "residual": {"threshold": 8}})",
     "field \"residual.threshold\" means nothing under the mask top-tiles; remove it"},
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "top-channels", "fraction": 0}})",
     "field \"residual.fraction\" must be above 0 and at most 1"},
    {R"({"name": "m", "residual": {"alpha": 1, "mask": "top-channels", "fraction": 1.01}})",
     "field \"residual.fraction\" must be above 0 and at most 1"},
    {R"({"name": "m", "base": "rfq-theta", "residual": {"threshold": -1}})",
     "field \"residual.threshold\" must not be negative"},
    {R"({"name": "m", "base": "rfq-theta", "residual": {"tile": "0x64"}})",
     "field \"residual.tile\" must have 1 to 255 rows and columns"},
    {R"({"name": "m", "base": "rfq-theta", "residual": {"tile": "64"}})",
     "field \"residual.tile\" must be \"ROWSxCOLUMNS\", for example \"1x32\""},
    {R"({"name": "m", "base": 3})", "field \"base\" must be a text"},
};
INSTANTIATE_TEST_SUITE_P(Contradictions, CorrectionJsonRefuses, ::testing::ValuesIn(contradictions));

TEST(CorrectionLookup, NamesAreSuggested) {
  const auto stack = find_stack_or_file("rsq");
  ASSERT_FALSE(stack);
  EXPECT_EQ(stack.error().kind, ErrorKind::usage);
  EXPECT_EQ(
      stack.error().message.find("unknown correction stack \"rsq\" (did you mean 'resq'?); there are none mbs mbs-64"),
      0U)
      << stack.error().message;
  const auto base = read(R"({"name": "m", "base": "mbs-46"})");
  ASSERT_FALSE(base);
  EXPECT_EQ(base.error().message.find(
                "'mine.json': field \"base\": unknown correction stack \"mbs-46\" (did you mean 'mbs-64'?)"),
            0U)
      << base.error().message;
}

TEST(CorrectionLookup, NamesAndFiles) {
  const testing::TemporaryFolder folder;
  const auto named = find_stack_or_file("resq");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->get(), find_correction_stack("resq"));

  const std::string path = (folder.path() / "mine.json").string();
  testing::put_file(path, R"({"name": "mine", "base": "resq", "residual": {"alpha": 0.975}})");
  const auto file = find_stack_or_file(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->residual.alpha, 0.975F);

  const auto missing = find_stack_or_file((folder.path() / "nothing.json").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::io);

  testing::put_file(path, R"({"name": "mine", "name": "again"})");
  const auto twice = find_stack_or_file(path);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, ErrorKind::usage);
  EXPECT_NE(twice.error().message.find("mine.json"), std::string::npos);
}

}  // namespace
}  // namespace fp4proof
