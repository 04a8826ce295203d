#!/usr/bin/env python3
"""fp4proof quantize, dequantize, gemm and compare with --correct: bits against the model in correction_model.py.

Usage: correct_test.py FP4PROOF
"""

import json
import random
import struct

import command
import correction_model as model
import safetensors_file as st

Fraction = model.Fraction
ALPHA = Fraction(1)


def matrix(rows, columns, seed=1, outliers=True):
    generator = random.Random(seed)
    values = []
    for _ in range(rows * columns):
        value = generator.gauss(0, 1) * (16 if outliers and generator.random() < 0.02 else 1)
        values.append(struct.unpack("<f", struct.pack("<f", value))[0])
    return values


def rows_of(values, columns):
    exact = [Fraction(value) for value in values]
    return [exact[i : i + columns] for i in range(0, len(exact), columns)]


def nibbles(content):
    return [code for byte in content for code in (byte & 15, byte >> 4)]


def flat(lists):
    return [item for items in lists for item in items]


class CorrectTest(command.CommandTest):
    def write(self, rows, columns, seed=1, name="in", tensor="w", shape=None, values=None):
        self.values = matrix(rows, columns, seed) if values is None else values
        content = {tensor: ("F32", shape or [rows, columns], st.f32(self.values))}
        st.write(self.folder / name, content)
        return rows_of(self.values, columns)

    def quantize(self, *options, profile="mxfp4/rceil", source="in", target="out"):
        self.expect(0, "quantize", source, target, "--profile", profile, "--dequantize", *options)
        return st.read(self.folder / target)

    def check_part(self, tensors, name, parts):
        self.assertEqual(nibbles(tensors[f"{name}.codes"][2]), flat(part.codes for part in parts))
        self.check_scales(tensors, name, parts)

    def check_scales(self, tensors, name, parts):
        self.assertEqual(list(tensors[f"{name}.scales"][2]), [e + 127 for part in parts for e in part.exponents])
        if parts[0].macro:
            self.assertEqual(list(tensors[f"{name}.macro"][2]), flat(part.macro for part in parts))
            self.assertEqual(tensors[f"{name}.macro"][1], [len(parts), len(parts[0].macro)])

    def check_values(self, tensors, rows):
        expected = flat(row.values for row in rows)
        self.assertEqual(list(st.floats(tensors["w.dequantized"][2])), [float(value) for value in expected])

    def check_dequantize_verb(self, tensors, name="out"):
        self.expect(0, "dequantize", name, "back")
        self.assertEqual(st.read(self.folder / "back")[0]["w"], tensors["w.dequantized"])
        self.expect(0, "lint", name)


