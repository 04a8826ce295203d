"""Usage: info_test.py FP4PROOF VENDOR_PLUGIN REFERENCE_BACKEND HOSTILE_PLUGIN [unittest arguments]

`fp4proof info` on plug-ins.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FP4PROOF = VENDOR = REFERENCE = HOSTILE = ""


class InfoTest(unittest.TestCase):
    def info(self, code, *arguments, **variables):
        process = subprocess.run([FP4PROOF, "info", *arguments], env={**os.environ, **variables},
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def test_text(self):
        process = self.info(0, VENDOR)
        self.assertEqual(process.stderr, "")
        lines = process.stdout.splitlines()
        for line in ("name vendor", "version 1.0", "description MXFP4 by hand"):
            self.assertIn(line, lines)
        self.assertEqual(lines[-1].split()[:2], ["quantize", "mxfp4/ocp"])
        self.assertNotIn("dequantize", process.stdout)

    def test_json(self):
        report = json.loads(self.info(0, VENDOR, "--json").stdout)
        self.assertEqual(report["kind"], "plugin")
        self.assertEqual(report["sha256"], hashlib.sha256(pathlib.Path(VENDOR).read_bytes()).hexdigest())
        self.assertEqual([(offer["operation"], offer["profile"]) for offer in report["offers"]],
                         [("quantize", "mxfp4/ocp")])
        self.assertIn("1x32", report["offers"][0]["offered_groups"])
        self.assertEqual(report["offers"][0]["unsupported_groups"], [])

    def test_the_reference_offers_everything(self):
        report = json.loads(self.info(0, REFERENCE, "--json").stdout)
        self.assertEqual({offer["operation"] for offer in report["offers"]},
                         {"quantize", "dequantize", "gemm", "correct", "correct-gemm", "decompose"})
        self.assertTrue(all(not offer["unsupported_groups"] for offer in report["offers"]))

    def test_texts_that_are_too_long(self):
        for field in ("name", "version", "description"):
            process = self.info(4, HOSTILE, FP4PROOF_HOSTILE=f"open: long {field}")
            self.assertIn(f'could not be loaded: "its {field} is too long: 2048 bytes are the most"', process.stderr)
            self.assertNotIn("descriptors", process.stderr)
        report = json.loads(self.info(0, HOSTILE, "--json", FP4PROOF_HOSTILE="open: texts of 2048 bytes").stdout)
        for field in ("name", "version", "description"):
            self.assertEqual(report[field], "\x01" * 2048)

    def test_a_library_by_its_name_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("x.so", b"a text\n"), ("x.so.1", b"a text of more than nine bytes\n"), ("y.so", b"")):
                path = pathlib.Path(folder) / name
                path.write_bytes(content)
                process = self.info(4, str(path))
                self.assertIn(f"{name}\" is no shared library", process.stderr)
                self.assertEqual(process.stdout, "")
            tensors = pathlib.Path(folder) / "tensors.so"
            tensors.write_bytes((2).to_bytes(8, "little") + b"{}")
            self.assertIn("safetensors, 0 tensors", self.info(0, str(tensors)).stdout)

    def test_failures(self):
        for deed, words in (("constructor: exit", "could not be loaded: it ended with exit code 0"),
                            ("supports: exit", "in supports() the plug-in ended with exit code 0"),
                            ("close: exit", "did not close in order: it ended with exit code 0")):
            process = self.info(4, HOSTILE, FP4PROOF_HOSTILE=deed)
            self.assertIn(words, process.stderr)
            self.assertEqual(process.stdout, "")


def main():
    global FP4PROOF, VENDOR, REFERENCE, HOSTILE
    FP4PROOF, VENDOR, REFERENCE, HOSTILE = (sys.argv.pop(1) for _ in range(4))
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
