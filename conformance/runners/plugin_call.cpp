#include "conformance/runners/plugin_call.h"

#include "conformance/backend.h"
#include "conformance/profiles/profile_json.h"

namespace fp4proof::runners {

namespace {

using nlohmann::json;

json tensor_body(const suite::CaseTensor& tensor, std::size_t cases) {
  json shape = json::array({cases});
  for (const std::uint64_t extent : tensor.case_shape) shape.push_back(extent);
  return {{"name", tensor.name},
          {"dtype", tensor.dtype == TensorDtype::u32 ? FP4PROOF_U32 : FP4PROOF_U8},
          {"shape", shape},
          {"offset", 0},
          {"bytes", 0}};
}

void add_places_to(json& tensors, const TensorFile& file) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i]["offset"] = file.places()[i].offset;
    tensors[i]["bytes"] = file.places()[i].bytes;
  }
}

}  // namespace

json call_body(suite::Operation operation, const Profile& profile, const suite::CaseGroup& group) {
  json inputs = json::array();
  json outputs = json::array();
  for (const suite::CaseTensor& tensor : group.tensors) {
    (tensor.expected ? outputs : inputs).push_back(tensor_body(tensor, group.size()));
  }
  const suite::GroupSpec& spec = group.spec;
  return {{"operation", suite::name_of(operation)},
          {"profile", profile.name},
          {"profile_json", profile_to_json(profile).dump()},
          {"correction", spec.correction},
          {"accumulator", spec.accumulator},
          {"cases", group.size()},
          {"rows", spec.rows},
          {"columns", spec.columns},
          {"other_rows", spec.other_rows},
          {"axis", spec.axis},
          {"tail", spec.tail == portable::Tail::pad ? FP4PROOF_TAIL_PAD : FP4PROOF_TAIL_ERROR},
          {"inputs", inputs},
          {"outputs", outputs}};
}

void add_places(json& call, const TensorFile& inputs, const TensorFile& outputs) {
  add_places_to(call["inputs"], inputs);
  add_places_to(call["outputs"], outputs);
}

}  // namespace fp4proof::runners
