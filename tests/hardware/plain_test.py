"""Usage: plain_test.py LIBRARY VECTORS [unittest arguments]

libfp4proof_plain through ctypes: every profile against the committed vectors, block by block, and what it refuses.
"""

import ctypes
import json
import pathlib
import struct
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import export_readers as read  # noqa: E402

LIBRARY = ""
VECTORS = pathlib.Path()
ONE = 0x3F800000
E_PROFILE, E_ARGUMENT, E_ACCUMULATOR, E_PAIR, E_REFUSED, E_ENVIRONMENT = -1, -2, -3, -4, -5, -6


class Plain:
    def __init__(self):
        self.library = ctypes.CDLL(LIBRARY)
        for name in ("last_error", "status_text", "profile_name"):
            getattr(self.library, f"fp4proof_{name}").restype = ctypes.c_char_p

    def __getattr__(self, name):
        return getattr(self.library, f"fp4proof_{name}")


class Table:
    """One file of the set."""

    def __init__(self, entry):
        self.operation = entry["operation"]
        self.profile = entry["profile"]["name"]
        self.aliases = entry["aliases"]
        self.groups = entry["groups"]
        name = f"{self.operation}.{self.profile.replace('/', '.')}.safetensors"
        self.tensors = read.safetensors(VECTORS / name)

    def case(self, group, tensor, index):
        """The bytes of one case, None where there is no such tensor."""
        found = self.tensors.get(f"{self.operation}/{self.profile}/{group}/{tensor}")
        if found is None:
            return None
        _, shape, content = found
        size = len(content) // shape[0]
        return content[index * size : (index + 1) * size]

    def case_id(self, group, index):
        return f"{struct.unpack('<Q', self.case(group, 'case_id', index))[0]:016x}"


