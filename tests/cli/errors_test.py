#!/usr/bin/env python3
"""Everything a user can get wrong: a clear sentence, the right exit code, and no file that should not be there.

Usage: errors_test.py FP4PROOF
"""

import json
import random
import resource
import struct

import command
import safetensors_file as st

ONE = {"x": ("F32", [64], st.f32([1.0] * 64))}


class InputFiles(command.CommandTest):
    def test_what_is_no_safetensors_file(self):
        quantize = ("quantize", "in.safetensors", "out.safetensors", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["in.safetensors", "No such file"], *quantize)
        (self.folder / "in.safetensors").mkdir()
        self.expect_error(2, ["in.safetensors"], *quantize)
        (self.folder / "in.safetensors").rmdir()
        no_object, too_long = struct.pack("<Q", 2) + b"[]", struct.pack("<Q", 1 << 40) + b"{}"
        for content in (b"", b"12345678", b"\xff" * 64, no_object, too_long):
            (self.folder / "in.safetensors").write_bytes(content)
            self.expect_error(3, ["in.safetensors"], *quantize)
            self.assertEqual(self.names(), ["in.safetensors"])

    def test_truncated(self):
        path = self.folder / "in.safetensors"
        st.write(path, ONE)
        whole = path.read_bytes()
        for length in (1, 7, 8, 20, len(whole) - 256, len(whole) - 1):
            path.write_bytes(whole[:length])
            quantize = ("quantize", path, "out", "--profile", "mxfp4/ocp")
            for verb in (quantize, ("info", path), ("dequantize", path, "out")):
                self.expect_error(3, ["in.safetensors"], *verb)
            self.expect_error(3, ["in.safetensors"], "diff", path, path)
            self.assertIn("FAIL", self.expect(3, "lint", path).out)
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_nothing_to_quantize(self):
        st.write(self.folder / "in.safetensors", {"ids": ("I64", [2], bytes(16))})
        outcome = self.expect_error(
            5, ["nothing was quantized"], "quantize", "in.safetensors", "out", "--profile", "mxfp4/ocp"
        )
        self.assertIn('note: skipped "ids": dtype I64', outcome.err)
        self.expect_error(5, ["nothing to compare"], "compare", "in.safetensors", "--profiles", "mxfp4/ocp")
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_tensor_names(self):
        st.write(self.folder / "in.safetensors", {"layer.weight": ONE["x"], "ids": ("U8", [1], b"0")})
        quantize = ("quantize", "in.safetensors", "out", "--profile", "mxfp4/ocp", "--tensor")
        self.expect_error(2, ["did you mean 'layer.weight'?"], *quantize, "layer.wieght")
        self.expect_error(2, ["U8"], *quantize, "ids")
        self.expect_error(2, ["named twice"], *quantize, "layer.weight", "--tensor", "layer.weight")
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_shapes(self):
        st.write(self.folder / "in.safetensors", {"x": ("F32", [2, 40], st.f32([1.0] * 80))})
        quantize = ("quantize", "in.safetensors", "out", "--profile")
        self.expect_error(2, ['tensor "x"', "40", "32", "--tail pad"], *quantize, "mxfp4/ocp")
        self.expect_error(2, ["axis 2"], *quantize, "mxfp4/ocp", "--axis", "2")
        self.expect_error(2, ["axis -3"], *quantize, "mxfp4/ocp", "--axis", "-3")
        st.write(self.folder / "in.safetensors", {"x": ("F32", [2, 64], st.f32([1.0] * 128))})
        self.expect_error(2, ["the row axis of length 2", "--tail pad"], *quantize, "mxfp4-2d/ocp")
        self.assertEqual(self.names(), ["in.safetensors"])


