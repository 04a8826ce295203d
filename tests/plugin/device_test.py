"""Usage: device_test.py FP4PROOF DEVICE_PLUGIN [unittest arguments]

Tensors on a device, made by the plug-in's own functions, and tables of other versions.
"""

import os
import re
import subprocess
import sys
import unittest

FP4PROOF = ""
DEVICE = ""

IN_RUN = r"dequantize mxfp4/ocp 1x32, \d+ cases from [0-9a-f]{16} on: "
LOAD = r"plug-in: could not be loaded: "
PASSED = r"\n[1-9]\d* passed, 0 failed, 0 skipped\n\Z"

# fault -> exit code, pattern in the standard error, pattern in the standard output
EXPECTED = {
    "none": (0, r"\A\Z", PASSED),
    "host access": (4, IN_RUN + r"in run\(\) the plug-in (was killed by signal 11|ended with exit code 1\b)", ""),
    "unwritten": (1, r"\A\Z", r"UNWRITTEN poison: [1-9]"),
    "behind": (4, IN_RUN + r'run\(\) wrote "?outside of output values: 1 bytes behind its end', ""),
    "in front": (4, IN_RUN + r'run\(\) wrote "?outside of output values: 1 bytes in front of its start', ""),
    "input": (4, IN_RUN + r'run\(\) wrote "?to input codes: 1 bytes of it', ""),
    "input margin": (4, IN_RUN + r'run\(\) wrote "?outside of input codes: 1 bytes in front of its start', ""),
    "no memory": (4, IN_RUN + r'run\(\) returned FAILED: "allocate\(\) failed"', ""),
    "no way in": (4, IN_RUN + r'run\(\) returned FAILED: "copy_to_device\(\) failed"', ""),
    "no way out": (4, IN_RUN + r'run\(\) returned FAILED: "copy_to_host\(\) failed"', ""),
    "function missing": (4, LOAD + r'.*its device_memory lacks functions', ""),
    "no functions": (4, LOAD + r".*its table has no device_memory", ""),
    "no flags": (4, LOAD + r".*it takes neither host memory nor memory of a device", ""),
    "table of before": (4, LOAD + r".*its table has no device_memory", ""),
    "table of later": (0, r"\A\Z", PASSED),
    "table of before on the host": (0, r"\A\Z", PASSED),
    "table of later on the host": (0, r"\A\Z", PASSED),
    "table without close on the host": (0, r"\A\Z", PASSED),
    "table without run on the host": (4, LOAD + r".*its table says size \d+, too small", ""),
}


class DeviceTest(unittest.TestCase):
    def check(self, fault):
        code, in_error, in_output = EXPECTED[fault]
        process = subprocess.run(
            [FP4PROOF, "run", "--backend", DEVICE, "--set", "smoke", "--profile", "mxfp4/ocp",
             "--operation", "dequantize"],
            env={**os.environ, "FP4PROOF_DEVICE": fault}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120)
        report = f"{fault}\n{process.stdout}{process.stderr}"
        self.assertEqual(process.returncode, code, report)
        self.assertIsNotNone(re.search(in_error, process.stderr), report)
        self.assertIsNotNone(re.search(in_output, process.stdout), report)


for name in EXPECTED:
    setattr(DeviceTest, "test_" + name.replace(" ", "_"), lambda self, fault=name: self.check(fault))


def main():
    global FP4PROOF, DEVICE
    FP4PROOF, DEVICE = sys.argv.pop(1), sys.argv.pop(1)
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
