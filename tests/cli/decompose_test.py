#!/usr/bin/env python3
"""fp4proof decompose: its sums, terms, table, picture, files and refusals.

Usage: decompose_test.py FP4PROOF

The terms of E2M1 are computed here a second time from rules D1 to D5 of docs/rules-corrections.md, and must agree bit
for bit; Q(x) comes from 'fp4proof quantize --dequantize'.
"""

import json
import random
import resource
import struct
import xml.etree.ElementTree

import command
import safetensors_file as st

LEVELS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
SUMS = "value quantized_value error scale deadzone grid scale_grid scale_deadzone".split()
COUNTS = "elements excluded in_deadzone zeroed inexact identity_failures".split()


def bf16_normals(count, seed, outliers=0):
    """Normal numbers that bfloat16 holds; every `outliers`-th is forty times as large."""
    generator = random.Random(seed)
    values = []
    for i in range(count):
        scale = 40.0 if outliers and i % outliers == 0 else 1.0
        (word,) = struct.unpack("<I", struct.pack("<f", generator.gauss(0, scale)))
        values.append(struct.unpack("<f", struct.pack("<I", word & 0xFFFF0000))[0])
    return values


def ideal_level(magnitude, largest):
    """The level of E2M1 nearest to 6 |x| / m, ties to the even code. Every comparison is exact for bfloat16."""
    best = 0
    for code in range(1, 8):
        middle = (LEVELS[code - 1] + LEVELS[code]) / 2
        if 6 * magnitude > middle * largest or (6 * magnitude == middle * largest and code % 2 == 0):
            best = code
    return LEVELS[best]


def terms(x, q, largest):
    """6 times error, scale, deadzone and grid term."""
    level = ideal_level(abs(x), largest) if largest else 0.0
    ideal = largest * level * (-1 if x < 0 else 1)
    rest = ideal - 6 * x
    return 6 * q - 6 * x, 6 * q - ideal, rest if level == 0 else 0.0, 0.0 if level == 0 else rest


def products(x, q, t):
    error, scale, deadzone, grid = t
    return (36 * x * x, 36 * q * x, error**2, scale**2, deadzone**2, grid**2, scale * grid, scale * deadzone)


def lane_sums(numbers):
    """`numbers`: the products of consecutive elements. Lane l takes places l, l + 32, ..."""
    result = []
    for kind in range(len(SUMS)):
        lanes = [0.0] * 32
        for i, all_kinds in enumerate(numbers):
            lanes[i % 32] += all_kinds[kind]
        width = 16
        while width:
            lanes = [lanes[i] + lanes[i + width] for i in range(width)]
            width //= 2
        result.append(lanes[0])
    return result


class Expected:
    """The decomposition of rows of bfloat16 numbers `x` with dequantized `q` in blocks of 32."""

    def __init__(self, x, q, columns):
        self.sums = [0.0] * len(SUMS)
        self.counts = dict.fromkeys(COUNTS, 0)
        self.elements = []
        self.blocks = []
        for begin in range(0, len(x), columns):
            self.add_row(x[begin : begin + columns], q[begin : begin + columns])

    def add_row(self, x, q):
        row = []
        for block in range(0, len(x), 32):
            numbers = x[block : block + 32]
            largest = max(abs(value) for value in numbers)
            found = [terms(*pair, largest) for pair in zip(numbers, q[block : block + 32])]
            made = [products(*triple) for triple in zip(numbers, q[block : block + 32], found)]
            self.elements += found
            self.blocks.append(lane_sums(made))
            row += made
            for value, quantized, t in zip(numbers, q[block : block + 32], found):
                self.counts["elements"] += 1
                self.counts["in_deadzone"] += value != 0 and t[2] != 0
                self.counts["zeroed"] += value != 0 and quantized == 0
        total = [0.0] * len(SUMS)
        for segment in range(0, len(row), 4096):
            total = [a + b for a, b in zip(total, lane_sums(row[segment : segment + 4096]))]
        self.sums = [a + b for a, b in zip(self.sums, total)]