class OutputFiles(command.CommandTest):
    def setUp(self):
        super().setUp()
        st.write(self.folder / "in.safetensors", ONE)

    def quantize(self, output, code, *words):
        return self.expect_error(code, words, "quantize", "in.safetensors", output, "--profile", "mxfp4/ocp")

    def test_places_that_cannot_be_written(self):
        self.quantize("/dev/full", 2, "/dev/full", "No space left")
        self.quantize("missing/out.safetensors", 2, "missing")
        self.quantize("/proc/out.safetensors", 2, "/proc")
        (self.folder / "folder").mkdir()
        self.quantize("folder", 2, "folder")
        self.assertEqual(self.names(), ["folder", "in.safetensors"])
        self.assertEqual(list((self.folder / "folder").iterdir()), [])

    def test_the_input_is_never_replaced(self):
        before = (self.folder / "in.safetensors").read_bytes()
        (self.folder / "link.safetensors").symlink_to("in.safetensors")
        for output in ("in.safetensors", "./in.safetensors", "link.safetensors"):
            self.quantize(output, 2, "is the input")
        self.expect_error(2, ["is the input"], "dequantize", "in.safetensors", "link.safetensors")
        gemm = ("gemm", "in.safetensors:x", "in.safetensors:x", "in.safetensors", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["is the input"], *gemm)
        self.assertEqual((self.folder / "in.safetensors").read_bytes(), before)
        text = json.dumps({"name": "mine", "base": "mxfp4/ocp"})
        (self.folder / "p.json").write_text(text)
        for verb in (("quantize", "in.safetensors"), ("gemm", "in.safetensors:x", "in.safetensors:x")):
            self.expect_error(2, ["is the input"], *verb, "p.json", "--profile", "p.json")
        self.assertEqual((self.folder / "p.json").read_text(), text)

    def test_a_failure_leaves_the_old_file(self):
        (self.folder / "out.safetensors").write_bytes(b"old")
        values = [1.0] * 32 * 200000
        values[-1] = float("nan")
        st.write(self.folder / "in.safetensors", {"x": ("F32", [len(values)], st.f32(values))})
        words = ["NaN", 'tensor "x"', "refuses"]
        quantize = ("quantize", "in.safetensors", "out.safetensors", "--profile", "mxfp4/ocp", "--set", "nan=error")
        self.expect_error(2, words, *quantize)
        self.assertEqual((self.folder / "out.safetensors").read_bytes(), b"old")
        self.assertEqual(self.names(), ["in.safetensors", "out.safetensors"])

    def test_a_full_disk_leaves_nothing(self):
        st.write(self.folder / "in.safetensors", {"x": ("F32", [1 << 20], bytes(4 << 20))})

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

        command_line = ("quantize", "in.safetensors", "out.safetensors", "--profile", "mxfp4/ocp")
        outcome = self.run_command(*command_line, preexec_fn=small_files)
        self.assertEqual(outcome.code, 2, outcome.err)
        self.assertIn("File too large", outcome.err)
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "wb") as full:
            outcome = self.expect(2, "list", "profiles", stdout=full)
        self.assertIn("standard output", outcome.err)


