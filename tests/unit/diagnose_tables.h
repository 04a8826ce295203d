#pragma once
// Tables of cases with wrong answers, seen by Evidence as a run would show them.

#include <functional>
#include <vector>

#include "conformance/diagnose/diagnose.h"
#include "conformance/suite/make_table.h"
#include "conformance/suite/sets.h"
#include "conformance/suite/vector_set.h"
#include "formats/spec_profiles.h"

namespace fp4proof::diagnose {

inline SharedProfile shared_profile(std::string_view name) { return {SharedProfile(), find_profile(name)}; }

inline suite::CaseTable table_of(suite::Operation operation, std::string_view profile, std::string_view set = "smoke") {
  return *suite::make_table(*suite::find_set(set), operation, shared_profile(profile));
}

/// The answers of a faulty kernel to one case: the expected tensors in order. What it leaves alone is right.
using Answer = std::vector<std::vector<std::uint8_t>>;
using Kernel = std::function<void(const suite::CaseGroup& group, std::size_t index, Answer& answer)>;

/// Shows every case of a table to `evidence`, answered by `kernel`.
inline void show(const suite::CaseTable& table, const Kernel& kernel, Evidence& evidence,
                 const verify::CompareRules& rules = {}) {
  static const std::vector<suite::ClassEntry> classes = suite::class_entries();
  verify::CompareContext context;
  context.classes = &classes;
  context.rules = rules;
  context.observer = [&](const verify::ComparedCase& compared) { evidence.saw(compared); };
  verify::TableReport table_report;
  table_report.operation = table.operation;
  table_report.profile = table.profile;
  verify::VerifyReport report;
  for (const suite::CaseGroup& group : table.groups) {
    std::vector<std::vector<std::uint8_t>> tensors;
    for (const suite::CaseTensor& tensor : group.tensors)
      if (tensor.expected) tensors.emplace_back();
    for (std::size_t i = 0; i < group.size(); ++i) {
      Answer answer;
      for (const suite::CaseTensor& tensor : group.tensors) {
        if (!tensor.expected) continue;
        const Bytes bytes = tensor.of_case(i);
        answer.emplace_back(bytes.begin(), bytes.end());
      }
      kernel(group, i, answer);
      for (std::size_t t = 0; t < answer.size(); ++t) {
        tensors[t].insert(tensors[t].end(), answer[t].begin(), answer[t].end());
      }
    }
    std::vector<Bytes> views(tensors.begin(), tensors.end());
    compare_group(context, table, group, verify::ActualGroup::in_order(std::move(views), group.size()), table_report,
                  report);
  }
}

/// The one diagnosis of a table answered by `kernel`.
inline std::vector<TableDiagnosis> diagnoses_of(const suite::CaseTable& table, const Kernel& kernel) {
  Evidence evidence;
  show(table, kernel, evidence);
  return diagnose(evidence);
}

}  // namespace fp4proof::diagnose
