#!/usr/bin/env python3
"""fp4proof reproduce training: numbers and claims of runs whose records are written here.

Usage: reproduce_training_test.py FP4PROOF
"""

import json
import os
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree

import command

QUANT = ("step,product,operand,tensor,profile,stack,elements,excluded,deadzone_fraction,relative_error,scale_bias,"
         "deadzone,grid,saturated\n")
GRADIENTS = "step,tensor,cosine,norm_ratio,error,repeats,bias,variance\n"


class ReproduceTraining(command.CommandTest):
    @classmethod
    def setUpClass(cls):
        """A real run of two steps, whose records the runs of the tests begin from."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.real = pathlib.Path(folder.name) / "run"
        subprocess.run([command.BINARY, "train", "--preset", "tiny", "--plan", "bf16", "--steps", "2", "--measure-every",
                        "0", "--out", cls.real], check=True, capture_output=True,
                       env={**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"})

    def run_of(self, plan, seed, reward, scale_bias=0.5, cosine=0.5, outlier_gain=8.0, k3=None):
        """A finished run of `plan` with that final reward, in runs/SEED-PLAN."""
        folder = self.folder / "runs" / f"{seed}-{plan.replace('/', '@')}"
        folder.mkdir(parents=True)
        facts = json.loads((self.real / "run.json").read_text())
        facts["plan"]["name"] = plan
        facts["config"]["seed"] = seed
        facts["config"]["model"]["outlier_gain"] = outlier_gain
        (folder / "run.json").write_text(json.dumps(facts))
        summary = json.loads((self.real / "summary.json").read_text())
        (folder / "summary.json").write_text(json.dumps({**summary, "final_reward": reward}))
        lines = (self.real / "steps.csv").read_text().splitlines()
        if k3 is not None:
            cells = lines[2].split(",")
            cells[5] = k3
            lines[2] = ",".join(cells)
        (folder / "steps.csv").write_text("\n".join(lines) + "\n")
        roles = [] if plan == "bf16" else ["rollout,activation", "input-gradient,gradient"]
        lines = [f"1,{role},w,mxfp4/rceil,none,64,0,0.25,0.5,{scale_bias},0.1,0.2,0\n" for role in roles]
        (folder / "quant.csv").write_text(QUANT + "".join(lines))
        (folder / "gradients.csv").write_text(GRADIENTS + f"1,all,{cosine},0.9,0.1,1,,\n")

    def reproduce(self, *arguments):
        return self.expect(0, "reproduce", "training", "--runs", "runs", *arguments)

    def test_numbers_and_claims(self):
        for seed, shift in ((1, 0.0), (2, 0.0625)):
            self.run_of("bf16", seed, 0.875 + shift, cosine=1)
            self.run_of("mxfp4", seed, 0.75)
            self.run_of("mxfp4+mbs", seed, 0.75 + shift / 16, scale_bias=0.125, cosine=0.75)
            self.run_of("rollout-mxfp4/train-bf16", seed, 0.8125)
        document = json.loads(self.reproduce("--json").out)
        plans = {plan["plan"]: plan for plan in document["plans"]}
        self.assertEqual(list(plans), ["bf16", "rollout-mxfp4/train-bf16", "mxfp4+mbs", "mxfp4"])
        self.assertEqual(plans["bf16"]["final_reward"], {"mean": 0.90625, "low": 0.875, "high": 0.9375})
        self.assertEqual(plans["mxfp4"]["gap"], 0.15625)
        claims = {claim["claim"]: (claim["verdict"], claim["ours"]) for claim in document["claims"]}
        self.assertEqual(claims["bf16 reaches 0.95 sampled exact match"], ("DOES NOT HOLD", "0.906"))
        self.assertEqual(claims["mxfp4+mbs ends above mxfp4"][0], "within noise")
        self.assertEqual(claims["mxfp4 ends above rollout-mxfp4/train-bf16"][0], "DOES NOT HOLD")
        self.assertEqual(claims["hif4 ends above mxfp4"][0], "not run")
        self.assertEqual(claims["Macro-block scaling takes the scale bias of dY away"],
                         ("holds", "0.50000 to 0.12500, 0.25 of it"))
        self.assertEqual(claims["Macro-block scaling turns the gradient towards that of bf16"],
                         ("holds", "cosine 0.5000 to 0.7500"))

    def test_runs_that_diverged(self):
        self.run_of("mxfp4", 1, 0.75, cosine="nan")
        self.run_of("mxfp4+mbs", 1, 0.75)
        self.run_of("mxfp4+resq", 1, 0.25)
        self.run_of("mxfp4+resq", 2, 0.5, k3="inf")
        outcome = self.reproduce("--json", "--markdown", "page.md")

        def not_json(word):
            self.fail(f"{word} is no JSON")

        document = json.loads(outcome.out, parse_constant=not_json)
        plans = {plan["plan"]: plan for plan in document["plans"]}
        self.assertEqual(plans["mxfp4+resq"]["diverged"], [{"seed": 2, "step": 2}])
        self.assertIsNone(plans["mxfp4+resq"]["last_k3"])
        self.assertEqual(plans["mxfp4+resq"]["final_reward"]["mean"], 0.375)
        self.assertEqual(plans["mxfp4"]["diverged"], [])
        claims = {claim["claim"]: claim["verdict"] for claim in document["claims"]}
        self.assertEqual(claims["Macro-block scaling turns the gradient towards that of bf16"], "not finite")
        self.assertEqual(claims["ResQ in the rollout alone widens the mismatch to training (k3)"], "not finite")
        self.assertEqual(claims["mxfp4+resq ends above mxfp4"], "DOES NOT HOLD")
        page = (self.folder / "page.md").read_text()
        self.assertIn("Runs that diverged, to numbers that are not finite: mxfp4+resq with seed 2 at step 2.\n", page)
        self.assertIn("mxfp4+resq with seed 2 diverged at step 2", self.reproduce().err)

    def test_page_and_chart(self):
        self.run_of("bf16", 1, 0.875)
        self.run_of("mxfp4", 1, 0.75)
        table = self.reproduce("--markdown", "page.md", "--svg", "chart.svg").out
        self.assertIn("mxfp4", table)
        page = (self.folder / "page.md").read_text()
        self.assertIn("Preset `tiny`, outlier gain 8.0, ", page)
        self.assertIn("| mxfp4 | 0.750 | 0.750 to 0.750 | +12.5 |", page)
        columns = [line.replace("\\|", "").count("|") for line in page.splitlines() if line.startswith("|")]
        self.assertEqual(set(columns), {9, 5, 8, 7})
        root = xml.etree.ElementTree.parse(self.folder / "chart.svg").getroot()
        words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertLessEqual({"bf16", "mxfp4", "Reward over steps"}, set(words))

    def test_a_chart_without_its_plans(self):
        self.run_of("mxfp4+sr", 1, 0.5)
        self.reproduce("--svg", "chart.svg")
        xml.etree.ElementTree.parse(self.folder / "chart.svg")

    def test_refusals(self):
        self.expect_error(2, ["--runs"], "reproduce", "training")
        self.expect_error(2, ["--runs", "training"], "reproduce", "corrections", "--runs", self.real)
        (self.folder / "runs").mkdir()
        runs = ["reproduce", "training", "--runs", "runs"]
        self.expect_error(2, ["runs", "holds no run"], *runs)
        self.run_of("mxfp4", 1, 0.5)
        self.expect_error(2, ["--seed", "belongs to"], *runs, "--seed", "2")
        self.expect_error(2, ["--svg", "--markdown"], *runs, "--svg", "page", "--markdown", "./page")
        facts = (self.folder / "runs/1-mxfp4/run.json").read_bytes()
        for option in ("--svg", "--markdown"):
            self.expect_error(2, ["is the input"], *runs, option, "runs/1-mxfp4/run.json")
        self.assertEqual((self.folder / "runs/1-mxfp4/run.json").read_bytes(), facts)
        self.run_of("mxfp4", 2, 0.5, outlier_gain=16.0)
        self.expect_error(2, ["1-mxfp4", "2-mxfp4", "differ in more than plan and seed"], *runs)
        (self.folder / "runs/1-mxfp4/quant.csv").write_text("step\n")
        self.expect_error(3, ["1-mxfp4/quant.csv"], *runs)


if __name__ == "__main__":
    command.main()
