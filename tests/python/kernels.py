"""Kernels for the tests of `check`: right ones, and one fault each."""

import numpy as np

import fp4proof

LEVELS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def mxfp4(x):
    """MXFP4 by the OCP rule, written from the standard in NumPy."""
    return pack(*codes_and_scales(x))


def codes_and_scales(x, up=0):
    amax = np.abs(x).reshape(*x.shape[:2], -1, 32).max(-1)
    exponent = (amax.view(np.uint32) >> 23).astype(int) - 2 + up
    scales = np.where(np.isfinite(amax), np.maximum(exponent, 0), 255)
    wide = np.repeat(scales, 32, -1)
    with np.errstate(invalid="ignore"):
        y = np.abs(x) * np.ldexp(1.0, 127 - wide)
    ties = (LEVELS[1:] + LEVELS[:-1]) / 2
    codes = sum((y > tie) | ((y == tie) & (i % 2 == 1)) for i, tie in enumerate(ties))
    codes = np.where(wide == 255, 0, codes | np.signbit(x) << 3)
    return codes.astype(np.uint8), scales.astype(np.uint8)


def pack(codes, scales):
    return codes[..., 0::2] | codes[..., 1::2] << 4, scales


def one_scale_up(x):
    return pack(*codes_and_scales(x, up=1))


def swapped_nibbles(x):
    codes, scales = mxfp4(x)
    return codes >> 4 | codes << 4, scales


def as_dict(x):
    codes, scales = mxfp4(x)
    return {"scales": scales, "codes": codes}


def into(x, out):
    codes, scales = mxfp4(x)
    out[0][...] = codes
    out[1][...] = scales


def half_into(x, out):
    codes, scales = mxfp4(x)
    out[0][:, :, :1] = codes[:, :, :1]
    out[1][...] = scales


def by_call(x, call):
    """What the plain form does, done by the kernel."""
    codes, scales = [], []
    for case in x:
        q = fp4proof.quantize(case, call.profile, axis=call.axis, tail=call.tail)
        codes.append(q.codes)
        scales.append(q.scales)
    return np.stack(codes), np.stack(scales)


def dequantize(codes, scales, call):
    wanted = call.outputs[0].shape
    values = [
        fp4proof.dequantize(fp4proof.Quantized(c, s, profile=call.profile, shape=wanted[1:])) for c, s in zip(codes, scales)
    ]
    return np.stack(values)


def gemm(a_codes, a_scales, b_codes, b_scales, call):
    products = []
    for ac, asc, bc, bs in zip(a_codes, a_scales, b_codes, b_scales):
        a = fp4proof.Quantized(ac, asc, profile=call.profile, shape=(call.rows, call.columns))
        b = fp4proof.Quantized(bc, bs, profile=call.profile, shape=(call.other_rows, call.columns))
        products.append(fp4proof.gemm(a, b, call.accumulator))
    return np.stack(products)


def stochastic(x, random, call):
    quantized = [
        fp4proof.quantize(case, call.profile, axis=call.axis, tail=call.tail, random=words)
        for case, words in zip(x, random)
    ]
    return np.stack([q.codes for q in quantized]), np.stack([q.scales for q in quantized])


def returns_nothing(x):
    mxfp4(x)


def raises(x):
    raise RuntimeError("no such device")


def exits(x):
    raise SystemExit(0)


def unpacked(x):
    return codes_and_scales(x)


def wide_codes(x):
    codes, scales = mxfp4(x)
    return codes.astype(np.int64), scales


def short(x):
    codes, scales = mxfp4(x)
    return codes[:, :, :-1], scales


def one_array(x):
    return mxfp4(x)[0]


def writes_input(x):
    x[0] = 0


def changes_input(x):
    import ctypes

    ctypes.memset(x.ctypes.data, 0, 1)
    return mxfp4(x)


class Drifting:
    """Another answer each time."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        codes, scales = mxfp4(x)
        codes[0, 0, 0] ^= self.calls % 2
        return codes, scales