def words(content):
    return (ctypes.c_uint * (len(content) // 4)).from_buffer_copy(content)


def tables(operation):
    manifest = json.loads((VECTORS / "manifest.json").read_text())
    return [Table(entry) for entry in manifest["body"]["tables"] if entry["operation"] == operation]


class PlainTest(unittest.TestCase):
    def setUp(self):
        self.plain = Plain()

    def fact(self, name, profile):
        value = getattr(self.plain, name)(profile)
        self.assertGreaterEqual(value, 0, name)
        return value

    def shape(self, profile):
        return tuple(self.fact(name, profile)
                     for name in ("block_rows", "block_columns", "row_code_bytes", "row_scale_bytes"))

    def test_quantize_every_block_of_the_set(self):
        profiles, blocks = set(), 0
        for table in tables("quantize"):
            for name in [table.profile, *table.aliases]:
                profile = self.plain.profile(name.encode())
                self.assertGreaterEqual(profile, 0, name)
                self.assertEqual(self.plain.profile_name(profile), name.encode())
                profiles.add(name)
                rows, columns, code_bytes, scale_bytes = self.shape(profile)
                for group in table.groups:
                    if group["name"] not in (f"{rows}x{columns}", f"1x{8 * columns}"):
                        continue
                    for k in range(group["cases"]):
                        blocks += self.check_quantize(table, name, profile, group["name"], k)
        self.assertEqual(len(profiles), self.plain.profile_count())
        self.assertGreater(blocks, 800)

    def check_quantize(self, table, name, profile, group, k):
        """Blocks of a case, which is one block or a row of blocks."""
        rows, columns, code_bytes, scale_bytes = self.shape(profile)
        source = table.case(group, "input", k)
        scale = ctypes.c_uint()
        self.assertEqual(self.plain.tensor_scale(profile, words(source), len(source) // 4, ctypes.byref(scale)), 0)
        stored = table.case(group, "tensor_scale", k)
        self.assertEqual(scale.value, ONE if stored is None else struct.unpack("<I", stored)[0])
        random = table.case(group, "random", k)
        self.assertEqual(self.fact("needs_random", profile), int(random is not None))
        self.assertEqual(self.fact("has_tensor_scale", profile), int(stored is not None))
        size = 4 * rows * columns
        for block in range(len(source) // size):
            part = slice(block * size, (block + 1) * size)
            codes = ctypes.create_string_buffer(rows * code_bytes)
            scales = ctypes.create_string_buffer(rows * scale_bytes)
            status = self.plain.quantize_block(profile, words(source[part]), None if random is None else words(random[part]),
                                               scale, codes, scales)
            where = f"{name}, case {table.case_id(group, k)}, block {block}: {self.plain.last_error()}"
            self.assertEqual(status, 0, where)
            n, m = rows * code_bytes, rows * scale_bytes
            self.assertEqual(codes.raw.hex(), table.case(group, "codes", k)[block * n : (block + 1) * n].hex(), where)
            self.assertEqual(scales.raw.hex(), table.case(group, "scales", k)[block * m : (block + 1) * m].hex(), where)
        return len(source) // size

    def test_dequantize_every_block_of_the_set(self):
        blocks = 0
        for table in tables("dequantize"):
            profile = self.plain.profile(table.profile.encode())
            rows, columns, _, _ = self.shape(profile)
            for group in table.groups:
                if group["name"] != f"{rows}x{columns}":
                    continue
                for k in range(group["cases"]):
                    stored = table.case(group["name"], "tensor_scale", k)
                    scale = ONE if stored is None else struct.unpack("<I", stored)[0]
                    values = (ctypes.c_uint * (rows * columns))()
                    status = self.plain.dequantize_block(profile, table.case(group["name"], "codes", k),
                                                         table.case(group["name"], "scales", k), scale, values)
                    where = f"{table.profile}, case {table.case_id(group['name'], k)}: {self.plain.last_error()}"
                    self.assertEqual(status, 0, where)
                    self.assertEqual(bytes(values).hex(), table.case(group["name"], "values", k).hex(), where)
                    blocks += 1
        self.assertGreater(blocks, 80)

    def test_dot_of_every_product_of_the_set(self):
        dots, accumulators = 0, set()
        for table in tables("gemm"):
            profile = self.plain.profile(table.profile.encode())
            _, columns, code_bytes, scale_bytes = self.shape(profile)
            for group in table.groups:
                shape, accumulator = group["name"].split("-", 1)
                rows, others, length = (int(extent) for extent in shape.split("x"))
                blocks = length // columns
                accumulators.add(accumulator)
                for k in range(group["cases"]):
                    tensors = {name: table.case(group["name"], name, k)
                               for name in ("a_codes", "a_scales", "b_codes", "b_scales", "c")}
                    a_scale, b_scale = (
                        ONE if stored is None else struct.unpack("<I", stored)[0]
                        for stored in (table.case(group["name"], f"{side}_tensor_scale", k) for side in "ab"))

                    def row(name, index, width):
                        return tensors[name][index * blocks * width : (index + 1) * blocks * width]

                    for place, expected in enumerate(struct.unpack(f"<{rows * others}I", tensors["c"])):
                        m, n = divmod(place, others)
                        word = ctypes.c_uint()
                        status = self.plain.dot(
                            profile, row("a_codes", m, code_bytes), row("a_scales", m, scale_bytes), a_scale,
                            profile, row("b_codes", n, code_bytes), row("b_scales", n, scale_bytes), b_scale,
                            blocks, accumulator.encode(), ctypes.byref(word))
                        where = f"{table.profile}, case {table.case_id(group['name'], k)}, c[{m}][{n}]"
                        self.assertEqual(status, 0, where)
                        self.assertEqual(f"{word.value:08x}", f"{expected:08x}", where)
                        dots += 1
        self.assertGreater(dots, 3000)
        self.assertLessEqual({"seq512", "seq", "exact", "tc:blackwell-mxf4"}, accumulators)

    def test_names_and_facts(self):
        self.assertEqual(self.plain.plain_version(), 1)
        self.assertEqual(self.shape(self.plain.profile(b"mxfp4/ocp")), (1, 32, 16, 1))
        self.assertEqual(self.shape(self.plain.profile(b"mxfp8-e4m3/ocp")), (1, 32, 32, 1))
        self.assertEqual(self.shape(self.plain.profile(b"hif4-2d/gcc")), (64, 64, 32, 4))
        self.assertEqual(self.shape(self.plain.profile(b"nvfp4/tensor-scale")), (1, 16, 8, 1))
        for status in range(-7, 1):
            self.assertGreater(len(self.plain.status_text(status)), 3)
        self.assertIn(b"no status", self.plain.status_text(-99))

    def refuse(self, status, words_, function, *arguments):
        self.assertEqual(getattr(self.plain, function)(*arguments), status)
        self.assertIn(words_, self.plain.last_error())

    def test_refusals_leave_the_outputs_alone(self):
        mxfp4 = self.plain.profile(b"mxfp4/ocp")
        hif4 = self.plain.profile(b"hif4/gcc")
        self.refuse(E_PROFILE, b"did you mean 'mxfp4/ocp'", "profile", b"mxfp4/opc")
        self.refuse(E_ARGUMENT, b"null", "profile", None)
        self.refuse(E_PROFILE, b"index 100000", "block_columns", 100000)
        self.refuse(E_PROFILE, b"index -1", "dequantize_block", -1, bytes(16), bytes(1), ONE, (ctypes.c_uint * 32)())
        self.assertIsNone(self.plain.profile_name(-1))
        codes, scales = ctypes.create_string_buffer(b"\xA5" * 16, 16), ctypes.create_string_buffer(b"\xA5", 1)
        source = (ctypes.c_uint * 32)()
        self.refuse(E_ARGUMENT, b"null", "quantize_block", mxfp4, None, None, ONE, codes, scales)
        self.refuse(E_ARGUMENT, b"no tensor scale", "quantize_block", mxfp4, source, None, 0x40000000, codes, scales)
        stochastic = self.plain.profile(b"mxfp4/ocp-sr")
        self.refuse(E_ARGUMENT, b"null", "quantize_block", stochastic, source, None, ONE, codes, scales)
        self.assertEqual((codes.raw, scales.raw), (b"\xA5" * 16, b"\xA5"))
        values = (ctypes.c_uint * 32)(*[7] * 32)
        self.refuse(E_ARGUMENT, b"no tensor scale", "dequantize_block", mxfp4, bytes(16), bytes(1), 0, values)
        self.assertEqual(list(values), [7] * 32)
        word = ctypes.c_uint(7)
        a, b = (mxfp4, bytes(16), bytes(1), ONE), (hif4, bytes(32), bytes(4), ONE)
        self.refuse(E_PAIR, b"32 columns", "dot", *a, *b, 1, b"seq", ctypes.byref(word))
        self.refuse(E_ARGUMENT, b"0 blocks", "dot", *a, *a, 0, b"seq", ctypes.byref(word))
        self.refuse(E_ACCUMULATOR, b"did you mean 'seq512'", "dot", *a, *a, 1, b"seq51", ctypes.byref(word))
        self.refuse(E_ACCUMULATOR, b"", "dot", *b, *b, 1, b"tc:blackwell-mxf4", ctypes.byref(word))
        self.assertEqual(word.value, 7)

    def test_changed_rounding_mode_is_refused(self):
        libm = ctypes.CDLL("libm.so.6")
        toward_zero = {"x86_64": 0xC00, "aarch64": 0xC00000}
        import platform  # noqa: PLC0415
        if platform.machine() not in toward_zero:
            self.skipTest("the number of FE_TOWARDZERO is not known for this machine")
        values = (ctypes.c_uint * 32)()
        arguments = (self.plain.profile(b"mxfp4/ocp"), bytes(16), bytes(1), ONE, values)
        libm.fesetround(toward_zero[platform.machine()])
        status = self.plain.dequantize_block(*arguments)
        libm.fesetround(0)
        self.assertEqual(status, E_ENVIRONMENT)
        self.assertEqual(self.plain.dequantize_block(*arguments), 0)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    VECTORS = pathlib.Path(sys.argv.pop(1)).resolve() / "smoke"
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
