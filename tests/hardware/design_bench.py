"""What the tests of the example design have in common."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

NOT_RUN = 77  # ctest shows a test that ends with it as skipped

# A define that breaks the design, and what the bench must then say.
FAULTS = {
    "FAULT_FLUSHED_SUBNORMALS": r"case [0-9a-f]{16}, element \d+: code \d+ under scale 0 gives",
    "FAULT_TRUNCATED": r"(case [0-9a-f]{16}, c\[\d+\]\[\d+\]|random dot \d+, scales \d+ and \d+)",
}


def need(*programs):
    """Ends the test as not run where a program is missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        print(f"NOT RUN: {', '.join(missing)} not found; scripts/install-packages test installs what is missing")
        sys.exit(NOT_RUN)


def run(arguments, **settings):
    """Runs a program to its end; its output is in `stdout`."""
    return subprocess.run([str(argument) for argument in arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=400, check=False, **settings)


def must(arguments, **settings):
    process = run(arguments, **settings)
    if process.returncode != 0:
        sys.exit(f"{arguments[0]} failed with {process.returncode}:\n{process.stdout[-4000:]}")
    return process.stdout


def export(command, vectors, folder):
    """The vectors of the bench, freshly exported; the cases of each group."""
    must([command, "export", "--set", vectors / "quick", "--out", folder, "--force", "--format", "hex", "--words",
          "block", "--profile", "mxfp4/ocp", "--group", "1x32", "--group", "7x7x32-seq512", "--group",
          "16x16x32-seq512"])
    index = json.loads((folder / "export.json").read_text())
    return {f"{entry['operation']} {entry['group']}": entry["cases"] for entry in index["groups"]}


def environment(**more):
    """Compiles of the simulators go through ccache where there is one."""
    cache = {"OBJCACHE": "ccache"} if shutil.which("ccache") else {}
    return {**os.environ, **cache, **more}


def folders(arguments):
    return [pathlib.Path(argument).resolve() for argument in arguments]
