"""4-bit codes in bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fp4proof._arrays import byte_array


def pack_codes(codes: Any) -> npt.NDArray[np.uint8]:
    """Two 4-bit codes a byte along the last axis, the even element in the low nibble: the order that is compared.

    >>> pack_codes(np.array([1, 7, 0, 2], np.uint8))
    array([113,  32], dtype=uint8)
    """
    single = byte_array(codes, "codes")
    if single.ndim == 0 or single.shape[-1] % 2:
        raise ValueError(f"codes of shape {single.shape} do not fill whole bytes")
    if single.size and int(single.max()) > 15:
        raise ValueError(f"{int(single.max())} is no 4-bit code")
    return np.asarray(single[..., 0::2] | single[..., 1::2] << 4, np.uint8)


def unpack_codes(packed: Any) -> npt.NDArray[np.uint8]:
    """The inverse of :func:`pack_codes`: one code a byte.

    >>> unpack_codes(np.array([113, 32], np.uint8))
    array([1, 7, 0, 2], dtype=uint8)
    """
    pairs = byte_array(packed, "codes")
    return np.asarray(np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(*pairs.shape[:-1], -1), np.uint8)
