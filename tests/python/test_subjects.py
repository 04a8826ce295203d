"""Public implementations as subjects: what is known about ml_dtypes (docs/subjects.md has all of them)."""

import pathlib
import sys

import numpy as np
import pytest

import fp4proof

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "subjects"))
ml_dtypes_subject = pytest.importorskip("ml_dtypes_subject")

#: Casts that do not saturate, and one that rounds ties up.
DIFFERENT = {
    "cast to float8_e4m3fn",
    "cast to float8_e5m2",
    "cast of amax / 6 to float8_e8m0fnu as the scale",
    "cast of max(amax / 6, 2^-127) to float8_e8m0fnu as the scale",
}


@pytest.mark.parametrize("gate", list(ml_dtypes_subject.gates()), ids=lambda gate: f"{gate.what}, {gate.operation}")
def test_verdicts_on_ml_dtypes(gate):
    with np.errstate(all="ignore"):
        report = fp4proof.check(gate.function, gate.profile, operation=gate.operation)
    assert report.verdict == ("FAIL" if gate.what in DIFFERENT else "PASS"), str(report)
    if "amax" in gate.what:
        assert "ties up" in report.diagnosis
