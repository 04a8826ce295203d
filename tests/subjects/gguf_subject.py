"""gguf: the MXFP4 blocks of llama.cpp's Python package."""

import importlib.metadata

import numpy as np
from gguf import quants

import block_rules
from gates import Gate

NAME = "gguf"
VERSION = importlib.metadata.version("gguf")


def quantize(x):
    """gguf stores a block as its scale and 16 bytes of split nibbles; those are put into the order that is compared."""
    with np.errstate(all="ignore"):
        blocks = quants.MXFP4.quantize_blocks(x.reshape(-1, block_rules.BLOCK))
    codes = np.concatenate([blocks[:, 1:] & 15, blocks[:, 1:] >> 4], -1)
    return block_rules.pack(codes).reshape(*x.shape[:-1], -1), blocks[:, 0].reshape(*x.shape[:-1], -1)


def dequantize(codes, scales):
    flat = block_rules.unpack(codes).reshape(-1, block_rules.BLOCK)
    blocks = np.concatenate([scales.reshape(-1, 1), flat[:, :16] | flat[:, 16:] << 4], -1)
    with np.errstate(all="ignore"):
        values = quants.MXFP4.dequantize_blocks(blocks)
    return values.astype(np.float32).reshape(*codes.shape[:-1], -1)


def gates():
    yield Gate("quants.MXFP4.quantize_blocks", "quantize", "mxfp4/ggml", quantize)
    yield Gate("quants.MXFP4.quantize_blocks", "quantize", "mxfp4/ocp", quantize)
    yield Gate("quants.MXFP4.dequantize_blocks", "dequantize", "mxfp4/ocp", dequantize)
