"""MXFP4 under rceil with corrections, written a second time from docs/rules-corrections.md, in exact fractions.

Numbers are Fractions; `rounded` is the one rounding to binary32 (ties to even, no overflow, no underflow)."""

import fractions
import struct

Fraction = fractions.Fraction
E2M1 = [Fraction(value) for value in ("0", "1/2", "1", "3/2", "2", "3", "4", "6")]
LARGEST = E2M1[-1]


def floor_log2(value):
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1


def rounded(value):
    if value == 0:
        return Fraction(0)
    unit = Fraction(2) ** (floor_log2(abs(value)) - 23)
    return round(value / unit) * unit


def word(value):
    return struct.unpack("<I", struct.pack("<f", float(value)))[0]


def encode(value):
    """The E2M1 code nearest to `value`, between equals the even one."""
    magnitude = abs(value)
    code = min(range(8), key=lambda c: (abs(E2M1[c] - magnitude), c & 1))
    return code | (8 if value < 0 else 0)


def decode(code):
    return E2M1[code & 7] * (-1 if code & 8 else 1)


def quantize_row(row, block=32):
    """(codes, exponents, values): the scale is the smallest power of two that clips nothing; 2^-127 for zeros."""
    codes, exponents, values = [], [], []
    for start in range(0, len(row), block):
        part = row[start : start + block]
        largest = max(map(abs, part))
        exponent = -127
        if largest != 0:
            exponent = floor_log2(largest / LARGEST)
            if LARGEST * Fraction(2) ** exponent < largest:
                exponent += 1
        scale = Fraction(2) ** exponent
        codes += [encode(x / scale) for x in part]
        exponents.append(exponent)
        values += [decode(code) * scale for code in codes[start:]]
    return codes, exponents, values


def macro_byte(part):
    """C15: b of a macro block."""
    largest = max(map(abs, part))
    if largest == 0:
        return 0
    q = rounded(LARGEST / largest)
    b = word(q) >> 15 & 255
    k = -floor_log2(q)
    if (1 + Fraction(b, 256)) * largest > LARGEST * Fraction(2) ** k:
        b = b - 1 if b > 0 else 255
    return b


class Part:
    """One coded part of a row: `weighted` is what codes and scales say, `values` what the part decodes to."""

    def __init__(self, row, macro):
        bytes_ = [macro_byte(row[i : i + macro]) for i in range(0, len(row), macro)] if macro else []
        factors = [1 + Fraction(b, 256) for b in bytes_]
        scaled = [rounded(factors[i // macro] * x) for i, x in enumerate(row)] if macro else row
        self.codes, self.exponents, self.weighted = quantize_row(scaled)
        self.macro = bytes_
        self.weights = [rounded(1 / f) for f in factors]
        self.values = self.weighted
        if macro:
            self.values = [rounded(v / factors[i // macro]) for i, v in enumerate(self.weighted)]


def kept_of_four(residual):
    """C22: the places of the two largest of four; between equals the lower one."""
    return sorted(sorted(range(4), key=lambda i: (-abs(residual[i]), i))[:2])


class Row:
    """A corrected row under an optional macro size and an optional residual, `mask` "dense" or "2:4"."""

    def __init__(self, row, macro=0, alpha=None, mask="dense"):
        self.first = Part(row, macro)
        self.values = self.first.values
        self.residual = None
        if alpha is None:
            return
        residual = [rounded(x - y) for x, y in zip(row, self.first.values)]
        part = Part(residual, macro)
        self.places = [kept_of_four(residual[i : i + 4]) for i in range(0, len(row), 4)]
        if mask == "2:4":
            for i in range(len(row)):
                if i % 4 not in self.places[i // 4]:
                    part.codes[i], part.values[i], part.weighted[i] = 0, Fraction(0), Fraction(0)
        self.residual = part
        self.values = [rounded(x + rounded(alpha * y)) for x, y in zip(self.first.values, part.values)]


def hadamard(row, size=16):
    """C10 without signs; its own inverse but for rounding."""
    result = list(row)
    for start in range(0, len(row), size):
        h = 1
        while h < size:
            for i in range(size):
                if i & h == 0:
                    a, b = result[start + i], result[start + i + h]
                    result[start + i], result[start + i + h] = rounded(a + b), rounded(a - b)
            h *= 2
    root = {16: 4, 64: 8}[size]
    return [rounded(x / root) for x in result]


def dot_in_order(a, b, block, weights, macro, chunk=512):
    """One element of G under seq512: C40 without macro blocks, C41 with them."""
    total = None
    for start in range(0, len(a), chunk):
        acc = Fraction(0)
        end = min(len(a), start + chunk)
        for at in range(start, end, macro or end - start):
            part = Fraction(0)
            for i in range(at, min(end, at + (macro or end - start)), block):
                dot = sum(x * y for x, y in zip(a[i : i + block], b[i : i + block]))
                part = rounded(part + rounded(dot))
            acc = rounded(acc + rounded(part * weights(at // macro))) if macro else part
        total = acc if total is None else rounded(total + acc)
    return total


def product(a, b, macro=0, alpha=None):
    """Y of two corrected rows, the second without a residual."""

    def of(part):
        def weights(slice_):
            return rounded(part.weights[slice_] * b.first.weights[slice_])

        return dot_in_order(part.weighted, b.first.weighted, 32, weights, macro)

    result = of(a.first)
    return result if a.residual is None else rounded(result + rounded(alpha * of(a.residual)))
