#!/usr/bin/env python3
"""Usage: check_subjects.py --command FP4PROOF --out PAGE.md [--vectors DIR] [--plugin LIB] [--recorded FILE]...

Public implementations as subjects: each that can be imported here, the CUDA conversions where their plug-in was built,
and the answers that answer.py recorded elsewhere. Writes the table docs/subjects.md. scripts/check-subjects calls it.
"""

import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]

import numpy as np  # noqa: E402

import fp4proof  # noqa: E402
import safetensors_file  # noqa: E402

MODULES = {
    "ml_dtypes_subject": "ml_dtypes",
    "jax_subject": "JAX (XLA, CPU)",
    "onnx_subject": "ONNX",
    "gguf_subject": "gguf",
    "torch_subject": "PyTorch",
}
PLUGIN_NAME = "CUDA host conversions"
PLUGIN_GATES = [
    ("mxfp4/ocp", "E8M0 rounded toward zero, to_fp4"),
    ("mxfp4/cuda-floor", "E8M0 rounded toward zero, to_fp4"),
    ("mxfp4/cuda-rceil", "E8M0 of amax / 6 rounded up, to_fp4"),
    ("mxfp6-e2m3/ocp", "E8M0 rounded toward zero, to_fp6"),
    ("mxfp6-e3m2/ocp", "E8M0 rounded toward zero, to_fp6"),
    ("mxfp8-e4m3/ocp", "E8M0 rounded toward zero, to_fp8 (satfinite)"),
    ("mxfp8-e5m2/ocp", "E8M0 rounded toward zero, to_fp8 (satfinite)"),
    ("mxfp8/te-rceil", "E8M0 of amax * (1 / 448) rounded up, to_fp8"),
    ("mxfp8-e5m2/te-rceil", "E8M0 of amax * (1 / 57344) rounded up, to_fp8"),
]
WIDENING = "to half, times the scale to bfloat16"

HEADER = """# Public implementations as subjects

What conversions that others publish do, compared with the rules of this project to the bit. A row that fails is no
reproach: many libraries promise another rule than the one that they are asked about here, and the diagnosis says which.
Set: `quick`. Made by `scripts/check-subjects`; rows say where something could not be run.

What a library leaves to its user (amax, the scale rule where it has no E8M0 conversion, the exact division by a power
of two, packing) is done by `tests/subjects/block_rules.py`, so that a difference is the library's. `quantize` rows whose
library has no element conversion take NumPy's.

"""

#: What the rows mean, seen with the versions that are named.
NOTES = """
## Seen

- **ml_dtypes 0.6.0, JAX 0.10.2**: casts to float8_e4m3fn and float8_e5m2 do not saturate; a block under the floor scale
  has to be clipped first. Casts to float8_e8m0fnu round ties up (3 becomes 4), everything strictly between 2^-127 and
  2^-126 up, and make NaN of 0. The other casts of the table are those of the rules, to the bit.
- **ONNX 1.23.2**: `up` gives code 1 to every quotient up to 2^-127, which code 0 would hold; `nearest` rounds ties up, and
  everything strictly between 2^-127 and 2^-126 up.
- **gguf 0.19.0** computes `mxfp4/ggml`, to the bit. Its decoder reads the NaN scale as a number and has no negative zero.
- **CUDA 13.0**: every conversion on the host is that of the rules.
"""

TABLE_HEAD = """| subject | version | what | operation | profile | verdict | cases | diagnosis |
|---|---|---|---|---|---|---|---|
"""


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def row(subject, version, what, operation, profile, verdict, cases="", diagnosis=""):
    name = f"`{profile}`" if profile else ""
    return "| " + " | ".join(map(cell, (subject, version, what, operation, name, verdict, cases, diagnosis))) + " |\n"


def row_of(report, subject, version, what, operation, profile):
    tally = report.document["tally"]
    cases = f"{tally['passed']} of {tally['passed'] + tally['failed'] + tally['skipped']}"
    told = report.diagnosis or "; ".join(fault["what"] for fault in report.faults)
    print(f"{report.verdict:<5} {subject}: {what}, {operation} {profile}: {told}")
    return row(subject, version, what, operation, profile, report.verdict, cases, told)


def module_rows(name, title):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        print(f"not run: {title}: {error}")
        return [row(title, "", "", "", "", f"not run here: {error}")]
    rows = []
    for gate in module.gates():
        report = fp4proof.check(gate.function, gate.profile, operation=gate.operation, name=gate.what,
                                version=module.VERSION)
        rows.append(row_of(report, module.NAME, module.VERSION, gate.what, gate.operation, gate.profile_name))
    return rows


def plugin_rows(library, command):
    if library is None or not library.exists():
        return [row(PLUGIN_NAME, "", "", "", "", "not run here: the CUDA headers were not found")]
    rows = []
    for profile, what in PLUGIN_GATES:
        for operation, how in (("quantize", what), ("dequantize", WIDENING)):
            if operation == "dequantize" and not profile.endswith("/ocp"):
                continue
            report = fp4proof.plugin(library, profile, operation=operation, command=command)
            version = report.document["subject"]["version"]
            rows.append(row_of(report, PLUGIN_NAME, version, how, operation, profile))
    return rows


def recorded_rows(path, vectors, command):
    """Rows of answers that were recorded elsewhere."""
    tensors, metadata = safetensors_file.read(path)
    subject, version = metadata["subject"], metadata["version"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for index, gate in enumerate(json.loads(metadata["gates"])):
            if gate["error"]:
                rows.append(row(subject, version, gate["what"], gate["operation"], gate["profile"], "ERROR", "", gate["error"]))
                continue
            prefix = f"{index}/"
            answers = {name[len(prefix) :]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}
            actual = pathlib.Path(folder) / "actual.safetensors"
            document = pathlib.Path(folder) / "report.json"
            safetensors_file.write(actual, answers)
            document.unlink(missing_ok=True)
            process = subprocess.run(
                [command, "verify", vectors, "--actual", actual, "--profile", gate["profile"], "--operation",
                 gate["operation"], "--report", f"json={document}"],
                capture_output=True,
                text=True,
            )
            if not document.exists():
                print(f"not compared: {subject}: {process.stderr.strip()}")
                rows.append(row(subject, version, gate["what"], gate["operation"], gate["profile"],
                                "not compared: recorded with other vectors; record the answers again"))
                continue
            report = fp4proof.Report.read(document)
            rows.append(row_of(report, subject, version, gate["what"], gate["operation"], gate["profile"]))
    return rows


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--command", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--vectors", type=pathlib.Path, default=HERE.parents[1] / "vectors" / "quick")
    parser.add_argument("--plugin", type=pathlib.Path)
    parser.add_argument("--recorded", type=pathlib.Path, action="append", default=[])
    options = parser.parse_args()
    np.seterr(all="ignore")  # overflow, NaN and division by zero are what is asked about
    recorded = {}
    for path in options.recorded:
        recorded[safetensors_file.read(path)[1]["subject"]] = path
    rows = []
    for name, title in MODULES.items():
        if title in recorded:
            rows += recorded_rows(recorded[title], options.vectors, options.command)
        else:
            rows += module_rows(name, title)
    rows += plugin_rows(options.plugin, options.command)
    options.out.write_text(HEADER + TABLE_HEAD + "".join(rows) + NOTES)


if __name__ == "__main__":
    main()