class DecomposeTest(command.CommandTest):
    def write(self, **tensors):
        st.write(self.folder / "in.safetensors", tensors)

    def report(self, *options, code=0):
        return json.loads(self.expect(code, "decompose", "in.safetensors", *options, "--json", "-").out)

    def dequantized(self, source, *options):
        """The tensors of a file after quantization under those options, as tuples of floats."""
        self.expect(0, "quantize", source, "q.safetensors", "--dequantize", *options)
        tensors, _ = st.read(self.folder / "q.safetensors")
        suffix = ".dequantized"
        return {name.removesuffix(suffix): st.floats(t[2]) for name, t in tensors.items() if name.endswith(suffix)}


class Sums(DecomposeTest):
    def check(self, split, expected):
        for name, value in expected.counts.items():
            self.assertEqual(split[name], value, name)
        for name, value in zip(SUMS, expected.sums):
            self.assertEqual(float.fromhex(split["sums_hex"][name]), value, name)
            self.assertEqual(split["sums"][name], value, name)

    def test_against_the_rules(self):
        x = bf16_normals(3 * 4192, 1, outliers=77)  # 4192 columns: a whole segment and a part
        self.write(w=("BF16", [3, 4192], st.bf16(x)), v=("BF16", [5, 32], st.bf16(x[:160])))
        for profile in ("mxfp4/ocp", "mxfp4/rceil"):
            q = self.dequantized("in.safetensors", "--profile", profile)
            wanted = {"w": Expected(x, q["w"], 4192), "v": Expected(x[:160], q["v"], 32)}
            for threads in ("1", "3"):
                report = self.report("--profile", profile, "--threads", threads)
                self.assertEqual(report["factor"], 6)
                for name, expected in wanted.items():
                    self.check(report["tensors"][name], expected)
                total = [a + b for a, b in zip(wanted["v"].sums, wanted["w"].sums)]
                self.assertEqual([report["all"]["sums"][name] for name in SUMS], total)

    def test_blocks_and_elements(self):
        x = bf16_normals(6 * 96, 2, outliers=50)
        self.write(w=("BF16", [6, 96], st.bf16(x)), other=("BF16", [32], st.bf16(x[:32])))
        expected = Expected(x, self.dequantized("in.safetensors", "--profile", "mxfp4/ocp")["w"], 96)
        report = self.report("--profile", "mxfp4/ocp", "--tensor", "w", "--blocks", "--elements")
        blocks, elements = report["blocks"]["w"], report["elements"]["w"]
        self.assertEqual((blocks["rows"], blocks["blocks_per_row"]), (6, 3))
        self.assertEqual(blocks["fields"], COUNTS + SUMS)
        self.assertEqual([values[len(COUNTS) :] for values in blocks["values"]], expected.blocks)
        self.assertEqual([values[0] for values in blocks["values"]], [32] * 18)
        self.assertEqual((elements["rows"], elements["columns"]), (6, 96))
        columns = (elements[name] for name in ("error", "scale", "deadzone", "grid"))
        self.assertEqual(list(zip(*columns)), expected.elements)

    def test_a_residual(self):
        """--correct resq: x^ = RN(x1 + x2), x2 the two largest of four of the quantized residual."""
        x = bf16_normals(4 * 64, 3)
        self.write(w=("F32", [4, 64], st.f32(x)))
        options = ("--profile", "mxfp4/rceil")
        x1 = self.dequantized("in.safetensors", *options)["w"]
        r = st.floats(st.f32([a - b for a, b in zip(x, x1)]))
        st.write(self.folder / "r.safetensors", {"w": ("F32", [4, 64], st.f32(r))})
        x2 = list(self.dequantized("r.safetensors", *options)["w"])
        for group in range(0, len(r), 4):
            ranked = sorted(range(group, group + 4), key=lambda i: (-abs(r[i]), i))
            for i in ranked[2:]:
                x2[i] = 0.0
        corrected = st.floats(st.f32([a + b for a, b in zip(x1, x2)]))
        report = self.report(*options, "--correct", "resq")
        self.check(report["tensors"]["w"], Expected(x, corrected, 64))
        self.assertEqual(report["corrections"]["name"], "resq")
        plain = self.report(*options)
        self.assertIsNone(plain["corrections"])
        self.assertLess(report["all"]["relative_error"], plain["all"]["relative_error"])
        self.assertEqual(self.report(*options, "--correct", "none")["tensors"], plain["tensors"])

    def test_derived_numbers(self):
        x = bf16_normals(8 * 64, 4, outliers=30)
        self.write(a=("BF16", [8, 64], st.bf16(x)), b=("F32", [64], st.f32([value / 3 for value in x[:64]])))
        for profile in ("mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp8-e4m3/ocp"):
            report = self.report("--profile", profile, "--tail", "pad")
            self.assertEqual(report["format"], "fp4proof-decomposition/1")
            self.assertEqual(report["profile"]["name"], profile)
            self.assertEqual(report["ranking"], sorted("ab", key=lambda n: -report["tensors"][n]["sums"]["error"]))
            parts = 0
            for split in (*report["tensors"].values(), report["all"]):
                s = split["sums"]
                self.assertEqual(split["identity_failures"], 0)
                self.assertEqual(split["relative_error"], s["error"] / s["value"])
                self.assertEqual(split["floor_relative_error"], (s["deadzone"] + s["grid"]) / s["value"])
                self.assertEqual(split["gain"], s["quantized_value"] / s["value"])
                self.assertEqual(split["deadzone_fraction"], split["in_deadzone"] / split["compared"])
                for name in ("scale", "deadzone", "grid"):
                    self.assertEqual(split[name + "_share"], s[name] / s["error"])
                whole = s["scale"] + s["deadzone"] + s["grid"] + 2 * (s["scale_grid"] + s["scale_deadzone"])
                self.assertAlmostEqual(whole / s["error"], 1, places=12)
                parts += split["error_contribution"]
            self.assertAlmostEqual(parts, 2, places=12)  # the tensors and their whole

    def test_any_number_of_threads(self):
        content = bytes(random.Random(5).randbytes(2 * 96 * 70000))  # several chunks, NaN and infinities among them
        self.write(w=("BF16", [70000, 96], content))
        for profile in ("mxfp4/ocp", "mxfp4-2d/ocp"):
            texts = set()
            for threads in ("1", "4"):
                options = ("--profile", profile, "--svg", "p.svg", "--json", "-", "--threads", threads)
                texts.add(self.expect(0, "decompose", "in.safetensors", *options).out)
                texts.add((self.folder / "p.svg").read_text())
            self.assertEqual(len(texts), 2, profile)
            self.assertGreater(json.loads(max(texts))["all"]["excluded"], 0)


