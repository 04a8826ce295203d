#!/usr/bin/env python3
"""What the command prints, byte for byte.

Usage: golden_test.py FP4PROOF [unittest arguments]
       golden_test.py FP4PROOF --update     writes the expected files anew; read the difference before committing it

Each case of CASES runs in a folder with the files that write_files() makes. expected/NAME.txt holds the command line,
the exit code, the standard output and the standard error. The version of the program is written as VERSION, and a
digest that depends on it as SHA256.
"""

import json
import pathlib
import re
import sys

import command
import safetensors_file as st

EXPECTED = pathlib.Path(__file__).parent / "expected"

VERBS = "list info quantize dequantize compare decompose study reproduce gemm generate verify merge lint diff selftest train compare-training sweep merge-sweeps report".split()
OCP = "quantize in.safetensors out.safetensors --profile mxfp4/ocp"
EXPLAIN = "explain --profile mxfp4/rceil --correct"
CASES = {
    **{f"help-{verb}": f"{verb} --help" for verb in VERBS},
    "list-profiles": "list profiles",
    "list-profiles-verbose": "list profiles --verbose",
    "list-profile": "list profiles hif4/gcc",
    "list-profile-json": "list profiles mxfp4/ocp --json",
    "list-corrections": "list corrections",
    "list-corrections-verbose": "list corrections --verbose",
    "list-correction-json": "list corrections mbs+fallback --json",
    "list-correction-unknown": "list corrections rsq",
    "list-plans": "list plans",
    "list-plan": "list plans mxfp4-2d-all",
    "list-plan-alias": "list plans rollout-fp4/train-bf16",
    "list-plan-json": "list plans mxfp4+all --json",
    "list-formats": "list formats",
    "list-formats-json": "list formats --json",
    "list-operations": "list operations",
    "list-accumulators": "list accumulators",
    "list-accumulators-json": "list accumulators --json",
    "quantize-report": OCP + " --tail pad --report table",
    "quantize-report-json": OCP + " --tail pad --report json --tensor matrix",
    "quantize-tail": OCP,
    "quantize-unknown-profile": "quantize in.safetensors out.safetensors --profile hif4/gc",
    "quantize-unknown-tensor": OCP + " --tensor matrx",
    "compare": "compare in.safetensors --profiles mxfp4/ocp,mxfp4/rceil,hif4/gcc,mine.json",
    "compare-json": "compare in.safetensors --profiles mxfp4/ocp,nvfp4/tensor-scale --json --tensor matrix",
    "gemm": "gemm in.safetensors:matrix q.safetensors:matrix c.safetensors --profile mxfp4/ocp",
    "info": "info in.safetensors",
    "info-json": "info in.safetensors --json",
    "info-quantized": "info q.safetensors",
    "info-profile": "info mine.json",
    "info-stack": "info stack.json",
    "info-stack-json": "info stack.json --json",
    "info-plan": "info plan.json",
    "info-missing": "info nothing.safetensors",
    "lint": "lint q.safetensors",
    "lint-profile": "lint wrong.json",
    "lint-stack": "lint stack.json",
    "lint-stack-wrong": "lint wrong-stack.json",
    "lint-plan": "lint plan.json",
    "diff-equal": "diff q.safetensors q.safetensors",
    "diff-codes": "diff q.safetensors other.safetensors",
    "diff-floats": "diff in.safetensors changed.safetensors",
    "diff-floats-json": "diff in.safetensors changed.safetensors --json",
    "diff-hif4": "diff h.safetensors g.safetensors",
    "explain-correct": "explain --profile mxfp4/rceil --correct mbs-32 --values 1,-7,2,0.3,1e-3",
    "explain-correct-residual": "explain --profile mxfp4/rceil --correct resq --from in.safetensors:matrix --block 1",
    "explain-correct-element": f"{EXPLAIN} hadamard-16+resq --from in.safetensors:matrix --block 3 --element 5",
    "explain-correct-few": f"{EXPLAIN} mbs --values 1,2,3",
    "explain-correct-many": f"{EXPLAIN} resq --values {','.join(['1'] * 33)}",
    "explain-correct-refused": "explain --profile mxfp4/ocp --correct mbs --values 1,2,3",
    "explain-correct-unknown": f"{EXPLAIN} rsq --values 1,2,3",
    "explain-decompose": "explain --profile mxfp4/ocp --values 5,0.2,-0.75 --decompose",
    "explain-block-of-values": "explain --profile mxfp4/ocp --values 1 --block 1",
    "unknown-verb": "quantise in.safetensors",
    "unknown-option": OCP + " --tial pad",
    "no-verb": "",
    "version": "--version",
}


