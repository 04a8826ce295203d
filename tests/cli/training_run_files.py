"""Folders of training runs written by hand, as docs/training.md describes them."""

import json
import math
import pathlib
import random

STEPS_HEADER = (
    "step,reward,loss,entropy,k1,k3,max_difference,ratio_p99,clip_fraction,length,live_groups,noise_sigma,"
    "gradient_norm,learning_rate,seconds,greedy_rollout,greedy_training,greedy_bf16"
)
QUANT_HEADER = (
    "step,product,operand,tensor,profile,stack,elements,excluded,deadzone_fraction,relative_error,scale_bias,deadzone,"
    "grid,saturated"
)
GRADIENTS_HEADER = "step,tensor,cosine,norm_ratio,error,repeats,bias,variance"
OPERATORS_HEADER = "operator,calls,seconds,share"

# product, operand, and the sizes of a tensor in it
CODED = [
    ("rollout", "activation"),
    ("rollout", "weight"),
    ("forward", "activation"),
    ("forward", "weight"),
    ("input-gradient", "gradient"),
    ("input-gradient", "weight"),
    ("weight-gradient", "gradient"),
    ("weight-gradient", "activation"),
]
TENSORS = ["layer0.query", "layer0.down", "layer1.gate"]
OPERATORS = [
    "multiply", "quantize", "attention", "attention_backward", "rms_norm", "swiglu", "swiglu_backward", "adam",
    "log_softmax", "embed", "copy_rows", "sample",
]  # fmt: skip


