#!/usr/bin/env python3
"""Writes the golden files, from core/FORMAT.md alone: a second implementation of the format.

Usage: make_golden.py DIRECTORY. Needs the module xxhash (Debian: python3-xxhash).
"""

import pathlib
import struct
import sys

import xxhash

XXH3, XXH64 = 1, 2
HASHES = {XXH3: xxhash.xxh3_64_intdigest, XXH64: xxhash.xxh64_intdigest}
SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
         0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]


def integers(n):
    return [struct.pack("<Q", i * 0x9E3779B97F4A7C15 % 2**64) for i in range(n)]


def strings(n):
    return [bytes((length + i) % 256 for i in range(length)) for length in range(n)]


# Name: blocks, hash kind, seed, keys, capacity.
RECIPES = {
    "split_block_v1_empty": (2, XXH3, 0, [], 1),
    "split_block_v1_one_block": (1, XXH3, 0, integers(10), 10),
    "split_block_v1_odd_blocks": (333, XXH3, 0, integers(5000), 5000),
    "split_block_v1_seeded": (100, XXH3, 0x0123456789ABCDEF, integers(1000), 2000),
    "split_block_v1_strings": (64, XXH3, 7, strings(300), 300),
    "split_block_v1_xxh64_seeded": (50, XXH64, 2**64 - 1, integers(500), 500),
    "split_block_v1_xxh64_strings": (41, XXH64, 42, strings(300), 300),
    "split_block_v1_parquet": (32, XXH64, 0, [b"hello", b"parquet", b"bloom", b"filter"], 4),
}


# Name: bits, hashes, hash kind, seed, keys, capacity.
BLOOM_RECIPES = {
    "bloom_v1_empty": (64, 44, XXH3, 0, [], 1),
    "bloom_v1_seven_hashes": (9664, 7, XXH3, 0, integers(1000), 1000),
    "bloom_v1_one_hash": (704, 1, XXH3, 0x0123456789ABCDEF, integers(500), 500),
    "bloom_v1_strings": (8000, 18, XXH64, 42, strings(300), 300),
}

# Name: blocks, hash kind, seed, keys, capacity.
COUNTING_RECIPES = {
    "counting_v1_empty": (3, XXH3, 0, [], 1),
    "counting_v1_saturated": (2, XXH3, 0, integers(300), 300),
    "counting_v1_strings": (33, XXH64, 42, strings(300), 300),
}


def split_block(blocks, hash_kind, seed, keys):
    words = [0] * (8 * blocks)
    for key in keys:
        h = HASHES[hash_kind](key, seed)
        block = (h >> 32) * blocks >> 32
        for w, salt in enumerate(SALTS):
            words[8 * block + w] |= 1 << ((h % 2**32 * salt % 2**32) >> 27)
    return struct.pack("<%dI" % len(words), *words)


def bloom(bits, hashes, hash_kind, seed, keys):
    array = 0
    for key in keys:
        h = HASHES[hash_kind](key, seed)
        x = h * bits >> 64
        y = ((h ^ h >> 32) * 0xD6E8FEB86659FD93 % 2**64) * bits >> 64
        for i in range(hashes):
            array |= 1 << (x + i * y + (i**3 - i) // 6) % bits
    return array.to_bytes(bits // 8, "little")


def counting(blocks, hash_kind, seed, keys):
    counters = [0] * (128 * blocks)
    for key in keys:
        h = HASHES[hash_kind](key, seed)
        block = (h >> 32) * blocks >> 32
        for w, salt in enumerate(SALTS):
            i = 128 * block + 16 * w + ((h % 2**32 * salt % 2**32) >> 28)
            counters[i] = min(15, counters[i] + 1)
    return bytes(a + 16 * b for a, b in zip(counters[::2], counters[1::2]))


def file_of(kind, geometry, hash_kind, seed, keys, capacity, payload):
    checksum = xxhash.xxh3_128_intdigest(payload)
    header = b"tamis\r\n\x1a" + struct.pack(
        "<IIIIQQQQQQQQQQQQ", 1, 128, kind, hash_kind, seed, *geometry, capacity, len(keys), 128,
        len(payload), checksum % 2**64, checksum >> 64, 0, 0)
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + payload


def split_block_file(blocks, hash_kind, seed, keys, capacity):
    payload = split_block(blocks, hash_kind, seed, keys)
    return file_of(1, (blocks, 0, 0), hash_kind, seed, keys, capacity, payload)


def bloom_file(bits, hashes, hash_kind, seed, keys, capacity):
    payload = bloom(bits, hashes, hash_kind, seed, keys)
    return file_of(6, (bits, hashes, 0), hash_kind, seed, keys, capacity, payload)


def counting_file(blocks, hash_kind, seed, keys, capacity):
    payload = counting(blocks, hash_kind, seed, keys)
    return file_of(7, (blocks, 0, 0), hash_kind, seed, keys, capacity, payload)


def main():
    directory = pathlib.Path(sys.argv[1])
    for make_file, recipes in [(split_block_file, RECIPES), (bloom_file, BLOOM_RECIPES),
                               (counting_file, COUNTING_RECIPES)]:
        for name, recipe in recipes.items():
            (directory / (name + ".tamis")).write_bytes(make_file(*recipe))


if __name__ == "__main__":
    main()
