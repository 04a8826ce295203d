"""assert_conformant as tests use it."""

import json
import pathlib

import kernels
import pytest

import fp4proof

TESTS = """
import kernels

def test_right(assert_conformant):
    assert_conformant(kernels.mxfp4, "mxfp4/ocp")

def test_wrong(assert_conformant):
    assert_conformant(kernels.swapped_nibbles, "mxfp4/ocp")
"""


@pytest.fixture(autouse=True)
def kernels_can_be_imported(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parent))


def run(pytester, *arguments):
    pytester.makepyfile(TESTS)
    return pytester.runpytest_subprocess("--fp4proof-set=smoke", *arguments)


def test_a_failure_prints_the_diagnosis(pytester):
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*NotConformant: not conformant: FAIL, exit code 1",
            "*diagnosis: *nibble*",
            "*PACKING*",
            "*verdict: FAIL*",
            "* fp4proof *",
            "PASS*test_right: * passed, 0 failed, 0 skipped",
            "FAIL*test_wrong: * passed, * failed, 0 skipped",
        ]
    )


def test_reports_are_kept(pytester):
    run(pytester, "--fp4proof-reports=kept")
    names = sorted(path.name for path in (pytester.path / "kept").iterdir())
    assert names == ["001-test_right.html", "001-test_right.json", "002-test_wrong.html", "002-test_wrong.json"]
    assert json.loads((pytester.path / "kept" / "002-test_wrong.json").read_text())["verdict"] == "FAIL"


def test_the_function_needs_no_pytest():
    assert fp4proof.assert_conformant(kernels.mxfp4, "mxfp4/ocp", set="smoke").passed
    with pytest.raises(fp4proof.NotConformant, match="nibble") as caught:
        fp4proof.assert_conformant(kernels.swapped_nibbles, "mxfp4/ocp", set="smoke")
    assert isinstance(caught.value, AssertionError) and caught.value.report.exit_code == 1
