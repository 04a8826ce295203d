// The verifier against kernels with one known fault each: it must fail them and name the fault.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "conformance/suite/case_class.h"
#include "conformance/suite/make_table.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/verify/compare.h"
#include "formats/hif4.h"
#include "formats/packing.h"
#include "formats/spec_profiles.h"

namespace fp4proof::verify {
namespace {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;
using suite::Operation;

SharedProfile shared(std::string_view name) { return {SharedProfile(), find_profile(name)}; }

CaseTable table_of(std::string_view profile, Operation operation = Operation::quantize) {
  Result<CaseTable> table = suite::make_table(*suite::find_set("quick"), operation, shared(profile));
  EXPECT_TRUE(table.ok());
  return std::move(*table);
}

/// Answers that start as the right ones.
using Mutation = std::function<void(CaseGroup&)>;

VerifyReport compare(const CaseTable& table, const CaseTable& answers, CompareRules rules = {}) {
  static const std::vector<suite::ClassEntry> classes = suite::class_entries();
  VerifyReport report;
  report.tables.emplace_back();
  report.tables[0].profile = table.profile;
  CompareContext context;
  context.rules = rules;
  context.classes = &classes;
  context.most_mismatches = 1000000;
  for (std::size_t g = 0; g < table.groups.size(); ++g) {
    std::vector<Bytes> tensors;
    for (const CaseTensor& tensor : answers.groups[g].tensors)
      if (tensor.expected) tensors.emplace_back(tensor.bytes);
    compare_group(context, table, table.groups[g], ActualGroup::in_order(tensors, table.groups[g].size()),
                  report.tables[0], report);
  }
  return report;
}

VerifyReport compare_mutated(const CaseTable& table, const Mutation& mutate) {
  CaseTable answers = table;
  for (CaseGroup& group : answers.groups) mutate(group);
  return compare(table, answers);
}

/// The answers of a kernel that follows another profile.
VerifyReport compare_profile(const CaseTable& table, const std::function<void(Profile&)>& change) {
  Profile other = *table.profile;
  change(other);
  CaseTable answers = table;
  answers.profile = std::make_shared<Profile>(other);
  EXPECT_TRUE(suite::answer_by_reference(answers).ok());
  return compare(table, answers);
}

std::uint64_t count(const VerifyReport& report, Cause cause, const std::string& kind) {
  const auto& causes = report.tables[0].causes;
  const auto of_cause = causes.find(cause);
  if (of_cause == causes.end()) return 0;
  const auto of_kind = of_cause->second.find(kind);
  return of_kind == of_cause->second.end() ? 0 : of_kind->second.cases;
}

/// Some cases fail, and all of them for this reason.
void expect_only(const VerifyReport& report, Cause cause, const std::string& kind) {
  EXPECT_GT(report.total().failed, 0U);
  EXPECT_EQ(count(report, cause, kind), report.total().failed) << to_json(report).dump();
}

template <class Change>
void change_bytes(CaseGroup& group, std::string_view tensor, Change change) {
  for (std::uint8_t& byte : group.find(tensor)->bytes) byte = static_cast<std::uint8_t>(change(byte));
}

template <class Change>
void change_scale_words(CaseGroup& group, Change change) {
  std::vector<std::uint8_t>& bytes = group.find("scales")->bytes;
  for (std::size_t i = 0; i < bytes.size(); i += 4) store_le32(change(load_le32(&bytes[i])), &bytes[i]);
}

TEST(Verify, PassesTheReference) {
  for (const std::string_view profile : {"mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp8-e5m2/ocp"}) {
    for (const Operation operation : suite::operations) {
      if (!suite::is_asked_of(operation, *find_profile(profile))) continue;
      const CaseTable table = table_of(profile, operation);
      const VerifyReport report = compare(table, table);
      EXPECT_EQ(report.total().failed, 0U) << profile;
      EXPECT_EQ(report.total().passed, table.case_count());
      EXPECT_GT(table.case_count(), 0U);
    }
  }
}

// SuperNPUBench#49: a check of the mean squared error passed while every code was wrong by one.
TEST(Verify, FailsEveryCodeOffByOne) {
  for (const std::string_view profile : {"mxfp4/ocp", "hif4/gcc", "nvfp4/direct"}) {
    const CaseTable table = table_of(profile);
    const VerifyReport report = compare_mutated(table, [](CaseGroup& group) {
      const auto off = [](unsigned code) { return (code & 7U) == 7U ? code - 1U : code + 1U; };
      change_bytes(group, "codes", [&](unsigned byte) { return off(byte & 15U) | off(byte >> 4) << 4; });
    });
    EXPECT_EQ(report.total().failed, table.case_count());
    EXPECT_EQ(report.total().passed, 0U);
    for (const Mismatch& mismatch : report.mismatches) {
      const bool is_element = mismatch.finding.cause == Cause::element;
      EXPECT_TRUE(!is_element || std::abs(mismatch.finding.distance) == 1);
    }
    EXPECT_GT(report.tables[0].causes.at(Cause::element).size(), 0U);
  }
}

// tinygrad#14866: stored values doubled against the scale convention.
TEST(Verify, NamesAConstantScaleOffset) {
  const CaseTable table = table_of("mxfp4/ocp");
  const VerifyReport report = compare_mutated(table, [](CaseGroup& group) {
    change_bytes(group, "scales", [](unsigned scale) { return scale < 254 ? scale + 1 : scale; });
  });
  EXPECT_GT(count(report, Cause::scale, "scale-code"), table.case_count() / 2);
  for (const auto& [distance, cases] : report.tables[0].causes.at(Cause::scale).at("scale-code").distances) {
    EXPECT_EQ(distance, 1);
    EXPECT_GT(cases, 0U);
  }
}

TEST(Verify, NamesAnotherScaleRule) {
  const CaseTable table = table_of("mxfp4/ocp");
  expect_only(compare_profile(table, [](Profile& p) { p.scale_rule = ScaleRule::rceil; }), Cause::scale, "scale-code");
  expect_only(compare_profile(table, [](Profile& p) { p.scale_arithmetic = ScaleArithmetic::float_log2; }),
              Cause::scale, "scale-code");
}

TEST(Verify, NamesSwappedNibbles) {
  for (const std::string_view profile : {"mxfp4/ocp", "hif4/gcc", "mxfp4-2d/ocp"}) {
    const VerifyReport report = compare_mutated(table_of(profile), [](CaseGroup& group) {
      change_bytes(group, "codes", [](unsigned byte) { return byte >> 4 | byte << 4; });
    });
    expect_only(report, Cause::packing, "swapped-nibbles");
  }
}

TEST(Verify, NamesSplitNibbles) {
  const CaseTable table = table_of("mxfp4/ocp");
  const VerifyReport report = compare_mutated(table, [](CaseGroup& group) {
    std::vector<std::uint8_t>& bytes = group.find("codes")->bytes;
    for (std::size_t i = 0; i < bytes.size(); i += 16) {
      std::array<std::uint8_t, 32> codes{};
      unpack_nibbles(NibbleOrder::even_low, &bytes[i], 32, codes.data());
      pack_nibbles(NibbleOrder::split, codes.data(), 32, &bytes[i]);
    }
  });
  const std::uint64_t split = count(report, Cause::packing, "split-nibbles");
  // A block of few values may look swapped as well.
  EXPECT_EQ(split + count(report, Cause::packing, "swapped-nibbles"), report.total().failed);
  EXPECT_GT(split, report.total().failed / 2);
}

TEST(Verify, NamesMicroExponentsMsbFirst) {
  const VerifyReport report =
      compare_mutated(table_of("hif4/gcc"), [](CaseGroup& group) { change_scale_words(group, swap_micro_order); });
  expect_only(report, Cause::packing, "micro-order");
}

TEST(Verify, NamesScaleWordsHighestByteFirst) {
  const VerifyReport report = compare_mutated(table_of("hif4/gcc"), [](CaseGroup& group) {
    change_scale_words(group, [](std::uint32_t word) { return __builtin_bswap32(word); });
  });
  EXPECT_EQ(count(report, Cause::packing, "byte-order") + count(report, Cause::packing, "micro-order"),
            report.total().failed);
  EXPECT_GT(count(report, Cause::packing, "byte-order"), report.total().failed / 2);
}

/// The emulator's fault, written out: level-2 bit of element i is i mod 8, level-3 bit is i mod 16.
void group_by_modulo(const Profile& profile, CaseGroup& group) {
  if (group.spec.columns != 64 || group.spec.rows != 1) return;
  for (std::size_t index = 0; index < group.size(); ++index) {
    const auto words = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
    std::uint8_t* scales = &group.find("scales")->bytes[4 * index];
    const std::uint8_t e6m2 = scales[0];
    if (e6m2 == e6m2_nan) continue;
    std::array<std::uint32_t, 8> max8{};
    std::array<std::uint32_t, 16> max16{};
    for (std::size_t i = 0; i < 64; ++i) {
      max8[i % 8] = std::max(max8[i % 8], words[i] & float_magnitude_mask);
      max16[i % 16] = std::max(max16[i % 16], words[i] & float_magnitude_mask);
    }
    std::uint32_t level2 = 0;
    std::uint32_t level3 = 0;
    for (std::size_t k = 0; k < 8; ++k) level2 |= (hif4_reaches(profile, e6m2, max8[k], 2) ? 1U : 0U) << k;
    for (std::size_t k = 0; k < 16; ++k) {
      const int above = static_cast<int>(level2 >> (k % 8) & 1U);
      level3 |= (hif4_reaches(profile, e6m2, max16[k], 1 + above) ? 1U : 0U) << k;
    }
    store_le32(hif4_word(e6m2, level2, level3), scales);
    for (std::size_t i = 0; i < 64; i += 2) {
      unsigned byte = 0;
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t e = i + half;
        const int levels = static_cast<int>((level2 >> (e % 8) & 1U) + (level3 >> (e % 16) & 1U));
        byte |= unsigned{hif4_encode_element(profile, e6m2, levels, words[e], 0)} << (4 * half);
      }
      group.find("codes")->bytes[32 * index + i / 2] = static_cast<std::uint8_t>(byte);
    }
  }
}

TEST(Verify, NamesStridedGroups) {
  const CaseTable table = table_of("hif4/gcc");
  const VerifyReport report = compare_mutated(table, [&](CaseGroup& group) { group_by_modulo(*table.profile, group); });
  EXPECT_GT(report.total().failed, table.case_count() / 4);
  // Bits that happen to be those of the other bit order are told apart in other cases.
  EXPECT_GT(count(report, Cause::micro, "strided-groups"), report.total().failed * 9 / 10);
  EXPECT_GT(report.tables[0].classes.at("hif4-grouping").failed, 0U);
}

TEST(Verify, NamesThresholdArithmetic) {
  const VerifyReport report =
      compare_profile(table_of("hif4/gcc"), [](Profile& p) { p.threshold_arithmetic = ThresholdArithmetic::bf16; });
  EXPECT_EQ(count(report, Cause::micro, "level2-bit") + count(report, Cause::micro, "level3-bit") +
                count(report, Cause::micro, "strided-groups"),
            report.total().failed);
  EXPECT_GT(count(report, Cause::micro, "level2-bit"), 0U);
  EXPECT_GT(count(report, Cause::micro, "level3-bit"), 0U);
}

TEST(Verify, NamesTies) {
  for (const std::string_view profile : {"mxfp4/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/rceil", "nvfp4/direct"}) {
    expect_only(compare_profile(table_of(profile), [](Profile& p) { p.rounding = Rounding::rna; }), Cause::element,
                "tie");
  }
  expect_only(compare_profile(table_of("hif4/gcc"), [](Profile& p) { p.rounding = Rounding::rne; }), Cause::element,
              "tie");
}

TEST(Verify, NamesDoubleRounding) {
  for (const std::string_view profile : {"mxfp4/ocp", "hif4/gcc"}) {
    expect_only(compare_profile(table_of(profile), [](Profile& p) { p.element_arithmetic = ElementArithmetic::bf16; }),
                Cause::element, "double-rounding");
  }
  expect_only(
      compare_profile(table_of("hif4/amct"), [](Profile& p) { p.element_arithmetic = ElementArithmetic::exact; }),
      Cause::element, "no-pre-rounding");
}

TEST(Verify, NamesSpecialPolicies) {
  const CaseTable table = table_of("mxfp4/ocp");
  expect_only(compare_profile(table, [](Profile& p) { p.nan = NanPolicy::ignore; }), Cause::special, "nan-block");
  expect_only(compare_profile(table, [](Profile& p) { p.inf = InfPolicy::saturate; }), Cause::special,
              "infinity-block");
  expect_only(compare_profile(table, [](Profile& p) { p.zero_scale_code = 127; }), Cause::special, "zero-block");
  const VerifyReport report =
      compare_profile(table_of("mxfp4/even"), [](Profile& p) { p.scale_arithmetic = ScaleArithmetic::word_add; });
  EXPECT_GT(count(report, Cause::special, "nan-scale"), 0U);
}

TEST(Verify, NamesSignsOfZero) {
  expect_only(compare_profile(table_of("mxfp4/ocp"), [](Profile& p) { p.zero_sign = ZeroSign::dropped; }),
              Cause::element, "sign-of-zero");
  expect_only(compare_profile(table_of("hif4/gcc"), [](Profile& p) { p.zero_sign = ZeroSign::kept; }), Cause::element,
              "sign-of-zero");
}

TEST(Verify, NamesFlushedSubnormals) {
  const VerifyReport report = compare_mutated(table_of("mxfp8-e5m2/ocp"), [](CaseGroup& group) {
    change_bytes(group, "codes", [](unsigned code) { return (code & 0x7FU) < 4 ? code & 0x80U : code; });
  });
  EXPECT_GT(count(report, Cause::element, "flushed-subnormal"), 0U);
  EXPECT_EQ(report.tables[0].causes.size(), 1U);
}

TEST(Verify, NamesMissingSaturation) {
  const VerifyReport report = compare_mutated(table_of("mxfp8-e4m3/ocp"), [](CaseGroup& group) {
    change_bytes(group, "codes", [](unsigned code) { return (code & 0x7FU) == 0x7EU ? code | 0x7FU : code; });
  });
  expect_only(report, Cause::element, "special-code");
  const VerifyReport one_down = compare_mutated(table_of("mxfp4/ocp"), [](CaseGroup& group) {
    change_bytes(group, "codes", [](unsigned byte) {
      const auto down = [](unsigned code) { return (code & 7U) == 7U ? code - 1U : code; };
      return down(byte & 15U) | down(byte >> 4) << 4;
    });
  });
  EXPECT_GT(count(one_down, Cause::element, "saturation"), 0U);
}

TEST(Verify, NamesRandomBitsUsedAnotherWay) {
  const CaseTable table = table_of("mxfp4/rceil-sr8");
  expect_only(compare_profile(table, [](Profile& p) { p.random_bits = 16; }), Cause::element, "random-bits");
}

TEST(Verify, NamesUnwrittenOutput) {
  const CaseTable table = table_of("mxfp4/ocp");
  const VerifyReport report = compare_mutated(
      table, [](CaseGroup& group) { change_bytes(group, "codes", [](unsigned) { return poison_byte; }); });
  expect_only(report, Cause::unwritten, "poison");
}

TEST(Verify, NamesTransposedTiles) {
  const CaseTable table = table_of("mxfp4-2d/ocp");
  const VerifyReport report = compare_mutated(table, [](CaseGroup& group) {
    if (group.spec.rows != 32 || group.spec.columns != 32 || group.spec.axis != 1) return;
    for (std::size_t i = 0; i < group.size(); ++i) {
      std::array<std::uint8_t, 1024> codes{};
      std::array<std::uint8_t, 1024> turned{};
      std::uint8_t* bytes = &group.find("codes")->bytes[512 * i];
      unpack_nibbles(NibbleOrder::even_low, bytes, 1024, codes.data());
      for (std::size_t k = 0; k < 1024; ++k) turned[k % 32 * 32 + k / 32] = codes[k];
      pack_nibbles(NibbleOrder::even_low, turned.data(), 1024, bytes);
    }
  });
  expect_only(report, Cause::packing, "transposed");
}

TEST(Verify, IgnoresCodesUnderNanOnlyIfAsked) {
  const CaseTable table = table_of("mxfp4/ocp");
  CaseTable answers = table;
  for (CaseGroup& group : answers.groups) {
    const std::size_t blocks = group.find("scales")->bytes.size();
    for (std::size_t b = 0; b < blocks; ++b) {
      if (group.find("scales")->bytes[b] == e8m0_nan) group.find("codes")->bytes[16 * b] = 0x77;
    }
  }
  expect_only(compare(table, answers), Cause::special, "nan-scale-codes");
  EXPECT_EQ(compare(table, answers, {.ignore_codes_under_nan = true}).total().failed, 0U);
}

TEST(VerifyValues, AnyNanIsNan) {
  const VerifyReport report = compare_mutated(table_of("mxfp4/ocp", Operation::dequantize), [](CaseGroup& group) {
    std::vector<std::uint8_t>& bytes = group.find("values")->bytes;
    for (std::size_t i = 0; i < bytes.size(); i += 4)
      if (is_nan_bits(load_le32(&bytes[i]))) store_le32(0xFFFFFFFFU, &bytes[i]);
  });
  EXPECT_EQ(report.total().failed, 0U);
}

TEST(VerifyValues, NamesADecodedScaleOfZeroAndInfinity) {
  const CaseTable table = table_of("mxfp8-e4m3/ocp", Operation::dequantize);
  const VerifyReport report = compare_mutated(table, [&](CaseGroup& group) {
    const std::vector<std::uint8_t>& scales = group.find("scales")->bytes;
    std::vector<std::uint8_t>& bytes = group.find("values")->bytes;
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      const std::uint8_t scale = scales[i / 4 / 32];
      if (scale == 0) store_le32(load_le32(&bytes[i]) & float_sign_mask, &bytes[i]);
      if (scale == 255) store_le32(float_infinity_bits, &bytes[i]);
    }
  });
  EXPECT_GT(count(report, Cause::special, "nan-value"), 0U);
  EXPECT_GT(report.total().failed, count(report, Cause::special, "nan-value"));
  EXPECT_GT(report.tables[0].classes.at("wild-transformer-engine-3262").failed, 0U);
}

