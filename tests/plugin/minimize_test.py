"""Usage: minimize_test.py FP4PROOF ZOO_FOLDER DOCUMENT [--write] [unittest arguments]

The minimiser on wrong plug-ins: what is left still fails in the same way, has no superfluous element, and is small.
DOCUMENT, docs/minimize-zoo.md, has a line for each way in which each fault of the zoo fails; --write makes it.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

from zoo_faults import GEMM, KERNELS, QUANTIZE

FP4PROOF = ""
ZOO = pathlib.Path()
DOCUMENT = pathlib.Path()

# A few of each kind; --write looks at all.
TRIED = ["scale-ceil", "ties-away", "element-through-bf16", "zeros-lose-sign", "overflow-to-nan", "nvfp4-times-reciprocal",
         "hif4-ties-even", "hif4-strided-groups", "stochastic-8-bits", "values-doubled", "products-through-bf16",
         "ties-away+scale-one-high"]


def command(*arguments):
    return subprocess.run([FP4PROOF, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600)


def minimized(fault, folder, *arguments):
    """Exit code and document of a numeric fault."""
    library = pathlib.Path(folder) / f"{fault.name}.so"
    if not library.exists():
        os.link(ZOO / "kernels" / "zoo_kernels.so", library)
    options = ["--set", fault.set, "--profile", fault.profile, "--operation", fault.operation]
    if fault.operation == GEMM:
        options += ["--accumulate", "seq512"]
    process = command("minimize", "--backend", library, *options, "--json", "-", *arguments)
    if not process.stdout:
        raise RuntimeError(f"{fault.name}: {process.stderr}")
    return process.returncode, json.loads(process.stdout)


def is_element_fault(case):
    return case["operation"] == QUANTIZE and case["mismatch"] and case["mismatch"]["cause"] == "ELEMENT"


class MinimizeTest(unittest.TestCase):
    def check(self, fault, folder):
        code, document = minimized(fault, folder)
        self.assertEqual(code, 1)
        self.assertTrue(document["cases"])
        for case in document["cases"]:
            with self.subTest(fault=fault.name, mismatch=case["mismatch"]):
                self.assertEqual(case["ending"], "minimal")
                self.assertTrue(case["fails_fresh"])
                self.assertLess(case["nonzero"], 10)
                if is_element_fault(case):
                    self.assertLessEqual(case["nonzero"], 2)
                    self.assertIn("fp4proof explain --profile", case["explain"])
                    self.assertTrue(case["first_wrong_step"])

    def test_faults(self):
        known = {fault.name: fault for fault in KERNELS}
        chosen = [known[name] for name in TRIED]
        with tempfile.TemporaryDirectory(dir=ZOO) as folder:
            for fault in chosen:
                self.check(fault, folder)

    def test_minimal_set_fails_as_the_whole_one_did(self):
        fault = next(fault for fault in KERNELS if fault.name == "ties-away")
        with tempfile.TemporaryDirectory(dir=ZOO) as folder:
            out = pathlib.Path(folder) / "minimal"
            waivers = pathlib.Path(folder) / "waivers.json"
            _, document = minimized(fault, folder, "--out", out, "--save", waivers)
            library = pathlib.Path(folder) / f"{fault.name}.so"
            process = command("run", "--backend", library, "--set", out, "--profile", fault.profile, "--operation",
                              QUANTIZE, "--json", "-")
            self.assertEqual(process.returncode, 1, process.stderr)
            report = json.loads(process.stdout)
            self.assertEqual(report["tally"]["failed"], len({case["case_id"] for case in document["cases"]}))
            self.assertEqual(report["tally"]["passed"], 0)
            self.assertEqual({mismatch["case_id"] for mismatch in report["mismatches"]},
                             {case["case_id"] for case in document["cases"]})
            self.assertEqual(command("verify", out).returncode, 0)
            self.assertEqual(command("lint", out).returncode, 0)
            entries = json.loads(waivers.read_text())["waivers"]
            self.assertEqual([entry["case"] for entry in entries],
                             [case["found"]["case_id"] for case in document["cases"]])

    def test_the_line_to_paste_works(self):
        fault = next(fault for fault in KERNELS if fault.name == "ties-away")
        with tempfile.TemporaryDirectory(dir=ZOO) as folder:
            _, document = minimized(fault, folder)
        for case in document["cases"]:
            process = subprocess.run(case["explain"].replace("fp4proof", FP4PROOF, 1), shell=True, capture_output=True,
                                     text=True, timeout=60)
            self.assertEqual(process.returncode, 0, process.stderr)

    def test_crash_and_right_kernel(self):
        process = command("minimize", "--backend", ZOO / "crash.so", "--profile", "mxfp4/ocp", "--set", "smoke",
                          "--json", "-")
        self.assertEqual(process.returncode, 4, process.stderr)
        document = json.loads(process.stdout)
        self.assertIn("SIGSEGV", document["cases"][0]["fault"])
        self.assertEqual(document["cases"][0]["nonzero"], 0)
        process = command("minimize", "--backend", ZOO / "none.so", "--profile", "mxfp4/ocp", "--set", "smoke")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertTrue(process.stdout.startswith("nothing fails: "))

    def test_what_is_not_offered_is_not_compared(self):
        vendor = ZOO / "vendor_plugin.so"  # quantize mxfp4/ocp alone
        asked = ["minimize", "--backend", vendor, "--set", "smoke"]
        process = command(*asked, "--operation", "gemm")
        self.assertEqual(process.returncode, 6, process.stdout + process.stderr)
        self.assertRegex(process.stdout, r"\Anothing was compared: [1-9]\d* cases are not offered\n\Z")
        process = command(*asked, "--operation", "gemm", "--json", "-")
        self.assertEqual(process.returncode, 6, process.stderr)
        document = json.loads(process.stdout)
        self.assertEqual((document["exit_code"], document["compared"], document["cases"]), (6, 0, []))
        self.assertGreater(document["unsupported"], 0)
        self.assertEqual(command(*asked, "--profile", "hif4/gcc").returncode, 5)
        offered = json.loads(command(*asked, "--profile", "mxfp4/ocp", "--operation", "quantize", "--json", "-").stdout)
        everything = command(*asked, "--profile", "mxfp4/ocp", "--json", "-")
        self.assertEqual(everything.returncode, 0, everything.stderr)
        document = json.loads(everything.stdout)
        self.assertEqual(document["compared"], offered["compared"])
        self.assertEqual(offered["unsupported"], 0)
        run = json.loads(command("run", "--backend", vendor, "--set", "smoke", "--profile", "mxfp4/ocp", "--json",
                                 "-").stdout)["tally"]
        self.assertEqual((document["compared"], document["unsupported"]), (run["passed"], run["skipped"]))

    def test_a_kernel_with_a_memory(self):
        program = shlex.join([sys.executable, str(pathlib.Path(__file__).parent / "faulty_process.py"),
                              str(DOCUMENT.parent / "vendor_process.py"), "remembers"])
        asked = ["minimize", "--process", program, "--set", "smoke", "--profile", "mxfp4/ocp", "--operation",
                 QUANTIZE]
        process = command(*asked)
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertIn("NOT REPRODUCED: what the case was cut down to fails after other questions", process.stdout)
        self.assertIn("0 of them minimised", process.stdout)
        case = json.loads(command(*asked, "--json", "-").stdout)["cases"][0]
        self.assertEqual((case["ending"], case["fails_fresh"]), ("stateful", False))
        self.assertEqual(case["case_id"], case["found"]["case_id"])

    def test_wrong_requests(self):
        library = ZOO / "none.so"
        for arguments in (["minimize"], ["minimize", "--backend", library, "--actual", "x"],
                          ["minimize", "--backend", library, "--case", "12"],
                          ["minimize", "--backend", library, "--case", "0" * 16, "--set", "smoke"],
                          ["minimize", "--backend", library, "--class", "no-such-class"],
                          ["minimize", "--backend", ZOO / "absent.so"],
                          ["minimize", "--actual", library, "--set", "quick"],
                          ["minimize", "--backend", library, "--set", "no-such-set"]):
            process = command(*arguments)
            self.assertEqual(process.returncode, 2, (arguments, process.stdout, process.stderr))
            self.assertIn("error", process.stderr)


def lines_of(fault, folder):
    try:
        _, document = minimized(fault, folder)
    except (RuntimeError, subprocess.TimeoutExpired, json.JSONDecodeError) as problem:
        return [f"| `{fault.name}` | {fault.operation} | not minimised: {problem} | | | | |"]
    lines = []
    for case in document["cases"]:
        mismatch = case["mismatch"]
        kind = f"{mismatch['cause']} {mismatch['kind']}" if mismatch else case["fault"]
        lines.append(f"| `{fault.name}` | {fault.operation} {fault.profile} | {kind} | {case['found']['nonzero']} | "
                     f"{case['nonzero']} | {case['group']} | {case['ending']}, {case['calls']} calls |")
    return lines


def write():
    with tempfile.TemporaryDirectory(dir=ZOO) as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        lines = list(pool.map(lambda fault: lines_of(fault, folder), KERNELS))
    text = ["# The zoo, minimised", "",
            "Made by `tests/plugin/minimize_test.py FP4PROOF ZOO_FOLDER docs/minimize-zoo.md --write`: each way in which",
            "each numeric fault of the zoo fails, and what `fp4proof minimize` leaves of the first case.", "",
            "| fault | asked | fails as | nonzero before | nonzero left | left | end |", "|---|---|---|---|---|---|---|"]
    DOCUMENT.write_text("\n".join(text + [line for group in lines for line in group]) + "\n")


if __name__ == "__main__":
    FP4PROOF = str(pathlib.Path(sys.argv[1]).resolve())
    ZOO, DOCUMENT = (pathlib.Path(argument).resolve() for argument in sys.argv[2:4])
    if "--write" in sys.argv:
        write()
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
