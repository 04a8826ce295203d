"""quantize, dequantize, gemm: against the committed vectors, against ml_dtypes, and what is refused."""

import os
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest

import fp4proof

PROFILES = ["mxfp4/ocp", "mxfp4/rceil", "mxfp8-e4m3/ocp", "mxfp6-e2m3/ocp", "hif4/gcc", "nvfp4/direct",
            "nvfp4/tensor-scale", "mxfp4-2d/ocp", "hif4-2d/gcc", "mxfp4/ocp-sr"]


def each_case(groups):
    """(group name, tensors of one case) for every case."""
    for group, tensors in groups.items():
        for i in range(len(tensors["case_id"])):
            yield group, {name: array[i] for name, array in tensors.items()}


@pytest.mark.parametrize("profile", PROFILES)
def test_quantize_gives_the_committed_answers(profile, smoke_tensors):
    cases = 0
    for group, case in each_case(smoke_tensors("quantize", profile)):
        q = fp4proof.quantize(
            case["input"].view(np.float32),
            profile,
            axis=0 if "-axis0" in group else 1,
            tail="pad" if group.endswith("-pad") else "error",
            random=case.get("random"),
        )
        np.testing.assert_array_equal(q.codes, case["codes"])
        np.testing.assert_array_equal(q.scales, case["scales"])
        if "tensor_scale" in case:
            assert np.float32(q.tensor_scale).view(np.uint32) == case["tensor_scale"]
        cases += 1
    assert cases > 0


@pytest.mark.parametrize("profile", ["mxfp4/ocp", "mxfp8-e5m2/ocp", "hif4/gcc", "nvfp4/tensor-scale"])
def test_dequantize_gives_the_committed_answers(profile, smoke_tensors):
    cases = 0
    for _, case in each_case(smoke_tensors("dequantize", profile)):
        scale = float(case["tensor_scale"].view(np.float32)) if "tensor_scale" in case else 1.0
        q = fp4proof.Quantized(
            case["codes"], case["scales"], profile=profile, shape=case["values"].shape, tensor_scale=scale
        )
        found = fp4proof.dequantize(q).view(np.uint32)
        wanted = case["values"]
        nan = np.isnan(wanted.view(np.float32))
        np.testing.assert_array_equal(found[~nan], wanted[~nan])
        assert np.isnan(found[nan].view(np.float32)).all()
        cases += 1
    assert cases > 0


@pytest.mark.parametrize("correction,profile", [("mbs", "mxfp4/rceil"), ("resq", "mxfp4/ocp"), ("hadamard-16", "hif4/gcc")])
def test_corrections_give_the_committed_answers(correction, profile, smoke_tensors):
    cases = 0
    for group, case in each_case(smoke_tensors("correct", profile)):
        if group.split("-", 1)[1] != correction:
            continue
        q = fp4proof.quantize(case["input"].view(np.float32), profile, correction=correction)
        np.testing.assert_array_equal(q.codes, case["codes"])
        np.testing.assert_array_equal(q.scales, case["scales"])
        if correction == "mbs":
            np.testing.assert_array_equal(q.macro, case["macro"])
        if correction == "resq":
            np.testing.assert_array_equal(q.residual.codes, case["residual_codes"])
        values = fp4proof.dequantize(q)
        same = (values.view(np.uint32) == case["values"]) | (np.isnan(values) & np.isnan(case["values"].view(np.float32)))
        assert same.all()
        cases += 1
    assert cases > 0


def test_gemm_gives_the_committed_answers(smoke_tensors):
    cases = 0
    for group, case in each_case(smoke_tensors("gemm", "mxfp4/ocp")):
        shape, _, accumulator = group.partition("-")
        m, n, k = map(int, shape.split("x"))
        a = fp4proof.Quantized(case["a_codes"], case["a_scales"], profile="mxfp4/ocp", shape=(m, k))
        b = fp4proof.Quantized(case["b_codes"], case["b_scales"], profile="mxfp4/ocp", shape=(n, k))
        found = fp4proof.gemm(a, b, accumulator).view(np.uint32)
        nan = np.isnan(case["c"].view(np.float32))
        np.testing.assert_array_equal(found[~nan], case["c"][~nan])
        cases += 1
    assert cases > 0


def test_elements_agree_with_ml_dtypes():
    """Blocks whose largest number is 6 have scale 1: the codes are those of a plain cast."""
    x = np.linspace(-6, 6, 64 * 31, dtype=np.float32).reshape(64, 31)
    x = np.concatenate([x, np.full((64, 1), 6, np.float32)], axis=1)
    q = fp4proof.quantize(x, "mxfp4/ocp")
    assert (q.scales == 127).all()
    np.testing.assert_array_equal(q.unpacked_codes, x.astype(ml_dtypes.float4_e2m1fn).view(np.uint8))
    np.testing.assert_array_equal(fp4proof.dequantize(q), x.astype(ml_dtypes.float4_e2m1fn).astype(np.float32))


