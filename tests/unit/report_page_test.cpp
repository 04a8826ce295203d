// The page of a verdict: what stands on it, and what may not.

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "conformance/report/table_charts.h"
#include "conformance/report/verdict_page.h"
#include "conformance/report/worst_case_part.h"
#include "tests/unit/report_documents.h"

namespace fp4proof::report {
namespace {

using nlohmann::json;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Nothing to run, nothing to load.
void expect_self_contained(const std::string& page) {
  for (const char* part :
       {"<script", "<link", "<img", "<iframe", "<object", "src=", "url(", "@import", "http:", "https:", "onload"}) {
    EXPECT_FALSE(holds(page, part)) << part;
  }
  EXPECT_LT(page.size(), 2'000'000U);
}

TEST(VerdictPage, TellsWhatIsWrong) {
  const std::string page = verdict_page(report_documents::scale_off_by_one());
  expect_self_contained(page);
  for (const char* part :
       {"FAIL", "exit code 1, mismatch", "behaves as scale codes one too high; all 5 mismatches explained",
        "dequantize", "mxfp4/ocp", "Where it differs", "By how far", "3 of 4 fail", "2 of 3 fail", "18457f1632a2b1fe",
        "the scale code was decoded to another power of two", "&#39;build/my kernel.so&#39;", "set smoke",
        "a processor", "ef15b107d9d8f263a29f73c525f5a01a0db7488228f7083f5ab49cf34526ca1b",
        "prefers-color-scheme:dark"}) {
    EXPECT_TRUE(holds(page, part)) << part;
  }
}

TEST(VerdictPage, MarksTheBitsThatDiffer) {
  const std::string page = verdict_page(report_documents::scale_off_by_one());
  // 0.01111110.0 against 0.01111111.0
  EXPECT_TRUE(holds(page, "<span class=\"e\">0111111<u>1</u></span>"));
}

TEST(VerdictPage, TellsThatNothingIsWrong) {
  const std::string page = verdict_page(report_documents::pass());
  expect_self_contained(page);
  for (const char* part : {"PASS", "exit code 0, conformant", "12 cases equal to the bit"})
    EXPECT_TRUE(holds(page, part));
  for (const char* part : {"What fails", "One mismatch", "Failures of the plug-in"}) EXPECT_FALSE(holds(page, part));
}

TEST(VerdictPage, TellsOfACrashAndOfWhatIsMissing) {
  const std::string crash = verdict_page(report_documents::crash());
  for (const char* part : {"ERROR", "exit code 4, plug-in failed", "SIGSEGV", "! fault"})
    EXPECT_TRUE(holds(crash, part));
  const std::string incomplete = verdict_page(report_documents::incomplete());
  for (const char* part : {"INCOMPLETE", "exit code 5", "no case was compared"}) EXPECT_TRUE(holds(incomplete, part));
}

TEST(VerdictPage, TextsOfOthersStayText) {
  json document = report_documents::scale_off_by_one();
  const std::string hostile =
      "\"><script>alert(1)</script><img src=x onerror=y>&\x01\xff" + std::string(3'000'000, 'a');
  for (const char* field : {"name", "version", "description", "path"}) document["subject"][field] = hostile;
  document["reasons"] = {hostile};
  document["load_problem"] = hostile;
  document["invocation"] = {hostile};
  document["tables"][0]["diagnosis"]["text"] = hostile;
  document["tables"][0]["profile"] = hostile;
  document["tables"][0]["classes"][hostile] = {{"passed", 0}, {"failed", 1}, {"skipped", 0}};
  document["tables"][0]["causes"]["ELEMENT"][hostile] = {{"cases", 1}, {"distances", {{"+1", 1}, {hostile, 2}}}};
  document["tables"][0]["places"]["group"] = hostile;
  document["mismatches"][0]["kind"] = hostile;
  document["mismatches"][0]["case_id"] = hostile;
  const std::string page = verdict_page(document);
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_FALSE(holds(page, "<script"));
  EXPECT_FALSE(holds(page, "<img"));
  EXPECT_FALSE(holds(page, "\x01"));
  EXPECT_TRUE(holds(page, "&lt;script&gt;alert(1)"));
}

TEST(VerdictPage, HugeDocumentsStaySmallPages) {
  json document = report_documents::scale_off_by_one();
  json table = document["tables"][0];
  table["places"] = {{"group", "64x256"}, {"rows", 64},        {"columns", 256},
                     {"row_step", 4},     {"column_step", 16}, {"cases", 9}};
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 256; ++column)
      table["places"]["failed"].push_back({row, column, 1 + (row * 7 + column * 3) % 9});
  for (int i = 0; i < 100; ++i)
    table["classes"]["class-" + std::to_string(i)] = {{"passed", 1}, {"failed", 1}, {"skipped", 0}};
  document["tables"] = json::array();
  for (int i = 0; i < 60; ++i) {
    table["profile"] = "mine/profile-" + std::to_string(i);
    document["tables"].push_back(table);
  }
  const json mismatch = document["mismatches"][0];
  for (int i = 0; i < 10000; ++i) document["mismatches"].push_back(mismatch);
  const std::string page = verdict_page(document);
  expect_self_contained(page);
  EXPECT_TRUE(holds(page, "The first 40 of 10\u202f001 mismatches"));
  EXPECT_TRUE(holds(page, "30 more failing tables"));
}

TEST(VerdictPage, EmptyDocument) { expect_self_contained(verdict_page(json::object())); }

TEST(VerdictPage, OptionalPartsAreShownWhereTheDocumentHasThem) {
  json document = report_documents::scale_off_by_one();
  document["mismatches"][0]["explanation"] = {
      {"steps", json::array({{{"label", "amax"}, {"text", "largest magnitude 5"}, {"rule", "M3"}}})},
      {"elements", json::array({{{"index", 1}, {"decision", "nearer to 3"}, {"code", 5}, {"rule", "M9"}}})}};
  document["tables"][0]["decomposition"] = {
      {"cases", 5},
      {"left_out", 2},
      {"expected", {{"error", 0.4}, {"scale", 0.5}, {"deadzone", 0.25}, {"grid", 0.25}}},
      {"actual", {{"error", 1.6}, {"scale", 1.5}, {"deadzone", 0.25}, {"grid", 0.25}}}};
  document["waivers"] = {{"path", "waivers.json"},
                         {"sha256", std::string(64, 'a')},
                         {"entries", json::array({{{"operation", "quantize"},
                                                   {"profile", nullptr},
                                                   {"class", "ties"},
                                                   {"reason", "known"},
                                                   {"owner", "somebody"},
                                                   {"expiry", "2026-12-31"},
                                                   {"cases", 4},
                                                   {"state", "expired"}}})}};
  const std::string page = verdict_page(document);
  for (const char* part :
       {"largest magnitude 5", "nearer to 3", "What the error consists of", "width:75.00%", "left:80.00%", "32 %",
        "mean of 5 failing cases", "Left out: 2 cases", "somebody", "expired"}) {
    EXPECT_TRUE(holds(page, part)) << part;
  }
}

TEST(WorstCase, IsTheFarthestOfTheMostFrequentCause) {
  json document = report_documents::scale_off_by_one();
  json far = document["mismatches"][0];
  far["distance"] = -7;
  json other = far;
  other["kind"] = "nan-value";
  other["distance"] = 1000;
  document["mismatches"].push_back(other);
  document["mismatches"].push_back(far);
  EXPECT_EQ((*worst_mismatch(document))["distance"], -7);
  document["mismatches"][0]["explanation"] = {{"steps", json::array()}};
  EXPECT_EQ((*worst_mismatch(document))["distance"], 1);
  document["mismatches"] = json::array();
  EXPECT_EQ(worst_mismatch(document), nullptr);
}

TEST(PlaceMap, ShowsTheCellsThatDiffer) {
  const json table = report_documents::scale_off_by_one()["tables"][0];
  const auto map = place_map(table, 1000);
  ASSERT_TRUE(map.has_value());
  EXPECT_TRUE(holds(map->body, "group 2x32, 5 cases failed"));
  const std::regex path("<path d=\"([^\"]*)\" fill=\"#5c0011\"");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(map->body, match, path));
  EXPECT_TRUE(holds(match[1], "M66.00 58.00"));  // row 0, columns 0 and 1 in one rectangle
  json absent = table;
  absent["places"] = nullptr;
  EXPECT_FALSE(place_map(absent, 1000).has_value());
  absent["places"] = {{"rows", 1e9}, {"columns", 1000000}, {"failed", {{0, 0, 1}}}};
  EXPECT_FALSE(place_map(absent, 1000).has_value());
}

TEST(DistanceChart, FarDistancesShareBars) {
  json table = report_documents::scale_off_by_one()["tables"][0];
  table["causes"]["SCALE"]["scale-value"]["distances"] = {
      {"+1", 4}, {"+6", 1}, {"-9223372036854775808", 1}, {"x", 3}, {"+0", 9}};
  const auto chart = distance_chart(table);
  ASSERT_TRUE(chart.has_value());
  EXPECT_TRUE(holds(chart->body, "SCALE scale-value: 4"));
  EXPECT_TRUE(holds(chart->body, ">0</text>"));
  table["causes"]["SCALE"]["scale-value"]["distances"] = {{"+0", 9}};
  EXPECT_FALSE(distance_chart(table).has_value());
}

}  // namespace
}  // namespace fp4proof::report
