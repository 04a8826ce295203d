#include "conformance/report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "conformance/report/mismatch_view.h"
#include "conformance/report/xml_text.h"
#include "conformance/vectors/counted.h"

namespace fp4proof::report {

namespace {

constexpr std::size_t most_mismatches = 3;

enum class Outcome : std::uint8_t { passed, failure, error, skipped };

struct TestCase {
  std::string class_name;
  std::string name;
  Outcome outcome = Outcome::passed;
  std::string type;
  std::string message;
  std::string text;
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases;
};

std::size_t count(const TestSuite& suite, Outcome outcome) {
  return static_cast<std::size_t>(std::ranges::count(suite.cases, outcome, &TestCase::outcome));
}

std::size_t count(const std::vector<TestSuite>& suites, Outcome outcome) {
  std::size_t sum = 0;
  for (const TestSuite& suite : suites) sum += count(suite, outcome);
  return sum;
}

std::string counts_text(const std::vector<TestSuite>& suites) {
  std::size_t tests = 0;
  for (const TestSuite& suite : suites) tests += suite.cases.size();
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests,
                     count(suites, Outcome::failure), count(suites, Outcome::error), count(suites, Outcome::skipped));
}

const char* tag_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::failure: return "failure";
    case Outcome::error: return "error";
    case Outcome::skipped: return "skipped";
    case Outcome::passed: break;
  }
  return "system-out";
}

std::string to_xml(const TestCase& test) {
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_attribute(test.class_name),
                                xml_attribute(test.name));
  if (test.outcome == Outcome::passed && test.text.empty()) return xml + "/>\n";
  const char* tag = tag_of(test.outcome);
  xml += fmt::format(">\n      <{}", tag);
  if (test.outcome != Outcome::passed) xml += fmt::format(" message=\"{}\"", xml_attribute(test.message));
  if (!test.type.empty()) xml += fmt::format(" type=\"{}\"", xml_attribute(test.type));
  return xml + (test.text.empty() ? "/>" : fmt::format(">{}</{}>", xml_text(test.text), tag)) + "\n    </testcase>\n";
}

std::string to_xml(const TestSuite& suite, const std::string& properties) {
  std::string xml = fmt::format("  <testsuite name=\"{}\" {}>\n", xml_attribute(suite.name), counts_text({suite}));
  xml += properties;
  for (const TestCase& test : suite.cases) xml += to_xml(test);
  return xml + "  </testsuite>\n";
}

std::string properties_of(const Json& document) {
  const Json& subject = at(document, "subject");
  const Json& cases = at(document, "cases");
  const std::vector<std::pair<std::string, std::string>> properties = {
      {"tool_version", text_at(document, "tool_version")},
      {"verdict", text_at(document, "verdict")},
      {"exit_code", std::to_string(count_at(document, "exit_code"))},
      {"subject", subject_name(document)},
      {"subject.path", text_at(subject, "path")},
      {"subject.sha256", text_at(subject, "sha256")},
      {"cases", text_at(cases, "source")},
      {"cases.manifest_sha256", text_at(cases, "manifest_sha256")},
  };
  std::string xml = "    <properties>\n";
  for (const auto& [name, value] : properties) {
    if (value.empty()) continue;
    xml += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_attribute(value));
  }
  return xml + "    </properties>\n";
}

std::string class_name_of(const Json& value) {
  return fmt::format("fp4proof.{}.{}", text_at(value, "operation"), text_at(value, "profile"));
}

/// The document in the terms of JUnit.
class Suites {
 public:
  explicit Suites(const Json& document) : document_(document) {}

  std::vector<TestSuite> all() const {
    std::vector<TestSuite> suites;
    for (const Json& table : at(document_, "tables")) suites.push_back(suite_of(table));
    if (TestSuite plugin = plugin_suite(); !plugin.cases.empty()) suites.push_back(std::move(plugin));
    suites.push_back({"verdict", {verdict_case(suites)}});
    return suites;
  }

 private:
  TestSuite suite_of(const Json& table) const {
    TestSuite suite;
    suite.name = table_name(table);
    for (const Json& fault : at(document_, "faults"))
      if (same_table(fault, table)) suite.cases.push_back(fault_case(fault));
    const Json& classes = at(table, "classes");
    if (!classes.is_object()) return suite;
    for (const auto& [name, tally] : classes.items()) suite.cases.push_back(class_case(table, name, tally_of(tally)));
    return suite;
  }

