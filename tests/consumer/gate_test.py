"""Usage: gate_test.py CMAKE CTEST PROJECT BUILD_FOLDER [options of cmake...]

Configures and builds a vendor's project. Its gate must pass the right kernel and fail the wrong one.
"""

import re
import shutil
import subprocess
import sys


def run(*arguments):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=400, check=False)


def must(*arguments):
    process = run(*arguments)
    assert process.returncode == 0, f"{arguments} failed:\n{process.stdout[-4000:]}"
    return process.stdout


def main():
    cmake, ctest, project, folder, *options = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    must(cmake, "-S", project, "-B", folder, *options)
    must(cmake, "--build", folder)
    tests = must(ctest, "--test-dir", folder, "-N", "-L", "conformance")
    assert "gate_right" in tests and "gate_wrong" in tests, tests
    right = must(ctest, "--test-dir", folder, "--verbose", "--no-tests=error", "-E", "gate_wrong")
    verdict = re.search(r"[1-9]\d* passed, 0 failed, \d+ skipped", right)
    assert verdict, right
    print("right:", verdict.group())
    wrong = run(ctest, "--test-dir", folder, "--verbose", "--no-tests=error", "-R", "gate_wrong")
    verdict = re.search(r"\d+ passed, [1-9]\d* failed, \d+ skipped", wrong.stdout)
    assert wrong.returncode != 0 and verdict, wrong.stdout
    assert "tie" in wrong.stdout, wrong.stdout
    print("wrong:", verdict.group())


if __name__ == "__main__":
    main()
