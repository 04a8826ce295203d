#!/usr/bin/env python3
"""fp4proof report: the page of training runs.

Usage: training_report_test.py FP4PROOF
"""

import html.parser
import json
import os
import re
import xml.etree.ElementTree

import command
from training_run_files import Run, write_lines

VOID = {"meta", "input", "br", "img", "link"}
HOSTILE = "<script>alert(1)</script>&\"'"


class PageParser(html.parser.HTMLParser):
    """Tags of a page as a browser sees them, and what it would load."""

    def __init__(self):
        super().__init__()
        self.tags, self.loads, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "href", "action", "data")]
        self.loads += [name for name, _ in attributes if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


class Page:
    """A page, checked to be whole, well-formed and self-contained."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.root = xml.etree.ElementTree.fromstring(self.text)
        parser = PageParser()
        parser.feed(self.text)
        parser.close()
        assert not parser.open, parser.open
        assert not parser.loads, parser.loads
        assert "script" not in parser.tags
        assert "url(" not in self.text and "@import" not in self.text

    def cards(self):
        """Cards by their heading."""
        sections = [section for section in self.root.iter("section") if section.find("h3") is not None]
        return {"".join(section.find("h3").itertext()): section for section in sections}

    def banner(self):
        (section,) = [s for s in self.root.iter("section") if "verdict" in s.get("class").split()]
        return " ".join("".join(section.itertext()).split())

    def tables(self):
        """Rows of texts of every table."""
        return [
            [["".join(cell.itertext()).strip() for cell in row] for row in table.iter() if row.tag == "tr"]
            for table in self.root.iter("table")
        ]


def local(element):
    return element.tag.rsplit("}", 1)[-1]


def count(card, tag):
    return sum(local(element) == tag for element in card.iter())


def words(card):
    return " ".join("".join(card.itertext()).split())


class Report(command.CommandTest):
    def write(self, name, **settings):
        members = {key: settings.pop(key) for key in list(settings) if key in ("digest", "has_measures", "loss", "cells")}
        run = Run(**settings)
        for member, value in members.items():
            setattr(run, member, value)
        run.write(self.folder / name)
        return run

    def report(self, code, *arguments):
        outcome = self.expect(code, "report", *arguments, "--out", "page.html")
        return Page(self.folder / "page.html"), outcome

    def refused(self, code, words_of_error, *arguments):
        outcome = self.expect_error(code, words_of_error, "report", *arguments, "--out", "page.html")
        self.assertNotIn("page.html", self.names())
        return outcome

    def test_the_numbers_of_a_run(self):
        run = self.write("run", plan="mxfp4+sr", steps=30, final=0.9, k3=0.05)
        page, _ = self.report(0, "run")
        (table,) = page.tables()
        row = dict(zip(table[0], table[1]))
        summary = run.summary()
        k3 = [float(line.split(",")[5]) for line in run.steps_lines()[-20:]]
        self.assertEqual(row["plan"], "mxfp4+sr")
        self.assertEqual((row["preset"], row["seed"], row["backend"]), ("micro", "1", "reference"))
        self.assertEqual(row["final reward"], f"{summary['final_reward']:.3f}")
        self.assertEqual(row["steps to 0.8"], str(summary["steps_to_0.8"]))
        self.assertEqual(row["k3"], f"{sum(k3) / 20:.2g}")
        self.assertEqual(row["digest"], run.digest)
        self.assertEqual(row["to bf16, points"], "\u2013")
        self.assertIn("NOT COMPARED", page.banner())

    def test_every_chart_draws_its_numbers(self):
        run = self.write("run", plan="mxfp4+sr", steps=30, k3=0.05)
        cards = self.report(0, "run")[0].cards()
        curves = [
            "Reward", "Entropy", "Greedy accuracy in the rollout", "Greedy accuracy in training",
            "Greedy accuracy in bfloat16", "Gradient norm", "k3", "Ratio", "Cosine", "Norm ratio", "Bias", "Variance",
        ]  # fmt: skip
        roles = ["rollout activations", "forward activations", "weights", "gradients"]
        curves += [f"Deadzone of {role}" for role in roles]
        bars = [f"Error of {role}" for role in roles] + ["Share of time per operator"]
        self.assertEqual(set(cards), set(curves + bars))
        for title in curves:
            self.assertEqual(count(cards[title], "polyline"), 1, title)
            self.assertGreaterEqual(count(cards[title], "title"), 1, title)
        for title in bars:
            self.assertGreaterEqual(count(cards[title], "rect"), 3, title)
        # One point of each kind of file, as its title says it.
        cosine = [line.split(",") for line in run.gradients_lines() if ",all," in line][-1]
        self.assertIn(f"mxfp4+sr at 30: {float(cosine[2]):.5g}", words(cards["Cosine"]))
        self.assertIn(f"mxfp4+sr at 30: {float(cosine[6]):.5g}", words(cards["Bias"]))
        rollout = [line.split(",") for line in run.quant_lines() if line.startswith("30,rollout,activation")]
        share = sum(float(cells[8]) for cells in rollout) / len(rollout)
        self.assertIn(f"mxfp4+sr at 30: {share:.5g}", words(cards["Deadzone of rollout activations"]))
        whole = [line.split(",") for line in run.quant_lines() if ",rollout,activation," in line]
        grid = 100 * sum(float(cells[12]) for cells in whole) / len(whole)
        self.assertIn(f"mxfp4+sr, grid: {grid:.4g}", words(cards["Error of rollout activations"]))
        times = [line.split(",") for line in run.operators_lines()[1:]]
        longest = 100 * float(times[0][2]) / sum(float(cells[2]) for cells in times)
        self.assertIn(f"{times[0][0]}: {longest:.4g}", words(cards["Share of time per operator"]))

    def test_seeds_are_a_mean_and_a_band(self):
        runs = [self.write(f"sweep/mxfp4/{seed}", seed=seed, final=0.8 + 0.02 * seed) for seed in (1, 2, 3)]
        base = [self.write(f"sweep/bf16/{seed}", plan="bf16", seed=seed, final=0.95) for seed in (1, 2)]
        page, outcome = self.report(0, "sweep")
        self.assertIn("5 runs", outcome.out)
        plans, table = page.tables()
        self.assertEqual([row[0] for row in plans[1:]], ["bf16", "mxfp4"])
        self.assertEqual([row[2] for row in plans[1:]], ["2", "3"])
        finals = [run.summary()["final_reward"] for run in runs]
        row = dict(zip(plans[0], plans[2]))
        self.assertEqual(row["final reward"], f"{sum(finals) / 3:.3f}")
        self.assertEqual(row["smallest \u2013 largest"], f"{min(finals):.3f} \u2013 {max(finals):.3f}")
        gaps = [100 * (run.summary()["final_reward"] - b.summary()["final_reward"]) for run, b in zip(runs, base)]
        self.assertEqual(row["to bf16, points"], f"\u2212{-sum(gaps) / 2:.1f}")
        self.assertEqual([row[5] for row in table[1:]][-1], "\u2013", "seed 3 has no bf16 run")
        reward = page.cards()["Reward"]
        self.assertEqual((count(reward, "polyline"), count(reward, "polygon")), (2, 2))
        points = [words(title) for title in reward.iter() if local(title) == "title"]
        # 30 points, 24 at most under the pointer: every second one, the last included
        at_step_8 = [run.rewards()[7] for run in runs]
        low, high = min(at_step_8), max(at_step_8)
        self.assertIn(f"mxfp4 at 8: {sum(at_step_8) / 3:.5g} ({low:.5g} to {high:.5g})", points)

    def test_equal_digests(self):
        for backend in ("reference", "cuda"):
            self.write(backend, backend=backend)
        page, outcome = self.report(0, "reference", "cuda")
        self.assertIn("SAME BITS", page.banner())
        self.assertIn("micro, mxfp4, seed 1", page.banner())
        self.assertIn("equal", outcome.out)
        (table,) = page.tables()
        self.assertTrue(all(row[9].endswith("\u2713") for row in table[1:]), table)
        self.assertEqual(count(page.cards()["Reward"], "polyline"), 1, "equal runs are one line")

    def test_unequal_digests(self):
        self.write("cpu")
        run = Run(backend="cuda")
        run.digest = "0123456789abcdef"
        folder = run.write(self.folder / "gpu")
        trace = run.trace()
        for step in trace["steps"][11:]:
            step["chain"] = "f" + step["chain"][1:]
            step["tensors"][1][1] = "f" * 16
        trace["steps"][-1]["chain"] = run.digest
        (folder / "trace.json").write_text(json.dumps(trace))
        page, outcome = self.report(1, "cpu", "gpu")
        for text in (page.banner(), outcome.out):
            self.assertIn("step 12, loss", text)
        self.assertIn("fp4proof compare-training cpu gpu", page.banner())
        self.assertIn("BITS DIFFER", page.banner())
        self.assertIn("0123456789abcdef", page.banner())
        self.assertEqual(count(page.cards()["Reward"], "polyline"), 2, "each backend has its own line")
        self.assertIn("mxfp4 on cuda", page.text)
        report = json.loads(self.expect(1, "report", "cpu", "gpu", "--out", "other.html", "--json").out)
        self.assertEqual(
            report["equal_runs"], [{"folders": ["cpu", "gpu"], "equal": False, "differs_at": "step 12, loss"}]
        )

    def test_other_runs_are_not_compared(self):
        self.write("a")
        self.write("b", seed=2)
        self.write("c", plan="hif4")
        self.write("d", preset="tiny")
        self.write("e", loss="ppo")
        self.write("f", steps=40)
        page, _ = self.report(0, "a", "b", "c", "d", "e", "f")
        self.assertIn("NOT COMPARED", page.banner())
        self.assertIn("loss ppo", page.text)
        self.assertIn("steps 40", page.text)

    def test_what_is_absent_is_said(self):
        self.write("old", has_measures=False)
        self.write("bf16", plan="bf16")
        self.write("half", plan="rollout-mxfp4/train-bf16")
        cards = self.report(0, "old", "bf16", "half")[0].cards()
        deadzone = words(cards["Deadzone of forward activations"])
        self.assertIn("Nothing to draw", deadzone)
        for remark in (
            "Without quant.csv: mxfp4",
            "Codes nothing: bf16",
            "Codes no forward activations: rollout-mxfp4/train-bf16",
        ):
            self.assertIn(remark, deadzone)
            self.assertIn(remark, words(cards["Error of forward activations"]))
        self.assertIn("Without gradients.csv: mxfp4", words(cards["Cosine"]))
        self.assertIn("Rounds nothing at random in training: bf16, rollout-mxfp4/train-bf16", words(cards["Bias"]))
        self.assertIn("Without operators.csv: mxfp4", words(cards["Share of time per operator"]))
        self.assertIn("0 on every step", words(cards["k3"]))

    def test_unfinished_runs(self):
        run = Run(steps=30)
        run.steps = 10
        run.write(self.folder / "half")
        folder = Run(seed=2).write(self.folder / "none")
        for path in folder.iterdir():
            if path.name != "run.json":
                path.unlink()
        page, _ = self.report(0, "half", "none")
        text = " ".join(page.tables()[-1][1] + page.tables()[-1][2])
        self.assertIn("stopped after 10 of 30 steps", text)
        self.assertIn("stopped after 0 of 30 steps", text)

    def test_a_run_that_diverged(self):
        cells = {(12, "k3"): "inf", (12, "k1"): "-inf", (12, "max_difference"): "inf", (12, "ratio_p99"): "inf"}
        cells |= {(step, column): "nan" for step in range(20, 31) for column in ("entropy", "gradient_norm")}
        self.write("run", steps=30, k3=0.05, cells=cells)
        gradients = self.folder / "run" / "gradients.csv"
        lines = gradients.read_text().splitlines()
        lines[-1] = "30,all,nan,nan,inf,1,,"
        write_lines(gradients, lines)
        page, outcome = self.report(0, "run")
        self.assertIn("diverged \"run\": step 12\n", outcome.out)
        (table,) = page.tables()
        self.assertIn("diverged at step 12", " ".join(table[1]))
        row = dict(zip(table[0], table[1]))
        self.assertEqual(row["k3"], "\u2013")
        cards = page.cards()
        pieces = {"Reward": [30], "Entropy": [19], "k3": [11, 18], "Ratio": [11, 18], "Gradient norm": [19], "Cosine": [3]}
        for title, lengths in pieces.items():
            lines = [element.get("points").split() for element in cards[title].iter() if local(element) == "polyline"]
            self.assertEqual([len(line) for line in lines], lengths, title)
        remark = "Numbers that are not finite are left out, the first at step"
        self.assertIn(f"{remark} 20: mxfp4.", words(cards["Entropy"]))
        self.assertIn(f"{remark} 12: mxfp4.", words(cards["k3"]))
        self.assertIn(f"{remark} 30: mxfp4.", words(cards["Cosine"]))
        self.assertNotIn(remark, words(cards["Reward"]))
        self.assertNotIn("nan", page.text)
        document = json.loads(self.report(0, "run", "--json")[1].out)
        self.assertEqual((document["runs"][0]["diverged_at"], document["runs"][0]["k3"]), (12, None))

    def test_tensors_without_a_finite_element(self):
        """They have no error, in place of one of 0."""
        run = self.write("run", steps=30)
        quant = self.folder / "run" / "quant.csv"
        lines = [line.split(",") for line in run.quant_lines()]
        for cells in lines[1:]:
            is_lost = cells[1:3] == ["rollout", "activation"] and cells[0] in ("20", "30")
            if is_lost or cells[2] == "gradient":
                cells[7:] = [cells[6], "0", "0", "0", "0", "0", "0"]
        write_lines(quant, [",".join(cells) for cells in lines])
        cards = self.report(0, "run")[0].cards()
        (line,) = [element for element in cards["Deadzone of rollout activations"].iter() if local(element) == "polyline"]
        self.assertEqual(len(line.get("points").split()), 2)
        self.assertIn("the first at step 20: mxfp4.", words(cards["Deadzone of rollout activations"]))
        whole = [float(cells[12]) for cells in lines if cells[1:3] == ["rollout", "activation"] and cells[0] in ("1", "10")]
        self.assertIn(f"mxfp4, grid: {100 * sum(whole) / len(whole):.4g}", words(cards["Error of rollout activations"]))
        for title in ("Deadzone of gradients", "Error of gradients"):
            self.assertIn("Nothing to draw. Not finite on any step: mxfp4.", words(cards[title]))

    def test_seeds_of_which_one_diverged(self):
        columns = ("entropy", "k3", "gradient_norm")
        self.write("all/1", seed=1, k3=0.05, cells={(step, column): "nan" for step in range(8, 31) for column in columns})
        sound = [self.write(f"all/{seed}", seed=seed, k3=0.05) for seed in (2, 3)]
        page, _ = self.report(0, "all")
        entropies = [float(run.steps_lines()[30].split(",")[3]) for run in sound]
        self.assertIn(f"mxfp4 at 30: {sum(entropies) / 2:.5g} ({min(entropies):.5g} to {max(entropies):.5g})",
                      words(page.cards()["Entropy"]))
        plans, runs = page.tables()
        self.assertTrue(plans[1][-1].endswith("(2 of 3)"), plans[1])
        self.assertEqual([row[7] == "\u2013" for row in runs[1:]], [True, False, False])
        self.write("lost/1", cells={(step, column): "nan" for step in range(1, 31) for column in columns})
        page, _ = self.report(0, "lost")
        for title in ("Entropy", "k3", "Gradient norm"):
            self.assertIn("Nothing to draw. Not finite on any step: mxfp4.", words(page.cards()[title]))

    def test_folders(self):
        self.write("deep/a/b/run", seed=2)
        self.write("flat")
        (self.folder / "deep" / "loop").symlink_to(self.folder / "deep")
        (self.folder / "link").symlink_to(self.folder / "flat")
        report = json.loads(self.expect(0, "report", "deep", "flat", "./flat", "link", "--out", "page.html", "--json").out)
        self.assertEqual([run["folder"] for run in report["runs"]], ["deep/a/b/run", "flat"])
        (self.folder / "page.html").unlink()
        (self.folder / "empty").mkdir()
        self.refused(2, ["empty", "holds no run"], "empty")
        self.refused(2, ["missing"], "missing")
        self.refused(2, ["missing.d"], "flat", "missing.d")
        self.expect(2, "report", "flat", "--out", "no/such/page.html")
        self.expect(2, "report", "flat", "--out", "flat")
        self.expect(2, "report", "flat")
        self.expect(2, "report", "--out", "page.html")

    def test_full_disk(self):
        self.write("run")
        self.expect_error(2, ["/dev/full"], "report", "run", "--out", "/dev/full")

    def test_a_page_never_replaces_a_record(self):
        self.write("run")
        before = (self.folder / "run/steps.csv").read_bytes()
        self.expect_error(2, ["run"], "report", "run", "--out", "run/steps.csv")
        self.assertEqual((self.folder / "run/steps.csv").read_bytes(), before)
        (self.folder / "run/checkpoint.safetensors").write_bytes(b"weights")
        self.expect_error(2, ["run"], "report", "run", "--out", "run/checkpoint.safetensors")
        self.assertEqual((self.folder / "run/checkpoint.safetensors").read_bytes(), b"weights")
        for _ in range(2):
            self.expect(0, "report", "run", "--out", "run/page.html")

    def test_warm_starts_alone(self):
        run = Run(steps=0)
        run.planned = 0
        folder = self.folder / "warm"
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps(run.facts()))
        self.refused(2, ["warm starts alone"], "warm")

    def test_hostile_texts(self):
        run = Run(plan=HOSTILE, backend=HOSTILE, preset=HOSTILE)
        run.write(self.folder / "<b>&folder\n\x01")
        other = Run(plan=HOSTILE, backend="other", preset=HOSTILE)
        other.digest = "f" * 16
        other.write(self.folder / "other")
        for folder in self.folder.iterdir():
            operators = run.operators_lines()
            operators[1] = "<i>&\"'," + operators[1].split(",", 1)[1]
            write_lines(folder / "operators.csv", operators)
        page, _ = self.report(1, ".")
        self.assertIn(HOSTILE, page.banner())
        self.assertNotIn("<script", page.text)
        self.assertNotIn("<i>&", page.text)
        self.assertNotIn("<b>&", page.text)

    def test_folder_names_of_any_bytes(self):
        self.write("run")
        os.rename(self.folder / "run", os.fsencode(self.folder) + b"/\xff\xfe")
        self.report(0, ".")

    def test_damaged_tables(self):
        def damaged(name, change, *words_of_error):
            folder = Run(plan="mxfp4+sr").write(self.folder / "run")
            text = (folder / name).read_text()
            changed = change(text)
            self.assertNotEqual(changed, text)
            (folder / name).write_text(changed)
            self.refused(3, [name, *words_of_error], "run")
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()

        def cell(line, column, value):
            def change(text):
                lines = text.split("\n")
                cells = lines[line - 1].split(",")
                cells[column] = value
                lines[line - 1] = ",".join(cells)
                return "\n".join(lines)

            return change

        damaged("steps.csv", cell(12, 1, "nan"), ":12:", "reward", "nan")
        damaged("steps.csv", cell(12, 5, "-nan"), ":12:", "k3", "-nan")
        damaged("steps.csv", cell(12, 5, "NaN"), ":12:", "k3", "NaN")
        damaged("steps.csv", cell(12, 5, "infinity"), ":12:", "k3", "infinity")
        damaged("steps.csv", cell(12, 5, "1e999"), ":12:", "k3", "1e999")
        damaged("steps.csv", cell(12, 7, "-inf"), ":12:", "ratio_p99", "-inf")
        damaged("steps.csv", cell(12, 13, "nan"), ":12:", "learning_rate", "nan")
        damaged("steps.csv", cell(12, 1, "1.5"), ":12:", "reward")
        damaged("steps.csv", cell(12, 0, "12"), ":12:", "step 11")
        damaged("steps.csv", cell(12, 3, "0x10"), ":12:", "entropy")
        damaged("steps.csv", cell(12, 3, ""), ":12:", "entropy")
        damaged("steps.csv", cell(12, 15, "0.5"), ":12:", "greedy")
        damaged("steps.csv", cell(1, 1, "score"), ":1:", "columns")
        damaged("steps.csv", lambda text: text[:-10], ":31:", "cut short")
        damaged("steps.csv", lambda text: "", "empty")
        damaged("steps.csv", lambda text: text.replace("\n", "\r\n"), ":1:", "columns")
        damaged("steps.csv", lambda text: text.replace("\n12,", "\n12,,", 1), ":13:", "19 cells")
        damaged("steps.csv", lambda text: "\n".join(text.split("\n")[:-5]) + "\n", "26", "30")
        damaged("quant.csv", cell(3, 8, "-0.1"), ":3:", "deadzone_fraction")
        damaged("quant.csv", cell(3, 9, "nan"), ":3:", "relative_error", "nan")
        damaged("quant.csv", cell(3, 6, "1e99"), ":3:", "elements")
        damaged("quant.csv", cell(3, 7, "9999"), ":3:", "excluded")
        damaged("quant.csv", cell(3, 3, "a\x1bb"), ":3:", "tensor")
        damaged("quant.csv", cell(40, 0, "0"), ":40:", "backwards")
        damaged("gradients.csv", cell(5, 2, "1.5"), ":5:", "cosine")
        damaged("gradients.csv", cell(5, 6, ""), ":5:", "bias")
        damaged("operators.csv", cell(2, 2, "-1"), ":2:", "seconds")
        damaged("operators.csv", cell(1, 3, "part"), ":1:", "columns")

    def test_damaged_json(self):
        def damaged(name, text, *words_of_error):
            folder = self.folder / "run"
            original = (folder / name).read_text()
            (folder / name).write_text(text(original) if callable(text) else text)
            self.refused(3, [name, *words_of_error], "run")
            (folder / name).write_text(original)

        self.write("run")
        damaged("run.json", "")
        damaged("run.json", "[" * 5000)
        damaged("run.json", lambda text: text[:-20])
        damaged("run.json", lambda text: text.replace("fp4proof-run/1", "fp4proof-run/9"), "fp4proof-run/1")
        damaged("run.json", lambda text: text.replace('"preset": "micro"', '"preset": 4'), "/preset")
        damaged("run.json", lambda text: text.replace('"seed": 1', '"seed": -1'), "/config/seed")
        damaged("run.json", lambda text: text.replace('"seed"', '"preset": 1, "preset"'))
        damaged("run.json", "[]", "/format")
        damaged("summary.json", lambda text: re.sub(r'"final_reward": [\d.]+', '"final_reward": 2', text), "/final_reward")
        damaged("summary.json", lambda text: re.sub(r'"digest": "\w+"', '"digest": "<b>"', text), "/digest")
        damaged("summary.json", lambda text: text.replace('"steps": 30', '"steps": 31'), "31", "30")
        damaged("summary.json", lambda text: re.sub(r'"final_reward": [\d.]+', '"final_reward": 0.5', text), "steps.csv")
        damaged("summary.json", lambda text: text.replace(Run().digest, "0" * 16), "trace.json")
        damaged("run.json", lambda text: text.replace('"steps": 30', '"steps": 40'), "after 30 of the 40 steps")
        run = Run(backend="cuda")
        run.digest = "0" * 16
        folder = run.write(self.folder / "gpu")
        (folder / "trace.json").write_text('{"warm_start": [], "steps": [{"step": {}}]}')
        outcome = self.expect(3, "report", "run", "gpu", "--out", "page.html")
        self.assertIn("trace.json", outcome.err)

    def test_a_real_run(self):
        settings = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
        arguments = ("--preset", "tiny", "--plan", "hif4+resq", "--steps", 2, "--out", "run")
        summary = json.loads(self.expect(0, "train", *arguments, env=settings).out)
        page, _ = self.report(0, "run")
        (table,) = page.tables()
        self.assertEqual(dict(zip(*table))["digest"], summary["digest"])
        self.assertEqual(count(page.cards()["Reward"], "polyline"), 1)


if __name__ == "__main__":
    command.main()