TEST(VerifyValues, NamesTheWrongBias) {
  const VerifyReport report = compare_mutated(table_of("mxfp4/ocp", Operation::dequantize), [](CaseGroup& group) {
    std::vector<std::uint8_t>& bytes = group.find("values")->bytes;
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      const float value = float_from_bits(load_le32(&bytes[i]));
      store_le32(float_bits(value * 4.0F), &bytes[i]);
    }
  });
  EXPECT_GT(count(report, Cause::scale, "scale-value"), report.total().failed / 2);
  EXPECT_EQ(report.tables[0].causes.at(Cause::scale).at("scale-value").distances.begin()->first, 2);
}

// SuperNPUBench#122: a verifier with E2M1 values where the elements are S1P2.
TEST(VerifyValues, FailsAnotherElementTable) {
  const CaseTable table = table_of("hif4/gcc", Operation::dequantize);
  const VerifyReport report = compare_profile(table, [](Profile& p) { p.element = Element::e2m1; });
  EXPECT_GT(report.tables[0].classes.at("dequantize-codebook").failed, 0U);
  EXPECT_GT(count(report, Cause::element, "value"), 0U);
}

TEST(VerifyValues, NamesSwappedNibbles) {
  const CaseTable table = table_of("mxfp4/ocp", Operation::dequantize);
  CaseTable answers = table;
  for (CaseGroup& group : answers.groups) {
    change_bytes(group, "codes", [](unsigned byte) { return byte >> 4 | byte << 4; });
  }
  ASSERT_TRUE(suite::answer_by_reference(answers).ok());
  expect_only(compare(table, answers), Cause::packing, "swapped-nibbles");
}

