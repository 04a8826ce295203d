#!/usr/bin/env python3
"""fp4proof quantize and dequantize: the files they write.

Usage: quantize_test.py FP4PROOF

The layout is decoded here a second time, from docs/file-format.md, and must give what --dequantize wrote.
"""

import json
import random
import struct

import command
import safetensors_file as st

E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def normals(count, seed=1):
    generator = random.Random(seed)
    return [struct.unpack("<f", struct.pack("<f", generator.gauss(0, 1)))[0] for _ in range(count)]


def nibbles(content):
    return [code for byte in content for code in (byte & 15, byte >> 4)]


def e2m1(code):
    return E2M1[code & 7] * (-1 if code & 8 else 1)


def s1p2(code):
    return (code & 7) / 4 * (-1 if code & 8 else 1)


def e4m3(code):
    exponent, fraction = code >> 3, code & 7
    return fraction * 2.0**-9 if exponent == 0 else (8 + fraction) * 2.0 ** (exponent - 10)


def decode_mx(codes, scales):
    """Rows of codes and of scale bytes, flat, to numbers."""
    return [e2m1(code) * 2.0 ** (scales[i // 32] - 127) for i, code in enumerate(nibbles(codes))]


def decode_hif4(codes, scales):
    values = []
    for i, code in enumerate(nibbles(codes)):
        (word,) = struct.unpack_from("<I", scales, i // 64 * 4)
        scale = (1 + (word & 3) / 4) * 2.0 ** ((word >> 2 & 63) - 48)
        column = i % 64
        levels = (word >> (8 + column // 8) & 1) + (word >> (16 + column // 4) & 1)
        values.append(s1p2(code) * scale * 2.0**levels)
    return values


def decode_nvfp4(codes, scales, tensor_scale):
    return [e2m1(code) * e4m3(scales[i // 16]) * tensor_scale for i, code in enumerate(nibbles(codes))]


class Layout(command.CommandTest):
    def quantize(self, *options):
        self.expect(0, "quantize", "in.safetensors", "out.safetensors", "--dequantize", *options)
        return st.read(self.folder / "out.safetensors")

    def write(self, shape, seed=1, name="w"):
        count = 1
        for extent in shape:
            count *= extent
        self.values = normals(count, seed)
        st.write(self.folder / "in.safetensors", {name: ("F32", shape, st.f32(self.values))})

    def test_mx(self):
        self.write([6, 64])
        tensors, metadata = self.quantize("--profile", "mxfp4/ocp")
        self.assertEqual(sorted(tensors), ["w.codes", "w.dequantized", "w.scales"])
        self.assertEqual(tensors["w.codes"][:2], ("U8", [6, 32]))
        self.assertEqual(tensors["w.scales"][:2], ("U8", [6, 2]))
        self.assertEqual(tensors["w.dequantized"][:2], ("F32", [6, 64]))
        values = decode_mx(tensors["w.codes"][2], tensors["w.scales"][2])
        self.assertEqual(tuple(values), st.floats(tensors["w.dequantized"][2]))
        for block in range(12):  # nearest, within the scale: no element is off by more than half its grid's step
            scale = 2.0 ** (tensors["w.scales"][2][block] - 127)
            for i in range(32 * block, 32 * block + 32):
                self.assertLessEqual(abs(values[i] - self.values[i]), scale * (2 if abs(values[i]) == 6 * scale else 1))
        self.assertEqual(metadata["fp4proof.profile"], "mxfp4/ocp")
        record = json.loads(metadata["fp4proof.tensors"])
        self.assertEqual(record, {"w": {"axis": 1, "dtype": "F32", "shape": [6, 64], "tail": "error"}})

    def test_hif4_scales_are_little_endian_words(self):
        self.write([3, 128])
        tensors, _ = self.quantize("--profile", "hif4/gcc")
        self.assertEqual(tensors["w.codes"][:2], ("U8", [3, 64]))
        self.assertEqual(tensors["w.scales"][:2], ("U8", [3, 2, 4]))
        values = decode_hif4(tensors["w.codes"][2], tensors["w.scales"][2])
        self.assertEqual(tuple(values), st.floats(tensors["w.dequantized"][2]))

    def test_nvfp4_tensor_scale(self):
        self.write([2, 48])
        tensors, _ = self.quantize("--profile", "nvfp4/tensor-scale")
        self.assertEqual(tensors["w.scales"][:2], ("U8", [2, 3]))
        self.assertEqual(tensors["w.tensor_scale"][:2], ("F32", [1]))
        (scale,) = st.floats(tensors["w.tensor_scale"][2])
        self.assertEqual(scale, struct.unpack("<f", struct.pack("<f", max(map(abs, self.values)) / 2688))[0])
        values = decode_nvfp4(tensors["w.codes"][2], tensors["w.scales"][2], scale)
        rounded = struct.unpack("<96f", struct.pack("<96f", *values))
        self.assertEqual(rounded, st.floats(tensors["w.dequantized"][2]))

    def test_axis_is_made_last_and_dequantized_keeps_the_order(self):
        self.write([2, 32, 3])
        tensors, _ = self.quantize("--profile", "mxfp4/ocp", "--axis", "1")
        self.assertEqual(tensors["w.codes"][:2], ("U8", [2, 3, 16]))
        self.assertEqual(tensors["w.scales"][:2], ("U8", [2, 3, 1]))
        values = decode_mx(tensors["w.codes"][2], tensors["w.scales"][2])
        moved = [values[(a * 3 + c) * 32 + b] for a in range(2) for b in range(32) for c in range(3)]
        self.assertEqual(tuple(moved), st.floats(tensors["w.dequantized"][2]))
        same, _ = self.quantize("--profile", "mxfp4/ocp", "--axis", "-2")
        self.assertEqual(same, tensors)

    def test_padding_stays_in_the_codes(self):
        self.write([2, 40])
        tensors, _ = self.quantize("--profile", "mxfp4/ocp", "--tail", "pad")
        self.assertEqual(tensors["w.codes"][:2], ("U8", [2, 32]))
        self.assertEqual(tensors["w.dequantized"][:2], ("F32", [2, 40]))
        values = decode_mx(tensors["w.codes"][2], tensors["w.scales"][2])
        self.assertEqual(tuple(values[:40] + values[64:104]), st.floats(tensors["w.dequantized"][2]))
        self.assertEqual(values[40:64] + values[104:], [0.0] * 48)

    def test_eight_bit_codes_take_a_byte(self):
        self.write([2, 64])
        tensors, _ = self.quantize("--profile", "mxfp8-e4m3/ocp")
        self.assertEqual(tensors["w.codes"][:2], ("U8", [2, 64]))
        values = [
            e4m3(code & 127) * (-1 if code & 128 else 1) * 2.0 ** (tensors["w.scales"][2][i // 32] - 127)
            for i, code in enumerate(tensors["w.codes"][2])
        ]
        self.assertEqual(tuple(values), st.floats(tensors["w.dequantized"][2]))

    def test_narrow_floats_are_widened_exactly(self):
        values = [1.5, -0.25, 6.0, 0.0] * 8
        tensors = {
            "a": ("BF16", [32], st.bf16(values)),
            "b": ("F16", [32], st.f16(values)),
            "c": ("F32", [32], st.f32(values)),
        }
        st.write(self.folder / "in.safetensors", tensors)
        written, _ = self.quantize("--profile", "mxfp4/ocp")
        for name in "ab":
            self.assertEqual(written[f"{name}.codes"], written["c.codes"])
            self.assertEqual(written[f"{name}.dequantized"], written["c.dequantized"])

    def test_profile_packing_split_nibbles(self):
        self.write([2, 64])
        canonical, _ = self.quantize("--profile", "mxfp4/ggml")
        packed, _ = self.quantize("--profile", "mxfp4/ggml", "--packing", "profile")
        self.assertEqual(packed["w.codes"][1], canonical["w.codes"][1])
        codes = nibbles(canonical["w.codes"][2])
        for block in range(4):
            for j in range(16):
                byte = packed["w.codes"][2][16 * block + j]
                self.assertEqual((byte & 15, byte >> 4), (codes[32 * block + j], codes[32 * block + 16 + j]))

    def test_profile_packing_tiled_scales(self):
        self.write([130, 160])
        canonical, _ = self.quantize("--profile", "mxfp4/ocp")
        layout = ("--set", "scale_layout=tiled-128x4")
        packed, _ = self.quantize("--profile", "mxfp4/ocp", *layout, "--packing", "profile")
        self.assertEqual(packed["w.scales"][:2], ("U8", [2 * 2 * 512]))
        used = set()
        for row in range(130):
            for column in range(5):
                tile = row // 128 * 2 + column // 4
                offset = tile * 512 + row % 128 % 32 * 16 + row % 128 // 32 * 4 + column % 4
                self.assertEqual(packed["w.scales"][2][offset], canonical["w.scales"][2][row * 5 + column])
                used.add(offset)
        padding = [byte for offset, byte in enumerate(packed["w.scales"][2]) if offset not in used]
        self.assertEqual(padding, [0] * (2048 - 650))

    def test_profile_packing_micro_exponents_msb_first(self):
        self.write([5, 64])
        canonical, _ = self.quantize("--profile", "hif4/amct")
        packed, _ = self.quantize("--profile", "hif4/amct", "--packing", "profile")
        self.assertEqual(packed["w.scales"][1], [5, 1, 4])
        for i, (plain, swapped) in enumerate(zip(canonical["w.scales"][2], packed["w.scales"][2])):
            wanted = plain if i % 4 == 0 else int(f"{plain:08b}"[::-1], 2)
            self.assertEqual(swapped, wanted)

    def test_names_filter(self):
        st.write(self.folder / "in.safetensors", {n: ("F32", [32], st.f32(normals(32))) for n in ("a", "b", "c")})
        tensors, _ = self.quantize("--profile", "mxfp4/ocp", "--tensor", "c", "--tensor", "a")
        self.assertEqual({name.split(".")[0] for name in tensors}, {"a", "c"})

    def test_names_that_look_like_ours(self):
        content = {"x": ("F32", [32], st.f32(normals(32))), "x.codes": ("F32", [32], st.f32(normals(32, 2)))}
        st.write(self.folder / "in.safetensors", content)
        tensors, _ = self.quantize("--profile", "mxfp4/ocp")
        self.assertEqual(len(tensors), 6)
        self.expect(0, "dequantize", "out.safetensors", "back.safetensors")
        back, _ = st.read(self.folder / "back.safetensors")
        self.assertEqual(back["x"], tensors["x.dequantized"])
        self.assertEqual(back["x.codes"], tensors["x.codes.dequantized"])


class Shapes(command.CommandTest):
    def test_empty_and_zero_dimensional(self):
        tensors = {
            "empty": ("F32", [0, 32], b""),
            "narrow": ("F32", [3, 0], b""),
            "hollow": ("F32", [2, 0, 32], b""),
            "scalar": ("F32", [], st.f32([3.0])),
        }
        st.write(self.folder / "in.safetensors", tensors)
        options = ("--profile", "mxfp4/ocp", "--dequantize", "--tail", "pad", "--report", "json")
        outcome = self.expect(0, "quantize", "in.safetensors", "out.safetensors", *options)
        written, _ = st.read(self.folder / "out.safetensors")
        shapes = {name: tensor[1] for name, tensor in written.items()}
        self.assertEqual(shapes["empty.codes"], [0, 16])
        self.assertEqual(shapes["empty.scales"], [0, 1])
        self.assertEqual(shapes["narrow.codes"], [3, 0])
        self.assertEqual(shapes["hollow.dequantized"], [2, 0, 32])
        self.assertEqual(shapes["scalar.codes"], [16])
        self.assertEqual(shapes["scalar.dequantized"], [])
        self.assertEqual(st.floats(written["scalar.dequantized"][2]), (3.0,))
        self.assertEqual(json.loads(outcome.out)["tensors"]["empty"]["elements"], 0)
        self.expect(0, "dequantize", "out.safetensors", "back.safetensors")
        back, _ = st.read(self.folder / "back.safetensors")
        self.assertEqual(back["scalar"], written["scalar.dequantized"])
        self.assertEqual(back["hollow"][1], [2, 0, 32])
        self.expect_error(
            2, ['tensor "scalar"', "--tail pad"], "quantize", "in.safetensors", "o", "--profile", "mxfp4/ocp"
        )

    def test_rows_longer_than_a_chunk(self):
        """A flat tensor of more than one chunk has the bytes of the same numbers in short rows."""
        rows, columns = 170, 32 * 1024
        content = random.Random(5).randbytes(2 * columns)
        content = bytes(byte & 0xBF if i % 2 else byte for i, byte in enumerate(content)) * rows  # no NaN, no infinity
        tensors = {"flat": ("BF16", [rows * columns], content), "rows": ("BF16", [rows, columns], content)}
        st.write(self.folder / "in.safetensors", tensors)
        for profile in ("mxfp4/ocp", "mxfp4/rceil-sr8", "hif4/gcc"):
            options = ("--profile", profile, "--dequantize", "--seed", "9", "--report", "json")
            outcome = self.expect(0, "quantize", "in.safetensors", "out.safetensors", *options)
            written, _ = st.read(self.folder / "out.safetensors")
            for part in ("codes", "scales", "dequantized"):
                self.assertEqual(written[f"flat.{part}"][2], written[f"rows.{part}"][2], (profile, part))
            report = json.loads(outcome.out)["tensors"]
            self.assertEqual(report["flat"]["zeroed"], report["rows"]["zeroed"])
            self.expect(0, "dequantize", "out.safetensors", "back.safetensors")
            back, _ = st.read(self.folder / "back.safetensors")
            self.assertEqual(back["flat"][2], written["flat.dequantized"][2])

    def test_interleaved_rows_longer_than_a_chunk(self):
        """Blocks along the first axis of a matrix of many chunks; the transpose has the same codes."""
        rows, columns = 4096, 1536
        line = bytes(b & 0xBF if i % 2 else b for i, b in enumerate(random.Random(6).randbytes(2 * columns)))
        step = 2 * 7
        matrix = b"".join(line[step * r % len(line) :] + line[: step * r % len(line)] for r in range(rows))
        transposed = bytearray(len(matrix))
        for column in range(columns):
            for byte in range(2):
                start = 2 * column * rows + byte
                transposed[start : start + 2 * rows : 2] = matrix[2 * column + byte :: 2 * columns]
        tensors = {"m": ("BF16", [rows, columns], matrix)}
        st.write(self.folder / "in.safetensors", tensors)
        st.write(self.folder / "t.safetensors", {"m": ("BF16", [columns, rows], bytes(transposed))})
        options = ("--profile", "mxfp4/ocp", "--dequantize")
        self.expect(0, "quantize", "in.safetensors", "out.safetensors", *options, "--axis", "0")
        self.expect(0, "quantize", "t.safetensors", "tout.safetensors", *options)
        across, _ = st.read(self.folder / "out.safetensors")
        along, _ = st.read(self.folder / "tout.safetensors")
        self.assertEqual(across["m.codes"], along["m.codes"])
        self.assertEqual(across["m.scales"], along["m.scales"])
        self.expect(0, "dequantize", "out.safetensors", "back.safetensors")
        back, _ = st.read(self.folder / "back.safetensors")
        self.assertEqual(back["m"], across["m.dequantized"])
        for row in (0, 17, rows - 1):
            across_row = across["m.dequantized"][2][4 * columns * row : 4 * columns * (row + 1)]
            along_row = b"".join(
                along["m.dequantized"][2][4 * (c * rows + row) : 4 * (c * rows + row) + 4] for c in range(columns)
            )
            self.assertEqual(across_row, along_row)


class RoundTrip(command.CommandTest):
    def test_every_kind_of_profile(self):
        content = {
            "odd": ("F32", [5, 33], st.f32(normals(165))),
            "cube": ("F32", [2, 40, 70], st.f32(normals(5600, 3))),
            "matrix": ("F16", [64, 64], st.f16(normals(4096, 4))),
        }
        st.write(self.folder / "in.safetensors", content)
        one = "mxfp4/ocp mxfp4/ggml mxfp6-e3m2/ocp hif4/amct hifx5/gcc nvfp4/tensor-scale".split()
        for profile in [*one, "mxfp4-2d/rceil", "hif4-2d/gcc"]:
            for axis in ("0", "-1"):
                for packing in ("canonical", "profile"):
                    options = ("--profile", profile, "--axis", axis, "--packing", packing, "--tail", "pad")
                    self.expect(0, "quantize", "in.safetensors", "q.safetensors", *options, "--dequantize")
                    self.expect(0, "lint", "q.safetensors")
                    self.expect(0, "dequantize", "q.safetensors", "back.safetensors")
                    written, _ = st.read(self.folder / "q.safetensors")
                    back, _ = st.read(self.folder / "back.safetensors")
                    self.assertEqual(sorted(back), ["cube", "matrix", "odd"])
                    for name, tensor in back.items():
                        self.assertEqual(tensor, written[f"{name}.dequantized"], (profile, axis, packing, name))

    def test_user_profile_travels_in_the_file(self):
        st.write(self.folder / "in.safetensors", {"x": ("F32", [64], st.f32(normals(64)))})
        profile = {"name": "mine/even-high", "base": "mxfp4/rceil", "nibble_order": "even-high", "rounding": "rna"}
        (self.folder / "mine.json").write_text(json.dumps(profile))
        options = ("--profile", "mine.json", "--packing", "profile", "--dequantize")
        self.expect(0, "quantize", "in.safetensors", "q.safetensors", *options)
        (self.folder / "mine.json").unlink()
        self.expect(0, "dequantize", "q.safetensors", "back.safetensors")
        written, metadata = st.read(self.folder / "q.safetensors")
        back, _ = st.read(self.folder / "back.safetensors")
        self.assertEqual(back["x"], written["x.dequantized"])
        self.assertEqual(json.loads(metadata["fp4proof.profile"])["nibble_order"], "even-high")

    def test_one_tensor_of_many(self):
        st.write(self.folder / "in.safetensors", {n: ("F32", [32], st.f32(normals(32))) for n in ("a", "b")})
        self.expect(0, "quantize", "in.safetensors", "q.safetensors", "--profile", "mxfp4/ocp")
        self.expect(0, "dequantize", "q.safetensors", "back.safetensors", "--tensor", "b")
        self.assertEqual(list(st.read(self.folder / "back.safetensors")[0]), ["b"])
        self.expect_error(2, ["has no quantized tensor"], "dequantize", "q.safetensors", "o", "--tensor", "c")


class Determinism(command.CommandTest):
    def test_threads_and_seeds(self):
        st.write(self.folder / "in.safetensors", {"x": ("F32", [61, 96], st.f32(normals(61 * 96)))})

        def content(*options):
            options = ("--profile", "mxfp4/rceil-sr", "--dequantize", *options)
            outcome = self.expect(0, "quantize", "in.safetensors", "q.safetensors", "--report", "json", *options)
            return (self.folder / "q.safetensors").read_bytes(), outcome.out

        first = content("--threads", "1", "--seed", "3")
        self.assertEqual(content("--threads", "5", "--seed", "3"), first)
        self.assertEqual(content("--seed", "3"), first)
        self.assertNotEqual(content("--seed", "4")[0], first[0])
        self.assertEqual(content("--seed", str(2**64 - 1)), content("--seed", str(2**64 - 1), "--threads", "2"))

    def test_options_change_single_fields(self):
        st.write(self.folder / "in.safetensors", {"x": ("F32", [64], st.f32(normals(64)))})
        written = {}
        for options in (("--rounding", "rtz"), ("--set", "rounding=rtz")):
            self.expect(0, "quantize", "in.safetensors", "q.safetensors", "--profile", "mxfp4/ocp", *options)
            written[options[0]] = (self.folder / "q.safetensors").read_bytes()
        self.assertEqual(*written.values())
        profile = json.loads(st.read(self.folder / "q.safetensors")[1]["fp4proof.profile"])
        self.assertEqual(profile["name"], "mxfp4/ocp+rounding=rtz")
        self.assertEqual(profile["rounding"], "rtz")


class Report(command.CommandTest):
    def test_numbers(self):
        # One block with scale 2^0: 7 is beyond 6 (saturates), 0.25 rounds to 0 (a tie), 1.25 rounds to 1.
        values = [4.0, 7.0, 0.25, 1.25] + [0.0] * 28
        st.write(self.folder / "in.safetensors", {"x": ("F32", [32], st.f32(values))})
        options = ("--profile", "mxfp4/ocp", "--report", "json")
        outcome = self.expect(0, "quantize", "in.safetensors", "q.safetensors", *options)
        report = json.loads(outcome.out)
        self.assertEqual(report["profile"], "mxfp4/ocp")
        numbers = report["tensors"]["x"]
        squared = (1 + 0.25**2 + 0.25**2) / (16 + 49 + 0.25**2 + 1.25**2)
        self.assertAlmostEqual(numbers["relative_error"], squared, places=15)
        self.assertAlmostEqual(numbers["relative_error_root"], squared**0.5, places=15)
        self.assertEqual(numbers["max_abs_error"], 1.0)
        self.assertEqual(numbers["zeroed"], 1 / 32)
        self.assertEqual(numbers["saturated"], 1 / 32)
        self.assertEqual(numbers["nan_blocks"], 0)
        self.assertEqual(numbers["bits_per_element"], 4.25)

    def test_nan_blocks_are_counted_and_left_out(self):
        values = [float("nan")] + [1.0] * 31 + [2.0] * 32
        st.write(self.folder / "in.safetensors", {"x": ("F32", [64], st.f32(values))})
        options = ("--profile", "mxfp4/ocp", "--report", "json")
        numbers = json.loads(self.expect(0, "quantize", "in.safetensors", "q.safetensors", *options).out)
        numbers = numbers["tensors"]["x"]
        self.assertEqual((numbers["nan_blocks"], numbers["compared"], numbers["relative_error"]), (1, 32, 0))

    def test_compare_gives_no_star_for_lost_values(self):
        values = [float("nan")] + [1.0] * 31 + normals(32)
        st.write(self.folder / "in.safetensors", {"x": ("F32", [64], st.f32(values))})
        lost = {"name": "lost", "base": "mxfp4/ocp"}
        kept = {"name": "kept", "base": "mxfp4/ocp", "nan": "ignore"}
        for profile in (lost, kept):
            (self.folder / f"{profile['name']}.json").write_text(json.dumps(profile))
        row = self.expect(0, "compare", "in.safetensors", "--profiles", "lost.json,kept.json").out.splitlines()[1]
        self.assertRegex(row, r'^"x" +\S+ ! +\S+ \*$')

    def test_compare_agrees_with_the_report(self):
        st.write(self.folder / "in.safetensors", {"x": ("F32", [4, 96], st.f32(normals(384)))})
        names = ["mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale"]
        outcome = self.expect(0, "compare", "in.safetensors", "--profiles", ",".join(names), "--json")
        table = json.loads(outcome.out)
        self.assertEqual(table["profiles"], names)
        for name in names:
            options = ("--profile", name, "--report", "json", "--tail", "pad")
            report = json.loads(self.expect(0, "quantize", "in.safetensors", "q.safetensors", *options).out)
            self.assertEqual(table["tensors"]["x"][name], report["tensors"]["x"])
            self.assertEqual(table["all"][name], report["tensors"]["x"])


if __name__ == "__main__":
    command.main()
