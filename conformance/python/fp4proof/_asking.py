"""A function under test, asked about groups of cases: what it is given, and what it must give back."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import os
import traceback
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from fp4proof._arrays import AnyArray, Framework, host_array, maker_of

#: What outputs are filled with before a function that takes `out` runs.
POISON = 0xA5

#: Tensors of words that are numbers, and not just bits.
NUMBERS = {"input", "values", "tensor_scale", "a_tensor_scale", "b_tensor_scale", "c"}

#: Operations that cut their input into blocks.
CUTTING = {"quantize", "correct", "decompose"}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Name, dtype (uint8, uint32 or float32) and shape of an array that a function is given or must give."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.dtype} {list(self.shape)}"


@dataclasses.dataclass(frozen=True)
class Call:
    """A question about a group of cases of one shape: what `fp4proof_call` is in conformance/backend.h.

    A function that has a parameter `call` gets one, and the arrays as they are. A function that has none is asked in
    the plain form: blocks run along the last axis, and the axis is a multiple of the block.
    """

    operation: str  #: quantize, dequantize, gemm, correct, correct-gemm, decompose
    profile: str  #: name of the profile
    profile_fields: Mapping[str, Any]  #: every choice of it
    correction: str  #: name of the stack of corrections, or ""
    accumulator: str  #: products: order of the sum, or ""
    group: str  #: name of the group, for example "3x64-axis0-pad"
    cases: int  #: the leading dimension of every array
    rows: int
    columns: int  #: of the input and of values; k of a product
    other_rows: int  #: rows of B
    axis: int  #: blocks run along the columns (1) or the rows (0) of a case
    tail: str  #: "error", or "pad": the last block is filled up with zeros, which are stored
    block: tuple[int, int]  #: rows and columns of a block
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    @property
    def is_plain(self) -> bool:
        return self.operation not in CUTTING or (self.axis == 1 and self.tail == "error")


class Fault(Exception):
    """What a function did wrong; the text goes into the report."""


def call_of(question: str) -> Call:
    """A question as the verifier writes it."""
    fields = json.loads(question)
    fields["profile_fields"] = json.loads(fields.pop("profile_json"))
    fields["tail"] = "pad" if fields["tail"] else "error"
    fields["block"] = tuple(fields["block"])
    for side in ("inputs", "outputs"):
        fields[side] = tuple(_tensor_of(entry) for entry in fields[side])
    return Call(**fields)


def _tensor_of(entry: Mapping[str, Any]) -> Tensor:
    words = "float32" if entry["name"] in NUMBERS else "uint32"
    return Tensor(entry["name"], words if entry["dtype"] == 2 else "uint8", tuple(entry["shape"]))


def plain_call(call: Call) -> Call:
    """The same question with the block axis last and whole blocks."""
    rows, columns = (call.rows, call.columns) if call.axis == 1 else (call.columns, call.rows)
    padded_rows = math.ceil(rows / call.block[0]) * call.block[0]
    padded_columns = math.ceil(columns / call.block[1]) * call.block[1]

    def padded(tensor: Tensor, is_input: bool) -> Tensor:
        shape = list(tensor.shape)
        if len(shape) > 1:
            shape[1] = padded_rows
        if len(shape) > 2 and (is_input or tensor.name in ("values", "terms")):
            shape[2] = padded_columns
        return dataclasses.replace(tensor, shape=tuple(shape))

    return dataclasses.replace(
        call,
        rows=padded_rows,
        columns=padded_columns,
        axis=1,
        tail="error",
        inputs=tuple(padded(tensor, True) for tensor in call.inputs),
        outputs=tuple(padded(tensor, False) for tensor in call.outputs),
    )


def plain_input(array: AnyArray, call: Call, plain: Tensor) -> AnyArray:
    """An input of `call` in the form of the plain call."""
    if call.axis == 0:
        array = array.swapaxes(1, 2)
    missing = [(0, wanted - found) for wanted, found in zip(plain.shape, array.shape)]
    return np.ascontiguousarray(np.pad(array, missing))


def parameters_of(function: Callable[..., Any]) -> set[str]:
    """Names of the parameters that can be given by name; none where Python cannot tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {parameter.name for parameter in found if parameter.kind in by_name}


