#pragma once
// The answers to a group or table of cases against the expected ones.

#include <cstddef>
#include <optional>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/suite/errata.h"
#include "conformance/suite/vector_set.h"
#include "conformance/verify/classify.h"
#include "conformance/verify/report.h"

namespace fp4proof::verify {

/// The answers to one group, wherever they lie.
struct ActualGroup {
  /// One for each expected tensor of the group, in order: answer after answer. Empty where the tensor is missing.
  std::vector<Bytes> tensors;
  /// rows[i]: the place of case i among the answers, nothing where it is missing.
  std::vector<std::optional<std::size_t>> rows;

  /// Answers in the order of the cases, all of them there.
  static ActualGroup in_order(std::vector<Bytes> tensors, std::size_t cases);
};

/// What a comparison is told beforehand.
struct CompareContext {
  CompareRules rules;
  const suite::Errata* errata = nullptr;                    ///< withdrawn cases, which are skipped
  const std::vector<suite::ClassEntry>* classes = nullptr;  ///< names of the classes, never nullptr
  std::size_t most_mismatches = 0;                          ///< how many to keep in VerifyReport::mismatches
};

/// Compares one group and adds what it finds to a table's report and to the first mismatches of `report`.
void compare_group(const CompareContext& context, const suite::CaseTable& table, const suite::CaseGroup& group,
                   const ActualGroup& actual, TableReport& table_report, VerifyReport& report);

}  // namespace fp4proof::verify
