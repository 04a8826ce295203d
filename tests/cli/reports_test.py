"""Usage: reports_test.py FP4PROOF REPORT_WRITER ZOO_FOLDER SCHEMA VECTORS [unittest arguments]

Reports of real runs: the document against its schema, JUnit, SARIF and HTML against what their readers demand.
REPORT_WRITER turns documents that no run gives, damaged, hostile and huge ones, into each format.
"""

import copy
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import jsonschema

import command
import report_structures

WRITER = ""
ZOO = pathlib.Path()
SCHEMA = {}
VECTORS = pathlib.Path()

PLANTED = tempfile.TemporaryDirectory()
DOCUMENTS = {}


def formats():
    return ("junit", "sarif", "html")


def check_structure(name, text):
    if name == "junit":
        report_structures.junit_cases(text)
    elif name == "sarif":
        report_structures.sarif_run(text, jsonschema)
    else:
        report_structures.page_text(text)


def written(name, document):
    """The document in a format, through REPORT_WRITER."""
    process = subprocess.run([WRITER, name], input=json.dumps(document).encode(), capture_output=True, timeout=100)
    assert process.returncode == 0, (name, process.returncode, process.stderr)
    return process.stdout.decode()


def run_arguments(plugin, *arguments):
    return ("run", "--backend", ZOO / plugin, "--set", "smoke", *arguments)


def split_of(*answers):
    return {answer: {"error": 0.5, "scale": 0.25, "deadzone": 0.0, "grid": 0.25} for answer in answers}


def planted(fault):
    """The kernel library under the name of a fault, which is what plants it."""
    copied = pathlib.Path(PLANTED.name) / f"{fault}.so"
    if not copied.exists():
        shutil.copy(ZOO / "kernels" / "zoo_kernels.so", copied)
    return copied


REAL = {
    "pass": (0, lambda: run_arguments("vendor_plugin.so", "--operation", "quantize", "--profile", "mxfp4/ocp")),
    "mismatch": (1, lambda: run_arguments("scale_off_by_one.so", "--operation", "dequantize")),
    "crash": (4, lambda: run_arguments("crash.so")),
    "not loaded": (4, lambda: run_arguments("no_table.so")),
    "incomplete": (5, lambda: run_arguments("vendor_plugin.so", "--profile", "hif4/gcc")),
    "unsupported": (6, lambda: run_arguments("vendor_plugin.so", "--profile", "mxfp4/ocp")),
    "nondeterministic": (7, lambda: run_arguments("nondeterministic.so")),
    "quantize": (1, lambda: run_arguments(planted("scale-ceil"), "--operation", "quantize", "--profile", "mxfp4/ocp")),
    "shard": (1, lambda: run_arguments("scale_off_by_one.so", "--operation", "dequantize", "--shard", "1/2")),
    "verify": (0, lambda: ("verify", VECTORS / "smoke", "--profile", "mxfp4/ocp")),
}


