#pragma once
// The verifier for Python.

#include <nanobind/nanobind.h>

namespace fp4proof::python {

/// Adds check, which asks a Python object (function_subject.h) and returns the report as JSON, and what makes text,
/// HTML, JUnit and SARIF of such a report.
void add_gate(nanobind::module_& module);

}  // namespace fp4proof::python
