"""check: verdicts, exit codes, diagnoses, faults, reports."""

import dataclasses
import json
import re
import xml.etree.ElementTree

import kernels
import ml_dtypes
import numpy as np
import pytest

import fp4proof


def smoke(fn, profile="mxfp4/ocp", **arguments):
    return fp4proof.check(fn, profile, set="smoke", **arguments)


@pytest.mark.parametrize("kernel", [kernels.mxfp4, kernels.as_dict, kernels.into, kernels.by_call])
def test_right_kernels_pass(kernel):
    report = fp4proof.check(kernel, "mxfp4/ocp", set="quick")
    assert report.passed and report.exit_code == 0 and report.verdict == "PASS", str(report)
    assert report.document["tally"]["failed"] == report.document["tally"]["skipped"] == 0
    assert report.document["tally"]["passed"] > 500
    assert report.diagnosis == "" and report.reasons == [] and report.faults == []


def test_every_operation():
    functions = {"quantize": kernels.by_call, "dequantize": kernels.dequantize, "gemm": kernels.gemm}
    report = smoke(functions, ["mxfp4/ocp", "mxfp8-e5m2/ocp", "hif4/gcc", "mxfp4-2d/rceil"])
    assert report.passed, str(report)
    asked = {(table["operation"], table["profile"]) for table in report.document["tables"] if table["tally"]["passed"]}
    assert {(operation, "hif4/gcc") for operation in functions} <= asked


def test_the_plain_form_serves_tiles():
    def tiles(x):
        quantized = [fp4proof.quantize(case, "hif4-2d/gcc") for case in x]
        return np.stack([q.codes for q in quantized]), np.stack([q.scales for q in quantized])

    report = fp4proof.check(tiles, "hif4-2d/gcc")
    assert report.passed, str(report)


def test_random_words_are_handed_over():
    report = smoke(kernels.stochastic, "mxfp4/ocp-sr")
    assert report.passed, str(report)


@pytest.mark.parametrize(
    "kernel,profile,cause,diagnosis",
    [
        (kernels.mxfp4, "mxfp4/rceil", "SCALE", "scale rule floor"),
        (kernels.one_scale_up, "mxfp4/ocp", "SCALE", "scale"),
        (kernels.swapped_nibbles, "mxfp4/ocp", "PACKING", "nibble"),
    ],
)
def test_wrong_kernels_are_diagnosed(kernel, profile, cause, diagnosis):
    report = fp4proof.check(kernel, profile)
    assert not report.passed and report.exit_code == 1 and report.verdict == "FAIL"
    assert cause in report.document["tables"][0]["causes"]
    assert diagnosis in report.diagnosis, report.diagnosis
    assert report.diagnosis in str(report)
    assert report.mismatches[0]["cause"] == cause


def test_unwritten_outputs_are_found():
    report = smoke(kernels.half_into)
    assert report.exit_code == 1 and "UNWRITTEN" in report.document["tables"][0]["causes"], str(report)


@pytest.mark.parametrize(
    "kernel,what",
    [
        (kernels.returns_nothing, r"returned nothing where codes uint8 \[\d+, 1, 16\], scales"),
        (kernels.raises, r"raised RuntimeError: no such device \(kernels.py:\d+, in raises\)"),
        (kernels.exits, "raised SystemExit: 0"),
        (kernels.unpacked, r"shape \[\d+, 1, 32\] where .*see fp4proof.pack_codes"),
        (kernels.wide_codes, "returned codes of dtype int64 where codes uint8"),
        (kernels.short, r"returned codes of shape \[\d+, 1, 15\]"),
        (kernels.one_array, "returned 1 arrays where"),
        (kernels.writes_input, "raised ValueError: assignment destination is read-only"),
        (kernels.changes_input, "changed its input input"),
        (lambda x: ("a", "b"), "returned for codes a str: an array is needed"),
        (lambda x: {"codes": x}, r"returned \['codes'\] where"),
        (lambda x, y: x, "raised TypeError: .*missing 1 required positional argument"),
    ],
)
def test_faults(kernel, what):
    report = smoke(kernel)
    assert report.exit_code == 4 and report.verdict == "ERROR" and not report.passed
    assert re.search(what, report.faults[0]["what"]), report.faults[0]["what"]
    assert report.faults[0]["what"] in str(report)


def test_nondeterminism():
    report = smoke(kernels.Drifting())
    assert report.exit_code == 7 and report.document["tables"][0]["nondeterministic"] > 0, str(report)


