"""Checks mxfp4_unit.sv under cocotb: against exported vectors, and against the reference itself.

FP4PROOF_VECTORS  what `fp4proof export --format hex --words block` wrote
FP4PROOF_PLAIN    libfp4proof_plain.so
"""

import ctypes
import json
import os
import pathlib
import random

import cocotb
from cocotb.triggers import Timer

ONE = 0x3F800000  # the tensor scale of a profile that has none
MOST_SHOWN = 10


class Group:
    """An exported group: its sidecar, and each column as a list of integers, one a word."""

    def __init__(self, table, group):
        folder = pathlib.Path(os.environ["FP4PROOF_VECTORS"]) / table
        self.sidecar = json.loads((folder / f"{group}.json").read_text())
        self.cases = self.sidecar["cases"]
        self.case_ids = self.sidecar["case_ids"]
        self.columns = {}
        for name, file in self.sidecar["files"].items():
            lines = (folder / name).read_text().splitlines()
            self.columns[file["column"]] = [int(line, 16) for line in lines if not line.startswith("//")]

    def words(self, column, case):
        """The words of one case."""
        per_case = len(self.columns[column]) // self.cases
        return self.columns[column][case * per_case : (case + 1) * per_case]


class Reference:
    """The functions of fp4proof_plain.h that this bench needs, for MXFP4."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["FP4PROOF_PLAIN"])
        self.library.fp4proof_last_error.restype = ctypes.c_char_p
        self.profile = self.library.fp4proof_profile(b"mxfp4/ocp")
        self.require(self.profile)

    def require(self, status):
        assert status >= 0, self.library.fp4proof_last_error().decode()

    def dequantize(self, codes, scale):
        values = (ctypes.c_uint * 32)()
        self.require(
            self.library.fp4proof_dequantize_block(
                self.profile, codes.to_bytes(16, "little"), bytes([scale]), ONE, values
            )
        )
        return list(values)

    def dot(self, a_codes, a_scale, b_codes, b_scale):
        word = ctypes.c_uint()
        a = (self.profile, a_codes.to_bytes(16, "little"), bytes([a_scale]), ONE)
        b = (self.profile, b_codes.to_bytes(16, "little"), bytes([b_scale]), ONE)
        self.require(self.library.fp4proof_dot(*a, *b, 1, b"seq", ctypes.byref(word)))
        return word.value


def report(dut, compared, wrong):
    assert compared > 0
    dut._log.info("%d compared, %d wrong", compared, len(wrong))
    for text in wrong[:MOST_SHOWN]:
        dut._log.error("MISMATCH %s", text)
    assert not wrong, f"{len(wrong)} of {compared} differ, the first in {wrong[0]}"


async def decode(dut, code, scale):
    dut.code.value = code
    dut.scale.value = scale
    await Timer(1, "ns")
    return int(dut.value.value)


async def multiply(dut, a_codes, a_scale, b_codes, b_scale):
    dut.a_codes.value = a_codes
    dut.a_scale.value = a_scale
    dut.b_codes.value = b_codes
    dut.b_scale.value = b_scale
    await Timer(1, "ns")
    return int(dut.dot.value)


@cocotb.test()
async def decoder_gives_the_exported_values(dut):
    group = Group("dequantize.mxfp4.ocp", "1x32")
    wrong = []
    for k in range(group.cases):
        (codes,) = group.words("codes", k)
        (scale,) = group.words("scales", k)
        (values,) = group.words("values", k)
        for i in range(32):
            code = codes >> 4 * i & 0xF
            expected = values >> 32 * i & 0xFFFFFFFF
            actual = await decode(dut, code, scale)
            if actual != expected:
                wrong.append(
                    f"case {group.case_ids[k]}, element {i}: code {code} under scale {scale} "
                    f"gives {actual:08x}, must be {expected:08x}"
                )
    report(dut, 32 * group.cases, wrong)


@cocotb.test()
async def dot_gives_the_exported_products(dut):
    compared, wrong = 0, []
    for name in ("7x7x32-seq512", "16x16x32-seq512"):
        group = Group("gemm.mxfp4.ocp", name)
        columns = group.sidecar["parameters"]["other_rows"]
        for k in range(group.cases):
            a = list(zip(group.words("a_codes", k), group.words("a_scales", k)))
            b = list(zip(group.words("b_codes", k), group.words("b_scales", k)))
            for place, expected in enumerate(group.words("c", k)):
                m, n = divmod(place, columns)
                actual = await multiply(dut, *a[m], *b[n])
                compared += 1
                if actual != expected:
                    wrong.append(f"case {group.case_ids[k]}, c[{m}][{n}]: {actual:08x}, must be {expected:08x}")
    report(dut, compared, wrong)


@cocotb.test()
async def decoder_and_dot_follow_the_reference(dut):
    reference = Reference()
    draw = random.Random(4)
    compared, wrong = 0, []
    every_code = sum(code << 4 * code for code in range(16))
    for scale in range(256):
        expected = reference.dequantize(every_code, scale)
        code = draw.randrange(16)
        actual = await decode(dut, code, scale)
        compared += 1
        if actual != expected[code]:
            wrong.append(f"code {code} under scale {scale}: {actual:08x}, must be {expected[code]:08x}")
    for k in range(1500):
        a_codes, b_codes = draw.getrandbits(128), draw.getrandbits(128)
        a_scale = draw.randrange(256)
        # Half of the pairs lie around the smallest numbers, where products are rounded.
        b_scale = draw.randrange(256) if k % 2 else min(255, max(0, draw.randrange(96, 144) - a_scale))
        expected = reference.dot(a_codes, a_scale, b_codes, b_scale)
        actual = await multiply(dut, a_codes, a_scale, b_codes, b_scale)
        compared += 1
        if actual != expected:
            wrong.append(
                f"random dot {k}, scales {a_scale} and {b_scale}, codes {a_codes:032x} and {b_codes:032x}: "
                f"{actual:08x}, must be {expected:08x}"
            )
    report(dut, compared, wrong)