def test_half_precision_is_the_same_number():
    x = np.random.default_rng(1).standard_normal((4, 64)).astype(ml_dtypes.bfloat16)
    wide = fp4proof.quantize(x.astype(np.float32), "mxfp4/ocp")
    narrow = fp4proof.quantize(x, "mxfp4/ocp")
    np.testing.assert_array_equal(narrow.codes, wide.codes)
    half = x.astype(np.float16)
    np.testing.assert_array_equal(
        fp4proof.quantize(half, "hif4/gcc").codes, fp4proof.quantize(half.astype(np.float32), "hif4/gcc").codes
    )


def test_layout_does_not_matter():
    x = np.random.default_rng(2).standard_normal((64, 96)).astype(np.float32)
    wanted = fp4proof.quantize(np.ascontiguousarray(x.T), "mxfp4/ocp")
    for same in (x.T, np.asfortranarray(x.T), x.T.astype(">f4")):
        np.testing.assert_array_equal(fp4proof.quantize(same, "mxfp4/ocp").codes, wanted.codes)
    along = fp4proof.quantize(x, "mxfp4/ocp", axis=0)
    np.testing.assert_array_equal(along.codes, wanted.codes)
    assert along.shape == (64, 96) and along.axis == 0 and along.codes.shape == (96, 32)
    np.testing.assert_array_equal(fp4proof.dequantize(along), fp4proof.dequantize(wanted).T)


def test_three_axes_and_tails():
    x = np.random.default_rng(3).standard_normal((2, 40, 3)).astype(np.float32)
    q = fp4proof.quantize(x, "mxfp4/ocp", axis=1, tail="pad")
    assert q.shape == (2, 40, 3) and q.codes.shape == (2, 3, 32) and q.scales.shape == (2, 3, 2)
    again = fp4proof.Quantized(q.codes, q.scales, profile="mxfp4/ocp", shape=q.shape, axis=1)
    np.testing.assert_array_equal(fp4proof.dequantize(again), fp4proof.dequantize(q))
    assert fp4proof.dequantize(q).shape == x.shape


def test_codes_are_views():
    q = fp4proof.quantize(np.ones((1, 32), np.float32), "mxfp4/ocp")
    codes = q.codes
    q.codes[0, 0] = 0x77
    assert codes[0, 0] == 0x77 and fp4proof.dequantize(q)[0, 0] == 1.5
    del q
    assert codes[0, 0] == 0x77


def test_stochastic_words_are_addressed():
    x = np.random.default_rng(4).standard_normal((8, 64)).astype(np.float32)
    first = fp4proof.quantize(x, "mxfp4/ocp-sr", seed=7).codes
    np.testing.assert_array_equal(first, fp4proof.quantize(x, "mxfp4/ocp-sr", seed=7).codes)
    assert (first != fp4proof.quantize(x, "mxfp4/ocp-sr", seed=8).codes).any()
    assert (first != fp4proof.quantize(x, "mxfp4/ocp-sr", seed=7, stream="weight").codes).any()
    down = fp4proof.quantize(x, "mxfp4/ocp-sr", random=np.zeros(x.shape, np.uint32))
    assert (np.abs(fp4proof.dequantize(down)) <= np.abs(x)).all()


