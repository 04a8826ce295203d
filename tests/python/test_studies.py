"""explain, decompose, and the names."""

import json

import numpy as np
import pytest

import fp4proof


def test_names():
    assert fp4proof.profiles()["hif4/gcc"]["family"] == "hif4"
    assert fp4proof.corrections()["none"]["name"] == "none"
    assert {"smoke", "quick", "full"} <= set(fp4proof.sets())
    assert fp4proof.operations()[0] == "quantize" and "seq512" in fp4proof.accumulators()


def test_explanation_of_values():
    told = fp4proof.explain([0.5, 6, 0.25, -0.75], "mxfp4/ocp")
    assert [element["code"] for element in told.json["elements"][:4]] == [1, 7, 0, 10]
    assert json.loads(told.to_json()) == told.json
    assert "mxfp4/ocp" in str(told) and "mxfp4/ocp" in repr(told)
    as_text = fp4proof.explain("0.5, 6, 0.25, -0.75", "mxfp4/ocp")
    assert str(as_text) == str(told)
    assert len(str(fp4proof.explain([1.0], "mxfp4/ocp", all=True)).splitlines()) > 32
    assert "ELEMENT 1" in str(fp4proof.explain("0.5, 6", "mxfp4/ocp", element=1))


def test_explanation_of_a_block_of_a_tensor(tmp_path):
    x = np.zeros((2, 64), np.float32)
    x[1, 32:36] = [0.5, 6, 0.25, -0.75]
    told = fp4proof.explain(x, "mxfp4/ocp", block=3)
    assert [element["code"] for element in told.json["elements"][:4]] == [1, 7, 0, 10]
    told.to_json(tmp_path / "block.json")
    assert json.loads((tmp_path / "block.json").read_text()) == told.json
    corrected = fp4proof.explain(x, "mxfp4/ocp", block=3, correction="resq")
    assert corrected.json["correction"] is not None


@pytest.mark.parametrize(
    "message,arguments",
    [
        ("element 32 is not one of the 32", dict(values=[1.0], element=32)),
        ("block goes with a tensor", dict(values="1", block=0)),
        ("more|33", dict(values=[0.0] * 33)),
        ('"x"', dict(values="1, x")),
        ("tensor scale|tensor_scale", dict(values=[1.0], tensor_scale=2.0)),
    ],
)
def test_explanations_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        fp4proof.explain(profile="mxfp4/ocp", **arguments)


def test_tails_are_named():
    x = np.ones((1, 40), np.float32)
    with pytest.raises(ValueError, match='tail is "error" or "pad", not "cut"'):
        fp4proof.decompose(x, "mxfp4/ocp", tail="cut")
    with pytest.raises(ValueError, match='tail is "error" or "pad", not "cut"'):
        fp4proof.explain(x, "mxfp4/ocp", block=1, tail="cut")
    assert fp4proof.decompose(x, "mxfp4/ocp", tail="pad").elements == 40


def test_decomposition_of_what_is_all_scale():
    """1.25 needs the scale 1/4 to be exact, and gets 1/4 of it under the floor rule: codes 5 of 4 to 6 tie to 4."""
    split = fp4proof.decompose(np.full((3, 32), 1.25, np.float32), "mxfp4/ocp")
    assert split.elements == 96 and split.scale_share == 1.0 and split.grid_share == 0.0
    assert split.relative_error == pytest.approx(0.04)


def test_decomposition_shares_add_up():
    x = np.random.default_rng(1).standard_normal((8, 128)).astype(np.float32)
    split = fp4proof.decompose(x, "mxfp4/rceil")
    error = x.astype(float) - fp4proof.dequantize(fp4proof.quantize(x, "mxfp4/rceil"))
    assert split.relative_error == pytest.approx((error**2).sum() / (x.astype(float) ** 2).sum())
    corrected = fp4proof.decompose(x, "mxfp4/rceil", correction="rfq")
    assert corrected.relative_error < split.relative_error
    assert "relative error" in str(split)
