#include "conformance/explain/correction_json.h"

#include "conformance/corrections/stack_json.h"
#include "conformance/explain/decomposition_show.h"
#include "conformance/explain/explanation_json.h"
#include "conformance/explain/json_parts.h"
#include "conformance/explain/number_text.h"
#include "conformance/profiles/profile_json.h"
#include "formats/float_bits.h"

namespace fp4proof::explain {

namespace {

using nlohmann::json;

json steps_json(const std::vector<Step>& steps) {
  json list = json::array();
  for (const Step& step : steps) list.push_back(step_json(step));
  return list;
}

json stage_json(const HadamardStage& stage) {
  return {{"h", stage.h},
          {"partner", stage.partner},
          {"before", word_json(stage.before)},
          {"partner_value", word_json(stage.partner_value)},
          {"subtracts", stage.subtracts},
          {"value", word_json(stage.value)}};
}

json trace_json(const HadamardTrace& trace) {
  json stages = json::array();
  for (const HadamardStage& stage : trace.stages) stages.push_back(stage_json(stage));
  return {{"place", trace.place},
          {"negative", trace.negative},
          {"signed", word_json(trace.signed_value)},
          {"stages", stages},
          {"value", word_json(trace.value)}};
}

json macro_json(const std::optional<MacroStory>& macro) {
  if (!macro) return nullptr;
  return {{"first_row", macro->first_row},
          {"first_column", macro->first_column},
          {"rows", macro->rows},
          {"columns", macro->columns},
          {"largest", word_json(macro->largest)},
          {"largest_place", {macro->largest_row, macro->largest_column}},
          {"quotient", macro->largest != 0 ? word_json(macro->quotient) : json(nullptr)},
          {"field", macro->largest != 0 ? json(macro->field) : json(nullptr)},
          {"byte", macro->byte},
          {"lowered", macro->lowered},
          {"limit_exponent", macro->k ? json(*macro->k) : json(nullptr)},
          {"steps", steps_json(macro->steps)}};
}

json element_residual_json(const ElementResidual& residual) {
  return {{"residual", word_json(residual.residual)},
          {"coded", word_json(residual.coded)},
          {"kept", residual.mask.kept},
          {"mask_tie", residual.mask.tie},
          {"mask_rule", residual.mask.rule},
          {"mask_compared", residual.mask.what},
          {"mask_decision", residual.mask.why},
          {"code", residual.code},
          {"second", word_json(residual.second)},
          {"scaled", word_json(residual.scaled)}};
}

json element_json(const CorrectionStory& story, const CorrectedElement& element) {
  const int columns = story.effective->block.cols;
  return {{"index", element.index},
          {"row", element.index / columns},
          {"column", element.index % columns},
          {"input", word_json(element.input)},
          {"hadamard", element.hadamard ? trace_json(*element.hadamard) : json(nullptr)},
          {"inner", word_json(element.inner)},
          {"coded", word_json(element.coded)},
          {"code", element.code},
          {"first", word_json(element.first)},
          {"residual", element.residual ? element_residual_json(*element.residual) : json(nullptr)},
          {"inner_value", word_json(element.inner_value)},
          {"value", word_json(element.value)},
          {"error", optional_number(element.error)},
          {"plain", element.plain ? word_json(*element.plain) : json(nullptr)},
          {"plain_error", optional_number(element.plain_error)}};
}

json context_json(const CorrectionStory& story) {
  return {{"shape", story.context.shape},
          {"row", story.context.row},
          {"column", story.context.column},
          {"whole_tensor", story.context.holds_all}};
}

}  // namespace

json correction_json(const CorrectionStory& story) {
  json elements = json::array();
  for (const CorrectedElement& element : story.elements) elements.push_back(element_json(story, element));
  json residual = nullptr;
  if (story.residual) {
    residual = {{"macro", macro_json(story.residual->macro)}, {"block", explanation_json(story.residual->block)}};
  }
  json value = explanation_json(story.first.block);
  if (!story.context.source.empty()) value["source"] = story.context.source;
  value["correction"] = {{"stack", stack_to_json(story.stack)},
                         {"profile", profile_to_json(*story.asked)},
                         {"product", story.product},
                         {"context", context_json(story)},
                         {"macro", macro_json(story.first.macro)},
                         {"residual", residual},
                         {"elements", elements}};
  value["decomposition"] = decomposition_json(story.decomposition);
  return value;
}

}  // namespace fp4proof::explain