class Asking:
    """Functions by operation, as the extension module asks them."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        supports: Optional[Callable[[Call], bool]] = None,
        framework: Framework = "numpy",
        device: Any = None,
    ) -> None:
        self._functions = functions
        self._supports = supports
        self._framework = framework
        self._make = maker_of(framework, device)

    def supports(self, question: str) -> bool:
        call = call_of(question)
        if call.operation not in self._functions:
            return False
        if self._supports is None:
            return True
        try:
            return bool(self._supports(call))
        except Exception as error:
            raise Fault("supports() " + raised_text(error)) from error

    def answer(self, question: str, inputs: Sequence[npt.NDArray[np.uint8]]) -> list[npt.NDArray[np.uint8]]:
        call = call_of(question)
        function = self._functions[call.operation]
        given = [
            data.view(tensor.dtype).reshape(tensor.shape) for data, tensor in zip(inputs, call.inputs)
        ]
        asked = call
        if not call.is_plain and "call" not in parameters_of(function):
            asked = plain_call(call)
            given = [plain_input(array, call, tensor) for array, tensor in zip(given, asked.inputs)]
        outputs = self._run(function, asked, given)
        return [_bytes_like(output, tensor) for output, tensor in zip(outputs, call.outputs)]

    def _run(self, function: Callable[..., Any], call: Call, given: Sequence[AnyArray]) -> list[AnyArray]:
        arrays = [self._make(array) for array in given]
        if self._framework == "numpy":
            for array in arrays:
                array.flags.writeable = False
        named: dict[str, Any] = {}
        parameters = parameters_of(function)
        if "call" in parameters:
            named["call"] = call
        if "out" in parameters:
            named["out"] = tuple(self._make(_poisoned(tensor)) for tensor in call.outputs)
        try:
            returned = function(*arrays, **named)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: a kernel that leaves is no kernel that is done
            raise Fault("the function " + raised_text(error)) from error
        for tensor, array, original in zip(call.inputs, arrays, given):
            if host_array(array).tobytes() != original.tobytes():
                raise Fault(f"the function changed its input {tensor.name}")
        return outputs_of(named["out"] if "out" in named else returned, call)


def _poisoned(tensor: Tensor) -> AnyArray:
    size = math.prod(tensor.shape) * np.dtype(tensor.dtype).itemsize
    return np.full(size, POISON, np.uint8).view(tensor.dtype).reshape(tensor.shape)


def outputs_of(returned: Any, call: Call) -> list[AnyArray]:
    """What a function returned as NumPy arrays of the right shapes, or a fault that says what is wrong."""
    wanted = ", ".join(map(str, call.outputs))
    if isinstance(returned, Mapping):
        names = [tensor.name for tensor in call.outputs]
        if sorted(returned) != sorted(names):
            raise Fault(f"the function returned {sorted(returned)} where {wanted} is needed")
        returned = [returned[name] for name in names]
    elif not isinstance(returned, (tuple, list)):
        returned = [returned]
    if len(returned) != len(call.outputs):
        what = "nothing" if len(returned) == 1 and returned[0] is None else f"{len(returned)} arrays"
        raise Fault(f"the function returned {what} where {wanted} is needed")
    return [_checked(output, tensor) for output, tensor in zip(returned, call.outputs)]


def _checked(output: Any, tensor: Tensor) -> AnyArray:
    try:
        array = host_array(output)
    except Exception as error:
        raise Fault(f"the function returned for {tensor.name} a {type(output).__name__}: {error}") from error
    if array.dtype.itemsize != np.dtype(tensor.dtype).itemsize or array.dtype.kind in "bOSUc":
        raise Fault(f"the function returned {tensor.name} of dtype {array.dtype.name} where {tensor} is needed")
    if array.shape != tensor.shape:
        hint = ""
        if tensor.name.endswith("codes") and array.shape == (*tensor.shape[:-1], 2 * tensor.shape[-1]):
            hint = ": two 4-bit codes share a byte, see fp4proof.pack_codes"
        raise Fault(f"the function returned {tensor.name} of shape {list(array.shape)} where {tensor} is needed{hint}")
    return array


def _bytes_like(output: AnyArray, tensor: Tensor) -> npt.NDArray[np.uint8]:
    """The bytes of an output, without what the plain form padded."""
    kept = output[tuple(slice(extent) for extent in tensor.shape)]
    return np.frombuffer(np.ascontiguousarray(kept).tobytes(), np.uint8)


def raised_text(error: BaseException) -> str:
    """'raised ValueError: text (kernel.py:12, in quantize)', with the innermost place that is not ours."""
    here = os.path.dirname(os.path.abspath(__file__))
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.dirname(os.path.abspath(frame.filename)) != here
    ]
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    text = " ".join(str(error).split())
    return f"raised {type(error).__name__}{': ' + text if text else ''}{place}"
