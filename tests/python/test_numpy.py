"""Columns: NumPy arrays and other objects with the buffer protocol, and iterables."""
import array
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds import CLASSES, ERASABLE, make

import tamis
import tamis.live
import tamis.parquet

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def filter_of(keys, cls=tamis.SplitBlockBloomFilter):
    """Returns a filter, filled with one call per key."""
    f = make(cls, 100_000)
    for key in keys:
        f.add(key)
    return f


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("n", [0, 1, 7, 1000, 200_000])
def test_integers_of_any_width(dtype, n):
    rng = np.random.default_rng(n)
    info = np.iinfo(dtype)
    keys = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    queries = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    f = filter_of(keys[:500].tolist())
    g = make(tamis.SplitBlockBloomFilter, 100_000)
    assert g.insert(keys[:500]) == len(keys[:500])
    assert f.to_bytes() == g.to_bytes()
    answers = f.contains(queries)
    assert type(answers) is np.ndarray and answers.dtype == bool
    assert answers[:300].tolist() == [int(q) in f for q in queries[:300]]
    assert f.select(queries).tolist() == np.flatnonzero(answers).tolist()
    assert f.count(queries) == answers.sum()
    for threads in (0, 1, 2):
        assert (f.contains(queries, threads=threads) == answers).all()
    assert (f.contains(queries.astype(np.int64) if info.max < 2**63 else queries) == answers).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_strides_byte_order_and_alignment(dtype):
    keys = np.arange(1000).astype(dtype)
    f = make(tamis.SplitBlockBloomFilter, 1000)
    f.insert(keys[::3])
    want = f.contains(keys)
    assert (f.contains(keys[::-1]) == want[::-1]).all()
    assert (f.contains(keys[1::2]) == want[1::2]).all()
    assert (f.contains(np.stack([keys, keys])[:, 5:][1]) == want[5:]).all()
    assert (f.contains(np.broadcast_to(keys[:1], 10)) == want[0]).all()
    assert (f.contains(keys.astype(keys.dtype.newbyteorder("S"))) == want).all()
    raw = np.frombuffer(b"x" + keys.tobytes(), np.uint8)[1:].view(dtype)
    assert (f.contains(raw) == want).all()
    record = np.zeros(1000, [("pad", "u1"), ("key", dtype)])
    record["key"] = keys
    assert (f.contains(record["key"]) == want).all()


def test_strings():
    words = ["", "a", "ab", "\u00e9", "\u20ac", "\U0001F600", "a\0b", "longer than eight bytes"]
    f = filter_of(words)
    assert f.contains(np.array(words)).all()
    assert f.contains(np.array(words).astype(np.array(words).dtype.newbyteorder("S"))).all()
    assert f.contains(np.array(words)[::2]).all()
    assert f.contains(np.array([w.encode() for w in words])).all()
    assert f.contains(np.array(words, object)).all()
    assert f.contains(np.array(words, np.dtypes.StringDType())).all()
    assert f.contains(words) == [True] * len(words)
    assert not f.contains(np.array(["absent", "none"])).any()


def test_missing_values_are_not_keys():
    f = make(tamis.SplitBlockBloomFilter, 1000)
    objects = np.array(["a", None, float("nan"), 7], object)
    assert f.insert(objects) == 2
    assert f.contains(objects).tolist() == [True, False, False, True]
    masked = np.ma.MaskedArray([1, 2, 3], [False, True, False])
    assert f.insert(masked) == 2
    assert 2 not in f and 1 in f
    days = np.array(["2020-01-01", "NaT"], "M8[D]")
    assert f.insert(days) == 1
    assert int(days.astype("M8[ns]").view("i8")[0]) in f and -2**63 not in f


def test_mixed_objects():
    f = make(tamis.SplitBlockBloomFilter, 1000)
    mixed = [1, "a", 2, b"b", None, "c", None, 3]
    assert f.insert(mixed) == 6
    assert f.contains(np.array(mixed, object)).tolist() == [k is not None for k in mixed]
    assert f.to_bytes() == filter_of([k for k in mixed if k is not None],
                                     lambda n: make(tamis.SplitBlockBloomFilter, 1000)).to_bytes()
    for bad in (np.array(["new", 2.5], object), ["new", 2.5], np.array(["new", "\ud800"])):
        f.clear()
        with pytest.raises((TypeError, ValueError)):
            f.insert(bad)
        assert "new" in f and f.inserted_count == 1  # keys before the error have been inserted


@pytest.mark.parametrize("x", [np.array([1.5]), np.array([True]), np.array([1j]),
                               np.array([[1, 2]]), np.array(5), np.zeros(3, "f2"),
                               np.zeros(2, [("a", int), ("b", int)]), np.zeros(2, "V5")])
def test_arrays_without_keys(x):
    f = make(tamis.SplitBlockBloomFilter)
    for call in (f.insert, f.contains, f.select, f.count, f.insert_if_absent):
        with pytest.raises((TypeError, ValueError)):
            call(x)


@pytest.mark.parametrize("x", ["abc", b"abc", bytearray(b"abc"), 5, None, 1.5, object(),
                               tamis.BloomFilter(10)])
