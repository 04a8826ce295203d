"""Usage: c_header_test.py FP4PROOF VECTORS LIBRARY SOURCE_ROOT CC BUILD_FOLDER

Compiles every exported C header of the smallest set as strict C99, and plain_test.c with some of them.
"""

import json
import re
import sys

import design_bench as bench

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def main():
    command, vectors, library, root, _, folder = bench.folders(sys.argv[1:])
    compiler = sys.argv[5]
    folder.mkdir(parents=True, exist_ok=True)
    headers = folder / "headers"
    bench.must([command, "export", "--set", vectors / "smoke", "--out", headers, "--force", "--format", "c-header",
                "--words", "packed"])
    files = sorted(headers.glob("*/*.h"))
    assert len(files) > 100
    texts = [file.read_text() for file in files]
    guards = [re.search(r"^#ifndef (\w+)$", text, re.MULTILINE).group(1) for text in texts]
    assert len(set(guards)) == len(guards), "two headers have the same include guard"
    everything = folder / "everything.c"
    everything.write_text("".join(f'#include "{file.relative_to(headers)}"\n' * 2 for file in files) +
                          "int main(void) { return 0; }\n")
    bench.must([compiler, *STRICT, "-fsyntax-only", "-I", headers, everything])
    program = folder / "plain_test"
    bench.must([compiler, *STRICT, "-I", headers, "-I", root, root / "tests" / "hardware" / "plain_test.c", library,
                f"-Wl,-rpath,{library.parent}", "-o", program])
    output = bench.must([program])
    sidecar = json.loads((headers / "quantize.mxfp4.ocp" / "1x32.json").read_text())
    first = f"case {sidecar['case_ids'][0]}, class {sidecar['classes'][0]}, first word "
    assert output.startswith(first) and output.endswith(" cases, 0 wrong\n"), output
    print(f"{len(files)} headers compile")
    print(output, end="")


if __name__ == "__main__":
    main()
