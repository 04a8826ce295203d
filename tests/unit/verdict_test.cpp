// From documents to verdicts; waivers; calls; what a report names.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conformance/runners/calls.h"
#include "conformance/runners/reference_subject.h"
#include "conformance/suite/make_table.h"
#include "conformance/verdict/check.h"
#include "conformance/verdict/invocation.h"
#include "conformance/verdict/judge.h"
#include "conformance/verdict/merge.h"
#include "conformance/verdict/merge_diagnosis.h"
#include "conformance/verdict/waivers.h"
#include "formats/spec_profiles.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof {
namespace {

using nlohmann::json;
using verdict::ExitCode;

json tally(int passed, int failed, int skipped) {
  return {{"passed", passed}, {"failed", failed}, {"skipped", skipped}};
}

json table(const char* operation = "quantize") {
  return {{"operation", operation},
          {"profile", "mxfp4/ocp"},
          {"tally", tally(3, 0, 0)},
          {"causes", json::object()},
          {"missing", 0},
          {"waived", 0},
          {"withdrawn", 0},
          {"nondeterministic", 0},
          {"offered_groups", 2},
          {"unsupported_groups", json::array()},
          {"statistical", nullptr}};
}

/// A document of a run in which everything is well.
json good_document() {
  return {{"subject", {{"kind", "plugin"}}},
          {"cases", {{"source", "set quick"}, {"set", "quick"}, {"part", "1/1"}, {"shard", "1/1"}}},
          {"demands", {{"require", "standard"}, {"operation", nullptr}, {"level", nullptr}, {"strict", false}}},
          {"tally", tally(3, 0, 0)},
          {"tables", json::array({table()})},
          {"absent", json::array()},
          {"waivers", nullptr},
          {"faults", json::array()},
          {"load_problem", ""},
          {"close_problem", ""}};
}

/// What gives one exit code alone.
struct Ill {
  ExitCode code;
  void (*make)(json& document);
};

constexpr std::array ills = {
    Ill{ExitCode::plugin_failed, [](json& document) { document["load_problem"] = "could not be loaded"; }},
    Ill{ExitCode::incomplete, [](json& document) { document["tables"][0]["missing"] = 1; }},
    Ill{ExitCode::nondeterministic, [](json& document) { document["tables"][0]["nondeterministic"] = 1; }},
    Ill{ExitCode::unsupported,
        [](json& document) {
          json other = table("dequantize");
          other["offered_groups"] = 0;
          other["unsupported_groups"] = {"1x32"};
          document["tables"].push_back(other);
        }},
    Ill{ExitCode::mismatch,
        [](json& document) {
          document["tables"][0]["causes"] = {{"SCALE", {{"scale-code", {{"cases", 2}}}}}};
        }},
};

TEST(Judge, EverythingWellPasses) {
  json document = good_document();
  EXPECT_EQ(verdict::pronounce(document).code, ExitCode::conformant);
  EXPECT_EQ(document["verdict"], "PASS");
  EXPECT_EQ(document["exit_code"], 0);
  EXPECT_TRUE(document["reasons"].empty());
}

/// 4, 5, 7, 6, 1: the first that holds.
TEST(Judge, TheFirstOfSeveralCodesHolds) {
  for (std::size_t a = 0; a < ills.size(); ++a) {
    for (std::size_t b = a; b < ills.size(); ++b) {
      json document = good_document();
      ills[b].make(document);
      if (a != b) ills[a].make(document);
      const verdict::Judgement judgement = verdict::judge(document);
      EXPECT_EQ(judgement.code, ills[a].code) << a << " " << b;
      EXPECT_EQ(judgement.reasons.size(), a == b ? 1U : 2U);
    }
  }
}

TEST(ExitCodes, Precedence) {
  using enum ExitCode;
  constexpr std::array order = {internal,         usage,       corrupt,  plugin_failed, incomplete,
                                nondeterministic, unsupported, mismatch, conformant};
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t b = a; b < order.size(); ++b) {
      EXPECT_EQ(verdict::worse_of(order[a], order[b]), order[a]);
      EXPECT_EQ(verdict::worse_of(order[b], order[a]), order[a]);
    }
  }
}

TEST(Judge, VerdictWords) {
  const std::array<std::string, 5> words = {"ERROR", "INCOMPLETE", "FAIL", "INCOMPLETE", "FAIL"};
  for (std::size_t i = 0; i < ills.size(); ++i) {
    json document = good_document();
    ills[i].make(document);
    verdict::pronounce(document);
    EXPECT_EQ(document["verdict"], words[i]);
    EXPECT_EQ(document["exit_code"], static_cast<int>(ills[i].code));
  }
}

