"""The part of block quantization that a cast leaves to its user, in NumPy: scales, exact scaling, packing.

Subjects put their library's casts in between, so that a difference is the cast's and not ours.
"""

import numpy as np

NAN_SCALE = 255
BLOCK = 32


def amax_of(x, block=BLOCK):
    """The largest magnitude of every block, float32 [..., blocks]; NaN where the block holds one."""
    return np.abs(x).reshape(*x.shape[:-1], -1, block).max(-1)


def floor_scales(amax, emax):
    """E8M0 codes by the rule of the standard: floor(log2 amax) - emax; 255 for NaN and infinity."""
    exponent = (amax.view(np.uint32) >> 23).astype(np.int64) - emax
    return np.where(np.isfinite(amax), np.maximum(exponent, 0), NAN_SCALE).astype(np.uint8)


#: What is cast to E8M0, which has no zero. 2^-127 is its smallest number.
QUOTIENTS = {
    "amax / 6": lambda amax: amax / np.float32(6),
    "max(amax / 6, 2^-127)": lambda amax: np.maximum(amax / np.float32(6), np.float32(2.0**-127)),
}


def scales_by(cast_scale, quotient):
    """E8M0 codes by a library's cast of a quotient in binary32."""
    return lambda amax: cast_scale(quotient(amax))


def scaled(x, scales, block=BLOCK):
    """x / 2^(scale - 127) as float32: exact but where the result is far below the smallest element."""
    powers = np.ldexp(1.0, 127 - np.repeat(scales.astype(np.int64), block, -1))
    with np.errstate(invalid="ignore", over="ignore"):
        return (x.astype(np.float64) * powers).astype(np.float32)


def pack(codes):
    return codes[..., 0::2] | codes[..., 1::2] << 4


def unpack(packed):
    return np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)


def e2m1_codes(y):
    """E2M1 by NumPy alone, for subjects that have a scale and no element: nearest, ties to even, saturating."""
    ties = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)
    magnitude = np.abs(y)
    codes = sum((magnitude > tie) | ((magnitude == tie) & (i % 2 == 1)) for i, tie in enumerate(ties))
    return (codes | np.signbit(y) << 3).astype(np.uint8)


def mx_quantizer(cast, emax, is_nibble, largest=None, scales_of=None):
    """A kernel for `quantize`: scales by `scales_of(amax)`, the standard's rule without it; elements by `cast`.

    cast       float32 array -> uint8 array, one code a byte
    largest    clip to it first, as a careful user does whose cast does not saturate
    """

    def kernel(x):
        amax = amax_of(x)
        scales = floor_scales(amax, emax) if scales_of is None else scales_of(amax)
        y = scaled(x, scales)
        if largest is not None:
            y = np.clip(y, -largest, largest)
        codes = np.where(np.repeat(scales, BLOCK, -1) == NAN_SCALE, 0, cast(y)).astype(np.uint8)
        return (pack(codes) if is_nibble else codes), scales

    return kernel


def mx_dequantizer(widen_element, widen_scale, is_nibble):
    """A kernel for `dequantize`: both codes are widened by the library and multiplied in float32."""

    def kernel(codes, scales):
        elements = widen_element(unpack(codes) if is_nibble else codes)
        with np.errstate(invalid="ignore", over="ignore"):
            return elements * np.repeat(widen_scale(scales), BLOCK, -1)

    return kernel


def nvfp4_quantizer(cast_scale, widen_scale, cast_element):
    """A kernel for NVFP4 without a tensor scale: amax / 6 and x / scale in float64, both cast by the library."""

    def kernel(x):
        amax = amax_of(x, 16).astype(np.float64)
        is_finite = np.isfinite(amax)
        scales = np.where(is_finite, cast_scale(np.minimum(np.where(is_finite, amax, 0) / 6, 448)), 0x7F).astype(np.uint8)
        wide = np.repeat(scales, 16, -1)
        divisor = np.repeat(widen_scale(scales).astype(np.float64), 16, -1)
        with np.errstate(invalid="ignore", divide="ignore"):
            y = np.where(divisor == 0, np.copysign(0.0, x), x.astype(np.float64) / divisor)
        codes = np.where(wide == 0x7F, 0, cast_element(np.clip(y, -6, 6))).astype(np.uint8)
        return pack(codes), scales

    return kernel
