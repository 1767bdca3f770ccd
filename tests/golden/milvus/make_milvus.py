#!/usr/bin/env python3
"""Writes the golden files of Milvus into its folder, with pymilvus."""
import pathlib

from pymilvus import BloomFilterBuilder, build_bloom_filter


def integer(i):
    """Returns key i, as in tests/formats/block_formats_test.cc: Mix, as a signed number."""
    x = (i + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    x ^= x >> 31
    return x - 2**64 if x >= 2**63 else x


def text(i):
    return f"{i}" + "\u00e9\u20ac\U00010348"[:i % 4]


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    integers, texts = [integer(i) for i in range(50)], [text(i) for i in range(50)]
    both = BloomFilterBuilder(100, 0.01).add_int64_batch(integers).add_string_batch(texts)
    for name, blob in (("int64", build_bloom_filter(integers)),
                       ("utf8", build_bloom_filter(texts, 0.05)),
                       ("both", both.build()),
                       ("empty", build_bloom_filter([]))):
        (folder / f"{name}.mbf1").write_bytes(blob)
