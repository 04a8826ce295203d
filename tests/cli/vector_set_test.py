#!/usr/bin/env python3
"""fp4proof lint and info on vector sets.

Usage: vector_set_test.py FP4PROOF VECTORS

VECTORS holds the committed sets.
"""

import json
import pathlib
import shutil
import sys

import command
import safetensors_file as st

VECTORS = pathlib.Path(sys.argv.pop(2)).resolve()


class VectorSets(command.CommandTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(VECTORS / "smoke", self.folder / "smoke")
        self.manifest = json.loads((self.folder / "smoke" / "manifest.json").read_text())
        self.file = self.folder / "smoke" / sorted(self.manifest["files"])[0]

    def lint(self, code, *words):
        outcome = self.expect(code, "lint", "smoke")
        for word in words:
            self.assertIn(word, outcome.out)
        return outcome.out

    def test_committed_sets_are_in_order(self):
        for name in ("smoke", "quick"):
            lines = self.expect(0, "lint", VECTORS / name).out.splitlines()
            manifest = json.loads((VECTORS / name / "manifest.json").read_text())
            self.assertEqual(lines[-1], f"{len(lines) - 1} passed, 0 failed, 0 skipped")
            for file in manifest["files"]:
                self.assertIn(f"ok    {file}: cases", lines)

    def test_info(self):
        described = json.loads(self.expect(0, "info", "smoke", "--json").out)
        self.assertEqual(described["set"], "smoke")
        self.assertEqual({table["file"] for table in described["tables"]}, set(self.manifest["files"]))
        self.assertEqual(described["cases"], sum(table["cases"] for table in described["tables"]))
        self.assertIn('vector set "smoke"', self.expect(0, "info", "smoke").out)
        files = json.loads(self.expect(0, "info", "smoke/manifest.json", "--json").out)["files"]
        self.assertEqual(files, self.manifest["files"])

    def test_a_changed_byte(self):
        content = bytearray(self.file.read_bytes())
        content[-1] ^= 1
        self.file.write_bytes(bytes(content))
        self.lint(3, "FAIL  manifest: digests", self.file.name)

    def test_verdicts_name_the_output_at_fault(self):
        tensors, metadata = st.read(self.folder / "smoke" / "correct.mxfp4.rceil.safetensors")
        expected = {}
        for name, (dtype, shape, content) in tensors.items():
            group, output = name.split("/")[-2:]
            if output in ("macro", "residual_scales") and expected.get(group) != "macro":
                expected[group] = output
        for name, (dtype, shape, content) in tensors.items():
            group, output = name.split("/")[-2:]
            if expected.get(group) == output:
                tensors[name] = dtype, shape, bytes([content[0] ^ 1]) + content[1:]
        st.write(self.folder / "answers", tensors, metadata)
        # The other operations of the profile have no answers here (exit code 5). They are read after `correct`.
        options = ("--profile", "mxfp4/rceil", "--errors", 100, "--json", "report")
        outcome = self.expect(5, "verify", "smoke", "--actual", "answers", *options)
        mismatches = json.loads((self.folder / "report").read_text())["mismatches"]
        self.assertEqual({mismatch["group"]: mismatch["tensor"] for mismatch in mismatches}, expected)
        self.assertEqual(set(expected.values()), {"macro", "residual_scales"})
        for output in expected.values():
            self.assertIn(f" {output} ", outcome.out)

    def test_a_missing_file(self):
        self.file.unlink()
        self.lint(3, "FAIL  manifest: digests", self.file.name)

    def test_a_stray_file(self):
        (self.folder / "smoke" / "note.txt").write_text("hello")
        self.lint(3, "FAIL  manifest: no other files", "note.txt")

    def test_a_table_without_a_tensor(self):
        tensors, metadata = st.read(self.file)
        tensors.pop(sorted(tensors)[0])
        st.write(self.file, tensors, metadata)
        self.lint(3, f"FAIL  {self.file.name}: cases")

    def test_another_layout_of_the_manifest(self):
        (self.folder / "smoke" / "manifest.json").write_text(json.dumps(self.manifest))
        self.lint(3, "FAIL  manifest: canonical form")

    def test_a_broken_manifest(self):
        (self.folder / "smoke" / "manifest.json").write_text("{")
        self.lint(3, "FAIL  manifest: structure")
        self.expect_error(3, ["manifest.json"], "info", "smoke")

    def test_lists_name_what_the_sets_hold(self):
        sets = json.loads(self.expect(0, "list", "sets", "--json").out)["sets"]
        self.assertEqual([one["set"] for one in sets], ["smoke", "quick", "full"])
        classes = json.loads(self.expect(0, "list", "classes", "--json").out)["classes"]
        self.assertGreater(len(classes), 20)
        self.assertEqual(len({one["class"] for one in classes}), len(classes))
        self.assertTrue(all(one["bug"] and one["operation"] for one in classes))


if __name__ == "__main__":
    command.main()
