#include "conformance/corrections/part_reader.h"

#include <fmt/format.h>

namespace fp4proof {

Result<void> PartReader::finish() const {
  if (!object_.is_object()) {
    const std::string part = prefix_.substr(0, prefix_.size() - 1);
    return field_problem(label_, fmt::format("field \"{}\" must be an object with {}", part, fmt::join(names_, " ")));
  }
  if (const Result<void> known = refuse_unknown_keys(object_, names_, label_, prefix_); !known) return known.error();
  if (!complaint_.empty()) return field_problem(label_, complaint_);
  if (missing_.empty()) return {};
  return field_problem(label_, fmt::format("nothing is guessed; missing: {}", fmt::join(missing_, " ")));
}

void PartReader::complain(std::string_view name, std::string_view text) {
  if (complaint_.empty() && !text.empty()) complaint_ = fmt::format("field \"{}{}\" {}", prefix_, name, text);
}

}  // namespace fp4proof
