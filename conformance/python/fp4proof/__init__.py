"""Bit-exact reference and conformance suite for 4-bit block-scaled floating point: MXFP4, MXFP8, HiF4, NVFP4.

Two things in one package. The reference turns arrays into codes and scales, to the bit and under a named rule:

>>> import numpy as np, fp4proof
>>> x = np.zeros((1, 32), np.float32)
>>> x[0, :4] = [0.5, 6.0, 0.25, -0.75]
>>> q = fp4proof.quantize(x, "mxfp4/ocp")
>>> q.scales
array([[127]], dtype=uint8)
>>> q.codes[0, :2].tolist()           # two codes a byte, even element in the low nibble
[113, 160]
>>> fp4proof.dequantize(q)[0, :4].tolist()
[0.5, 6.0, 0.0, -1.0]

The verifier asks a kernel of yours thousands of sharp questions and compares every bit of its answers:

>>> def kernel(x):                    # float32 [cases, rows, columns] -> codes, scales
...     q = fp4proof.quantize(x, "mxfp4/ceil")
...     return q.codes, q.scales
>>> report = fp4proof.check(kernel, profile="mxfp4/ocp", set="smoke")
>>> report.passed, report.exit_code
(False, 1)

`print(report)` shows what is wrong and why; :func:`assert_conformant` makes a test of it. docs/python.md is the manual.
"""

from fp4proof import _core
from fp4proof._asking import Call, Tensor
from fp4proof._check import assert_conformant, check, plugin
from fp4proof._names import accumulators, corrections, operations, profiles, sets
from fp4proof._packing import pack_codes, unpack_codes
from fp4proof._report import NotConformant, Report
from fp4proof._studies import Decomposition, Explanation, decompose, explain
from fp4proof._tensors import Part, Quantized, dequantize, gemm, quantize

__version__: str = _core.version

__all__ = [
    "Call",
    "Decomposition",
    "Explanation",
    "NotConformant",
    "Part",
    "Quantized",
    "Report",
    "Tensor",
    "accumulators",
    "assert_conformant",
    "check",
    "corrections",
    "decompose",
    "dequantize",
    "explain",
    "gemm",
    "operations",
    "pack_codes",
    "plugin",
    "profiles",
    "quantize",
    "sets",
    "unpack_codes",
]
