"""Arrays of other libraries, to NumPy and from it. NumPy is required; torch, cupy and jax are used when they come."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Union

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]

#: The library whose arrays a function takes, or a function that makes one from a NumPy array.
Framework = Union[str, Callable[[AnyArray], Any]]

FRAMEWORKS = ("numpy", "torch", "jax", "cupy")


def library_of(array: Any) -> str:
    """The library that an object comes from, "torch" for example."""
    return type(array).__module__.partition(".")[0]


def host_array(array: Any) -> AnyArray:
    """The same elements as a NumPy array in host memory; no copy where there is nothing to move.

    Elements that NumPy has no dtype for (torch's bfloat16 and float8) come as unsigned integers of their width.
    """
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    library = library_of(array)
    if library == "torch":
        return _from_torch(array)
    if library == "cupy":
        return np.asarray(array.get())
    if library in ("jax", "jaxlib"):
        return np.asarray(array)
    if hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    raise TypeError(f"an array is needed (NumPy, or anything with DLPack), not {type(array).__name__}")


def _from_torch(tensor: Any) -> AnyArray:
    torch: Any = importlib.import_module("torch")
    tensor = tensor.detach().cpu()
    try:
        return np.asarray(tensor.numpy())
    except TypeError:
        words = {1: torch.uint8, 2: torch.int16}[tensor.element_size()]
        bits = tensor.contiguous().view(words).numpy()
        return np.asarray(bits.view(np.dtype(f"u{tensor.element_size()}")))


def float_array(array: Any) -> tuple[AnyArray, str]:
    """A contiguous array of numbers and what they are: float32, float16, or bfloat16 (as uint16).

    Plain Python numbers become float32. Other dtypes are refused: a conversion would round, and this is no place to
    round in silence.
    """
    if isinstance(array, (int, float, list, tuple)):
        return np.ascontiguousarray(array, dtype=np.float32).reshape(np.shape(array)), "float32"
    is_torch_bfloat16 = library_of(array) == "torch" and str(array.dtype) == "torch.bfloat16"
    numbers = host_array(array)
    name = "bfloat16" if is_torch_bfloat16 else numbers.dtype.name
    if name not in ("float32", "float16", "bfloat16"):
        raise TypeError(
            f"numbers must be float32, float16 or bfloat16, not {name}: convert them yourself, for example with"
            " .astype(numpy.float32), so that no rounding goes unseen"
        )
    if not numbers.dtype.isnative:
        numbers = numbers.astype(numbers.dtype.newbyteorder("="))
    shape = numbers.shape
    numbers = np.ascontiguousarray(numbers).reshape(shape)
    return (numbers.view(np.uint16) if name == "bfloat16" else numbers), name


def word_array(array: Any, what: str) -> npt.NDArray[np.uint32]:
    """A contiguous array of 32-bit words."""
    words = host_array(array)
    if words.dtype.kind not in "ui" or words.dtype.itemsize != 4:
        raise TypeError(f"{what} must be uint32, not {words.dtype.name}")
    return np.ascontiguousarray(words).view(np.uint32).reshape(words.shape)


def byte_array(array: Any, what: str) -> npt.NDArray[np.uint8]:
    """A contiguous array of bytes: any dtype of one byte but bool."""
    found = host_array(array)
    if found.dtype.itemsize != 1 or found.dtype.kind == "b":
        raise TypeError(f"{what} must be uint8, not {found.dtype.name}")
    return np.ascontiguousarray(found).view(np.uint8).reshape(found.shape)


def maker_of(framework: Framework, device: Any = None) -> Callable[[AnyArray], Any]:
    """What turns a NumPy array into an array of the framework, in memory of its own."""
    if callable(framework):
        return framework
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework {framework!r} is none of {', '.join(FRAMEWORKS)}, and no function")
    if framework == "numpy":
        if device is not None:
            raise ValueError("NumPy arrays have no device; name a framework")
        return np.copy
    try:
        library = importlib.import_module(framework)
    except ImportError as error:
        raise ImportError(f"framework {framework!r} cannot be imported: {error}") from error
    if framework == "torch":
        return lambda array: library.from_numpy(np.copy(array)).to(device or "cpu")
    if framework == "cupy":
        return lambda array: library.array(array)
    return lambda array: library.device_put(np.copy(array), device)