def test_no_collections(x):
    f = make(tamis.SplitBlockBloomFilter)
    for call in (f.insert, f.update, f.contains, f.select, f.count):
        with pytest.raises(TypeError):
            call(x)


def test_other_buffers():
    f = filter_of(range(10))
    assert f.count(array.array("q", range(20))) == 10
    assert f.count(array.array("H", range(20))) == 10
    assert f.count(memoryview(np.arange(20, dtype=np.int32))) == 10
    answers = f.contains(array.array("q", [5, 50]))
    assert isinstance(answers, tamis.Answers) and list(answers) == [True, False]
    view = memoryview(answers)
    assert view.format == "?" and view.tolist() == [True, False] and len(answers) == 2
    indices = f.select(array.array("q", [50, 5]))
    assert memoryview(indices).format == np.dtype(np.int64).char and indices.tolist() == [1]
    assert answers[-1] is False
    with pytest.raises(IndexError):
        answers[2]


def test_iterables():
    f = make(tamis.SplitBlockBloomFilter, 300_000)
    assert f.insert(i for i in range(200_000)) == 200_000
    assert f.insert({"a": 1, "b": 2}) == 2
    assert f.insert({200_001, 200_002}) == 2
    assert f.contains(k for k in ["a", "b", "zz"]) == [True, True, False]
    assert f.select(iter(["zz", "b"])) == [1]
    assert f.contains([]) == [] and f.select([]) == [] and f.insert([]) == 0
    assert f.contains(range(3)) == [True] * 3


def test_out():
    f = filter_of(range(10))
    keys = np.arange(100)
    want = f.contains(keys)
    for out in (np.empty(100, bool), np.empty(100, np.uint8), np.empty(120, bool),
                bytearray(100)):
        if isinstance(out, bytearray):
            out = memoryview(out)
        assert f.contains(keys, out=out) is out
        assert bytes(out)[:100] == want.tobytes()
    for bad in (np.empty(99, bool), np.empty(100, np.int64), np.empty((10, 10), bool),
                np.empty(200, bool)[::2], b"x" * 100, [0] * 100):
        with pytest.raises((ValueError, TypeError, BufferError)):
            f.contains(keys, out=bad)
    frozen = np.empty(100, bool)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        f.contains(keys, out=frozen)
    short = np.full(5, 7, np.uint8)
    with pytest.raises(ValueError, match="out has 5 elements"):
        f.contains(iter(range(10)), out=short)


@pytest.mark.parametrize("cls", CLASSES)
def test_insert_if_absent(cls):
    f = make(cls, 10_000)
    keys = np.arange(5000) % 3000
    fresh = f.insert_if_absent(keys)
    assert fresh[3000:].sum() == 0
    assert fresh.sum() == f.inserted_count
    assert f.contains(keys).all()
    out = np.empty(5000, bool)
    assert f.insert_if_absent(keys, out=out) is out and not out.any()


# Every array type of NumPy, the standard library and the Arrow packages.
EMPTY = [
    [], (), {}, np.array([]), np.array([], object),
    *(np.empty(0, dtype) for dtype in ("?", "f2", "g", "D", "M8[s]", "M8", "m8", "m8[Y]", "S0", "U3", "V4", "i1,f8")),
    np.ma.array([]), array.array("d"), memoryview(array.array("f")),
    pd.Series([]), pd.Series([], dtype=float), pd.Index([]), pd.Index([], dtype=float),
    *(pd.Series([], dtype=dtype) for dtype in ("Float64", "boolean", "category", "period[D]")),
    pd.DataFrame({"x": []}), pd.Series([1.5]).iloc[:0], pd.Categorical([]),
    *(pa.array([], kind) for kind in (pa.float64(), pa.bool_(), pa.list_(pa.int8()), pa.null(),
                                      pa.decimal128(5), pa.month_day_nano_interval())),
    pa.chunked_array([], pa.float32()), pa.chunked_array([[], []], pa.bool_()),
    pa.array([], pa.dictionary(pa.int8(), pa.float64())), pa.table({"x": pa.array([], pa.bool_())}),
    pl.Series([]), pl.Series([], dtype=pl.Float64), pl.Series([], dtype=pl.Boolean),
    pl.Series([], dtype=pl.List(pl.Int8)), pl.DataFrame({"x": []}),
]


@pytest.mark.parametrize("x", EMPTY, ids=lambda x: f"{type(x).__module__}-{getattr(x, 'dtype', '')}")
def test_empty_collections_of_any_type_have_no_keys(x):
    f = make(tamis.CuckooFilter16)
    f.insert([7])
    assert f.insert(x) == 0 and f.count(x) == 0 and f.erase(x) == 0
    assert f.erase(x, missing_ok=True) == 0
    assert len(f.contains(x)) == len(f.select(x)) == len(f.insert_if_absent(x)) == 0
    live = tamis.live.Live(tamis.live.ConcurrentCuckooFilter16(100))
    bank = tamis.FilterBank()
    bank.add("column", tamis.SplitBlockBloomFilter(100))
    assert live.insert(x) == live.erase(x) == live.filter.insert(x) == 0
    assert len(bank.contains(x)) == 0
    with pytest.raises(tamis.InvalidArgumentError, match="a list without keys"):  # not a TypeError
        tamis.parquet.Pruner("x", x)


