"""Usage: zoo_test.py FP4PROOF ZOO_FOLDER DOCUMENT [--write] [unittest arguments]

Every wrong plug-in gets the exit code, the cause and the diagnosis of its fault, and leaves no process behind; the good
kernels pass. DOCUMENT, docs/zoo.md, holds the table of faults against verdicts; --write makes it.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import zoo_page
from process_marks import processes_with
from zoo_faults import DEQUANTIZE, GEMM, KERNELS, MISBEHAVIOURS, QUANTIZE

FP4PROOF = ""
ZOO = pathlib.Path()
DOCUMENT = pathlib.Path()


def kernel_copy(folder, name):
    """The kernel library under the name of a fault, which is what plants it."""
    copy = pathlib.Path(folder) / f"{name}.so"
    os.link(ZOO / "kernels" / "zoo_kernels.so", copy)
    return copy


def command(*arguments, **settings):
    return subprocess.run([FP4PROOF, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=300, **settings)


class Verdict:
    """What `run` says about a numeric fault."""

    def __init__(self, folder, fault):
        arguments = ["--set", fault.set, "--profile", fault.profile, "--operation", fault.operation, "--errors", "0"]
        if fault.operation == GEMM:
            arguments += ["--accumulate", "seq512"]
        report = pathlib.Path(folder) / f"{fault.name}.json"
        process = command("run", "--backend", kernel_copy(folder, fault.name), *arguments, "--json", report)
        self.code = process.returncode
        self.error = process.stderr
        self.all = f"{fault.name}\n{process.stdout}{process.stderr}"
        document = json.loads(report.read_text())
        table = document["tables"][0]
        self.description = document["subject"]["description"]
        self.diagnosis = table["diagnosis"]
        counts = {cause: sum(kind["cases"] for kind in kinds.values()) for cause, kinds in table["causes"].items()}
        self.causes = sorted(counts, key=lambda cause: (-counts[cause], cause))

    def explanations(self):
        """The changes of each explanation, as sets of ids."""
        return [{change["id"] for change in explanation["changes"]}
                for explanation in self.diagnosis["explanations"]] if self.diagnosis else []


def verdicts():
    """Of every numeric fault; two at a time."""
    with tempfile.TemporaryDirectory(dir=ZOO) as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip((fault.name for fault in KERNELS), pool.map(lambda fault: Verdict(folder, fault), KERNELS)))


class KernelZooTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.verdicts = verdicts()

    def check(self, fault):
        verdict = self.verdicts[fault.name]
        self.assertEqual(verdict.description, f"planted: {fault.name}")
        self.assertEqual(verdict.code, fault.code, verdict.all)
        self.assertRegex(verdict.error, fault.in_error)
        if fault.causes:
            expected = fault.causes.split()
            self.assertLessEqual(set(verdict.causes), set(expected), verdict.all)
            self.assertEqual(verdict.causes[0], expected[0], verdict.all)
        if fault.outcome:
            outcomes = ("partial", "unexplained") if fault.outcome == "unknown" else (fault.outcome,)
            self.assertIn(verdict.diagnosis["outcome"], outcomes, verdict.diagnosis)
        if fault.changes:
            self.assertIn(set(fault.changes.split()), verdict.explanations(), verdict.diagnosis)
        if fault.outcome == "ambiguous":
            self.assertGreater(len(verdict.explanations()), 1, verdict.diagnosis)

    def test_table_of_the_manual_is_up_to_date(self):
        self.assertEqual(DOCUMENT.read_text(), zoo_page.page(self.verdicts),
                         "docs/zoo.md is not what the zoo says: make it with zoo_test.py ... --write")

    def test_every_fault_of_the_library_is_expected(self):
        with tempfile.TemporaryDirectory(dir=ZOO) as folder:
            report = pathlib.Path(folder) / "report.json"
            command("run", "--backend", kernel_copy(folder, "none"), "--set", "smoke", "--json", report,
                    "--operation", "dequantize", "--profile", "mxfp4/ocp")
            description = json.loads(report.read_text())["subject"]["description"]
        self.assertEqual(description, f"no fault planted, {len(KERNELS)} to choose from")
        self.assertEqual(len({fault.name for fault in KERNELS}), len(KERNELS))


for planted in KERNELS:
    name = re.sub(r"\W", "_", planted.name)
    setattr(KernelZooTest, f"test_{name}", lambda self, fault=planted: self.check(fault))


class GoodKernelTest(unittest.TestCase):
    """The library that the faults are planted in is right without them."""

    def test_good_kernels_pass(self):
        with tempfile.TemporaryDirectory(dir=ZOO) as folder:
            report = pathlib.Path(folder) / "report.json"
            process = command("run", "--backend", kernel_copy(folder, "none"), "--set", "quick", "--json", report)
            self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
            tables = json.loads(report.read_text())["tables"]
        passed = {(table["operation"], table["profile"]): table["tally"]["passed"] for table in tables}
        self.assertEqual(sum(table["tally"]["failed"] for table in tables), 0)
        for profile in ("mxfp4/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp",
                        "hif4/gcc", "nvfp4/direct", "nvfp4/tensor-scale"):
            for operation in (QUANTIZE, DEQUANTIZE, GEMM):
                if (operation, profile) != (GEMM, "mxfp8-e5m2/ocp"):  # not offered
                    self.assertGreater(passed.get((operation, profile), 0), 10, f"{operation} {profile}")


class MisbehaviourTest(unittest.TestCase):
    def check(self, expected):
        mark = f"FP4PROOF_ZOO_{uuid.uuid4().hex}"
        started = time.monotonic()
        process = command("run", "--backend", ZOO / f"{expected.name}.so", "--set", "smoke", "--profile", "mxfp4/ocp",
                          "--operation", "dequantize", "--timeout", expected.timeout, env={**os.environ, mark: "1"})
        report = f"{expected.name}\n{process.stdout}{process.stderr}"
        self.assertEqual(process.returncode, expected.code, report)
        self.assertIsNotNone(re.search(expected.in_error, process.stderr), report)
        self.assertIsNotNone(re.search(expected.in_output, process.stdout), report)
        self.assertRegex(process.stdout.splitlines()[-1], r"^\d+ passed, \d+ failed, \d+ skipped$")
        self.assertEqual(processes_with(mark), [], report)
        self.assertLess(time.monotonic() - started, 60, report)

    def test_every_plugin_is_expected(self):
        built = {path.stem for path in ZOO.glob("*.so")} - {"vendor_plugin"}
        self.assertEqual(built, {expected.name for expected in MISBEHAVIOURS})


for planted in MISBEHAVIOURS:
    setattr(MisbehaviourTest, f"test_{planted.name}", lambda self, expected=planted: self.check(expected))


class KilledVerifierTest(unittest.TestCase):
    def test_nothing_outlives_a_killed_verifier(self):
        mark = f"FP4PROOF_ZOO_{uuid.uuid4().hex}"
        process = subprocess.Popen(
            [FP4PROOF, "run", "--backend", ZOO / "hang.so", "--set", "smoke", "--operation", "dequantize"],
            env={**os.environ, mark: "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        started = 0
        while started < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
            started = len(processes_with(mark))
        self.assertEqual(started, 3, "verifier, guardian, host")
        process.kill()
        process.wait()
        while processes_with(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(processes_with(mark), [])


def main():
    global FP4PROOF, ZOO, DOCUMENT
    FP4PROOF, ZOO, DOCUMENT = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
    if sys.argv[1:] == ["--write"]:
        DOCUMENT.write_text(zoo_page.page(verdicts()))
        return
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