TEST(VerifyValues, NamesTheAccumulationOrder) {
  CaseTable table = table_of("mxfp4/ocp", Operation::gemm);
  CaseTable answers = table;
  for (CaseGroup& group : answers.groups) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto c = suite::gemm_of_case(*table.profile, group, i, "exact");
      ASSERT_TRUE(c.ok());
      const Bytes bytes = bytes_of(*c);
      std::copy(bytes.begin(), bytes.end(),
                group.find("c")->bytes.begin() + static_cast<std::ptrdiff_t>(i * bytes.size()));
    }
  }
  expect_only(compare(table, answers), Cause::order, "accumulation");
}

TEST(VerifyValues, NamesTransposedProducts) {
  const CaseTable table = table_of("mxfp4/ocp", Operation::gemm);
  const VerifyReport report = compare_mutated(table, [](CaseGroup& group) {
    CaseTensor& c = *group.find("c");
    const auto rows = static_cast<std::size_t>(group.spec.rows);
    const auto columns = static_cast<std::size_t>(group.spec.other_rows);
    const std::vector<std::uint8_t> before = c.bytes;
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t k = 0; k < rows * columns; ++k) {
        const std::size_t from = 4 * (i * rows * columns + k);
        const std::size_t to = 4 * (i * rows * columns + k % columns * rows + k / columns);
        std::copy_n(&before[from], 4, &c.bytes[to]);
      }
    }
  });
  EXPECT_GT(count(report, Cause::packing, "transposed"), report.total().failed * 3 / 4);
}

