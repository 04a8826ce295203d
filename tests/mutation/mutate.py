"""Plants seeded faults in copies of the format and reference code and asks the suite about each.

Usage: mutate.py --build BUILD --fp4proof PATH --work FOLDER [--jobs N] [--set SET] [--only NAME]... [--json FILE]

BUILD is a build folder of Ninja in which fp4proof_reference_backend can be built; its compile commands are taken over.
The CPU reference is compiled once as it is and must pass; then once for each mutant, which must not. PATH is a right
command. Exit code 0: every mutant was caught that is not known to change
no answer.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

from mutants import EQUIVALENT, MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = "fp4proof_reference_backend"
PROFILES = pathlib.Path(__file__).resolve().parent / "profiles"
ROOMS = ("formats", "reference", "conformance")
LIBRARY = "mutant.so"


def compile_commands(build):
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", TARGET], check=True, capture_output=True, text=True)
    return [line for line in lines.stdout.splitlines() if " -c " in line]


def sources_of(command):
    """The source that a command compiles, or those that it includes where it is one of a unity build."""
    source = pathlib.Path(shlex.split(command)[-1])
    if source.parent.name != "Unity":
        return [source]
    return [pathlib.Path(line.split('"')[1]) for line in source.read_text().splitlines() if line.startswith("#include")]


def units(folder, build, alone):
    """Pairs of a command of the build and the source, relative to the root, that it is to compile in the copy. Files
    named in `alone` are units by themselves, so that little is compiled for a mutant."""
    for i, command in enumerate(compile_commands(build)):
        sources = [str(source.relative_to(ROOT)) for source in sources_of(command)]
        together = [source for source in sources if source not in alone]
        if len(together) > 1:
            unit = folder / f"unity{i}.cpp"
            unit.write_text("".join(f'#include "{source}"\n' for source in together))
            together = [unit.name]
        for source in together + [source for source in sources if source in alone]:
            yield command, source


def relative_command(line, source, name):
    """The command for SOURCE with paths below the root made relative, less optimisation, and NAME.o as its object."""
    words = shlex.split(line)
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-MT", "-MF", "-o", "-c"):
            skip = word != "-c"
        elif word not in ("-MD", "-g", "-Werror") and not word.startswith("-O"):
            kept.append(word.replace(str(ROOT), "."))
    kept.pop()
    return kept + ["-O1", "-MD", "-MF", f"{name}.d", "-o", f"{name}.o", "-c", source]


def write_ninja(folder, build, alone):
    commands = [relative_command(line, source, f"object{i}")
                for i, (line, source) in enumerate(units(folder, build, alone))]
    objects = [command[command.index("-o") + 1] for command in commands]
    text = "rule compile\n  command = $run\n  depfile = $out.d\n  deps = gcc\nrule link\n  command = $run\n"
    for command, made in zip(commands, objects):
        run = shlex.join(command).replace(f"{made[:-2]}.d", f"{made}.d")
        text += f"build {made}: compile {command[-1]}\n  run = {run}\n"
    backend = next(made for command, made in zip(commands, objects) if command[-1].endswith("reference_backend.cpp"))
    others = [made for made in objects if made != backend]
    archive = f"rm -f rest.a && ar qc rest.a {' '.join(others)}"  # of the rest only what is needed is linked
    compiler = next(word for word in commands[0] if not word.endswith("ccache"))
    link = f"{compiler} -shared -fopenmp -Wl,--no-undefined -o {LIBRARY} {backend} rest.a -lfmt -lcrypto"
    text += f"build {LIBRARY}: link {' '.join(objects)}\n  run = {archive} && {link}\n"
    (folder / "build.ninja").write_text(text)


def prepare(work, build, jobs, alone):
    """The unmutated copy, compiled."""
    shutil.rmtree(work, ignore_errors=True)
    base = work / "base"
    for room in ROOMS:
        shutil.copytree(ROOT / room, base / room)
    write_ninja(base, build, alone)
    subprocess.run(["ninja", "-C", base, "-j", str(jobs), "--quiet"], check=True)
    return base


def run_suite(options, folder, profiles):
    """The report of the suite on the library, under the named profiles or under those of the files."""
    command = [options.fp4proof, "run", "--backend", folder / LIBRARY, "--set", options.set, "--json", "-",
               "--no-diagnosis", "--require", "offered"]
    for profile in profiles:
        command += ["--profile", profile]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    return process.returncode, json.loads(process.stdout)


def judge(options, folder):
    """What the suite says under the named profiles and, where they see nothing, under those of the folder `profiles`:
    the exit code, failed cases, the classes that failed, and where one failed alone, the operation and profile."""
    classes, alone = set(), {}
    for profiles in ([], sorted(PROFILES.glob("*.json"))):
        code, report = run_suite(options, folder, profiles)
        for table in report["tables"]:
            failed = [name for name, tally in table["classes"].items() if tally["failed"]]
            classes.update(failed)
            if len(failed) == 1:
                alone.setdefault(failed[0], f"{table['operation']} {table['profile']}")
        if code != 0:
            break
    return {"exit_code": code, "failed": report["tally"]["failed"], "classes": sorted(classes), "alone": alone}


def try_mutant(options, base, mutant):
    folder = options.work / mutant.name
    shutil.copytree(base, folder, copy_function=shutil.copy2)
    file = folder / mutant.file
    file.write_text(mutant.applied_to(file.read_text()))
    built = subprocess.run(["ninja", "-C", folder, "-j", "1", "--quiet"], capture_output=True, text=True)
    if built.returncode != 0:
        raise RuntimeError(f"mutant {mutant.name} does not compile:\n{built.stdout[-3000:]}")
    verdict = judge(options, folder)
    shutil.rmtree(folder)
    return {"name": mutant.name, "file": mutant.file, "fault": mutant.fault, **verdict}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--fp4proof", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--set", default="quick")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    unknown = set(options.only) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no such mutant: {', '.join(sorted(unknown))}")
    chosen = [mutant for mutant in MUTANTS if not options.only or mutant.name in options.only]

    base = prepare(options.work, options.build, options.jobs, {mutant.file for mutant in chosen})
    clean = judge(options, base)
    if clean["exit_code"] != 0:
        sys.exit(f"the unmutated reference does not pass: {clean}")
    results, broken = [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pending = {pool.submit(try_mutant, options, base, mutant): mutant for mutant in chosen}
        for done in concurrent.futures.as_completed(pending):
            mutant = pending[done]
            try:
                results.append(done.result())
            except Exception as problem:  # a broken mutant must not hide the others
                broken.append(f"{mutant.name}: {problem}")
                continue
            verdict = results[-1]
            what = "survived" if verdict["exit_code"] == 0 else f"caught by {len(verdict['classes'])} classes"
            print(f"{len(results)}/{len(chosen)} {mutant.name}: {what}, {verdict['failed']} cases", flush=True)
    order = [mutant.name for mutant in MUTANTS]
    results.sort(key=lambda result: order.index(result["name"]))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    survivors = [result["name"] for result in results
                 if result["exit_code"] == 0 and result["name"] not in EQUIVALENT]
    for problem in broken:
        print(problem, file=sys.stderr)
    print(f"{len(results) - len(survivors)} caught, {len(survivors)} survived: {', '.join(survivors)}")
    sys.exit(1 if survivors or broken or not results else 0)


if __name__ == "__main__":
    main()
