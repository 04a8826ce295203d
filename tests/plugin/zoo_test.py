"""Usage: zoo_test.py FP4PROOF ZOO_FOLDER [unittest arguments]

Every wrong plug-in gets the exit code and the words of its fault, and leaves no process behind.
"""

import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
import uuid

FP4PROOF = ""
ZOO = pathlib.Path()

# A sanitizer catches the signal of a bad access itself and ends the process with an exit code.
BAD_ACCESS = r"was killed by signal 11 \(SIGSEGV\)|ended with exit code 1\b"
CASES = r"dequantize mxfp4/ocp 1x32, \d+ cases from [0-9a-f]{16} on: "

# fault -> exit code, pattern in the standard error, pattern in the standard output
EXPECTED = {
    "none": (0, r"\A\Z", r"\n[1-9]\d* passed, 0 failed, 0 skipped\n\Z"),
    "scale_off_by_one": (1, r"\A\Z", r"SCALE scale-value: \d+ cases"),
    "swapped_nibbles": (1, r"\A\Z", r"PACKING swapped-nibbles: \d+ cases|ELEMENT value: \d+ cases"),
    "crash": (4, CASES + rf"in run\(\) the plug-in (?:{BAD_ACCESS})", ""),
    "hang": (4, CASES + r"in run\(\) the plug-in did not answer within 0\.5 s", ""),
    "exit_early": (4, CASES + r"in run\(\) the plug-in ended with exit code 0", ""),
    "short_output": (1, r"\A\Z", r"UNWRITTEN poison: 1 cases"),
    "write_behind": (4, CASES + rf"in run\(\) the plug-in (?:{BAD_ACCESS}) at an access behind output values", ""),
    "write_in_front": (4, CASES + r"run\(\) wrote outside of output values: 1 bytes in front of its start"
                       rf"|in run\(\) the plug-in (?:{BAD_ACCESS}) at an access in front of output values", ""),
    "write_input": (4, CASES + rf"in run\(\) the plug-in (?:{BAD_ACCESS}) at an access in input codes", ""),
    "nondeterministic": (7, r"dequantize under mxfp4/ocp: two runs differ in \d+ cases", r"NONDETERMINISTIC two-runs"),
    "failed": (4, CASES + r'run\(\) returned FAILED: "out of device memory"', ""),
    "kill_parent": (4, r"plug-in.* killed its parent process", ""),
    "survivor": (0, r"\A\Z", r"the plug-in left \d+ processes behind; they were ended"),
    "close_descriptors": (4, r"lost its channel to the verifier: it closed descriptors that are not its own", ""),
    "promise_broken": (4, CASES + r"run\(\) returned UNSUPPORTED where supports\(\) said OK", ""),
    "babble": (4, r"wrote to the channel of the verifier", ""),
    "crash_in_supports": (4, CASES + r"in supports\(\) the plug-in was killed by signal 6 \(SIGABRT\)", ""),
    "crash_on_load": (4, r"plug-in: could not be loaded: it was killed by signal 6 \(SIGABRT\)", r"\n?0 passed, 0 failed, 0 skipped\n\Z"),
    "no_table": (4, r"could not be loaded: .*does not work with ABI version 1", ""),
    "old_table": (4, r"could not be loaded: .*its table says size 16", ""),
}


def processes_with(mark):
    """Processes that inherited the environment variable `mark`."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:
            pass
    return found


class ZooTest(unittest.TestCase):
    def check(self, fault):
        code, in_error, in_output = EXPECTED[fault]
        mark = f"FP4PROOF_ZOO_{uuid.uuid4().hex}"
        limit = "0.5" if fault == "hang" else "20"
        started = time.monotonic()
        process = subprocess.run(
            [FP4PROOF, "run", "--backend", ZOO / f"{fault}.so", "--set", "smoke", "--profile", "mxfp4/ocp",
             "--operation", "dequantize", "--timeout", limit],
            env={**os.environ, mark: "1"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        report = f"{fault}\n{process.stdout}{process.stderr}"
        self.assertEqual(process.returncode, code, report)
        self.assertIsNotNone(re.search(in_error, process.stderr), report)
        self.assertIsNotNone(re.search(in_output, process.stdout), report)
        self.assertRegex(process.stdout.splitlines()[-1], r"^\d+ passed, \d+ failed, \d+ skipped$")
        self.assertEqual(processes_with(mark), [], report)
        self.assertLess(time.monotonic() - started, 60, report)

    def test_every_plugin_is_expected(self):
        built = {path.stem for path in ZOO.glob("*.so")} - {"vendor_plugin"}
        self.assertEqual(built, set(EXPECTED))


for name in EXPECTED:
    setattr(ZooTest, f"test_{name}", lambda self, fault=name: self.check(fault))


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
    global FP4PROOF, ZOO
    FP4PROOF, ZOO = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
