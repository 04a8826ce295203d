#include "conformance/verify/compare.h"

#include <algorithm>

namespace fp4proof::verify {

namespace {

using suite::CaseGroup;
using suite::CaseTable;

/// The outputs of one answer; nothing if one of them is missing.
std::optional<std::vector<Bytes>> answer_of(const CaseGroup& group, const ActualGroup& actual, std::size_t index) {
  if (!actual.rows[index]) return std::nullopt;
  std::vector<Bytes> answer;
  std::size_t t = 0;
  for (const suite::CaseTensor& tensor : group.tensors) {
    if (!tensor.expected) continue;
    const std::size_t bytes = tensor.case_bytes();
    const Bytes all = actual.tensors[t++];
    const std::size_t begin = *actual.rows[index] * bytes;
    if (all.size() < begin + bytes) return std::nullopt;
    answer.push_back(all.subspan(begin, bytes));
  }
  return answer;
}

void count(const Finding& finding, TableReport& report) {
  CauseTally& tally = report.causes[finding.cause][std::string(finding.kind)];
  ++tally.cases;
  ++tally.distances[finding.distance];
}

}  // namespace

ActualGroup ActualGroup::in_order(std::vector<Bytes> tensors, std::size_t cases) {
  ActualGroup actual{std::move(tensors), {}};
  for (std::size_t i = 0; i < cases; ++i) actual.rows.emplace_back(i);
  return actual;
}

void compare_group(const CompareContext& context, const CaseTable& table, const CaseGroup& group,
                   const ActualGroup& actual, TableReport& table_report, VerifyReport& report) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::string& class_name = (*context.classes)[group.classes[i]].name;
    Tally& tally = table_report.classes[class_name];
    if (context.errata != nullptr && context.errata->contains(group.ids[i])) {
      ++table_report.withdrawn;
      ++tally.skipped;
      continue;
    }
    const std::optional<std::vector<Bytes>> answer = answer_of(group, actual, i);
    if (!answer) {
      ++table_report.missing;
      ++tally.skipped;
      continue;
    }
    const std::optional<Finding> finding = classify_case(table, group, i, *answer, context.rules);
    const ComparedCase compared = {table, group, i, *answer, finding, table_report};
    if (finding && context.waives && context.waives(compared)) {
      ++table_report.waived;
      ++tally.skipped;
      continue;
    }
    if (context.observer) context.observer(compared);
    if (!finding) {
      ++tally.passed;
      continue;
    }
    ++tally.failed;
    count(*finding, table_report);
    if (report.mismatches.size() < context.most_mismatches) {
      report.mismatches.push_back(
          {table.operation, table.profile, group_name(group.spec), class_name, group.ids[i], i, *finding});
    }
  }
}

}  // namespace fp4proof::verify
