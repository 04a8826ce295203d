"""python -m fp4proof check, and what types say."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


def run(*arguments, code):
    command = [sys.executable, "-m", "fp4proof", "check", *map(str, arguments)]
    process = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=120)
    assert process.returncode == code, process.stdout + process.stderr
    return process


def test_verdicts(tmp_path):
    right = run("kernels:mxfp4", "--profile", "mxfp4/ocp", "--set", "smoke", code=0)
    assert right.stdout.splitlines()[-1].endswith("0 failed, 0 skipped") and right.stderr == ""
    report = tmp_path / "report.json"
    page = tmp_path / "report.html"
    wrong = run(HERE / "kernels.py:swapped_nibbles", "--profile", "mxfp4/ocp", "--set", "smoke",
                "--report", f"json={report}", "--report", f"html={page}", code=1)
    assert "nibble" in wrong.stdout
    document = json.loads(report.read_text())
    assert document["exit_code"] == 1 and "--profile" in document["invocation"]
    assert page.read_text(encoding="utf-8").startswith("<!")
    run("kernels:raises", "--profile", "mxfp4/ocp", "--set", "smoke", code=4)
    run("kernels:gemm", "--profile", "mxfp4/ocp", "--set", "smoke", "--operation", "gemm", "--accumulate", "seq", code=0)


@pytest.mark.parametrize(
    "arguments,message",
    [
        (["kernels", "--profile", "mxfp4/ocp"], "not MODULE:FUNCTION"),
        (["kernels:nothing", "--profile", "mxfp4/ocp"], "has no 'nothing'"),
        (["nowhere:nothing", "--profile", "mxfp4/ocp"], "cannot be imported"),
        (["kernels:LEVELS", "--profile", "mxfp4/ocp"], "is no function"),
        (["kernels:mxfp4", "--profile", "mxfp4/opc"], "did you mean"),
        (["kernels:mxfp4", "--profile", "mxfp4/ocp", "--report", "pdf=x"], "json, html, junit or sarif"),
        (["kernels:mxfp4", "--profile", "mxfp4/ocp", "--set", "smoke", "--report", "json=/nowhere/x"], "nowhere"),
        (["kernels:mxfp4"], "--profile"),
    ],
)
def test_usage_errors(arguments, message):
    assert message in run(*arguments, code=2).stderr


def test_help():
    assert "examples:" in run("--help", code=0).stdout


def test_types(tmp_path):
    import fp4proof

    user = tmp_path / "user.py"
    user.write_text(
        "import numpy as np\n"
        "import fp4proof\n"
        "q = fp4proof.quantize(np.zeros((1, 32), np.float32), 'mxfp4/ocp')\n"
        "reveal_type(q.codes)\n"
        "reveal_type(fp4proof.check(lambda x: x, 'mxfp4/ocp').passed)\n"
        "fp4proof.gemm(q)\n"
    )
    package = pathlib.Path(fp4proof.__file__).parent
    assert (package / "py.typed").exists() and (package / "_core.pyi").exists()
    cache = ["--cache-dir", str(tmp_path / "cache")]
    strict = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--allow-any-generics", *cache, "-p", "fp4proof"],
                            cwd=tmp_path, capture_output=True, text=True)
    assert strict.returncode == 0, strict.stdout + strict.stderr
    checked = subprocess.run([sys.executable, "-m", "mypy", *cache, str(user)], capture_output=True, text=True)
    assert "unsignedinteger" in checked.stdout or "uint8" in checked.stdout, checked.stdout
    assert 'Revealed type is "bool"' in checked.stdout or 'Revealed type is "builtins.bool"' in checked.stdout
    assert 'Missing positional argument "b"' in checked.stdout and "Found 1 error" in checked.stdout