class ReportsTest(command.CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory() as folder:
            for name, (code, arguments) in REAL.items():
                path = pathlib.Path(folder) / "report.json"
                process = subprocess.run([command.BINARY, *map(str, arguments()), "--json", str(path)],
                                         capture_output=True, timeout=300)
                assert process.returncode == code, (name, process.returncode, process.stderr)
                DOCUMENTS[name] = json.loads(path.read_text())
                path.unlink()

    def validate(self, document):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)

    def test_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_documents_of_real_runs_obey_the_schema(self):
        for name, document in DOCUMENTS.items():
            with self.subTest(name):
                self.validate(document)
                self.assertEqual(document["exit_code"], REAL[name][0])

    def test_damaged_documents_are_refused(self):
        document = DOCUMENTS["mismatch"]
        damages = {
            "another format": lambda d: d.update(format="fp4proof-report/2"),
            "no tally": lambda d: d.pop("tally"),
            "a negative count": lambda d: d["tally"].update(failed=-1),
            "an unknown member": lambda d: d.update(extra=1),
            "an unknown verdict": lambda d: d.update(verdict="GOOD"),
            "a pass with exit code 1": lambda d: d.update(verdict="PASS"),
            "a failure with exit code 0": lambda d: d.update(exit_code=0),
            "an unknown exit code": lambda d: d.update(exit_code=8, verdict="ERROR"),
            "a failure without a reason": lambda d: d.update(reasons=[]),
            "an unknown operation": lambda d: d["tables"][0].update(operation="divide"),
            "an unknown cause": lambda d: d["tables"][0]["causes"].update(BAD={}),
            "a distance that is none": lambda d: next(iter(d["tables"][0]["causes"]["SCALE"].values()))["distances"].update(x=1),
            "a cell without a count": lambda d: d["tables"][0]["places"]["failed"].append([0, 0]),
            "an id that is none": lambda d: d["mismatches"][0].update(case_id="xyz"),
            "a word of 33 bits": lambda d: d["mismatches"][0].update(actual=2**32),
            "a digest that is none": lambda d: d["subject"].update(sha256="0"),
            "a number for a text": lambda d: d["subject"].update(name=1),
            "a decomposition without a count": lambda d: d["tables"][0].update(decomposition=split_of("expected", "actual")),
        }
        for name, damage in damages.items():
            with self.subTest(name):
                damaged = copy.deepcopy(document)
                damage(damaged)
                self.assertNotEqual(damaged, document)
                with self.assertRaises(jsonschema.ValidationError):
                    self.validate(damaged)

    def test_every_format_of_every_real_run(self):
        for name, document in DOCUMENTS.items():
            for form in formats():
                with self.subTest(name, form=form):
                    check_structure(form, written(form, document))

    def test_the_command_writes_what_the_writer_writes(self):
        names = {form: f"report.{form}" for form in formats()}
        options = [word for form, name in names.items() for word in ("--report", f"{form}={name}")]
        self.expect(1, *REAL["mismatch"][1](), *options, "--report", "json=report.json", "--report", "text=report.txt")
        document = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(document["tally"], DOCUMENTS["mismatch"]["tally"])
        for form, name in names.items():
            self.assertEqual((self.folder / name).read_text(), written(form, document), form)
        self.assertTrue((self.folder / "report.txt").read_text().endswith(" skipped\n"))

    def test_reports_that_cannot_be_written(self):
        run = REAL["pass"][1]()
        self.expect_error(2, ["--report"], *run, "--report", "pdf=report.pdf")
        self.expect_error(2, ["--report"], *run, "--report", "html")
        self.expect_error(2, ["absent"], *run, "--report", "html=absent/report.html")
        self.assertEqual(self.names(), [])

    def test_junit_counts_are_those_of_the_document(self):
        for name, document in DOCUMENTS.items():
            with self.subTest(name):
                cases = report_structures.junit_cases(written("junit", document))
                for table in document["tables"]:
                    class_name = f"fp4proof.{table['operation']}.{table['profile']}"
                    for case_class, tally in table["classes"].items():
                        wanted = "passed"
                        if tally["failed"]:
                            wanted = "failure"
                        elif not tally["passed"] and tally["skipped"]:
                            wanted = "skipped"
                        self.assertEqual(cases[class_name, case_class], wanted)
                is_bad = any(outcome in ("failure", "error") for outcome in cases.values())
                self.assertEqual(is_bad, document["exit_code"] != 0)

    def test_sarif_names_what_fails(self):
        run = report_structures.sarif_run(written("sarif", DOCUMENTS["mismatch"]), jsonschema)
        document = DOCUMENTS["mismatch"]
        ids = [mismatch["case_id"] for mismatch in document["mismatches"]]
        self.assertEqual([result["properties"].get("case") for result in run["results"]][: len(ids)], ids)
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        table = document["tables"][0]
        self.assertEqual(rules, {f"{cause}/{kind}" for cause, kinds in table["causes"].items() for kind in kinds})
        self.assertEqual(run["artifacts"][0]["hashes"]["sha-256"], document["subject"]["sha256"])
        for name, document in DOCUMENTS.items():
            run = report_structures.sarif_run(written("sarif", document), jsonschema)
            self.assertEqual(bool(run["results"]), document["exit_code"] != 0, name)

    def test_page_tells_the_verdict(self):
        for name, document in DOCUMENTS.items():
            with self.subTest(name):
                text = report_structures.page_text(written("html", document))
                self.assertIn(document["verdict"], text)
                self.assertIn(f"exit code {document['exit_code']},", text)
                for table in document["tables"]:
                    if table["diagnosis"]:
                        self.assertIn(table["diagnosis"]["text"], text)
        self.assertIn("Where it differs", report_structures.page_text(written("html", DOCUMENTS["mismatch"])))
        self.assertIn("SIGSEGV", report_structures.page_text(written("html", DOCUMENTS["crash"])))

    def test_decomposition_of_a_wrong_scale_rule(self):
        table = DOCUMENTS["quantize"]["tables"][0]
        found = table["decomposition"]
        self.assertEqual(found["cases"] + found["left_out"], table["tally"]["failed"])
        self.assertGreater(found["cases"], found["left_out"])
        for term in ("deadzone", "grid"):
            self.assertEqual(found["expected"][term], found["actual"][term])
            self.assertGreater(found["actual"][term], 0)
        for term in ("scale", "error"):
            self.assertLess(found["expected"][term], found["actual"][term])
        page = report_structures.page_text(written("html", DOCUMENTS["quantize"]))
        self.assertIn(f"mean of {found['cases']} failing cases", page)
        for name in ("pass", "mismatch", "verify"):
            self.assertFalse(any("decomposition" in table for table in DOCUMENTS[name]["tables"]), name)

    def test_decompositions_of_shards_add_up(self):
        names = [f"{index}.json" for index in (1, 2, 3)]
        for index, name in enumerate(names, 1):
            self.expect(1, *REAL["quantize"][1](), "--no-diagnosis", "--shard", f"{index}/3", "--json", name)
            part = json.loads((self.folder / name).read_text())
            self.validate(part)
            self.assertIn("decomposition", part["tables"][0])
        self.expect(1, "merge", *names, "--json", "merged.json")
        self.expect(1, *REAL["quantize"][1](), "--no-diagnosis", "--json", "whole.json")
        self.assertEqual((self.folder / "merged.json").read_bytes(), (self.folder / "whole.json").read_bytes())

    def test_hostile_texts(self):
        hostile = "\"'><script>alert(1)</script><img src=x onerror=y>]]>&amp;\x00\x01\x1b[31m\n\u202e\ufffe\ud800" + 5000 * "x"

        def poisoned(value):
            if isinstance(value, dict):
                return {key: poisoned(entry) for key, entry in value.items()}
            if isinstance(value, list):
                return [poisoned(entry) for entry in value]
            return hostile if isinstance(value, str) else value

        for name in ("mismatch", "crash"):
            document = poisoned(DOCUMENTS[name])
            for member in ("tables", "faults"):  # their names are all the same now
                document[member] = document[member][:1]
            document["tables"][0]["classes"][hostile] = {"passed": 0, "failed": 1, "skipped": 0}
            text = json.dumps(document).replace("\\ud800", "\\ufffd")
            for form in formats():
                if form == "sarif":
                    document["subject"]["path"] = "lib.so"
                with self.subTest(name, form=form):
                    check_structure(form, written(form, json.loads(text)))

    def test_documents_with_anything_missing_or_mistyped(self):
        generator = random.Random(20260101)
        junk = [None, -1, 1.5, "", [], {}, [[]], {"": None}, 2**64 - 1, -(2**63), True]

        def places(value, path=()):
            entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            for key, entry in entries:
                yield (*path, key)
                yield from places(entry, (*path, key))

        small = copy.deepcopy(DOCUMENTS["mismatch"])
        small["mismatches"] = small["mismatches"][:1]
        small["tables"] = small["tables"][:1]
        small["tables"][0]["places"]["failed"] = small["tables"][0]["places"]["failed"][:2]
        every = list(places(small))
        for path in [(), *generator.sample(every, min(60, len(every)))]:
            damaged = copy.deepcopy(small)
            if path:
                parent = damaged
                for key in path[:-1]:
                    parent = parent[key]
                parent[path[-1]] = generator.choice(junk)
            for form in formats():
                written(form, damaged if path else {})

    def test_huge_documents(self):
        document = copy.deepcopy(DOCUMENTS["mismatch"])
        table = document["tables"][0]
        table["places"] = {"group": "64x256", "rows": 64, "columns": 256, "row_step": 1, "column_step": 1, "cases": 9,
                           "failed": [[row, column, 1 + (7 * row + 3 * column) % 9] for row in range(64) for column in range(256)]}
        document["tables"] = [dict(table, profile=f"mine/{i}") for i in range(60)]
        document["mismatches"] = [dict(document["mismatches"][0], case_index=i) for i in range(10000)]
        for form in formats():
            check_structure(form, written(form, document))


if __name__ == "__main__":
    binary = sys.argv.pop(1)
    WRITER, ZOO, schema, VECTORS = sys.argv.pop(1), *map(pathlib.Path, (sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)))
    SCHEMA = json.loads(schema.read_text())
    sys.argv.insert(1, binary)
    command.main()
