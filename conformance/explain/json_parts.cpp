#include "conformance/explain/json_parts.h"

#include "conformance/explain/number_text.h"

namespace fp4proof::explain {

using nlohmann::json;

json number_json(const Rational& value) { return {{"decimal", decimal_text(value, 17)}, {"exact", exact_text(value)}}; }

json optional_number(const std::optional<Rational>& value) { return value ? number_json(*value) : json(nullptr); }

json word_json(std::uint32_t word) {
  return {{"bits", word_text(word)},
          {"decimal", float_text(word)},
          {"fields", fields_text(word)},
          {"hex", hex_float_text(word)}};
}

json step_json(const Step& step) {
  return {{"id", step.id},
          {"rule", step.rule},
          {"label", step.label},
          {"text", step.text},
          {"value", optional_number(step.value)}};
}

}  // namespace fp4proof::explain
