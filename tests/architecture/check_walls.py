#!/usr/bin/env python3
"""Usage: check_walls.py ROOT

Fails on every include, header or path in the tree under ROOT that breaks the architecture:
who may include whom, headers that can be included twice, names of one machine, files too long to read at once.
"""

import re
import sys
from pathlib import Path

HEADERS = {".h", ".hpp", ".cuh"}
SOURCES = HEADERS | {".cpp", ".cc", ".c", ".cu", ".inc"}
TEXTS = SOURCES | {".cmake", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yml", ".yaml", ""}
ROOMS = ("formats", "reference", "gpu", "conformance", "tests")
LONGEST_FILE = 600

INCLUDE = re.compile(r"^\s*#\s*(?:include|include_next|import)\s*(.*)$")
TARGET = re.compile(r'^(?:"([^"]+)"|<([^>]+)>)')
CUDA_LINK = re.compile(r"CUDA::|\bcudart|fp4proof::gpu|fp4proof_gpu|\bLANGUAGES?\s+CUDA")
MACHINE_PATH = re.compile(r"(?<![\w.}$)])/(?:work|home|root|Users)/\w")

EXACT_MAY_USE_OF_FORMATS = re.compile(r"^formats/(?:spec\w*|result)\.h$")
GPU_MAY_USE_OF_CONFORMANCE = ("conformance/backend.h", "conformance/training_backend.h")


def is_cuda_header(name):
    return name.startswith(("cuda", "cooperative_groups", "cub/", "thrust/", "nv"))


def wall_broken(path, name, quoted):
    """The rule that `path` (relative, with slashes) breaks by including `name`, or None."""
    room = path.split("/")[0]
    target = name.split("/")[0]
    if room == "formats":
        if target in ROOMS and target != "formats":
            return "formats knows no other room"
        if not quoted and re.search(r"[./]", name):
            return "formats depends on the standard library alone"
    if room == "gpu":
        if target == "reference":
            return "gpu never includes reference"
        if target in ("conformance", "tests") and name not in GPU_MAY_USE_OF_CONFORMANCE:
            return f"gpu knows formats, {' and '.join(GPU_MAY_USE_OF_CONFORMANCE)} only"
    if room == "reference":
        if target in ("gpu", "conformance", "tests"):
            return "reference knows formats only"
        if is_cuda_header(name):
            return "reference never includes CUDA"
    if path.startswith("reference/exact/"):
        if target == "formats" and not EXACT_MAY_USE_OF_FORMATS.match(name):
            return "the oracle includes formats/spec*.h and formats/result.h only"
        if name.startswith("reference/") and not name.startswith("reference/exact/"):
            return "the oracle shares no code with the road that it judges"
    if path.startswith("reference/portable/") and name.startswith("reference/exact/"):
        return "the portable road shares no code with the oracle that judges it"
    if room == "conformance":
        if target in ("gpu", "tests"):
            return "conformance opens the GPU path as a plug-in"
        if is_cuda_header(name):
            return "conformance never uses the CUDA runtime"
    return None


def check_includes(root, path, lines):
    for number, line in enumerate(lines, 1):
        directive = INCLUDE.match(line)
        if not directive:
            continue
        where = f"{path}:{number}"
        target = TARGET.match(directive.group(1))
        if not target:
            yield f"{where}: an include through a macro cannot be checked; write the name"
            continue
        name = target.group(1) or target.group(2)
        in_rooms = name.split("/")[0] in ROOMS
        if target.group(1) and not (in_rooms and (root / name).is_file() and ".." not in name):
            yield f'{where}: "{name}" is no file of the rooms; write includes from the root of the repository'
        broken = wall_broken(path, name, quoted=bool(target.group(1)))
        if broken:
            yield f"{where}: includes {name}; {broken}"


def check_file(root, file):
    path = file.relative_to(root).as_posix()
    room = path.split("/")[0]
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield f"{path}:{number}: names a path of one machine"
    if room not in ROOMS:
        return
    if file.suffix in SOURCES:
        yield from check_includes(root, path, lines)
        if len(lines) >= LONGEST_FILE:
            yield f"{path}: {len(lines)} lines; a file stays under {LONGEST_FILE}"
    if file.suffix in HEADERS and (not lines or lines[0] != "#pragma once"):
        yield f"{path}:1: a header starts with #pragma once"
    if room == "conformance" and (file.name == "CMakeLists.txt" or file.suffix == ".cmake"):
        for number, line in enumerate(lines, 1):
            if CUDA_LINK.search(line):
                yield f"{path}:{number}: conformance never links the CUDA runtime or gpu"


def files_of(root):
    for entry in sorted(root.iterdir()):
        if entry.name in (".git", "out", "vectors") or entry.name.startswith("build"):
            continue
        candidates = sorted(entry.rglob("*")) if entry.is_dir() else [entry]
        for file in candidates:
            if file.is_file() and file.suffix in TEXTS and "__pycache__" not in file.parts:
                yield file


def findings(root):
    return [finding for file in files_of(root) for finding in check_file(root, file)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1]).resolve()
    missing = [room for room in ("formats", "reference", "conformance") if not (root / room).is_dir()]
    if missing:
        sys.exit(f"{root} is no tree of this project: no folder {', '.join(missing)}")
    found = findings(root)
    for finding in found:
        print(finding)
    print(f"{len(list(files_of(root)))} files, {len(found)} findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
