#!/usr/bin/env python3
"""Verdicts of `fp4proof verify`: waivers, levels, shards and their merger, resuming, reports.

Usage: verdict_test.py FP4PROOF VECTORS

VECTORS holds the committed sets. The subject is a file of answers to the set smoke.
"""

import datetime
import hashlib
import json
import os
import pathlib
import sys

import command
import safetensors_file as st

VECTORS = pathlib.Path(sys.argv.pop(2)).resolve()
SMOKE = VECTORS / "smoke"


class Verdicts(command.CommandTest):
    """Answers are right but for `wrong` tensors, of which the first byte of some cases is changed."""

    def answer(self, *wrong, source=SMOKE):
        answers = {}
        for path in sorted(source.glob("*.safetensors")):
            answers.update(st.read(path)[0])
        for name in wrong:
            dtype, shape, content = answers[name]
            size = len(content) // shape[0]
            changed = bytearray(content)
            for case in range(0, shape[0], 2):
                changed[case * size] ^= 1
            answers[name] = dtype, shape, bytes(changed)
        st.write(self.folder / "answers", answers, {})

    def wrong_answer(self):
        self.answer("quantize/mxfp4/ocp/1x32/codes", "quantize/hif4/gcc/1x64/scales",
                    "dequantize/mxfp4/ocp/1x32/values")

    def verify(self, code, *options):
        return self.expect(code, "verify", SMOKE, "--actual", "answers", *options)

    def report(self, code, *options):
        self.verify(code, "--json", "report.json", *options)
        return json.loads((self.folder / "report.json").read_text())

    def write_waivers(self, *waivers, name="waivers.json"):
        document = {"format": "fp4proof-waivers/1", "waivers": list(waivers)}
        (self.folder / name).write_text(json.dumps(document))


def waiver(**fields):
    tomorrow = datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(days=2)
    return {"operation": "quantize", "reason": "known", "owner": "kernels@example.org", "expiry": str(tomorrow)} | fields


