#pragma once
// What is wrong with an answer, in the order in which a kernel could have gone wrong first.

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/profiles/profile_json.h"
#include "conformance/suite/operation.h"

namespace fp4proof::verify {

/// The first cause of a mismatch.
enum class Cause : std::uint8_t {
  special,           ///< what is done about NaN, infinity, or an all-zero block
  scale,             ///< the scale of the block, or of the tensor; distance in scale codes
  micro,             ///< HiF4: a level-2 or level-3 bit under the right scale
  element,           ///< an element under the right scales; distance in codes (values: in units in the last place)
  packing,           ///< the right answer in another order of bytes, nibbles or bits
  order,             ///< GEMM: the right sum in another accumulation order
  unwritten,         ///< the output was not written
  nondeterministic,  ///< two runs differ (found by whoever ran them)
};
inline constexpr std::array<std::string_view, 8> cause_names = {"SPECIAL", "SCALE", "MICRO",     "ELEMENT",
                                                                "PACKING", "ORDER", "UNWRITTEN", "NONDETERMINISTIC"};
constexpr std::string_view name_of(Cause cause) { return cause_names[static_cast<std::size_t>(cause)]; }

/// The verdict on one part of an answer.
struct Finding {
  Cause cause = Cause::element;
  std::string_view kind;               ///< a word of likely_cause()'s table, for example "tie"
  std::string tensor;                  ///< the output at fault, where an operation has several of a kind
  std::int64_t distance = 0;           ///< actual minus expected, see Cause
  std::int64_t row = 0;                ///< row of blocks (quantize) or of the output
  std::int64_t block = 0;              ///< block in the row
  std::int64_t element = -1;           ///< element in the block, column of a value; -1 where none is to blame
  std::optional<std::uint32_t> input;  ///< the element's input word
  std::optional<std::uint32_t> expected_scale;
  std::optional<std::uint32_t> actual_scale;
  std::optional<std::uint32_t> expected;  ///< element code, or word of a value
  std::optional<std::uint32_t> actual;
};

/// A failed case.
struct Mismatch {
  suite::Operation operation = suite::Operation::quantize;
  SharedProfile profile;
  std::string group;
  std::string class_name;
  std::uint64_t case_id = 0;
  std::uint64_t case_index = 0;  ///< place in the group
  Finding finding;
  std::uint64_t place = 0;  ///< place among all cases of the table
};

/// What usually lies behind a kind of finding, one sentence.
std::string_view likely_cause(std::string_view kind);

/// A binary32 word as sign.exponent.fraction in binary.
std::string float_fields(std::uint32_t word);

/// A binary32 word as hexadecimal float, for example "-0x1.8p+1", "inf", "nan".
std::string hex_float(std::uint32_t word);

/// An element code as sign.exponent.mantissa in binary.
std::string code_fields(const Profile& profile, std::uint32_t code);

/// A scale word in the terms of the family.
std::string scale_text(const Profile& profile, std::uint32_t scale);

/// Several lines for people: the case, the place, input, expected and actual with their fields, the likely cause.
std::string to_text(const Mismatch& mismatch);

/// The same for programs, docs/vectors.md gives the fields.
nlohmann::json to_json(const Mismatch& mismatch);

}  // namespace fp4proof::verify