  TestCase class_case(const Json& table, const std::string& name, const verify::Tally& tally) const {
    TestCase test{class_name_of(table), name, Outcome::passed, {}, {}, {}};
    if (tally.failed != 0) {
      fail(test, table, tally);
    } else if (tally.passed == 0 && tally.skipped != 0) {
      test.outcome = Outcome::skipped;
      test.message = counted(tally.skipped, "case") + " not compared: not offered, missing or withdrawn";
    } else if (tally.skipped != 0) {
      test.text = verify::to_text(tally);
    }
    return test;
  }

  void fail(TestCase& test, const Json& table, const verify::Tally& tally) const {
    test.outcome = Outcome::failure;
    test.message = fmt::format("{} of {} fail", tally.failed, counted(tally.total(), "case"));
    const std::string diagnosis = text_at(at(table, "diagnosis"), "text");
    if (!diagnosis.empty()) test.text = "diagnosis: " + diagnosis + "\n";
    const std::string_view purpose = class_purpose(test.name);
    if (!purpose.empty()) test.text += fmt::format("the class catches: {}\n", purpose);
    std::size_t shown = 0;
    for (const Json& mismatch : at(document_, "mismatches")) {
      if (shown == most_mismatches) break;
      if (!same_table(mismatch, table) || text_at(mismatch, "class") != test.name) continue;
      if (shown == 0) {
        test.message += ": " + cause_of(mismatch);
        test.type = text_at(mismatch, "cause");
      }
      test.text += "\n" + text_of(mismatch);
      ++shown;
    }
    if (!diagnosis.empty()) test.message += "; " + diagnosis;
    if (shown == 0) explain_by_table(test, table);
  }

  /// A failure of which the document keeps no mismatch: what it counts in the table of the class.
  void explain_by_table(TestCase& test, const Json& table) const {
    test.type = "mismatch";
    for (const CauseRow& row : causes_of(table)) {
      test.text += fmt::format("in the table: {} {}, {}\n", row.cause, row.kind, counted(row.cases, "case"));
    }
    for (const Json& fault : at(document_, "faults")) {
      if (!same_table(fault, table)) continue;
      test.type = "plug-in";
      test.text += fmt::format("in the table: {}\n", text_at(fault, "what"));
    }
  }

  static TestCase fault_case(const Json& fault) {
    const std::string what = text_at(fault, "what");
    return {class_name_of(fault),
            fmt::format("call {} from {}", text_at(fault, "group"), text_at(fault, "first_case")),
            Outcome::error,
            "plug-in",
            what,
            fmt::format("{}\n{} from {} on\n", what, counted(count_at(fault, "cases"), "case"),
                        text_at(fault, "first_case"))};
  }

  /// Faults outside of every table.
  TestSuite plugin_suite() const {
    TestSuite suite{"plug-in", {}};
    const auto add = [&](const char* name, const std::string& problem) {
      if (!problem.empty())
        suite.cases.push_back({"fp4proof.plug-in", name, Outcome::error, "plug-in", problem, problem + "\n"});
    };
    add("load", text_at(document_, "load_problem"));
    add("close", text_at(document_, "close_problem"));
    for (const Json& fault : at(document_, "faults")) {
      const auto is_its = [&](const Json& table) { return same_table(fault, table); };
      const Json& tables = at(document_, "tables");
      if (std::none_of(tables.begin(), tables.end(), is_its)) suite.cases.push_back(fault_case(fault));
    }
    return suite;
  }

  TestCase verdict_case(const std::vector<TestSuite>& suites) const {
    TestCase test{"fp4proof.verdict", "exit code", Outcome::passed, {}, {}, {}};
    const std::uint64_t code = count_at(document_, "exit_code");
    if (code == 0) return test;
    const bool answers_differ = code == 1 || code == 7;
    const Outcome outcome = answers_differ ? Outcome::failure : Outcome::error;
    if ((answers_differ || code == 4) && count(suites, outcome) != 0) return test;
    test.outcome = outcome;
    test.type = text_at(document_, "verdict");
    test.message = fmt::format("exit code {}, {}", code, exit_code_name(static_cast<std::int64_t>(code)));
    for (const std::string& reason : texts_at(document_, "reasons")) test.text += reason + "\n";
    return test;
  }

  const Json& document_;
};

}  // namespace

std::string junit(const Json& document) {
  const Json clean = readable(document);
  const std::vector<TestSuite> suites = Suites(clean).all();
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites name=\"fp4proof\" {}>\n", counts_text(suites));
  const std::string properties = properties_of(clean);
  for (const TestSuite& suite : suites) xml += to_xml(suite, properties);
  return xml + "</testsuites>\n";
}

}  // namespace fp4proof::report
