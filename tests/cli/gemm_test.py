#!/usr/bin/env python3
"""fp4proof gemm against sums of exact fractions.

Usage: gemm_test.py FP4PROOF
"""

import fractions
import random

import command
import safetensors_file as st


def rounded(value):
    """A fraction rounded once to binary32, ties to even; far from overflow and underflow."""
    if value == 0:
        return 0.0
    exponent = 0
    while abs(value) >= 2 ** (exponent + 24):
        exponent += 1
    while abs(value) < 2 ** (exponent + 23):
        exponent -= 1
    return float(round(value / fractions.Fraction(2) ** exponent)) * 2.0**exponent


class Gemm(command.CommandTest):
    M, N, K = 5, 3, 1088

    def setUp(self):
        super().setUp()
        generator = random.Random(1)
        for name, rows in (("a", self.M), ("b", self.N)):
            values = [generator.gauss(0, 1) for _ in range(rows * self.K)]
            st.write(self.folder / f"{name}.safetensors", {"x": ("F32", [rows, self.K], st.f32(values))})

    def dequantized(self, file, profile):
        self.expect(0, "quantize", file, f"q{file}", "--profile", profile, "--dequantize")
        values = st.floats(st.read(self.folder / f"q{file}")[0]["x.dequantized"][2])
        values = [fractions.Fraction(value) for value in values]
        return [values[i : i + self.K] for i in range(0, len(values), self.K)]

    def product(self, *options, a="a.safetensors:x", b="b.safetensors:x"):
        self.expect(0, "gemm", a, b, "c.safetensors", *options)
        tensors, metadata = st.read(self.folder / "c.safetensors")
        self.assertEqual(tensors["C"][:2], ("F32", [self.M, self.N]))
        return st.floats(tensors["C"][2]), metadata

    def expected(self, a, b, block, chunk):
        """Block products rounded to binary32 and added in order, a new sum every `chunk` elements."""
        result = []
        for row in a:
            for other in b:
                total = None
                for start in range(0, self.K, chunk):
                    sum_ = 0.0
                    for at in range(start, min(self.K, start + chunk), block):
                        dot = sum(x * y for x, y in zip(row[at : at + block], other[at : at + block]))
                        sum_ = rounded(fractions.Fraction(sum_) + fractions.Fraction(rounded(dot)))
                    total = sum_ if total is None else rounded(fractions.Fraction(total) + fractions.Fraction(sum_))
                result.append(total)
        return tuple(result)

    def test_accumulators(self):
        for profile, block in (("mxfp4/ocp", 32), ("hif4/gcc", 64), ("mxfp8-e4m3/ocp", 32)):
            a, b = self.dequantized("a.safetensors", profile), self.dequantized("b.safetensors", profile)
            named = ("--profile", profile)
            product, metadata = self.product(*named)
            self.assertEqual(product, self.expected(a, b, block, 512))
            self.assertEqual(metadata["fp4proof.accumulator"], "seq512")
            self.assertEqual(self.product(*named, "--accumulate", "seq")[0], self.expected(a, b, block, self.K))
            exact = tuple(rounded(sum(x * y for x, y in zip(row, other))) for row in a for other in b)
            self.assertEqual(self.product(*named, "--accumulate", "exact")[0], exact)

    def test_two_profiles(self):
        a, b = self.dequantized("a.safetensors", "mxfp8-e4m3/ocp"), self.dequantized("b.safetensors", "mxfp4/rceil")
        product, metadata = self.product("--profile", "mxfp8-e4m3/ocp", "--profile-b", "mxfp4/rceil")
        self.assertEqual(product, self.expected(a, b, 32, 512))
        self.assertEqual(metadata["fp4proof.profile_b"], "mxfp4/rceil")

    def test_quantized_operands(self):
        fresh, _ = self.product("--profile", "mxfp4/ocp")
        for packing in ("canonical", "profile"):
            options = ("--profile", "mxfp4/ocp", "--set", "nibble_order=split", "--packing", packing)
            self.expect(0, "quantize", "a.safetensors", "qa.safetensors", *options)
            stored, _ = self.product("--profile-b", "mxfp4/ocp", a="qa.safetensors:x")
            self.assertEqual(stored, fresh)
        words = ["is quantized under mxfp4/ocp+nibble_order=split, not under mxfp4/ocp"]
        operands = ("qa.safetensors:x", "b.safetensors:x", "no.safetensors")
        self.expect_error(2, words, "gemm", *operands, "--profile", "mxfp4/ocp")
        self.assertFalse((self.folder / "no.safetensors").exists())

    def test_threads_and_seed(self):
        options = ("--profile", "mxfp4/ocp-sr", "--seed", "5")
        product, _ = self.product(*options, "--threads", "1")
        self.assertEqual(self.product(*options, "--threads", "4")[0], product)
        self.assertNotEqual(self.product("--profile", "mxfp4/ocp-sr", "--seed", "6")[0], product)

    def test_operands_that_do_not_fit(self):
        st.write(self.folder / "short.safetensors", {"x": ("F32", [2, 64], bytes(512))})
        gemm = ("gemm", "a.safetensors:x", "short.safetensors:x", "no.safetensors", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["1088", "64"], *gemm)
        gemm = ("gemm", "a.safetensors:x", "b.safetensors:x", "no.safetensors", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["block"], *gemm, "--profile-b", "hif4/gcc")
        options = ("--profile", "mxfp8-e4m3/ocp", "--accumulate", "tc:blackwell-mxf4")
        self.expect_error(2, ["tc:blackwell-mxf4"], *gemm[:4], *options)
        self.expect_error(2, ["no tensor"], "gemm", "a.safetensors:y", *gemm[2:])
        self.assertFalse((self.folder / "no.safetensors").exists())


if __name__ == "__main__":
    command.main()
