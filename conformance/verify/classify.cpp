#include "conformance/verify/classify.h"

#include "conformance/verify/classify_correction.h"
#include "conformance/verify/classify_quantize.h"
#include "conformance/verify/classify_values.h"

namespace fp4proof::verify {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

/// Whether everything that differs is poison.
bool is_unwritten(std::span<const Bytes> expected, std::span<const Bytes> actual) {
  std::size_t differing = 0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    for (std::size_t i = 0; i < expected[t].size(); ++i) {
      if (expected[t][i] == actual[t][i]) continue;
      if (actual[t][i] != poison_byte) return false;
      ++differing;
    }
  }
  constexpr std::size_t fewest = 2;  // one byte of that value may be chance
  return differing >= fewest;
}

std::vector<Bytes> expected_of_case(const CaseGroup& group, std::size_t index) {
  std::vector<Bytes> expected;
  for (const CaseTensor& tensor : group.tensors)
    if (tensor.expected) expected.push_back(tensor.of_case(index));
  return expected;
}

std::optional<Finding> first_cause(const suite::CaseTable& table, const CaseGroup& group, std::size_t index,
                                   std::span<const Bytes> expected, std::span<const Bytes> actual,
                                   const CompareRules& rules) {
  switch (table.operation) {
    case suite::Operation::quantize: return classify_quantize(table, group, index, expected, actual, rules);
    case suite::Operation::correct: return classify_correction(table, group, index, expected, actual);
    case suite::Operation::decompose: return classify_decomposition(group, expected, actual);
    case suite::Operation::dequantize:
    case suite::Operation::gemm:
    case suite::Operation::correct_gemm: return classify_values(table, group, index, expected, actual);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> classify_case(const suite::CaseTable& table, const CaseGroup& group, std::size_t index,
                                     std::span<const Bytes> actual, const CompareRules& rules) {
  const std::vector<Bytes> expected = expected_of_case(group, index);
  const std::optional<Finding> finding = first_cause(table, group, index, expected, actual, rules);
  if (finding && is_unwritten(expected, actual)) {
    Finding unwritten = *finding;
    unwritten.cause = Cause::unwritten;
    unwritten.kind = "poison";
    unwritten.distance = 0;
    return unwritten;
  }
  return finding;
}

}  // namespace fp4proof::verify
