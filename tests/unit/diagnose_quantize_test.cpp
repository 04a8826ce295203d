// Kernels with planted faults, written without the code under test, against the diagnosis of their answers.

#include <gtest/gtest.h>

#include "tests/unit/diagnose_tables.h"
#include "tests/unit/naive_mxfp4.h"

namespace fp4proof::diagnose {
namespace {

Kernel kernel_of(const naive::Kernel& naive) {
  return [naive](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    const auto input = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
    naive::quantize(naive, input, static_cast<std::size_t>(group.spec.rows),
                    static_cast<std::size_t>(group.spec.columns), group.spec.axis, answer[0], answer[1]);
  };
}

const suite::CaseTable& ocp_table() {
  static const suite::CaseTable table = table_of(suite::Operation::quantize, "mxfp4/ocp");
  return table;
}

TableDiagnosis diagnosis_of(const naive::Kernel& naive) {
  const std::vector<TableDiagnosis> diagnoses = diagnoses_of(ocp_table(), kernel_of(naive));
  EXPECT_EQ(diagnoses.size(), 1U);
  return diagnoses.empty() ? TableDiagnosis{} : diagnoses.front();
}

/// The ids of each explanation, joined by " + ".
std::vector<std::string> ids_of(const TableDiagnosis& diagnosis) {
  std::vector<std::string> all;
  for (const Explanation& explanation : diagnosis.explanations) {
    std::string ids;
    for (const NamedChange& change : explanation.changes) ids += (ids.empty() ? "" : " + ") + change.id;
    all.push_back(ids);
  }
  return all;
}

using Ids = std::vector<std::string>;

void expect_explained(const naive::Kernel& naive, const std::string& ids) {
  const TableDiagnosis diagnosis = diagnosis_of(naive);
  EXPECT_EQ(ids_of(diagnosis), Ids{ids}) << to_text(diagnosis);
  EXPECT_EQ(diagnosis.outcome, Outcome::explained) << to_text(diagnosis);
  for (const Explanation& explanation : diagnosis.explanations) {
    EXPECT_EQ(explanation.explained, diagnosis.mismatches);
    EXPECT_EQ(explanation.contradicted, 0U);
  }
}

TEST(DiagnoseQuantize, ARightKernelHasNoDiagnosis) { EXPECT_TRUE(diagnoses_of(ocp_table(), kernel_of({})).empty()); }

TEST(DiagnoseQuantize, NamesTheScaleRule) {
  expect_explained({.scale_up = true}, "scale-rule=ceil");
  expect_explained({.nothing_clips = true}, "scale-rule=rceil");
  expect_explained({.up_mask = 0x4FFFFF}, "scale-rule=round-up-mask-4fffff");
  const TableDiagnosis diagnosis = diagnosis_of({.scale_up = true});
  EXPECT_EQ(to_text(diagnosis), "behaves as scale rule ceil in place of floor (profile mxfp4/ceil); all " +
                                    std::to_string(diagnosis.mismatches) + " mismatches explained");
}

TEST(DiagnoseQuantize, NamesTheRounding) {
  expect_explained({.tie = naive::Tie::away}, "rounding=rna");
  expect_explained({.tie = naive::Tie::down}, "rounding=ties-down");
  expect_explained({.truncates = true}, "rounding=rtz");
}

TEST(DiagnoseQuantize, NamesSpecialValues) {
  expect_explained({.flushes_inputs = true}, "input=flushed");
  expect_explained({.skips_nan = true}, "nan=ignore");
  expect_explained({.keeps_infinity = true}, "infinity=saturate");
  expect_explained({.drops_sign_of_zero = true}, "zero-sign=dropped");
  expect_explained({.zero_scale = 127}, "zero-scale-code=127");
}

TEST(DiagnoseQuantize, NamesOffsetsAndSaturation) {
  expect_explained({.shift = 1}, "scale-offset=+1");
  expect_explained({.shift = -1}, "scale-offset=-1");
  expect_explained({.stored_shift = 2}, "scale-offset=stored+2");
  expect_explained({.code_shift = 1}, "code-offset=+1-of-numbers");
  expect_explained({.wraps = true}, "saturation=wrapped");
}

TEST(DiagnoseQuantize, NamesThePacking) {
  expect_explained({.swaps_nibbles = true}, "code-order=swapped-nibbles");
  expect_explained({.splits_nibbles = true}, "code-order=split-nibbles");
}

TEST(DiagnoseQuantize, NamesTwoChangesThatAreNeededTogether) {
  expect_explained({.scale_up = true, .swaps_nibbles = true}, "scale-rule=ceil + code-order=swapped-nibbles");
  expect_explained({.tie = naive::Tie::away, .zero_scale = 127}, "rounding=rna + zero-scale-code=127");
  expect_explained({.skips_nan = true, .stored_shift = 1}, "nan=ignore + scale-offset=stored+1");
  const TableDiagnosis pair = diagnosis_of({.scale_up = true, .swaps_nibbles = true});
  EXPECT_NE(to_text(pair).find("scale rule ceil in place of floor (profile mxfp4/ceil) together with swapped nibbles"),
            std::string::npos)
      << to_text(pair);
  EXPECT_NE(to_text(pair).find("by neither change alone"), std::string::npos);
}

TEST(DiagnoseQuantize, ListsAllWhereSeveralExplainTheSame) {
  const TableDiagnosis diagnosis = diagnosis_of({.bf16_elements = true});
  EXPECT_EQ(diagnosis.outcome, Outcome::ambiguous);
  EXPECT_EQ(ids_of(diagnosis), (Ids{"element-arithmetic=bf16", "element-arithmetic=fp32-bf16"}));
  for (const Explanation& explanation : diagnosis.explanations) EXPECT_EQ(explanation.explained, diagnosis.mismatches);
}

TEST(DiagnoseQuantize, SaysHowMuchEachExplainsWhereNothingExplainsAll) {
  const naive::Kernel three = {.tie = naive::Tie::away, .skips_nan = true, .zero_scale = 127};
  const TableDiagnosis diagnosis = diagnosis_of(three);
  EXPECT_EQ(diagnosis.outcome, Outcome::partial) << to_text(diagnosis);
  std::uint64_t sum = 0;
  for (const Explanation& explanation : diagnosis.explanations) sum += explanation.explained;
  const std::vector<std::string> ids = ids_of(diagnosis);
  EXPECT_EQ(Ids(ids.begin(), ids.begin() + 1), Ids{"rounding=rna"}) << to_text(diagnosis);
  EXPECT_LE(sum, diagnosis.mismatches);
  EXPECT_EQ(std::ranges::count(ids, "zero-scale-code=127"), 1) << to_text(diagnosis);
}

TEST(DiagnoseQuantize, CountsWhatContradicts) {
  // The scale is rounded up but in every fifth case.
  const Kernel up = kernel_of({.scale_up = true});
  std::uint64_t wrong = 0;
  std::uint64_t spared = 0;
  const Kernel mostly = [&](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    Answer changed = answer;
    up(group, index, changed);
    if (changed == answer) return;
    if ((wrong + spared) % 5 == 4) {
      ++spared;
    } else {
      ++wrong;
      answer = changed;
    }
  };
  const std::vector<TableDiagnosis> diagnoses = diagnoses_of(ocp_table(), mostly);
  ASSERT_EQ(diagnoses.size(), 1U);
  EXPECT_EQ(diagnoses[0].outcome, Outcome::partial);
  ASSERT_FALSE(diagnoses[0].explanations.empty());
  EXPECT_EQ(ids_of(diagnoses[0]).front(), "scale-rule=ceil");
  EXPECT_EQ(diagnoses[0].mismatches, wrong);
  EXPECT_EQ(diagnoses[0].explanations[0].explained, wrong);
  EXPECT_EQ(diagnoses[0].explanations[0].contradicted, spared);
}

TEST(DiagnoseQuantize, SaysNothingWhereNothingIsKnown) {
  const Kernel noise = [](const suite::CaseGroup&, std::size_t index, Answer& answer) {
    std::uint32_t state = static_cast<std::uint32_t>(index) * 2654435761U + 12345U;
    for (std::vector<std::uint8_t>& tensor : answer) {
      for (std::uint8_t& byte : tensor) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::uint8_t>(state >> 24);
      }
    }
  };
  const std::vector<TableDiagnosis> diagnoses = diagnoses_of(ocp_table(), noise);
  ASSERT_EQ(diagnoses.size(), 1U);
  EXPECT_EQ(diagnoses[0].outcome, Outcome::unexplained) << to_text(diagnoses[0]);
  EXPECT_TRUE(diagnoses[0].explanations.empty());
}

TEST(DiagnoseQuantize, NamesStaleAndUnwrittenOutput) {
  Answer last;
  const Kernel stale = [&](const suite::CaseGroup&, std::size_t index, Answer& answer) {
    std::swap(last, answer);
    if (index == 0) answer = last;
  };
  EXPECT_EQ(ids_of(diagnoses_of(ocp_table(), stale).at(0)), Ids{"memory=stale"});
  const Kernel without_tail = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    answer[0].back() = answer[0][answer[0].size() - 2] = 0xA5;
  };
  EXPECT_EQ(ids_of(diagnoses_of(ocp_table(), without_tail).at(0)), Ids{"memory=unwritten-tail"});
  const Kernel without_scales = [](const suite::CaseGroup&, std::size_t, Answer& answer) {
    std::ranges::fill(answer[1], std::uint8_t{0xA5});
  };
  EXPECT_EQ(ids_of(diagnoses_of(ocp_table(), without_scales).at(0)), Ids{"memory=unwritten-tensors"});
  const Kernel some_cases = [](const suite::CaseGroup&, std::size_t index, Answer& answer) {
    if (index % 3 != 2) return;
    for (std::vector<std::uint8_t>& tensor : answer) std::ranges::fill(tensor, std::uint8_t{0xA5});
  };
  EXPECT_EQ(ids_of(diagnoses_of(ocp_table(), some_cases).at(0)), Ids{"memory=unwritten-cases"});
}