class Options(command.CommandTest):
    def setUp(self):
        super().setUp()
        st.write(self.folder / "in.safetensors", ONE)

    def test_verbs(self):
        self.expect_error(2, ["no verb"])
        self.expect_error(2, ['unknown verb "quantise"', "did you mean 'quantize'?"], "quantise")
        self.expect_error(2, ['unknown verb "xyzzy"', "fp4proof --help"], "xyzzy")
        self.expect_error(2, ["unknown option", "did you mean '--version'?"], "--verzion")
        self.expect_error(2, ["unexpected argument", "info --help"], "info", "in.safetensors", "more")

    def test_options(self):
        quantize = ("quantize", "in.safetensors", "out")
        self.expect_error(2, ["--profile is required"], *quantize)
        self.expect_error(2, ["OUT is required"], "quantize", "in.safetensors", "--profile", "mxfp4/ocp")
        named = (*quantize, "--profile", "mxfp4/ocp")
        self.expect_error(2, ["unknown option", "did you mean '--profile'?"], *quantize, "--profil", "mxfp4/ocp")
        self.expect_error(2, ["--profile is given more than once"], *named, "--profile", "mxfp4/ocp")
        self.expect_error(2, ["--seed is given more than once"], *named, "--seed", "1", "--seed", "2")
        for option, values in {
            "--axis": ("x", "1.5", ""),
            "--seed": ("-1", "x", str(2**64)),
            "--tail": ("cut", ""),
            "--packing": ("none",),
            "--report": ("html",),
            "--threads": ("0", "-1", "99999", "x"),
        }.items():
            for value in values:
                self.expect_error(2, [option], *named, option, value)
        self.expect_error(2, ["--axis"], *named, "--axis")
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_accumulators_and_operands(self):
        gemm = ("gemm", "in.safetensors:x")
        self.expect_error(2, ["FILE:TENSOR"], *gemm, "in.safetensors", "out", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["FILE:TENSOR"], *gemm, "in.safetensors:", "out", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["takes matrices"], *gemm, "in.safetensors:x", "out", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["--profile"], *gemm, "in.safetensors:x", "out")
        words = ["unknown accumulator", "did you mean 'exact'?"]
        self.expect_error(2, words, *gemm, "in.safetensors:x", "out", "--profile", "mxfp4/ocp", "--accumulate", "exat")
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_lists(self):
        self.expect_error(2, ["WHAT is required"], "list")
        self.expect_error(2, ["WHAT"], "list", "colours")
        self.expect_error(2, ["only profiles"], "list", "sets", "smoke")

    def test_help_and_version(self):
        self.assertRegex(self.expect(0, "--version").out, r"^fp4proof \d+\.\d+\.\d+\n$")
        help_text = self.expect(0, "--help").out
        for verb in "list info quantize dequantize compare gemm lint diff selftest".split():
            self.assertIn(f"\n  {verb} ", help_text)
            self.assertIn("Example", self.expect(0, verb, "--help").out)


