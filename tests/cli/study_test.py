"""fp4proof study and fp4proof reproduce corrections, as a user runs them.

Usage: study_test.py FP4PROOF DOCS [unittest arguments]
"""

import html.parser
import json
import math
import pathlib
import re
import struct
import sys
import xml.etree.ElementTree

import command
import safetensors_file

DOCS = None
MASK = 0xFFFFFFFF


def philox_words(seed, step, block):
    """The four words of one Philox block of the stream `eval` (docs/randomness.md)."""
    counter = [block & MASK, block >> 32, step, 9]
    key = [seed & MASK, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(second >> 32) ^ counter[1] ^ key[0], second & MASK, (first >> 32) ^ counter[3] ^ key[1], first & MASK]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return counter


def bf16_word(value):
    (word,) = struct.unpack("<I", struct.pack("<f", value))
    return (word + 0x7FFF + ((word >> 16) & 1)) >> 16


def gaussian_words(seed, step, count):
    """bfloat16 words of the distribution `gaussian`, by the formulas of docs/study.md and a library's functions."""
    words = []
    for element in range(count):
        pair = philox_words(seed, step, element >> 2)[element & 2 : (element & 2) + 2]
        radius = math.sqrt(-2 * math.log((pair[0] + 0.5) * 2**-32))
        angle = 2 * math.pi * (pair[1] + 0.5) * 2**-32
        words.append(bf16_word(radius * (math.sin(angle) if element & 1 else math.cos(angle))))
    return words


def bf16_tensor(shape, words):
    return "BF16", shape, struct.pack(f"<{len(words)}H", *words)