TEST(Judge, NothingComparedIsIncomplete) {
  json document = good_document();
  document["tally"] = tally(0, 0, 3);
  EXPECT_EQ(verdict::judge(document).code, ExitCode::incomplete);
  EXPECT_NE(verdict::judge(document).reasons[0].text.find("offers none"), std::string::npos);
  document["tables"][0]["waived"] = 2;
  document["tables"][0]["withdrawn"] = 1;
  const verdict::Judgement judgement = verdict::judge(document);
  EXPECT_EQ(judgement.code, ExitCode::incomplete);
  EXPECT_EQ(judgement.reasons[0].text, "no case was compared: 2 waived, 1 withdrawn, and none is left");
}

/// Who demands completeness takes no errata but the project's own.
TEST(Judge, ForeignErrataAreNoWayAround) {
  for (const bool is_strict : {false, true}) {
    for (const bool is_foreign : {false, true}) {
      json document = good_document();
      document["demands"]["strict"] = is_strict;
      document["cases"]["errata"] = {{"path", "ERRATA.json"}, {"foreign", is_foreign ? 1 : 0}};
      document["tables"][0]["withdrawn"] = 3;
      const ExitCode code = is_strict && is_foreign ? ExitCode::incomplete : ExitCode::conformant;
      EXPECT_EQ(verdict::judge(document).code, code);
      document["tables"][0]["withdrawn"] = 0;
      EXPECT_EQ(verdict::judge(document).code, ExitCode::conformant);
    }
  }
}

TEST(Judge, FullIsNeverLess) {
  json document = good_document();
  document["demands"]["require"] = "full";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::conformant);
  document["demands"]["operation"] = "quantize";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::incomplete);
  document = good_document();
  document["demands"]["require"] = "full";
  document["tables"][0]["unsupported_groups"] = {"1x32"};
  EXPECT_EQ(verdict::judge(document).code, ExitCode::unsupported);
  document["demands"]["require"] = "standard";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::incomplete);
  document["demands"]["require"] = "offered";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::conformant);
}

TEST(Judge, ProductsNeedOneAccumulator) {
  json document = good_document();
  document["demands"]["require"] = "full";
  json product = table("gemm");
  product["unsupported_groups"] = {"1x1x32-seq"};
  document["tables"].push_back(product);
  EXPECT_EQ(verdict::judge(document).code, ExitCode::conformant);
  document["tables"][1]["offered_groups"] = 0;
  EXPECT_EQ(verdict::judge(document).code, ExitCode::unsupported);
}

TEST(Judge, LevelsAreNeverLowered) {
  for (const auto& [level, set, code] :
       {std::tuple("smoke", "quick", ExitCode::conformant), std::tuple("quick", "quick", ExitCode::conformant),
        std::tuple("full", "quick", ExitCode::incomplete), std::tuple("quick", "smoke", ExitCode::incomplete),
        std::tuple("smoke", "of somebody else", ExitCode::incomplete)}) {
    json document = good_document();
    document["demands"]["level"] = level;
    document["cases"]["set"] = set;
    EXPECT_EQ(verdict::judge(document).code, code) << level << " " << set;
  }
  json document = good_document();
  document["demands"]["level"] = "quick";
  document["cases"]["part"] = "1/2";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::incomplete);
  document["cases"]["part"] = "1/1";
  document["cases"]["shard"] = "13/13";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::incomplete);
}

TEST(Judge, WhatIsRequiredMustBeInTheSet) {
  json document = good_document();
  document["absent"] = json::array({{{"operation", "gemm"}, {"profile", "mxfp4/ocp"}}});
  EXPECT_EQ(verdict::judge(document).code, ExitCode::conformant);
  document["demands"]["level"] = "quick";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::incomplete);
  document["demands"]["level"] = nullptr;
  document["absent"][0]["operation"] = "dequantize";
  EXPECT_EQ(verdict::judge(document).code, ExitCode::incomplete);
}

TEST(Judge, StatisticalIsNeverPass) {
  json document = good_document();
  document["tables"][0]["statistical"] = {{"alarms", json::array()}};
  verdict::pronounce(document);
  EXPECT_EQ(document["verdict"], "STATISTICAL");
  EXPECT_EQ(document["exit_code"], 0);
  document["tables"][0]["statistical"]["alarms"].push_back("biased");
  EXPECT_EQ(verdict::judge(document).code, ExitCode::mismatch);
}

