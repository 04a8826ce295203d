#!/usr/bin/env python3
"""fp4proof compare-training: planted faults are named, what changes no bit is not, bad input is refused.

Usage: compare_training_test.py FP4PROOF FAULTY_TRAINING FAULTY_PLUGIN REFERENCE_PLUGIN
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile

import command

FAULTY_TRAINING = FAULTY_PLUGIN = REFERENCE_PLUGIN = ""
SETTINGS = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}

# Fault: what the replay says about it.
NUMERIC_FAULTS = {
    "flipped-weight-bit": "bit 3 (the fraction) is flipped",
    "swapped-bf16-adds": "products {} and {} are added in the other order",
    "fused-multiply-add": "b1 m is fused with the addition: it is not rounded",
    "fused-squares": "every square is fused into the sum: none is rounded",
    "wrong-nibble": "bit 0 is flipped",
    "scale-off-by-one": "the code is one too large",
    "changed-token": None,
}


def flat_index(tensor):
    index = 0
    for extent, place in zip(tensor["shape"], tensor["first"]):
        index = index * extent + place
    return index


class CompareTraining(command.CommandTest):
    reference = None  # the folder of one run on the reference, for all tests

    def setUp(self):
        super().setUp()
        if CompareTraining.reference is None:
            folder = tempfile.TemporaryDirectory()
            CompareTraining.keeper = folder
            CompareTraining.reference = pathlib.Path(folder.name) / "reference"
            self.train(self.reference)

    def train(self, out, *arguments, fault="", log="", plan="mxfp4", steps=3, **variables):
        settings = {**SETTINGS, "FP4PROOF_FAULT": fault, "FP4PROOF_FAULT_LOG": str(log), **variables}
        fixed = ["--preset", "tiny", "--plan", plan, "--steps", steps, "--measure-every", "0", "--out", out]
        return self.expect(0, "train", *fixed, *arguments, env=settings)

    def train_faulty(self, fault, log="", plan="mxfp4"):
        """A run from the warm start of the reference, with a fault."""
        borrowed = ["--warm-start", self.reference / "warm_start.safetensors"]
        self.train("faulty", "--backend", FAULTY_TRAINING, *borrowed, fault=fault, log=log, plan=plan)

    def compare(self, code, a, b, *arguments, fault="", **variables):
        settings = {**SETTINGS, "FP4PROOF_FAULT": fault, **variables}
        return json.loads(self.expect(code, "compare-training", a, b, "--json", "-", *arguments, env=settings).out)

    def refused(self, code, words, *arguments):
        return self.expect_error(code, words, "compare-training", *arguments, env=SETTINGS)

    def test_a_backend_without_its_device(self):
        settings = {**SETTINGS, "FP4PROOF_FAULT": "no-device"}
        words = ["cannot work on this machine: no device", "run it where its device is"]
        train = ["train", "--preset", "tiny", "--plan", "bf16", "--backend", FAULTY_TRAINING, "--out", "nowhere"]
        self.expect_error(6, words, *train, env=settings)
        self.assertFalse((self.folder / "nowhere").exists())

    def test_backends_that_misbehave(self):
        borrowed = ["--warm-start", self.reference / "warm_start.safetensors"]
        train = ["train", "--preset", "tiny", "--plan", "mxfp4", "--backend", FAULTY_TRAINING, "--out", "run", *borrowed]
        for fault, code, words in (("exits", 4, ["called exit()", "no result"]),
                                   ("crashes", 4, ["crashed", "no result"]),
                                   ("fails", 4, ["operator quantize", "status"]),
                                   ("rounds-up", 4, ["changed how this process computes", "ties"]),
                                   ("no-operator", 6, ["operator swiglu", "does not offer it"]),
                                   ("no-name", 2, ["lacks a name"])):
            settings = {**SETTINGS, "FP4PROOF_FAULT": fault}
            outcome = self.expect_error(code, words, *train, env=settings)
            self.assertEqual(outcome.out, "")
            self.assertFalse((self.folder / "run" / "summary.json").exists())
            shutil.rmtree(self.folder / "run", ignore_errors=True)
        settings = {**SETTINGS, "FP4PROOF_FAULT": "exits"}
        self.train("other", *borrowed, "--backend", FAULTY_TRAINING, fault="scale-off-by-one")
        arguments = ["compare-training", self.reference, "other", "--json", "report.json"]
        self.expect_error(4, ["called exit()"], *arguments, env=settings)
        self.assertEqual([name for name in self.names() if "report" in name or name.startswith(".")], [])

    def test_a_plug_in_that_does_nothing(self):
        train = ["train", "--preset", "tiny", "--plan", "mxfp4", "--backend", FAULTY_PLUGIN, "--warm-start",
                 self.reference / "warm_start.safetensors"]
        for fault, code, words in (("offers-nothing", 6, ["offers nothing of what plan", "fp4proof info"]),
                                   ("takes-back", 4, ["quantize under mxfp4/rceil", "it does not say why"])):
            settings = {**SETTINGS, "FP4PROOF_FAULT": fault, "FP4PROOF_REFERENCE_BACKEND": REFERENCE_PLUGIN}
            self.expect_error(code, words, *train, "--out", fault, env=settings)
            self.assertFalse((self.folder / fault / "summary.json").exists())

    def test_a_new_run_leaves_nothing_of_an_old_one(self):
        borrowed = ["--warm-start", self.reference / "warm_start.safetensors"]
        self.train("run", *borrowed)
        (self.folder / "run" / "checkpoint.safetensors").unlink()
        settings = {**SETTINGS, "FP4PROOF_FAULT": "fails"}
        train = ["train", "--preset", "tiny", "--plan", "hif4", "--backend", FAULTY_TRAINING, "--out", "run", *borrowed]
        self.expect_error(4, ["operator quantize"], *train, env=settings)
        left = {path.name for path in (self.folder / "run").iterdir()}
        self.assertEqual(left, {"run.json", "run.lock"})

    def test_runs_that_have_both_stopped_early(self):
        self.changed("run.json", (["config", "reinforcement", "steps"], 5))
        shutil.copytree(self.folder / "copy", self.folder / "twin")
        text = self.expect(5, "compare-training", "copy", "twin", env=SETTINGS).out
        self.assertEqual(text.count("3 of 5 steps"), 2)

    def planted(self, log):
        return json.loads((self.folder / log).read_text().splitlines()[0])

    def check_place(self, report, side, log):
        """The finder names the place that the library planted. `side`: the faulty run."""
        planted = self.planted(log)
        call = report["call"]
        self.assertEqual(call["operator"], planted["operator"])
        self.assertFalse(call["inputs_differ"])
        element = call["tensors"][0]
        self.assertEqual(element["tensor"], planted["tensor"])
        self.assertEqual(flat_index(element), planted["index"])
        right, wrong = planted["right"], planted["wrong"]
        faultless = {"a": "b", "b": "a"}[side]
        self.assertEqual((int(element[faultless], 16), int(element[side], 16)), (right, wrong))
        self.assertEqual(int(call["reference"], 16), right)
        self.assertEqual(call["right"], faultless.upper())

    def test_planted_faults(self):
        for fault, cause in NUMERIC_FAULTS.items():
            with self.subTest(fault):
                shutil.rmtree(self.folder / "faulty", ignore_errors=True)
                log = f"{fault}.log"
                self.train_faulty(fault, log=log)
                report = self.compare(1, self.reference, "faulty", fault=fault)
                self.assertEqual(report["step"]["phase"], "reinforcement")
                self.assertEqual((report["step"]["number"], report["equal_steps"]), (3, 2))
                self.assertEqual((report["not_reproduced"], report["doubts"]), (None, []))
                self.check_place(report, "b", log)
                if cause:
                    term = self.planted(log)["term"]
                    self.assertIn(cause.format(term, term + 1), report["call"]["replay"]["causes"])

    def test_two_swapped_additions_are_told_in_words(self):
        plan = {"format": "fp4proof-plan/1", "name": "mxfp8", "base": "mxfp4"}
        operand = {"profile": "mxfp8-e4m3/rceil", "stack": "none"}
        plan["rollout"] = plan["forward"] = {"activation": operand, "weight": operand}
        plan["input_gradient"] = {"gradient": operand, "weight": operand}
        plan["weight_gradient"] = {"gradient": operand, "activation": operand}
        (self.folder / "plan.json").write_text(json.dumps(plan))
        borrowed = ["--warm-start", self.reference / "warm_start.safetensors"]
        self.train("right", *borrowed, plan="plan.json")
        self.train_faulty("swapped-adds", log="log", plan="plan.json")
        planted = self.planted("log")
        settings = {**SETTINGS, "FP4PROOF_FAULT": "swapped-adds"}
        text = self.expect(1, "compare-training", "faulty", "right", "--json", "report.json", env=settings).out
        for words in (
            "step 3 of reinforcement is the first that differs",
            "multiply at layers.0.",
            "of weight-gradient",
            "c[64, 64] binary32: 1 of 4096 differ",
            f"first [{planted['index'] // 64}, {planted['index'] % 64}]",
            f"0x{planted['right']:08x}",
            f"0x{planted['wrong']:08x}",
            "right: B",
            f"blocks {planted['term']} and {planted['term'] + 1} are added in the other order",
        ):
            self.assertIn(words, text)
        report = json.loads((self.folder / "report.json").read_text())
        self.check_place(report, "a", "log")
        self.assertEqual(len(report["call"]["replay"]["rows"]), 18)

    def test_a_fault_in_the_warm_start(self):
        fault = "flipped-bit-in-warm-start"
        self.train("faulty", "--backend", FAULTY_TRAINING, fault=fault, log="log")
        report = self.compare(1, self.reference, "faulty", fault=fault)
        self.assertEqual((report["step"]["phase"], report["step"]["number"]), ("warm start", 7))
        self.check_place(report, "b", "log")
        self.assertEqual(report["call"]["tensors"][0]["first"], [1234 // 64, 1234 % 64])

    def test_memory_that_changes_between_calls(self):
        self.train_faulty("stray-write", log="log")
        report = self.compare(1, self.reference, "faulty", fault="stray-write")
        self.assertTrue(report["call"]["inputs_differ"])
        element = report["call"]["tensors"][0]
        self.assertEqual((element["tensor"], element["first"]), ("weight", [9]))
        self.assertEqual(int(element["b"], 16), self.planted("log")["wrong"])

    def test_what_changes_no_bit(self):
        self.train_faulty("other-launch-shape")
        self.assertEqual(self.compare(0, self.reference, "faulty", fault="other-launch-shape")["step"], None)
        self.train("one-thread", "--threads", "1", "--warm-start", self.reference / "warm_start.safetensors")
        text = self.expect(0, "compare-training", self.reference, "one-thread", env=SETTINGS).out
        self.assertIn("equal: the warm start and 3 steps", text)

    def test_a_run_that_cannot_be_made_again(self):
        self.train_faulty("flipped-weight-bit")
        report = self.compare(7, self.reference, "faulty")
        self.assertEqual((report["step"]["number"], report["not_reproduced"]), (3, "B"))
        self.assertIn("the rerun of step 3 of B does not give what the run recorded", report["doubts"][0])

    def test_a_plug_in_under_the_reference(self):
        variables = {"FP4PROOF_REFERENCE_BACKEND": REFERENCE_PLUGIN}
        borrowed = ["--warm-start", self.reference / "warm_start.safetensors"]
        self.train("right", "--backend", REFERENCE_PLUGIN, *borrowed, steps=1)
        self.train("wrong", "--backend", FAULTY_PLUGIN, *borrowed, steps=1, **variables)
        report = self.compare(1, "right", "wrong", **variables)
        self.assertEqual((report["step"]["number"], report["call"]["operator"]), (1, "quantize"))
        element = report["call"]["tensors"][0]
        self.assertEqual((element["tensor"], flat_index(element)), ("first.codes", 33))
        self.assertEqual(report["call"]["right"], "A")
        self.assertIn("bit 0 is flipped", report["call"]["replay"]["causes"])

    def test_kept_checkpoints_are_where_a_rerun_begins(self):
        """The records say that the warm start was another one: only the checkpoint leads to step 3."""
        fault = "flipped-weight-bit"
        borrowed = ["--warm-start", self.reference / "warm_start.safetensors"]
        self.train("faulty", "--backend", FAULTY_TRAINING, "--keep-every", "1", *borrowed, fault=fault)
        (self.folder / "faulty" / "checkpoint-000003.safetensors").write_bytes(b"no checkpoint")
        self.changed("trace.json", (["warm_start"], "0" * 16))
        trace = self.folder / "faulty" / "trace.json"
        trace.write_text(json.dumps({**json.loads(trace.read_text()), "warm_start": "0" * 16}))
        report = self.compare(1, "copy", "faulty", fault=fault)
        self.assertEqual((report["step"]["number"], report["call"]["operator"]), (3, "adam"))

    def test_a_longer_run(self):
        self.train("short", "--warm-start", self.reference / "warm_start.safetensors", steps=1)
        self.assertEqual(self.compare(5, "short", self.reference)["equal_steps"], 1)
        text = self.expect(5, "compare-training", "short", self.reference, env=SETTINGS).out
        self.assertIn("steps 2 to 3 are in B alone", text)

    def copy(self, name, change):
        """A copy of the run of the reference with run.json or trace.json changed."""
        shutil.rmtree(self.folder / "copy", ignore_errors=True)
        shutil.copytree(self.reference, self.folder / "copy")
        path = self.folder / "copy" / name
        path.write_text(change(path.read_text()))

    def test_refusals(self):
        self.refused(2, ["missing/run.json", "fp4proof train"], self.reference, "missing")
        self.copy("trace.json", lambda text: text[: len(text) // 2])
        self.refused(3, ["copy/trace.json"], self.reference, "copy")
        (self.folder / "copy" / "trace.json").unlink()
        self.refused(2, ["copy/trace.json"], "copy", self.reference)

    def test_other_runs(self):
        self.train("plan", "--warm-start", self.reference / "warm_start.safetensors", plan="bf16", steps=1)
        self.refused(2, ["/plan/", "in A and", "in B"], self.reference, "plan")
        self.changed("run.json", (["config", "seed"], 2))
        self.refused(2, ["/config/seed is 1 in A and 2 in B"], self.reference, "copy")

    def changed(self, name, *changes):
        """A copy whose JSON has other values at some places: (path of keys, value)."""

        def change(text):
            whole = json.loads(text)
            for keys, value in changes:
                inner = whole
                for key in keys[:-1]:
                    inner = inner[key]
                inner[keys[-1]] = value
            return json.dumps(whole)

        self.copy(name, change)

    def test_hostile_records(self):
        for keys in (["format"], ["preset"], ["config"], ["plan"]):
            for value in (None, 7, [], {}, "x" * 1000):
                self.changed("run.json", (keys, value))
                outcome = self.run_command("compare-training", self.reference, "copy", env=SETTINGS)
                self.assertIn(outcome.code, (2, 3), (keys, value, outcome.err))
                self.assertIn("fp4proof: error: ", outcome.err)
        self.changed("run.json", (["config", "model", "width"], 1 << 40))
        self.refused(2, ["another version"], self.reference, "copy")
        self.changed("run.json", (["config", "reinforcement", "steps"], 1 << 60))
        self.refused(3, ["copy/run.json"], self.reference, "copy")
        for keys, value in (
            (["format"], 1),
            (["warm_start"], "12"),
            (["steps"], {"a": 1}),
            (["steps", 1, "chain"], "xyz"),
            (["steps", 1, "step"], 7),
            (["steps", 1, "tensors"], [["tokens"]]),
            (["steps", 1, "tensors", 0, 1], 5),
        ):
            self.changed("trace.json", (keys, value))
            self.refused(3, ["copy/trace.json", "no trace of a run"], self.reference, "copy")
        self.changed("trace.json", (["steps", 1, "chain"], "0" * 16))
        self.refused(3, ["contradict themselves at step 2"], self.reference, "copy")

    def test_backends_that_are_gone(self):
        self.train_faulty("flipped-weight-bit")
        facts = json.loads((self.folder / "faulty" / "run.json").read_text())
        self.assertEqual(facts["backend"]["library"], str(FAULTY_TRAINING))
        facts["backend"]["library"] = str(self.folder / "gone.so")
        (self.folder / "faulty" / "run.json").write_text(json.dumps(facts))
        self.refused(2, ["gone.so"], self.reference, "faulty")
        fault = "flipped-weight-bit"
        report = self.compare(1, self.reference, "faulty", "--backend-b", FAULTY_TRAINING, fault=fault)
        self.assertEqual(report["call"]["operator"], "adam")
        del facts["backend"]["library"]
        (self.folder / "faulty" / "run.json").write_text(json.dumps(facts))
        self.refused(2, ["does not say which backend", "--backend-b"], self.reference, "faulty")

    def test_a_report_that_cannot_be_written(self):
        arguments = ["compare-training", self.reference, self.reference, "--json"]
        self.expect_error(2, ["no/folder"], *arguments, "no/folder/report.json", env=SETTINGS)
        self.assertEqual(self.names(), [])

    def test_a_report_never_replaces_a_file_of_a_run(self):
        shutil.copytree(self.reference, self.folder / "run")
        before = {path.name: path.read_bytes() for path in (self.folder / "run").iterdir()}
        for name in ("run.json", "trace.json", "steps.csv", "summary.json", "warm_start.safetensors", "run.lock"):
            self.refused(2, ["is the input"], self.reference, "run", "--json", f"run/{name}")
            self.refused(2, ["is the input"], "run", self.reference, "--json", f"./run/../run/{name}")
        self.assertEqual({path.name: path.read_bytes() for path in (self.folder / "run").iterdir()}, before)
        self.expect(0, "compare-training", self.reference, "run", "--json", "run/report.json", env=SETTINGS)
        self.expect(0, "compare-training", self.reference, "run", "--json", "run/report.json", env=SETTINGS)


if __name__ == "__main__":
    FAULTY_TRAINING, FAULTY_PLUGIN, REFERENCE_PLUGIN = (str(pathlib.Path(path).resolve()) for path in sys.argv[2:5])
    del sys.argv[2:5]
    command.main()
