"""ml_dtypes: the casts of NumPy's 4- to 8-bit dtypes, which JAX and TensorFlow build on."""

import ml_dtypes
import numpy as np

import block_rules
from gates import ELEMENTS, NEAREST, Gate

NAME = "ml_dtypes"
VERSION = ml_dtypes.__version__

DTYPES = {
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}


def cast(name):
    def to_codes(numbers):
        with np.errstate(invalid="ignore", over="ignore"):
            return numbers.astype(DTYPES[name]).view(np.uint8)

    return to_codes


def widen(name):
    return lambda codes: codes.astype(np.uint8).view(DTYPES[name]).astype(np.float32)


def gates():
    for name, (profile, emax, is_nibble, largest) in ELEMENTS.items():
        dtype = DTYPES[name].__name__
        yield Gate(f"cast to {dtype}", "quantize", profile, block_rules.mx_quantizer(cast(name), emax, is_nibble))
        if name in ("e4m3", "e5m2"):
            yield Gate(f"cast to {dtype} of clipped numbers", "quantize", profile,
                       block_rules.mx_quantizer(cast(name), emax, is_nibble, largest))
        yield Gate(f"casts from {dtype} and float8_e8m0fnu", "dequantize", profile,
                   block_rules.mx_dequantizer(widen(name), widen("e8m0"), is_nibble))
    for what, quotient in block_rules.QUOTIENTS.items():
        yield Gate(f"cast of {what} to float8_e8m0fnu as the scale", "quantize", NEAREST,
                   block_rules.mx_quantizer(cast("e2m1"), 2, True, 6.0, block_rules.scales_by(cast("e8m0"), quotient)))
    yield Gate("casts to float8_e4m3fn (scale) and float4_e2m1fn", "quantize", "nvfp4/direct",
               block_rules.nvfp4_quantizer(cast("e4m3"), widen("e4m3"), cast("e2m1")))