json waiver_entry(const char* state) {
  return {{"class", "ties"}, {"operation", "quantize"}, {"owner", "me"}, {"expiry", "2020-01-01"}, {"state", state}};
}

TEST(Judge, WaiversUnderStrict) {
  for (const char* state : {"used", "unused", "expired"}) {
    json document = good_document();
    document["waivers"] = {{"entries", json::array({waiver_entry(state)})}};
    const bool is_good = std::string(state) == "used";
    EXPECT_EQ(verdict::judge(document).code, ExitCode::conformant) << state;
    EXPECT_EQ(verdict::warnings(document).empty(), is_good) << state;
    document["demands"]["strict"] = true;
    EXPECT_EQ(verdict::judge(document).code, is_good ? ExitCode::conformant : ExitCode::mismatch) << state;
    document["cases"]["shard"] = "1/11";  // another shard may use what this one does not
    const bool is_expired = std::string(state) == "expired";
    EXPECT_EQ(verdict::judge(document).code, is_expired ? ExitCode::mismatch : ExitCode::conformant) << state;
  }
}

constexpr std::chrono::year_month_day some_day{std::chrono::year(2026), std::chrono::month(6), std::chrono::day(15)};

Result<verdict::Waivers> waivers_of(const std::string& text) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder / "waivers.json";
  std::ofstream(path) << text;
  return verdict::read_waivers(path, some_day);
}

Result<verdict::Waivers> one_waiver(const std::string& fields) {
  return waivers_of(R"({"format": "fp4proof-waivers/1", "waivers": [{)" + fields + "}]}");
}

const std::string tail = R"(, "operation": "quantize", "reason": "r", "owner": "o", "expiry": "2026-06-15")";

TEST(Waivers, FindWhatTheyName) {
  const Result<verdict::Waivers> by_class = one_waiver(R"("class": "ties", "profile": "mxfp4/ocp")" + tail);
  ASSERT_TRUE(by_class.ok()) << by_class.error().message;
  using suite::Operation;
  EXPECT_TRUE(by_class->find({7, "ties", Operation::quantize, "mxfp4/ocp"}));
  EXPECT_FALSE(by_class->find({7, "ties", Operation::quantize, "mxfp4/ceil"}));
  EXPECT_FALSE(by_class->find({7, "ties", Operation::decompose, "mxfp4/ocp"}));
  EXPECT_FALSE(by_class->find({7, "zero-block", Operation::quantize, "mxfp4/ocp"}));
  const Result<verdict::Waivers> by_case = one_waiver(R"("case": "00000000000000ff")" + tail);
  ASSERT_TRUE(by_case.ok()) << by_case.error().message;
  EXPECT_TRUE(by_case->find({255, "anything", Operation::quantize, "hif4/gcc"}));
  EXPECT_FALSE(by_case->find({254, "anything", Operation::quantize, "hif4/gcc"}));
}

TEST(Waivers, HoldThroughTheirLastDay) {
  Result<verdict::Waivers> waivers = one_waiver(R"("class": "ties")" + tail);
  ASSERT_TRUE(waivers.ok());
  EXPECT_TRUE(waivers->find({7, "ties", suite::Operation::quantize, "mxfp4/ocp"}));
  waivers->today = std::chrono::sys_days(some_day) + std::chrono::days(1);
  EXPECT_FALSE(waivers->find({7, "ties", suite::Operation::quantize, "mxfp4/ocp"}));
  EXPECT_TRUE(waivers->is_expired(waivers->list[0]));
}

