"""Usage: run_test.py FP4PROOF ZOO_FOLDER REFERENCE_BACKEND VECTORS [unittest arguments]

`fp4proof run` on right plug-ins: verdicts, exit codes, reports.
"""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

FP4PROOF = ""
ZOO = pathlib.Path()
REFERENCE = ""
VECTORS = pathlib.Path()


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_backend(self, code, backend, *arguments):
        process = subprocess.run([FP4PROOF, "run", "--backend", backend, *map(str, arguments)],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500)
        self.assertEqual(process.returncode, code, process.stdout[-3000:] + process.stderr[-3000:])
        if code == 0:
            self.assertEqual(process.stderr, "")
        return process

    def vendor(self, code, *arguments):
        return self.run_backend(code, ZOO / "vendor_plugin.so", *arguments)

    def totals(self, process):
        words = process.stdout.splitlines()[-1].replace(",", "").split()
        self.assertEqual(words[1::2], ["passed", "failed", "skipped"])
        return tuple(int(word) for word in words[0::2])

    def test_reference_passes_smoke_under_every_profile(self):
        names = subprocess.run([FP4PROOF, "list", "profiles", "--json"], capture_output=True, text=True, check=True)
        listed = {profile["name"] for profile in json.loads(names.stdout)["profiles"]}
        report = json.loads(self.run_backend(0, REFERENCE, "--set", "smoke", "--json", "-", "--require", "full").stdout)
        for operation in ("quantize", "dequantize", "gemm"):
            tables = [table for table in report["tables"] if table["operation"] == operation]
            # A tile is no row: the codes of tiles mean what those of rows mean, and are asked there.
            wanted = {name for name in listed if operation == "quantize" or "-2d/" not in name}
            self.assertEqual({table["profile"] for table in tables}, wanted, operation)
            self.assertTrue(all(table["tally"]["passed"] > 0 for table in tables), operation)
        for operation in ("correct", "correct-gemm", "decompose"):
            self.assertTrue(any(table["operation"] == operation for table in report["tables"]), operation)
        self.assertEqual((report["tally"]["failed"], report["tally"]["skipped"]), (0, 0))
        self.assertEqual(report["exit_code"], 0)

    def test_reference_passes_the_committed_vectors(self):
        passed, failed, skipped = self.totals(
            self.run_backend(0, REFERENCE, "--set", VECTORS / "quick", "--profile", "hif4/gcc", "--require", "full"))
        self.assertGreater(passed, 100)
        self.assertEqual((failed, skipped), (0, 0))

    def test_reference_follows_a_profile_of_the_user(self):
        profile = self.folder / "mine.json"
        profile.write_text(json.dumps({"name": "mine/ties-down", "base": "mxfp4/ocp", "rounding": "ties-down"}))
        passed, failed, skipped = self.totals(self.run_backend(0, REFERENCE, "--set", "smoke", "--profile", profile))
        self.assertGreater(passed, 50)
        self.assertEqual((failed, skipped), (0, 0))

    def test_example_of_the_manual_is_right(self):
        for cases in ("smoke", "quick", VECTORS / "smoke"):
            passed, failed, skipped = self.totals(
                self.vendor(0, "--set", cases, "--profile", "mxfp4/ocp", "--operation", "quantize"))
            self.assertGreater(passed, 50)
            self.assertEqual((failed, skipped), (0, 0))

    def test_a_profile_by_name_requires_quantize_and_dequantize(self):
        process = self.vendor(6, "--set", "smoke", "--profile", "mxfp4/ocp")
        self.assertIn("fp4proof: error: dequantize under mxfp4/ocp: the plug-in does not offer it", process.stderr)
        self.assertNotIn("gemm", process.stderr)
        self.assertIn("unsupported: dequantize under mxfp4/ocp\n", process.stdout)
        passed, failed, skipped = self.totals(process)
        self.assertTrue(passed > 0 and failed == 0 and skipped > 0)

    def test_without_a_profile_what_is_offered_is_judged(self):
        process = self.vendor(0, "--set", "smoke")
        self.assertIn("quantize mxfp4/ocp: ", process.stdout)
        self.assertNotIn("hif4", process.stdout)

    def test_full_requires_everything(self):
        process = self.vendor(6, "--set", "smoke", "--profile", "mxfp4/ocp", "--require", "full")
        self.assertIn("gemm under mxfp4/ocp: the plug-in does not offer it", process.stderr)

    def test_nothing_compared_is_incomplete(self):
        process = self.vendor(5, "--set", "smoke", "--profile", "hif4/gcc")
        self.assertIn("no case was compared", process.stderr)
        self.assertEqual(self.totals(process)[:2], (0, 0))
        self.vendor(5, "--set", "smoke", "--operation", "gemm")
        # Required and not offered would be 6, and that nothing was compared is worse.
        process = self.vendor(5, "--set", "smoke", "--profile", "mxfp4/ocp", "--operation", "gemm")
        self.assertIn("gemm under mxfp4/ocp: the plug-in does not offer it", process.stderr)

    def test_report_for_programs(self):
        path = self.folder / "report.json"
        self.run_backend(1, ZOO / "scale_off_by_one.so", "--set", "smoke", "--profile", "mxfp4/ocp",
                         "--operation", "dequantize", "--json", path, "--errors", "2")
        report = json.loads(path.read_text())
        self.assertEqual((report["format"], report["command"]), ("fp4proof-report/1", "run"))
        self.assertEqual((report["verdict"], report["cases"]["set"]), ("FAIL", "smoke"))
        self.assertEqual(report["exit_code"], 1)
        self.assertEqual(report["cases"]["source"], "set smoke")
        self.assertTrue(report["host"]["machine"])
        self.assertEqual(len(report["mismatches"]), 2)
        self.assertEqual(report["mismatches"][0]["cause"], "SCALE")
        self.assertEqual(report["mismatches"][0]["profile"], "mxfp4/ocp")
        digest = hashlib.sha256((ZOO / "scale_off_by_one.so").read_bytes()).hexdigest()
        self.assertEqual(report["subject"]["sha256"], digest)
        self.assertEqual((report["subject"]["kind"], report["subject"]["name"]), ("plugin", "zoo"))

    def test_faults_in_the_report(self):
        process = self.run_backend(4, ZOO / "failed.so", "--set", "smoke", "--json", "-")
        fault = json.loads(process.stdout)["faults"][0]
        self.assertEqual((fault["operation"], fault["profile"], fault["group"]), ("dequantize", "mxfp4/ocp", "1x32"))
        self.assertGreater(fault["cases"], 0)

    def test_the_worse_code_holds(self):
        wrong = ("--set", "smoke", "--profile", "mxfp4/ocp")  # quantize is required and not offered: 6
        self.run_backend(1, ZOO / "scale_off_by_one.so", *wrong, "--operation", "dequantize")
        self.run_backend(6, ZOO / "scale_off_by_one.so", *wrong)
        self.run_backend(7, ZOO / "nondeterministic.so", *wrong)
        self.run_backend(5, ZOO / "nondeterministic.so", *wrong, "--level", "full")
        self.run_backend(4, ZOO / "crash.so", *wrong, "--level", "full")

    def test_shards_give_the_whole_to_the_byte(self):
        common = ("--set", "full", "--profile", "mxfp4/ocp", "--operation", "dequantize", "--no-diagnosis")
        wrong = ZOO / "scale_off_by_one.so"
        self.run_backend(1, wrong, *common, "--json", self.folder / "whole")
        names = [self.folder / str(index) for index in (1, 2)]
        for index, name in enumerate(names):
            process = subprocess.run([FP4PROOF, "run", "--backend", wrong, *common, "--shard", f"{index + 1}/2",
                                      "--json", name], capture_output=True, timeout=500)
            self.assertIn(process.returncode, (0, 1))
        merged = subprocess.run([FP4PROOF, "merge", *names, "--json", self.folder / "merged"], capture_output=True)
        self.assertEqual(merged.returncode, 1, merged.stderr)
        self.assertEqual((self.folder / "merged").read_bytes(), (self.folder / "whole").read_bytes())

    def test_a_killed_run_resumes(self):
        common = ("--set", "smoke", "--profile", "mxfp4/ocp", "--no-diagnosis")
        self.run_backend(0, REFERENCE, *common, "--json", self.folder / "whole")
        progress = self.folder / "progress"
        shards = ("--shard", "all/24", "--resume", progress, "--json", self.folder / "resumed")
        command = [FP4PROOF, "run", "--backend", REFERENCE, *common, *map(str, shards)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 300
            while len(list(progress.glob("shard-*.json"))) < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            process.kill()
        done = {path.name: path.stat().st_mtime_ns for path in progress.glob("shard-*.json")}
        self.assertTrue(3 <= len(done) < 24, done)
        self.assertFalse((self.folder / "resumed").exists())
        resumed = subprocess.run(command, capture_output=True, text=True, timeout=500)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(resumed.stderr.count("is there already"), len(done))
        for name, time_of_change in done.items():
            self.assertEqual((progress / name).stat().st_mtime_ns, time_of_change, name)
        self.assertEqual((self.folder / "resumed").read_bytes(), (self.folder / "whole").read_bytes())

    def test_a_changed_script_is_another_subject(self):
        script = self.folder / "vendor.py"
        right = (pathlib.Path(__file__).parents[2] / "docs" / "vendor_process.py").read_text()
        script.write_text(right)
        command = [FP4PROOF, "run", "--process", f"python3 {script}", "--set", "smoke", "--profile", "mxfp4/ocp",
                   "--operation", "quantize", "--shard", "1/1", "--resume", self.folder / "progress"]
        first = subprocess.run(command, capture_output=True, text=True, timeout=500)
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        again = subprocess.run([*command, "--json", self.folder / "report"], capture_output=True, text=True, timeout=500)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("what else it loads", again.stderr)
        files = json.loads((self.folder / "report").read_text())["subject"]["files"]
        self.assertEqual(files, [{"path": str(script), "sha256": hashlib.sha256(right.encode()).hexdigest()}])
        script.write_text(right + "\n# changed\n")
        changed = subprocess.run(command, capture_output=True, text=True, timeout=500)
        self.assertEqual(changed.returncode, 2, changed.stdout)
        self.assertIn("another run", changed.stderr)
        for option in (f"json={script}", f"html={shutil.which('python3')}"):
            refused = subprocess.run([*command, "--report", option], capture_output=True, text=True, timeout=500)
            self.assertEqual(refused.returncode, 2, refused.stdout)
            self.assertIn("is the input", refused.stderr)
        self.assertEqual(script.read_text(), right + "\n# changed\n")

    def test_timing(self):
        process = subprocess.run([FP4PROOF, "run", "--backend", REFERENCE, "--set", "smoke", "--profile", "mxfp4/ocp",
                                  "--timing"], capture_output=True, text=True, timeout=500)
        self.assertRegex(process.stderr, r"^fp4proof: note: \d+ cases in \d+\.\d\d s: \d+ cases a second\n$")

    def test_a_kernel_that_draws_is_never_more_than_statistical(self):
        options = ("--set", "smoke", "--profile", "mxfp4/rceil-sr", "--operation", "quantize", "--statistical",
                   "--repetitions", "64")
        self.assertIn("verdict: STATISTICAL (exit code 0)", self.run_backend(0, REFERENCE, *options).stdout)

    def test_usage(self):
        self.assertIn("--process", subprocess.run([FP4PROOF, "run"], capture_output=True, text=True).stderr)
        self.run_backend(2, REFERENCE, "--set", "smoke", "--process", "true")
        self.run_backend(2, REFERENCE, "--set", "smoke", "--errata", "x")
        self.assertIn("no-such", self.run_backend(2, self.folder / "no-such.so").stderr)
        self.assertIn("--set", self.run_backend(2, REFERENCE, "--set", "small").stderr)
        self.run_backend(2, REFERENCE, "--set", "smoke", "--profile", "mxfp4/nothing")
        for seconds in ("0", "-1", "nan", "inf", "-inf"):
            self.run_backend(2, REFERENCE, "--set", "smoke", f"--timeout={seconds}")
        text = self.folder / "text.so"
        text.write_text("no library\n")
        self.assertIn("could not be loaded", self.run_backend(4, text, "--set", "smoke").stderr)

    def test_a_corrupt_set_outweighs_everything(self):
        copy = self.folder / "set"
        shutil.copytree(VECTORS / "smoke", copy)
        file = next(copy.glob("quantize.*.safetensors"))
        file.write_bytes(file.read_bytes()[:-1])
        self.run_backend(3, ZOO / "crash.so", "--set", copy)


def main():
    global FP4PROOF, ZOO, REFERENCE, VECTORS
    FP4PROOF, ZOO = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    REFERENCE, VECTORS = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
