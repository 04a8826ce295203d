// Reports as JUnit XML, read back by a parser.

#include "conformance/report/junit.h"

#include <gtest/gtest.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <sstream>
#include <string>

#include "tests/unit/report_documents.h"

namespace fp4proof::report {
namespace {

using boost::property_tree::ptree;
using nlohmann::json;

ptree parsed(const json& document) {
  std::istringstream text(junit(document));
  ptree tree;
  boost::property_tree::read_xml(text, tree);
  return tree;
}

/// The outcome of each test case, "" where it passed; and the counts of every suite are those of its test cases.
std::map<std::string, std::string> outcomes(const ptree& tree) {
  std::map<std::string, std::string> found;
  std::map<std::string, int> all;
  for (const auto& [tag, suite] : tree.get_child("testsuites")) {
    if (tag != "testsuite") continue;
    std::map<std::string, int> counts;
    for (const auto& [child, test] : suite) {
      if (child != "testcase") continue;
      ++counts["tests"];
      const std::string name =
          test.get<std::string>("<xmlattr>.classname") + " " + test.get<std::string>("<xmlattr>.name");
      found[name] = "";
      for (const char* outcome : {"failure", "error", "skipped"}) {
        if (!test.get_child_optional(outcome)) continue;
        found[name] += outcome;
        ++counts[outcome == std::string("skipped") ? "skipped" : outcome + std::string("s")];
      }
    }
    for (const char* count : {"tests", "failures", "errors", "skipped"}) {
      EXPECT_EQ(suite.get<int>(std::string("<xmlattr>.") + count), counts[count]) << count;
      all[count] += counts[count];
    }
  }
  for (const char* count : {"tests", "failures", "errors", "skipped"}) {
    EXPECT_EQ(tree.get<int>(std::string("testsuites.<xmlattr>.") + count), all[count]) << count;
  }
  return found;
}

TEST(Junit, OneTestCaseForEachClass) {
  const std::map<std::string, std::string> expected = {
      {"fp4proof.dequantize.mxfp4/ocp dequantize-codebook", "failure"},
      {"fp4proof.dequantize.mxfp4/ocp dequantize-positions", "failure"},
      {"fp4proof.dequantize.mxfp4/ocp dequantize-random", ""},
      {"fp4proof.dequantize.mxfp4/ocp wild-omlx-2159", "skipped"},
      {"fp4proof.verdict exit code", ""}};
  EXPECT_EQ(outcomes(parsed(report_documents::scale_off_by_one())), expected);
}

TEST(Junit, FailuresTellWhatAndWhy) {
  const ptree tree = parsed(report_documents::scale_off_by_one());
  for (const auto& [tag, test] : tree.get_child("testsuites.testsuite")) {
    if (tag != "testcase" || test.get<std::string>("<xmlattr>.name") != "dequantize-codebook") continue;
    EXPECT_EQ(test.get<std::string>("failure.<xmlattr>.type"), "SCALE");
    EXPECT_EQ(
        test.get<std::string>("failure.<xmlattr>.message"),
        "3 of 4 cases fail: SCALE scale-value, distance +1; behaves as scale codes one too high; all 5 mismatches "
        "explained");
    const auto text = test.get<std::string>("failure");
    EXPECT_NE(text.find("diagnosis: behaves as"), std::string::npos);
    EXPECT_NE(text.find("case 18457f1632a2b1fe"), std::string::npos);
    return;
  }
  FAIL() << "no such test case";
}

TEST(Junit, PassHasNoFailure) {
  for (const auto& [name, outcome] : outcomes(parsed(report_documents::pass()))) EXPECT_EQ(outcome, "") << name;
}

TEST(Junit, FailedCallsAreErrors) {
  const auto found = outcomes(parsed(report_documents::crash()));
  EXPECT_EQ(found.at("fp4proof.dequantize.mxfp4/ocp call 2x32 from 18457f1632a2b1fe"), "error");
  EXPECT_EQ(found.at("fp4proof.dequantize.mxfp4/ocp dequantize-codebook"), "failure");
  json document = report_documents::pass();
  document["exit_code"] = 4;
  document["load_problem"] = "it has no function fp4proof_open_backend";
  EXPECT_EQ(outcomes(parsed(document)).at("fp4proof.plug-in load"), "error");
}

TEST(Junit, EveryOtherExitCodeThanZeroShows) {
  EXPECT_EQ(outcomes(parsed(report_documents::incomplete())).at("fp4proof.verdict exit code"), "error");
  json document = report_documents::pass();
  for (const int code : {1, 2, 3, 4, 5, 6, 7, 70}) {
    document["exit_code"] = code;
    const auto found = outcomes(parsed(document));
    EXPECT_EQ(found.at("fp4proof.verdict exit code"), code == 1 || code == 7 ? "failure" : "error") << code;
  }
  document = report_documents::scale_off_by_one();
  document["exit_code"] = 5;
  EXPECT_EQ(outcomes(parsed(document)).at("fp4proof.verdict exit code"), "error");
}

TEST(Junit, HostileTextsStayText) {
  json document = report_documents::scale_off_by_one();
  const std::string hostile = "\"/><failure/>]]>&amp;\x01\x1b[31m\n\xff\xef\xbf\xbe";
  document["subject"]["name"] = hostile;
  document["mismatches"][0]["text"] = hostile;
  document["tables"][0]["diagnosis"]["text"] = hostile;
  document["tables"][0]["classes"][hostile] = {{"passed", 1}, {"failed", 0}, {"skipped", 0}};
  const std::string xml = junit(document);
  for (const char c : xml) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 && c != '\n') << static_cast<int>(c);
  const auto found = outcomes(parsed(document));
  EXPECT_EQ(found.size(), 6U);
  const std::string shown = "fp4proof.dequantize.mxfp4/ocp \"/><failure/>]]>&amp;\uFFFD\uFFFD[31m\n\uFFFD\uFFFD";
  EXPECT_TRUE(found.contains(shown));
}

TEST(Junit, EmptyDocument) {
  const auto found = outcomes(parsed(json::object()));
  EXPECT_EQ(found.size(), 1U);
}

}  // namespace
}  // namespace fp4proof::report
