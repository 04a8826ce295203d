"""Usage: export_test.py FP4PROOF VECTORS [unittest arguments]

`fp4proof export`: every format is read back by a reader of its own and compared with the set, bit for bit.
"""

import hashlib
import json
import math
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import command  # noqa: E402
import export_readers as read  # noqa: E402

VECTORS = pathlib.Path()

# Debian's Python, where python3-numpy is, and this one.
PYTHONS = ["/usr/bin/python3", sys.executable]

NATIVE = {"e2m1": "F4", "e4m3": "F8_E4M3", "e5m2": "F8_E5M2", "e8m0": "F8_E8M0", "f32": "F32", "f64": "F64",
          "u16": "U16", "u32": "U32", "u64": "U64"}


def product(shape):
    return math.prod(shape)


class ExportTest(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def export(self, *arguments, set_="smoke"):
        self.expect(0, "export", "--set", VECTORS / set_, "--out", "out", "--force", *arguments)
        return json.loads((self.out / "export.json").read_text())

    def group(self, entry):
        """(folder, sidecar, tensors of the set) of an entry of export.json."""
        path = self.out / entry["sidecar"]
        sidecar = json.loads(path.read_text())
        table = f"{entry['operation']}.{entry['profile'].replace('/', '.')}"
        stored = read.safetensors(VECTORS / "smoke" / f"{table}.safetensors")
        prefix = f"{entry['operation']}/{entry['profile']}/{entry['group']}/"
        tensors = {name[len(prefix):]: data for name, data in stored.items() if name.startswith(prefix)}
        return path.parent, sidecar, tensors

    def check_described(self, sidecar, tensors):
        """The sidecar describes every tensor of the set, and nothing else."""
        self.assertEqual(sorted(column["name"] for column in sidecar["columns"]), sorted(tensors))
        ids = read.elements("U64", 64, tensors["case_id"][2])
        self.assertEqual(sidecar["case_ids"], [f"{number:016x}" for number in ids])
        self.assertEqual(sidecar["cases"], len(ids))
        digest = hashlib.sha256(b"".join(tensors[column["name"]][2] for column in sidecar["columns"]))
        self.assertEqual(sidecar["cases_sha256"], digest.hexdigest())
        for column in sidecar["columns"]:
            words = column["words"]
            self.assertEqual(words["count"], product(words["shape"]))
            self.assertEqual(words["per_case"] * sidecar["cases"], words["count"])
            self.assertEqual(words["width"], words["slots"] * words["slot_bits"])
            self.assertEqual(column["shape"][0], sidecar["cases"])

    def words_of_set(self, sidecar, column, tensors):
        """The words that a column of `element` granularity must have."""
        return read.elements(tensors[column["name"]][0], column["words"]["slot_bits"], tensors[column["name"]][2])

    def test_elements_of_every_group(self):
        index = self.export("--format", "hex,csv,npy,safetensors")
        groups = 0
        kinds = set()
        for entry in index["groups"]:
            folder, sidecar, tensors = self.group(entry)
            self.check_described(sidecar, tensors)
            groups += 1
            stem = pathlib.Path(entry["sidecar"]).stem
            rows = read.csv_rows(folder / f"{stem}.csv")
            native = read.safetensors(folder / f"{stem}.safetensors")
            self.assertEqual([row["case_id"] for row in rows], sidecar["case_ids"])
            self.assertEqual([row["class"] for row in rows], sidecar["classes"])
            self.assertEqual(sorted(native), sorted(tensors))
            for column in sidecar["columns"]:
                name = column["name"]
                kinds.add(column["dtype"])
                expected = self.words_of_set(sidecar, column, tensors)
                self.assertEqual(len(expected), product(column["shape"]), name)
                words, digits = read.hex_words(folder / f"{stem}.{name}.hex")
                self.assertEqual(words, expected, f"{entry}: {name}")
                self.assertEqual(digits * 4, column["words"]["width"])
                _, shape, numbers = read.npy(folder / f"{stem}.{name}.npy")
                self.assertEqual(numbers, expected)
                self.assertEqual(list(shape), column["shape"])
                if column["role"] != "identity":
                    fields = [int(word, 16) for row in rows for word in row[name].split(" ")]
                    self.assertEqual(fields, expected)
                dtype, shape, content = native[name]
                self.assertEqual(content, tensors[name][2])
                self.assertEqual(dtype, NATIVE.get(column["dtype"], "U8"), name)
                self.assertEqual((dtype, shape), (column["native"]["dtype"], column["native"]["shape"]))
                if dtype != "U8":
                    self.assertEqual(shape, column["shape"])
            for name, record in sidecar["files"].items():
                content = (folder / name).read_bytes()
                self.assertEqual((len(content), hashlib.sha256(content).hexdigest()),
                                 (record["bytes"], record["sha256"]))
        self.assertGreater(groups, 100)
        self.assertLessEqual({"e2m1", "e8m0", "e4m3", "s1p2", "hif4-scale-word", "f32", "f64", "u8", "u32"}, kinds)
        manifest = json.loads((VECTORS / "smoke" / "manifest.json").read_text())
        self.assertEqual(index["cases"], sum(table["cases"] for table in manifest["body"]["tables"]))
        digest = hashlib.sha256((VECTORS / "smoke" / "manifest.json").read_bytes()).hexdigest()
        self.assertEqual(index["set"]["manifest_sha256"], digest)

    def test_packed_words_are_the_bytes_of_the_set(self):
        index = self.export("--format", "hex,npy,csv", "--words", "packed", "--profile", "hif4/gcc")
        for entry in index["groups"]:
            folder, sidecar, tensors = self.group(entry)
            stem = pathlib.Path(entry["sidecar"]).stem
            for column in sidecar["columns"]:
                dtype, shape, content = tensors[column["name"]]
                expected = read.elements(dtype, {"U8": 8, "U16": 16, "U32": 32, "U64": 64}[dtype], content)
                self.assertEqual(read.hex_words(folder / f"{stem}.{column['name']}.hex")[0], expected)
                self.assertEqual(list(read.npy(folder / f"{stem}.{column['name']}.npy")[1]), shape)

    def test_blocks_stand_at_the_same_address_everywhere(self):
        index = self.export("--format", "hex", "--words", "block", "--operation", "quantize", "--profile", "mxfp4/ocp",
                            "--profile", "hif4/gcc")
        axes = set()
        for entry in index["groups"]:
            folder, sidecar, tensors = self.group(entry)
            stem = pathlib.Path(entry["sidecar"]).stem
            length = sidecar["block"]["columns"]
            rows, columns, axis = (sidecar["parameters"][name] for name in ("rows", "columns", "axis"))
            axes.add((axis, sidecar["parameters"]["tail"]))
            source = read.elements("U32", 32, tensors["input"][2])
            expected = []
            for case in range(sidecar["cases"]):
                matrix = source[case * rows * columns : (case + 1) * rows * columns]
                lines = [matrix[r * columns : (r + 1) * columns] for r in range(rows)]
                if axis == 0:
                    lines = [list(line) for line in zip(*lines)]
                for line in lines:
                    for first in range(0, len(line), length):
                        expected.append(sum(word << 32 * i for i, word in enumerate(line[first : first + length])))
            self.assertEqual(read.hex_words(folder / f"{stem}.input.hex")[0], expected, entry)
            codes = read.elements("U8", 4, tensors["codes"][2])
            blocks = [sum(code << 4 * i for i, code in enumerate(codes[b : b + length]))
                      for b in range(0, len(codes), length)]
            self.assertEqual(read.hex_words(folder / f"{stem}.codes.hex")[0], blocks)
            self.assertEqual(len(read.hex_words(folder / f"{stem}.scales.hex")[0]), len(blocks))
            self.assertEqual(len(expected), len(blocks))
        self.assertGreaterEqual(len(axes), 3, axes)

    def test_numpy_reads_npy(self):
        """With NumPy where there is one; the reader of this test stands for it elsewhere."""
        with_numpy = [python for python in PYTHONS if shutil.which(python) and subprocess.run(
            [python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0]
        if not with_numpy:
            self.skipTest("no Python here has NumPy")
        self.export("--format", "npy", "--profile", "mxfp4/ocp", "--operation", "dequantize")
        stem = self.out / "dequantize.mxfp4.ocp" / "1x32"
        program = ("import numpy, sys; a = numpy.load(sys.argv[1]); print(a.dtype, *a.shape, *a.ravel())")
        process = subprocess.run([with_numpy[0], "-c", program, f"{stem}.values.npy"], capture_output=True, text=True,
                                 check=True)
        dtype, cases, rows, columns, *numbers = process.stdout.split()
        _, shape, expected = read.npy(pathlib.Path(f"{stem}.values.npy"))
        self.assertEqual((dtype, (int(cases), int(rows), int(columns))), ("uint32", shape))
        self.assertEqual([int(number) for number in numbers], expected)

    def check_same_files(self, first, second):
        """Both exports hold the same files, the JSON aside, which names the source."""
        files = sorted(path.relative_to(self.folder / first) for path in (self.folder / first).rglob("*")
                       if path.is_file() and path.suffix != ".json")
        self.assertGreater(len(files), 20)
        for file in files:
            self.assertEqual((self.folder / first / file).read_bytes(), (self.folder / second / file).read_bytes(), file)

    def test_named_set_and_questions_equal_a_folder(self):
        """The answers of the folder, of the set made in memory, and those found for questions without answers."""
        asked = ("--set", "smoke", "--profile", "nvfp4/tensor-scale")
        self.expect(0, "generate", *asked, "--out", "answers")
        self.expect(0, "generate", *asked, "--out", "questions", "--inputs-only")
        for source, out in (("answers", "a"), ("questions", "q"), ("smoke", "n")):
            self.expect(0, "export", "--set", source, "--profile", "nvfp4/tensor-scale", "--format", "hex,csv,c-header",
                        "--out", out)
        self.check_same_files("a", "q")
        self.check_same_files("a", "n")

    def test_profile_that_shares_its_cases(self):
        index = self.export("--format", "csv", "--profile", "mxfp4/ceil", "--profile", "mxfp4/ocp", "--operation",
                            "dequantize")
        self.assertEqual({entry["profile"] for entry in index["groups"]}, {"mxfp4/ocp"})
        self.assertEqual(len(index["groups"]), 1)

    def test_withdrawn_cases_are_left_out(self):
        shutil.copytree(VECTORS / "smoke", self.folder / "set")
        whole = self.export("--format", "csv", "--profile", "mxfp4/ocp", "--operation", "dequantize")
        sidecar = json.loads((self.out / whole["groups"][0]["sidecar"]).read_text())
        gone = sidecar["case_ids"][3]
        errata = {"format": "fp4proof-errata/1", "withdrawn": [{"case_id": gone, "reason": "why", "since": "0.2.0"}]}
        (self.folder / "set" / "ERRATA.json").write_text(json.dumps(errata))
        outcome = self.expect(0, "export", "--set", "set", "--out", "less", "--format", "csv", "--profile", "mxfp4/ocp",
                              "--operation", "dequantize")
        self.assertIn("1 case left out", outcome.err)
        rows = read.csv_rows(self.folder / "less" / "dequantize.mxfp4.ocp" / "1x32.csv")
        expected = read.csv_rows(self.out / "dequantize.mxfp4.ocp" / "1x32.csv")
        self.assertEqual(rows, [row for row in expected if row["case_id"] != gone])
        self.assertEqual(len(rows), len(expected) - 1)

    def test_refusals(self):
        base = ("export", "--set", VECTORS / "smoke", "--out", "out")
        hex_ = (*base, "--format", "hex")
        self.expect_error(2, ['format "hexx"', "did you mean 'hex'?"], *base, "--format", "hexx")
        self.expect_error(2, ["did you mean 'mxfp4/ocp'?"], *hex_, "--profile", "mxfp4/ocpp")
        self.expect_error(2, ['operation "dequantise"', "did you mean 'dequantize'?"], *hex_, "--op", "dequantise")
        self.expect_error(2, ['group "1x33"', "did you mean '1x32'?"], *hex_, "--group", "1x33", "--profile",
                          "mxfp4/ocp", "--op", "dequantize")
        self.expect_error(2, ['"blok"', "did you mean 'block'?"], *hex_, "--words", "blok")
        self.expect_error(2, ['--set "quik"', "did you mean 'quick'?"], "export", "--set", "quik", "--out", "out",
                          "--format", "hex")
        self.expect_error(2, ["npy", "element or packed"], *base, "--format", "npy", "--words", "block")
        self.expect_error(2, ["no cases of this"], *hex_, "--profile", "mxfp4/cuda-floor", "--op", "decompose")
        self.assertEqual(self.names(), [])

    def test_folder_appears_whole_and_is_not_overwritten(self):
        one = ("export", "--set", VECTORS / "smoke", "--out", "out", "--format", "csv", "--profile", "mxfp4/ocp")
        self.expect(0, *one)
        before = sorted(self.out.rglob("*"))
        self.expect_error(2, ["already holds a set of exported vectors", "--force"], *one, "--op", "gemm")
        self.assertEqual(sorted(self.out.rglob("*")), before)
        self.expect(0, *one, "--op", "gemm", "--force")
        self.assertEqual([path.name for path in self.out.iterdir() if path.is_dir()], ["gemm.mxfp4.ocp"])
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "thesis.txt").write_text("keep")
        self.expect_error(2, ["holds no set of exported vectors"], *one[:3], "--out", "mine", *one[5:], "--force")
        self.assertEqual((self.folder / "mine" / "thesis.txt").read_text(), "keep")
        self.assertEqual(self.names(), ["mine", "out"])


if __name__ == "__main__":
    VECTORS = pathlib.Path(sys.argv.pop(2)).resolve()
    command.main()
