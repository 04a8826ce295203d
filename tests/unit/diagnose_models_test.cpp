// The models of a diagnosis without any fault are the reference: own arithmetic against the expected answers, which the
// oracle checks elsewhere. And the answers of one profile are told apart from another profile's.

#include <gtest/gtest.h>

#include "conformance/diagnose/hypotheses.h"
#include "conformance/diagnose/model_encode.h"
#include "conformance/diagnose/model_values.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/shared_rules.h"
#include "formats/packing.h"
#include "tests/unit/diagnose_tables.h"

namespace fp4proof::diagnose {
namespace {

using suite::Operation;

/// Answers every group of the smoke table with a model's own arithmetic and compares all expected tensors.
template <class AnswerOf>
void expect_reference(Operation operation, const Profile& profile, AnswerOf answer) {
  const suite::CaseTable table = table_of(operation, profile.name);
  for (const suite::CaseGroup& group : table.groups) {
    suite::CaseGroup cases = group;
    for (suite::CaseTensor& tensor : cases.tensors)
      if (tensor.expected) std::ranges::fill(tensor.bytes, std::uint8_t{0x11});
    if (!answer(faithful_model(profile), cases)) continue;
    for (const suite::CaseTensor& tensor : group.tensors) {
      EXPECT_EQ(tensor.bytes, cases.find(tensor.name)->bytes)
          << name_of(operation) << " " << profile.name << " " << group_name(group.spec) << " " << tensor.name;
    }
  }
}

TEST(DiagnoseModels, EncoderWithoutFaultIsTheReference) {
  for (const Profile* profile : suite::distinct_profiles(Operation::quantize)) {
    expect_reference(Operation::quantize, *profile, encode_cases);
  }
}

TEST(DiagnoseModels, DecoderWithoutFaultIsTheReference) {
  for (const Profile* profile : suite::distinct_profiles(Operation::dequantize))
    expect_reference(Operation::dequantize, *profile, decode_cases);
}

TEST(DiagnoseModels, SumsWithoutFaultAreTheReference) {
  for (const Profile* profile : suite::distinct_profiles(Operation::gemm))
    expect_reference(Operation::gemm, *profile, multiply_cases);
}

/// The ids of a single explanation, or all alternatives of one change each.
std::vector<std::string> single_ids(const TableDiagnosis& diagnosis) {
  std::vector<std::string> ids;
  for (const Explanation& explanation : diagnosis.explanations) {
    if (explanation.changes.size() == 1) ids.push_back(explanation.changes[0].text);
  }
  return ids;
}

/// The reference under `given` is diagnosed on the table of `asked`: told apart, and by name.
void expect_told_apart(std::string_view asked, std::string_view given) {
  const suite::CaseTable table = table_of(Operation::quantize, asked);
  suite::CaseTable other = table;
  other.profile = shared_profile(given);
  ASSERT_TRUE(suite::answer_by_reference(other).ok());
  const Kernel kernel = [&](const suite::CaseGroup& group, std::size_t index, Answer& answer) {
    const auto place = static_cast<std::size_t>(&group - table.groups.data());
    std::size_t t = 0;
    for (const suite::CaseTensor& tensor : other.groups[place].tensors) {
      if (!tensor.expected) continue;
      const Bytes bytes = tensor.of_case(index);
      answer[t++].assign(bytes.begin(), bytes.end());
    }
  };
  const std::vector<TableDiagnosis> diagnoses = diagnoses_of(table, kernel);
  if (diagnoses.empty()) return;  // the same on these cases
  const TableDiagnosis& diagnosis = diagnoses.front();
  EXPECT_TRUE(diagnosis.outcome == Outcome::explained || diagnosis.outcome == Outcome::ambiguous)
      << given << " asked for " << asked << ": " << to_text(diagnosis);
  EXPECT_FALSE(single_ids(diagnosis).empty()) << given << " asked for " << asked << ": " << to_text(diagnosis);
}

TEST(DiagnoseModels, ProfilesAreToldApartByOneChange) {
  for (const std::string_view asked : {"mxfp4/ocp", "mxfp4/rceil", "hif4/gcc", "mxfp8-e4m3/ocp"}) {
    const Profile& base = *find_profile(asked);
    for (const Profile* given : suite::distinct_profiles(Operation::quantize)) {
      const bool comparable = given->family == base.family && given->block == base.block &&
                              element_spec(given->element).bits() == element_spec(base.element).bits() &&
                              given->rounding != Rounding::stochastic && given->name != asked;
      if (comparable) expect_told_apart(asked, given->name);
    }
  }
}

TEST(DiagnoseModels, EveryHypothesisHasItsOwnName) {
  std::vector<std::string> ids;
  for (const Hypothesis& hypothesis : hypotheses()) ids.push_back(hypothesis.id());
  // Encoders and decoders may share a name for the same thing.
  for (const Operation operation : suite::operations) {
    for (const std::string_view name : {"mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp8-e4m3/ocp"}) {
      std::vector<std::string> of_question;
      for (const Change& change : changes_of(operation, *find_profile(name)))
        of_question.push_back(change.hypothesis->id());
      std::ranges::sort(of_question);
      EXPECT_EQ(std::ranges::adjacent_find(of_question), of_question.end()) << name_of(operation) << " " << name;
    }
  }
  EXPECT_GT(ids.size(), 150U);
}

}  // namespace
}  // namespace fp4proof::diagnose
