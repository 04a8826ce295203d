"""ONNX: the conversions to E8M0 of onnx.numpy_helper, which its reference evaluator and its tests use.

Elements are NumPy's."""

import numpy as np
import onnx
from onnx import numpy_helper

import block_rules
from gates import NEAREST, Gate

NAME = "ONNX"
VERSION = onnx.__version__


def scales_by(mode):
    """amax / 6 in float32, rounded to E8M0 by the mode. ONNX makes NaN of infinity as the profile does."""

    def scales_of(amax):
        return numpy_helper.to_float8e8m0(amax / np.float32(6), saturate=True, round_mode=mode).view(np.uint8)

    return scales_of


def floor_by_down(amax):
    """amax rounded down, less the exponent of the largest element."""
    codes = numpy_helper.to_float8e8m0(amax, saturate=True, round_mode="down").view(np.uint8)
    return np.where(codes == block_rules.NAN_SCALE, codes, np.maximum(codes.astype(int) - 2, 0)).astype(np.uint8)


def gates():
    yield Gate("to_float8e8m0(amax, down), less emax, as the scale", "quantize", "mxfp4/ocp",
               block_rules.mx_quantizer(block_rules.e2m1_codes, 2, True, 6.0, floor_by_down))
    yield Gate("to_float8e8m0(amax / 6, up) as the scale", "quantize", "mxfp4/rceil",
               block_rules.mx_quantizer(block_rules.e2m1_codes, 2, True, 6.0, scales_by("up")))
    yield Gate("to_float8e8m0(amax / 6, nearest) as the scale", "quantize", NEAREST,
               block_rules.mx_quantizer(block_rules.e2m1_codes, 2, True, 6.0, scales_by("nearest")))
