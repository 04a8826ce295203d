// Reports as SARIF.

#include "conformance/report/sarif.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/report_documents.h"

namespace fp4proof::report {
namespace {

using nlohmann::json;

json run_of(const json& document) {
  const json log = json::parse(sarif(document));
  EXPECT_EQ(log["version"], "2.1.0");
  EXPECT_EQ(log["runs"].size(), 1U);
  const json& run = log["runs"][0];
  std::set<std::string> fingerprints;
  for (const json& result : run["results"]) {
    EXPECT_EQ(run["tool"]["driver"]["rules"].at(result["ruleIndex"].get<std::size_t>())["id"], result["ruleId"]);
    EXPECT_EQ(result["level"], "error");
    fingerprints.insert(result["partialFingerprints"]["fp4proofCase/v1"].get<std::string>());
  }
  EXPECT_EQ(fingerprints.size(), run["results"].size());
  return run;
}

TEST(Sarif, ResultsAreMismatchesAndWhatIsOnlyCounted) {
  const json run = run_of(report_documents::scale_off_by_one());
  ASSERT_EQ(run["results"].size(), 2U);
  const json& listed = run["results"][0];
  EXPECT_EQ(listed["ruleId"], "SCALE/scale-value");
  EXPECT_EQ(listed["partialFingerprints"]["fp4proofCase/v1"], "18457f1632a2b1fe:scale-value");
  EXPECT_EQ(listed["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
            "dequantize/mxfp4/ocp/2x32/18457f1632a2b1fe");
  EXPECT_EQ(listed["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "build/my%20kernel.so");
  EXPECT_EQ(listed["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
  EXPECT_EQ(listed["properties"]["expected"]["fields"], "0.01111110.00000000000000000000000");
  EXPECT_EQ(listed["properties"]["actual"]["bits"], "3f800000");
  const auto text = listed["message"]["text"].get<std::string>();
  EXPECT_TRUE(text.starts_with("SCALE scale-value, distance +1 in dequantize under mxfp4/ocp; likely ")) << text;
  EXPECT_NE(text.find("Diagnosis: behaves as scale codes one too high"), std::string::npos);
  EXPECT_EQ(run["results"][1]["ruleId"], "SPECIAL/nan-value");
  EXPECT_EQ(run["results"][1]["properties"]["cases"], 1);
  for (const json& rule : run["tool"]["driver"]["rules"]) EXPECT_FALSE(rule["help"]["text"].get<std::string>().empty());
}

TEST(Sarif, FingerprintsDoNotDependOnTheRelease) {
  json document = report_documents::scale_off_by_one();
  const json before = run_of(document)["results"];
  document["tool_version"] = "9.9.9";
  document["host"]["processor"] = "another";
  document["mismatches"][0]["case_index"] = 17;
  document["mismatches"][0]["likely"] = "another text";
  const json after = run_of(document)["results"];
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i]["partialFingerprints"], after[i]["partialFingerprints"]);
  }
}

TEST(Sarif, ExitCodeZeroIsNoResultAndNothingElseIs) {
  EXPECT_TRUE(run_of(report_documents::pass())["results"].empty());
  EXPECT_EQ(run_of(report_documents::pass())["invocations"][0]["executionSuccessful"], true);
  const json incomplete = run_of(report_documents::incomplete());
  ASSERT_EQ(incomplete["results"].size(), 1U);
  EXPECT_NE(incomplete["results"][0]["message"]["text"].get<std::string>().find("no case was compared"),
            std::string::npos);
  EXPECT_EQ(incomplete["invocations"][0]["executionSuccessful"], false);
}

TEST(Sarif, FailedCallsAreResults) {
  const json run = run_of(report_documents::crash());
  ASSERT_EQ(run["results"].size(), 1U);
  EXPECT_EQ(run["results"][0]["ruleId"], "PLUGIN/fault");
  EXPECT_NE(run["results"][0]["message"]["text"].get<std::string>().find("SIGSEGV"), std::string::npos);
}

TEST(Sarif, PathsAreUris) {
  json document = report_documents::scale_off_by_one();
  const auto uri = [&](const std::string& path) {
    document["subject"]["path"] = path;
    return run_of(document)["artifacts"][0]["location"]["uri"].get<std::string>();
  };
  EXPECT_EQ(uri("/opt/a b/k\u00e9.so"), "file:///opt/a%20b/k%C3%A9.so");
  EXPECT_EQ(uri("out/../lib%.so"), "lib%25.so");
  EXPECT_EQ(uri("<script>\n"), "%3Cscript%3E%0A");
  EXPECT_EQ(uri(""), "set%20smoke");
}

TEST(Sarif, AtMostFiveThousandResults) {
  json document = report_documents::scale_off_by_one();
  const json mismatch = document["mismatches"][0];
  for (int i = 0; i < 6000; ++i) document["mismatches"].push_back(mismatch);
  const json run = run_of(document);
  EXPECT_EQ(run["results"].size(), 5000U);
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"].back()["message"]["text"], "1002 results left out");
}

TEST(Sarif, EmptyDocument) { EXPECT_TRUE(run_of(json::object())["results"].empty()); }

}  // namespace
}  // namespace fp4proof::report
