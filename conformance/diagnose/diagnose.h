#pragma once
// From wrong answers to what the kernel does instead: the questions are asked again under neighbouring rules and known
// faults, and the smallest set of changes that gives every wrong answer, and spoils no right one, is named.
// docs/diagnosis.md lists the changes and tells how to read a diagnosis. A diagnosis never changes a verdict.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/diagnose/evidence.h"
#include "conformance/suite/operation.h"

namespace fp4proof::diagnose {

enum class Outcome : std::uint8_t {
  explained,    ///< one set of changes gives every examined answer, the wrong and the right ones
  ambiguous,    ///< several smallest sets do, and the cases do not tell them apart
  partial,      ///< no set gives all, some give part of the wrong answers; or only a fit that names no rule gives all
  unexplained,  ///< nothing that is known gives any of the wrong answers
};
inline constexpr std::array<std::string_view, 4> outcome_names = {"explained", "ambiguous", "partial", "unexplained"};
constexpr std::string_view name_of(Outcome outcome) { return outcome_names[static_cast<std::size_t>(outcome)]; }

/// A change as a report names it.
struct NamedChange {
  std::string id;         ///< "scale-rule=ceil"
  std::string dimension;  ///< "scale-rule"; two changes of one explanation never share it
  std::string text;       ///< "scale rule ceil in place of floor"
};

/// Changes that, made together, give wrong answers as they were given.
struct Explanation {
  std::vector<NamedChange> changes;
  std::uint64_t explained = 0;     ///< examined wrong answers that they give to the bit
  std::uint64_t contradicted = 0;  ///< examined cases, right or wrong, for which they give an answer that is neither
                                   ///< the one given nor, where that is wrong, the right one
};

/// The diagnosis of one operation under one profile.
struct TableDiagnosis {
  suite::Operation operation = suite::Operation::quantize;
  std::string profile;           ///< the one asked about
  std::uint64_t mismatches = 0;  ///< all wrong answers
  std::uint64_t examined = 0;    ///< those that were kept
  std::uint64_t passing = 0;     ///< right answers that were kept: what may contradict
  Outcome outcome = Outcome::unexplained;
  std::vector<Explanation> explanations;  ///< explained: one; ambiguous: all; partial: the best few, best first
};

struct DiagnoseOptions {
  std::function<void(std::size_t done, std::size_t total)> progress;  ///< after each table that has mismatches
};

/// One diagnosis for each table with mismatches, in the order of the evidence. The same for the same evidence, on every
/// machine. Takes a second or two a table at most.
std::vector<TableDiagnosis> diagnose(const Evidence& evidence, const DiagnoseOptions& options = {});

/// One sentence: "behaves as scale rule ceil in place of floor; all 40112 mismatches explained".
std::string to_text(const TableDiagnosis& diagnosis);

/// {"mismatches", "examined", "outcome", "text", "explanations": [{"changes": [{"id", "dimension", "text"}],
/// "explained", "contradicted"}]}.
nlohmann::json to_json(const TableDiagnosis& diagnosis);

}  // namespace fp4proof::diagnose