TEST(Waivers, RefuseWhatIsNotWhole) {
  for (const std::string& text : std::vector<std::string>{
           "[]", "{}", R"({"format": "fp4proof-waivers/1"})", R"({"format": "fp4proof-waivers/2", "waivers": []})",
           R"({"format": "fp4proof-waivers/1", "waivers": [], "more": 1})",
           R"({"format": "fp4proof-waivers/1", "waivers": [1]})"}) {
    const Result<verdict::Waivers> refused = waivers_of(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
  }
  const std::string head = R"("class": "ties", "operation": "quantize")";
  for (const std::string& fields : std::vector<std::string>{
           R"("operation": "quantize", "reason": "r", "owner": "o", "expiry": "2026-06-15")",
           R"("class": "ties", "case": "00000000000000ff")" + tail, R"("class": "no-such-class")" + tail,
           R"("class": "dequantize-codebook")" + tail, R"("case": "ff")" + tail, R"("case": "00000000000000fg")" + tail,
           R"("class": "ties", "more": "x")" + tail, head + R"(, "owner": "o", "expiry": "2026-06-15")",
           head + R"(, "reason": "r", "expiry": "2026-06-15")", head + R"(, "reason": "r", "owner": "o")",
           head + R"(, "reason": "", "owner": "o", "expiry": "2026-06-15")",
           head + R"(, "reason": " \t", "owner": "o", "expiry": "2026-06-15")",
           head + R"(, "reason": "r", "owner": " ", "expiry": "2026-06-15")",
           head + R"(, "reason": 1, "owner": "o", "expiry": "2026-06-15")",
           head + R"(, "reason": "r", "owner": "o", "expiry": "2026-02-30")",
           head + R"(, "reason": "r", "owner": "o", "expiry": "15.06.2026")",
           head + R"(, "reason": "r", "owner": "o", "expiry": "2026-6-15")",
           head + R"(, "reason": "r", "owner": "o", "expiry": "-026-06-15")",
           R"("class": "ties", "operation": "quantise", "reason": "r", "owner": "o", "expiry": "2026-06-15")"}) {
    const Result<verdict::Waivers> refused = one_waiver(fields);
    ASSERT_FALSE(refused.ok()) << fields;
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt) << fields;
    EXPECT_NE(refused.error().message.find("waiver 1: "), std::string::npos) << refused.error().message;
  }
}

TEST(Invocation, LeavesOutWhereReportsGo) {
  EXPECT_EQ(verdict::asking_arguments({"run", "--backend", "a.so", "--json", "x", "--shard=1/2", "--timing",
                                       "--report=html=y", "--report", "text=z", "--errors", "3"}),
            (std::vector<std::string>{"run", "--backend", "a.so", "--errors", "3"}));
}

/// Every case of a table, once and in order, in calls of bounded size.
TEST(Calls, CutGroupsWithoutLoss) {
  const SharedProfile profile(SharedProfile(), find_profile("mxfp4/ocp"));
  Result<suite::CaseTable> questions =
      suite::make_questions(*suite::find_set("full"), suite::Operation::quantize, profile);
  ASSERT_TRUE(questions.ok());
  const suite::CaseTable whole = *questions;
  const std::vector<runners::GroupCalls> groups = runners::cut_into_calls(*questions);
  ASSERT_EQ(groups.size(), whole.groups.size());
  std::uint64_t place = 0;
  std::size_t calls = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::uint64_t> ids;
    std::vector<std::uint8_t> inputs;
    for (const runners::Call& call : groups[g].calls) {
      EXPECT_EQ(call.place, place);
      EXPECT_EQ(call.group.first, ids.size());
      std::size_t bytes = 0;
      for (const suite::CaseTensor& tensor : call.group.tensors) bytes += tensor.case_bytes() * call.group.size();
      EXPECT_TRUE(bytes <= runners::most_call_bytes || call.group.size() == 1);
      ids.insert(ids.end(), call.group.ids.begin(), call.group.ids.end());
      const std::vector<std::uint8_t>& input = call.group.find("input")->bytes;
      inputs.insert(inputs.end(), input.begin(), input.end());
      place += call.group.size();
      ++calls;
    }
    EXPECT_EQ(ids, whole.groups[g].ids);
    EXPECT_EQ(inputs, whole.groups[g].find("input")->bytes);
  }
  EXPECT_GT(calls, groups.size());
}

/// The reference, one bit away from itself in the first code byte of each case of one row.
class WrongSubject : public runners::ReferenceSubject {
 public:
  Result<runners::GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                                       const suite::CaseGroup& group) override {
    Result<runners::GroupAnswers> answers = ReferenceSubject::answer(operation, profile, group);
    if (!answers || operation != suite::Operation::quantize || group.spec.rows != 1) return answers;
    const std::size_t bytes = group.find("codes")->case_bytes();
    for (std::size_t i = 0; i < group.size(); ++i) answers->outputs[0][i * bytes] ^= 0x10;
    return answers;
  }
};

