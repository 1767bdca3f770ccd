"""Times calls with many keys against the C++ calls in one process: the cost of Python.

Usage: bulk.py LIBRARY [KEYS ...]

LIBRARY is bulk.cc as a shared library that contains the same tamis:
  c++ -std=c++20 -O2 -shared -fPIC -I core/include bindings/python/bench/bulk.cc \
      build/release/core/libtamis.a -lhwy -lxxhash -o build/libbulk.so
"""
import ctypes
import sys
import time

import numpy as np
import pyarrow as pa

import tamis

TURNS = 9


def seconds(call, *arguments, **options):
    start = time.perf_counter()
    call(*arguments, **options)
    return time.perf_counter() - start


def main(path, *numbers):
    library = ctypes.CDLL(path)
    library.Make.restype = ctypes.c_void_p
    for name in ("InsertIntegers", "ContainsIntegers", "InsertStrings", "ContainsStrings"):
        getattr(library, name).restype = ctypes.c_double

    def at(address):
        return ctypes.c_void_p(address)

    print("| Keys | Call | Python, ns a key | C++ | Ratio |\n|---|---|---|---|---|")
    for n in numbers:
        keys = np.random.default_rng(1).integers(0, 2**64 - 1, n, np.uint64)
        words = pa.array([f"user:{i}" for i in range(n)])
        offsets, text = (at(buffer.address) for buffer in words.buffers()[1:])
        integers, size, out = at(keys.ctypes.data), ctypes.c_size_t(n), np.empty(n, bool)
        to = at(out.ctypes.data)
        f = tamis.SplitBlockBloomFilter(n, 0.01)
        g = at(library.Make(ctypes.c_uint64(n), ctypes.c_double(0.01)))
        for name, by_python, by_cpp in (
                ("`insert` of NumPy uint64", lambda: seconds(f.insert, keys),
                 lambda: library.InsertIntegers(g, integers, size)),
                ("`contains` of NumPy uint64", lambda: seconds(f.contains, keys),
                 lambda: library.ContainsIntegers(g, integers, size, to)),
                ("the same with `out=`", lambda: seconds(f.contains, keys, out=out),
                 lambda: library.ContainsIntegers(g, integers, size, to)),
                ("`insert` of pyarrow strings", lambda: seconds(f.insert, words),
                 lambda: library.InsertStrings(g, text, offsets, size)),
                ("`contains` of pyarrow strings", lambda: seconds(f.contains, words),
                 lambda: library.ContainsStrings(g, text, offsets, size, to))):
            mine = other = float("inf")
            for _ in range(TURNS):  # alternating, so that both see the same machine
                mine, other = min(mine, by_python()), min(other, by_cpp())
            print(f"| {n:,} | {name} | {mine / n * 1e9:.2f} | {other / n * 1e9:.2f} | "
                  f"{mine / other:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1], *[int(float(n)) for n in sys.argv[2:]] or [100_000, 10_000_000])
