#!/usr/bin/env python3
"""Usage: run_tests.py SOURCE FOLDER [--build-type TYPE] [--define NAME=VALUE]... [-- pytest arguments]

The Python package as a user gets it: makes a virtual environment in FOLDER, installs the package from SOURCE with
`pip install`, and runs the tests beside this file and the examples of the manual and of every docstring.

Exit code 0: installed and passed. 77: not run, because PyPI could not be reached; under CI (the environment variable
of that name) that is a failure too. Anything else is a failure.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

NOT_RUN = 77
TOOLS = ["ml_dtypes>=0.4", "mypy>=1.8", "nanobind>=2.4", "numpy>=1.22", "pytest>=7", "scikit-build-core>=0.10"]
OFFLINE = ("Failed to establish a new connection", "Temporary failure in name resolution", "Network is unreachable",
           "Name or service not known", "Connection refused", "ConnectTimeoutError", "ReadTimeoutError")


def step(name, command, **arguments):
    """The finished process; what it printed is shown where it fails."""
    started = time.monotonic()
    process = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             **arguments)
    print(f"{name}: exit code {process.returncode}, {time.monotonic() - started:.0f} s", flush=True)
    if process.returncode != 0:
        print(process.stdout, flush=True)
    return process


def make_environment(folder):
    """The interpreter of an environment with the tools; the exit code where there is none."""
    python = folder / "venv" / "bin" / "python"
    made = step("venv", [sys.executable, "-m", "venv", "--clear", folder / "venv"])
    if made.returncode != 0:
        return made.returncode
    tools = step("tools", [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *TOOLS])
    if tools.returncode != 0 and any(sign in tools.stdout for sign in OFFLINE):
        print("NOT RUN: the Python package was neither built nor tested, because PyPI cannot be reached.")
        return tools.returncode if os.environ.get("CI") else NOT_RUN
    return tools.returncode or python


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build-type", default="Release")
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("pytest", nargs="*")
    options = parser.parse_args()
    source, folder = options.source.resolve(), options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python = make_environment(folder)
    if isinstance(python, int):
        return python
    os.environ["CCACHE_NOHASHDIR"] = "1"  # objects of other build folders will do, as in CMakePresets.json
    settings = [f"cmake.build-type={options.build_type}", f"build-dir={folder / 'build'}"]
    settings += [f"cmake.define.{define}" for define in options.define]
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--no-build-isolation", "--no-deps", source]
    if step("pip install", install + [f"--config-settings={setting}" for setting in settings]).returncode != 0:
        return 1
    # From a folder of its own, so that the installed package is tested and nothing of the tree.
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "--doctest-glob=python.md",
              f"--rootdir={work}", "--pyargs", "fp4proof", source / "tests" / "python", source / "docs" / "python.md",
              *options.pytest]
    process = subprocess.run(list(map(str, pytest)), cwd=work)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