class Reports(Verdicts):
    def test_right_answers(self):
        self.answer()
        report = self.report(0)
        self.assertEqual((report["format"], report["command"], report["verdict"]), ("fp4proof-report/1", "verify", "PASS"))
        self.assertEqual(report["reasons"], [])
        self.assertEqual(report["cases"]["set"], "smoke")
        self.assertEqual(report["cases"]["shard"], "1/1")
        self.assertEqual(report["subject"]["kind"], "files")
        self.assertEqual(report["tally"]["failed"] + report["tally"]["skipped"], 0)
        self.assertGreater(report["tally"]["passed"], 1000)

    def test_every_format(self):
        self.wrong_answer()
        formats = ("json", "junit", "sarif", "html", "text")
        options = [word for name in formats for word in ("--report", f"{name}=out.{name}")]
        printed = self.verify(1, *options).out
        for name in formats:
            self.assertGreater((self.folder / f"out.{name}").stat().st_size, 100, name)
        self.assertEqual((self.folder / "out.text").read_text(), printed)
        self.assertIn("verdict: FAIL (exit code 1)", printed)
        json.loads((self.folder / "out.sarif").read_text())

    def test_refused_reports(self):
        self.answer()
        for option in ("pdf=x", "json", "json=", "=x"):
            self.expect_error(2, ["FORMAT=FILE"], "verify", SMOKE, "--report", option)
        self.expect_error(2, ["two reports"], "verify", SMOKE, "--json", "x", "--report", "html=./x")
        self.expect_error(2, ["is the input"], "verify", SMOKE, "--actual", "answers", "--report", "html=answers")
        self.expect_error(2, ["folder of the set"], "verify", SMOKE, "--report", f"html={SMOKE}/x")
        self.assertEqual(self.names(), ["answers"])

    def test_reports_replace_no_input_under_any_name(self):
        self.expect(0, "generate", "--set", "smoke", "--profile", "mxfp4/ocp", "--op", "quantize", "--out", "set")
        (self.folder / "profile.json").write_text(
            json.dumps({"name": "mine/even", "base": "mxfp4/ocp", "scale_rule": "even"}))
        (self.folder / "errata.json").write_text(json.dumps({"format": "fp4proof-errata/1", "withdrawn": []}))
        os.symlink("set/manifest.json", self.folder / "link")
        os.link(self.folder / "set" / "manifest.json", self.folder / "hard")
        os.symlink("set", self.folder / "folder")
        table = "set/quantize.mxfp4.ocp.safetensors"
        (self.folder / "ERRATA.json").write_bytes((self.folder / "errata.json").read_bytes())
        before = {name: (self.folder / name).read_bytes()
                  for name in ("set/manifest.json", table, "profile.json", "errata.json", "ERRATA.json")}
        options = ("--profile", "mxfp4/ocp", "--profile", "profile.json", "--errata", "errata.json")
        for output in (*before, "link", "hard", "folder/manifest.json", "folder/new"):
            for report in (("--json", output), ("--report", f"html={output}")):
                self.expect(2, "verify", "set", *options, *report)
        self.expect_error(2, ["two reports"], "verify", "set", "--json", "x",
                          "--report", f"html={self.folder}/folder/../x")
        self.expect_error(2, ["--json -"], "verify", "set", "--report", "html=-")
        self.expect_error(2, ["--resume"], "verify", "set", "--resume", "folder", "--shard", "1/2")
        for name, content in before.items():
            self.assertEqual((self.folder / name).read_bytes(), content, name)
        self.assertEqual(self.names(), sorted(["set", "profile.json", "errata.json", "ERRATA.json", "link", "hard",
                                               "folder"]))

    def test_errors_limit_the_list_and_not_the_count(self):
        self.wrong_answer()
        few, many = self.report(1, "--errors", 3), self.report(1, "--errors", 1000)
        self.assertEqual(len(few["mismatches"]), 3)
        self.assertEqual(few["mismatches"], many["mismatches"][:3])
        self.assertEqual(few["tally"], many["tally"])
        self.assertEqual(len(many["mismatches"]), many["tally"]["failed"])

    def test_places(self):
        self.wrong_answer()
        tables = {(table["operation"], table["profile"]): table for table in self.report(1)["tables"]}
        places = tables["quantize", "mxfp4/ocp"]["places"]
        self.assertEqual((places["group"], places["rows"], places["columns"]), ("1x32", 1, 32))
        self.assertEqual(places["failed"], [[0, 0, places["cases"]]])
        # The scale of the one group of 64 elements.
        places = tables["quantize", "hif4/gcc"]["places"]
        self.assertEqual({(row, column) for row, column, count in places["failed"]}, {(0, c) for c in range(64)})
        self.assertIsNone(tables["gemm", "mxfp4/ocp"]["places"])

    def test_documents_are_the_same_again(self):
        self.wrong_answer()
        self.verify(1, "--json", "a")
        self.verify(1, "--json", "b", "--threads", 1)
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())

    def test_two_profiles(self):
        self.answer()
        tables = self.report(0, "--profile", "mxfp4/ocp", "--profile", "hif4/gcc", "--op", "quantize")["tables"]
        self.assertEqual({table["profile"] for table in tables}, {"mxfp4/ocp", "hif4/gcc"})
        twice = self.report(0, "--profile", "mxfp4/ocp", "--profile", "mxfp4/ocp", "--op", "quantize")
        once = self.report(0, "--profile", "mxfp4/ocp", "--op", "quantize")
        self.assertEqual((twice["tally"], len(twice["tables"])), (once["tally"], 1))
        self.expect_error(2, ["no cases of correct"], "verify", SMOKE, "--profile", "mxfp4/ggml", "--op", "correct")

    def test_missing_answers(self):
        self.answer()
        tensors, metadata = st.read(self.folder / "answers")
        del tensors["quantize/mxfp4/ocp/1x32/codes"]
        st.write(self.folder / "answers", tensors, metadata)
        report = self.report(5)
        self.assertEqual(report["verdict"], "INCOMPLETE")
        self.assertTrue(any("answers are missing" in reason for reason in report["reasons"]))
        st.write(self.folder / "answers", {}, {})
        self.assertIn("no case was compared", self.verify(5).err)

    def test_sets_without_answers_are_answered_by_the_reference(self):
        options = ("--set", "smoke", "--profile", "mxfp4/ocp")
        self.expect(0, "generate", *options, "--out", "whole")
        self.expect(0, "generate", *options, "--out", "asked", "--inputs-only")
        self.answer(source=self.folder / "whole")
        self.expect_error(2, ["no expected outputs", "--actual"], "verify", "asked")
        self.expect(0, "verify", "asked", "--actual", "answers")
        self.answer("quantize/mxfp4/ocp/1x32/codes", source=self.folder / "whole")
        self.expect(1, "verify", "asked", "--actual", "answers")

    def test_a_kernel_has_one_accumulator(self):
        self.answer()
        tensors, metadata = st.read(self.folder / "answers")
        st.write(self.folder / "answers",
                 {name: tensor for name, tensor in tensors.items() if "-exact" not in name}, metadata)
        self.verify(0, "--op", "gemm")
        self.verify(5, "--op", "gemm", "--accumulate", "all")
        self.verify(5, "--op", "gemm", "--accumulate", "exact")


