"""Where an error comes from, and how a block becomes bits."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Optional, Sequence, Union

import numpy as np

from fp4proof import _core
from fp4proof._arrays import AnyArray, float_array, word_array
from fp4proof._names import CorrectionLike, ProfileLike, text_of


@dataclasses.dataclass(frozen=True)
class Decomposition:
    """The error of a quantized tensor, split exactly into three parts: scale, deadzone, grid (docs/decomposition.md).

    Shares are of the squared error. `sums` holds the binary64 sums behind them, of products of two terms that are each
    `factor` times the error.
    """

    elements: int  #: all
    excluded: int  #: NaN or infinite, in the input or the result
    compared: int  #: the others
    in_deadzone: int  #: not zero, and zero under the ideal scale
    zeroed: int  #: not zero, and coded zero
    inexact: int  #: a term was rounded; never for bfloat16 input
    relative_error: float  #: squared error over squared input
    scale_share: float  #: part of the squared error that the scale's rounding makes
    deadzone_share: float  #: part that is lost below the smallest element
    grid_share: float  #: part that the grid of elements makes
    floor_share: float  #: deadzone and grid: what no scale rule can mend
    scale_grid_cosine: float
    gain: float  #: <Q(x), x> / <x, x>
    deadzone_fraction: float
    zeroed_fraction: float
    sums: dict[str, float]
    factor: int

    def __str__(self) -> str:
        return (
            f"relative error {self.relative_error:.4g} of {self.compared} elements: scale {self.scale_share:.1%},"
            f" deadzone {self.deadzone_share:.1%}, grid {self.grid_share:.1%} of the squared error; gain {self.gain:.4g}"
        )


def decompose(
    array: Any,
    profile: ProfileLike,
    axis: int = -1,
    tail: str = "error",
    seed: int = 0,
    *,
    correction: CorrectionLike = "none",
    product: int = 0,
) -> Decomposition:
    """What the error of quantizing an array consists of. Arguments as those of :func:`quantize`.

    >>> import numpy as np
    >>> x = np.full((1, 32), 1.25, np.float32)
    >>> d = decompose(x, "mxfp4/ocp")
    >>> print(d)
    relative error 0.04 of 32 elements: scale 100.0%, deadzone 0.0%, grid 0.0% of the squared error; gain 0.8
    """
    numbers, dtype = float_array(array)
    split: dict[str, Any] = _core.decompose(
        numbers, dtype, text_of(profile), text_of(correction), axis, tail, seed, product
    )
    return Decomposition(**split)


class Explanation:
    """Every step from the numbers of one block to its bits. `print` shows the steps, `json` holds them.

    `json` is described in docs/explain.md.
    """

    def __init__(self, text: str, json_text: str) -> None:
        self.text = text  #: for people
        self.json: dict[str, Any] = json.loads(json_text)  #: for programs

    def to_json(self, path: Optional[Union[str, "os.PathLike[str]"]] = None) -> str:
        """The JSON as text; with `path` also in that file."""
        text = json.dumps(self.json, indent=2) + "\n"
        if path is not None:
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        return text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Explanation of a block under {self.json['profile']['name']}>"


def explain(
    values: Any,
    profile: ProfileLike,
    *,
    element: Optional[int] = None,
    all: bool = False,
    correction: CorrectionLike = "none",
    product: int = 0,
    random: Optional[Sequence[int]] = None,
    seed: int = 0,
    tensor_scale: Optional[float] = None,
    block: Optional[int] = None,
    axis: int = -1,
    tail: str = "error",
) -> Explanation:
    """One block under the microscope: scale, every code, and the rule behind each.

    values
        The numbers of the block: an array, or text as in "0.5, 6, 0x1.8p+2, 0x40c00000, inf". Fewer than the block has
        are continued with zeros. With `block` it is a tensor instead, and that block of it is explained (`axis` and
        `tail` cut it as :func:`quantize` does).
    element
        Everything about this element in place of the table; `all` gives every element a line.
    random, seed
        Random words of stochastic rounding, one an element, or the seed that draws them.
    tensor_scale
        NVFP4: the scale above the block scales; else that of the values alone.

    >>> told = explain("0.5, 6, 0.25", "mxfp4/ocp", element=2)
    >>> print(*(line for line in str(told).splitlines() if "MX19" in line), sep="\\n")
      MX19  lower     0x0 = 0
      MX19  upper     0x1 = 0.5
      MX19  tie       0.25
      MX19  decision  a tie, to even
    >>> told.json["elements"][2]["code"]
    0
    """
    options = {
        "profile": text_of(profile),
        "correction": text_of(correction),
        "element": element,
        "all": all,
        "random": None if random is None else [int(word) for word in random],
        "seed": seed,
        "tensor_scale": tensor_scale,
        "product": product,
    }
    if isinstance(values, str):
        if block is not None:
            raise ValueError("block goes with a tensor, not with text")
        return Explanation(*_core.explain_written(values, options))
    numbers, dtype = float_array(values)
    if block is not None:
        return Explanation(*_core.explain_tensor(numbers, dtype, axis, tail, block, options))
    return Explanation(*_core.explain_values(_words(numbers, dtype), options))


def _words(numbers: AnyArray, dtype: str) -> Any:
    """Binary32 words of the numbers; exact."""
    if dtype == "bfloat16":
        return word_array(numbers.reshape(-1).astype(np.uint32) << 16, "values")
    return np.ascontiguousarray(numbers.reshape(-1).astype(np.float32)).view(np.uint32)
