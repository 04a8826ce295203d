// The names of the project, for Python.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "conformance/python/arguments.h"
#include "conformance/python/study_functions.h"
#include "conformance/suite/operation.h"
#include "conformance/suite/sets.h"
#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::python {

namespace nb = nanobind;

namespace {

using Names = std::vector<std::string>;

template <class Range>
Names names_of(const Range& things) {
  Names names;
  for (const auto& thing : things) names.emplace_back(thing.name);
  return names;
}

Names accumulator_names() {
  Names names;
  for (const portable::Accumulator accumulator : portable::accumulators) names.emplace_back(name_of(accumulator));
  return names;
}

}  // namespace

void add_catalogue(nb::module_& module) {
  using namespace nb::literals;
  module.def("profile_names", [] { return names_of(profiles()); });
  module.def("correction_names", [] { return names_of(correction_stacks()); });
  module.def("set_names", [] { return names_of(suite::sets()); });
  module.def("operation_names", [] { return Names(suite::operation_names.begin(), suite::operation_names.end()); });
  module.def("accumulator_names", accumulator_names);
  module.def(
      "profile_json", [](const std::string& profile) { return profile_to_json(*profile_of(profile)).dump(); },
      "profile"_a);
  module.def(
      "correction_json", [](const std::string& stack) { return stack_to_json(*stack_of(stack)).dump(); },
      "correction"_a);
}

}  // namespace fp4proof::python
