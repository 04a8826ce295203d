#!/usr/bin/env python3
"""Usage: answer.py SUBJECT VECTORS OUT.safetensors

Asks the module SUBJECT (torch_subject) every question of a set of vectors and records the answers of all of its gates
in one file, for check_subjects.py. Needs NumPy and the subject's library, and not fp4proof: a machine with a GPU need
have nothing else.
"""

import importlib
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]

import safetensors_file  # noqa: E402

OUTPUTS = {"quantize": ("codes", "scales"), "dequantize": ("values",)}
INPUTS = {"quantize": ("input",), "dequantize": ("codes", "scales")}
BLOCK = 32


def file_of(vectors, manifest, operation, profile):
    """The file that holds the cases, and the name they are kept under."""
    for table in manifest["body"]["tables"]:
        kept = table["profile"]["name"]
        if table["operation"] == operation and profile in (kept, *table["aliases"]):
            return vectors / f"{operation}.{kept.replace('/', '.')}.safetensors", kept
    raise SystemExit(f"{vectors} has no cases of {operation} under {profile}")


def arrays_of(path, prefix):
    """group -> tensor -> array."""
    groups = {}
    tensors, _ = safetensors_file.read(path)
    for name, (dtype, shape, data) in tensors.items():
        group, tensor = name[len(prefix) :].rsplit("/", 1)
        words = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64}[dtype]
        groups.setdefault(group, {})[tensor] = np.frombuffer(data, words).reshape(shape)
    return groups


def plain(array, group):
    """Blocks along the last axis, whole blocks."""
    if "-axis0" in group:
        array = array.swapaxes(1, 2)
    missing = -array.shape[2] % BLOCK
    return np.ascontiguousarray(np.pad(array, [(0, 0), (0, 0), (0, missing)]))


def answers_of(gate, groups):
    """(name, array) of every output, and of the cases that it answers: a set may grow."""
    for group, tensors in groups.items():
        yield f"{group}/case_id", tensors["case_id"]
        given = [tensors[name] for name in INPUTS[gate.operation]]
        if gate.operation == "quantize":
            given = [plain(given[0].view(np.float32), group)]
        returned = gate.function(*given)
        returned = returned if isinstance(returned, tuple) else (returned,)
        for name, array in zip(OUTPUTS[gate.operation], returned):
            yield f"{group}/{name}", np.ascontiguousarray(array)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    subject = importlib.import_module(sys.argv[1])
    vectors = pathlib.Path(sys.argv[2])
    manifest = json.loads((vectors / "manifest.json").read_text())
    recorded, gates = {}, []
    for index, gate in enumerate(subject.gates()):
        path, kept = file_of(vectors, manifest, gate.operation, gate.profile)
        prefix = f"{gate.operation}/{kept}/"
        error = ""
        try:
            for name, array in answers_of(gate, arrays_of(path, prefix)):
                dtype = {"uint8": "U8", "float32": "F32", "uint64": "U64"}[array.dtype.name]
                recorded[f"{index}/{prefix}{name}"] = (dtype, list(array.shape), array.tobytes())
        except Exception as raised:  # what the library cannot do is an answer too
            error = f"{type(raised).__name__}: {raised}"
        gates.append({"what": gate.what, "operation": gate.operation, "profile": gate.profile, "error": error})
        print(f"{gate.what}: {gate.operation} {gate.profile} {error}")
    metadata = {"subject": subject.NAME, "version": subject.VERSION, "gates": json.dumps(gates)}
    safetensors_file.write(pathlib.Path(sys.argv[3]), recorded, metadata)


if __name__ == "__main__":
    main()