def write_files(case):
    """The files that the cases read; numbers are exact fractions, so no library function takes part."""
    matrix = [((7 * i) % 61 - 30) / 8 * (4 if i % 37 == 0 else 1) for i in range(4 * 64)]
    tensors = {
        "ids": ("I64", [2], bytes(16)),
        "matrix": ("F32", [4, 64], st.f32(matrix)),
        "odd": ("BF16", [3, 5], st.bf16([i / 4 - 2 for i in range(15)])),
    }
    st.write(case.folder / "in.safetensors", tensors)
    changed = dict(tensors)
    changed["matrix"] = ("F32", [4, 64], st.f32(matrix[:70] + [9.5, -9.5] + matrix[72:]))
    changed["odd"] = ("F32", [15], st.f32([0.0] * 15))
    changed["more"] = changed.pop("ids")
    st.write(case.folder / "changed.safetensors", changed)
    (case.folder / "mine.json").write_text(json.dumps({"name": "mine", "base": "mxfp4/ocp", "scale_rule": "ceil"}))
    (case.folder / "wrong.json").write_text(json.dumps({"name": "mine", "base": "mxfp4/ocp", "block": "1x16"}))
    stack = {"format": "fp4proof-corrections/1", "name": "mine", "base": "mbs+resq", "residual": {"alpha": 0.975}}
    (case.folder / "stack.json").write_text(json.dumps(stack))
    (case.folder / "wrong-stack.json").write_text(json.dumps({**stack, "macro": {"size": 48}}))
    rollout = {"activation": {"profile": "hif4/gcc", "stack": "resq"}, "weight": {"profile": "hif4/gcc", "stack": "none"}}
    plan = {"format": "fp4proof-plan/1", "name": "mine", "base": "mxfp4+mbs", "rollout": rollout}
    (case.folder / "plan.json").write_text(json.dumps(plan))
    for output, profile in (("q", "mxfp4/ocp"), ("other", "mxfp4/rceil"), ("h", "hif4/gcc"), ("g", "hif4/exact")):
        options = ("--profile", profile, "--tail", "pad")
        case.expect(0, "quantize", "in.safetensors", f"{output}.safetensors", *options)


class GoldenTest(command.CommandTest):
    def transcript(self, arguments):
        outcome = self.run_command(*arguments.split())
        text = f"$ fp4proof {arguments}\nexit code {outcome.code}\n"
        text += f"--- standard output\n{outcome.out}--- standard error\n{outcome.err}"
        version = self.run_command("--version").out.split()[1]
        text = text.replace(version, "VERSION")
        return re.sub(r"^sha256 [0-9a-f]{64}$", "sha256 SHA256", text, flags=re.M) if "VERSION" in text else text

    def check(self, name, arguments):
        write_files(self)
        actual = self.transcript(arguments)
        path = EXPECTED / f"{name}.txt"
        if UPDATE:
            path.write_text(actual)
        self.assertEqual(actual, path.read_text(), f"{name}; after an intended change run golden_test.py --update")

    def test_no_expectation_is_left_over(self):
        self.assertEqual(sorted(path.stem for path in EXPECTED.iterdir()), sorted(CASES))


for name, arguments in CASES.items():
    test = lambda self, name=name, arguments=arguments: self.check(name, arguments)  # noqa: E731
    setattr(GoldenTest, f"test_{name.replace('-', '_')}", test)

UPDATE = "--update" in sys.argv
if UPDATE:
    sys.argv.remove("--update")
    EXPECTED.mkdir(exist_ok=True)

if __name__ == "__main__":
    command.main()