verdict::CheckRequest request_for(runners::Subject& subject, const runners::CaseSource& cases) {
  verdict::CheckRequest request;
  request.subject = &subject;
  request.facts = {"reference", "", ""};
  request.cases = &cases;
  request.profiles = {SharedProfile(SharedProfile(), find_profile("mxfp4/ocp"))};
  request.diagnose = false;
  request.threads = 2;
  return request;
}

TEST(Check, PlacesShowWhereElementsDiffer) {
  const runners::CaseSource cases = runners::CaseSource::named(*suite::find_set("smoke"));
  WrongSubject subject;
  verdict::CheckRequest request = request_for(subject, cases);
  request.operation = suite::Operation::quantize;
  const Result<verdict::CheckOutcome> outcome = verdict::check(request);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->code, ExitCode::mismatch);
  const json& places = outcome->document["tables"][0]["places"];
  EXPECT_EQ(places["group"], "1x32");
  EXPECT_EQ(places["rows"], 1);
  EXPECT_EQ(places["columns"], 32);
  EXPECT_EQ(places["failed"], json::array({{0, 1, places["cases"]}}));
}

TEST(Merge, ShardsGiveTheWhole) {
  const runners::CaseSource cases = runners::CaseSource::named(*suite::find_set("smoke"));
  WrongSubject subject;
  verdict::CheckRequest request = request_for(subject, cases);
  const Result<verdict::CheckOutcome> whole = verdict::check(request);
  ASSERT_TRUE(whole.ok());
  EXPECT_GT(whole->document["tally"]["failed"].get<int>(), 0);
  for (const std::uint32_t count : {2U, 3U, 7U}) {
    std::vector<verdict::ShardDocument> shards;
    for (std::uint32_t index = count; index >= 1; --index) {
      request.shard = {index, count};
      Result<verdict::CheckOutcome> part = verdict::check(request);
      ASSERT_TRUE(part.ok());
      EXPECT_LT(part->document["tally"]["passed"], whole->document["tally"]["passed"]);
      EXPECT_TRUE(verdict::is_report_of(part->document, request));
      shards.push_back({"shard", std::move(part->document)});
    }
    const Result<json> merged = verdict::merge_shards(std::move(shards));
    ASSERT_TRUE(merged.ok()) << merged.error().message;
    EXPECT_EQ(merged->dump(2), whole->document.dump(2)) << count;
  }
}

TEST(Merge, RefusesWhatIsNotOneRun) {
  const runners::CaseSource cases = runners::CaseSource::named(*suite::find_set("smoke"));
  runners::ReferenceSubject subject;
  verdict::CheckRequest request = request_for(subject, cases);
  request.operation = suite::Operation::dequantize;
  std::vector<json> parts;
  for (std::uint32_t index = 1; index <= 3; ++index) {
    request.shard = {index, 3};
    Result<verdict::CheckOutcome> part = verdict::check(request);
    ASSERT_TRUE(part.ok());
    parts.push_back(std::move(part->document));
  }
  const auto merged = [](const std::vector<json>& documents) {
    std::vector<verdict::ShardDocument> shards;
    for (const json& document : documents) shards.push_back({"a shard", document});
    return verdict::merge_shards(std::move(shards));
  };
  EXPECT_TRUE(merged(parts).ok());
  EXPECT_FALSE(merged({}).ok());
  EXPECT_FALSE(merged({parts[0], parts[2]}).ok());
  EXPECT_FALSE(merged({parts[0], parts[1], parts[2], parts[1]}).ok());
  for (const char* field : {"tool_version", "subject", "demands", "command", "invocation", "cases"}) {
    std::vector<json> foreign = parts;
    if (foreign[1][field].is_object()) {
      foreign[1][field]["set"] = "another";
    } else {
      foreign[1][field] = "another";
    }
    const Result<json> refused = merged(foreign);
    ASSERT_FALSE(refused.ok()) << field;
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_NE(refused.error().message.find(field), std::string::npos) << refused.error().message;
  }
  std::vector<json> broken = parts;
  broken[2].erase("tables");
  EXPECT_EQ(merged(broken).error().kind, ErrorKind::corrupt);
}

