"""compare_digests.py, which scripts/gpu-evidence asks of a device: a right backend passes, one with a fault does not.

Usage: compare_digests_test.py FP4PROOF FAULTY_LIBRARY
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("compare_digests.py")


class CompareDigests(unittest.TestCase):
    def compare(self, fault, *options):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, SCRIPT, FP4PROOF, LIBRARY, folder, "tiny-moe", *options]
            return subprocess.run(command, env=os.environ | {"FP4PROOF_FAULT": fault}, capture_output=True, text=True)

    def test_a_right_backend(self):
        outcome = self.compare("none")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        self.assertIn("4 runs have the committed digest, 0 do not", outcome.stdout)

    def test_a_fault(self):
        outcome = self.compare("flipped-bit-in-warm-start")
        self.assertEqual(outcome.returncode, 1, outcome.stdout + outcome.stderr)
        self.assertIn("0 runs have the committed digest, 4 do not", outcome.stdout)
        self.assertEqual(outcome.stdout.count("DIFFERENT"), 4)

    def test_nothing_to_compare(self):
        outcome = self.compare("none", "--plans", "no-plan")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("no-plan", outcome.stderr)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(2)
    FP4PROOF = sys.argv.pop(1)
    unittest.main()
