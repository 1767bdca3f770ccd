"""Compares tamis with other packages of PyPI at the same false-positive rate.

Usage: peers.py [KEYS]      (abloom, rbloom, fastbloom-rs, pybloom-live, pyxorfilter, if installed)
       peers.py loops [KEYS]   only loops over a list of keys, and `update` of the list

Each figure is the smallest of several turns. In a turn, the subjects run one after the other.
"""
import importlib
import random
import sys
import time

import numpy as np
import pyarrow as pa

import tamis

TURNS = 7
ONE_KEY_CALLS = 200_000


def peers(keys, fpr):
    """Yields names, and empty filters for `keys` keys at the same rate."""
    yield "tamis", tamis.SplitBlockBloomFilter(keys, fpr)
    for module, make in (
            ("abloom", lambda m: m.BloomFilter(keys, fpr)),
            ("rbloom", lambda m: m.Bloom(keys, fpr)),
            ("fastbloom_rs", lambda m: m.BloomFilter(keys, fpr)),
            ("pybloom_live", lambda m: m.BloomFilter(keys, fpr))):
        try:
            yield module, make(importlib.import_module(module))
        except ImportError:
            pass


def loop(body):
    """Returns a function that runs a statement over `f` and `k` in a loop."""
    space = {}
    exec(f"def run(f, k, times):\n    for _ in times:\n        {body}\n", space)
    return space["run"]


EMPTY, ADD, CONTAINS = loop("pass"), loop("f.add(k)"), loop("k in f")


def loop_over_keys(body):
    """Returns a function that runs a statement over `f` and `k` for each `k` of `keys`."""
    space = {}
    exec(f"def run(f, keys):\n    for k in keys:\n        {body}\n", space)
    return space["run"]


# The statements of the rows of `loops`.
OF_LISTS = {"`add`": loop_over_keys("f.add(k)"), "`in`": loop_over_keys("k in f"),
            "`update(list)`": lambda f, keys: f.update(keys)}


def seconds(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def least(calls):
    """Returns the smallest time of each call over turns that run every call once."""
    best = [float("inf")] * len(calls)
    for _ in range(TURNS):
        for i, call in enumerate(calls):
            best[i] = min(best[i], seconds(call))
    return best


def one_key(keys, fpr):
    print(f"One key, {keys:,} keys in the filter; ns a call with that of the loop (and without)\n")
    print("| | FPR | `add(int)` | `int in f` | `add(str)` | `str in f` |\n|---|---|---|---|---|---|")
    absent = range(10**9, 10**9 + 100_000)
    for name, f in peers(keys, fpr):
        for key in range(keys):
            f.add(key)
        rate = sum(key in f for key in absent) / len(absent)
        times = range(ONE_KEY_CALLS)
        cells = []
        for key in (12345, "user:12345"):
            for call in (ADD, CONTAINS):
                with_loop, of_loop = least([lambda c=call, k=key: c(f, k, times),
                                            lambda k=key: EMPTY(f, k, times)])
                cells.append(f"{with_loop / ONE_KEY_CALLS * 1e9:.1f} "
                             f"({(with_loop - of_loop) / ONE_KEY_CALLS * 1e9:.1f})")
        print(f"| {name} | {rate:.2%} | " + " | ".join(cells) + " |")


def loops(keys, fpr):
    """Prints the time a key of loops over a list, which include the loop itself."""
    print(f"A list of {keys:,} keys; ns a key with that of the loop\n")
    names = [name for name, f in peers(keys, fpr) if hasattr(f, "update")]
    print("| Keys | | empty loop | " + " | ".join(names) + " | ratios to tamis |")
    print("|---" * (4 + len(names)) + "|")
    rng = random.Random(1)
    for kind, column in (("int", list(range(keys))),
                         ("int of 64 bits", [rng.getrandbits(64) for _ in range(keys)]),
                         ("str", [f"user:{i}" for i in range(keys)])):
        filters = [f for _, f in peers(keys, fpr) if hasattr(f, "update")]
        for name, run in OF_LISTS.items():
            empty = loop_over_keys("pass")
            times = least([lambda: empty(None, column),
                           *(lambda f=f, run=run: run(f, column) for f in filters)])
            nothing, *best = [t / keys * 1e9 for t in times]
            ratios = ", ".join(f"{b / best[0]:.2f}" for b in best[1:])
            print(f"| {kind} | {name} | {nothing:.1f} | " + " | ".join(f"{b:.1f}" for b in best) +
                  f" | {ratios} |")


def columns(keys, fpr):
    print(f"\n{keys:,} keys at once; ns a key\n")
    print("| | insert | contains |\n|---|---|---|")
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 2**64 - 1, keys, np.uint64)
    words = pa.array([f"user:{i}" for i in range(keys)])
    for name, column in (("NumPy uint64", numbers), ("pyarrow string", words),
                         ("NumPy int32, every second", numbers.view(np.int32)[::2]),
                         ("list of int", list(range(min(keys, 10**6))))):
        made = tamis.SplitBlockBloomFilter(keys, fpr)
        out = np.empty(len(column), bool)

        def insert(column=column, made=made):
            made.insert(column)

        def contains(column=column, made=made, out=out):
            made.contains(column, out=out)

        insert()  # excludes the page faults of a new filter
        best = least([insert, contains])
        print(f"| tamis, {name} | " + " | ".join(f"{b / len(column) * 1e9:.2f}" for b in best) + " |")
    few = list(range(min(keys, 10**6)))
    for name, f in list(peers(len(few), fpr))[1:]:
        if hasattr(f, "update"):
            print(f"| {name}, `update` of a list of int | "
                  f"{seconds(f.update, few) / len(few) * 1e9:.1f} | |")
    try:
        import pyxorfilter
        f = pyxorfilter.Xor8(len(few))
        print(f"| pyxorfilter, a list of int | {seconds(f.populate, few) / len(few) * 1e9:.1f} | |")
    except (ImportError, TypeError):  # it fails with xxhash 3 and newer
        pass


if __name__ == "__main__":
    only_loops = sys.argv[1:2] == ["loops"]
    numbers = [int(float(number)) for number in sys.argv[1 + only_loops:]]
    if only_loops:
        loops(*numbers or [10**6], 0.01)
    else:
        number = (numbers or [100_000])[0]
        one_key(min(number, 10**6), 0.01)
        loops(min(number, 10**6), 0.01)
        columns(number, 0.01)