def test_numbers_are_no_keys_however_many_chunks_are_empty():
    f = make(tamis.SplitBlockBloomFilter)
    for x in (pa.chunked_array([[], [], [1.5]], pa.float64()), np.array([1.5]), pl.Series([True])):
        with pytest.raises(TypeError, match="has no keys"):
            f.insert(x)


@pytest.mark.parametrize("cls", ERASABLE)
@pytest.mark.parametrize("threads", [None, 2])
def test_erase(cls, threads):
    f = make(cls, 10_000)
    f.insert(np.arange(10_000), threads=threads)
    assert f.erase(np.arange(5000), threads=threads) == 5000
    assert f.contains(np.arange(5000, 10_000)).all()
    assert f.inserted_count == 5000


# Every way to pass keys: arrays in place, converted, one by one, Arrow, in several batches.
HANDED_OVER = {
    "array": np.array, "strided": lambda keys: np.repeat(keys, 2)[::2],
    "int16": lambda keys: np.array(keys, np.int16), "list": list, "iterator": iter,
    "arrow": lambda keys: pa.array(keys),
    "chunks": lambda keys: pa.chunked_array([keys[:7], keys[7:]]),
    "two forms": lambda keys: iter([*keys, "ada"]),  # two batches
}


@pytest.mark.parametrize("threads", [None, 2])
@pytest.mark.parametrize("how", HANDED_OVER)
@pytest.mark.parametrize("cls", ERASABLE)
def test_erase_refuses_keys_that_are_not_in(cls, how, threads):
    f = make(cls, 10_000)
    f.insert(np.arange(2000))
    f.add("ada")
    absent = next(key for key in range(2000, 30_000) if key not in f)
    before = f.to_bytes()
    for keys in ([absent, *range(1000)], [*range(1000), absent], [absent]):
        with pytest.raises(tamis.InvalidArgumentError, match="1 of .* nothing was erased.*missing_ok"):
            f.erase(HANDED_OVER[how](keys), threads=threads)
        assert f.to_bytes() == before
    # The second copy of such a key would remove another key.
    with pytest.raises(tamis.InvalidArgumentError, match="in the list more often than in the filter"):
        f.erase(HANDED_OVER[how]([*range(1000), *range(500)]), threads=threads)
    assert f.to_bytes() == before
    keys = [*range(1000), absent]
    more = how == "two forms"
    found = 1000 + more
    assert f.erase(HANDED_OVER[how](keys), threads=threads, missing_ok=True) == found
    assert f.inserted_count == 2001 - found and f.count(range(1000, 2000)) == 1000
    if more:
        f.add("ada")
    assert f.erase(HANDED_OVER[how](list(range(1000, 1500))), threads=threads) == 500 + more
    assert f.count(range(1500, 2000)) == 500


def test_erase_takes_no_key_for_missing_that_is_null():
    f = make(tamis.CuckooFilter16)
    f.insert(range(10))
    assert f.erase([None, 1, None, 2]) == 2 and f.erase([]) == 0
    assert f.erase(pa.array([3, None])) == 1 and f.inserted_count == 7


def test_an_error_among_keys_erases_none():
    f = make(tamis.CuckooFilter16, 400_000)
    f.insert(range(400_000))

    def keys():
        yield from range(300_000)
        raise InterruptedError

    for x in (keys(), [1, 2, 3.5]):
        with pytest.raises((InterruptedError, TypeError)):
            f.erase(x)
        assert f.inserted_count == 400_000
    with pytest.raises(InterruptedError):
        f.erase(keys(), missing_ok=True)
    assert f.inserted_count == 100_000


def test_threads_out_of_range():
    f = make(tamis.SplitBlockBloomFilter)
    for threads in (-1, 10**6):
        with pytest.raises(ValueError, match="threads"):
            f.contains([1], threads=threads)


def test_progress():
    f = make(tamis.SplitBlockBloomFilter, 10**6)
    seen = []
    f.insert(iter(range(300_000)), progress=seen.append)
    assert seen[-1] == 300_000 and seen == sorted(seen) and len(seen) > 1

    def stop(done):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        f.insert(range(300_000), progress=stop)


@pytest.mark.skipif("torch" not in sys.modules, reason="torch is not installed")
def test_torch():
    import torch
    f = filter_of(range(10))
    assert f.contains(torch.arange(20)).sum() == 10


class OnDevice:
    def __dlpack_device__(self):
        return (2, 0)


class Cupy:
    __cuda_array_interface__ = {}


def test_arrays_of_a_gpu_are_refused():
    f = make(tamis.SplitBlockBloomFilter)
    for x in (OnDevice(), Cupy()):
        with pytest.raises(NotImplementedError, match="GPU"):
            f.contains(x)


def test_dlpack_of_the_host():
    class Host:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **options):
            return self.x.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    f = filter_of(range(10))
    assert f.contains(Host(np.arange(20))).sum() == 10
