#!/usr/bin/env python3
"""Writes the seeds of the container fuzzers: corpus/safetensors/ and corpus/manifest/ beside this file.

Names tell the verdict: valid-* must be accepted, hostile-* refused. The readers' own writers are not used, so that
the seeds stand for the format and not for the program. Files found by fuzzing (other names) are left alone.
"""

import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"
EMPTY_DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def file(header, data=b"", length=None):
    """A safetensors file; `header` is a dict, or raw text for what json.dumps would not write."""
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def all_dtypes():
    widths = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8,
              "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32,
              "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
    header, at = {}, 0
    for name, bits in widths.items():
        header["t." + name] = tensor(name, [2, 2], at, at + bits // 2)
        at += bits // 2
    return file(header, bytes(i % 251 for i in range(at)))


def safetensors_seeds():
    one = tensor("U8", [1], 0, 1)
    pair = {"a": tensor("F32", [2], 0, 8), "b": tensor("U8", [3], 8, 11)}
    one_text = json.dumps(one).encode()
    yield "valid-no-tensors", file({})
    yield "valid-metadata-only", file({"__metadata__": {"k": "v", "": ""}})
    yield "valid-padded", file(b"{}      ")
    yield "valid-pair", file(dict(pair, __metadata__={"profile": "mxfp4"}), b"01234567abc")
    yield "valid-all-dtypes", all_dtypes()
    yield "valid-scalar-and-empty", file({"s": tensor("F64", [], 0, 8), "e": tensor("F32", [3, 0], 8, 8),
                                          "f": tensor("F4", [0], 0, 0)}, b"12345678")
    yield "valid-unaligned", file({"a": one, "b": tensor("F64", [1], 1, 9)}, b"x12345678")
    yield "valid-names", file({"": one, "\u00e9\u2603\U0001f600\n\"\\": tensor("U8", [1], 1, 2)}, b"xy")
    yield "hostile-nothing", b""
    yield "hostile-short-length", b"\x02\0\0"
    yield "hostile-length-beyond-file", file({}, length=1000)
    yield "hostile-length-huge", file({}, length=2**64 - 1)
    yield "hostile-length-over-limit", file({}, length=100_000_001)
    yield "hostile-length-zero", file(b"")
    yield "hostile-no-object", file(b"[]")
    yield "hostile-leading-space", file(b" {}")
    yield "hostile-byte-order-mark", file(b"\xef\xbb\xbf{}")
    yield "hostile-nul-after-object", file(b"{}\0junk")
    yield "hostile-bad-utf8", file(b'{"\xff":1}')
    yield "hostile-lone-surrogate", file(b'{"\\ud800":1}')
    yield "hostile-truncated-json", file(json.dumps(pair).encode()[:-1], b"01234567abc")
    yield "hostile-truncated-data", file(pair, b"01234567ab")
    yield "hostile-trailing-data", file(pair, b"01234567abcd")
    yield "hostile-duplicate-name", file(b'{"a":' + one_text + b',"a":' + one_text + b"}", b"x")
    yield "hostile-duplicate-escaped", file(b'{"a":' + one_text + b',"\\u0061":' + one_text + b"}", b"x")
    yield "hostile-duplicate-field", file(b'{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x")
    yield "hostile-overlap", file({"a": tensor("U8", [3], 0, 3), "b": tensor("U8", [3], 2, 5)}, b"12345")
    yield "hostile-gap", file({"a": one, "b": tensor("U8", [1], 2, 3)}, b"123")
    yield "hostile-reversed", file({"a": tensor("U8", [1], 1, 0)}, b"x")
    yield "hostile-offset-wraps", file({"a": tensor("U8", [1], 2**64 - 1, 0)}, b"x")
    yield "hostile-size-mismatch", file({"a": tensor("F32", [2], 0, 7)}, b"1234567")
    yield "hostile-product-overflow", file({"a": tensor("U8", [2**32, 2**32], 0, 0)})
    yield "hostile-dimension-over-64-bits", file({"a": tensor("U8", [2**64], 0, 0)})
    yield "hostile-negative-dimension", file({"a": tensor("U8", [-1], 0, 1)}, b"x")
    yield "hostile-fractional-dimension", file({"a": tensor("U8", [1.0], 0, 1)}, b"x")
    yield "hostile-odd-f4", file({"a": tensor("F4", [3], 0, 2)}, b"12")
    yield "hostile-unknown-dtype", file({"a": tensor("Q4_0", [1], 0, 1)}, b"x")
    yield "hostile-many-dimensions", file({"a": tensor("U8", [1] * 65, 0, 1)}, b"x")
    yield "hostile-deep", file(b'{"a":' + b"[" * 1000)
    yield "hostile-long-number", file(b'{"a":' + b"9" * 5000 + b"}")
    yield "hostile-metadata-number", file({"__metadata__": {"k": 1}})


def manifest(**changes):
    document = {"format": "fp4proof-vectors/1", "tool_version": "0.1.0", "set": "smoke",
                "files": {"a.safetensors": {"sha256": EMPTY_DIGEST, "bytes": 0}}, "body": {}}
    document.update(changes)
    return json.dumps(document, indent=2, sort_keys=True).encode() + b"\n"


def record(name, digest=EMPTY_DIGEST, size=0):
    return {name: {"sha256": digest, "bytes": size}}


def nested(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


def manifest_seeds():
    yield "valid-plain", manifest()
    yield "valid-no-files", manifest(files={})
    yield "valid-compact", json.dumps(json.loads(manifest()), separators=(",", ":")).encode()
    yield "valid-body", manifest(body={"cases": [1, -2, 0.5, 1e300, -0.0, 2**64, True, None, "\u00e9\u0000"], "": {}})
    yield "valid-deep-body", manifest(body={"deep": nested(62)})
    yield "valid-large-file", manifest(files=record("a", size=2**64 - 1))
    yield "hostile-nothing", b""
    yield "hostile-truncated", manifest()[:-3]
    yield "hostile-array", b"[]"
    yield "hostile-other-format", manifest(format="fp4proof-vectors/2")
    yield "hostile-unknown-field", manifest(extra=1)
    yield "hostile-missing-field", b'{"format":"fp4proof-vectors/1"}'
    yield "hostile-duplicate-field", manifest().replace(b'"set": "smoke"', b'"set": "smoke", "set": "quick"')
    yield "hostile-duplicate-in-body", manifest(body={"x": 1}).replace(b'"x": 1', b'"x": 1, "x": 2')
    yield "hostile-parent-folder", manifest(files=record("../a"))
    yield "hostile-dots", manifest(files=record(".."))
    yield "hostile-absolute", manifest(files=record("/etc/passwd"))
    yield "hostile-backslash", manifest(files=record("x\\a"))
    yield "hostile-nul-name", manifest(files=record("a\0b"))
    yield "hostile-empty-name", manifest(files=record(""))
    yield "hostile-short-digest", manifest(files=record("a", digest="abc"))
    yield "hostile-upper-digest", manifest(files=record("a", digest=EMPTY_DIGEST.upper()))
    yield "hostile-negative-size", manifest(files=record("a", size=-1))
    yield "hostile-fractional-size", manifest(files=record("a", size=0.0))
    yield "hostile-deep-body", manifest(body={"deep": nested(63)})
    yield "hostile-depth-bomb", b"[" * 2000
    yield "hostile-body-array", manifest(body=[])
    yield "hostile-nul", manifest() + b"\0"
    yield "hostile-byte-order-mark", b"\xef\xbb\xbf" + manifest()
    yield "hostile-nan", manifest(body={"x": float("nan")})


def main():
    for kind, seeds in (("safetensors", safetensors_seeds()), ("manifest", manifest_seeds())):
        folder = CORPUS / kind
        folder.mkdir(parents=True, exist_ok=True)
        for stale in (*folder.glob("valid-*"), *folder.glob("hostile-*")):
            stale.unlink()
        for name, content in seeds:
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
