#pragma once
// A coded tensor as Python holds it.

#include <nanobind/nanobind.h>

#include "conformance/corrections/stack_json.h"
#include "conformance/profiles/profile_json.h"
#include "reference/portable/correct.h"

namespace fp4proof::python {

/// A quantized tensor, plain (the stack `none`) or corrected, with what its names point to.
struct CodedTensor {
  SharedProfile profile;  ///< as it was asked for
  SharedStack stack;
  portable::Corrected tensor;
};

/// Adds the class CodedTensor and the functions that make and take it: quantize, code, dequantize, gemm.
void add_coded_tensor(nanobind::module_& module);

}  // namespace fp4proof::python
