"""Readers of exported files, written from docs/hardware.md with the standard library alone."""

import ast
import csv
import json
import struct


def hex_words(path):
    """The words of a memory file, and how many digits each has."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("//")]
    widths = {len(line) for line in lines}
    assert len(widths) == 1, f"{path}: words of {widths} digits"
    return [int(line, 16) for line in lines], widths.pop()


def csv_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def npy(path):
    """(dtype, shape, numbers)."""
    content = path.read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00", path
    (length,) = struct.unpack("<H", content[8:10])
    assert (10 + length) % 64 == 0 and content[9 + length] == ord("\n"), path
    header = ast.literal_eval(content[10 : 10 + length].decode("latin1"))
    assert not header["fortran_order"]
    data = content[10 + length :]
    letter = {"|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q"}[header["descr"]]
    return header["descr"], header["shape"], list(struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data))


def safetensors(path):
    """name -> (dtype, shape, bytes)."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    data = content[8 + length :]
    return {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()
    }


def elements(dtype, width, content):
    """The bytes of a tensor of the set as numbers of `width` bits: nibbles, bytes, or little-endian words."""
    if width == 4:
        return [nibble for byte in content for nibble in (byte & 15, byte >> 4)]
    size = width // 8
    return [int.from_bytes(content[i : i + size], "little") for i in range(0, len(content), size)]
