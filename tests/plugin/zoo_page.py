"""docs/zoo.md: every planted fault against the verdict on it."""

from zoo_faults import KERNELS, MISBEHAVIOURS

HEAD = """\
# The zoo

Plug-ins with one planted fault each, a few with two, and what `fp4proof run` says about them. The first table is made
by a command from the verdicts themselves, and a test (`plugin_zoo_test`) fails where this page is not what they say:

    cmake --build build --target zoo_page

The kernels are a library of their own (`tests/plugin/kernels`): naive quantizers, decoders and products on doubles that
share nothing with the reference. Without a fault they pass every case of `quick` under each of the fourteen profiles
that they offer, which is the proof that a right kernel is not failed. What each verdict must be is stated in
`tests/plugin/zoo_faults.py` from what was planted. Each fault is run on `smoke` under one profile and operation; on
`quick` where `smoke` has no case for it.

"explained" counts the wrong answers that the diagnosis gives to the bit, of those that were examined. A fault
that no hypothesis knows must stay "no known change" or be explained in part; where two rules give the same answers to
every case, both are named.

Every named profile is told apart from every other one in the same way (`profile_pairs_test`): the answers of one,
judged under the other, fail in `quick`; where only ties of the E6M2 scale in a 64 x 64 tile differ, in `full`.

"""

NOTES = """
## Public reports that no plug-in shows

| report | why |
|---|---|
| ao#4201, second half: 32-bit offsets overflow | needs a tensor of more than 2^31 elements; no set has one |
| microxcaling#4 | 957 becomes 896 under the floor rule, which is right; the kernel that the report asks for is above |
| tt-metal#49199, tt-llk#1588 | faults of a verifier; the kernels above do what its golden assumed |
| poisoned padding of scales | scales are handed over without padding; what pads the last block of elements is above |
"""


def cell(text):
    return text.replace("|", "\\|")


def explained(verdict):
    diagnosis = verdict.diagnosis
    if not diagnosis:
        return ""
    best = max((explanation["explained"] for explanation in diagnosis["explanations"]), default=0)
    return f"{best} of {diagnosis['examined']}"


def kernel_row(fault, verdict):
    text = verdict.diagnosis["text"] if verdict.diagnosis else ""
    return (f"| {fault.name} | {fault.operation} {fault.profile} | {cell(fault.planted)} | {fault.report} "
            f"| {verdict.code} | {', '.join(verdict.causes)} | {cell(text)} | {explained(verdict)} |")


def page(verdicts):
    lines = [HEAD + f"## Wrong numbers: {len(KERNELS)} kernels", "",
             "| fault | asked for | planted | public report | exit | causes | diagnosis | explained |",
             "|---|---|---|---|---|---|---|---|"]
    lines += [kernel_row(fault, verdicts[fault.name]) for fault in KERNELS]
    lines += ["", f"## Conduct: {len(MISBEHAVIOURS)} plug-ins", "",
              "`dequantize` of `mxfp4/ocp`, right but for what is planted (`tests/plugin/zoo.cpp`).", "",
              "| fault | planted | exit | verdict |", "|---|---|---|---|"]
    lines += [f"| {m.name} | {m.planted} | {m.code} | {m.said} |" for m in MISBEHAVIOURS]
    return "\n".join(lines) + "\n" + NOTES