class Run:
    """A run to write: change its members first."""

    def __init__(self, plan="mxfp4", preset="micro", seed=1, backend="reference", steps=30, final=0.9, k3=0.0, error=0.013):
        self.plan, self.preset, self.seed, self.backend = plan, preset, seed, backend
        self.planned = self.steps = steps
        self.final, self.k3, self.error = final, k3, error
        self.digest = f"{random.Random(f'{preset} {plan} {seed}').getrandbits(64):016x}"
        self.is_bf16 = plan == "bf16"
        self.rounds_at_random = "sr" in plan
        self.has_measures = True
        self.loss = "decoupled"
        self.cells = {}  # of steps.csv: {(step, column): text}

    def measured(self):
        return [step for step in range(1, self.steps + 1) if step == 1 or step % 10 == 0]

    def reward(self, step, noise):
        learned = 1 - math.exp(-4 * step / self.planned)
        return min(1.0, max(0.0, 0.33 + (self.final - 0.33) * learned + noise.gauss(0, 0.012)))

    def steps_lines(self):
        noise = random.Random(f"steps {self.plan} {self.seed}")
        lines = [STEPS_HEADER]
        for step in range(1, self.steps + 1):
            reward = self.reward(step, noise)
            k3 = self.k3 * math.exp(step / self.planned + noise.gauss(0, 0.1)) / 2
            entropy = 0.95 * (1 - 0.85 * reward) + noise.gauss(0, 0.01)
            norm = 0.3 * math.exp(-step / self.planned) * math.exp(noise.gauss(0, 0.2))
            greedy = ",,"
            if step % 50 == 0 or step == self.planned:
                greedy = ",".join(f"{min(1, reward + extra):.6f}" for extra in (0.02, 0.025, 0.03))
            lines.append(
                f"{step},{reward},{-1e-3 * reward},{entropy},{k3 / 3},{k3},{k3 * 20},{1 + k3},0,3.9,0.8,0,{norm},0.0005,"
                f"0.412,{greedy}"
            )
        for (step, column), text in self.cells.items():
            cells = lines[step].split(",")
            cells[STEPS_HEADER.split(",").index(column)] = text
            lines[step] = ",".join(cells)
        return lines

    def quant_lines(self):
        noise = random.Random(f"quant {self.plan} {self.seed}")
        lines = [QUANT_HEADER]
        for step in [] if self.is_bf16 else self.measured():
            for product, operand in CODED:
                if self.plan.startswith("rollout-") and product != "rollout":
                    continue
                for tensor in TENSORS:
                    error = self.error * (2 if operand == "gradient" else 1) * math.exp(noise.gauss(0, 0.1))
                    deadzone = min(0.9, 14 * error * (1 + 0.3 * step / self.planned))
                    lines.append(
                        f"{step},{product},{operand},{tensor},mxfp4/rceil,none,8192,0,{deadzone},{error},{error * 0.5},"
                        f"{error * 0.12},{error * 0.7},{step}"
                    )
        return lines

    def gradients_lines(self):
        noise = random.Random(f"gradients {self.plan} {self.seed}")
        lines = [GRADIENTS_HEADER]
        for step in self.measured():
            error = 0 if self.is_bf16 else 8 * self.error * math.exp(noise.gauss(0, 0.1))
            random_part = f"4,{error / 2},{error * error}" if self.rounds_at_random else "1,,"
            for tensor in TENSORS + ["all"]:
                lines.append(f"{step},{tensor},{1 - error / 2},{1 + error / 9},{error},{random_part}")
        return lines

    def operators_lines(self):
        seconds = [3 / (1 + i) for i in range(len(OPERATORS))]
        if self.is_bf16:
            seconds[1] = 0
        whole = sum(seconds)
        return [OPERATORS_HEADER] + [
            f"{name},{100 + i},{time:.6f},{time / whole:.4f}" for i, (name, time) in enumerate(zip(OPERATORS, seconds))
        ]

    def rewards(self):
        return [float(line.split(",")[1]) for line in self.steps_lines()[1:]]

    def summary(self):
        rewards = self.rewards()
        reached = [i + 1 for i, reward in enumerate(rewards) if reward >= 0.8]
        return {
            "steps": self.steps,
            "digest": self.digest,
            "steps_to_0.8": reached[0] if reached else None,
            "final_reward": sum(rewards[-20:]) / len(rewards[-20:]),
            "mean_reward": sum(rewards) / len(rewards),
        }

    def facts(self):
        return {
            "format": "fp4proof-run/1",
            "tool_version": "0.1.0",
            "preset": self.preset,
            "config": {
                "task": "add2",
                "seed": self.seed,
                "reinforcement": {"steps": self.planned, "loss": self.loss},
            },
            "plan": {"name": self.plan, "summary": "words", "rollout": {"activation": self.plan}},
            "backend": {"name": self.backend, "description": "of a test"},
            "host": {},
        }

    def trace(self):
        """The digests of every step grow out of the seed; the last chain is the digest."""
        steps = [
            {"step": step, "chain": f"{step:016x}", "tensors": [["tokens", f"{step:016x}"], ["loss", f"{step:016x}"]]}
            for step in range(1, self.steps + 1)
        ]
        steps[-1]["chain"] = self.digest
        return {"format": "fp4proof-trace/1", "warm_start": "0" * 16, "digest": self.digest, "steps": steps}

    def write(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True)
        write_json(folder / "run.json", self.facts())
        write_json(folder / "trace.json", self.trace())
        write_lines(folder / "steps.csv", self.steps_lines())
        if self.steps == self.planned:
            write_json(folder / "summary.json", self.summary())
        if self.has_measures:
            write_lines(folder / "quant.csv", self.quant_lines())
            write_lines(folder / "gradients.csv", self.gradients_lines())
            write_lines(folder / "operators.csv", self.operators_lines())
        return folder


def set_reward(folder, reward):
    """Every step of a run that is there has had this reward."""
    lines = (folder / "steps.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    write_lines(folder / "steps.csv", lines[:1] + [",".join([line[0], str(reward), *line[2:]]) for line in cells])
    summary = json.loads((folder / "summary.json").read_text())
    reached = 1 if reward >= 0.8 else None
    summary.update({"final_reward": reward, "mean_reward": reward, "steps_to_0.8": reached})
    write_json(folder / "summary.json", summary)


def write_json(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")


def write_lines(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
