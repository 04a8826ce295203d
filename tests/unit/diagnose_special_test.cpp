// Rarer faults of an MXFP4 quantizer, each planted in plain code, against the diagnosis of the answers.

#include <gtest/gtest.h>

#include "tests/unit/diagnose_tables.h"
#include "tests/unit/naive_mxfp4.h"

namespace fp4proof::diagnose {
namespace {

using Words = std::array<std::uint32_t, 32>;

/// What may be wrong; right under mxfp4/ocp unless something is changed.
struct Faults {
  bool scale_wraps = false;
  bool pairwise_maximum = false;  ///< a > b ? a : b
  bool infinity_is_largest_scale = false;
  bool codes_everywhere = false;   ///< under the NaN scale too
  bool halves_subnormals = false;  ///< below 1, the smallest normal element
  bool clears_last_bit = false;
  bool casts_scale = false;  ///< amax / 6 to E8M0: ties up, all between 2^-127 and 2^-126 up
  bool zero_is_nan = false;  ///< E8M0 has no zero
  float padding = 0;
  bool repeats_last = false;
};

/// A positive number, or 0, as a power of two.
int cast_to_e8m0(const Faults& faults, float value) {
  if (value == 0) return faults.zero_is_nan ? 255 : 0;
  if (value < 0x1p-126F) return value > 0x1p-127F ? 1 : 0;
  const int below = naive::binade(double{value});
  return below + 127 + (double{value} >= std::ldexp(1.5, below) ? 1 : 0);
}

int scale_of(const Faults& faults, double amax) {
  if (std::isnan(amax)) return 255;
  if (std::isinf(amax)) return faults.infinity_is_largest_scale ? 254 : 255;
  if (faults.casts_scale) return cast_to_e8m0(faults, static_cast<float>(amax) / 6.0F);
  if (amax == 0) return 0;
  const int code = naive::binade(amax) - 2 + 127;
  return faults.scale_wraps ? code & 255 : std::clamp(code, 0, 254);
}

double maximum_of(const Faults& faults, const Words& words) {
  double largest = 0;
  bool has_nan = false;
  for (const std::uint32_t word : words) {
    const double magnitude = std::fabs(double{naive::as_float(word)});
    has_nan = has_nan || std::isnan(magnitude);
    largest = largest > magnitude ? largest : magnitude;
  }
  return has_nan && !faults.pairwise_maximum ? std::nan("") : largest;
}

int code_of(const Faults& faults, float value, int scale) {
  double scaled = std::ldexp(std::fabs(double{value}), 127 - scale);
  if (faults.halves_subnormals && scaled < 1) scaled /= 2;
  const int magnitude = std::isinf(value) ? 7 : naive::magnitude_code({}, scaled);
  return (faults.clears_last_bit ? magnitude & 6 : magnitude) | (std::signbit(value) ? 8 : 0);
}

naive::Block block_of(const Faults& faults, const Words& words) {
  naive::Block block;
  const double amax = maximum_of(faults, words);
  block.scale = scale_of(faults, amax);
  if (std::isinf(amax) && faults.infinity_is_largest_scale) return block;
  if (block.scale == 255 && !faults.codes_everywhere && !(faults.scale_wraps && std::isfinite(amax))) return block;
  for (std::size_t i = 0; i < 32; ++i) {
    const float value = naive::as_float(words[i]);
    if (!std::isnan(value)) block.codes[i] = code_of(faults, value, block.scale);
  }
  return block;
}

Kernel kernel_of(const Faults& faults) {
  return [faults](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    const auto input = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
    const bool along_rows = group.spec.axis == 1;
    const auto rows = static_cast<std::size_t>(group.spec.rows);
    const auto columns = static_cast<std::size_t>(group.spec.columns);
    const std::size_t lines = along_rows ? rows : columns;
    const std::size_t length = along_rows ? columns : rows;
    const std::size_t blocks = (length + 31) / 32;
    for (std::size_t line = 0; line < lines; ++line) {
      const auto word_at = [&](std::size_t k) {
        if (k >= length && !faults.repeats_last) return bits_as<std::uint32_t>(faults.padding);
        k = std::min(k, length - 1);
        return input[along_rows ? line * columns + k : k * columns + line];
      };
      for (std::size_t b = 0; b < blocks; ++b) {
        Words words{};
        for (std::size_t i = 0; i < 32; ++i) words[i] = word_at(32 * b + i);
        const naive::Block block = block_of(faults, words);
        answer[1][line * blocks + b] = static_cast<std::uint8_t>(block.scale);
        naive::pack_block({}, block, &answer[0][(line * blocks + b) * 16]);
      }
    }
  };
}

void expect_explained(const suite::CaseTable& table, const Faults& faults, std::string_view id) {
  const std::vector<TableDiagnosis> diagnoses = diagnoses_of(table, kernel_of(faults));
  ASSERT_EQ(diagnoses.size(), 1U) << id;
  const TableDiagnosis& diagnosis = diagnoses.front();
  EXPECT_EQ(diagnosis.outcome, Outcome::explained) << id << ": " << to_text(diagnosis);
  ASSERT_EQ(diagnosis.explanations.size(), 1U) << to_text(diagnosis);
  ASSERT_EQ(diagnosis.explanations[0].changes.size(), 1U) << to_text(diagnosis);
  EXPECT_EQ(diagnosis.explanations[0].changes[0].id, id);
}

TEST(DiagnoseSpecial, NamesRarerFaultsOfAnEncoder) {
  const suite::CaseTable table = table_of(suite::Operation::quantize, "mxfp4/ocp");
  EXPECT_TRUE(diagnoses_of(table, kernel_of({})).empty());
  expect_explained(table, {.scale_wraps = true}, "scale-rule=wraps");
  expect_explained(table, {.pairwise_maximum = true}, "nan=lost-in-pairs");
  expect_explained(table, {.infinity_is_largest_scale = true}, "infinity=saturate-zero-codes");
  expect_explained(table, {.codes_everywhere = true}, "codes=under-nan-scale");
  expect_explained(table, {.halves_subnormals = true}, "rounding=subnormals-halved");
  expect_explained(table, {.clears_last_bit = true}, "rounding=odd-codes-cut");
  expect_explained(table, {.padding = 1}, "padding=ones");
  expect_explained(table, {.repeats_last = true}, "padding=last");
}

TEST(DiagnoseSpecial, NamesCastsOfTheScaleToE8m0) {
  Profile rules = *find_profile("mxfp4/nearest");
  rules.name = "mxfp4/nearest-fp32-divide";
  rules.scale_arithmetic = ScaleArithmetic::fp32_divide;
  const suite::CaseTable table =
      *suite::make_table(*suite::find_set("quick"), suite::Operation::quantize, {SharedProfile(), &rules});
  expect_explained(table, {.casts_scale = true}, "scale-rule=e8m0-cast");
  expect_explained(table, {.casts_scale = true, .zero_is_nan = true}, "scale-rule=e8m0-cast-zero-nan");
}

TEST(DiagnoseSpecial, SpeaksOfOneMismatchInTheSingular) {
  TableDiagnosis diagnosis;
  diagnosis.mismatches = diagnosis.examined = 1;
  diagnosis.outcome = Outcome::unexplained;
  EXPECT_EQ(to_text(diagnosis), "no known change explains the one mismatch");
  diagnosis.mismatches = diagnosis.examined = 2;
  EXPECT_EQ(to_text(diagnosis), "no known change explains any of 2 mismatches");
}

}  // namespace
}  // namespace fp4proof::diagnose
