#!/usr/bin/env python3
"""Builds mxfp4_unit.sv with Icarus Verilog and runs mxfp4_cocotb.py on it. Needs cocotb 2 (pip install cocotb).

  run_cocotb.py --vectors DIR --library libfp4proof_plain.so [--define NAME]... [--build-dir DIR]
"""

import argparse
import pathlib
import sys

from cocotb_tools.runner import get_results, get_runner

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vectors", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--build-dir", type=pathlib.Path, default=pathlib.Path("cocotb-build"))
    options = parser.parse_args()
    runner = get_runner("icarus")
    runner.build(
        sources=[HERE / name for name in ("mxfp4_decode.sv", "mxfp4_block_dot.sv", "mxfp4_unit.sv")],
        hdl_toplevel="mxfp4_unit",
        defines={name: "" for name in options.define},
        build_args=["-Wall"],
        build_dir=options.build_dir,
        timescale=("1ns", "1ps"),
        always=True,
    )
    results = runner.test(
        test_module="mxfp4_cocotb",
        hdl_toplevel="mxfp4_unit",
        build_dir=options.build_dir,
        test_dir=options.build_dir.resolve(),
        extra_env={
            "FP4PROOF_VECTORS": str(options.vectors.resolve()),
            "FP4PROOF_PLAIN": str(options.library.resolve()),
            "PYTHONPATH": str(HERE),
        },
    )
    tests, failures = get_results(results)
    print(f"{tests} tests, {failures} failed")
    return 1 if failures or tests == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