class PageParser(html.parser.HTMLParser):
    """Remembers the tags of a page and what they load."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.tags = set()
        self.loads = []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.loads += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "line", "rect", "circle", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("line", "rect", "circle", "polyline"):
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


class StudyTest(command.CommandTest):
    def study(self, *arguments):
        """The tables of the JSON report."""
        report = json.loads(self.expect(0, "study", *arguments, "--json", "-").out)
        self.assertEqual(report["format"], "fp4proof-study/1")
        return report["tables"]

    def small(self, *arguments):
        """The rows of a study of a small distribution, by (profile, corrections)."""
        (table,) = self.study(*arguments, "--rows", 64, "--columns", 256)
        return {(row["profile"], row["corrections"]): row for row in table["rows"]}

    def write_tensors(self):
        words = gaussian_words(7, 0, 64 * 64 + 96 * 32)
        safetensors_file.write(
            self.folder / "in.safetensors",
            {
                "first": bf16_tensor([64, 64], words[: 64 * 64]),
                "second": bf16_tensor([96, 32], words[64 * 64 :]),
                "numbers": ("I32", [2], bytes(8)),
            },
        )

    def test_bits_by_hand(self):
        profiles = "mxfp4/rceil,mxfp8-e4m3/rceil,mxfp6-e2m3/rceil,hif4/gcc,nvfp4/direct,nvfp4/tensor-scale"
        stacks = "none,resq,rfq,mbs,mbs-32,mbs+resq,resq-channels,rfq-l2,tile-32"
        rows = self.small("gaussian", "--profiles", profiles, "--corrections", stacks)
        count = 64 * 256
        expected = {
            ("mxfp4/rceil", "none"): 4.25,
            ("mxfp4/rceil", "mbs"): 4.25 + 8 / 128,
            ("mxfp4/rceil", "mbs-32"): 4.25 + 8 / 32,
            ("mxfp4/rceil", "rfq"): 8.5,
            ("mxfp4/rceil", "resq"): 4.25 + 3 + 0.25,
            ("mxfp4/rceil", "mbs+resq"): 4.25 + 3 + 0.25 + 2 * 8 / 128,
            ("mxfp4/rceil", "resq-channels"): 4.25 + 2 + 0.25 + 1 / 64,
            ("mxfp4/rceil", "rfq-l2"): 4.25 + 2 + 0.25 + 4 / count,
            ("mxfp4/rceil", "tile-32"): 4.25,
            ("mxfp8-e4m3/rceil", "none"): 8.25,
            ("mxfp8-e4m3/rceil", "resq"): 8.25 + 5 + 0.25,
            ("mxfp6-e2m3/rceil", "none"): 6.25,
            ("hif4/gcc", "none"): 4.5,
            ("hif4/gcc", "resq"): 8.0,
            ("nvfp4/direct", "none"): 4.5,
            ("nvfp4/tensor-scale", "none"): 4.5 + 32 / count,
        }
        for pair, bits in expected.items():
            self.assertEqual(rows[pair]["bits_per_element"], bits, pair)

    def test_errors_agree_with_compare(self):
        self.write_tensors()
        profiles = "mxfp4/ocp,mxfp4/rceil,hif4/gcc,nvfp4/tensor-scale"
        compared = json.loads(self.expect(0, "compare", "in.safetensors", "--profiles", profiles, "--json").out)
        tables = self.study("in.safetensors", "--profiles", profiles, "--per-tensor")
        self.assertEqual([table["subject"] for table in tables], ["first", "second", "all 2 tensors"])
        for table in tables:
            errors = compared["tensors"].get(table["subject"], compared["all"])
            for row in table["rows"]:
                other = errors[row["profile"]]
                self.assertAlmostEqual(row["relative_error"] / other["relative_error"], 1, delta=1e-12)
                self.assertEqual(row["zeroed"], other["zeroed"])
                self.assertEqual(row["saturated"], other["saturated"])

    def test_sum_of_tensors(self):
        self.write_tensors()
        arguments = ("in.safetensors", "--profiles", "mxfp4/rceil", "--corrections", "none,resq")
        first, second, every = self.study(*arguments, "--per-tensor")
        self.assertEqual(self.study(*arguments), [every])
        self.assertEqual(self.study(*arguments, "--tensor", "second"), [second])
        self.assertEqual(every["elements"], first["elements"] + second["elements"])
        for a, b, both in zip(first["rows"], second["rows"], every["rows"]):
            self.assertEqual(both["bits"], a["bits"] + b["bits"])
            self.assertEqual(both["elements"], a["elements"] + b["elements"])
            low, high = sorted((a["relative_error"], b["relative_error"]))
            self.assertTrue(low <= both["relative_error"] <= high)

    def test_a_distribution_is_its_file(self):
        safetensors_file.write(self.folder / "in.safetensors", {"x": bf16_tensor([8, 64], gaussian_words(1, 0, 512))})
        arguments = ("--profiles", "mxfp4/rceil", "--corrections", "none,resq,mbs")
        (drawn,) = self.study("gaussian", *arguments, "--rows", 8, "--columns", 64)
        (read,) = self.study("in.safetensors", *arguments)
        self.assertEqual(drawn["rows"], read["rows"])

    def decoded(self, words, shape):
        """A tensor quantized and decoded by the command."""
        safetensors_file.write(self.folder / "t.safetensors", {"x": bf16_tensor(shape, words)})
        self.expect(0, "quantize", "t.safetensors", "q.safetensors", "--profile", "mxfp4/rceil")
        self.expect(0, "dequantize", "q.safetensors", "d.safetensors")
        _, _, content = safetensors_file.read(self.folder / "d.safetensors")[0]["x"]
        return struct.unpack(f"<{shape[0] * shape[1]}f", content)

    def test_dot_product_error(self):
        rows, columns = 5, 64
        words = {"x": gaussian_words(3, 0, rows * columns), "w": gaussian_words(3, 1, 64 * columns)}
        exact = {k: [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in v] for k, v in words.items()}
        coded = {"x": self.decoded(words["x"], [rows, columns]), "w": self.decoded(words["w"], [64, columns])}

        def products(pair):
            x, w = pair["x"], pair["w"]
            return [
                math.fsum(x[r * columns + k] * w[c * columns + k] for k in range(columns))
                for r in range(rows)
                for c in range(64)
            ]

        true, found = products(exact), products(coded)
        error = math.sqrt(sum((a - b) ** 2 for a, b in zip(true, found)) / sum(a * a for a in true))
        (table,) = self.study("gaussian", "--profiles", "mxfp4/rceil", "--rows", rows, "--columns", columns, "--seed", 3)
        self.assertAlmostEqual(table["rows"][0]["dot_product_error"] / error, 1, delta=1e-12)

    def test_same_numbers_on_any_number_of_threads(self):
        arguments = ("study", "student-t4", "--profiles", "mxfp4/rceil,hif4/gcc", "--corrections",
                     "none,resq,mbs,resq-tiles", "--rows", 100, "--columns", 512, "--json", "-")  # fmt: skip
        one = self.expect(0, *arguments, "--threads", 1).out
        self.assertEqual(one, self.expect(0, *arguments, "--threads", 5).out)

    def test_refused_pairs_are_listed(self):
        rows = self.small("gaussian", "--profiles", "mxfp4/ocp,hif4/gcc", "--corrections", "none,mbs,tile-32")
        for pair in (("mxfp4/ocp", "mbs"), ("hif4/gcc", "mbs"), ("hif4/gcc", "tile-32")):
            self.assertTrue(rows[pair]["refused"], pair)
            self.assertNotIn("relative_error", rows[pair])
        for pair in (("mxfp4/ocp", "none"), ("mxfp4/ocp", "tile-32"), ("hif4/gcc", "none")):
            self.assertNotIn("refused", rows[pair])
        text = self.expect(0, "study", "gaussian", "--profiles", "mxfp4/ocp", "--corrections", "none,mbs",
                           "--rows", 4, "--columns", 64).out  # fmt: skip
        self.assertRegex(text, r"mxfp4/ocp +mbs +refused\n")
        self.assertIn("refused: mxfp4/ocp + mbs: ", text)
        self.expect_error(5, ["every pair"], "study", "gaussian", "--profiles", "hif4/gcc", "--corrections", "mbs")

    def test_a_tensor_can_refuse(self):
        safetensors_file.write(self.folder / "in.safetensors", {"x": bf16_tensor([4, 40], gaussian_words(1, 0, 160))})
        (table,) = self.study("in.safetensors", "--profiles", "mxfp4/rceil", "--corrections", "none,hadamard-16")
        plain, transformed = table["rows"]
        self.assertEqual(plain["bits_per_element"], (64 * 4 + 16) / 40)
        self.assertIn("multiple", transformed["refused"])

    def test_page(self):
        self.expect(0, "study", "outlier-channels", "--profiles", "mxfp4/rceil,hif4/gcc", "--corrections",
                    "none,resq,mbs", "--rows", 64, "--columns", 512, "--html", "page.html")  # fmt: skip
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        parser = PageParser()
        parser.feed(page)
        self.assertEqual(parser.open, [])
        self.assertEqual(parser.loads, [])
        self.assertNotIn("script", parser.tags)
        drawings = re.findall(r"<svg .*?</svg>", page, re.DOTALL)
        self.assertEqual(len(drawings), 6)
        for drawing in drawings:
            xml.etree.ElementTree.fromstring(drawing)
        scatter = drawings[0]
        self.assertEqual(scatter.count("<circle") - 2, 5)  # five pairs, two groups in the legend
        self.assertIn("refused: hif4/gcc + mbs", page)

    def test_empty_and_special_tensors(self):
        infinity = 0x7F80
        safetensors_file.write(
            self.folder / "in.safetensors",
            {
                "empty": bf16_tensor([0, 32], []),
                "zero": bf16_tensor([2, 32], [0] * 64),
                "infinite": bf16_tensor([1, 64], [infinity] + gaussian_words(1, 0, 63)),
                "scalar": bf16_tensor([], [0x3F80]),
            },
        )
        tables = self.study("in.safetensors", "--profiles", "mxfp4/rceil,hif4/gcc", "--corrections", "none,resq",
                            "--per-tensor")  # fmt: skip
        self.assertEqual([t["elements"] for t in tables], [0, 64, 1, 64, 129])
        by_name = {table["subject"]: table["rows"][0] for table in tables}
        self.assertEqual(by_name["zero"]["relative_error"], 0)
        self.assertGreater(by_name["infinite"]["excluded"], 0)

    def test_names_of_tensors_stay_on_their_line(self):
        safetensors_file.write(self.folder / "in.safetensors", {"a\n\x1b[31mb": bf16_tensor([1, 32], [0x3F80] * 32)})
        text = self.expect(0, "study", "in.safetensors", "--profiles", "mxfp4/ocp").out
        self.assertEqual(text.splitlines()[0], '"a\\n\\u001b[31mb", 32 elements')

    def test_errors(self):
        self.write_tensors()
        self.expect_error(2, ["did you mean 'gaussian'"], "study", "gausian", "--profiles", "mxfp4/ocp")
        self.expect_error(2, ["even number"], "study", "student-t5", "--profiles", "mxfp4/ocp")
        self.expect_error(2, ["period"], "study", "outlier-channels:period=0", "--profiles", "mxfp4/ocp")
        self.expect_error(2, ["missing.safetensors"], "study", "missing.safetensors", "--profiles", "mxfp4/ocp")
        self.expect_error(2, ["mxfp4/ocq"], "study", "gaussian", "--profiles", "mxfp4/ocq")
        self.expect_error(2, ["resk"], "study", "gaussian", "--profiles", "mxfp4/ocp", "--corrections", "resk")
        self.expect_error(2, ["twice"], "study", "gaussian", "--profiles", "mxfp4/ocp,mxfp4/ocp")
        self.expect_error(2, ["twice"], "study", "gaussian", "--profiles", "mxfp4/ocp", "--corrections", "resq,resq")
        self.expect_error(2, ["--profiles"], "study", "gaussian")
        self.expect_error(2, ["--tensor"], "study", "gaussian", "--profiles", "mxfp4/ocp", "--tensor", "x")
        self.expect_error(2, ["--axis"], "study", "gaussian", "--profiles", "mxfp4/ocp", "--axis", 0)
        self.expect_error(2, ["--rows"], "study", "gaussian", "--profiles", "mxfp4/ocp", "--rows", 0)
        self.expect_error(2, ["a file has its own"], "study", "in.safetensors", "--profiles", "mxfp4/ocp", "--rows", 512)
        self.expect_error(2, ["too many"], "study", "gaussian", "--profiles", "mxfp4/ocp", "--rows", 100000000)
        self.expect_error(2, ["thirst"], "study", "in.safetensors", "--profiles", "mxfp4/ocp", "--tensor", "thirst")
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_outputs_never_replace_inputs(self):
        self.write_tensors()
        before = (self.folder / "in.safetensors").read_bytes()
        for option in ("--json", "--html"):
            self.expect(2, "study", "in.safetensors", "--profiles", "mxfp4/ocp", option, "in.safetensors")
        self.expect(2, "study", "gaussian", "--profiles", "mxfp4/ocp", "--json", "a", "--html", "./a")
        self.expect(2, "study", "gaussian", "--profiles", "mxfp4/ocp", "--html", "no/such/folder.html")
        self.expect_error(2, ["--html writes to a file"], "study", "gaussian", "--profiles", "mxfp4/ocp", "--html", "-")
        self.assertEqual((self.folder / "in.safetensors").read_bytes(), before)
        self.assertEqual(self.names(), ["in.safetensors"])

    def test_files_hold_what_is_printed(self):
        arguments = ("study", "laplace", "--profiles", "mxfp4/even", "--rows", 8, "--columns", 64)
        printed = self.expect(0, *arguments, "--json", "-").out
        table = self.expect(0, *arguments, "--json", "out.json").out
        self.assertEqual((self.folder / "out.json").read_text(), printed)
        self.assertEqual(table, self.expect(0, *arguments).out)


class ReproduceTest(command.CommandTest):
    def test_every_figure_holds_and_the_page_is_the_committed_one(self):
        report = json.loads(self.expect(0, "reproduce", "corrections", "--json", "--markdown", "page.md").out)
        self.assertTrue(report["holds"])
        judged = [f for table in report["tables"] for f in table["figures"] if f["bounds"]]
        self.assertGreater(len(judged), 40)
        for figure in judged:
            low, high = figure["bounds"]
            self.assertTrue(low <= figure["measured"] <= high, figure)
            if figure["published"] is not None:
                self.assertTrue(low <= figure["published"] <= high, figure)
        self.assertEqual(
            (self.folder / "page.md").read_text(encoding="utf-8"),
            (DOCS / "correction-figures.md").read_text(encoding="utf-8"),
            "run `fp4proof reproduce corrections --markdown docs/correction-figures.md`",
        )

    def test_options_of_other_figures(self):
        self.expect_error(2, ["--svg", "hif4-figure-3"], "reproduce", "corrections", "--svg", "a.svg")
        self.expect_error(2, ["--markdown", "corrections"], "reproduce", "hif4-figure-3", "--markdown", "a.md")
        self.expect(2, "reproduce", "corrections", "--markdown", "no/such/page.md")
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    DOCS = pathlib.Path(sys.argv.pop(2)).resolve()
    command.main()
