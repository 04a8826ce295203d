// NVFP4 and HiF4 encoders, and corrections, with planted faults, against the diagnosis of their answers.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/diagnose_tables.h"
#include "tests/unit/naive_mxfp4.h"

namespace fp4proof::diagnose {
namespace {

using suite::Operation;
using Ids = std::vector<std::string>;

Ids ids_of(const std::vector<TableDiagnosis>& diagnoses) {
  Ids all;
  for (const Explanation& explanation : diagnoses.at(0).explanations) {
    std::string ids;
    for (const NamedChange& change : explanation.changes) ids += (ids.empty() ? "" : " + ") + change.id;
    all.push_back(ids);
  }
  return all;
}

// ---------------------------------------------------------------------------------------------------------------------
// NVFP4
// ---------------------------------------------------------------------------------------------------------------------

struct Nvfp4Kernel {
  bool multiplies_by_reciprocal = false;  ///< elements times 1 / scale in binary32
  bool scale_toward_zero = false;
  bool never_zero = false;       ///< scale code 0 becomes 1
  bool scale_overflows = false;  ///< beyond 464 the scale is NaN and every element a zero of its sign
};

double e4m3(int code) {
  const int exponent = code >> 3;
  return exponent == 0 ? std::ldexp(code & 7, -9) : std::ldexp(8 + (code & 7), exponent - 10);
}

/// The nearest E4M3 code of a quotient p / 6 with exact comparisons: amax and levels are binary, so 6 * level is too.
int scale_code(const Nvfp4Kernel& kernel, double amax) {
  if (kernel.scale_overflows && amax > 6 * 464.0) return 0x7F;
  int below = 0;
  while (below < 0x7E && 6 * e4m3(below + 1) <= amax) ++below;
  if (below == 0x7E || 6 * e4m3(below) == amax) return below;
  int code = below;
  if (!kernel.scale_toward_zero) {
    const double middle = 3 * (e4m3(below) + e4m3(below + 1));
    code = amax > middle || (amax == middle && below % 2 == 1) ? below + 1 : below;
  }
  return code == 0 && kernel.never_zero ? 1 : code;
}

std::uint8_t nvfp4_code(const Nvfp4Kernel& kernel, float value, int code_of_scale) {
  int code = 0;
  const double magnitude = std::fabs(double{value});
  if (code_of_scale != 0 && code_of_scale != 0x7F) {
    const double scale = e4m3(code_of_scale);
    if (kernel.multiplies_by_reciprocal) {
      code = naive::magnitude_code({}, double{std::fabs(value) * (1.0F / static_cast<float>(scale))});
    } else {
      // Compared with the ties times the scale, which are exact.
      constexpr std::array<double, 7> ties = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};
      for (std::size_t i = 0; i < ties.size(); ++i) {
        if (magnitude > ties[i] * scale || (magnitude == ties[i] * scale && i % 2 == 1)) code = static_cast<int>(i) + 1;
      }
    }
  }
  return static_cast<std::uint8_t>(code | (std::signbit(value) ? 8 : 0));
}

Kernel nvfp4_kernel(const Nvfp4Kernel& kernel) {
  return [kernel](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    if (group.spec.axis != 1 || group.spec.columns % 16 != 0) return;
    const auto words = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
    for (std::size_t block = 0; block < words.size() / 16; ++block) {
      double amax = 0;
      bool special = false;
      for (std::size_t i = 0; i < 16; ++i) {
        const float value = naive::as_float(words[16 * block + i]);
        special = special || !std::isfinite(value);
        amax = std::max(amax, std::fabs(double{value}));
      }
      const int scale = special ? 0x7F : scale_code(kernel, amax);
      answer[1][block] = static_cast<std::uint8_t>(scale);
      for (std::size_t i = 0; i < 16; i += 2) {
        const auto code = [&](std::size_t k) {
          return special ? std::uint8_t{0} : nvfp4_code(kernel, naive::as_float(words[16 * block + k]), scale);
        };
        answer[0][8 * block + i / 2] = static_cast<std::uint8_t>(code(i) | code(i + 1) << 4);
      }
    }
  };
}

TEST(DiagnoseNvfp4, NamesFaultsOfAnEncoder) {
  const suite::CaseTable table = table_of(Operation::quantize, "nvfp4/direct", "quick");
  EXPECT_TRUE(diagnoses_of(table, nvfp4_kernel({})).empty());
  EXPECT_EQ(ids_of(diagnoses_of(table, nvfp4_kernel({.scale_toward_zero = true}))), Ids{"scale-rule=truncated"});
  EXPECT_EQ(ids_of(diagnoses_of(table, nvfp4_kernel({.never_zero = true}))), Ids{"scale-rule=never-zero"});
  EXPECT_EQ(ids_of(diagnoses_of(table, nvfp4_kernel({.scale_overflows = true}))),
            Ids{"scale-rule=overflow-nan-signed"});
  EXPECT_EQ(ids_of(diagnoses_of(table, nvfp4_kernel({.multiplies_by_reciprocal = true}))),
            Ids{"element-arithmetic=fp32-reciprocal"});
}

// ---------------------------------------------------------------------------------------------------------------------
// HiF4
// ---------------------------------------------------------------------------------------------------------------------

struct Hif4Kernel {
  bool above_thresholds = false;  ///< > in place of >=
  bool scale_wraps = false;       ///< no clamp
};

int hif4_scale(const Hif4Kernel& kernel, double amax) {
  const double wanted = naive::to_bf16(amax * 0.142578125);
  if (wanted == 0) return 0;
  const int exponent = naive::binade(wanted);
  const int code = 4 * (exponent + 48) + static_cast<int>(std::nearbyint(std::ldexp(wanted, 2 - exponent))) - 4;
  return kernel.scale_wraps ? code & 255 : std::clamp(code, 0, 254);
}

/// A group of 64 numbers: codes of four bits, and the bytes of the scale word.
void hif4_group(const Hif4Kernel& kernel, const float* x, std::uint8_t* codes, std::uint8_t* scale) {
  const auto largest = [&](int first, int count) {
    double most = 0;
    for (int i = first; i < first + count; ++i) most = std::max(most, std::fabs(double{x[i]}));
    return most;
  };
  const int code = hif4_scale(kernel, largest(0, 64));
  const double reciprocal =
      code == 255 ? 0 : naive::to_bf16(1 / std::ldexp(1 + (code % 4) / 4.0, code / 4 - 48));  // NaN reaches nothing
  const auto reaches = [&](double product, double threshold) {
    return kernel.above_thresholds ? product > threshold : product >= threshold;
  };
  unsigned level2 = 0;
  unsigned level3 = 0;
  for (int k = 0; k < 8; ++k)
    if (reaches(largest(8 * k, 8) * reciprocal, 4)) level2 |= 1U << k;
  for (int k = 0; k < 16; ++k) {
    const double above = (level2 >> (k / 2) & 1U) != 0 ? 4 : 2;
    if (reaches(largest(4 * k, 4) * reciprocal, above)) level3 |= 1U << k;
  }
  for (int i = 0; i < 64; ++i) {
    const int levels = static_cast<int>((level2 >> (i / 8) & 1U) + (level3 >> (i / 4) & 1U));
    const double quarters = std::ldexp(std::fabs(double{x[i]}) * reciprocal, 2 - levels);
    const auto magnitude = static_cast<unsigned>(std::min(7.0, std::floor(quarters + 0.5)));
    const unsigned stored = magnitude | (std::signbit(x[i]) && x[i] != 0 ? 8U : 0U);
    codes[i / 2] = static_cast<std::uint8_t>(i % 2 == 0 ? stored : codes[i / 2] | stored << 4);
  }
  const std::array<unsigned, 4> word = {static_cast<unsigned>(code), level2, level3 & 255U, level3 >> 8};
  for (std::size_t i = 0; i < 4; ++i) scale[i] = static_cast<std::uint8_t>(word[i]);
}

Kernel hif4_kernel(const Hif4Kernel& kernel) {
  return [kernel](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    if (group.spec.axis != 1 || group.spec.columns % 64 != 0) return;
    const auto values = copy_elements<float>(group.find("input")->of_case(index));
    for (std::size_t g = 0; g < values.size() / 64; ++g) {
      const float* x = &values[64 * g];
      if (std::all_of(x, x + 64, [](float value) { return std::isfinite(value); })) {
        hif4_group(kernel, x, &answer[0][32 * g], &answer[1][4 * g]);
      }
    }
  };
}

TEST(DiagnoseHif4, NamesFaultsOfAnEncoder) {
  const suite::CaseTable table = table_of(Operation::quantize, "hif4/gcc", "quick");
  EXPECT_TRUE(diagnoses_of(table, hif4_kernel({})).empty());
  EXPECT_EQ(ids_of(diagnoses_of(table, hif4_kernel({.above_thresholds = true}))), Ids{"levels=above-thresholds"});
  EXPECT_EQ(ids_of(diagnoses_of(table, hif4_kernel({.scale_wraps = true}))), Ids{"scale-rule=wraps"});
}

// ---------------------------------------------------------------------------------------------------------------------
// HiF4: the right answer stored otherwise
// ---------------------------------------------------------------------------------------------------------------------

TEST(DiagnoseHif4, NamesTheOrderOfMicroExponents) {
  const suite::CaseTable table = table_of(Operation::quantize, "hif4/gcc");
  const Kernel msb_first = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    for (std::size_t i = 0; i < answer[1].size(); ++i) {
      if (i % 4 == 0) continue;
      std::uint8_t reversed = 0;
      for (unsigned bit = 0; bit < 8; ++bit)
        reversed |= static_cast<std::uint8_t>((answer[1][i] >> bit & 1U) << (7 - bit));
      answer[1][i] = reversed;
    }
  };
  EXPECT_EQ(ids_of(diagnoses_of(table, msb_first)), Ids{"micro-order=msb-first"});
  const Kernel big_endian = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    for (std::size_t i = 0; i + 4 <= answer[1].size(); i += 4) std::reverse(&answer[1][i], &answer[1][i] + 4);
  };
  EXPECT_EQ(ids_of(diagnoses_of(table, big_endian)), Ids{"micro-order=big-endian"});
}