class Bits(CorrectTest):
    def test_macro_blocks(self):
        for stack, macro in (("mbs", 128), ("mbs-64", 64), ("mbs-32", 32)):
            rows = [model.Row(row, macro) for row in self.write(4, 320)]
            tensors, metadata = self.quantize("--correct", stack)
            self.assertEqual(sorted(tensors), ["w.codes", "w.dequantized", "w.macro", "w.scales"])
            self.check_part(tensors, "w", [row.first for row in rows])
            self.check_values(tensors, rows)
            self.check_dequantize_verb(tensors)
            self.assertEqual(json.loads(metadata["fp4proof.corrections"])["macro"], {"form": "multiply", "size": macro})

    def test_macro_bytes_that_are_lowered(self):
        # f M of q = RN(6 / M) may exceed 6 * 2^k by rounding; binary32 neighbours of 6 / f find such M.
        words = [struct.unpack("<I", struct.pack("<f", 6 / (1 + b / 256)))[0] for b in range(0, 256, 7)]
        peaks = [struct.unpack("<f", struct.pack("<I", word + step))[0] for word in words for step in (-1, 0, 1)]
        values = flat([peak] + [peak / (i + 2) for i in range(31)] for peak in peaks)
        values = list(struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}f", *values)))
        rows = [model.Row(row, 32) for row in self.write(len(peaks), 32, values=values)]
        tensors, _ = self.quantize("--correct", "mbs-32")
        self.check_part(tensors, "w", [row.first for row in rows])
        self.check_values(tensors, rows)

    def test_residuals(self):
        for stack, macro, alpha, mask in (
            ("resq", 0, ALPHA, "2:4"),
            ("fallback", 0, Fraction(1, 2), "dense"),
            ("rfq", 0, ALPHA, "dense"),
            ("mbs+resq", 128, ALPHA, "2:4"),
            ("mbs+fallback", 128, Fraction(1, 2), "dense"),
        ):
            rows = [model.Row(row, macro, alpha, mask) for row in self.write(3, 256)]
            tensors, metadata = self.quantize("--correct", stack)
            self.check_part(tensors, "w", [row.first for row in rows])
            self.check_part(tensors, "w.residual", [row.residual for row in rows])
            self.check_values(tensors, rows)
            self.check_dequantize_verb(tensors)
            self.assertEqual(metadata["fp4proof.residual"], "codes")

    def test_equal_residuals_keep_the_lower_columns(self):
        values = [6.0] + [1.25, -1.25, 1.25, 1.25, 0.0, 1.0, 0.0, 0.0] * 3 + [1.25] * 7
        rows = [model.Row(row, 0, ALPHA, "2:4") for row in self.write(1, 32, values=values)]
        self.assertIn([0, 1], rows[0].places)
        tensors, _ = self.quantize("--correct", "resq", "--pack-residual")
        self.check_packed(tensors, rows)

    def check_packed(self, tensors, rows):
        groups = len(rows[0].places)
        self.assertEqual(tensors["w.residual.packed_codes"][:2], ("U8", [len(rows), groups]))
        self.assertEqual(tensors["w.residual.places"][:2], ("U8", [len(rows), (groups + 1) // 2]))
        self.assertNotIn("w.residual.codes", tensors)
        codes, places = [], []
        for row in rows:
            nibble = [first | second << 2 for first, second in row.places]
            nibble += [0] * (len(nibble) % 2)
            places += [nibble[i] | nibble[i + 1] << 4 for i in range(0, len(nibble), 2)]
            for group, (first, second) in enumerate(row.places):
                pair = row.residual.codes[4 * group + first], row.residual.codes[4 * group + second]
                codes.append(pair[0] | pair[1] << 4)
        self.assertEqual(list(tensors["w.residual.packed_codes"][2]), codes)
        self.assertEqual(list(tensors["w.residual.places"][2]), places)
        self.check_scales(tensors, "w.residual", [row.residual for row in rows])
        self.check_values(tensors, rows)
        self.check_dequantize_verb(tensors)

    def test_packed_residual(self):
        for columns in (96, 256):
            rows = [model.Row(row, 0, ALPHA, "2:4") for row in self.write(3, columns)]
            tensors, metadata = self.quantize("--correct", "resq", "--pack-residual")
            self.check_packed(tensors, rows)
            self.assertEqual(metadata["fp4proof.residual"], "packed")

    def test_hadamard_plain(self):
        rows = self.write(3, 64)
        transformed = [model.Row(model.hadamard(row)) for row in rows]
        tensors, _ = self.quantize("--correct", "hadamard-16-plain")
        self.check_part(tensors, "w", [row.first for row in transformed])
        expected = flat(model.hadamard(row.values) for row in transformed)
        self.assertEqual(list(st.floats(tensors["w.dequantized"][2])), [float(value) for value in expected])
        self.check_dequantize_verb(tensors)

    def test_values_come_in_the_order_of_the_tensor(self):
        columns, others = 64, 3
        by_row = matrix(2 * others, columns, 5)
        order = [(a * others + c, b) for a in range(2) for b in range(columns) for c in range(others)]
        values = [by_row[row * columns + column] for row, column in order]
        self.write(0, columns, shape=[2, columns, others], values=values)
        rows = [model.Row(row, 0, ALPHA, "2:4") for row in rows_of(by_row, columns)]
        tensors, _ = self.quantize("--correct", "resq", "--axis", "1")
        self.assertEqual(tensors["w.residual.codes"][1], [2, others, columns // 2])
        self.check_part(tensors, "w.residual", [row.residual for row in rows])
        expected = [float(rows[row].values[column]) for row, column in order]
        self.assertEqual(list(st.floats(tensors["w.dequantized"][2])), expected)
        self.check_dequantize_verb(tensors)

    def test_profile_packing(self):
        self.write(4, 128)
        canonical, _ = self.quantize("--correct", "mbs+resq")
        for options in ((), ("--pack-residual",)):
            split = ("--set", "nibble_order=split", "--set", "scale_layout=tiled-128x4", "--packing", "profile")
            packed, _ = self.quantize("--correct", "mbs+resq", *split, *options)
            self.assertEqual(packed["w.dequantized"], canonical["w.dequantized"])
            self.assertNotEqual(packed["w.codes"], canonical["w.codes"])
            self.assertEqual(packed["w.residual.scales"][1], [512])
            self.check_dequantize_verb(packed)

    def test_tiles(self):
        rows = self.write(16, 32)
        tensors, _ = self.quantize("--correct", "tile-16")
        self.assertEqual(tensors["w.scales"][1], [16, 2])
        for tile in range(2):
            part = [row[16 * tile : 16 * tile + 16] for row in rows]
            codes, exponents, _ = model.quantize_row(flat(part), block=256)
            scales = [tensors["w.scales"][2][2 * row + tile] for row in range(16)]
            self.assertEqual(scales, [exponents[0] + 127] * 16)
            stored = flat(nibbles(tensors["w.codes"][2])[32 * row + 16 * tile :][:16] for row in range(16))
            self.assertEqual(stored, codes)
        self.check_dequantize_verb(tensors)

    def test_differences_name_their_place(self):
        rows = self.write(2, 64)
        self.quantize("--correct", "resq")
        residual = model.Row(rows[1], 0, ALPHA, "2:4").residual
        changed = list(self.values)
        column = next(i for i, code in enumerate(residual.codes) if i >= 32 and code != 0)
        changed[64 + column] = -changed[64 + column]
        self.write(2, 64, values=changed)
        self.quantize("--correct", "resq", target="other")
        differences = json.loads(self.expect(1, "diff", "out", "other", "--json").out)["tensors"]
        found = differences["w.residual.codes"]
        self.assertEqual((found["unit"], found["first"]["place"]), ("codes", f"row 1, block 1, element {column - 32}"))

    def test_none_is_plain(self):
        self.write(4, 64)
        self.quantize()
        plain = (self.folder / "out").read_bytes()
        self.quantize("--correct", "none")
        self.assertEqual((self.folder / "out").read_bytes(), plain)

    def test_empty_and_padded(self):
        st.write(self.folder / "in", {"w": ("F32", [0, 64], b""), "z": ("F32", [3, 0], b"")})
        tensors, _ = self.quantize("--correct", "mbs+resq", "--pack-residual")
        self.assertEqual((tensors["w.macro"][1], tensors["z.macro"][1]), ([0, 1], [3, 0]))
        self.check_dequantize_verb(tensors)
        rows = self.write(2, 40)
        padded = [model.Row(row + [Fraction(0)] * 24, 0, ALPHA, "2:4") for row in rows]
        tensors, _ = self.quantize("--correct", "resq", "--tail", "pad")
        self.check_part(tensors, "w.residual", [row.residual for row in padded])
        expected = [float(value) for row in padded for value in row.values[:40]]
        self.assertEqual(list(st.floats(tensors["w.dequantized"][2])), expected)
        self.check_dequantize_verb(tensors)


class Stacks(CorrectTest):
    def test_own_stack_survives_its_file(self):
        own = {"name": "mine/resq-0.75", "base": "resq", "residual": {"alpha": 0.75}}
        (self.folder / "own.json").write_text(json.dumps(own))
        rows = [model.Row(row, 0, Fraction(3, 4), "2:4") for row in self.write(2, 64)]
        tensors, metadata = self.quantize("--correct", "own.json")
        (self.folder / "own.json").unlink()
        self.check_values(tensors, rows)
        self.check_dequantize_verb(tensors)
        stack = json.loads(metadata["fp4proof.corrections"])
        self.assertEqual((stack["name"], stack["residual"]), ("mine/resq-0.75", {"alpha": 0.75, "mask": "2:4"}))
        self.assertIn("corrections mine/resq-0.75", self.expect(0, "info", "out").out)
        shown = json.loads(self.expect(0, "info", "out", "--json").out)["corrections"]
        self.assertEqual(shown, {"stack": stack, "product": 0, "residual": "codes"})

    def test_product_numbers(self):
        self.write(2, 64)
        fresh = ("--correct", "hadamard-16-fresh")
        first, _ = self.quantize(*fresh)
        second, metadata = self.quantize(*fresh, "--product", "3", target="three")
        self.assertEqual(metadata["fp4proof.product"], "3")
        self.assertNotEqual(first["w.codes"], second["w.codes"])
        self.check_dequantize_verb(second, "three")
        gemm = ("gemm", "out:w", "three:w", "no")
        self.expect_error(2, ["Hadamard", "product 3", "out:w", "three:w"], *gemm)
        options = ("--profile", "mxfp4/rceil", "--correct-b", fresh[1], "--product", "3")
        self.expect(0, "gemm", "three:w", "in:w", "c", *options)

    def test_seed(self):
        self.write(4, 64)
        for seed in ("5", "6"):
            corrected, metadata = self.quantize("--correct", "sr", "--seed", seed)
            self.assertEqual(metadata["fp4proof.seed"], seed)
            self.check_dequantize_verb(corrected)
            options = ("--rounding", "stochastic", "--random-bits", "32", "--seed", seed)
            plain, _ = self.quantize(*options, target=f"plain{seed}")
            self.assertEqual(corrected["w.codes"], plain["w.codes"])
        self.assertNotEqual(plain["w.codes"], st.read(self.folder / "plain5")[0]["w.codes"])

    def test_report(self):
        for stack, macro, alpha, options in (
            ("mbs", 128, None, ()),
            ("mbs+resq", 128, ALPHA, ()),
            ("resq", 0, ALPHA, ("--pack-residual",)),
        ):
            rows = self.write(4, 256)
            values = flat(model.Row(row, macro, alpha, "2:4").values for row in rows)
            errors = [y - x for x, y in zip(flat(rows), values)]
            quantize = ("quantize", "in", "out", "--profile", "mxfp4/rceil", "--correct", stack, *options)
            report = json.loads(self.expect(0, *quantize, "--report", "json").out)
            self.assertEqual(report["corrections"]["name"], stack)
            sums = report["tensors"]["w"]
            relative = float(sum(e * e for e in errors) / sum(x * x for x in flat(rows)))
            self.assertAlmostEqual(sums["relative_error"], relative, delta=1e-12 * relative)
            self.assertEqual(sums["max_abs_error"], float(max(map(abs, errors))))
            stored = sum(len(content) for _, _, content in st.read(self.folder / "out")[0].values())
            self.assertEqual(sums["bits_per_element"], 8 * stored / 1024)
            if options:
                continue
            compared = json.loads(
                self.expect(0, "compare", "in", "--profiles", "mxfp4/rceil", "--correct", stack, "--json").out
            )
            self.assertEqual(compared["tensors"]["w"]["mxfp4/rceil"], sums)
            self.assertEqual(compared["corrections"]["name"], stack)

    def test_saturation_is_unknown_after_a_transform(self):
        self.write(4, 64)
        quantize = ("quantize", "in", "out", "--profile", "mxfp4/ocp", "--correct", "hadamard-16", "--report", "json")
        self.assertIsNone(json.loads(self.expect(0, *quantize).out)["tensors"]["w"]["saturated"])


class Products(CorrectTest):
    M, N, K = 3, 2, 1088

    def setUp(self):
        super().setUp()
        self.a = self.write(self.M, self.K, 1, "a", "x")
        self.b = self.write(self.N, self.K, 2, "b", "x")

    def product(self, *options, a="a:x", b="b:x"):
        self.expect(0, "gemm", a, b, "c", *options)
        tensors, metadata = st.read(self.folder / "c")
        return list(st.floats(tensors["C"][2])), metadata

    def expected(self, macro_a, macro_b, alpha, mask="2:4"):
        a = [model.Row(row, macro_a, alpha, mask) for row in self.a]
        b = [model.Row(row, macro_b) for row in self.b]
        return [float(model.product(x, y, macro_a, alpha)) for x in a for y in b]

    def test_b_has_no_residual(self):
        for stack, macro, alpha, mask in (
            ("resq", 0, ALPHA, "2:4"),
            ("fallback", 0, Fraction(1, 2), "dense"),
            ("mbs", 128, None, "dense"),
            ("mbs+resq", 128, ALPHA, "2:4"),
        ):
            options = ("--profile", "mxfp4/rceil", "--correct", stack)
            expected = self.expected(macro, macro, alpha, mask)
            product, metadata = self.product(*options)
            self.assertEqual(product, expected, stack)
            self.assertEqual(json.loads(metadata["fp4proof.corrections_a"])["name"], stack)
            self.assertEqual("fp4proof.corrections_b" in metadata, macro != 0)
            self.expect(0, "quantize", "a", "qa", "--profile", "mxfp4/rceil", "--correct", stack)
            b_stack = {0: (), 128: ("--correct-b", "mbs")}[macro]
            self.assertEqual(self.product("--profile", "mxfp4/rceil", *b_stack, a="qa:x")[0], expected)
            self.assertEqual(self.product(*options, a="qa:x")[0], expected)
        self.expect(0, "quantize", "a", "qa", "--profile", "mxfp4/rceil", "--correct", stack, "--pack-residual")
        self.expect(0, "quantize", "b", "qb", "--profile", "mxfp4/rceil", "--correct", "mbs")
        self.assertEqual(self.product(a="qa:x", b="qb:x")[0], expected)

    def test_another_stack_for_b(self):
        options = ("--profile", "mxfp4/rceil", "--correct-b", "mbs")
        expected = [
            float(model.dot_in_order(x.first.weighted, y.first.weighted, 32, lambda s, y=y: y.first.weights[s], 128))
            for x in map(model.Row, self.a)
            for y in (model.Row(row, 128) for row in self.b)
        ]
        product, metadata = self.product(*options)
        self.assertEqual(product, expected)
        self.assertNotIn("fp4proof.corrections_a", metadata)

    def test_refusals(self):
        gemm = ("gemm", "a:x", "b:x", "no", "--profile", "mxfp4/rceil")
        both = ["both have a residual", '"a:x"', '"b:x"']
        self.expect_error(2, both, *gemm, "--correct", "resq", "--correct-b", "resq")
        tensor_core = ("--accumulate", "tc:blackwell-mxf4")
        self.expect_error(2, ["tc:blackwell-mxf4", "seq512"], *gemm, "--correct", "mbs", *tensor_core)
        self.expect_error(2, ["Hadamard", "on B"], *gemm, "--correct", "hadamard-16", "--correct-b", "none")
        self.expect_error(2, ["macro blocks of 128", "64"], *gemm, "--correct", "mbs", "--correct-b", "mbs-64")
        hif4 = ("--profile", "hif4/gcc", "--correct", "mbs")
        self.expect_error(2, ["operand", "a:x", "hif4/gcc", "MX"], *gemm[:4], *hif4)
        self.expect_error(2, ["did you mean 'resq'?"], *gemm, "--correct", "resk")
        self.expect_error(2, ["--product", "fresh"], *gemm, "--correct", "resq", "--product", "1")
        self.expect(0, "quantize", "a", "qa", "--profile", "mxfp4/rceil", "--correct", "resq")
        stored = ("gemm", "qa:x", "b:x", "no", "--profile", "mxfp4/rceil")
        self.expect_error(2, ["stack resq, not under stack mbs", "qa:x"], *stored, "--correct", "mbs")
        self.assertNotIn("no", self.names())


class Refusals(CorrectTest):
    def setUp(self):
        super().setUp()
        self.write(4, 96)

    def refuse(self, words, *options, profile="mxfp4/rceil", code=2):
        self.expect_error(code, words, "quantize", "in", "no", "--profile", profile, *options)
        self.assertNotIn("no", self.names())

    def test_combinations(self):
        self.refuse(["mbs", "hif4/gcc", "MX"], "--correct", "mbs", profile="hif4/gcc")
        self.refuse(["mbs", "mxfp4/ocp", "rceil"], "--correct", "mbs", profile="mxfp4/ocp")
        self.refuse(["mbs-divide", "even"], "--correct", "mbs-divide")
        self.refuse(["three-quarters", "floor"], "--correct", "three-quarters")
        self.refuse(["resq", "stochastic"], "--correct", "resq", profile="mxfp4/rceil-sr")
        self.refuse(["tile-8", "MX"], "--correct", "tile-8", profile="nvfp4/direct")
        self.refuse(["hadamard-16", "1D"], "--correct", "hadamard-16", profile="mxfp4-2d/ocp")
        self.refuse(["resq", "refuses"], "--correct", "resq", "--set", "nan=error")

    def test_options_at_odds(self):
        self.refuse(["did you mean 'mbs'?"], "--correct", "mbz")
        self.refuse(["no.json", "No such file"], "--correct", "no.json")
        self.refuse(["--pack-residual", "plain quantization", "resq"], "--pack-residual")
        self.refuse(["--pack-residual", "stack mbs", "resq"], "--pack-residual", "--correct", "mbs")
        self.refuse(["--pack-residual", "stack rfq"], "--pack-residual", "--correct", "rfq")
        self.refuse(["mxfp8-e4m3/rceil", "4-bit"], "--pack-residual", "--correct", "resq", profile="mxfp8-e4m3/rceil")
        self.refuse(["--product", "fresh", "--correct"], "--product", "1")
        self.refuse(["--product"], "--product", "1", "--correct", "hadamard-16")
        self.refuse(["--product"], "--product", "4294967296", "--correct", "hadamard-16-fresh")
        self.refuse(["given more than once"], "--correct", "resq", "--correct", "mbs")
        profiles = ("--profiles", "mxfp4/rceil,hif4/gcc")
        self.expect_error(2, ["mbs", "hif4/gcc"], "compare", "in", *profiles, "--correct", "mbs")

    def test_shapes(self):
        self.refuse(['tensor "w"', "96", "64", "Hadamard"], "--correct", "hadamard-64")
        self.refuse(['tensor "w"', "the row axis of length 4", "8"], "--correct", "tile-8")

    def test_files_are_not_replaced(self):
        text = json.dumps({"name": "mine/s", "base": "resq"})
        (self.folder / "s.json").write_text(text)
        quantize = ("quantize", "in", "s.json", "--profile", "mxfp4/rceil", "--correct", "s.json")
        self.expect_error(2, ["is the input"], *quantize)
        gemm = ("gemm", "in:w", "in:w", "s.json", "--profile", "mxfp4/rceil")
        self.expect_error(2, ["is the input"], *gemm, "--correct", "s.json")
        self.expect_error(2, ["is the input"], *gemm, "--correct-b", "s.json")
        self.assertEqual((self.folder / "s.json").read_text(), text)

    def test_two_tensors_with_one_place(self):
        content = {name: ("F32", [32], st.f32(matrix(1, 32))) for name in ("w", "w.residual")}
        st.write(self.folder / "in", content)
        self.refuse(["w.residual.codes"], "--correct", "resq")


class Files(CorrectTest):
    """What is stored is read with suspicion."""

    def setUp(self):
        super().setUp()
        self.write(2, 64)

    def refuse(self, words, change, code=3):
        tensors, metadata = st.read(self.folder / "out")
        change(tensors, metadata)
        order = dict(sorted(tensors.items(), key=lambda item: (item[1][0] != "F32", item[0])))
        st.write(self.folder / "bad", order, metadata)
        self.expect_error(code, words, "dequantize", "bad", "no")
        self.assertNotIn("no", self.names())
        outcome = self.expect(3, "lint", "bad")
        for word in words:
            self.assertIn(word, outcome.out)

    def set_metadata(self, key, value):
        def change(_, metadata):
            if value is None:
                del metadata[key]
            else:
                metadata[key] = value

        return change

    def test_metadata(self):
        _, metadata = self.quantize("--correct", "mbs+resq")
        stack = json.loads(metadata["fp4proof.corrections"])
        self.refuse(["fp4proof.product", "stands without"], self.set_metadata("fp4proof.corrections", None))
        self.refuse(["fp4proof.product", "missing"], self.set_metadata("fp4proof.product", None))
        self.refuse(["product", "32 bits"], self.set_metadata("fp4proof.product", "4294967296"))
        self.refuse(["fp4proof.residual", "missing"], self.set_metadata("fp4proof.residual", None))
        self.refuse(["unknown form"], self.set_metadata("fp4proof.residual", "other"))
        mbs = self.expect(0, "list", "corrections", "mbs", "--json").out
        self.refuse(["fp4proof.residual", "without a residual"], self.set_metadata("fp4proof.corrections", mbs))
        for text, word in (
            ("[]", "fp4proof.corrections"),
            ("{", "fp4proof.corrections"),
            (json.dumps({**stack, "macro": {"size": 64, "form": "multiply"}}), "not those of the named stack"),
            (json.dumps({**stack, "name": "mine/a", "macro": {"size": 64}}), "fp4proof.corrections"),
            (json.dumps({**stack, "name": "mine/a", "macro": {"size": 128, "form": "divide"}}), "even"),
            (json.dumps({**stack, "name": "mine/a", "hadamard": {"size": 64, "signs": "none"}, "more": 1}), "more"),
        ):
            self.refuse([word], self.set_metadata("fp4proof.corrections", text))
        longer = json.dumps({**stack, "name": "mine/a", "macro": {"size": 32, "form": "multiply"}})
        self.refuse(["w.macro", "[2, 2]"], self.set_metadata("fp4proof.corrections", longer))

    def test_tensors(self):
        tensors, _ = self.quantize("--correct", "mbs+resq")
        for name in sorted(set(tensors) - {"w.dequantized"}):
            self.refuse([name, "missing"], lambda tensors, _, name=name: tensors.pop(name))

    def test_impossible_places(self):
        self.quantize("--correct", "resq", "--pack-residual")

        def change(tensors, _):
            dtype, shape, content = tensors["w.residual.places"]
            tensors["w.residual.places"] = (dtype, shape, b"\x05" + content[1:])

        self.refuse(["w.residual.places", "row 0, group 0"], change)

    def test_lint_counts_two_of_four(self):
        tensors, metadata = self.quantize("--correct", "resq")
        dtype, shape, _ = tensors["w.residual.codes"]
        tensors["w.residual.codes"] = (dtype, shape, b"\x11\x01" + bytes(62))
        order = dict(sorted(tensors.items(), key=lambda item: (item[1][0] != "F32", item[0])))
        st.write(self.folder / "bad", order, metadata)
        self.assertIn("elements 0 to 3 of row 0 hold 3 codes", self.expect(3, "lint", "bad").out)

    def test_lint_names_a_stray_tensor(self):
        tensors, metadata = self.quantize("--correct", "mbs")
        tensors["w.residual.codes"] = tensors["w.codes"]
        order = dict(sorted(tensors.items(), key=lambda item: (item[1][0] != "F32", item[0])))
        st.write(self.folder / "bad", order, metadata)
        self.assertIn('tensor "w.residual.codes" belongs to no tensor', self.expect(3, "lint", "bad").out)

    def test_random_damage_is_reported(self):
        self.quantize("--correct", "mbs+resq", "--pack-residual")
        good = (self.folder / "out").read_bytes()
        (length,) = struct.unpack("<Q", good[:8])
        generator = random.Random(7)
        codes = set()
        for _ in range(100):
            bad = bytearray(good)
            for _ in range(generator.randint(1, 3)):
                bad[generator.randrange(8 + length)] = generator.randrange(256)
            (self.folder / "bad").write_bytes(bytes(bad))
            outcome = self.run_command("dequantize", "bad", "back")
            codes.add(outcome.code)
            self.assertIn(outcome.code, (0, 3, 5), outcome.err)
            self.assertEqual("error:" in outcome.err, outcome.code != 0)
        self.assertIn(3, codes)


if __name__ == "__main__":
    command.main()
