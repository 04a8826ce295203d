#include "conformance/runners/process_protocol.h"

namespace fp4proof::runners {

namespace {

std::vector<const suite::CaseTensor*> tensors_of(const suite::CaseGroup& group, bool expected) {
  std::vector<const suite::CaseTensor*> tensors;
  for (const suite::CaseTensor& tensor : group.tensors)
    if (tensor.expected == expected) tensors.push_back(&tensor);
  return tensors;
}

}  // namespace

std::vector<const suite::CaseTensor*> inputs_of(const suite::CaseGroup& group) { return tensors_of(group, false); }
std::vector<const suite::CaseTensor*> outputs_of(const suite::CaseGroup& group) { return tensors_of(group, true); }

std::size_t case_elements(const suite::CaseTensor& tensor) {
  return tensor.case_bytes() / (tensor.dtype == TensorDtype::u32 ? 4 : 1);
}

std::string_view element_name(const suite::CaseTensor& tensor) {
  return tensor.dtype == TensorDtype::u32 ? "u32" : "u8";
}

}  // namespace fp4proof::runners