// ---------------------------------------------------------------------------------------------------------------------
// Corrections
// ---------------------------------------------------------------------------------------------------------------------

void put_float(std::vector<std::uint8_t>& bytes, std::size_t place, float value) {
  std::memcpy(&bytes[4 * place], &value, 4);
}

/// What codes and scales of MXFP4 rows stand for.
float mxfp4_value(const std::vector<std::uint8_t>& codes, const std::vector<std::uint8_t>& scales, std::size_t place) {
  constexpr std::array<float, 8> levels = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  const unsigned code = place % 2 == 1 ? codes[place / 2] >> 4U : codes[place / 2] & 15U;
  if (scales[place / 32] == 255) return std::nanf("");
  const double value = std::ldexp(double{levels[code & 7U]}, scales[place / 32] - 127);
  return static_cast<float>((code & 8U) != 0 ? -value : value);
}

suite::CaseTable table_of_stacks(std::string_view profile, const Ids& stacks) {
  suite::CaseTable table = table_of(Operation::correct, profile, "quick");
  std::erase_if(table.groups, [&](const suite::CaseGroup& group) {
    const bool plain = group.spec.axis == 1 && group.spec.columns % 32 == 0;
    return !plain || std::ranges::find(stacks, group.spec.correction) == stacks.end();
  });
  return table;
}

