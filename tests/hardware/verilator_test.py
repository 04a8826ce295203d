"""Usage: verilator_test.py FP4PROOF VECTORS LIBRARY EXAMPLES BUILD_FOLDER

Builds examples/verilog with Verilator and runs its bench: the right design passes, each planted fault is found and the
message names the case.
"""

import concurrent.futures
import re
import sys

import design_bench as bench


def build(define, examples, library, cases, folder):
    defines = [f"-D{define}", "-Wno-UNUSEDSIGNAL"] if define else []
    sources = [examples / "verilog" / f"{name}.sv" for name in ("mxfp4_decode", "mxfp4_block_dot", "mxfp4_unit", "mxfp4_bench")]
    bench.must(["verilator", "--binary", "--timing", "-Wall", "-Wno-DECLFILENAME", *defines,
                "--top-module", "mxfp4_bench", f"-GDECODE_CASES={cases['dequantize 1x32']}",
                f"-GDOT_CASES={cases['gemm 7x7x32-seq512']}", f"-GMORE_DOT_CASES={cases['gemm 16x16x32-seq512']}",
                "-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0", "--Mdir", folder, "-o", "bench", *sources, library], env=bench.environment())
    return folder / "bench"


def run_bench(define, examples, library, cases, vectors, folder):
    program = build(define, examples, library, cases, folder / (define or "right"))
    return bench.run([program, f"+vectors={vectors}"], env=bench.environment(LD_LIBRARY_PATH=str(library.parent)))


def main():
    command, vectors, library, examples, folder = bench.folders(sys.argv[1:])
    bench.need("verilator", "make", "g++")
    print(bench.must(["verilator", "--version"]).strip())
    folder.mkdir(parents=True, exist_ok=True)
    cases = bench.export(command, vectors, folder / "vectors")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {define: pool.submit(run_bench, define, examples, library, cases, folder / "vectors", folder)
                for define in ("", *bench.FAULTS)}
    right = runs[""].result()
    compared = 32 * cases["dequantize 1x32"] + 49 * cases["gemm 7x7x32-seq512"] + 256 * cases["gemm 16x16x32-seq512"]
    wanted = f"{compared + 16 * 256 + 20000} compared, 0 wrong"
    assert right.returncode == 0 and wanted in right.stdout, f"wanted: {wanted}\n{right.stdout[-4000:]}"
    print(f"the right design: {wanted}")
    for define, words in bench.FAULTS.items():
        wrong = runs[define].result()
        found = re.search(f"MISMATCH {words}.*", wrong.stdout)
        assert wrong.returncode != 0 and found, f"{define} was not found:\n{wrong.stdout[-4000:]}"
        print(f"{define}: {found.group()}")


if __name__ == "__main__":
    main()
