"""Trains on a backend and holds every run's digest against the committed one.

Usage: compare_digests.py FP4PROOF BACKEND FOLDER PRESET... [--plans PLAN,...] [--jobs N] [--update]

FP4PROOF is the command, BACKEND `reference` or a library. For each preset every plan that vectors/training_digests.json
knows is trained anew with `fp4proof sweep` in FOLDER/PRESET, over as many first steps as it says. Exit code 0: all are
equal. --plans names some of those plans. With --update the digests of the reference are written to the file, of all
named plans where the preset is new to it.
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


def update(committed, preset, seen):
    failed = [plan for plan, digest in seen.items() if len(digest) != 16]
    if failed:
        sys.exit(f"no digest of {', '.join(failed)}: nothing of {preset} was written")
    presets = committed["presets"]
    presets[preset] = dict(sorted({**presets.get(preset, {}), **seen}.items()))
    committed["presets"] = dict(sorted(presets.items()))
    DIGESTS.write_text(json.dumps(committed, indent=2) + "\n")
    print(f"{preset}: {len(seen)} digests written")


def compare(preset, plans, seen):
    """How many digests are the committed ones."""
    equal = 0
    for plan, digest in plans.items():
        same = seen.get(plan) == digest
        equal += same
        print(f"{preset} {plan} {digest} {'equal' if same else f'DIFFERENT: {seen.get(plan)}'}", flush=True)
    return equal


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("fp4proof")
    parser.add_argument("backend")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("presets", nargs="+", metavar="PRESET")
    parser.add_argument("--plans", type=lambda text: text.split(","))
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    committed = json.loads(DIGESTS.read_text())
    if options.update and options.backend != "reference":
        parser.error("digests are those of the backend `reference`")
    equal = asked = 0
    for preset in options.presets:
        known = committed["presets"].get(preset, {})
        unknown = sorted(set(options.plans or []) - set(known))
        if not options.update and (unknown or not known):
            parser.error(f"{DIGESTS.name} has no digests of {preset} {' '.join(unknown)}")
        plans = options.plans or list(known) or ["all"]
        seen = sweep(options, preset, plans, committed["first_steps"].get(preset))
        if options.update:
            update(committed, preset, seen)
        else:
            asked += len(plans)
            equal += compare(preset, {plan: known[plan] for plan in plans}, seen)
    if options.update:
        return
    print(f"{equal} runs have the committed digest, {asked - equal} do not")
    sys.exit(0 if equal > 0 and equal == asked else 1)


if __name__ == "__main__":
    main()
