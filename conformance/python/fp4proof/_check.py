"""Gates: a function, or a shared library, asked to the bit."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import subprocess
import tempfile
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from fp4proof import _core
from fp4proof._arrays import Framework
from fp4proof._asking import Asking, Call
from fp4proof._names import ProfileLike, text_of
from fp4proof._report import Report, require_conformant

Function = Callable[..., Any]
Profiles = Union[ProfileLike, Sequence[ProfileLike]]


def check(
    fn: Union[Function, Mapping[str, Function]],
    profile: Profiles,
    *,
    set: Union[str, "os.PathLike[str]"] = "quick",
    operation: str = "quantize",
    accumulator: str = "",
    framework: Framework = "numpy",
    device: Any = None,
    supports: Optional[Callable[[Call], bool]] = None,
    require: str = "standard",
    errors: int = 10,
    ignore_codes_under_nan: bool = False,
    statistical: bool = False,
    name: Optional[str] = None,
    version: str = "",
    description: str = "",
    invocation: Sequence[str] = (),
) -> Report:
    """Ask a function every case of a set, compare every bit, and say what explains the differences.

    fn
        The kernel: a function for one `operation`, or a dict operation -> function. It is called with the input arrays
        of a group of cases, which all have the cases as their first dimension, and returns the output arrays:

        =============  ==========================================  ==============================================
        operation      given                                       returns
        =============  ==========================================  ==============================================
        quantize       input float32 [cases, rows, columns];       codes uint8, scales uint8; tensor_scale float32
                       random uint32 likewise where the profile    [cases] where the profile has one
                       rounds stochastically
        dequantize     codes, scales, tensor_scale                 values float32 [cases, rows, columns]
        gemm           a_codes, a_scales, ... b_codes, b_scales    c float32 [cases, rows, other rows]
        correct        as quantize                                 the parts, values
        correct-gemm   the parts of two matrices                   c
        decompose      as quantize                                 terms, sums, counts
        =============  ==========================================  ==============================================

        Codes and scales have the block axis last, two 4-bit codes a byte, even element in the low nibble
        (:func:`pack_codes`); docs/vectors.md gives every byte. Several outputs come as a tuple in that order or as a
        dict by name; any dtype of the same width will do.

        A parameter named `call` receives a :class:`Call` with shapes, axis, tail, profile and accumulator, and the
        arrays as they are. Without it blocks run along the last axis, which is a multiple of the block.
        A parameter named `out` receives the outputs to fill, full of the byte 0xA5; then nothing need be returned.

        Every group is asked twice. An exception, another shape or dtype, or a changed input is a fault of the function
        (exit code 4); two answers that differ are nondeterminism (7).
    profile
        What is demanded: a profile, or several.
    set
        "smoke", "quick", "full", or a folder with a set of vectors.
    framework, device
        Whose arrays the function takes: "numpy", "torch", "jax", "cupy", or a function that makes an array from a
        NumPy array. Results may come from any of them.
    supports
        `supports(call) -> bool`: which groups the function offers; all of them without it. Others count as skipped.
    require
        "standard": everything of `operation` (of a dict: quantize and dequantize) must be offered; "offered": nothing;
        "full": every operation.
    errors
        How many mismatches to keep.
    statistical
        For kernels that draw their own random numbers: a test in place of a comparison; its verdict is never a pass.
    name, version, description, invocation
        Kept in the report: what the kernel is, and how the check was started.

    >>> import numpy as np
    >>> def mxfp4(x):
    ...     amax = np.abs(x).reshape(*x.shape[:2], -1, 32).max(-1)
    ...     exponent = (amax.view(np.uint32) >> 23).astype(int) - 2
    ...     scales = np.where(np.isfinite(amax), np.maximum(exponent, 0), 255)
    ...     with np.errstate(invalid="ignore"):                  # infinity times zero, under a NaN scale
    ...         y = np.abs(x) * np.ldexp(1.0, 127 - np.repeat(scales, 32, -1))
    ...     levels = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]
    ...     codes = sum((y > t) | ((y == t) & (i % 2 == 1)) for i, t in enumerate(levels))
    ...     codes = np.where(np.repeat(scales, 32, -1) == 255, 0, codes | np.signbit(x) << 3)
    ...     return pack_codes(codes.astype(np.uint8)), scales.astype(np.uint8)
    >>> from fp4proof import pack_codes
    >>> check(mxfp4, "mxfp4/ocp", set="smoke").verdict
    'PASS'
    """
    functions = dict(fn) if isinstance(fn, Mapping) else {operation: fn}
    unknown = [key for key in functions if key not in _core.operation_names()]
    if unknown:
        raise ValueError(f"unknown operation {unknown[0]!r}; there are {', '.join(_core.operation_names())}")
    not_callable = [key for key, function in functions.items() if not callable(function)]
    if not_callable:
        raise TypeError(f"a function is needed for {not_callable[0]}, not {type(functions[not_callable[0]]).__name__}")
    wanted = _profiles(profile)
    main = next(iter(functions.values()), None)
    path = _path_of(main)
    options = {
        "set": os.fspath(set),
        "profiles": wanted,
        "operation": "" if isinstance(fn, Mapping) else operation,
        "accumulator": accumulator,
        "require": require,
        "errors": errors,
        "ignore_codes_under_nan": ignore_codes_under_nan,
        "statistical": statistical,
        "name": name or _name_of(main),
        "version": version,
        "description": description,
        "path": path,
        "sha256": _sha256_of(path),
        "invocation": list(invocation),
    }
    return Report(json.loads(_core.check(Asking(functions, supports, framework, device), options)))


def _profiles(profile: Profiles) -> list[str]:
    if isinstance(profile, (str, os.PathLike, Mapping)):
        return [text_of(profile)]
    return [text_of(one) for one in profile]


def _name_of(function: Any) -> str:
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{module}:{name}" if module else name


def _path_of(function: Any) -> str:
    """The file that a function is written in, "" where there is none."""
    try:
        path = inspect.getsourcefile(inspect.unwrap(function)) or ""
    except TypeError:
        return ""
    return path if os.path.isfile(path) else ""


def _sha256_of(path: str) -> str:
    if not path:
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def assert_conformant(fn: Union[Function, Mapping[str, Function]], profile: Profiles, **arguments: Any) -> Report:
    """:func:`check`, and an :class:`AssertionError` with the report unless it passes. Arguments as there.

    >>> assert_conformant(lambda x: None, "mxfp4/ocp", set="smoke")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    fp4proof.NotConformant: not conformant: ERROR, exit code 4...
    """
    __tracebackhide__ = True
    return require_conformant(check(fn, profile, **arguments))


def plugin(
    library: Union[str, "os.PathLike[str]"],
    profile: Profiles,
    *,
    set: Union[str, "os.PathLike[str]"] = "quick",
    operation: str = "",
    accumulator: str = "",
    require: str = "standard",
    errors: int = 10,
    timeout: float = 60,
    command: Union[str, "os.PathLike[str]"] = "",
) -> Report:
    """Gate a shared library with the interface of conformance/backend.h: `fp4proof run`, as a :class:`Report`.

    The library is loaded in a process of its own, as a kernel that may crash should be, so this needs the command:
    `command`, else the environment variable FP4PROOF_COMMAND, else `fp4proof` on the PATH.
    """
    program = os.fspath(command) or os.environ.get("FP4PROOF_COMMAND") or shutil.which("fp4proof")
    if not program:
        raise FileNotFoundError(
            "the command fp4proof is not on the PATH: build it (README.md), or name it with command= or FP4PROOF_COMMAND"
        )
    wanted = _profiles(profile)
    with tempfile.TemporaryDirectory() as folder:
        document = os.path.join(folder, "report.json")
        arguments = [program, "run", "--backend", os.fspath(library), "--set", os.fspath(set)]
        arguments += [argument for name in wanted for argument in ("--profile", name)]
        arguments += ["--operation", operation] if operation else []
        arguments += ["--accumulate", accumulator] if accumulator else []
        arguments += ["--require", require, "--errors", str(errors), "--timeout", str(timeout)]
        process = subprocess.run([*arguments, "--report", f"json={document}"], capture_output=True, text=True)
        if not os.path.exists(document):
            raise RuntimeError(f"{program} run ended with {process.returncode} and without a report: {process.stderr}")
        return Report.read(document)