class Profiles(command.CommandTest):
    def setUp(self):
        super().setUp()
        st.write(self.folder / "in.safetensors", ONE)

    def refuse(self, profile, *words):
        text = profile if isinstance(profile, str) else json.dumps(profile)
        (self.folder / "p.json").write_text(text)
        self.expect_error(2, words, "quantize", "in.safetensors", "out", "--profile", "p.json")
        self.assertIn("FAIL", self.expect(3, "lint", "p.json").out)

    def test_names(self):
        quantize = ("quantize", "in.safetensors", "out", "--profile")
        self.expect_error(2, ["did you mean 'mxfp4/ocp'?", "mxfp4/ has ocp ceil"], *quantize, "mxfp4/opc")
        self.expect_error(2, ["families: mxfp4 mxfp4-2d", "list profiles"], *quantize, "float8")
        self.expect_error(2, ["hif4/ has gcc amct"], *quantize, "hif4/something-else")
        self.expect_error(2, ["did you mean 'hif4/gcc'?"], *quantize, "HiF4/gcc")
        self.expect_error(2, ["missing.json"], *quantize, "missing.json")
        (self.folder / "folder.json").mkdir()
        self.expect_error(2, ["folder.json"], *quantize, "folder.json")

    def test_text(self):
        self.refuse("", "p.json")
        self.refuse("[1]", "must be a JSON object")
        self.refuse('{"name": "a"', "p.json")
        self.refuse('{"name": "a", "name": "b", "base": "mxfp4/ocp"}', "name")
        self.refuse('{"name": {"a": {"b": 1}}, "base": "mxfp4/ocp"}', "p.json")

    def test_fields(self):
        base = {"name": "mine", "base": "mxfp4/ocp"}
        self.refuse({"base": "mxfp4/ocp"}, '"name" is missing')
        self.refuse({**base, "name": "mxfp4/ocp"}, "belongs to a named profile")
        self.refuse({**base, "name": "a b"}, "letters, digits")
        self.refuse({**base, "name": ""}, "letters, digits")
        self.refuse({**base, "name": 7}, "must be a text")
        self.refuse({**base, "base": "mxfp4/opc"}, "did you mean 'mxfp4/ocp'?")
        self.refuse({**base, "format": "fp4proof-profile/9"}, "fp4proof-profile/1")
        self.refuse({**base, "roundnig": "rna"}, "did you mean 'rounding'?")
        self.refuse({**base, "rounding": "rn"}, "one of rne rna rtz")
        self.refuse({**base, "rounding": 1}, "one of rne rna rtz")
        self.refuse({**base, "block": "32"}, "ROWSxCOLUMNS")
        self.refuse({**base, "block": "1x320"}, "ROWSxCOLUMNS")
        self.refuse({**base, "block": [1, 32]}, "ROWSxCOLUMNS")
        self.refuse({**base, "random_bits": "8"}, "whole number")
        self.refuse({**base, "random_bits": 256}, "whole number")
        self.refuse({**base, "inf_scale_code": -1}, "whole number")
        self.refuse({"name": "mine", "base": "nvfp4/direct", "tensor_scale": 1}, "true or false")
        self.refuse({"name": "mine", "family": "mx", "element": "e2m1"}, "every field must be given", "scale_rule")

    def test_combinations(self):
        for base, fields, word in (
            ("mxfp4/ocp", {"seventh": "exact"}, "means nothing to the family mx"),
            ("hif4/gcc", {"scale_rule": "floor"}, "means nothing to the family hif4"),
            ("nvfp4/direct", {"zero_scale_code": 127}, "means nothing to the family nvfp4"),
            ("mxfp4/ocp", {"block": "1x64"}, "block does not belong"),
            ("hif4/gcc", {"block": "1x32"}, "block does not belong"),
            ("nvfp4/direct", {"block": "16x16"}, "block does not belong"),
            ("mxfp4/ocp", {"element": "s1p2"}, "element does not belong"),
            ("nvfp4/direct", {"element": "e4m3"}, "element does not belong"),
            ("mxfp4/ocp", {"random_bits": 12}, "8, 16 or 32"),
            ("mxfp4/microxcaling-python", {"rounding": "stochastic"}, "fp32-half-add goes with"),
            ("mxfp4/ggml", {"rounding": "rne"}, "fp32-distance with rounding ties-down"),
            ("hif4/gcc", {"element_arithmetic": "fp32-half-add"}, "mx family alone"),
            ("nvfp4/direct", {"nan": "scale-zero"}, "mx family alone"),
            ("hif4/gcc", {"tiny": "flush-block"}, "mx family alone"),
            ("mxfp4/ocp", {"inf_scale_code": 255}, "0..254"),
            ("mxfp4/ocp", {"zero_scale_code": 255}, "0..254"),
            ("mxfp4/ceil", {"scale_arithmetic": "float-log2"}, "float-log2 with floor"),
            ("mxfp4/ceil", {"scale_arithmetic": "fp32-divide"}, "floor rceil nearest"),
            ("mxfp4/nearest", {"scale_arithmetic": "fp32-word"}, "floor rceil"),
            ("mxfp4/ocp", {"scale_arithmetic": "word-add"}, "word-add with even"),
            ("mxfp4/ocp", {"scale_layout": "patches-16"}, "patches-16"),
            ("hif4/gcc", {"scale_layout": "tiled-128x4"}, "tiled-128x4"),
            ("mxfp8-e4m3/ocp", {"nibble_order": "split"}, "4-bit elements"),
            ("hif4/gcc", {"scale_rounding": "rtz"}, "rne or rna"),
        ):
            self.refuse({"name": "mine", "base": base, **fields}, word)

    def test_changes(self):
        quantize = ("quantize", "in.safetensors", "out", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["FIELD=VALUE"], *quantize, "--set", "nan")
        self.expect_error(2, ["FIELD=VALUE"], *quantize, "--set", "=error")
        self.expect_error(2, ["did you mean 'nan'?"], *quantize, "--set", "nna=error")
        self.expect_error(2, ["set twice"], *quantize, "--set", "rounding=rna", "--rounding", "rna")
        self.expect_error(2, ["one of rne rna"], *quantize, "--rounding", "up")
        self.expect_error(2, ["8, 16 or 32"], *quantize, "--random-bits", "7")
        self.expect_error(2, ["unknown field"], *quantize, "--set", "name=other")

    def test_every_printed_profile_reads_back(self):
        profiles = json.loads(self.expect(0, "list", "profiles", "--json").out)["profiles"]
        self.assertGreater(len(profiles), 50)
        for profile in profiles[::5] + profiles[-2:]:
            name = profile["name"]
            self.assertEqual(json.loads(self.expect(0, "list", "profiles", name, "--json").out), profile)
            (self.folder / "p.json").write_text(json.dumps({**profile, "name": "copy/of"}))
            self.expect(0, "lint", "p.json")
            copy = json.loads(self.expect(0, "info", "p.json", "--json").out)
            self.assertEqual({**copy, "name": name}, profile)
            codes = {}
            for choice in (name, "p.json"):
                options = ("--profile", choice, "--tail", "pad")
                self.expect(0, "quantize", "in.safetensors", "out", *options)
                codes[choice] = st.read(self.folder / "out")[0]
            self.assertEqual(codes[name], codes["p.json"])


