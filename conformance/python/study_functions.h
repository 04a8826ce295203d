#pragma once
// What there is to know about a tensor and a block: the parts of the error, the steps to the bits, the names.

#include <nanobind/nanobind.h>

namespace fp4proof::python {

/// Adds decompose, explain_values, explain_tensor.
void add_study_functions(nanobind::module_& module);

/// Adds profiles, corrections, operations, accumulators, sets: names, and the JSON of one thing.
void add_catalogue(nanobind::module_& module);

}  // namespace fp4proof::python
