#pragma once
// The answers to a group or table of cases against the expected ones.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
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

/// A case that was compared.
struct ComparedCase {
  const suite::CaseTable& table;  ///< kept under its own profile; the one that was asked about stands in `report`
  const suite::CaseGroup& group;
  std::size_t index = 0;                  ///< of the case in the group
  std::span<const Bytes> actual;          ///< the answer: one view for each expected tensor
  const std::optional<Finding>& finding;  ///< nothing where the answer is right
  const TableReport& report;              ///< the table's report so far
};

/// Told about each compared case, in order. Everything in it ends with the call.
using CaseObserver = std::function<void(const ComparedCase&)>;

/// What a comparison is told beforehand.
struct CompareContext {
  CompareRules rules;
  const suite::Errata* errata = nullptr;                    ///< withdrawn cases, which are skipped
  const std::vector<suite::ClassEntry>* classes = nullptr;  ///< names of the classes, never nullptr
  std::size_t most_mismatches = 0;                          ///< how many to keep in VerifyReport::mismatches
  CaseObserver observer;                                    ///< may be empty
  /// Whether a wrong answer is known and let pass: it is skipped then, and the observer does not see it. May be empty.
  std::function<bool(const ComparedCase&)> waives = {};
};

/// Compares one group and adds what it finds to a table's report and to the first mismatches of `report`.
void compare_group(const CompareContext& context, const suite::CaseTable& table, const suite::CaseGroup& group,
                   const ActualGroup& actual, TableReport& table_report, VerifyReport& report);

}  // namespace fp4proof::verify
