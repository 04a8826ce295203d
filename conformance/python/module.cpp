// The extension module fp4proof._core: what the Python package stands on. The package gives it its public face.

#include <nanobind/nanobind.h>

#include "conformance/python/coded_tensor.h"
#include "conformance/python/gate.h"
#include "conformance/python/study_functions.h"

NB_MODULE(_core, module) {
  module.doc() = "The reference, the microscope and the verifier. Use the package fp4proof instead.";
  module.attr("version") = FP4PROOF_VERSION;
  fp4proof::python::add_catalogue(module);
  fp4proof::python::add_coded_tensor(module);
  fp4proof::python::add_study_functions(module);
  fp4proof::python::add_gate(module);
}