def test_threads_share_nothing():
    x = np.random.default_rng(5).standard_normal((64, 1024)).astype(np.float32)
    wanted = fp4proof.quantize(x, "hif4/gcc").codes
    found = []
    threads = [threading.Thread(target=lambda: found.append(fp4proof.quantize(x, "hif4/gcc").codes)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for codes in found:
        np.testing.assert_array_equal(codes, wanted)


def test_own_profile(tmp_path):
    fields = {"name": "mine/away", "base": "mxfp4/ocp", "rounding": "rna"}
    path = tmp_path / "mine.json"
    path.write_text(str(fields).replace("'", '"'))
    x = np.array([0.25] * 31 + [4], np.float32)
    for profile in (fields, path, str(path)):
        q = fp4proof.quantize(x, profile)
        assert q.profile == "mine/away" and q.unpacked_codes[0] == 1
    assert fp4proof.quantize(x, "mxfp4/ocp").unpacked_codes[0] == 0


def test_empty_and_scalar():
    assert fp4proof.quantize(np.zeros((0, 32), np.float32), "mxfp4/ocp").codes.shape == (0, 16)
    assert fp4proof.quantize(np.float32(6), "mxfp4/ocp", tail="pad").unpacked_codes.ravel()[0] == 7


@pytest.mark.parametrize(
    "error,message,arguments",
    [
        (ValueError, "did you mean 'mxfp4/ocp'", dict(profile="mxfp4/opc")),
        (TypeError, "float64", dict(array=np.zeros(32))),
        (TypeError, "int32", dict(array=np.zeros(32, np.int32))),
        (TypeError, "object|array is needed", dict(array="text")),
        (ValueError, "multiple of the block length 32", dict(array=np.zeros(33, np.float32))),
        (ValueError, "axis 3|out of range", dict(axis=3)),
        (ValueError, 'tail is "error" or "pad"', dict(tail="cut")),
        (ValueError, "random", dict(profile="mxfp4/ocp-sr", random=np.zeros(3, np.uint32))),
        (TypeError, "random must be uint32", dict(profile="mxfp4/ocp-sr", random=np.zeros(32))),
        (ValueError, "stream", dict(stream="river")),
        (ValueError, "NaN", dict(profile={"name": "m/e", "base": "mxfp4/ocp", "nan": "error"},
                                 array=np.full(32, np.nan, np.float32))),
        (ValueError, "unknown", dict(correction="mbz")),
        (OSError, "missing.json", dict(profile="missing.json")),
        (TypeError, "a name, a path or a dict", dict(profile=3)),
    ],
)
def test_refusals(error, message, arguments):
    arguments = {"array": np.zeros(32, np.float32), "profile": "mxfp4/ocp", **arguments}
    with pytest.raises(error, match=message):
        fp4proof.quantize(**arguments)


def test_codes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"codes have shape \[3\] where \[1, 16\] is needed"):
        fp4proof.Quantized(np.zeros(3, np.uint8), np.zeros((1, 1), np.uint8), profile="mxfp4/ocp", shape=(1, 32))
    with pytest.raises(TypeError, match="scales must be uint8, not float32"):
        fp4proof.Quantized(
            np.zeros((1, 16), np.uint8), np.zeros((1, 1), np.float32), profile="mxfp4/ocp", shape=(1, 32)
        )
    q = fp4proof.quantize(np.zeros((1, 32), np.float32), "mxfp4/ocp")
    with pytest.raises(ValueError, match="unknown accumulator \"sequ\".*did you mean 'seq'"):
        fp4proof.gemm(q, q, "sequ")
    with pytest.raises(ValueError):
        fp4proof.gemm(q, fp4proof.quantize(np.zeros((1, 64), np.float32), "mxfp4/ocp"))


def test_packing():
    codes = np.arange(16, dtype=np.uint8).reshape(2, 8)
    np.testing.assert_array_equal(fp4proof.unpack_codes(fp4proof.pack_codes(codes)), codes)
    with pytest.raises(ValueError, match="no 4-bit code"):
        fp4proof.pack_codes(np.full(2, 16, np.uint8))
    with pytest.raises(ValueError, match="whole bytes"):
        fp4proof.pack_codes(np.zeros(3, np.uint8))


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    x = torch.randn(4, 64)
    wanted = fp4proof.quantize(x.numpy(), "mxfp4/ocp").codes
    np.testing.assert_array_equal(fp4proof.quantize(x, "mxfp4/ocp").codes, wanted)
    np.testing.assert_array_equal(fp4proof.quantize(x.t().contiguous().t(), "mxfp4/ocp").codes, wanted)
    narrow = x.to(torch.bfloat16)
    np.testing.assert_array_equal(
        fp4proof.quantize(narrow, "mxfp4/ocp").codes, fp4proof.quantize(narrow.float().numpy(), "mxfp4/ocp").codes
    )
    assert torch.from_dlpack(fp4proof.quantize(x, "mxfp4/ocp").codes).shape == (4, 32)
    if torch.cuda.is_available():
        np.testing.assert_array_equal(fp4proof.quantize(x.cuda(), "mxfp4/ocp").codes, wanted)


def test_jax_arrays():
    jax = pytest.importorskip("jax")
    x = np.random.default_rng(6).standard_normal((2, 32)).astype(np.float32)
    wanted = fp4proof.quantize(x, "mxfp4/ocp").codes
    np.testing.assert_array_equal(fp4proof.quantize(jax.numpy.asarray(x), "mxfp4/ocp").codes, wanted)
    narrow = jax.numpy.asarray(x).astype(jax.numpy.bfloat16)
    np.testing.assert_array_equal(
        fp4proof.quantize(narrow, "mxfp4/ocp").codes,
        fp4proof.quantize(np.asarray(narrow).astype(np.float32), "mxfp4/ocp").codes,
    )


FLUSHING = os.environ.get("FP4PROOF_FLUSH_TO_ZERO")


@pytest.mark.skipif(not FLUSHING, reason="FP4PROOF_FLUSH_TO_ZERO names no library")
def test_flushing_of_subnormal_numbers_is_found():
    code = "import fp4proof; fp4proof.quantize([1.0] * 32, 'mxfp4/ocp')"
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "LD_PRELOAD": FLUSHING, "OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True,
    )
    assert process.returncode == 1 and "RuntimeError" in process.stderr and "subnormal" in process.stderr, process.stderr
