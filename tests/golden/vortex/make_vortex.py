#!/usr/bin/env python3
"""Writes the golden files of Vortex into its folder, from the description of the format alone."""
import pathlib
import struct

import xxhash

SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947,
         0x5C6BFB31)


def blocks(count, keys):
    """Returns the blocks that contain the keys, with XXH3-64 and seed 0."""
    words = [0] * (8 * count)
    for key in keys:
        h = xxhash.xxh3_64_intdigest(key)
        block = (h >> 32) * count >> 32
        for w, salt in enumerate(SALTS):
            words[8 * block + w] |= 1 << ((h * salt) % 2**32 >> 27)
    return struct.pack(f"<{len(words)}I", *words)


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    # The filter in a test of Vortex itself.
    (folder / "vortex.sbbf").write_bytes(blocks(1, [b"vortex"]))
    (folder / "vortex.options").write_bytes(struct.pack("<II", 1, 0))
    (folder / "int64.sbbf").write_bytes(blocks(3, [struct.pack("<q", 7 * i - 50)
                                                   for i in range(60)]))
    (folder / "int64.options").write_bytes(struct.pack("<II", 3, 0))