/// Documents that contradict themselves.
TEST(Merge, RefusesWhatDoesNotAddUp) {
  const runners::CaseSource cases = runners::CaseSource::named(*suite::find_set("smoke"));
  WrongSubject subject;
  verdict::CheckRequest request = request_for(subject, cases);
  request.operation = suite::Operation::quantize;
  std::vector<json> parts;
  for (std::uint32_t index = 1; index <= 2; ++index) {
    request.shard = {index, 2};
    Result<verdict::CheckOutcome> part = verdict::check(request);
    ASSERT_TRUE(part.ok());
    ASSERT_GT(part->document["tally"]["failed"], 0);
    parts.push_back(std::move(part->document));
  }
  const auto kind_after = [&](const std::function<void(json&)>& change) {
    json changed = parts[1];
    change(changed);
    const Result<json> merged = verdict::merge_shards({{"one", parts[0]}, {"two", changed}});
    return merged.ok() ? std::string() : merged.error().kind == ErrorKind::corrupt ? "corrupt" : merged.error().message;
  };
  EXPECT_EQ(kind_after([](json&) {}), "");
  for (const json& wrong :
       std::vector<json>{-1, std::uint64_t{1} << 63, 607.0, 18446744073709551616.0, "3", nullptr, true}) {
    EXPECT_EQ(kind_after([&](json& document) { document["tally"]["passed"] = wrong; }), "corrupt") << wrong;
    EXPECT_EQ(kind_after([&](json& document) { document["tables"][0]["missing"] = wrong; }), "corrupt") << wrong;
    EXPECT_EQ(kind_after([&](json& document) { document["tables"][0]["classes"].front()["failed"] = wrong; }),
              "corrupt")
        << wrong;
  }
  const std::vector<std::pair<const char*, std::function<void(json&)>>> lies = {
      {"tallies cleared", [](json& document) { document["tally"] = document["tables"][0]["tally"] = tally(9, 0, 0); }},
      {"the tally alone", [](json& document) { document["tally"]["failed"] = 0; }},
      {"causes cleared", [](json& document) { document["tables"][0]["causes"] = json::object(); }},
      {"verdict", [](json& document) { document["verdict"] = "PASS"; }},
      {"exit code", [](json& document) { document["exit_code"] = 0; }},
      {"reasons", [](json& document) { document["reasons"] = json::array(); }},
      {"a shard as the whole", [](json& document) { document["cases"]["shard"] = "1/1"; }},
      {"withdrawn by nobody", [](json& document) { document["tables"][0]["withdrawn"] = 1; }}};
  for (const auto& [what, change] : lies) EXPECT_EQ(kind_after(change), "corrupt") << what;
  json half = parts[0];
  half["cases"]["shard"] = "1/1";
  EXPECT_EQ(verdict::merge_shards({{"half", half}}).error().kind, ErrorKind::corrupt);
}

json diagnosis(const char* outcome, const std::vector<std::string>& changes, int mismatches) {
  json explanations = json::array();
  for (const std::string& id : changes) {
    const json change = {{"id", id}, {"dimension", id}, {"text", "the " + id}};
    explanations.push_back({{"changes", {change}}, {"explained", mismatches}, {"contradicted", 0}});
  }
  return {{"outcome", outcome},
          {"mismatches", mismatches},
          {"examined", mismatches},
          {"explanations", explanations},
          {"text", "of one shard"}};
}

TEST(MergedDiagnosis, KeepsWhatExplainsBothShards) {
  const json sum =
      verdict::merged_diagnosis(diagnosis("ambiguous", {"axis", "tie"}, 3), diagnosis("explained", {"tie"}, 4));
  EXPECT_EQ(sum["outcome"], "explained");
  EXPECT_EQ(sum["mismatches"], 7);
  ASSERT_EQ(sum["explanations"].size(), 1U);
  EXPECT_EQ(sum["explanations"][0]["changes"][0]["id"], "tie");
  EXPECT_EQ(sum["explanations"][0]["explained"], 7);
  EXPECT_EQ(sum["text"], "behaves as the tie; all 7 mismatches explained");
}

TEST(MergedDiagnosis, TellsNothingWhereShardsDisagree) {
  EXPECT_TRUE(
      verdict::merged_diagnosis(diagnosis("explained", {"axis"}, 3), diagnosis("explained", {"tie"}, 4)).is_null());
  EXPECT_TRUE(
      verdict::merged_diagnosis(diagnosis("partial", {"tie"}, 3), diagnosis("explained", {"tie"}, 4)).is_null());
  const json unknown = verdict::merged_diagnosis(diagnosis("unexplained", {}, 3), diagnosis("unexplained", {}, 4));
  EXPECT_EQ(unknown["outcome"], "unexplained");
  EXPECT_EQ(unknown["mismatches"], 7);
}

}  // namespace
}  // namespace fp4proof
