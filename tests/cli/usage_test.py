#!/usr/bin/env python3
"""What a user types and reads: lists, names with colons, standard output in place of a file, counts.

Usage: usage_test.py FP4PROOF VECTORS
"""

import json
import pathlib
import sys

import command
import safetensors_file as st

VECTORS = ""


def ones(rows, columns=32):
    return ("F32", [rows, columns], st.f32([1.0] * rows * columns))


class Lists(command.CommandTest):
    def test_empty_items(self):
        explain = ("explain", "--profile", "mxfp4/ocp", "--values")
        for text in ("1,,2", "1,", ",1", "1, ,2", ","):
            self.expect_error(2, ["--values", "empty item"], *explain, text)
        for text in ("1, 2", "1 2", " 1,2 ", "1,2 3"):
            self.expect(0, *explain, text)
        random = ("explain", "--profile", "mxfp4/ocp-sr", "--values", "1,2", "--random")
        self.expect_error(2, ["--random", "empty item"], *random, "1,,2")
        st.write(self.folder / "in", {"x": ones(2)})
        for text in ("mxfp4/ocp,,mxfp4/rceil", "mxfp4/ocp,", ",mxfp4/ocp", ","):
            self.expect_error(2, ["--profiles", "empty item"], "compare", "in", "--profiles", text)
            self.expect_error(2, ["--profiles", "empty item"], "study", "gaussian", "--profiles", text)
            corrections = ("--corrections", text.replace("mxfp4/ocp", "none").replace("mxfp4/rceil", "sr"))
            self.expect_error(
                2, ["--corrections", "empty item"], "study", "gaussian", "--profiles", "mxfp4/ocp", *corrections
            )
        twice = ("--profiles", "mxfp4/ocp", "--profiles", "mxfp4/rceil")
        for options in (("--profiles", "mxfp4/ocp,mxfp4/rceil"), twice):
            compared = json.loads(self.expect(0, "compare", "in", *options, "--json").out)
            self.assertEqual(compared["profiles"], ["mxfp4/ocp", "mxfp4/rceil"])


class Places(command.CommandTest):
    """FILE:TENSOR where both may hold colons."""

    def setUp(self):
        super().setUp()
        self.tensors = {"layer:0": ones(2), "layer": ones(3), "0": ones(4)}
        for name in ("a.safetensors", "plain", "odd:name", "odd:b.safetensors"):
            st.write(self.folder / name, self.tensors)

    def check(self, place, rows):
        self.expect(0, "gemm", place, "plain:layer", "c", "--profile", "mxfp4/ocp")
        self.assertEqual(st.read(self.folder / "c")[0]["C"][1], [rows, 3])
        explained = self.expect(0, "explain", "--profile", "mxfp4/ocp", "--from", place, "--json", "-")
        json.loads(explained.out)

    def test_colons(self):
        self.check("a.safetensors:layer:0", 2)
        self.check("a.safetensors:0", 4)
        self.check("plain:layer:0", 2)
        self.check("plain:0", 4)
        self.check("odd:name:layer:0", 2)
        self.check("odd:b.safetensors:layer:0", 2)

    def test_refusals(self):
        gemm = ("plain:layer", "c", "--profile", "mxfp4/ocp")
        for place in ("plain", "plain:", ":layer", "a.safetensors:"):
            self.expect_error(2, ["FILE:TENSOR", place], "gemm", place, *gemm)
            self.expect_error(2, ["FILE:TENSOR", "--from"], "explain", "--profile", "mxfp4/ocp", "--from", place)
        self.expect_error(2, ["no:where", "No such file"], "gemm", "no:where:layer", *gemm)


class Output(command.CommandTest):
    def test_json_to_the_standard_output(self):
        verify = ("verify", VECTORS / "smoke", "--profile", "mxfp4/ocp", "--op", "quantize", "--json")
        printed = json.loads(self.expect(0, *verify, "-").out)
        self.assertEqual(printed["format"], "fp4proof-report/1")
        self.assertEqual(self.names(), [])
        text = self.expect(0, *verify, "report.json").out
        self.assertIn("passed", text)
        self.assertEqual(json.loads((self.folder / "report.json").read_text()), printed)
        st.write(self.folder / "in", {"x": ones(2)})
        for verb in (
            ("decompose", "in", "--profile", "mxfp4/ocp"),
            ("study", "./in", "--profiles", "mxfp4/ocp"),
            ("explain", "--profile", "mxfp4/ocp", "--values", "1"),
        ):
            json.loads(self.expect(0, *verb, "--json", "-").out)
        self.assertEqual(self.names(), ["in", "report.json"])

    def test_counts(self):
        st.write(self.folder / "in", {"x": ones(2)})
        self.assertIn("safetensors, 1 tensor, ", self.expect(0, "info", "in").out)
        quantize = ("quantize", "in", "out", "--profile", "mxfp4/ocp")
        self.expect_error(2, ["lists its 1 tensor\n"], *quantize, "--tensor", "y")
        self.expect(0, *quantize)
        self.assertIn("safetensors, 2 tensors, ", self.expect(0, "info", "out").out)
        (self.folder / "out").write_bytes((self.folder / "out").read_bytes() + b"0")
        self.expect_error(3, ["the last 1 byte of the file"], "info", "out")
        study = ("study", "gaussian", "--rows", "1", "--columns", "1", "--profiles", "mxfp4/ocp")
        self.assertIn(", 1 element\n", self.expect(0, *study).out)

    def test_nan_codes(self):
        elements = json.loads(self.expect(0, "list", "formats", "--json").out)["elements"]
        codes = {element["name"]: (element["nan_code"], element["nan_codes"]) for element in elements}
        self.assertEqual(codes["e5m2"], (0x7E, [0x7D, 0x7E, 0x7F]))
        self.assertEqual(codes["e4m3"], (0x7F, [0x7F]))
        self.assertEqual(codes["e2m1"], (None, []))
        self.assertIn("0x7e (0x7d..0x7f)", self.expect(0, "list", "formats").out)


class ForeignFiles(command.CommandTest):
    def test_a_valid_file_of_another_program(self):
        content = {"b": ones(1), "a": ones(1)}  # not in canonical order
        for metadata in (None, {"format": "pt"}, {"fp4proof.format": "other"}):
            st.write(self.folder / "foreign", content, metadata)
            outcome = self.expect(0, "lint", "foreign")
            self.assertIn("not a file of fp4proof", outcome.out)
            self.assertIn("1 passed, 0 failed, 1 skipped", outcome.out)
        st.write(self.folder / "ours", content, {"fp4proof.format": "fp4proof-dequantized/1"})
        self.assertIn("canonical", self.expect(3, "lint", "ours").out)
        st.write(self.folder / "foreign", content)
        broken = (self.folder / "foreign").read_bytes()[:-1]
        (self.folder / "foreign").write_bytes(broken)
        self.expect(3, "lint", "foreign")


if __name__ == "__main__":
    VECTORS = pathlib.Path(sys.argv.pop(2)).resolve()
    command.main()
