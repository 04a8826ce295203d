// Every committed expected output, computed again by the oracle from the committed inputs, and compared to the bit. The
// vectors come from the fast road; this test is the reason to believe them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "conformance/suite/vector_set.h"
#include "tests/oracle/oracle_answers.h"

namespace fp4proof {
namespace {

using oracle_answers::answer_of_oracle;
using oracle_answers::ByteVector;
using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;

/// Compares one case; the number of tensors that were compared.
std::size_t compare_case(const CaseTable& table, const CaseGroup& group, std::size_t index, const std::string& what) {
  const std::vector<ByteVector> answer = answer_of_oracle(table, group, index);
  std::size_t compared = 0;
  for (const CaseTensor& tensor : group.tensors) {
    if (!tensor.expected) continue;
    if (compared >= answer.size()) {
      ADD_FAILURE() << what << ": no answer for " << tensor.name;
      break;
    }
    const Bytes expected = tensor.of_case(index);
    EXPECT_TRUE(std::ranges::equal(expected, answer[compared]))
        << what << " group " << group_name(group.spec) << " case " << suite::id_text(group.ids[index]) << " tensor "
        << tensor.name;
    ++compared;
  }
  return compared;
}

class CommittedSet : public testing::TestWithParam<const char*> {};

TEST_P(CommittedSet, HoldsWhatTheOracleSays) {
  const std::filesystem::path folder = std::filesystem::path(FP4PROOF_SOURCE_DIR) / "vectors" / GetParam();
  const Result<suite::VectorSet> set = suite::open_set(folder);
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_FALSE(set->inputs_only);
  std::uint64_t cases = 0;
  std::uint64_t promised = 0;
  for (const suite::TableEntry& entry : set->tables) {
    const Result<CaseTable> table = suite::read_table(*set, entry);
    ASSERT_TRUE(table.ok()) << table.error().message;
    promised += entry.cases;
    for (const CaseGroup& group : table->groups) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (compare_case(*table, group, i, entry.file) != 0) ++cases;
      }
    }
    ASSERT_FALSE(HasFailure()) << entry.file;
  }
  EXPECT_EQ(cases, promised);
  EXPECT_GT(cases, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Vectors, CommittedSet, testing::Values("smoke", "quick"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace fp4proof