class Words(DecomposeTest):
    def write_three(self):
        x = bf16_normals(3 * 64, 6)
        self.write(
            small=("BF16", [64], st.bf16([value / 16 for value in x[:64]])),
            large=("BF16", [64], st.bf16([value * 16 for value in x[64:128]])),
            middle=("BF16", [64], st.bf16(x[128:])),
            indices=("I64", [8], bytes(64)),
        )

    def first_words(self, *options):
        outcome = self.expect(0, "decompose", "in.safetensors", "--profile", "mxfp4/ocp", *options)
        table = outcome.out.split("\n\n")[0]
        return [line.split("  ")[0].strip('"') for line in table.splitlines()], outcome

    def test_order(self):
        self.write_three()
        names, outcome = self.first_words()
        self.assertEqual(names, ["tensor", "large", "middle", "small", "all"])
        self.assertIn('note: skipped "indices"', outcome.err)
        self.assertIn("All terms are exact", outcome.out)
        self.assertEqual(self.first_words("--sort", "name")[0][1:], ["large", "middle", "small", "all"])
        for term in ("scale", "deadzone", "grid"):
            report = self.report("--profile", "mxfp4/ocp", "--sort", term)
            sums = [report["tensors"][name]["sums"][term] for name in report["ranking"]]
            self.assertEqual(sums, sorted(sums, reverse=True))
            self.assertEqual(self.first_words("--sort", term)[0][1:4], report["ranking"])
        self.assertEqual(self.first_words("--top", "1")[0], ["tensor", "large", "2 more", "all"])
        self.assertEqual(self.first_words("--tensor", "small")[0], ["tensor", "small"])

    def test_files_hold_what_is_printed(self):
        self.write_three()
        printed = self.expect(0, "decompose", "in.safetensors", "--profile", "hif4/gcc", "--json", "-").out
        outcome = self.expect(0, "decompose", "in.safetensors", "--profile", "hif4/gcc", "--json", "j", "--svg", "s")
        self.assertEqual((self.folder / "j").read_text(), printed)
        self.assertIn("|e|^2/|x|^2", outcome.out)
        self.assertEqual(self.names(), ["in.safetensors", "j", "s"])

    def test_inexact_terms(self):
        """Scales that saturate stand so far below the ideal ones that binary64 cannot hold every difference."""
        generator = random.Random(3)
        x = [generator.gauss(0, 1) * 10.0 ** generator.uniform(16, 22) for _ in range(1600)]
        self.write(w=("F32", [100, 16], st.f32(x)))
        report = self.report("--profile", "nvfp4/direct")["all"]
        self.assertGreater(report["inexact"], report["identity_failures"])
        outcome = self.expect(0, "decompose", "in.safetensors", "--profile", "nvfp4/direct")
        self.assertIn(f"Inexact: a term of {report['inexact']} of 1600 elements", outcome.out)

    def test_picture(self):
        x = st.bf16(bf16_normals(40 * 64, 7, outliers=90))
        strange = 'a <b> & "c" \u0001 \u00e9 ' + "long" * 40
        tensors = {f"t{i:02}": ("BF16", [40, 64], x) for i in range(25)}
        tensors[strange] = ("BF16", [64], x[:128])
        tensors["empty"] = ("BF16", [0, 64], b"")
        tensors["zero"] = ("BF16", [64], bytes(128))
        for axis in ("-1", "0"):
            for profile in ("mxfp4/ocp", "mxfp4-2d/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp8-e4m3/ocp"):
                self.write(**tensors)
                options = ("--profile", profile, "--axis", axis, "--svg", "p.svg")
                self.expect(0, "decompose", "in.safetensors", *options)
                page = xml.etree.ElementTree.parse(self.folder / "p.svg").getroot()
                text = "\n".join(page.itertext())
                for words in (f"under {profile}", "first 20 of 28", "t00", "all", "Error of the blocks"):
                    self.assertIn(words, text)
                self.assertNotIn("nan", text)
                self.assertNotIn("inf", text)
        for alone in (strange, "empty", "zero"):
            self.write(**{alone: tensors[alone]})
            self.expect(0, "decompose", "in.safetensors", "--profile", "mxfp4/ocp", "--svg", "p.svg")
            text = (self.folder / "p.svg").read_text()
            self.assertNotIn("nan", text)
            xml.etree.ElementTree.fromstring(text)

    def test_shapes(self):
        x = st.bf16(bf16_normals(64, 8))
        self.write(point=("BF16", [], x[:2]), empty=("F32", [0], b""), short=("BF16", [7], x[:14]))
        report = self.report("--profile", "mxfp4/ocp")
        self.assertEqual({name: t["elements"] for name, t in report["tensors"].items()}, dict(point=1, empty=0, short=7))
        self.write(w=("F32", [32], st.words([0x7FC00000] + [0x3F800000] * 31)))
        outcome = self.expect(0, "decompose", "in.safetensors", "--profile", "mxfp4/ocp", "--svg", "p.svg")
        self.assertIn("Left out: 32 of 32 elements", outcome.out)


