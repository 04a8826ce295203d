"""Writes docs/mutation.md and docs/class-catches.md from results.json and zoo.json.

Usage: pages.py [--zoo ZOO_FOLDER --fp4proof PATH]

With --zoo the planted faults of tests/plugin are run on the set `quick` first, and zoo.json is written anew.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from catch_reasons import reason
from mutants import EQUIVALENT, MUTANTS

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
sys.path.insert(0, str(HERE.parent / "plugin"))


def zoo_verdict(options, folder, fault):
    copy = pathlib.Path(folder) / f"{fault.name}.so"
    os.link(options.zoo / "kernels" / "zoo_kernels.so", copy)
    process = subprocess.run(
        [options.fp4proof, "run", "--backend", copy, "--set", "quick", "--profile", fault.profile, "--operation",
         fault.operation, "--no-diagnosis", "--json", "-"], capture_output=True, text=True, timeout=300)
    failed = {name for table in json.loads(process.stdout)["tables"]
              for name, tally in table["classes"].items() if tally["failed"]}
    return {"name": fault.name, "where": f"{fault.operation} {fault.profile}", "classes": sorted(failed)}


def run_zoo(options):
    from zoo_faults import KERNELS
    with tempfile.TemporaryDirectory(dir=options.zoo) as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda fault: zoo_verdict(options, folder, fault), KERNELS))
    (HERE / "zoo.json").write_text(json.dumps(verdicts, indent=1) + "\n")


def load(name):
    return json.loads((HERE / name).read_text())


def mutation_page(results):
    caught = [result for result in results if result["exit_code"] != 0]
    lines = [
        "# Mutation test", "",
        f"{len(results)} faults are planted, one at a time, in a copy of the format and reference code, and the set",
        "`quick` is run on each copy as on a vendor's library: under every named profile and, where that shows nothing,",
        "under the profiles of `tests/mutation/profiles`, which choose what no named profile does. The code as it is",
        "passes first.", "",
        "    python3 tests/mutation/mutate.py --build build --fp4proof build/conformance/cli/fp4proof \\",
        "        --work /tmp/mutants --json tests/mutation/results.json", "",
        f"Caught: {len(caught)}. Not caught because no answer changes: {len(results) - len(caught)}, listed below with",
        "the reason. The whole run takes minutes on 32 cores; `tests/mutation/mutants.py` is the list.", "",
        "| fault | file | what is wrong | failed cases | failed classes |", "|---|---|---|---|---|"]
    for result in caught:
        lines.append(f"| {result['name']} | {result['file']} | {result['fault']} | {result['failed']} "
                     f"| {len(result['classes'])}{': ' + result['classes'][0] if len(result['classes']) == 1 else ''} |")
    lines += ["", "## Faults that change no answer", "", "| fault | what is changed | why nothing shows |", "|---|---|---|"]
    faults = {mutant.name: mutant.fault for mutant in MUTANTS}
    lines += [f"| {name} | {faults[name]} | {why} |" for name, why in EQUIVALENT.items()]
    return "\n".join(lines) + "\n"


def catches_of(results, zoo):
    """class -> the first fault that it alone catches in a table, and where."""
    catches = {}
    for result in results:
        for name, where in result["alone"].items():
            catches.setdefault(name, (f"mutant `{result['name']}`", where))
    for verdict in zoo:
        if len(verdict["classes"]) == 1:
            catches.setdefault(verdict["classes"][0], (f"zoo `{verdict['name']}`", verdict["where"]))
    return catches


def catches_page(results, zoo, classes):
    catches = catches_of(results, zoo)
    found = [name for name in classes if name in catches]
    lines = [
        "# What each case class catches alone", "",
        "A vendor has one kernel for one profile. A class earns its place where a fault of such a kernel fails this class",
        f"and no other one in the set `quick`. {len(found)} of {len(classes)} classes have such a fault among the mutants",
        "([mutation.md](mutation.md)) and the zoo ([zoo.md](zoo.md)). The others say why they stay.", "",
        "    python3 tests/mutation/pages.py --zoo build/tests/plugin/zoo --fp4proof build/conformance/cli/fp4proof", "",
        "| class | caught by it alone | under |", "|---|---|---|"]
    lines += [f"| {name} | {catches[name][0]} | {catches[name][1]} |" for name in found]
    lines += ["", "| class | why it stays |", "|---|---|"]
    others = [name for name in classes if name not in catches]
    if silent := [name for name in others if reason(name) is None]:
        sys.exit(f"catch_reasons.py says not why these classes stay: {', '.join(silent)}")
    lines += [f"| {name} | {reason(name)} |" for name in others]
    return "\n".join(lines) + "\n"


def pages(classes):
    results, zoo = load("results.json"), load("zoo.json")
    return {DOCS / "mutation.md": mutation_page(results), DOCS / "class-catches.md": catches_page(results, zoo, classes)}


def class_names(fp4proof):
    listed = subprocess.run([fp4proof, "list", "classes", "--json"], capture_output=True, text=True, check=True)
    return [entry["class"] for entry in json.loads(listed.stdout)["classes"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp4proof", required=True)
    parser.add_argument("--zoo", type=pathlib.Path)
    options = parser.parse_args()
    if options.zoo:
        run_zoo(options)
    for path, text in pages(class_names(options.fp4proof)).items():
        path.write_text(text)


if __name__ == "__main__":
    main()