TEST(DiagnoseCorrect, NamesAResidualThatIsLeftOut) {
  // codes, scales, residual codes, residual scales, values
  const suite::CaseTable table = table_of_stacks("mxfp4/ocp", {"fallback", "resq"});
  ASSERT_GT(table.case_count(), 4U);
  const Kernel without = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    std::ranges::fill(answer[2], std::uint8_t{0});
    std::ranges::fill(answer[3], std::uint8_t{0});
    for (std::size_t i = 0; i < answer[4].size() / 4; ++i)
      put_float(answer[4], i, mxfp4_value(answer[0], answer[1], i));
  };
  // On these groups nothing but the residual is a correction, so both are the same.
  EXPECT_EQ(ids_of(diagnoses_of(table, without)), (Ids{"corrections=none", "residual=off"}));
}

TEST(DiagnoseCorrect, NamesTheWeightOfAResidual) {
  const suite::CaseTable table = table_of_stacks("mxfp4/ocp", {"fallback"});
  ASSERT_GT(table.case_count(), 2U);
  const Kernel whole = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    for (std::size_t i = 0; i < answer[4].size() / 4; ++i) {
      put_float(answer[4], i, mxfp4_value(answer[0], answer[1], i) + mxfp4_value(answer[2], answer[3], i));
    }
  };
  const Ids ids = ids_of(diagnoses_of(table, whole));
  EXPECT_EQ(std::ranges::count(ids, "residual=alpha-1"), 1);
}

