#!/usr/bin/env python3
"""Writes the golden files of Kvrocks into its folder, from the description of the format alone."""
import pathlib
import struct

import xxhash

SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947,
         0x5C6BFB31)


def blocks(count, keys):
    """Returns the blocks that contain the keys, with XXH64 and seed 0."""
    words = [0] * (8 * count)
    for key in keys:
        h = xxhash.xxh64_intdigest(key)
        block = (h >> 32) * count >> 32
        for w, salt in enumerate(SALTS):
            words[8 * block + w] |= 1 << ((h * salt) % 2**32 >> 27)
    return struct.pack(f"<{len(words)}I", *words)


def ordered(number):
    """Encodes a positive number as 8 bytes that sort as the numbers do."""
    return bytes([struct.pack(">d", number)[0] | 0x80]) + struct.pack(">d", number)[1:]


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    keys = [f"key{i}".encode() for i in range(120)]
    # The first filter is for 100 keys at 1%, the second for twice as many.
    (folder / "filter0.kvrocks").write_bytes(blocks(4, keys[:100]))
    (folder / "filter1.kvrocks").write_bytes(blocks(8, keys[100:]))
    tail = struct.pack(">HHI", 2, 2, 100) + ordered(0.01) + struct.pack(">I", 384)
    (folder / "chain64.kvrocks").write_bytes(
        struct.pack(">BQQQ", 0x89, 1700000000123, 0x0123456789ABCDEF, 120) + tail)
    (folder / "chain32.kvrocks").write_bytes(
        struct.pack(">BIQI", 0x09, 1700000000, 0x0123456789ABCDEF, 120) + tail)