class Refusals(DecomposeTest):
    MXFP4 = ("--profile", "mxfp4/ocp")

    def setUp(self):
        super().setUp()
        self.write(w=("F32", [64], st.f32([1.0] * 64)), k=("F32", [7], st.f32([1.0] * 7)))

    def refuse(self, words, *options, code=2, source="in.safetensors"):
        before = self.names()
        self.expect_error(code, words, "decompose", source, *options)
        self.assertEqual(self.names(), before)

    def test_names(self):
        self.refuse(["no tensor", "fp4proof info"], *self.MXFP4, "--tensor", "x")
        self.refuse(["named twice"], *self.MXFP4, "--tensor", "w", "--tensor", "w")
        self.refuse(["did you mean 'mxfp4/ocp'?"], "--profile", "mxfp4/opc")
        self.refuse(["did you mean 'resq'?"], *self.MXFP4, "--correct", "resk")
        self.refuse(["missing.json"], *self.MXFP4, "--correct", "missing.json")
        self.refuse(["--profile is required"])
        self.refuse(["--sort"], *self.MXFP4, "--sort", "colour")
        for value in ("0", "-1", "x", ""):
            self.refuse(["--top"], *self.MXFP4, "--top", value)
        self.refuse(["did you mean 'nan'?"], *self.MXFP4, "--set", "nna=error")
        self.refuse(["No such file"], *self.MXFP4, source="missing")

    def test_tensors(self):
        self.refuse(['tensor "k"', "multiple"], *self.MXFP4, "--tail", "error", "--svg", "p.svg")
        self.refuse(['tensor "k"'], *self.MXFP4, "--axis", "3")
        self.refuse(['tensor "k"', "16"], "--profile", "mxfp4/rceil", "--correct", "hadamard-16")
        self.refuse(["rceil"], *self.MXFP4, "--correct", "mbs")
        self.write(w=("F32", [32], st.words([0x7FC00000] + [0x3F800000] * 31)))
        self.refuse(['tensor "w"', "NaN"], *self.MXFP4, "--set", "nan=error", "--svg", "p.svg", "--json", "j")
        self.write(i=("I64", [8], bytes(64)))
        self.refuse(["no F32, F16 or BF16 tensor"], *self.MXFP4, "--svg", "p.svg", code=5)
        (self.folder / "in.safetensors").write_bytes(b"not a safetensors file")
        self.refuse(["in.safetensors"], *self.MXFP4, code=3)

    def test_lists(self):
        for flag in ("--blocks", "--elements"):
            self.refuse(["--json and --tensor"], *self.MXFP4, flag, "--json", "-")
            self.refuse(["--json and --tensor"], *self.MXFP4, flag, "--tensor", "w")
        self.write(w=("F32", [65537, 32], bytes(4 * 65537 * 32)))
        chosen = (*self.MXFP4, "--tensor", "w", "--json", "j")
        self.refuse(["at most 65536 blocks", 'tensor "w" has 65537'], *chosen, "--blocks")
        self.refuse(["at most 65536 elements"], *chosen, "--elements")

    def test_files(self):
        content = (self.folder / "in.safetensors").read_bytes()
        for option in ("--json", "--svg"):
            self.refuse(["is the input"], *self.MXFP4, option, "in.safetensors")
            self.refuse(["missing"], *self.MXFP4, option, "missing/out")
            self.refuse([str(self.folder.name)], *self.MXFP4, option, self.folder)
        self.refuse(["both write"], *self.MXFP4, "--json", "out", "--svg", "./out")
        self.refuse(["--svg writes to a file"], *self.MXFP4, "--svg", "-")
        (self.folder / "p.json").write_text(json.dumps({"name": "mine", "base": "mxfp4/ocp"}))
        self.refuse(["is the input"], "--profile", "p.json", "--svg", "p.json")
        self.assertEqual((self.folder / "in.safetensors").read_bytes(), content)

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        for option in ("--json", "--svg"):
            (self.folder / "out").write_text("old")
            decompose = ("decompose", "in.safetensors", *self.MXFP4, option, "out")
            outcome = self.run_command(*decompose, preexec_fn=small_files)
            self.assertEqual(outcome.code, 2, outcome.err)
            self.assertIn("File too large", outcome.err)
            self.assertEqual((self.folder / "out").read_text(), "old")
        with open("/dev/full", "wb") as full:
            self.expect(2, "decompose", "in.safetensors", *self.MXFP4, stdout=full)
        self.assertEqual([name for name in self.names() if name.startswith(".")], [])


if __name__ == "__main__":
    command.main()
