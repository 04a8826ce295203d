#!/usr/bin/env python3
"""Usage: peers.py [--bin FOLDER] [--size N] [--json FILE]

What people use today, beside the CUDA path, on one GPU in one run: MXFP4 quantization emulated in PyTorch (eager and
compiled), the product of dequantized operands in fp32, and cuBLAS bf16 and int8 as yardsticks. With --bin it also runs
bench_quantize and bench_gemm of that folder. Medians of CUDA events. Needs PyTorch and a GPU.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import torch

RUNS = 20
BLOCK = 32
QUANTIZED_BYTES = 2 + 0.5 + 1 / BLOCK  # bf16 in, codes and scales out


def median_ms(work, runs=RUNS):
    for _ in range(3):
        work()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(runs + 1)]
    events[0].record()
    for event in events[1:]:
        work()
        event.record()
    torch.cuda.synchronize()
    times = sorted(a.elapsed_time(b) for a, b in zip(events, events[1:]))
    return times[len(times) // 2]


def quantize_mxfp4(x):
    """bf16 -> codes, two a byte, and scale codes: floor scale, ties to even, in the way emulations are written."""
    blocks = x.float().view(-1, BLOCK)
    amax = blocks.abs().amax(dim=1, keepdim=True)
    exponent = ((amax.view(torch.int32) >> 23) - 2).clamp(min=0)
    scaled = blocks * ((254 - exponent) << 23).view(torch.float32)
    magnitude = scaled.abs()
    step = torch.where(magnitude >= 4, 2.0, torch.where(magnitude >= 2, 1.0, 0.5))
    rounded = torch.round(magnitude / step) * step
    code = torch.where(rounded < 2, rounded * 2, torch.where(rounded < 4, rounded + 2, rounded / 2 + 4)).clamp(max=7)
    code = code.to(torch.uint8) | ((scaled.view(torch.int32) >> 28).to(torch.uint8) & 8)
    return code[:, ::2] | (code[:, 1::2] << 4), exponent.to(torch.uint8)


def quantizers(size):
    x = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    copy_ms = median_ms(lambda: y.copy_(x))
    floor_ms = copy_ms * QUANTIZED_BYTES / 4
    compiled = torch.compile(quantize_mxfp4)
    same = all(torch.equal(a, b) for a, b in zip(quantize_mxfp4(x[:256]), compiled(x[:256])))
    rows = [{"name": "copy of the same bytes", "ms": floor_ms},
            {"name": "PyTorch, eager", "ms": median_ms(lambda: quantize_mxfp4(x), 5)},
            {"name": "PyTorch, torch.compile", "ms": median_ms(lambda: compiled(x)), "equal_to_eager": same}]
    for row in rows:
        row["times_floor"] = row["ms"] / floor_ms
    return rows


def products(size):
    def row(name, work, runs=RUNS):
        ms = median_ms(work, runs)
        return {"name": name, "ms": ms, "tflops": 2 * size**3 / ms / 1e9}

    a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    ints = [torch.randint(-12, 13, (size, size), device="cuda", dtype=torch.int8) for _ in range(2)]
    torch.backends.cuda.matmul.allow_tf32 = False
    rows = [row("cuBLAS bf16", lambda: a @ b.T), row("cuBLAS int8", lambda: torch._int_mm(ints[0], ints[1].T))]
    a, b = a.float(), b.float()
    return rows + [row("cuBLAS fp32 on dequantized operands", lambda: a @ b.T, 5)]


def ours(folder, program):
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        subprocess.run([folder / program, "--json", report], check=True)
        return [json.loads(line) for line in report.read_text().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, help="folder with bench_quantize and bench_gemm")
    parser.add_argument("--size", type=int, default=16384, help="side of the quantized matrix (products: half)")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    report = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "size": arguments.size,
              "quantize": quantizers(arguments.size), "gemm": products(arguments.size // 2)}
    for table in ("quantize", "gemm"):
        for row in report[table]:
            print(f"{table:9} {row['name']:36} {row['ms']:9.4f} ms",
                  *(f"{key} {row[key]:.3f}" for key in ("times_floor", "tflops") if key in row))
    if arguments.bin:
        report["ours"] = {program: ours(arguments.bin, program) for program in ("bench_quantize", "bench_gemm")}
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