TEST(DiagnoseCorrect, NamesTheTiesOfAMask) {
  const suite::CaseTable table = table_of_stacks("mxfp4/ocp", {"resq"});
  // The 2:4 mask made anew from the residual x - x1, between equals the higher column; codes that the right answer
  // leaves out are coded here.
  const Kernel ties_last = [](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    const auto words = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
    for (std::size_t first = 0; first < words.size(); first += 4) {
      std::array<float, 4> r{};
      for (std::size_t k = 0; k < 4; ++k) {
        const float difference = naive::as_float(words[first + k]) - mxfp4_value(answer[0], answer[1], first + k);
        r[k] = std::isnan(difference) ? 0 : std::fabs(difference);
      }
      for (std::size_t k = 0; k < 4; ++k) {
        std::size_t before = 0;  // elements that go first
        for (std::size_t other = 0; other < 4; ++other)
          before += r[other] > r[k] || (r[other] == r[k] && other > k) ? 1 : 0;
        const std::size_t place = first + k;
        const float x1 = mxfp4_value(answer[0], answer[1], place);
        const double scaled = std::ldexp(double{r[k]}, 127 - answer[3][place / 32]);
        const bool negative =
            naive::as_float(words[place]) - x1 < 0 || std::signbit(naive::as_float(words[place]) - x1);
        const bool coded = before < 2 && answer[3][place / 32] != 255;
        const int code = coded ? naive::magnitude_code({}, scaled) | (negative ? 8 : 0) : 0;
        std::uint8_t& byte = answer[2][place / 2];
        byte = static_cast<std::uint8_t>(place % 2 == 1 ? (byte & 0x0F) | code << 4 : (byte & 0xF0) | code);
      }
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      const float x1 = mxfp4_value(answer[0], answer[1], i);
      const float x2 = mxfp4_value(answer[2], answer[3], i);
      put_float(answer[4], i, x1 + x2);
    }
  };
  EXPECT_EQ(ids_of(diagnoses_of(table, ties_last)), Ids{"residual-mask=ties-last"});
}

TEST(DiagnoseCorrect, NamesMacroFactorsThatAreOff) {
  const suite::CaseTable table = table_of_stacks("mxfp4/rceil", {"mbs", "mbs-32"});
  ASSERT_GT(table.case_count(), 2U);
  // codes, scales, macro, values
  const Kernel off = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    for (std::uint8_t& byte : answer[2]) ++byte;
  };
  EXPECT_EQ(ids_of(diagnoses_of(table, off)), Ids{"macro=bytes+1"});
}

// ---------------------------------------------------------------------------------------------------------------------
// Decompositions
// ---------------------------------------------------------------------------------------------------------------------

TEST(DiagnoseDecompose, NamesTermsOfTheOtherSign) {
  const suite::CaseTable table = table_of(Operation::decompose, "mxfp4/ocp");
  const Kernel negated = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    for (std::size_t i = 0; i + 8 <= answer[0].size(); i += 8) {
      double term = 0;
      std::memcpy(&term, &answer[0][i], 8);
      if (term != 0) term = -term;
      std::memcpy(&answer[0][i], &term, 8);
    }
  };
  EXPECT_EQ(ids_of(diagnoses_of(table, negated)), Ids{"terms=negated"});
}

}  // namespace
}  // namespace fp4proof::diagnose
