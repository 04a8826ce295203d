#pragma once
// What a diagnosis is made from: a bounded sample of compared cases, right and wrong, and the count of all of them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/verify/compare.h"

namespace fp4proof::diagnose {

/// How much is kept of one table. Counts are of all cases, whatever is kept.
struct EvidenceLimits {
  std::size_t failing_cases = 4096;
  std::size_t failing_bytes = std::size_t{1} << 20;
  std::size_t passing_cases = 2048;
  std::size_t passing_bytes = std::size_t{1} << 19;
};

/// One case: its inputs and answers, tensor after tensor in the order of the group.
struct KeptCase {
  std::size_t group = 0;               ///< index into TableEvidence::groups
  std::uint64_t id = 0;                ///< case_id
  std::vector<std::uint8_t> inputs;    ///< of the case
  std::vector<std::uint8_t> expected;  ///< the right answer
  std::vector<std::uint8_t> actual;    ///< the answer given; empty where it is right
  std::vector<std::uint8_t> previous;  ///< the right answer to the case before it in its group; empty for the first

  std::size_t bytes() const { return inputs.size() + expected.size() + actual.size() + previous.size(); }
};

/// A sample of cases that is spread over their classes: of each class the cases with the smallest ids, which are
/// hashes, so the choice depends neither on the order of the cases nor on chance. Where it grows too large, the largest
/// class gives up a case.
class CaseSample {
 public:
  CaseSample(std::size_t most_cases, std::size_t most_bytes) : most_cases_(most_cases), most_bytes_(most_bytes) {}

  /// Whether a case would be kept at all; spares the caller a copy.
  bool wants(std::uint16_t of_class, std::uint64_t id) const;
  void add(std::uint16_t of_class, KeptCase kept);

  std::size_t size() const { return cases_; }
  std::size_t bytes() const { return bytes_; }
  /// Every kept case, class after class.
  std::vector<const KeptCase*> cases() const;

 private:
  using OfClass = std::map<std::uint64_t, KeptCase>;  ///< by id

  bool is_full() const { return cases_ >= most_cases_ || bytes_ >= most_bytes_; }
  OfClass& largest_class();

  std::size_t most_cases_;
  std::size_t most_bytes_;
  std::size_t cases_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::uint16_t, OfClass> classes_;
};

/// What was seen of one operation under one profile.
struct TableEvidence {
  suite::Operation operation = suite::Operation::quantize;
  SharedProfile asked;  ///< the profile that was asked about
  SharedProfile kept;   ///< the one under which the cases are kept: the same rule for this operation
  std::vector<suite::GroupSpec> groups;
  std::uint64_t failed = 0;
  std::uint64_t passed = 0;
  /// Answers passed with other bytes than the expected ones: codes under a NaN scale are not compared (quantize).
  bool ignores_codes_under_nan = false;
  CaseSample failing;
  CaseSample passing;

  explicit TableEvidence(const EvidenceLimits& limits)
      : failing(limits.failing_cases, limits.failing_bytes), passing(limits.passing_cases, limits.passing_bytes) {}
};

/// Collects compared cases: `observer = [&](const verify::ComparedCase& c) { evidence.saw(c); }`. Memory is bounded by
/// the limits for each table, however many cases there are. For one thread.
class Evidence {
 public:
  explicit Evidence(const EvidenceLimits& limits = {}) : limits_(limits) {}

  void saw(const verify::ComparedCase& compared);

  /// One for each operation and asked profile, in the order in which they were first seen.
  const std::vector<TableEvidence>& tables() const { return tables_; }

 private:
  TableEvidence& table_of(const verify::ComparedCase& compared);

  EvidenceLimits limits_;
  std::vector<TableEvidence> tables_;
  std::map<std::pair<suite::Operation, std::string>, std::size_t> places_;  ///< of tables, by operation and profile
};

}  // namespace fp4proof::diagnose