class Levels(Verdicts):
    def test_levels_are_never_lowered(self):
        self.answer()
        self.verify(0, "--level", "smoke")
        self.assertIn("level quick is required", self.verify(5, "--level", "quick").err)
        self.verify(5, "--level", "full")
        self.expect_error(2, ["--level"], "verify", SMOKE, "--level", "some")

    def test_part_of_a_set(self):
        self.expect(0, "generate", "--set", "smoke", "--out", "part", "--shard", "1/9")
        self.expect(0, "verify", "part")
        self.assertIn("part 1/9 of its set", self.expect(5, "verify", "part", "--level", "smoke").err)

    def test_a_set_without_most_profiles(self):
        self.expect(0, "generate", "--set", "smoke", "--out", "part", "--profile", "mxfp4/ocp")
        self.expect(0, "verify", "part")
        self.expect(0, "verify", "part", "--profile", "mxfp4/ocp", "--level", "smoke")
        self.assertIn("quantize under hif4/gcc: required, but",
                      self.expect(5, "verify", "part", "--level", "smoke").err)

    def test_everything_is_more_than_one_operation(self):
        self.answer()
        self.verify(0, "--require", "full")
        self.assertIn("quantize alone", self.verify(5, "--require", "full", "--op", "quantize").err)

    def test_what_is_required_must_be_in_the_set(self):
        self.expect(0, "generate", "--set", "smoke", "--out", "part", "--op", "quantize", "--profile", "hif4/gcc")
        self.expect(0, "verify", "part", "--profile", "hif4/gcc")
        self.assertIn("has no cases of it",
                      self.expect(5, "verify", "part", "--profile", "hif4/gcc", "--require", "standard").err)