TEST(VerifyText, ShowsTheFields) {
  EXPECT_EQ(float_fields(0xC0A00001U), "1.10000001.01000000000000000000001");
  EXPECT_EQ(code_fields(*find_profile("mxfp4/ocp"), 0xB), "1.01.1");
  EXPECT_EQ(code_fields(*find_profile("hif4/gcc"), 0x6), "0.1.10");
  EXPECT_EQ(code_fields(*find_profile("mxfp8-e4m3/ocp"), 0x7E), "0.1111.110");
  EXPECT_EQ(hex_float(0xC0A00000U), "-0x1.4p+2");
  EXPECT_EQ(scale_text(*find_profile("mxfp4/ocp"), 126), "126 (2^-1)");
}

TEST(VerifyText, EveryKindHasALikelyCause) {
  for (const std::string_view profile : {"mxfp4/ocp", "hif4/gcc"}) {
    for (const Operation operation : suite::operations) {
      const VerifyReport report = compare_mutated(table_of(profile, operation), [](CaseGroup& group) {
        for (CaseTensor& tensor : group.tensors) {
          if (!tensor.expected) continue;
          for (std::size_t i = 0; i < tensor.bytes.size(); i += 7) tensor.bytes[i] ^= static_cast<std::uint8_t>(i);
        }
      });
      EXPECT_GT(report.mismatches.size(), 0U);
      for (const Mismatch& mismatch : report.mismatches) {
        EXPECT_NE(likely_cause(mismatch.finding.kind), "unknown") << mismatch.finding.kind;
        EXPECT_NE(to_text(mismatch).find("likely"), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace fp4proof::verify
