"""Usage: hostile_test.py FP4PROOF HOSTILE_PLUGIN VECTORS [unittest arguments]

A plug-in with wrong answers that does all it can to pass: no deed gives exit code 0, and nothing outlives the run.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from process_marks import processes_with

FP4PROOF = ""
HOSTILE = ""
VECTORS = pathlib.Path()

IN_RUN = r"dequantize mxfp4/ocp 1x32, \d+ cases from [0-9a-f]{16} on: in run\(\) the plug-in "
FORBIDDEN = IN_RUN + r"was ended at a system call against processes that are not its own \(SIGSYS\)"
ABORTED = IN_RUN + r"was killed by signal 6 \(SIGABRT\)"
FAKE = "666 passed"

# deed -> exit codes, pattern in the standard error
EXPECTED = {
    "constructor: exit": ({4}, r"could not be loaded: it ended with exit code 0"),
    "constructor: hang": ({4}, r"could not be loaded: it did not answer within"),
    "open: exit": ({4}, r"could not be loaded: it ended with exit code 0"),
    "supports: exit": ({4}, r"in supports\(\) the plug-in ended with exit code 0"),
    "supports: hang": ({4}, r"in supports\(\) the plug-in did not answer within"),
    "run: exit": ({4}, IN_RUN + r"ended with exit code 0"),
    "run: exit in a thread": ({4}, IN_RUN + r"ended with exit code 0"),
    "run: exit by a handler": ({4}, IN_RUN + r"ended with exit code 0"),
    "run: another program": ({4}, IN_RUN + r"ended with exit code 0"),
    "close: exit": ({4}, r"ended with exit code 0"),
    "run: close descriptors": ({4}, r"closed descriptors that are not its own"),
    "run: kill the guardian": ({4}, r"killed its parent process"),
    "run: stop the guardian": ({4}, r"closed its channel to the verifier"),
    "run: trace the guardian": ({4}, r"closed its channel to the verifier"),
    "run: kill its group": ({4}, IN_RUN + r"was killed by signal 9 \(SIGKILL\)"),
    "run: signal everybody": ({4}, FORBIDDEN),
    "run: kill the verifier": ({4}, FORBIDDEN),
    "run: kill the verifier's thread": ({4}, FORBIDDEN),
    "run: signal the verifier's group": ({4}, FORBIDDEN),
    "run: stop the verifier": ({4}, FORBIDDEN),
    "run: trace the verifier": ({4}, FORBIDDEN),
    "run: read the verifier": ({4}, FORBIDDEN),
    "run: limit the verifier": ({4}, FORBIDDEN),
    "run: limit itself": ({4}, r"plug-in was killed by signal 6 \(SIGABRT\)"),
    "run: stop itself": ({4}, IN_RUN + r"did not answer within"),
    "run: survivors": ({1}, ""),
    "run: print a verdict": ({1}, ""),
    "close: print a verdict": ({1}, ""),
    "run: write late": ({1, 4, 7}, ""),
    "run: flood": ({4}, ""),
    "run: throw": ({4}, ABORTED),
    "run: throw in a thread": ({4}, ABORTED),
    "run: abort in a thread": ({4}, ABORTED),
    "run: jump": ({4}, IN_RUN),
    "run: allocate": ({4}, ABORTED + r"|" + IN_RUN + r"(?:ended with exit code 1\b|did not answer within)"),
    "run: crash at a NaN": ({4}, ABORTED + r"; case [0-9a-f]{16} fails alone\n"),
    "run: crash in company": ({4}, ABORTED + r"; the [345] cases from [0-9a-f]{16} to [0-9a-f]{16} fail only together"),
}


def has_landlock():
    """Whether the system keeps processes from each other's memory."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 1


class HostileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_hostile(self, deed, *arguments, path="", floods=False, cases="smoke"):
        """The verifier has a session of its own, so that its process group is not ours."""
        mark = f"FP4PROOF_HOSTILE_{uuid.uuid4().hex}"
        started = time.monotonic()
        process = subprocess.run(
            [FP4PROOF, "run", "--backend", HOSTILE, "--set", cases, "--profile", "mxfp4/ocp",
             "--operation", "dequantize", "--timeout", "1", *map(str, arguments)],
            env={**os.environ, mark: "1", "FP4PROOF_HOSTILE": deed, "FP4PROOF_HOSTILE_PATH": str(path)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if floods else subprocess.PIPE,
            text=True, timeout=150, start_new_session=True)
        report = f"{deed}\n{process.stdout[-3000:]}{(process.stderr or '')[-3000:]}"
        self.assertNotEqual(process.returncode, 0, report)
        self.assertEqual(processes_with(mark), [], report)
        self.assertNotIn(FAKE, process.stdout, report)
        self.assertLess(time.monotonic() - started, 120, report)
        return process, report

    def check(self, deed):
        codes, pattern = EXPECTED[deed]
        process, report = self.run_hostile(deed, floods="flood" in deed)
        self.assertIn(process.returncode, codes, report)
        self.assertIsNotNone(re.search(pattern, process.stderr or ""), report)
        self.assertRegex(process.stdout.splitlines()[-1], r"^\d+ passed, \d+ failed, \d+ skipped$")

    def test_the_report_is_ours(self):
        for deed in ("run: write the report", "close: survivor that writes the report"):
            path = self.folder / "report.json"
            process, report = self.run_hostile(deed, "--json", path, path=path)
            time.sleep(0.1)
            self.assertEqual(json.loads(path.read_text())["exit_code"], process.returncode, report)
            self.assertIn(process.returncode, (1, 4), report)

    def test_changed_vectors_are_no_vectors(self):
        for deed in ("constructor: write the vectors", "run: write the vectors", "constructor: cut the vectors"):
            copy = self.folder / deed.replace(":", "").replace(" ", "-")
            shutil.copytree(VECTORS / "smoke", copy)
            file = copy / "dequantize.mxfp4.ocp.safetensors"
            before = file.read_bytes()
            process, report = self.run_hostile(deed, path=file, cases=copy)
            self.assertNotEqual(file.read_bytes(), before, "the deed was not done")
            self.assertIn(process.returncode, (1, 3), report)

    def test_the_verifiers_memory_and_output_are_closed(self):
        if not has_landlock():
            self.skipTest("the system has no Landlock")
        process, report = self.run_hostile("run: open the verifier's memory")
        self.assertNotIn("is open", process.stderr, report)
        self.run_hostile("run: print through the verifier")


for name in EXPECTED:
    setattr(HostileTest, "test_" + re.sub(r"\W+", "_", name), lambda self, deed=name: self.check(deed))


def main():
    global FP4PROOF, HOSTILE, VECTORS
    FP4PROOF, HOSTILE, VECTORS = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
