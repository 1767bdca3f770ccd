#!/usr/bin/env python3
"""Writes the golden files of DCSO into its folder, with flor."""
import pathlib

import flor

MASK = 2**64 - 1


def mix(i):
    x = (i + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def key(i):
    """Returns key i, as in tests/formats/dcso_test_keys.h: any bytes, or text like that of a SHA-1."""
    if i % 2 == 1:
        return b"%016X%016X%08X" % (mix(i), mix(i + 1), mix(i + 2) >> 32)
    return bytes((31 * i + 7 * j) % 256 for j in range(i % 37))


# Name: capacity, rate, number of keys, free data
GOLDEN = {
    "few": (10, 0.01, 8, b""),
    "empty": (1000, 0.5, 0, b""),
    "one_bit": (1, 0.5, 1, b"\0"),
    "full": (20, 0.03, 400, b""),
    "many_hashes": (3, 1e-300, 2, b""),
    "free_data": (100, 1e-6, 60, b'{"source": "test", "keys": "SHA-1"}\n'),
}


if __name__ == "__main__":
    for name, (capacity, rate, count, data) in GOLDEN.items():
        made = flor.BloomFilter(capacity, rate, data)
        for i in range(count):
            try:
                made.add(key(i))
            except flor.BloomFilter.CapacityError:
                pass  # the key was added before
        with open(pathlib.Path(__file__).parent / f"{name}.bloom", "wb") as file:
            made.write(file)
