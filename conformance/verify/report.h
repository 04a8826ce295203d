#pragma once
// What a comparison found, counted.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/verify/mismatch.h"

namespace fp4proof::verify {

/// Cases counted by verdict.
struct Tally {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;  ///< withdrawn, or missing in the answers

  std::uint64_t total() const { return passed + failed + skipped; }
  Tally& operator+=(const Tally& other);
};

/// How often a cause of a certain kind was the first one, and at which distances.
struct CauseTally {
  std::uint64_t cases = 0;
  std::map<std::int64_t, std::uint64_t> distances;
};

/// One operation under one profile.
struct TableReport {
  suite::Operation operation = suite::Operation::quantize;
  SharedProfile profile;
  std::map<std::string, Tally> classes;                       ///< by class name
  std::map<Cause, std::map<std::string, CauseTally>> causes;  ///< by cause and kind
  std::uint64_t withdrawn = 0;                                ///< skipped because of the errata
  std::uint64_t missing = 0;                                  ///< skipped because the answers lack them
  std::uint64_t waived = 0;                                   ///< wrong and known, so skipped
  std::vector<std::string> missing_tensors;                   ///< wanted, but not in the answers

  Tally total() const;
};

struct VerifyReport {
  std::vector<TableReport> tables;
  std::vector<Mismatch> mismatches;  ///< the first ones, as many as were asked for

  Tally total() const;
  bool has_missing() const;
};

/// "N passed, N failed, N skipped".
std::string to_text(const Tally& tally);

/// For programs, docs/vectors.md gives the fields.
nlohmann::json to_json(const VerifyReport& report);

}  // namespace fp4proof::verify
