#!/usr/bin/env python3
"""Recorded outputs of public implementations, through `fp4proof quantize` as a user would run it.

Usage: recorded_rows_test.py FP4PROOF TEST_DATA

Writes the recorded inputs of each profile as one safetensors file, quantizes it, and compares codes and scales with the
recorded ones bit for bit. Every row is compared or counted among the rows set apart, and both counts are asserted.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

MXFP4_PROFILES = {
    ("cuda_13.0_host", "rp_satfinite(amax/6)"): "cuda-rceil",
    ("cuda_13.0_host", "rz_satfinite(amax)-2"): "cuda-floor",
    ("llama.cpp", "quantize_row_mxfp4_ref"): "ggml",
    ("microxcaling_py_cpu", "round=nearest,flush_fp32_subnorms=False"): "microxcaling-python-nearest",
    ("microxcaling_py_cpu", "round=even,flush_fp32_subnorms=False"): "microxcaling-python-even",
    ("microxcaling_cpp_host", "round=nearest(away),flush_fp32_subnorms=0"): "microxcaling-cpp-nearest",
    ("microxcaling_cpp_host", "round=even,flush_fp32_subnorms=0"): "microxcaling-cpp-even",
    ("torchao_36027d82d", "floor"): "torchao-2026-08-floor",
    ("torchao_36027d82d", "rceil"): "torchao-2026-08-rceil",
    ("torchao_36027d82d", "ceil"): "torchao-2026-08-ceil",
    ("torchao_36027d82d", "even"): "torchao-2026-08-even",
    ("triton_kernels_torch_ref(port)", "ROUND_UP"): "triton-round-up",
    ("triton_kernels_torch_ref(port)", "ROUND_DOWN"): "triton-round-down",
}


def rows_of(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if row["name"] != "_header"]


def write_safetensors(path, name, rows):
    """One F32 tensor of binary32 words, one row a block."""
    data = b"".join(struct.pack("<I", word) for row in rows for word in row)
    header = {name: {"dtype": "F32", "shape": [len(rows), len(rows[0])], "data_offsets": [0, len(data)]}}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = (entry["shape"], content[8 + length + begin : 8 + length + end])
    return tensors


def quantize(binary, folder, profile, rows):
    """Codes (one a value) and scale words of each row."""
    source, target = folder / "in.safetensors", folder / "out.safetensors"
    write_safetensors(source, "x", rows)
    subprocess.run([binary, "quantize", source, target, "--profile", profile], check=True, capture_output=True)
    tensors = read_safetensors(target)
    codes, scales = tensors["x.codes"][1], tensors["x.scales"][1]
    code_bytes, scale_bytes = len(codes) // len(rows), len(scales) // len(rows)
    result = []
    for i in range(len(rows)):
        packed = codes[i * code_bytes : (i + 1) * code_bytes]
        nibbles = [nibble for byte in packed for nibble in (byte & 15, byte >> 4)]
        result.append((nibbles, int.from_bytes(scales[i * scale_bytes : (i + 1) * scale_bytes], "little")))
    return result


class Comparison:
    def __init__(self):
        self.compared = 0
        self.nan_only = 0
        self.differences = []

    def row(self, what, ours, codes, scale):
        """`codes` may hold None where the record says nothing."""
        self.compared += 1
        differs = [i for i, code in enumerate(codes) if code is not None and code != ours[0][i]]
        if ours[1] != scale or differs:
            self.differences.append(f"{what}: scale {ours[1]:#x} recorded {scale:#x}, elements that differ {differs}")

    def nan_row(self, what, ours, nan_scale):
        self.nan_only += 1
        if ours[1] & 0xFF != nan_scale:
            self.differences.append(f"{what}: scale {ours[1]:#x} is not NaN")


def reversed_bits(byte):
    return int(f"{byte:08b}"[::-1], 2)


def bits(values, shift):
    return sum(bit << (shift + i) for i, bit in enumerate(values))


def compare_mxfp4(binary, folder, data, comparison):
    groups = {}
    undefined = 0
    for row in rows_of(data / "mxfp4_peers.jsonl"):
        if row.get("c_undefined_behaviour"):
            undefined += 1
        else:
            groups.setdefault("mxfp4/" + MXFP4_PROFILES[row["peer"], row["mode"]], []).append(row)
    for profile, rows in groups.items():
        words = [[int(row["input_f32_hex"][i : i + 8], 16) for i in range(0, 256, 8)] for row in rows]
        for row, ours in zip(rows, quantize(binary, folder, profile, words)):
            what = f"{profile} {row['name']}"
            if row["scale_code"] == 255:
                comparison.nan_row(what, ours, 255)
            else:
                codes = [None if digit == "x" else int(digit, 16) for digit in row["elem_codes"]]
                comparison.row(what, ours, codes, row["scale_code"])
    return undefined


def compare_hif4(binary, folder, data, comparison):
    cases = rows_of(data / "hif4_cases.jsonl")
    variants = rows_of(data / "hif4_variants.jsonl")
    words = [[int(word, 16) for word in row["input"]] for row in cases]
    for row, ours in zip(cases, quantize(binary, folder, "hif4/gcc", words)):
        if row["scale_code"] == 255:
            comparison.nan_row(f"hif4/gcc {row['name']}", ours, 255)
        else:
            scale = row["scale_code"] | bits(row["level2"], 8) | bits(row["level3"], 16)
            comparison.row(f"hif4/gcc {row['name']}", ours, row["elem"], scale)
    for row, ours in zip(variants, quantize(binary, folder, "hif4/amct", words)):
        e6m2, *levels = row["amct_scale_bytes"]
        if e6m2 == 255:
            comparison.nan_row(f"hif4/amct {row['name']}", ours, 255)
        else:
            scale = e6m2 | sum(reversed_bits(byte) << (8 * (i + 1)) for i, byte in enumerate(levels))
            codes = [nibble for byte in row["amct_value_bytes"] for nibble in (byte & 15, byte >> 4)]
            comparison.row(f"hif4/amct {row['name']}", ours, codes, scale)
    recorded = [(row, w) for row, w in zip(variants, words) if row["pto_a6"] is not None]
    results = quantize(binary, folder, "hif4/pto-a6", [w for _, w in recorded])
    for (row, _), ours in zip(recorded, results):
        record = row["pto_a6"]
        comparison.row(f"hif4/pto-a6 {row['name']}", ours, record["elem"], int(record["scale_word_lsb_first"], 16))
    return len(variants) - len(recorded)


def main():
    binary, data = sys.argv[1], pathlib.Path(sys.argv[2])
    comparison = Comparison()
    with tempfile.TemporaryDirectory() as name:
        undefined = compare_mxfp4(binary, pathlib.Path(name), data, comparison)
        without_record = compare_hif4(binary, pathlib.Path(name), data, comparison)
    for difference in comparison.differences:
        print(difference)
    print(f"{comparison.compared} rows compared, {comparison.nan_only} as NaN alone, {undefined} undefined and "
          f"{without_record} without a record set apart, {len(comparison.differences)} differences")
    counts = (comparison.compared, comparison.nan_only, undefined, without_record)
    return 0 if not comparison.differences and counts == (3015, 70, 33, 14) else 1


if __name__ == "__main__":
    sys.exit(main())
