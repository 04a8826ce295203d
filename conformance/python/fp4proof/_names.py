"""The names of the project, and what is behind them."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Union

from fp4proof import _core

#: A profile: its name, the path of a profile file (`*.json`), or its fields as a dict (docs/profiles.md).
ProfileLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]
#: A stack of corrections likewise (docs/corrections.md).
CorrectionLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def text_of(named: ProfileLike) -> str:
    """What the extension module takes: a name, a path, or JSON."""
    if isinstance(named, str):
        return named
    if isinstance(named, os.PathLike):
        return os.fspath(named)
    if isinstance(named, Mapping):
        return json.dumps(dict(named))
    raise TypeError(f"a name, a path or a dict is needed, not {type(named).__name__}")


def profiles() -> dict[str, dict[str, Any]]:
    """Every named profile: name -> all of its fields.

    A profile is a named set of choices: format, block, scale rule, rounding, what NaN and infinity do.

    >>> profiles()["mxfp4/ocp"]["scale_rule"]
    'floor'
    >>> sorted(name for name in profiles() if name.startswith("nvfp4/"))
    ['nvfp4/direct', 'nvfp4/tensor-scale']

    Take one and change it to get a profile of your own:

    >>> mine = {"name": "mine/away", "base": "mxfp4/ocp", "rounding": "rna"}
    >>> import numpy as np, fp4proof
    >>> x = np.full(32, 0.25, np.float32); x[0] = 4
    >>> int(fp4proof.quantize(x, "mxfp4/ocp").codes[1]), int(fp4proof.quantize(x, mine).codes[1])
    (0, 17)
    """
    return {name: json.loads(_core.profile_json(name)) for name in _core.profile_names()}


def corrections() -> dict[str, dict[str, Any]]:
    """Every named stack of corrections: name -> its parts. What is done to a tensor beside quantizing it.

    >>> corrections()["mbs"]["macro"]
    {'form': 'multiply', 'size': 128}
    """
    return {name: json.loads(_core.correction_json(name)) for name in _core.correction_names()}


def operations() -> list[str]:
    """What a kernel can be asked for: quantize, dequantize, gemm, correct, correct-gemm, decompose."""
    return _core.operation_names()


def accumulators() -> list[str]:
    """In which order and precision a product is summed; `seq512` is the normative one (docs/rules-gemm.md)."""
    return _core.accumulator_names()


def sets() -> list[str]:
    """The sets of vectors that :func:`check` can ask: smoke, quick, full."""
    return _core.set_names()
