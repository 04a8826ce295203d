"""Usage: mutation_test.py FP4PROOF BUILD WORK [unittest arguments]

The list of mutants fits the code, its results and pages fit the list, and a few mutants are planted for real.
"""

import json
import pathlib
import subprocess
import sys
import unittest

import mutate
import pages
from mutants import EQUIVALENT, MUTANTS

FP4PROOF = BUILD = WORK = ""
HERE = pathlib.Path(__file__).resolve().parent

# One in a translation unit of its own, so that little is compiled: the decoder, a product, a correction.
PLANTED = ["dequantize-nan-mask", "gemm-chunk-lost", "kept-count"]


class MutationTest(unittest.TestCase):
    def test_every_mutant_applies(self):
        names = [mutant.name for mutant in MUTANTS]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names) - len(EQUIVALENT), 60)
        for mutant in MUTANTS:
            text = (mutate.ROOT / mutant.file).read_text()
            self.assertNotEqual(mutant.applied_to(text), text, mutant.name)

    def test_results_are_those_of_the_list(self):
        results = json.loads((HERE / "results.json").read_text())
        self.assertEqual([(result["name"], result["file"], result["fault"]) for result in results],
                         [(mutant.name, mutant.file, mutant.fault) for mutant in MUTANTS])
        survivors = {result["name"] for result in results if result["exit_code"] == 0}
        self.assertEqual(survivors, set(EQUIVALENT))

    def test_pages_are_up_to_date(self):
        for path, text in pages.pages(pages.class_names(FP4PROOF)).items():
            self.assertEqual(path.read_text(), text, f"{path.name}: run tests/mutation/pages.py")

    def test_a_few_are_planted_and_caught(self):
        only = [argument for name in PLANTED for argument in ("--only", name)]
        process = subprocess.run(
            [sys.executable, HERE / "mutate.py", "--build", BUILD, "--fp4proof", FP4PROOF, "--work", WORK, "--set",
             "quick", "--jobs", "2", *only], capture_output=True, text=True, timeout=1200)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertIn(f"{len(PLANTED)} caught, 0 survived", process.stdout)


def main():
    global FP4PROOF, BUILD, WORK
    FP4PROOF, BUILD, WORK = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
