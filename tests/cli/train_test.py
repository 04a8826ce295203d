#!/usr/bin/env python3
"""fp4proof train: the files of a run, killed runs, refusals.

Usage: train_test.py FP4PROOF VECTORS
"""

import csv
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import command

VECTORS = pathlib.Path()
SETTINGS = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}


class Train(command.CommandTest):
    def train(self, code, out, *arguments):
        return self.expect(code, "train", "--preset", "tiny", "--out", out, *arguments, env=SETTINGS)

    def refused(self, words, *arguments):
        return self.expect_error(2, words, "train", *arguments, env=SETTINGS)

    def read(self, name):
        return json.loads((self.folder / name).read_text())

    def test_files(self):
        summary = json.loads(self.train(0, "run", "--plan", "hif4+resq").out)
        committed = json.loads((VECTORS / "training_digests.json").read_text())["presets"]["tiny"]
        self.assertEqual(summary["digest"], committed["hif4+resq"])
        self.assertEqual(summary, self.read("run/summary.json"))
        facts = self.read("run/run.json")
        self.assertEqual((facts["preset"], facts["plan"]["name"]), ("tiny", "hif4+resq"))
        trace = self.read("run/trace.json")
        self.assertEqual([step["step"] for step in trace["steps"]], [1, 2, 3, 4, 5])
        self.assertEqual(trace["steps"][-1]["chain"], summary["digest"])
        with open(self.folder / "run/steps.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["step"]) for row in rows], [1, 2, 3, 4, 5])
        self.assertAlmostEqual(sum(float(row["reward"]) for row in rows) / 5, summary["mean_reward"])

    def test_an_alias_is_the_plan_that_it_names(self):
        summary = json.loads(self.train(0, "run", "--plan", "mxfp4-2d").out)
        committed = json.loads((VECTORS / "training_digests.json").read_text())["presets"]["tiny"]
        self.assertEqual(summary["digest"], committed["mxfp4-2d-weight"])
        self.assertEqual(self.read("run/run.json")["plan"]["name"], "mxfp4-2d-weight")

    def test_a_killed_run_goes_on_with_the_same_bits(self):
        whole = json.loads(self.train(0, "whole", "--plan", "mxfp4-2d-all", "--steps", "60").out)
        arguments = ["--plan", "mxfp4-2d-all", "--steps", "60"]
        process = subprocess.Popen(
            [command.BINARY, "train", "--preset", "tiny", "--out", "killed", *arguments],
            cwd=self.folder,
            env=SETTINGS,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 120
        while not (self.folder / "killed" / "checkpoint.safetensors").exists():
            self.assertIsNone(process.poll(), "it ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        self.assertFalse((self.folder / "killed" / "summary.json").exists())
        resumed = json.loads(self.train(0, "killed", *arguments, "--resume").out)
        self.assertEqual(resumed, whole)
        traces = [self.read(f"{run}/trace.json") for run in ("whole", "killed")]
        self.assertEqual(*traces)

    def test_profiles_and_stacks_of_files(self):
        """Backends know names: a plan with a file is refused before anything is trained."""
        profile = json.loads(self.expect(0, "list", "profiles", "mxfp4/rceil", "--json").out)
        (self.folder / "mine.json").write_text(json.dumps(profile | {"name": "mine"}))
        stack = json.loads(self.expect(0, "list", "corrections", "mbs", "--json").out)
        (self.folder / "stack.json").write_text(json.dumps(stack | {"name": "my-stack"}))
        plan = json.loads(self.expect(0, "list", "plans", "mxfp4", "--json").out) | {"name": "my-plan"}
        for field, file in (("profile", "mine.json"), ("stack", "stack.json")):
            changed = json.loads(json.dumps(plan))
            changed["forward"]["weight"][field] = changed["forward"]["activation"][field] = file
            (self.folder / "plan.json").write_text(json.dumps(changed))
            self.refused([f"the {field} {file}, which is a file", "named"], "--preset", "tiny", "--plan", "plan.json",
                         "--out", "run")
        self.assertFalse((self.folder / "run").exists())

    def test_a_run_that_diverges(self):
        """By a plan whose noise is larger than any weight."""
        plan = json.loads(self.expect(0, "list", "plans", "mxfp4+aqn", "--json").out)
        plan["name"] = "wild"
        plan["noise"].update(sigma_start=3e38, sigma_end=3e38, intervals=3)
        (self.folder / "wild.json").write_text(json.dumps(plan))
        result = self.train(0, "run", "--plan", "wild.json", "--steps", "6", "--measure-every", "1")
        self.assertEqual(json.loads(result.out)["diverged_at"], 3)
        self.assertIn("step 3", result.err)
        with open(self.folder / "run/steps.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        # The first third of the steps has no noise.
        self.assertEqual([row["k3"] == "nan" for row in rows], [False, False, True, True, True, True])
        again = self.train(0, "run", "--plan", "wild.json", "--steps", "6", "--measure-every", "1", "--resume")
        self.assertEqual(again.out, result.out)
        self.train(0, "twin", "--plan", "wild.json", "--steps", "6")
        self.assertIn("equal", self.expect(0, "compare-training", "run", "twin", env=SETTINGS).out)
        report = json.loads(self.expect(0, "report", "run", "--out", "page.html", "--json").out)
        self.assertEqual([run["diverged_at"] for run in report["runs"]], [3])
        effects = json.loads(self.expect(0, "reproduce", "training", "--runs", "run", "--json").out)
        self.assertEqual(effects["plans"][0]["diverged"], [{"seed": 1, "step": 3}])

    def test_a_refused_run_leaves_nothing(self):
        self.train(0, "run", "--plan", "bf16", "--steps", "2")
        for out, words, *arguments in (
            ("new", ["another run", "/seed"], "--seed", "2", "--warm-start", "run/warm_start.safetensors"),
            ("new", ["checkpoint.safetensors", "reinforcement"], "--warm-start", "run/checkpoint.safetensors"),
            ("new", ["none"], "--warm-start", "none"),
            ("new", ["is a folder"], "--warm-start", "run"),
            ("file/new", ["file/new", "choose another"]),
            ("file", ["file", "choose another"]),
            ("n" * 300, ["nnn", "File name too long"]),
        ):
            (self.folder / "file").write_text("")
            self.refused(words, "--preset", "tiny", "--plan", "bf16", "--out", out, *arguments)
            self.assertEqual(self.names(), ["file", "run"])

    def test_files_that_cannot_be_had(self):
        """The operating system's reason, where it does not even tell whether there is such a file."""
        self.train(0, "run", "--plan", "bf16", "--steps", "2")
        go_on = ["train", "--preset", "tiny", "--plan", "bf16", "--steps", "2", "--out", "run", "--resume"]
        for name, verb, *arguments in (
            ("checkpoint.safetensors", *go_on),
            ("steps.csv", "report", "run", "--out", "page.html"),
            ("summary.json", "report", "run", "--out", "page.html"),
            ("quant.csv", "reproduce", "training", "--runs", "run"),
        ):
            path = self.folder / "run" / name
            before = path.read_bytes()
            path.unlink()
            path.symlink_to(name)
            self.expect_error(2, [f"run/{name}", "symbolic links"], verb, *arguments, env=SETTINGS)
            path.unlink()
            path.write_bytes(before)

    def begun(self, name, *arguments):
        """A run that was killed behind its warm start, before a step was saved."""
        self.train(0, name, *arguments, "--steps", "2")
        for path in (self.folder / name).iterdir():
            if path.name not in ("run.json", "warm_start.safetensors"):
                path.unlink()

    def test_a_run_goes_on_with_its_own_settings_alone(self):
        """Also where no checkpoint says yet what run it is."""
        self.begun("run", "--plan", "bf16")
        facts = (self.folder / "run/run.json").read_bytes()
        go_on = ["--preset", "tiny", "--out", "run", "--resume"]
        own = ["--plan", "bf16", "--steps", "2"]
        self.refused(["another run", "/plan/", "resume with"], *go_on, "--plan", "mxfp4", "--steps", "2")
        self.refused(["another run", "/config/reinforcement/steps"], *go_on, "--plan", "bf16", "--steps", "3")
        self.refused(["another run", "/config/reinforcement/loss"], *go_on, *own, "--loss", "ppo")
        self.refused(["another run", "/seed"], *go_on, *own, "--seed", "2")
        self.refused(["another run", "/seed"], *go_on[:-1], *own, "--seed", "2")
        self.assertEqual((self.folder / "run/run.json").read_bytes(), facts)
        elsewhere = json.loads(facts)
        elsewhere["backend"]["name"] = "gpu"
        (self.folder / "run/run.json").write_text(json.dumps(elsewhere))
        self.refused(['the backend "gpu"', 'not of "cpu"', "its own backend"], *go_on, *own)
        elsewhere["backend"] = json.loads(facts)["backend"] | {"sha256": "0" * 64}
        (self.folder / "run/run.json").write_text(json.dumps(elsewhere))
        self.refused(["another build of"], *go_on, *own)
        for damaged in (b"", b"{", b"[]", b'{"config": 1}', facts[:-20]):
            (self.folder / "run/run.json").write_bytes(damaged)
            self.expect_error(3, ["run/run.json", "restore it"], "train", *go_on, *own, env=SETTINGS)
        (self.folder / "run/run.json").write_bytes(facts)
        self.train(0, "run", "--plan", "bf16", "--steps", "2", "--resume")

    def test_one_run_at_a_time(self):
        self.begun("run", "--plan", "bf16")
        with open(self.folder / "run" / "run.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.refused(["another run is at work"], "--preset", "tiny", "--plan", "bf16", "--out", "run", "--resume",
                         "--steps", "2")
        self.assertFalse((self.folder / "run/steps.csv").exists())
        self.train(0, "run", "--plan", "bf16", "--steps", "2", "--resume")

    def test_a_checkpoint_whose_numbers_changed(self):
        self.begun("run", "--plan", "bf16")
        path = self.folder / "run" / "warm_start.safetensors"
        whole = path.read_bytes()
        arguments = ["train", "--preset", "tiny", "--plan", "bf16", "--steps", "2"]
        for place in (len(whole) - 1, len(whole) // 2):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
            told = ["run/warm_start.safetensors", "does not hold the numbers"]
            self.expect_error(3, told, *arguments, "--out", "run", "--resume", env=SETTINGS)
            self.expect_error(3, told, *arguments, "--out", "new", "--warm-start", "run/warm_start.safetensors",
                              env=SETTINGS)
        path.write_bytes(whole)
        self.train(0, "run", "--plan", "bf16", "--steps", "2", "--resume")

    def test_damaged_records_end_a_run_that_goes_on(self):
        self.train(0, "run", "--plan", "bf16", "--steps", "2", "--measure-every", "1")
        arguments = ["train", "--preset", "tiny", "--plan", "bf16", "--steps", "2", "--out", "run", "--resume"]
        steps = self.folder / "run" / "steps.csv"
        text = steps.read_text()
        lines = text.splitlines()
        changes = (("\n1,", "\n1,x"), ("\n1,", "\n1,1e9"), ("\n1,", "\n1,nan,"), ("\n2,", "\n3,"), ("step,", "steps,"),
                   (lines[1], lines[2]), (lines[2] + "\n", ""), (text, ""))
        for before, after in changes:
            self.assertEqual(text.count(before), 1, before)
            steps.write_text(text.replace(before, after))
            self.expect_error(3, ["run/steps.csv"], *arguments, env=SETTINGS)
        steps.write_text(text)
        for name in ("gradients.csv", "operators.csv"):
            path = self.folder / "run" / name
            whole = path.read_text()
            for damaged in (whole[:-3], whole.replace("\n", "\n,", 2), whole.replace("adam", "\0") + "1,a,b\n", ""):
                path.write_text(damaged)
                self.expect_error(3, ["run/" + name], *arguments, env=SETTINGS)
            path.write_text(whole)
        trace = self.folder / "run" / "trace.json"
        trace.unlink()
        self.expect_error(2, ["run/trace.json", "start again"], *arguments, env=SETTINGS)

    def test_refusals(self):
        self.train(0, "run", "--plan", "bf16", "--steps", "2")
        tiny = ["--preset", "tiny", "--plan", "bf16"]
        self.refused(["holds a run"], *tiny, "--steps", "2", "--out", "run")
        self.refused(["another run", "/config/reinforcement/steps"], *tiny, "--out", "run", "--resume")
        borrowed = ["--warm-start", "run/warm_start.safetensors"]
        self.refused(["another run", "/seed"], *tiny, "--seed", "2", "--out", "new", *borrowed)
        self.refused(["no preset"], "--preset", "small", "--plan", "bf16", "--out", "new")
        self.refused(["fp5"], "--plan", "fp5", "--out", "new")
        for gain in ("nan", "inf", "-1", "0.5", "257", "much"):
            self.refused(["--outlier-gain", "from 1 to 256"], *tiny, "--outlier-gain", gain, "--out", "gain")
        self.assertFalse((self.folder / "gain").exists())
        self.refused(["no loss"], *tiny, "--loss", "grpo", "--out", "new")
        self.refused(["fp4proof_open_training"], *tiny, "--backend", "missing.so", "--out", "new")
        self.refused(["intervals"], "--preset", "tiny", "--plan", "mxfp4+aqn", "--steps", "2", "--out", "new")


if __name__ == "__main__":
    VECTORS = pathlib.Path(sys.argv.pop(2)).resolve()
    command.main()
