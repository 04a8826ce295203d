#pragma once
// Reading a report document (docs/schema/report.schema.json). What is absent or of another type reads as empty, so that
// no writer of reports can fail on a document.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/verify/report.h"

namespace fp4proof::report {

using Json = nlohmann::json;

/// The document with valid UTF-8 in every string: bytes that are none become U+FFFD. Plug-ins name themselves.
Json readable(const Json& document);

/// The member of an object; null where there is none.
const Json& at(const Json& value, std::string_view name);

/// A member that is a text, "" else.
std::string text_at(const Json& value, std::string_view name);

/// A member that is a whole number of 64 bits.
std::optional<std::int64_t> integer_at(const Json& value, std::string_view name);

/// A whole number >= 0, 0 else.
std::uint64_t count_of(const Json& value);

/// A member that is a whole number >= 0, 0 else.
std::uint64_t count_at(const Json& value, std::string_view name);

/// The texts of a member that is a list; others are left out.
std::vector<std::string> texts_at(const Json& value, std::string_view name);

/// The counts of a tally itself.
verify::Tally tally_of(const Json& value);

/// "quantize under mxfp4/ocp", of a table, a mismatch or a fault.
std::string table_name(const Json& value);

/// Whether two of them (tables, mismatches, faults) have the same operation and profile.
bool same_table(const Json& a, const Json& b);

/// What the test of stochastic rounding found against a table; empty where there was none, or nothing to say.
std::vector<std::string> alarms_of(const Json& table);

/// Whether wrong answers, failed calls or alarms stand against a table.
bool is_failing(const Json& table);

/// What the document is the verdict on: the name of the subject and its version, its path, or "the answers".
std::string subject_name(const Json& document);

/// What an exit code means in one or two words, "" for a number that is none.
std::string_view exit_code_name(std::int64_t code);

/// One combination of cause and kind that failed cases of a table.
struct CauseRow {
  std::string cause;
  std::string kind;
  std::uint64_t cases = 0;
  const Json* distances = nullptr;  ///< distance as text -> cases; of the document
};

/// Those of a table, the most frequent first.
std::vector<CauseRow> causes_of(const Json& table);

}  // namespace fp4proof::report