class SpecialValues(command.CommandTest):
    """One block with NaN, infinities and zeros under each policy; NaN is looked at first."""

    NAN, INF, MINUS_INF, MINUS_ZERO = 0x7FC00000, 0x7F800000, 0xFF800000, 0x80000000

    def codes(self, special, **fields):
        block = special + [0x3F800000] * (32 - len(special))
        st.write(self.folder / "in.safetensors", {"x": ("F32", [32], st.words(block))})
        (self.folder / "p.json").write_text(json.dumps({"name": "mine", "base": "mxfp4/ocp", **fields}))
        self.expect(0, "quantize", "in.safetensors", "out", "--profile", "p.json", "--dequantize")
        tensors = st.read(self.folder / "out")[0]
        codes = [code for byte in tensors["x.codes"][2] for code in (byte & 15, byte >> 4)]
        values = struct.unpack("<32I", tensors["x.dequantized"][2])
        return tensors["x.scales"][2][0], codes, values

    def refused(self, special, words, **fields):
        block = special + [0x3F800000] * (32 - len(special))
        st.write(self.folder / "in.safetensors", {"x": ("F32", [32], st.words(block))})
        (self.folder / "p.json").write_text(json.dumps({"name": "mine", "base": "mxfp4/ocp", **fields}))
        quantize = ("quantize", "in.safetensors", "no", "--profile", "p.json")
        self.expect_error(2, ['tensor "x"', "row 0, block 0", *words], *quantize)
        self.assertNotIn("no", self.names())

    def test_nan(self):
        scale, codes, values = self.codes([self.NAN])
        self.assertEqual((scale, set(codes), set(values)), (255, {0}, {0x7FC00000}))
        scale, codes, values = self.codes([self.NAN], nan="ignore")
        self.assertEqual((scale, codes), (125, [0] + [6] * 31))
        self.refused([self.NAN], ["NaN"], nan="error")
        scale, codes, _ = self.codes([self.NAN, self.NAN | 1 << 31, self.INF, self.MINUS_ZERO], nan="scale-zero")
        self.assertEqual((scale, codes[:5]), (0, [7, 15, 15, 8, 0]))

    def test_infinity(self):
        scale, codes, values = self.codes([self.INF])
        self.assertEqual((scale, set(codes), set(values)), (255, {0}, {0x7FC00000}))
        scale, codes, _ = self.codes([self.INF, self.MINUS_INF, self.MINUS_ZERO], inf="saturate")
        self.assertEqual((scale, codes[:4]), (254, [7, 15, 8, 0]))
        scale, codes, _ = self.codes([self.INF], inf="saturate", inf_scale_code=252)
        self.assertEqual((scale, codes[0]), (252, 7))
        self.refused([self.INF], ["infinity"], inf="error")
        self.refused([self.INF, self.NAN], ["NaN"], inf="error", nan="error")

    def test_zero(self):
        zeros = [self.MINUS_ZERO] + [0] * 31
        self.assertEqual(self.codes(zeros)[:2], (0, [8] + [0] * 31))
        self.assertEqual(self.codes(zeros, zero_scale_code=127, zero_sign="dropped")[:2], (127, [0] * 32))