class Sets(Verdicts):
    """Sets whose files were edited and whose digests were written anew."""

    def setUp(self):
        super().setUp()
        self.expect(0, "generate", "--set", "smoke", "--profile", "mxfp4/ocp", "--op", "quantize", "--out", "set")
        self.answer(source=self.folder / "set")

    def edit(self, tensor, change):
        path = self.folder / "set" / "quantize.mxfp4.ocp.safetensors"
        tensors, metadata = st.read(path)
        dtype, shape, content = tensors[tensor]
        tensors[tensor] = dtype, shape, change(content)
        st.write(path, tensors, metadata)
        manifest = self.folder / "set" / "manifest.json"
        document = json.loads(manifest.read_text())
        content = path.read_bytes()
        document["files"][path.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        manifest.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")

    def verify_set(self, code, *options):
        return self.expect(code, "verify", "set", "--actual", "answers", "--profile", "mxfp4/ocp", *options)

    def test_an_id_belongs_to_its_question(self):
        self.verify_set(0)
        self.edit("quantize/mxfp4/ocp/1x32/input", lambda content: bytes(len(content)))
        self.assertIn("has not the id of its inputs", self.verify_set(3).err)
        self.verify_set(3, "--level", "smoke")
        self.expect(3, "verify", "set")
        self.assertIn("has not the id of its inputs", self.expect(3, "lint", "set").out)

    def test_a_level_is_proved_by_right_answers_alone(self):
        self.verify_set(0, "--level", "smoke", "--op", "quantize")
        self.edit("quantize/mxfp4/ocp/1x32/codes", lambda content: bytes([content[0] ^ 1]) + content[1:])
        self.answer(source=self.folder / "set")
        self.verify_set(0)
        self.assertIn("expected codes are not those of the reference",
                      self.verify_set(3, "--level", "smoke", "--op", "quantize").err)

    def drop_last_case(self):
        """As somebody would who wants a gate to pass: file, counts and digests fit one another."""
        path = self.folder / "set" / "quantize.mxfp4.ocp.safetensors"
        tensors, metadata = st.read(path)
        prefix = "quantize/mxfp4/ocp/1x32/"
        dropped = int.from_bytes(tensors[prefix + "class"][2][-2:], "little")
        for name, (dtype, shape, content) in tensors.items():
            if name.startswith(prefix):
                tensors[name] = dtype, [shape[0] - 1, *shape[1:]], content[:len(content) // shape[0] * (shape[0] - 1)]
        st.write(path, tensors, metadata)
        manifest = self.folder / "set" / "manifest.json"
        document = json.loads(manifest.read_text())
        content = path.read_bytes()
        document["files"][path.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        table, = document["body"]["tables"]
        table["cases"] -= 1
        next(group for group in table["groups"] if group["name"] == "1x32")["cases"] -= 1
        table["classes"][document["body"]["classes"][dropped]["name"]] -= 1
        manifest.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")

    def test_a_level_is_proved_by_every_case_of_the_set(self):
        self.drop_last_case()
        self.answer(source=self.folder / "set")
        self.verify_set(0)
        told = self.verify_set(3, "--level", "smoke", "--op", "quantize").err
        self.assertRegex(told, r"case [0-9a-f]{16} of group 1x32 of the set smoke is missing")
        self.expect(3, "verify", "set", "--level", "smoke", "--op", "quantize", "--profile", "mxfp4/ocp")

    def test_a_level_is_not_a_word_in_a_manifest(self):
        manifest = self.folder / "set" / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"set": "smoke"', '"set": "full"'))
        self.assertIn("of the set full is missing",
                      self.verify_set(3, "--level", "full", "--op", "quantize").err)

    def withdraw(self, count, path):
        tensors, _ = st.read(self.folder / "set" / "quantize.mxfp4.ocp.safetensors")
        ids = tensors["quantize/mxfp4/ocp/1x32/case_id"][2]
        withdrawn = [{"case_id": ids[8 * i:8 * i + 8][::-1].hex(), "reason": "r", "since": "1"} for i in range(count)]
        (self.folder / path).write_text(json.dumps({"format": "fp4proof-errata/1", "withdrawn": withdrawn}))

    def test_withdrawn_cases_are_told_and_complete_nothing(self):
        for path, options in (("set/ERRATA.json", ()), ("mine.json", ("--errata", "mine.json"))):
            self.withdraw(3, path)
            outcome = self.verify_set(0, *options)
            self.assertRegex(outcome.out, f'withdrawn: 3 cases by ".*{pathlib.Path(path).name}"')
            for demand in (("--strict",), ("--level", "smoke", "--op", "quantize")):
                self.assertIn("3 cases are withdrawn by", self.verify_set(5, *options, *demand).err)
            (self.folder / path).unlink()
        self.verify_set(0, "--strict")

    def test_the_project_withdraws_what_its_file_says(self):
        withdrawn = json.loads((VECTORS / "ERRATA.json").read_text())["withdrawn"]
        self.assertEqual(withdrawn, [], "errata.cpp has a list of its own: fill it, and compare it here")


class Waivers(Verdicts):
    def failing_class(self):
        tables = self.report(1, "--profile", "mxfp4/ocp", "--op", "quantize")["tables"]
        failing = {name: tally["failed"] for name, tally in tables[0]["classes"].items() if tally["failed"]}
        self.assertGreater(len(failing), 1)
        return next(iter(failing.items()))

    def test_a_waived_class_is_skipped(self):
        self.wrong_answer()
        name, failed = self.failing_class()
        self.write_waivers(waiver(**{"class": name}))
        options = ("--profile", "mxfp4/ocp", "--op", "quantize", "--waivers", "waivers.json")
        report = self.report(1, *options)
        table = report["tables"][0]
        self.assertEqual(table["classes"][name]["failed"], 0)
        self.assertEqual((table["waived"], table["classes"][name]["skipped"]), (failed, failed))
        self.assertEqual(report["waivers"]["entries"][0] | {"cases": 0, "state": ""},
                         waiver(**{"class": name}) | {"cases": 0, "state": "", "profile": None})
        self.assertEqual(report["waivers"]["entries"][0]["cases"], failed)
        self.assertEqual(report["waivers"]["entries"][0]["state"], "used")
        self.assertIn(f"waived: {failed} cases", self.verify(1, *options).out)
        self.assertFalse(any(mismatch["class"] == name for mismatch in report["mismatches"]))

    def test_all_waived_passes(self):
        self.wrong_answer()
        wrong = self.report(1, "--errors", 1000)["mismatches"]
        self.write_waivers(*(waiver(case=mismatch["case_id"], operation=mismatch["operation"],
                                    profile=mismatch["profile"]) for mismatch in wrong))
        report = self.report(0, "--waivers", "waivers.json", "--strict")
        self.assertEqual(report["tally"]["skipped"], len(wrong))
        self.assertEqual(report["verdict"], "PASS")

    def test_unused(self):
        self.answer()
        self.write_waivers(waiver(**{"class": "ties"}))
        outcome = self.verify(0, "--waivers", "waivers.json")
        self.assertIn("fp4proof: note: waiver of class ties in quantize: waives nothing that fails", outcome.err)
        report = self.report(1, "--waivers", "waivers.json", "--strict")
        self.assertTrue(any("class ties" in reason for reason in report["reasons"]))

    def test_expired(self):
        self.wrong_answer()
        name, failed = self.failing_class()
        self.write_waivers(waiver(**{"class": name, "expiry": "2020-02-29"}))
        report = self.report(1, "--profile", "mxfp4/ocp", "--op", "quantize", "--waivers", "waivers.json")
        self.assertEqual(report["tables"][0]["classes"][name]["failed"], failed)
        self.assertEqual(report["waivers"]["entries"][0]["state"], "expired")
        self.answer()
        self.assertIn("expired on 2020-02-29", self.verify(0, "--waivers", "waivers.json").err)
        self.verify(1, "--waivers", "waivers.json", "--strict")

    def test_refused(self):
        self.answer()
        for wrong in (waiver(), waiver(**{"class": "ties", "note": "x"}), waiver(**{"class": "no-such"}),
                      waiver(**{"class": "ties", "expiry": "2026-02-30"})):
            self.write_waivers(wrong)
            self.expect_error(3, ["waivers.json", "waiver 1: "], "verify", SMOKE, "--waivers", "waivers.json")
        self.expect_error(2, ["no-such"], "verify", SMOKE, "--waivers", "no-such")
        for wrong in (waiver(**{"class": "ties", "profile": "mxfp4/no-such"}), waiver(**{"class": "ties", "owner": " "}),
                      waiver(**{"class": "ties", "reason": "\t"})):
            self.write_waivers(wrong)
            self.expect_error(3, ["waivers.json", "waiver 1: "], "verify", SMOKE, "--waivers", "waivers.json")
        self.write_waivers()
        self.expect_error(2, ["is the input"], "verify", SMOKE, "--waivers", "waivers.json", "--json", "waivers.json")


class Shards(Verdicts):
    def test_a_shard_is_no_level(self):
        self.answer()
        names = []
        for index in (1, 2):
            names.append(f"{index}")
            outcome = self.verify(5, "--level", "smoke", "--shard", f"{index}/2", "--json", names[-1])
            self.assertIn(f"this is shard {index}/2 of it; fp4proof merge", outcome.err)
        self.assertIn("verdict: PASS", self.expect(0, "merge", *names).out)
        self.assertIn("verdict: PASS",
                      self.verify(0, "--level", "smoke", "--shard", "all/2", "--resume", "progress").out)

    def whole(self, *options):
        self.verify(1, "--no-diagnosis", "--json", "whole", *options)
        return (self.folder / "whole").read_bytes()

    def shard(self, index, count, *options):
        name = f"{index}-{count}"
        outcome = self.run_command("verify", SMOKE, "--actual", "answers", "--no-diagnosis", "--shard",
                                   f"{index}/{count}", "--json", name, *options)
        self.assertIn(outcome.code, (0, 1), outcome.err)
        return name

    def test_shards_give_the_whole_to_the_byte(self):
        self.wrong_answer()
        self.write_waivers(waiver(**{"class": "ties"}), waiver(**{"class": "zero-block"}))
        for options in ((), ("--errors", 0), ("--errors", 40, "--waivers", "waivers.json"), ("--profile", "mxfp4/ocp")):
            whole = self.whole(*options)
            for count in (2, 5):
                names = [self.shard(index, count, *options) for index in range(1, count + 1)]
                self.expect(1, "merge", *reversed(names), "--json", "merged")
                self.assertEqual((self.folder / "merged").read_bytes(), whole, (options, count))

    def test_merge_judges(self):
        self.answer()
        self.write_waivers(waiver(**{"class": "ties"}))
        names = [self.shard(index, 2, "--waivers", "waivers.json", "--strict") for index in (1, 2)]
        outcome = self.expect(1, "merge", *names, "--report", "html=page.html", "--report", "text=text")
        self.assertIn("verdict: FAIL", outcome.out)
        self.assertEqual(outcome.out.splitlines()[-1].split()[0],
                         str(json.loads((SMOKE / "manifest.json").read_text()) and
                             sum(json.loads((self.folder / name).read_text())["tally"]["passed"] for name in names)))
        self.assertIn("page.html", self.names())

    def test_refused(self):
        self.wrong_answer()
        one, two = self.shard(1, 2), self.shard(2, 2)
        self.expect_error(2, ["shard 2/2 is missing"], "merge", one, "--json", "merged")
        self.expect_error(2, ["shard 1/2 is given twice"], "merge", one, two, one)
        self.expect_error(2, ["of another run", "demands"], "merge", one, self.shard(2, 2, "--errors", 3))
        self.expect_error(2, ["one of 3 shards"], "merge", one, self.shard(2, 3))
        self.answer()
        self.expect_error(2, ["of another run", "subject"], "merge", one, self.shard(2, 2))
        (self.folder / "broken").write_text("{}")
        self.expect_error(3, ["broken"], "merge", "broken")
        (self.folder / "broken").write_text('{"format": "fp4proof-report/1"}')
        self.expect_error(3, ["not as fp4proof writes it"], "merge", "broken")
        for words in ("0/2", "3/2", "x", "1", "all/2"):
            self.expect_error(2, ["--shard"], "verify", SMOKE, "--shard", words)
        self.assertNotIn("merged", self.names())

    def test_resuming(self):
        self.wrong_answer()
        whole = self.whole()
        resume = ("--no-diagnosis", "--resume", "progress", "--json", "resumed")
        self.verify(1, *resume, "--shard", "2/3")
        kept = self.folder / "progress" / "shard-2-of-3.json"
        before = kept.stat().st_mtime_ns
        outcome = self.verify(1, *resume, "--shard", "all/3")
        self.assertEqual(outcome.err.count("is there already"), 1)
        self.assertEqual(kept.stat().st_mtime_ns, before)
        self.assertEqual((self.folder / "resumed").read_bytes(), whole)
        self.assertEqual(sorted(path.name for path in (self.folder / "progress").iterdir()),
                         [f"shard-{index}-of-3.json" for index in (1, 2, 3)])
        self.assertEqual(self.verify(1, *resume, "--shard", "all/3").err.count("is there already"), 3)
        # Another question, another subject.
        self.assertIn("another run", self.verify(2, *resume, "--shard", "all/3", "--errors", "2").err)
        self.answer()
        self.assertIn("another run", self.verify(2, *resume, "--shard", "all/3").err)


if __name__ == "__main__":
    command.main()
