"""Trains on a backend and holds every run's digest against the committed one.

Usage: compare_digests.py FP4PROOF BACKEND FOLDER PRESET... [--jobs N]

FP4PROOF is the command, BACKEND `reference` or a library. For each preset every plan that vectors/training_digests.json
knows is trained anew with `fp4proof sweep` in FOLDER/PRESET, over as many first steps as it says. Exit code 0: all are
equal.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

DIGESTS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "training_digests.json"


def sweep(options, preset, plans, steps):
    """The digest of each plan; of a run that failed, its state."""
    folder = options.folder / preset
    shutil.rmtree(folder, ignore_errors=True)  # a sweep goes on where runs are, which may be those of another build
    command = [options.fp4proof, "sweep", "--backend", options.backend, "--preset", preset, "--plans", ",".join(plans),
               "--measure-every", "0", "--out", folder]
    command += ["--steps", str(steps)] if steps else []
    command += ["--jobs", str(options.jobs)] if options.jobs else []
    process = subprocess.run(command, stdout=subprocess.DEVNULL)
    if process.returncode not in (0, 5):
        sys.exit(f"fp4proof sweep: exit code {process.returncode}")
    runs = json.loads((folder / "sweep.json").read_text())["runs"]
    return {run["plan"]: run["digest"] if run["state"] == "done" else run["state"] for run in runs}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("fp4proof")
    parser.add_argument("backend")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("presets", nargs="+", metavar="PRESET")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    committed = json.loads(DIGESTS.read_text())
    unknown = sorted(set(options.presets) - set(committed["presets"]))
    if unknown:
        parser.error(f"{DIGESTS.name} has no digests of {', '.join(unknown)}")
    equal = different = 0
    for preset in options.presets:
        plans = committed["presets"][preset]
        steps = committed["first_steps"].get(preset)
        seen = sweep(options, preset, list(plans), steps)
        for plan, digest in plans.items():
            same = seen.get(plan) == digest
            equal, different = equal + same, different + (not same)
            print(f"{preset} {plan} {digest} {'equal' if same else f'DIFFERENT: {seen.get(plan)}'}", flush=True)
    print(f"{equal} runs have the committed digest, {different} do not")
    sys.exit(0 if equal > 0 and different == 0 else 1)


if __name__ == "__main__":
    main()
