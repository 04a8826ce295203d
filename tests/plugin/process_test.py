"""Usage: process_test.py FP4PROOF VENDOR_PROCESS_PY VENDOR_PROCESS_C FAULTY_PROCESS_PY [unittest arguments]

Programs on stdin and stdout: those of the manual pass, and each fault in an answer gets exit code 4 and its words.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from process_marks import processes_with

FP4PROOF = ""
VENDOR_PY = ""
VENDOR_C = ""
FAULTY = ""

CASES = r"quantize mxfp4/ocp [\w-]+, \d+ cases from [0-9a-f]{16} on: the program "
EXITED_BETWEEN = r"ended with exit code 0 (?:between two questions|before its answer \(second run\))"

# fault -> exit code, pattern in the standard error
EXPECTED = {
    "none": (0, r"\A\Z"),
    "dribbles": (0, r"\A\Z"),
    "carriage_returns": (0, r"\A\Z"),
    "no_describe": (0, r"\A\Z"),
    "stderr": (0, r"a remark"),
    "survivor": (0, r"\A\Z"),
    "truncated": (4, CASES + r"ended with exit code 0 after 2 of \d+ lines of its answer"),
    "half_a_line": (4, CASES + r"ended with exit code 0 after \d+ of \d+ lines of its answer"),
    "hang": (4, CASES + r"did not answer within 3 s, after 1 of \d+ lines of its answer"),
    "crash": (4, CASES + r"was killed by signal 11 \(SIGSEGV\) before its answer"),
    "early_exit": (4, CASES + r"ended with exit code 0 before its answer"),
    "exit_after_answer": (4, CASES + EXITED_BETWEEN),
    "endless_line": (4, CASES + r"wrote a line of more than \d+ bytes"),
    "endless_lines": (4, CASES + r'wrote .* where "#end count=\d+" is due'),
    "close_output": (4, CASES + r"closed its output before its answer"),
    "missing_line": (4, CASES + r'wrote "#end count=\d+" after \d+ of \d+ lines'),
    "extra_line": (4, CASES + r'wrote .* where "#end count=\d+" is due'),
    "wrong_count": (4, CASES + r'answered with the wrong count: "#fp4proof/1 ok count=\d+"'),
    "wrong_end": (4, CASES + r'wrote "#end count=0" where "#end count=\d+" is due'),
    "no_mark": (4, CASES + r'wrote "#fp4proof/2 ok count=\d+" where "#fp4proof/1 ok count=N" is due'),
    "not_hexadecimal": (4, CASES + r'wrote line 1, which has "xy" for codes, no hexadecimal u8 word'),
    "too_wide": (4, CASES + r'wrote line 1, which has "1.." for codes, no hexadecimal u8 word'),
    "word_missing": (4, CASES + r"wrote line 1, which has \d+ words for codes where \d+ are due"),
    "word_too_many": (4, CASES + r"wrote line 1, which has \d+ words for codes where \d+ are due"),
    "no_separator": (4, CASES + r"wrote line 1 with 0 \| where 1 are due"),
    "empty_line": (4, CASES + r"wrote line 1 with 0 \| where 1 are due"),
    "after_end": (4, CASES + r'wrote "done(?:\\n" (?:behind its answer|between two questions)|" where)'),
    "chatter": (4, CASES + r'wrote "loading the model" where'),
    "promise_broken": (4, CASES + r"answered unsupported where it offered the group|"
                       r"the program answered unsupported where it offered the group"),
    "error": (4, CASES + r'answered with the error "out of memory"'),
    "writes_before_reading": (4, r"could not be started: it wrote"),
    "stops_reading": (4, CASES + r"did not answer within 3 s, before its answer"),
    "never_reads": (4, r"could not be started: it did not answer within 3 s"),
    "after_the_last_question": (4, r'wrote "good bye\\n" after the last question'),
    "ignores_the_end": (4, r"did not end within 3 s after its input was closed"),
    "bad_end": (4, r"ended with exit code 5 after the last question"),
    "two_runs_differ": (7, r"two runs differ"),
    "order_counts": (7, r"two runs differ"),
    "wrong": (1, r"\A\Z"),
    "binary": (0, r"\A\Z"),
    "binary_exit": (4, CASES + EXITED_BETWEEN),
    "binary_short": (4, CASES + r"wrote the header .* where count \d+ and bytes \d+ are due"),
    "binary_wrong_count": (4, CASES + r"wrote the header .* where count \d+ and bytes \d+ are due"),
    "binary_huge_header": (4, CASES + r"announced a header of 2147483647 bytes"),
    "binary_no_json": (4, CASES + r'wrote the header "no!", no JSON object'),
    "binary_key_twice": (4, CASES + r"wrote the header .*: .*the key \"count\" stands twice in one object"),
    "binary_error": (4, CASES + r'answered with the error "out of memory"'),
    "binary_stops": (4, CASES + r"ended with exit code 0 after 10 of \d+ bytes of its answer"),
    # What follows an answer is seen with it, between two questions, or as the start of the next answer.
    "binary_after_end": (4, CASES + r"(?:wrote 4 bytes behind its answer|wrote \"more\" between two questions|"
                                    r"announced a header of \d+ bytes; .* those four bytes are \"more\")"),
}


class ProcessTest(unittest.TestCase):
    def run_process(self, code, command, *arguments):
        mark = f"FP4PROOF_PROCESS_{uuid.uuid4().hex}"
        process = subprocess.run([FP4PROOF, "run", "--process", command, "--set", "smoke", *arguments],
                                 env={**os.environ, mark: "1"}, stdin=subprocess.DEVNULL, capture_output=True,
                                 text=True, timeout=150)
        report = f"{command}\n{process.stdout[-3000:]}{process.stderr[-3000:]}"
        self.assertEqual(process.returncode, code, report)
        self.assertEqual(processes_with(mark), [], report)
        return process, report

    def check(self, fault):
        code, pattern = EXPECTED[fault]
        started = time.monotonic()
        framing = "binary" if fault.startswith("binary") else "text"
        process, report = self.run_process(code, shlex.join([sys.executable, FAULTY, VENDOR_PY, fault]),
                                           "--framing", framing, "--profile", "mxfp4/ocp", "--operation", "quantize",
                                           "--timeout", "3" if code == 4 else "60")
        self.assertIsNotNone(re.search(pattern, process.stderr), report)
        self.assertRegex(process.stdout.splitlines()[-1], r"^\d+ passed, \d+ failed, \d+ skipped$")
        self.assertLess(time.monotonic() - started, 120, report)

    def test_the_programs_of_the_manual_pass(self):
        for command, operation in ((shlex.join([sys.executable, VENDOR_PY]), "quantize"), (VENDOR_C, "dequantize")):
            process, report = self.run_process(0, command, "--profile", "mxfp4/ocp", "--operation", operation)
            self.assertRegex(process.stdout, r"\n[1-9]\d* passed, 0 failed, 0 skipped\n\Z", report)

    def test_commands(self):
        self.assertIn("quote that is not closed", self.run_process(2, "program 'a b")[0].stderr)
        self.assertIn("ends with a backslash", self.run_process(2, "program \\")[0].stderr)
        self.assertIn("names no program", self.run_process(2, "''")[0].stderr)
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text("no program\n")
            process, report = self.run_process(4, shlex.join([str(program), "--flag"]))
            self.assertIn("cannot start", process.stderr, report)
            self.assertIn("Permission denied", process.stderr, report)
            self.assertRegex(process.stderr, "could not be started: it ended with exit code 127 before ")

    def test_no_shell_takes_part(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "made"
            self.run_process(0, f"{sys.executable} '{VENDOR_PY}' $(touch {made}) ; touch {made} > {made}",
                             "--profile", "mxfp4/ocp", "--operation", "quantize")
            self.assertFalse(made.exists())



for name in EXPECTED:
    setattr(ProcessTest, f"test_{name}", lambda self, fault=name: self.check(fault))


def main():
    global FP4PROOF, VENDOR_PY, VENDOR_C, FAULTY
    FP4PROOF, VENDOR_PY, VENDOR_C, FAULTY = (sys.argv.pop(1) for _ in range(4))
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
