#pragma once
// One group of cases: asked twice, in fresh memory each time.

#include <optional>
#include <string>
#include <vector>

#include "conformance/runners/plugin_session.h"
#include "conformance/suite/case_group.h"
#include "formats/result.h"

namespace fp4proof::runners {

/// The answers to a group.
struct GroupAnswers {
  std::string fault;                               ///< what the plug-in did wrong; no answers then
  std::vector<std::vector<std::uint8_t>> outputs;  ///< of the first run, one for each expected tensor
  std::vector<bool> differs;                       ///< for each case: whether the second run gave other bytes
};

/// Asks whether the group is offered: ok, unsupported, or a fault.
PluginAnswer ask_support(PluginSession& session, suite::Operation operation, const Profile& profile,
                         const suite::CaseGroup& group);

/// Runs the group twice: tensors against the unmapped page behind them, then against the one in front. Outputs are
/// filled with the poison byte before each run, and what lies beside them on their pages must keep it. The plug-in sees
/// inputs alone; expected outputs stay in this process.
Result<GroupAnswers> run_group(PluginSession& session, suite::Operation operation, const Profile& profile,
                               const suite::CaseGroup& group);

}  // namespace fp4proof::runners
