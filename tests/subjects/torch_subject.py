"""PyTorch: the casts of its 8-bit dtypes, on the processor and, where there is one, on the GPU.

float4_e2m1fn_x2 has no cast, so elements of four bits are not asked about. Runs without fp4proof (answer.py)."""

import numpy as np
import torch

import block_rules
from gates import ELEMENTS, Gate

NAME = "PyTorch"
VERSION = torch.__version__

DTYPES = {
    name: getattr(torch, dtype)
    for name, dtype in {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu"}.items()
    if hasattr(torch, dtype)
}
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def cast(name, device):
    def to_codes(numbers):
        tensor = torch.from_numpy(np.ascontiguousarray(numbers)).to(device)
        return tensor.to(DTYPES[name]).view(torch.uint8).cpu().numpy()

    return to_codes


def widen(name, device):
    def to_numbers(codes):
        tensor = torch.from_numpy(np.ascontiguousarray(codes, dtype=np.uint8)).to(device)
        return tensor.view(DTYPES[name]).to(torch.float32).cpu().numpy()

    return to_numbers


def gates():
    for device in DEVICES:
        on = f" on {device}"
        for name in ("e4m3", "e5m2"):
            profile, emax, is_nibble, largest = ELEMENTS[name]
            dtype = str(DTYPES[name]).removeprefix("torch.")
            yield Gate(f"cast to {dtype}{on}", "quantize", profile,
                       block_rules.mx_quantizer(cast(name, device), emax, is_nibble))
            yield Gate(f"cast to {dtype} of clipped numbers{on}", "quantize", profile,
                       block_rules.mx_quantizer(cast(name, device), emax, is_nibble, largest))
            if "e8m0" in DTYPES:
                yield Gate(f"casts from {dtype} and float8_e8m0fnu{on}", "dequantize", profile,
                           block_rules.mx_dequantizer(widen(name, device), widen("e8m0", device), is_nibble))
        if "e8m0" in DTYPES:
            for what, quotient in block_rules.QUOTIENTS.items():
                yield Gate(f"cast of {what} to float8_e8m0fnu as the scale{on}", "quantize", "mxfp4/nearest",
                           block_rules.mx_quantizer(block_rules.e2m1_codes, 2, True, 6.0,
                                                    block_rules.scales_by(cast("e8m0", device), quotient)))