def test_an_interruption_ends_the_check():
    def stopped(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        smoke(stopped)
    assert smoke(kernels.mxfp4).passed


def test_what_is_not_offered():
    assert smoke(kernels.mxfp4, supports=lambda call: False).exit_code == 5
    partly = smoke(kernels.mxfp4, supports=lambda call: call.tail == "error")
    assert partly.exit_code == 5 and partly.verdict == "INCOMPLETE"
    assert smoke(kernels.mxfp4, supports=lambda call: call.tail == "error", require="offered").passed
    assert smoke({"quantize": kernels.mxfp4}).exit_code == 6
    broken = smoke(kernels.mxfp4, supports=lambda call: 1 / 0)
    assert broken.exit_code == 4 and "supports() raised ZeroDivisionError" in broken.faults[0]["what"]


def test_calls_tell_everything():
    calls = []

    def watching(x, call):
        calls.append(call)
        assert x.dtype == np.float32 and x.shape == call.inputs[0].shape and not x.flags.writeable
        return kernels.by_call(x, call)

    assert fp4proof.check(watching, "mxfp4/ocp").passed
    assert {call.axis for call in calls} == {0, 1} and {call.tail for call in calls} == {"error", "pad"}
    assert calls[0].profile_fields["scale_rule"] == "floor" and calls[0].block == (1, 32)
    assert str(calls[0].outputs[0]).startswith("codes uint8 [")
    assert len(calls) % 2 == 0  # every group twice


def test_any_dtype_of_the_width_will_do():
    def narrow(x):
        codes, scales = kernels.mxfp4(x)
        return codes.view(np.int8), scales.view(ml_dtypes.float8_e8m0fnu)

    assert smoke(narrow).passed


def test_folders_and_own_profiles(vectors):
    assert fp4proof.check(kernels.mxfp4, "mxfp4/ocp", set=vectors / "smoke").passed
    mine = {"name": "mine/ocp", "base": "mxfp4/ocp"}
    report = smoke(kernels.mxfp4, mine)
    assert report.passed and report.document["tables"][0]["profile"] == "mine/ocp"


def test_reports(tmp_path):
    report = smoke(kernels.swapped_nibbles, name="nibbles", version="2", description="swaps")
    subject = report.document["subject"]
    assert (subject["kind"], subject["name"], subject["version"]) == ("python", "nibbles", "2")
    assert subject["path"] == kernels.__file__ and len(subject["sha256"]) == 64
    report.to_json(tmp_path / "report.json")
    again = fp4proof.Report.read(tmp_path / "report.json")
    assert again.document == report.document and str(again) == str(report)
    page = report.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert "<svg" in page and "nibble" in page and "<script" not in page
    suites = xml.etree.ElementTree.fromstring(report.to_junit(tmp_path / "junit.xml"))
    assert suites.findall(".//failure")
    assert json.loads(report.to_sarif(tmp_path / "report.sarif"))["version"] == "2.1.0"
    assert report.summary.endswith("skipped") and report.summary in repr(report)
    with pytest.raises(OSError):
        report.to_json(tmp_path / "missing" / "report.json")


def test_statistics():
    def drawn(x, call):
        quantized = [
            fp4proof.quantize(case, call.profile, axis=call.axis, tail=call.tail, seed=int(draw))
            for case, draw in zip(x, np.random.default_rng().integers(0, 2**63, len(x)))
        ]
        return np.stack([q.codes for q in quantized]), np.stack([q.scales for q in quantized])

    report = smoke(lambda x, random, call: drawn(x, call), "mxfp4/ocp-sr", statistical=True)
    assert report.verdict == "STATISTICAL", str(report)
    biased = smoke(lambda x, random, call: kernels.by_call(x, dataclasses.replace(call, profile="mxfp4/ocp")),
                   "mxfp4/ocp-sr", statistical=True)
    assert biased.verdict == "FAIL" and biased.exit_code == 1, str(biased)


@pytest.mark.parametrize(
    "error,message,arguments",
    [
        (ValueError, "did you mean 'mxfp4/ocp'", dict(profile="mxfp4/opc")),
        (ValueError, "set .* is neither", dict(set="slow")),
        (ValueError, "unknown operation", dict(operation="divide")),
        (ValueError, "require is", dict(require="much")),
        (TypeError, "a function is needed", dict(fn=3)),
        (ValueError, "framework 'tensorflow'", dict(framework="tensorflow")),
        (ImportError, "'cupy' cannot be imported", dict(framework="cupy")),
        (ValueError, "no device", dict(device="cuda")),
    ],
)
def test_refusals(error, message, arguments):
    if arguments.get("framework") == "cupy":
        try:
            import cupy  # noqa: F401
        except ImportError:
            pass
        else:
            pytest.skip("cupy is here")
    arguments = {"fn": kernels.mxfp4, "profile": "mxfp4/ocp", "set": "smoke", **arguments}
    with pytest.raises(error, match=message):
        fp4proof.check(**arguments)


def test_torch_kernels():
    torch = pytest.importorskip("torch")

    def torch_kernel(x):
        assert isinstance(x, torch.Tensor)
        codes, scales = kernels.mxfp4(x.cpu().numpy())
        return torch.from_numpy(codes), torch.from_numpy(scales)

    assert smoke(torch_kernel, framework="torch").passed
    if torch.cuda.is_available():
        assert smoke(torch_kernel, framework="torch", device="cuda").passed

    def changing(x):
        codes, scales = kernels.mxfp4(x.numpy())
        x += 1
        return codes, scales

    assert "changed its input" in smoke(changing, framework="torch").faults[0]["what"]


def test_jax_kernels():
    jax = pytest.importorskip("jax")
    report = smoke(lambda x: kernels.mxfp4(np.asarray(x)), framework="jax")
    assert report.passed, str(report)
    assert smoke(lambda x: [jax.numpy.asarray(a) for a in kernels.mxfp4(np.asarray(x))], framework="jax").passed
