#!/usr/bin/env python3
"""Writes the golden files of Kudu into its folder, from the description of the format alone."""
import pathlib
import struct

MASK = 2**64 - 1
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947,
         0x5C6BFB31)
CELLS = {"int8": 1, "int16": 2, "int32": 4, "int64": 8}


def key(kind, i):
    """Returns key i of a type, as in tests/formats/kudu_test_keys.h."""
    if kind in CELLS:
        x = (i + 0x9E3779B97F4A7C15) & MASK
        x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
        return (x ^ x >> 31).to_bytes(8, "little")[:CELLS[kind]]
    if i == 0:
        return b""
    return bytes((31 * i + 7 * j) % 256 for j in range(i % 37)) + i.to_bytes(4, "little")


def mix(h):
    h = ((h ^ h >> 23) * 0x2127599BF4325C37) & MASK
    return h ^ h >> 47


def fast_hash(data, seed):
    data = data or struct.pack("<I", 0x7DCA7EEE)
    multiplier = 0x880355F21E6D1965
    h = seed ^ (len(data) * multiplier & MASK)
    for at in range(0, len(data), 8):
        h = ((h ^ mix(int.from_bytes(data[at:at + 8], "little"))) * multiplier) & MASK
    h = mix(h)
    return (h - (h >> 32)) % 2**32


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value % 0x80 + 0x80])
        value >>= 7
    return out + bytes([value])


def message(kind, log_space, seed, count):
    words = [0] * (2**log_space // 4)
    for i in range(count):
        h = fast_hash(key(kind, i), seed)
        rehashed = (h * 0x7850F11EC6D14889 + 0x6773610597CA4C63 & MASK) >> 32
        block = rehashed % (2**log_space // 32)
        for w, salt in enumerate(SALTS):
            words[8 * block + w] |= 1 << ((h * salt) % 2**32 >> 27)
    data = struct.pack(f"<{len(words)}I", *words)
    return (b"\x08" + varint(log_space) + b"\x12" + varint(len(data)) + data
            + b"\x18" + varint(int(count == 0)) + b"\x20\x03\x28" + varint(seed))


GOLDEN = {
    "int8": ("int8", 7, 0, 20),
    "int16": ("int16", 7, 0, 20),
    "int32": ("int32", 7, 0, 20),
    "int64": ("int64", 7, 0, 20),
    "bytes": ("bytes", 7, 0, 20),
    "int64_empty": ("int64", 6, 0, 0),
    "int64_seeded": ("int64", 6, 0xDEADBEEF, 10),
    "int64_full": ("int64", 6, 1, 2000),
    "bytes_large": ("bytes", 13, 7, 500),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    for name, recipe in GOLDEN.items():
        (folder / f"{name}.kudu").write_bytes(message(*recipe))
