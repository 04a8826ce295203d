"""plugin: a shared library through the command, where run_tests.py is told of both."""

import os

import pytest

import fp4proof

COMMAND = os.environ.get("FP4PROOF_COMMAND")
REFERENCE = os.environ.get("FP4PROOF_REFERENCE_BACKEND")


@pytest.mark.skipif(not (COMMAND and REFERENCE), reason="FP4PROOF_COMMAND and FP4PROOF_REFERENCE_BACKEND name nothing")
def test_a_library_is_gated_in_a_process_of_its_own(tmp_path):
    report = fp4proof.plugin(REFERENCE, ["mxfp4/ocp", "hif4/gcc"], set="smoke")
    assert report.passed and report.document["subject"]["kind"] == "plugin", str(report)
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    failed = fp4proof.plugin(broken, "mxfp4/ocp", set="smoke", operation="quantize")
    assert failed.exit_code == 4 and failed.verdict == "ERROR" and "loaded" in str(failed)
    with pytest.raises(RuntimeError, match="did you mean 'mxfp4/ocp'"):
        fp4proof.plugin(REFERENCE, "mxfp4/opc")


def test_without_the_command(monkeypatch):
    monkeypatch.delenv("FP4PROOF_COMMAND", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileNotFoundError, match="not on the PATH"):
        fp4proof.plugin("kernel.so", "mxfp4/ocp")
