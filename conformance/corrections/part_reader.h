#pragma once
// Reading an object inside another one, such as a part of a correction stack, field by field.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/profiles/json_fields.h"
#include "formats/result.h"

namespace fp4proof {

/// Whether a field has an effect beside the other fields of its object, and whether it has to be there.
enum class FieldNeed {
  required,  ///< must be given
  optional,  ///< keeps its value where it is not given: the base has it
  unused,    ///< must not be given
};

/// Reads the fields of one object in the order of the calls, and remembers what is wrong.
class PartReader {
 public:
  /// @param label   what the whole text is, for messages
  /// @param prefix  the path of the object, for example "macro."; empty at the top
  PartReader(const nlohmann::json& object, std::string_view label, std::string_view prefix)
      : object_(object), label_(label), prefix_(prefix) {}

  /// Sets `field` where the object has it. `unused_because` completes "means nothing ...".
  template <class T>
  void read(std::string_view name, FieldNeed need, T& field, std::string_view unused_because = "") {
    names_.emplace_back(name);
    const bool given = object_.contains(name);
    if (given && need == FieldNeed::unused) {
      complain(name, fmt::format("means nothing {}; remove it", unused_because));
    } else if (given) {
      complain(name, set_field(field, object_.at(name)));
    } else if (need == FieldNeed::required) {
      missing_.push_back(prefix_ + std::string(name));
    }
  }

  /// Complains about a field that was given, unless `fits`.
  void check(std::string_view name, bool fits, std::string_view expected) {
    if (!fits && object_.contains(name)) complain(name, expected);
  }

  /// Marks a field as known that somebody else reads.
  void expect(std::string_view name, FieldNeed need) {
    names_.emplace_back(name);
    if (need == FieldNeed::required && !object_.contains(name)) missing_.push_back(prefix_ + std::string(name));
  }

  /// What is wrong: no object, an unknown field, the first complaint, or missing fields, in this order.
  Result<void> finish() const;

 private:
  void complain(std::string_view name, std::string_view text);

  const nlohmann::json& object_;
  std::string label_;
  std::string prefix_;
  std::vector<std::string> names_;
  std::vector<std::string> missing_;
  std::string complaint_;
};

}  // namespace fp4proof
