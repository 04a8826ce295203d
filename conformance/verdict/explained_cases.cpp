#include "conformance/verdict/explained_cases.h"

#include <array>
#include <set>
#include <utility>

#include "conformance/explain/block_source.h"
#include "conformance/explain/explain.h"
#include "conformance/explain/explanation_json.h"
#include "conformance/vectors/bytes.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

/// The explanation of the block at fault, or null where there is none.
json explanation_of(const verify::ComparedCase& compared) {
  const Profile& profile = *compared.table.profile;
  const suite::GroupSpec& spec = compared.group.spec;
  const suite::CaseTensor* input = compared.group.find("input");
  const Result<portable::Geometry> geometry = suite::case_geometry(profile, spec);
  if (input == nullptr || compared.group.find("random") != nullptr || !geometry) return {};
  const verify::Finding& finding = *compared.finding;
  explain::BlockAddress address;
  address.axis = spec.axis;
  address.tail = spec.tail;
  address.block = finding.row / profile.block.rows * geometry->blocks + finding.block;
  const std::array<std::int64_t, 2> shape = {spec.rows, spec.columns};
  const auto words = copy_elements<std::uint32_t>(input->of_case(compared.index));
  const portable::TensorView tensor = {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())};
  const auto question = explain::block_of_tensor(profile, tensor, address, {});
  if (!question) return {};
  const Result<explain::Explanation> explanation = explain::explain_block(profile, *question);
  if (!explanation) return {};
  const json whole = explain::explanation_json(*explanation);
  json kept = {{"steps", whole.at("steps")}, {"elements", json::array()}};
  const std::int64_t blamed = finding.row % profile.block.rows * profile.block.cols + finding.element;
  for (const json& element : whole.at("elements"))
    if (finding.element >= 0 && element.at("index") == blamed) kept["elements"].push_back(element);
  return kept;
}

std::pair<std::string, std::string> table_of(const json& mismatch) {
  return {mismatch.at("operation").get<std::string>(), mismatch.at("profile").get<std::string>()};
}

}  // namespace

void ExplainedCases::saw(const verify::ComparedCase& compared) {
  if (!compared.finding || compared.table.operation != suite::Operation::quantize) return;
  const auto [place, is_new] = profiles_.try_emplace(std::string(compared.report.profile->name));
  if (!is_new) return;
  place->second = explanation_of(compared);
  if (place->second.is_object()) place->second["case_id"] = suite::id_text(compared.group.ids[compared.index]);
}

void ExplainedCases::add_to(json& mismatches) const {
  for (json& mismatch : mismatches) {
    if (mismatch.at("operation") != suite::name_of(suite::Operation::quantize)) continue;
    const auto found = profiles_.find(mismatch.at("profile").get<std::string>());
    if (found == profiles_.end() || !found->second.is_object()) continue;
    if (found->second.at("case_id") != mismatch.at("case_id")) continue;
    mismatch["explanation"] = found->second;
    mismatch["explanation"].erase("case_id");
  }
  keep_first_explanations(mismatches);
}

void keep_first_explanations(json& mismatches) {
  std::set<std::pair<std::string, std::string>> seen;
  for (json& mismatch : mismatches)
    if (!seen.insert(table_of(mismatch)).second) mismatch.erase("explanation");
}

}  // namespace fp4proof::verdict
