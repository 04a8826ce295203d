#!/usr/bin/env python3
"""fp4proof sweep and merge-sweeps: files and numbers, killed runs, killed sweeps, shards, refusals.

Usage: sweep_test.py FP4PROOF VECTORS EXAMPLES
"""

import csv
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import command
import yaml
from training_run_files import set_reward

VECTORS = pathlib.Path()
EXAMPLES = pathlib.Path()
SETTINGS = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
PLANS = ["bf16", "mxfp4", "rollout-mxfp4/train-bf16"]
ARGUMENTS = ["sweep", "--preset", "tiny", "--plans", ",".join(PLANS), "--seeds", "1-2"]
FOLDERS = [f"{seed}-{plan.replace('/', '@')}" for seed in (1, 2) for plan in PLANS]


def children_of(process):
    """{number: command line} of the processes whose parent is `process`."""
    children = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process:
                children[int(entry.name)] = (entry / "cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            pass
    return children


def lives(number):
    try:
        return (pathlib.Path("/proc") / str(number) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Sweep(command.CommandTest):
    @classmethod
    def setUpClass(cls):
        """A whole sweep, that tests look at, compare with, and copy."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.whole = pathlib.Path(folder.name) / "whole"
        outcome = subprocess.run(
            [command.BINARY, *ARGUMENTS, "--out", cls.whole], env=SETTINGS, capture_output=True, check=True, timeout=300
        )
        cls.table = outcome.stdout.decode()

    def sweep(self, code, out, *arguments):
        return self.expect(code, *ARGUMENTS, "--out", out, *arguments, env=SETTINGS)

    def refused(self, words, out, *arguments, code=2):
        return self.expect_error(code, words, "sweep", "--preset", "tiny", "--out", out, *arguments, env=SETTINGS)

    def copy(self, name):
        shutil.copytree(self.whole, self.folder / name)
        return self.folder / name

    def warm(self, name, *seeds):
        """A folder in which the warm starts of these seeds are made."""
        for seed in seeds:
            shutil.copytree(self.whole / f"warm-start-{seed}", self.folder / name / f"warm-start-{seed}")

    def read(self, path):
        return json.loads((self.folder / path).read_text())

    def assert_whole(self, name):
        for file in ("sweep.json", "sweep.csv"):
            self.assertEqual((self.folder / name / file).read_bytes(), (self.whole / file).read_bytes(), file)
        for run in FOLDERS:
            self.assertEqual((self.folder / name / run / "trace.json").read_bytes(),
                             (self.whole / run / "trace.json").read_bytes())

    def start(self, out, *arguments):
        process = subprocess.Popen(
            [command.BINARY, *arguments, "--out", out],
            cwd=self.folder,
            env=SETTINGS,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def await_child(self, process, word):
        """A child of the sweep with that word in its command line."""
        deadline = time.monotonic() + 120
        while True:
            for number, words in children_of(process.pid).items():
                if word in words:
                    return number
            self.assertIsNone(process.poll(), "it ended too early")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def test_files(self):
        document = json.loads((self.whole / "sweep.json").read_text())
        self.assertEqual(document["settings"]["preset"], "tiny")
        self.assertEqual(document["seeds"], [1, 2])
        self.assertEqual([plan["name"] for plan in document["plans"]], PLANS)
        self.assertEqual([run["folder"] for run in document["runs"]], FOLDERS)
        self.assertEqual({run["state"] for run in document["runs"]}, {"done"})
        committed = json.loads((VECTORS / "training_digests.json").read_text())["presets"]["tiny"]
        for run in document["runs"][:3]:
            self.assertEqual(run["digest"], committed[run["plan"]])
        for run in document["runs"]:
            with open(self.whole / run["folder"] / "steps.csv", newline="") as file:
                steps = list(csv.DictReader(file))
            self.assertAlmostEqual(run["final_reward"], statistics.fmean(float(step["reward"]) for step in steps))
            self.assertAlmostEqual(run["final_k3"], statistics.fmean(float(step["k3"]) for step in steps))
            self.assertAlmostEqual(run["final_entropy"], statistics.fmean(float(step["entropy"]) for step in steps))
            self.assertEqual(run["first_entropy"], float(steps[0]["entropy"]))
            self.assertFalse((self.whole / run["folder"] / "warm_start.safetensors").exists())
        with open(self.whole / "sweep.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["folder"] for row in rows], FOLDERS)
        self.assertEqual([row["digest"] for row in rows], [run["digest"] for run in document["runs"]])
        self.assertEqual([float(row["final_k3"]) for row in rows], [run["final_k3"] for run in document["runs"]])
        for plan in PLANS:
            self.assertIn(f"{plan} ", self.table)

    def test_summary(self):
        """Of records written here: means, spread, gap and measurements are those of a pocket calculator."""
        out = self.copy("out")
        rewards = {"bf16": [0.5, 0.75], "mxfp4": [0.25, 0.375], "rollout-mxfp4/train-bf16": [0.5, 0.5]}
        for plan, values in rewards.items():
            for seed, value in enumerate(values, 1):
                set_reward(out / f"{seed}-{plan.replace('/', '@')}", value)
        for seed, shift in ((1, 0.0), (2, 0.5)):
            coded = [
                (1, "rollout,activation", 0.25 + shift, 0.125, 0.5, 0.25),
                (1, "rollout,weight", 1, 100, 100, 100),
                (1, "forward,activation", 1, 100, 100, 100),
                (10, "rollout,activation", 0.5 - shift, 0.375, 0.5, 0.75),
            ]
            (out / f"{seed}-mxfp4" / "quant.csv").write_text(
                "step,product,operand,tensor,profile,stack,elements,excluded,deadzone_fraction,relative_error,"
                "scale_bias,deadzone,grid,saturated\n"
                + "".join(f"{step},{role},a,mxfp4/rceil,none,64,0,{fraction},1,{bias},{deadzone},{grid},0\n"
                          for step, role, fraction, bias, deadzone, grid in coded)
            )
            (out / f"{seed}-mxfp4" / "gradients.csv").write_text(
                "step,tensor,cosine,norm_ratio,error,repeats,bias,variance\n"
                f"1,w,0.25,1,1,1,,\n1,all,{0.5 - shift},1,1,1,,\n10,all,1.0,1,1,1,,\n"
            )
        summary = json.loads(self.sweep(0, "out", "--json").out)["summary"]
        lines = {line["plan"]: line for line in summary}
        self.assertEqual([line["plan"] for line in summary], PLANS)
        self.assertEqual((lines["mxfp4"]["runs"], lines["mxfp4"]["done"]), (2, 2))
        self.assertEqual(lines["mxfp4"]["final_reward"], 0.3125)
        self.assertAlmostEqual(lines["mxfp4"]["spread"], statistics.stdev([0.25, 0.375]))
        self.assertEqual([lines[plan]["gap"] for plan in PLANS], [0.0, 31.25, 12.5])
        self.assertEqual(lines["mxfp4"]["deadzone_fraction"], 0.375)
        self.assertEqual(lines["mxfp4"]["scale_bias"], 0.25)
        self.assertEqual((lines["mxfp4"]["deadzone"], lines["mxfp4"]["grid"]), (0.5, 0.5))
        self.assertEqual(lines["mxfp4"]["gradient_cosine"], 0.625)
        self.assertIsNone(lines["bf16"]["deadzone_fraction"])
        self.assertIn("31.2", self.sweep(0, "out").out)

    def test_a_run_that_diverged(self):
        """Its numbers are null, and two copies of it are no different results."""
        out = self.copy("out")
        steps = out / "1-mxfp4" / "steps.csv"
        lines = [line.split(",") for line in steps.read_text().splitlines()]
        for step in (4, 5):
            lines[step][5] = "nan"
        lines[5][3] = "inf"
        steps.write_text("".join(",".join(cells) + "\n" for cells in lines))
        outcome = self.sweep(0, "out", "--json")
        self.assertIn("run 2 (1-mxfp4) diverged at step 4", outcome.err)

        def not_json(word):
            self.fail(f"{word} is no JSON")

        document = json.loads(outcome.out, parse_constant=not_json)
        self.assertEqual([run["diverged_at"] for run in document["runs"]], [None, 4, None, None, None, None])
        run = document["runs"][1]
        self.assertEqual((run["final_k3"], run["final_entropy"], run["state"]), (None, None, "done"))
        self.assertEqual(run["first_entropy"], float(lines[1][3]))
        line = document["summary"][1]
        self.assertEqual((line["plan"], line["done"], line["diverged"], line["final_k3"]), ("mxfp4", 2, 1, None))
        self.assertEqual([line["diverged"] for line in document["summary"]], [0, 1, 0])
        with open(out / "sweep.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["diverged_at"] for row in rows], ["", "4", "", "", "", ""])
        self.assertEqual(rows[1]["final_k3"], "")
        merged = self.expect(0, "merge-sweeps", "out", "out", "--out", "merged")
        self.assertIn("mxfp4 (1 diverged)", merged.out)
        self.assertEqual((self.folder / "merged" / "sweep.csv").read_bytes(), (out / "sweep.csv").read_bytes())

    def test_a_finished_sweep_is_left_alone(self):
        out = self.copy("out")
        (out / "warm-start-1" / "warm_start.safetensors").unlink()
        before = [(out / run / "summary.json").stat().st_mtime_ns for run in FOLDERS]
        self.sweep(0, "out")
        self.assertEqual([(out / run / "summary.json").stat().st_mtime_ns for run in FOLDERS], before)
        self.assertFalse((out / "warm-start-1" / "warm_start.safetensors").exists())
        self.assert_whole("out")

    def test_dry_run_as_json(self):
        self.copy("out")
        document = json.loads(self.sweep(0, "out", "--dry-run", "--json").out)
        self.assertEqual(document, self.read("out/sweep.json"))
        pending = json.loads(self.sweep(0, "new", "--dry-run", "--json").out)
        self.assertEqual([(run["folder"], run["state"]) for run in pending["runs"]], [(run, "pending") for run in FOLDERS])
        self.assertEqual(self.names(), ["out"])

    def test_dry_run(self):
        lines = self.sweep(0, "new", "--dry-run", "--shard", "2/3").out.splitlines()
        self.assertEqual([line.split() for line in lines[1:]],
                         [["3", "1", PLANS[2], FOLDERS[2], "pending"], ["4", "2", "bf16", "2-bf16", "pending"]])
        self.assertEqual(self.names(), [])

    def test_a_killed_run_is_tried_again(self):
        self.warm("out", 1, 2)
        process = self.start("out", *ARGUMENTS, "--jobs", "1")
        os.kill(self.await_child(process, "out/1-mxfp4"), signal.SIGKILL)
        self.assertEqual(process.wait(timeout=120), 0)
        self.assert_whole("out")

    def test_a_run_killed_twice_fails(self):
        self.warm("out", 1, 2)
        process = self.start("out", *ARGUMENTS, "--jobs", "1")
        killed = self.await_child(process, "out/1-mxfp4")
        os.kill(killed, signal.SIGKILL)
        while self.await_child(process, "out/1-mxfp4") == killed:
            time.sleep(0.001)
        os.kill(self.await_child(process, "out/1-mxfp4"), signal.SIGKILL)
        self.assertEqual(process.wait(timeout=120), 5)
        told = process.stderr.read().decode()
        self.assertIn("run 2 (1-mxfp4) failed: was killed by signal 9 (SIGKILL)", told)
        self.assertEqual(told.count("error:"), 1)
        states = {run["folder"]: run["state"] for run in self.read("out/sweep.json")["runs"]}
        self.assertEqual(states, {folder: "failed" if folder == "1-mxfp4" else "done" for folder in FOLDERS})
        self.sweep(0, "out")
        self.assert_whole("out")

    def test_a_failing_run_stops_no_other(self):
        out = self.copy("out")
        for run in ("1-mxfp4", "2-mxfp4"):
            shutil.rmtree(out / run)
        (out / "1-mxfp4").mkdir()
        (out / "1-mxfp4" / "checkpoint.safetensors").write_bytes(b"no checkpoint")
        failed = self.sweep(5, "out")
        self.assertIn("run 2 (1-mxfp4) failed: ended with exit code 3: fp4proof: error:", failed.err)
        states = {run["folder"]: run["state"] for run in self.read("out/sweep.json")["runs"]}
        self.assertEqual(states, {folder: "failed" if folder == "1-mxfp4" else "done" for folder in FOLDERS})

    def test_a_failing_warm_start_fails_its_seed(self):
        failed = self.sweep(5, "out", "--backend", "missing.so")
        self.assertEqual(failed.err.count("its warm start ended with exit code 2: fp4proof: error:"), len(FOLDERS))

    def test_an_ended_sweep_takes_its_runs_along_and_goes_on(self):
        self.warm("out", 1, 2)
        for number in (signal.SIGKILL, signal.SIGINT):
            process = self.start("out", *ARGUMENTS, "--jobs", "2")
            child = self.await_child(process, f"out/{FOLDERS[1 if number == signal.SIGKILL else 4]}")
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), -number)
            deadline = time.monotonic() + 30
            while lives(child):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
        self.sweep(0, "out")
        self.assert_whole("out")

    def test_one_sweep_at_a_time(self):
        (self.folder / "out").mkdir()
        with open(self.folder / "out" / "sweep.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.refused(["another sweep is at work"], "out", "--plans", "bf16")
        self.assertFalse((self.folder / "out" / "sweep.json").exists())

    def test_shards_make_the_whole(self):
        for shard, seeds in ((1, [1]), (2, [1, 2]), (3, [2])):
            self.warm(f"part{shard}", *seeds)
            self.sweep(0, f"part{shard}", "--shard", f"{shard}/3")
        self.assertFalse((self.folder / "part1" / "warm-start-2").exists())
        missing = self.expect_error(5, ["run 3 (" + FOLDERS[2], "run 4 (2-bf16)"], "merge-sweeps", "part3", "part1",
                                    "--out", "some")
        self.assertIn("1/2", missing.out)
        merged = self.expect(0, "merge-sweeps", "part3", "part1", "part2", "part1", "--out", "merged")
        self.assertEqual(merged.out, self.table)
        self.assert_whole("merged")
        self.assertFalse(list((self.folder / "merged").rglob("*.safetensors")))
        self.sweep(0, "merged")
        self.assert_whole("merged")

    def script(self, text, **variables):
        """Runs a script of an example with the command under test in the folder and in PATH."""
        (self.folder / "fp4proof").unlink(missing_ok=True)
        (self.folder / "fp4proof").symlink_to(command.BINARY)
        settings = {**SETTINGS, "PATH": f"{self.folder}:{SETTINGS['PATH']}", "PRESET": "tiny", "SEEDS": "1-2",
                    "PLANS": ",".join(PLANS), **variables}
        outcome = subprocess.run(["bash", "-e", "-c", text], cwd=self.folder, env=settings, capture_output=True,
                                 timeout=300)
        self.assertEqual(outcome.returncode, 0, outcome.stderr.decode())

    def test_the_array_of_slurm(self):
        text = (EXAMPLES / "slurm" / "sweep.sbatch").read_text()
        for task, seed in (("1", 1), ("2", 2)):
            self.warm(f"sweep/part-{task}", seed)
            self.script(text, SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT="2", SLURM_CPUS_PER_TASK="2")
        (merging,) = [line for line in text.splitlines() if "--wrap" in line]
        self.script(merging.split('"')[1])
        self.assert_whole("sweep/whole")

    def test_the_matrix_of_github(self):
        jobs = yaml.safe_load((EXAMPLES / "ci" / "github-sweep.yml").read_text())
        shards = jobs["jobs"]["shard"]["strategy"]["matrix"]["shard"]
        count = str(jobs["env"]["SHARDS"])
        self.assertEqual([str(shard) for shard in shards][-1], count)
        scripts = {step["name"]: step.get("run") for job in jobs["jobs"].values() for step in job["steps"]}
        for shard in shards:
            self.warm("part", 1, 2)
            self.script(scripts["Make the runs"], SHARD=str(shard), SHARDS=count)
            (self.folder / "part").rename(self.folder / f"part-{shard}")
        self.script(scripts["Put them together"])
        self.assert_whole("sweep")

    def test_merging_refuses(self):
        other = self.copy("other")
        path = other / "1-mxfp4" / "summary.json"
        digest = json.loads(path.read_text())["digest"]
        changed = ("1" if digest[0] == "0" else "0") + digest[1:]
        path.write_text(path.read_text().replace(digest, changed))
        self.expect_error(3, ["1-mxfp4/summary.json", "steps.csv and trace.json"], "merge-sweeps", self.whole, "other",
                          "--out", "new")
        trace = other / "1-mxfp4" / "trace.json"
        trace.write_text(trace.read_text().replace(digest, changed))
        self.expect_error(7, ["1-mxfp4", "different results"], "merge-sweeps", self.whole, "other", "--out", "new")
        document = json.loads((other / "sweep.json").read_text())
        document["settings"]["config"]["reinforcement"]["steps"] = 7
        (other / "sweep.json").write_text(json.dumps(document))
        self.expect_error(2, ["no shards of one sweep", "/settings/config/reinforcement/steps"], "merge-sweeps",
                          self.whole, "other", "--out", "new")
        for damage in ("", "[]", "{", json.dumps({**document, "plans": [{"name": "../x y"}]}),
                       json.dumps({**document, "seeds": [-1]}), json.dumps({**document, "seeds": []}),
                       json.dumps({**document, "settings": 1})):
            (other / "sweep.json").write_text(damage)
            self.expect_error(3, ["other/sweep.json"], "merge-sweeps", "other", "--out", "new")
        self.expect_error(2, ["none/sweep.json"], "merge-sweeps", "none", "--out", "new")
        self.assertFalse((self.folder / "new").exists())
        refused = self.expect_error(2, ["other", "name another folder"], "merge-sweeps", self.whole, "--out", "other")
        self.assertNotIn("--force", refused.err)

    def test_a_record_that_cannot_be_had(self):
        out = self.copy("out")
        for name in ("run.json", "summary.json", "steps.csv"):
            path = out / "1-bf16" / name
            before = path.read_bytes()
            path.unlink()
            path.symlink_to(name)
            told = self.refused([f"1-bf16/{name}", "symbolic links"], "out", "--plans", "bf16")
            self.assertNotIn("remove it", told.err)
            path.unlink()
            path.write_bytes(before)
        (out / "sweep.json").unlink()
        (out / "sweep.json").symlink_to("sweep.json")
        self.refused(["out/sweep.json", "symbolic links"], "out", "--plans", "bf16")

    def test_merging_takes_records_alone(self):
        out = self.copy("out")
        secret = self.folder / "secret"
        secret.write_text("secret")
        (out / "1-bf16" / "link.csv").symlink_to(secret)
        (out / "1-bf16" / "folder.json").mkdir()
        os.mkfifo(out / "1-bf16" / "pipe.csv")
        self.expect(0, "merge-sweeps", "out", "--out", "merged")
        names = {path.name for path in (out / "1-bf16").glob("*.*") if path.is_file() and not path.is_symlink()}
        records = {name for name in names if name.endswith((".csv", ".json"))}
        self.assertEqual({path.name for path in (self.folder / "merged" / "1-bf16").iterdir()}, records)

    def test_refusals(self):
        self.refused(["fp5"], "new", "--plans", "bf16,fp5")
        self.refused(["mxfp4", "given twice"], "new", "--plans", "mxfp4,mxfp4")
        self.refused(["empty item"], "new", "--plans", "mxfp4,")
        self.expect_error(2, ["no preset"], "sweep", "--preset", "small", "--out", "new")
        self.refused(["no loss"], "new", "--loss", "grpo")
        self.refused(["intervals"], "new", "--plans", "mxfp4+aqn", "--steps", "2")
        for seeds in ("x", "3-1", "1-", "-1", "1-2-3", "99999999999999999999"):
            self.refused(["no seed and no range"], "new", f"--seeds={seeds}")
        self.refused(["seed 2", "given twice"], "new", "--seeds", "1-3,2")
        self.refused(["more than"], "new", "--seeds", "0-18446744073709551615")
        self.refused(["more than"], "new", "--seeds", "1-16384", "--plans", "bf16,mxfp4")
        for shard in ("0/2", "3/2", "x", "1/"):
            self.refused(["--shard"], "new", "--shard", shard)
        self.refused(["1 runs make no 2 shards"], "new", "--plans", "bf16", "--shard", "1/2")
        self.refused(["--steps"], "new", "--steps", "0")
        self.assertEqual(self.names(), [])
        (self.folder / "file").write_text("")
        self.refused(["file"], "file", "--plans", "bf16")

    def test_a_folder_with_something_else(self):
        out = self.copy("out")
        self.refused(["differs in /config/reinforcement/steps"], "out", "--steps", "3", "--plans", "bf16")
        self.refused(["differs in /backend"], "out", "--backend", "other.so", "--plans", "bf16")
        facts = self.read("out/1-bf16/run.json")
        facts["plan"]["stochastic_rounding"] = "gradient"
        (out / "1-bf16" / "run.json").write_text(json.dumps(facts))
        self.refused(["out/1-bf16", "another run", "its plan"], "out", "--plans", "bf16")
        shutil.copy(self.whole / "1-bf16" / "run.json", out / "1-bf16")
        for file, damage in (("summary.json", "{"), ("summary.json", "{}"), ("steps.csv", "step\n1,2\n"),
                             ("steps.csv", "step,k3,entropy\n1,x,1\n"), ("quant.csv", "step\n1\n")):
            (out / "1-bf16" / file).write_text(damage)
            self.refused([f"1-bf16/{file}"], "out", "--plans", "bf16", code=3)
            if file == "quant.csv":
                (out / "1-bf16" / file).unlink()
            else:
                shutil.copy(self.whole / "1-bf16" / file, out / "1-bf16")
        self.expect(0, "sweep", "--preset", "tiny", "--plans", "bf16", "--seeds", "1-2", "--out", "out", env=SETTINGS)


if __name__ == "__main__":
    EXAMPLES = pathlib.Path(sys.argv.pop(3)).resolve()
    VECTORS = pathlib.Path(sys.argv.pop(2)).resolve()
    command.main()
