#pragma once
// Stochastic rounding by kernels that draw their own random words: a test in place of a comparison.
//
// Every element that lies between two codes is drawn many times. It must come out as one of the two, away from zero
// with a probability equal to its fraction, independently of every other element and of every other call. Codes of
// values that a code stands for, scales, and everything else must be right each time. What is not exact is tested with
// tail bounds that hold for any number of draws (Chernoff for one element, Hoeffding and Azuma for sums), and the
// stated rate of false alarms is divided among all tests of a run (Bonferroni).

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/runners/subject.h"
#include "conformance/suite/case_group.h"
#include "conformance/suite/vector_set.h"
#include "conformance/verify/report.h"
#include "formats/result.h"

namespace fp4proof::verdict {

/// How hard to look.
struct StatisticalPlan {
  std::uint32_t repetitions = 256;  ///< how often each element is drawn
  double false_alarm_rate = 1e-9;   ///< the chance that a right subject is failed by any of the tests of a whole run
};

/// The elements of one table that are drawn at most; cases of every group in equal share.
inline constexpr std::size_t most_drawn_elements = std::size_t{1} << 14;

/// Whether an operation under a profile is tested in this way: quantize where elements round stochastically.
bool is_drawn(suite::Operation operation, const Profile& profile);

/// What came of one table.
struct StatisticalTable {
  nlohmann::json summary = nlohmann::json::object();  ///< repetitions, elements, draws, tests, false_alarm_rate, alarms
  std::map<std::string, verify::Tally> classes;  ///< failed: a case that was wrong outright or drew another alarm of
                                                 ///< its own; skipped: one that was not drawn
  std::string fault;                             ///< what the subject did wrong, which ended the test; else empty
  std::string fault_group;
  std::uint64_t fault_cases = 0;
  std::string fault_first_case;
};

/// Draws from a subject that is open. `questions` are those of quantize under `profile`, which rounds stochastically.
/// `rate`: the share of the false alarm rate that this table has. Random words of the questions are replaced by fresh
/// Philox words for each call, so a subject that takes them passes too. Groups that are not offered are left out.
Result<StatisticalTable> test_stochastic_rounding(runners::Subject& subject, const Profile& profile,
                                                  const suite::CaseTable& questions,
                                                  const std::vector<suite::ClassEntry>& classes,
                                                  const StatisticalPlan& plan, double rate);

}  // namespace fp4proof::verdict
