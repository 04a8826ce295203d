#pragma once
// The answers of a model to the kept cases.

#include <optional>
#include <vector>

#include "conformance/diagnose/evidence.h"
#include "conformance/diagnose/kernel_model.h"

namespace fp4proof::diagnose {

/// The kept cases of a table, group by group, failing ones first in each.
std::vector<GroupEvidence> group_evidence(const TableEvidence& table);

/// What one table asks.
struct Question {
  suite::Operation operation;
  const Profile& profile;  ///< the one under which the cases are kept
};

/// The model's answers to all cases of a group, in the form of GroupEvidence::actual; nothing where the model cannot be
/// asked: it then says nothing about the group.
std::optional<std::vector<std::uint8_t>> predict(const Question& question, const KernelModel& model,
                                                 const GroupEvidence& evidence);

}  // namespace fp4proof::diagnose
