#include "conformance/explain/explanation_json.h"

#include <fmt/format.h>

#include "conformance/explain/block_bytes.h"
#include "conformance/explain/decision_text.h"
#include "conformance/explain/json_parts.h"
#include "conformance/explain/number_text.h"
#include "conformance/profiles/profile_json.h"
#include "formats/float_bits.h"

namespace fp4proof::explain {

namespace {

using nlohmann::json;

template <class T, class Convert>
json optional_json(const std::optional<T>& value, Convert convert) {
  return value ? json(convert(*value)) : json(nullptr);
}

json level_json(const Level& level) { return {{"code", level.code}, {"value", number_json(level.value)}}; }

json draw_json(const Draw& draw) {
  return {{"bits", draw.bits},
          {"fraction", draw.fraction},
          {"u", draw.u},
          {"up", draw.up()},
          {"word", word_text(draw.word)}};
}

json half_add_json(const HalfAdd& add) {
  return {{"spacing", number_json(add.spacing)},
          {"steps", number_json(add.steps)},
          {"sum", number_json(add.sum)},
          {"taken_back", add.taken_back},
          {"whole", add.whole}};
}

json distances_json(const Distances& distances) {
  return {{"lower", optional_number(distances.lower)}, {"upper", optional_number(distances.upper)}};
}

json element_json(const Explanation& explanation, const ElementStory& story) {
  const int columns = explanation.profile->block.cols;
  const bool hif4 = explanation.profile->family == Family::hif4;
  return {{"index", story.index},
          {"row", story.index / columns},
          {"column", story.index % columns},
          {"input", word_json(story.given)},
          {"prepared", word_json(story.word)},
          {"level_sum", hif4 ? json(story.level_sum) : json(nullptr)},
          {"scaled", optional_number(story.scaled)},
          {"rounded", optional_number(story.rounded)},
          {"lower", optional_json(story.lower, level_json)},
          {"upper", optional_json(story.upper, level_json)},
          {"cause", name_of(story.cause)},
          {"rule", story.rule},
          {"decision", decision_cell(explanation, story).text},
          {"unrounded_code", optional_json(story.without_rounding, [](std::uint8_t code) { return code; })},
          {"draw", optional_json(story.draw, draw_json)},
          {"half_add", optional_json(story.half_add, half_add_json)},
          {"distances", optional_json(story.distances, distances_json)},
          {"code", story.code},
          {"value", word_json(story.value)},
          {"error", optional_number(story.error)},
          {"error_steps", optional_number(story.steps)}};
}

json level_bit_json(const LevelBit& bit) {
  const bool infinite = bit.max_bits == float_infinity_bits;
  return {{"level", bit.level},
          {"cell", {bit.cell_row, bit.cell_column}},
          {"extent", bit.extent},
          {"largest", word_json(bit.max_bits)},
          {"largest_element", bit.max_index},
          {"parent", bit.level == 3 ? json(bit.parent ? 1 : 0) : json(nullptr)},
          {"product", infinite ? json(nullptr) : number_json(bit.product)},
          {"compared", infinite ? json(nullptr) : number_json(bit.compared)},
          {"threshold", bit.level == 2 ? 4 : 2},
          {"bit", bit.bit ? 1 : 0}};
}

std::string hex_bytes(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

json row_json(const Explanation& explanation, int row) {
  const RowBytes bytes = row_bytes(explanation, row);
  return {{"scale", explanation.row_scales[static_cast<std::size_t>(row)]},
          {"scale_bytes", hex_bytes(bytes.scale)},
          {"code_bytes", hex_bytes(bytes.codes)}};
}

}  // namespace

json explanation_json(const Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  const BlockQuestion& question = explanation.question;
  json rows = json::array();
  json steps = json::array();
  json level_bits = json::array();
  json elements = json::array();
  for (std::size_t row = 0; row < explanation.row_scales.size(); ++row) {
    rows.push_back(row_json(explanation, static_cast<int>(row)));
  }
  for (const Step& step : explanation.steps) steps.push_back(step_json(step));
  for (const LevelBit& bit : explanation.level_bits) level_bits.push_back(level_bit_json(bit));
  for (const ElementStory& story : explanation.elements) elements.push_back(element_json(explanation, story));
  return {
      {"format", explanation_format},
      {"profile", profile_to_json(profile)},
      {"source", question.source.empty() ? json(nullptr) : json(question.source)},
      {"given", question.given},
      {"tensor_scale", profile.family == Family::nvfp4 ? word_json(float_bits(question.tensor_scale)) : json(nullptr)},
      {"outcome", name_of(explanation.outcome)},
      {"steps", steps},
      {"level_bits", level_bits},
      {"rows", rows},
      {"elements", elements}};
}

}  // namespace fp4proof::explain
