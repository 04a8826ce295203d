#pragma once
// Report documents written by hand, small ones, as docs/schema/report.schema.json has them.

#include <nlohmann/json.hpp>
#include <string>

namespace fp4proof::report_documents {

/// A decoder that takes every scale code for the next one: two classes fail, one passes, one was not compared.
inline nlohmann::json scale_off_by_one() {
  return nlohmann::json::parse(R"({
    "format": "fp4proof-report/1", "command": "run", "tool_version": "0.1.0", "exit_code": 1, "verdict": "FAIL",
    "reasons": ["dequantize under mxfp4/ocp: 5 wrong answers"],
    "invocation": ["fp4proof", "run", "--backend", "build/my kernel.so"],
    "host": {"system": "Linux 6.1", "machine": "x86_64", "processor": "a processor"},
    "cases": {"source": "set smoke", "set": "smoke", "part": "1/1", "manifest_sha256": null,
              "seed": "0x0000000000000000", "shard": "1/1"},
    "subject": {"kind": "plugin", "name": "kernel", "version": "2", "description": "decodes", "abi_version": 1,
                "path": "./build/my kernel.so",
                "sha256": "ef15b107d9d8f263a29f73c525f5a01a0db7488228f7083f5ab49cf34526ca1b"},
    "demands": {"require": "offered", "operation": null, "accumulate": null, "profiles": [], "level": null,
                "errors": 10, "strict": false, "ignore_codes_under_nan": false, "diagnosis": true,
                "statistical": null},
    "tally": {"passed": 7, "failed": 5, "skipped": 3},
    "tables": [{
      "operation": "dequantize", "profile": "mxfp4/ocp", "tally": {"passed": 7, "failed": 5, "skipped": 3},
      "classes": {"dequantize-codebook": {"passed": 1, "failed": 3, "skipped": 0},
                  "dequantize-positions": {"passed": 0, "failed": 2, "skipped": 1},
                  "dequantize-random": {"passed": 6, "failed": 0, "skipped": 0},
                  "wild-omlx-2159": {"passed": 0, "failed": 0, "skipped": 2}},
      "causes": {"SCALE": {"scale-value": {"cases": 4, "distances": {"+1": 4}}},
                 "SPECIAL": {"nan-value": {"cases": 1, "distances": {"+0": 1}}}},
      "withdrawn": 0, "missing": 0, "missing_tensors": [], "waived": 0, "offered_groups": 1,
      "unsupported_groups": [], "nondeterministic": 0,
      "places": {"group": "2x32", "rows": 2, "columns": 32, "row_step": 1, "column_step": 1, "cases": 5,
                 "failed": [[0, 0, 5], [0, 1, 5], [1, 31, 1]]},
      "diagnosis": {"mismatches": 5, "examined": 5, "outcome": "explained",
                    "text": "behaves as scale codes one too high; all 5 mismatches explained",
                    "explanations": [{"changes": [{"id": "scale-bias=+1", "dimension": "scale-bias",
                                                   "text": "scale codes one too high"}],
                                      "explained": 5, "contradicted": 0}]},
      "statistical": null}],
    "mismatches": [
      {"operation": "dequantize", "profile": "mxfp4/ocp", "group": "2x32", "class": "dequantize-codebook",
       "case_id": "18457f1632a2b1fe", "case_index": 0, "cause": "SCALE", "kind": "scale-value", "distance": 1,
       "row": 0, "block": 0, "element": 1, "expected": 1056964608, "actual": 1065353216,
       "likely": "the scale code was decoded to another power of two", "place": 1,
       "text": "dequantize mxfp4/ocp 2x32 class dequantize-codebook case 18457f1632a2b1fe\n"}],
    "absent": [], "waivers": null, "faults": [], "load_problem": "", "close_problem": "", "survivors": 0,
    "gave_up": false})");
}

/// Everything that was asked is right.
inline nlohmann::json pass() {
  nlohmann::json document = scale_off_by_one();
  document["exit_code"] = 0;
  document["verdict"] = "PASS";
  document["reasons"] = nlohmann::json::array();
  document["mismatches"] = nlohmann::json::array();
  document["tally"] = {{"passed", 12}, {"failed", 0}, {"skipped", 0}};
  nlohmann::json& table = document["tables"][0];
  table["tally"] = document["tally"];
  table["classes"] = {{"dequantize-codebook", document["tally"]}};
  table["causes"] = nlohmann::json::object();
  table["places"] = nullptr;
  table["diagnosis"] = nullptr;
  return document;
}

/// The plug-in crashed in its only call.
inline nlohmann::json crash() {
  nlohmann::json document = pass();
  const std::string what = "in run() the plug-in was killed by signal 11 (SIGSEGV)";
  document["exit_code"] = 4;
  document["verdict"] = "ERROR";
  document["reasons"] = {"plug-in: dequantize mxfp4/ocp 2x32, 12 cases from 18457f1632a2b1fe on: " + what};
  document["tally"] = {{"passed", 0}, {"failed", 12}, {"skipped", 0}};
  document["tables"][0]["tally"] = document["tally"];
  document["tables"][0]["classes"] = {{"dequantize-codebook", document["tally"]}};
  document["faults"] = nlohmann::json::array({{{"operation", "dequantize"},
                                               {"profile", "mxfp4/ocp"},
                                               {"group", "2x32"},
                                               {"cases", 12},
                                               {"first_case", "18457f1632a2b1fe"},
                                               {"what", what}}});
  return document;
}

/// Nothing was compared.
inline nlohmann::json incomplete() {
  nlohmann::json document = pass();
  document["exit_code"] = 5;
  document["verdict"] = "INCOMPLETE";
  document["reasons"] = {"no case was compared: the plug-in offers none of what was asked for"};
  document["tally"] = {{"passed", 0}, {"failed", 0}, {"skipped", 12}};
  document["tables"][0]["tally"] = document["tally"];
  document["tables"][0]["classes"] = {{"dequantize-codebook", document["tally"]}};
  return document;
}

}  // namespace fp4proof::report_documents
