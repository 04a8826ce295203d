#!/usr/bin/env python3
"""A whole program under test: quantize to MXFP4 by the OCP rule, blocks of 32, done by hand.

fp4proof run --process "python3 vendor_process.py" --profile mxfp4/ocp --operation quantize
"""

import struct
import sys

# Half-way between neighbours of 0, 0.5, 1, 1.5, 2, 3, 4, 6, in units of the scale.
TIES = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)


def quantize_block(words):
    """The scale code and the element codes of 32 words of binary32 numbers."""
    largest = max(word & 0x7FFFFFFF for word in words)
    if largest >= 0x7F800000:
        return 255, [0] * 32
    scale = max((largest >> 23) - 2, 0)
    codes = []
    for word in words:
        magnitude = abs(struct.unpack("<f", struct.pack("<I", word))[0]) / 2.0 ** (scale - 127)
        code = 0
        while code < 7 and (magnitude > TIES[code] or (magnitude == TIES[code] and code % 2 == 1)):
            code += 1
        codes.append(code | word >> 31 << 3)
    return scale, codes


def quantize(words, rows, columns, axis):
    """Packed codes and scales of a matrix, the block axis last."""
    lines = [words[row * columns:(row + 1) * columns] for row in range(rows)]
    if axis == 0:
        lines = list(map(list, zip(*lines)))
    codes, scales = [], []
    for line in lines:
        for first in range(0, len(line), 32):
            block = line[first:first + 32]
            scale, block_codes = quantize_block(block + [0] * (32 - len(block)))
            scales.append(scale)
            codes += [low | high << 4 for low, high in zip(block_codes[0::2], block_codes[1::2])]
    return codes, scales


def hexadecimal(numbers):
    return " ".join(f"{number:02x}" for number in numbers)


def answer(fields, cases):
    """The lines of the answer to a question."""
    if fields["op"] == "describe":
        return ["#fp4proof/1 ok count=2", "name vendor", "version 1.0", "#end count=2"]
    if fields["op"] != "quantize" or fields["profile"] != "mxfp4/ocp":
        return ["#fp4proof/1 unsupported"]
    lines = [f"#fp4proof/1 ok count={len(cases)}"]
    for case in cases:
        words = [int(word, 16) for word in case.split()]
        codes, scales = quantize(words, int(fields["rows"]), int(fields["columns"]), int(fields["axis"]))
        lines.append(f"{hexadecimal(codes)} | {hexadecimal(scales)}")
    return lines + [f"#end count={len(cases)}"]


def main():
    for line in sys.stdin:
        fields = dict(field.split("=", 1) for field in line.split()[1:])
        cases = [sys.stdin.readline() for _ in range(int(fields["count"]))]
        sys.stdin.readline()  # "#end count=N"
        print("\n".join(answer(fields, cases)), flush=True)


if __name__ == "__main__":
    main()