class QuantizedFiles(command.CommandTest):
    """What dequantize refuses: every way in which metadata and tensors can be at odds."""

    def setUp(self):
        super().setUp()
        values = [random.Random(1).gauss(0, 1) for _ in range(128)]
        st.write(self.folder / "in.safetensors", {"x": ("F32", [2, 64], st.f32(values))})
        self.expect(0, "quantize", "in.safetensors", "good", "--profile", "nvfp4/tensor-scale")
        self.header, self.data = st.read_raw(self.folder / "good")

    def refuse(self, words, change):
        header = json.loads(json.dumps(self.header))
        data = change(header) or self.data
        st.write_raw(self.folder / "bad", header, data)
        self.expect_error(3, words, "dequantize", "bad", "out")
        self.assertNotIn("out", self.names())

    def metadata(self, key, value):
        def change(header):
            if value is None:
                del header["__metadata__"][key]
            else:
                header["__metadata__"][key] = value

        return change

    def record(self, **fields):
        record = {**json.loads(self.header["__metadata__"]["fp4proof.tensors"])["x"], **fields}
        return self.metadata("fp4proof.tensors", json.dumps({"x": record}))

    def test_metadata(self):
        for key in ("fp4proof.profile", "fp4proof.packing", "fp4proof.seed", "fp4proof.tensors"):
            self.refuse([key, "missing"], self.metadata(key, None))
        self.refuse(["fp4proof quantize"], self.metadata("fp4proof.format", None))
        self.refuse(["fp4proof-quantized/1"], self.metadata("fp4proof.format", "fp4proof-quantized/2"))
        self.refuse(["unknown profile", "did you mean"], self.metadata("fp4proof.profile", "nvfp4/tensor-scal"))
        self.refuse(["fp4proof.profile"], self.metadata("fp4proof.profile", "{"))
        self.refuse(["unknown field"], self.metadata("fp4proof.profile", '{"nam": "a"}'))
        self.refuse(["packing"], self.metadata("fp4proof.packing", "other"))
        self.refuse(["seed"], self.metadata("fp4proof.seed", "-1"))
        self.refuse(["fp4proof.tensors"], self.metadata("fp4proof.tensors", "[]"))
        self.refuse(["fp4proof.tensors"], self.metadata("fp4proof.tensors", '{"x": 1}'))
        self.refuse(["fp4proof.tensors"], self.metadata("fp4proof.tensors", "[" * 1000))

    def test_records(self):
        self.refuse(["x.codes", "[4, 32]"], self.record(shape=[4, 64]))
        self.refuse(["x.codes"], self.record(shape=[64, 2], tail="pad"))
        self.refuse(["axis"], self.record(axis=5))
        self.refuse(["shape, dtype, axis and tail"], self.record(axis=-1))
        self.refuse(["shape, dtype, axis and tail"], self.record(axis=1.5))
        self.refuse(["shape, dtype, axis and tail"], self.record(dtype="F33"))
        self.refuse(["shape, dtype, axis and tail"], self.record(shape=[2, -64]))
        self.refuse(["shape, dtype, axis and tail"], self.record(shape="2x64"))
        self.refuse(["shape, dtype, axis and tail"], self.record(tail="cut"))
        self.refuse(["shape, dtype, axis and tail"], self.record(more=1))
        self.refuse(["absurd"], self.record(shape=[2**62, 64]))
        self.refuse(["absurd"], self.record(shape=[2**40, 2**20]))
        self.refuse(["length 63"], self.record(shape=[2, 63]))

    def test_tensors(self):
        def without(name):
            def change(header):
                kept = b"".join(
                    self.data[slice(*entry["data_offsets"])]
                    for key, entry in self.header.items()
                    if key not in ("__metadata__", name)
                )
                position = 0
                del header[name]
                for key, entry in header.items():
                    if key != "__metadata__":
                        begin, end = entry["data_offsets"]
                        entry["data_offsets"] = [position, position + end - begin]
                        position += end - begin
                return kept

            return change

        for name in ("x.codes", "x.scales", "x.tensor_scale"):
            self.refuse([name, "missing"], without(name))

        def retype(header):
            header["x.scales"]["dtype"] = "I8"

        self.refuse(["x.scales", "I8"], retype)
        for scale in (float("nan"), float("inf"), 0.0, -1.0):
            begin, end = self.header["x.tensor_scale"]["data_offsets"]
            data = self.data[:begin] + st.f32([scale]) + self.data[end:]
            self.refuse(["x.tensor_scale", "positive finite"], lambda header, data=data: data)

    def test_an_empty_record(self):
        metadata = {**self.header["__metadata__"], "fp4proof.tensors": "{}"}
        st.write_raw(self.folder / "bad", {"__metadata__": metadata}, b"")
        self.expect_error(5, ["nothing was dequantized"], "dequantize", "bad", "out")

    def test_not_ours(self):
        self.expect_error(3, ["fp4proof quantize"], "dequantize", "in.safetensors", "out")

    def test_random_damage_is_reported(self):
        """Flipped bytes in the header: a clear refusal or a clean run, never a crash."""
        good = (self.folder / "good").read_bytes()
        (length,) = struct.unpack("<Q", good[:8])
        generator = random.Random(7)
        codes = set()
        for _ in range(150):
            bad = bytearray(good)
            for _ in range(generator.randint(1, 3)):
                bad[generator.randrange(8 + length)] = generator.randrange(256)
            (self.folder / "bad").write_bytes(bytes(bad))
            outcome = self.run_command("dequantize", "bad", "out")
            codes.add(outcome.code)
            self.assertIn(outcome.code, (0, 3, 5), outcome.err)
            self.assertEqual("error:" in outcome.err, outcome.code != 0)
            self.assertEqual((self.folder / "out").exists(), outcome.code == 0)
            (self.folder / "out").unlink(missing_ok=True)
        self.assertIn(3, codes)

    def test_lint_finds_what_dequantize_takes(self):
        def lint(words, change_data):
            data = bytearray(self.data)
            change_data(data)
            st.write_raw(self.folder / "bad", self.header, bytes(data))
            outcome = self.expect(3, "lint", "bad")
            for word in words:
                self.assertIn(word, outcome.out)

        def nan_scale(data):
            data[self.header["x.scales"]["data_offsets"][0]] = 0x7F

        lint(["under a NaN scale"], nan_scale)
        (self.folder / "bad").write_bytes((self.folder / "good").read_bytes())
        self.expect(0, "lint", "bad")
        header = {name: self.header[name] for name in reversed(self.header)}
        st.write_raw(self.folder / "bad", header, self.data)
        self.assertIn("canonical layout", self.expect(3, "lint", "bad").out)


class ExitCodes(command.CommandTest):
    def test_differences(self):
        st.write(self.folder / "a", ONE)
        st.write(self.folder / "b", {"x": ("F32", [64], st.f32([1.0] * 63 + [2.0]))})
        self.expect(0, "diff", "a", "a")
        self.expect(1, "diff", "a", "b")
        self.assertEqual(json.loads(self.expect(1, "diff", "a", "b", "--json").out)["tensors"]["x"]["differing"], 1)

    def test_nothing_compared(self):
        st.write(self.folder / "a", {})
        self.expect_error(5, ["nothing was compared"], "diff", "a", "a")

    def test_unsupported(self):
        library = self.folder / "lib.so"
        library.write_bytes(b"\x7fELF" + bytes(60))
        self.expect_error(4, ["could not be loaded"], "info", library)
        self.expect_error(6, ["shared library"], "lint", library)

    def test_folders(self):
        self.expect_error(2, ["manifest.json"], "lint", ".")
        self.expect_error(2, ["."], "info", ".")


if __name__ == "__main__":
    command.main()