TEST(DiagnoseQuantize, LeavesOutWhatIsNotCompared) {
  // Codes under a NaN scale are anything, and the rules say that they do not count.
  const Kernel up = kernel_of({.scale_up = true});
  const Kernel careless = [&](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    up(group, index, answer);
    for (std::size_t block = 0; block < answer[1].size(); ++block) {
      if (answer[1][block] == 255) std::fill_n(answer[0].begin() + static_cast<std::ptrdiff_t>(16 * block), 16, 0x37);
    }
  };
  Evidence evidence;
  show(ocp_table(), careless, evidence, {.ignore_codes_under_nan = true});
  EXPECT_EQ(ids_of(diagnose(evidence).at(0)), Ids{"scale-rule=ceil"});
}

TEST(DiagnoseQuantize, KeepsABoundedSampleOfEveryClass) {
  const EvidenceLimits limits = {
      .failing_cases = 30, .failing_bytes = 20000, .passing_cases = 25, .passing_bytes = 4000};
  Evidence evidence(limits);
  std::uint64_t wrong = 0;
  const Kernel up = kernel_of({.scale_up = true});
  const Kernel counted = [&](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    const Answer right = answer;
    up(group, index, answer);
    wrong += answer != right ? 1 : 0;
  };
  show(ocp_table(), counted, evidence);
  ASSERT_EQ(evidence.tables().size(), 1U);
  const TableEvidence& table = evidence.tables()[0];
  EXPECT_EQ(table.failed, wrong);
  EXPECT_EQ(table.failed + table.passed, ocp_table().case_count());
  EXPECT_GT(wrong, 30U);
  EXPECT_LE(table.failing.size(), 30U);
  EXPECT_GT(table.failing.size(), 10U);
  EXPECT_LE(table.failing.bytes(), 20000U);
  EXPECT_LE(table.passing.bytes(), 4000U);
  const TableDiagnosis diagnosis = diagnose(evidence).at(0);
  EXPECT_EQ(diagnosis.mismatches, wrong);
  EXPECT_EQ(diagnosis.examined, table.failing.size());
  EXPECT_EQ(ids_of(diagnosis), Ids{"scale-rule=ceil"}) << to_text(diagnosis);
  EXPECT_NE(to_text(diagnosis).find("examined ones of " + std::to_string(wrong) + " mismatches"), std::string::npos);
}

TEST(DiagnoseQuantize, JsonHasTheShapeOfTheReport) {
  const nlohmann::json document = to_json(diagnosis_of({.tie = naive::Tie::away}));
  EXPECT_EQ(document["outcome"], "explained");
  EXPECT_EQ(document["mismatches"], document["examined"]);
  EXPECT_EQ(document["explanations"][0]["changes"][0]["id"], "rounding=rna");
  EXPECT_EQ(document["explanations"][0]["changes"][0]["dimension"], "rounding");
  EXPECT_EQ(document["explanations"][0]["changes"][0]["text"], "element rounding rna in place of rne");
  EXPECT_EQ(document["explanations"][0]["explained"], document["mismatches"]);
  EXPECT_EQ(document["explanations"][0]["contradicted"], 0);
  EXPECT_TRUE(document["text"].is_string());
}

}  // namespace
}  // namespace fp4proof::diagnose
