"""Reading and writing safetensors files with the standard library alone."""

import json
import struct


def write(path, tensors, metadata=None):
    """`tensors`: name -> (dtype, shape, bytes)."""
    header = {"__metadata__": metadata} if metadata else {}
    data = b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    write_raw(path, header, data)


def write_raw(path, header, data):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_raw(path):
    """The header as it stands, and the data."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def read(path):
    """(tensors as for write(), metadata)."""
    header, data = read_raw(path)
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = (entry["dtype"], entry["shape"], data[begin:end])
    return tensors, metadata


def f32(values):
    return struct.pack(f"<{len(values)}f", *values)


def words(values):
    """Binary32 words given as integers."""
    return struct.pack(f"<{len(values)}I", *values)


def bf16(values):
    """Values that bfloat16 holds."""
    return b"".join(f32([value])[2:] for value in values)


def f16(values):
    return struct.pack(f"<{len(values)}e", *values)


def floats(content):
    return struct.unpack(f"<{len(content) // 4}f", content)
