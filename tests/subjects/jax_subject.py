"""JAX on the processor: the casts that XLA compiles. It has none for the 6-bit elements."""

import jax
import jax.numpy as jnp
import numpy as np

import block_rules
from gates import ELEMENTS, NEAREST, Gate

NAME = "JAX (XLA, CPU)"
VERSION = jax.__version__

DTYPES = {
    "e2m1": jnp.float4_e2m1fn,
    "e4m3": jnp.float8_e4m3fn,
    "e5m2": jnp.float8_e5m2,
    "e8m0": jnp.float8_e8m0fnu,
}


def cast(name):
    compiled = jax.jit(lambda numbers: numbers.astype(DTYPES[name]))
    return lambda numbers: np.asarray(compiled(jnp.asarray(numbers))).view(np.uint8)


def widen(name):
    compiled = jax.jit(lambda codes: codes.astype(jnp.float32))
    dtype = np.dtype(DTYPES[name])
    return lambda codes: np.asarray(compiled(jnp.asarray(codes.astype(np.uint8).view(dtype))))


def gates():
    for name in ("e2m1", "e4m3", "e5m2"):
        profile, emax, is_nibble, largest = ELEMENTS[name]
        dtype = np.dtype(DTYPES[name]).name
        yield Gate(f"jit cast to {dtype}", "quantize", profile, block_rules.mx_quantizer(cast(name), emax, is_nibble))
        if name in ("e4m3", "e5m2"):
            yield Gate(f"jit cast to {dtype} of clipped numbers", "quantize", profile,
                       block_rules.mx_quantizer(cast(name), emax, is_nibble, largest))
        yield Gate(f"jit casts from {dtype} and float8_e8m0fnu", "dequantize", profile,
                   block_rules.mx_dequantizer(widen(name), widen("e8m0"), is_nibble))
    for what, quotient in block_rules.QUOTIENTS.items():
        yield Gate(f"jit cast of {what} to float8_e8m0fnu as the scale", "quantize", NEAREST,
                   block_rules.mx_quantizer(cast("e2m1"), 2, True, 6.0, block_rules.scales_by(cast("e8m0"), quotient)))
