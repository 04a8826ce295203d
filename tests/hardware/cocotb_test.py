"""Usage: cocotb_test.py FP4PROOF VECTORS LIBRARY EXAMPLES BUILD_FOLDER

Runs examples/verilog under cocotb with Icarus Verilog: the right design passes, each planted fault is found and the
message names the case. cocotb comes from PyPI into a virtual environment in BUILD_FOLDER, which is kept.
"""

import re
import sys

import design_bench as bench

COCOTB = "cocotb==2.1.0"
# A Python with a shared library, which the simulator loads.
SHARED = "import sysconfig, sys; sys.exit(not sysconfig.get_config_var('Py_ENABLE_SHARED'))"


def python_of(folder):
    """The Python of the environment with cocotb in it."""
    python = folder / "bin" / "python"
    if python.exists() and bench.run([python, "-c", "import cocotb_tools.runner"]).returncode == 0:
        return python
    for base in (sys.executable, "/usr/bin/python3"):
        if bench.run([base, "-c", SHARED]).returncode == 0 and bench.run(
                [base, "-m", "venv", "--clear", folder]).returncode == 0:
            break
    else:
        print("NOT RUN: no Python with a shared library and venv; install python3-venv and libpython3.11")
        sys.exit(bench.NOT_RUN)
    installed = bench.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", COCOTB])
    if installed.returncode != 0:
        print(f"NOT RUN: pip cannot install {COCOTB}:\n{installed.stdout[-1500:]}")
        sys.exit(bench.NOT_RUN)
    return python


def main():
    command, vectors, library, examples, folder = bench.folders(sys.argv[1:])
    bench.need("iverilog", "vvp")
    folder.mkdir(parents=True, exist_ok=True)
    python = python_of(folder / "environment")
    bench.export(command, vectors, folder / "vectors")

    def simulate(*defines):
        options = [word for define in defines for word in ("--define", define)]
        return bench.run([python, examples / "verilog" / "run_cocotb.py", "--vectors", folder / "vectors", "--library",
                          library, "--build-dir", folder / (defines[0] if defines else "right"), *options],
                         env=bench.environment(COCOTB_ANSI_OUTPUT="0", PYTHONDONTWRITEBYTECODE="1"))

    right = simulate()
    assert right.returncode == 0 and "3 tests, 0 failed" in right.stdout, right.stdout[-6000:]
    print("the right design:", *re.findall(r"\d+ compared, 0 wrong", right.stdout), sep="\n  ")
    for define, words in bench.FAULTS.items():
        wrong = simulate(define)
        found = re.search(f"MISMATCH {words}.*", wrong.stdout)
        failed = re.search(r"3 tests, [12] failed", wrong.stdout)
        assert wrong.returncode == 1 and found and failed, f"{define} was not found:\n{wrong.stdout[-6000:]}"
        print(f"{define}: {failed.group()}: {found.group()}")


if __name__ == "__main__":
    main()
