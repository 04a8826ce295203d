#include "conformance/python/gate.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <utility>

#include "conformance/python/arguments.h"
#include "conformance/python/function_subject.h"
#include "conformance/python/python_errors.h"
#include "conformance/report/junit.h"
#include "conformance/report/sarif.h"
#include "conformance/report/verdict_page.h"
#include "conformance/runners/case_source.h"
#include "conformance/suite/sets.h"
#include "conformance/vectors/os_error.h"
#include "conformance/verdict/check.h"
#include "reference/portable/environment.h"

namespace fp4proof::python {

namespace nb = nanobind;

namespace {

runners::CaseSource cases_of(const std::string& set) {
  if (const suite::SetPlan* plan = suite::find_set(set)) return runners::CaseSource::named(*plan);
  std::error_code ignored;
  if (std::filesystem::is_directory(set, ignored)) return value_or_raise(runners::CaseSource::folder(set));
  raise({ErrorKind::usage, fmt::format("set {} is neither smoke, quick, full nor a folder", quote(set))});
}

suite::Operation operation_of(const std::string& name) {
  if (const auto operation = suite::operation_named(name)) return *operation;
  raise({ErrorKind::usage,
         fmt::format("unknown operation {}; there are {}", quote(name), fmt::join(suite::operation_names, " "))});
}

verdict::Requirement requirement_of(const std::string& name) {
  if (const auto requirement = verdict::requirement_named(name)) return *requirement;
  raise({ErrorKind::usage,
         fmt::format("require is {}, not {}", fmt::join(verdict::requirement_names, ", "), quote(name))});
}

std::string dump(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Asks `asking` about every case that `options` want. The report as JSON.
std::string check(nb::object asking, const nb::dict& options) {
  const auto text = [&](const char* name) { return nb::cast<std::string>(options[name]); };
  const runners::CaseSource cases = cases_of(text("set"));
  FunctionSubject subject(std::move(asking), {text("name"), text("version"), text("description"), 0});
  verdict::CheckRequest request;
  request.subject = &subject;
  request.facts = {"python", text("path"), text("sha256")};
  request.cases = &cases;
  request.invocation = nb::cast<std::vector<std::string>>(options["invocation"]);
  for (const std::string& profile : nb::cast<std::vector<std::string>>(options["profiles"])) {
    request.profiles.push_back(profile_of(profile));
  }
  if (const std::string operation = text("operation"); !operation.empty()) request.operation = operation_of(operation);
  request.accumulator = text("accumulator");
  request.requirement = requirement_of(text("require"));
  request.most_mismatches = nb::cast<std::size_t>(options["errors"]);
  request.rules.ignore_codes_under_nan = nb::cast<bool>(options["ignore_codes_under_nan"]);
  if (nb::cast<bool>(options["statistical"])) request.statistical = verdict::StatisticalPlan{};
  const auto outcome = [&]() -> Result<verdict::CheckOutcome> {
    const nb::gil_scoped_release released;
    if (const Result<void> sound = portable::check_environment(); !sound) return sound.error();
    return verdict::check(request);
  }();
  subject.rethrow_interruption();
  if (!outcome) raise(outcome.error());
  return dump(outcome->document);
}

/// A function of a report that takes and gives text.
template <auto Make>
std::string of_document(const std::string& document) {
  const nlohmann::json value = nlohmann::json::parse(document, nullptr, false);
  if (value.is_discarded()) raise({ErrorKind::usage, "the report is no JSON"});
  return Make(value);
}

}  // namespace

void add_gate(nb::module_& module) {
  using namespace nb::literals;
  module.def("check", check, "asking"_a, "options"_a);
  module.def("report_text", of_document<verdict::report_text>, "document"_a);
  module.def("report_totals", of_document<verdict::totals_line>, "document"_a);
  module.def("report_html", of_document<report::verdict_page>, "document"_a);
  module.def("report_junit", of_document<report::junit>, "document"_a);
  module.def("report_sarif", of_document<report::sarif>, "document"_a);
}

}  // namespace fp4proof::python
