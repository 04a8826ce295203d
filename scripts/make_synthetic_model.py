#!/usr/bin/env python3
"""Usage: make_synthetic_model.py OUT.safetensors

Writes a small safetensors file that looks like one transformer layer: normal weights, a few outlier columns, F32.
"""

import array
import json
import random
import struct
import sys

WIDTH = 256
LAYERS = {
    "layer.0.attention.query.weight": (WIDTH, WIDTH, 0.05, 0),
    "layer.0.attention.output.weight": (WIDTH, WIDTH, 0.03, 2),
    "layer.0.intermediate.weight": (4 * WIDTH, WIDTH, 0.04, 0),
    "layer.0.output.weight": (WIDTH, 4 * WIDTH, 0.03, 8),
}


def weights(generator, rows, columns, deviation, outlier_columns):
    """Normal numbers; the first `outlier_columns` columns are twenty times as large."""
    values = array.array("f")
    for _ in range(rows):
        for column in range(columns):
            factor = 20.0 if column < outlier_columns else 1.0
            values.append(generator.gauss(0.0, deviation * factor))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    generator = random.Random(1)
    header, data = {}, b""
    for name, (rows, columns, deviation, outlier_columns) in LAYERS.items():
        begin = len(data)
        data += weights(generator, rows, columns, deviation, outlier_columns)
        header[name] = {"dtype": "F32", "shape": [rows, columns], "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    main()
