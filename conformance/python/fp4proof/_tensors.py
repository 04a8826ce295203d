"""Arrays to codes and scales, and back: the reference."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt

from fp4proof import _core
from fp4proof._arrays import byte_array, float_array, word_array
from fp4proof._names import CorrectionLike, ProfileLike, text_of
from fp4proof._packing import unpack_codes

#: Philox streams of stochastic rounding (docs/randomness.md).
STREAMS = {"activation": 5, "weight": 6, "gradient": 7}


@dataclasses.dataclass(frozen=True)
class Part:
    """One coded part of a tensor: the first, or the residual of a correction.

    `codes` and `scales` have the block axis last. Two 4-bit codes share a byte, even element in the low nibble; wider
    codes take one each. A scale is a byte (HiF4: four, the little-endian scale word). `macro` holds a factor byte for
    each macro block, where the correction has them.
    """

    codes: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.uint8]
    tensor_scale: float
    macro: Optional[npt.NDArray[np.uint8]]


class Quantized:
    """A quantized tensor: codes, scales, and what is needed to read them.

    :func:`quantize` makes one. Make one yourself from the output of a kernel, to decode it or multiply with it:

    >>> import numpy as np
    >>> codes = np.zeros((2, 16), np.uint8); codes[0, 0] = 0x71
    >>> q = Quantized(codes, np.array([[127], [127]], np.uint8), profile="mxfp4/ocp", shape=(2, 32))
    >>> dequantize(q)[0, :2].tolist()
    [0.5, 6.0]

    The arrays are views of the memory of the tensor, without a copy. :class:`Part` describes their bytes.
    """

    def __init__(
        self,
        codes: Any,
        scales: Any,
        *,
        profile: ProfileLike,
        shape: Sequence[int],
        axis: int = -1,
        tensor_scale: float = 1.0,
    ) -> None:
        self._coded = _core.code(
            byte_array(codes, "codes"), byte_array(scales, "scales"), tensor_scale, text_of(profile), list(shape), axis
        )

    @classmethod
    def _of(cls, coded: _core.CodedTensor) -> "Quantized":
        self = cls.__new__(cls)
        self._coded = coded
        return self

    @property
    def profile(self) -> str:
        """The name of the profile."""
        return self._coded.profile

    @property
    def correction(self) -> str:
        """The name of the stack of corrections, `none` for plain quantization."""
        return self._coded.correction

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that was quantized."""
        return tuple(self._coded.shape)

    @property
    def axis(self) -> int:
        """The axis of that array along which blocks run, counted from the front."""
        return self._coded.axis

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The codes, block axis last; see :class:`Part`."""
        return self._coded.codes()

    @property
    def unpacked_codes(self) -> npt.NDArray[np.uint8]:
        """The codes one a byte, whatever their width."""
        return unpack_codes(self.codes) if self._coded.is_nibble else self.codes

    @property
    def scales(self) -> npt.NDArray[np.uint8]:
        """The scales, one for each block of each row; see :class:`Part`."""
        return self._coded.scales()

    @property
    def tensor_scale(self) -> float:
        """The binary32 scale above the block scales; other than 1 only for `nvfp4/tensor-scale`."""
        return self._coded.tensor_scale()

    @property
    def macro(self) -> Optional[npt.NDArray[np.uint8]]:
        """The factor bytes of macro blocks, or None."""
        return self._coded.macro()

    @property
    def residual(self) -> Optional[Part]:
        """The coded residual of a correction, or None."""
        if not self._coded.has_residual:
            return None
        coded = self._coded
        return Part(coded.codes(True), coded.scales(True), coded.tensor_scale(True), coded.macro(True))

    def __repr__(self) -> str:
        correction = "" if self.correction == "none" else f", correction={self.correction!r}"
        return f"Quantized(shape={self.shape}, profile={self.profile!r}, axis={self.axis}{correction})"


def quantize(
    array: Any,
    profile: ProfileLike,
    axis: int = -1,
    tail: str = "error",
    seed: int = 0,
    *,
    correction: CorrectionLike = "none",
    random: Any = None,
    stream: str = "activation",
    step: int = 0,
    product: int = 0,
) -> Quantized:
    """Codes and scales of an array under a profile, to the bit.

    array
        float32, float16 or bfloat16: NumPy (bfloat16 of ml_dtypes), torch, cupy, jax, or anything with DLPack. Plain
        numbers count as float32. Any shape; blocks run along `axis`.
    profile
        A name of :func:`profiles`, a profile file, or its fields as a dict.
    tail
        Where the axis is no multiple of the block: "error", or "pad" with zeros, which are stored.
    seed, step, stream
        Address the random words of profiles that round stochastically: word of element i = Philox(seed, stream, step,
        i), i the row-major index. Same words, same bits, whatever the machine.
    random
        uint32 of the array's shape: those words themselves, to compare with a kernel that draws its own.
    correction
        A name of :func:`corrections`, a file, or its parts: what is done beside quantizing. `product` numbers products
        for Hadamard signs that are drawn afresh.

    >>> import numpy as np
    >>> x = np.array([[0.5, 6.0, 0.25, -0.75]], np.float32)
    >>> quantize(x, "mxfp4/ocp", tail="pad").unpacked_codes[0, :4].tolist()
    [1, 7, 0, 10]
    >>> quantize(x, "mxfp4/ocp")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: shape [1, 4]: block axis 1 of length 4 is no multiple of the block length 32 of mxfp4/ocp; ...
    """
    numbers, dtype = float_array(array)
    if stream not in STREAMS:
        raise ValueError(f"stream {stream!r} is none of {', '.join(STREAMS)}")
    words = None if random is None else word_array(random, "random")
    return Quantized._of(
        _core.quantize(
            numbers, dtype, text_of(profile), text_of(correction), axis, tail, seed, STREAMS[stream], step, product, words
        )
    )


def dequantize(quantized: Quantized) -> npt.NDArray[np.float32]:
    """What codes and scales stand for, as float32 in the shape of the array that was quantized.

    Element times scale, rounded once, with gradual underflow. Blocks under a NaN scale give NaN (0x7FC00000). With a
    correction it is the corrected value: macro factors, residual and inverse transform included.

    >>> import numpy as np
    >>> q = quantize(np.linspace(-6, 6, 64, dtype=np.float32).reshape(2, 32), "mxfp4/ocp")
    >>> dequantize(q)[1, -3:].tolist()
    [6.0, 6.0, 6.0]
    """
    return _core.dequantize(quantized._coded)


def gemm(a: Quantized, b: Quantized, accumulator: str = "seq512") -> npt.NDArray[np.float32]:
    """C[m, n] = sum over k of A[m, k] * B[n, k], both blocked along k, in the order that `accumulator` names.

    `seq512` is normative; "exact" is the exact sum, rounded once; docs/rules-gemm.md states all of them. Profiles may
    differ as long as their blocks have the same length.

    >>> import numpy as np
    >>> a = quantize(np.eye(2, 32, dtype=np.float32), "mxfp4/ocp")
    >>> b = quantize(np.full((3, 32), 1.5, np.float32), "mxfp8-e4m3/ocp")
    >>> gemm(a, b).tolist()
    [[1.5, 1.5, 1.5], [1.5, 1.5, 1.5]]
    """
    return _core.gemm(a._coded, b._coded, accumulator)
