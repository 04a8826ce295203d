"""ONNX: the conversions to E8M0 of onnx.numpy_helper, which its reference evaluator and its tests use.

Elements are NumPy's."""

import numpy as np
import onnx
from onnx import numpy_helper

import block_rules
from gates import Gate

NAME = "ONNX"
VERSION = onnx.__version__


def scales_by(mode):
    """amax / 6 in float32, rounded to E8M0 by the mode. ONNX makes NaN of infinity as the profile does."""

    def scales_of(amax):
        return numpy_helper.to_float8e8m0(amax / np.float32(6), saturate=True, round_mode=mode).view(np.uint8)

    return scales_of


def floor_by_down(amax):
    """amax / 4 rounded down."""
    return numpy_helper.to_float8e8m0(amax / np.float32(4), saturate=True, round_mode="down").view(np.uint8)


def gates():
    yield Gate("to_float8e8m0(amax / 4, down) as the scale", "quantize", "mxfp4/ocp",
               block_rules.mx_quantizer(block_rules.e2m1_codes, 2, True, 6.0, floor_by_down))
    yield Gate("to_float8e8m0(amax / 6, up) as the scale", "quantize", "mxfp4/rceil",
               block_rules.mx_quantizer(block_rules.e2m1_codes, 2, True, 6.0, scales_by("up")))
    yield Gate("to_float8e8m0(amax / 6, nearest) as the scale", "quantize", "mxfp4/nearest",
               block_rules.mx_quantizer(block_rules.e2m1_codes, 2, True, 6.0, scales_by("nearest")))
