"""Filters that are built from all their keys and never change."""
import array
import pathlib
import pickle
import subprocess
import sys
import textwrap
import threading

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from kinds import BITS, STATIC
from test_model import KEYS, forms, identity

import tamis
import tamis.live

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("cls", STATIC)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(keys=st.lists(KEYS, max_size=60), asked=st.lists(KEYS, max_size=20), threads=st.sampled_from([None, 1, 2]),
       seed=st.integers(0, 2**64 - 1))
def test_any_keys_in_any_form(cls, keys, asked, threads, seed):
    f = cls(keys, seed=seed)
    distinct = {identity(key) for key in keys}
    assert f.inserted_count == len(distinct) and f.seed == seed
    assert f.count(keys) == len(keys) and all(key in f for key in keys)
    assert f.contains(asked) == [key in f for key in asked]
    for some in forms(keys):
        assert cls(some, threads=threads, seed=seed).to_bytes() == f.to_bytes()
    assert cls([*keys[::-1], None, *keys], seed=seed).to_bytes() == f.to_bytes()


NUMBERS = np.arange(-500, 2500)
WORDS = [f"word {i}" for i in range(3000)]
COLUMNS = {
    "array": np.array, "strided": lambda keys: np.repeat(keys, 2)[::2], "list": list, "set": set,
    "tuple": tuple, "iterator": iter, "generator": lambda keys: (key for key in keys),
    "dict": dict.fromkeys, "objects": lambda keys: np.array(keys, object),
    "arrow": pa.array, "chunks": lambda keys: pa.chunked_array([keys[:7], keys[7:]]),
    "table": lambda keys: pa.table({"key": keys}), "dictionary": lambda keys: pa.array(keys).dictionary_encode(),
    "pandas": pd.Series, "index": pd.Index, "polars": pl.Series,
    "frame": lambda keys: pl.DataFrame({"key": keys}),
    "relation": lambda keys: duckdb.sql("SELECT key FROM key_table"),
}


@pytest.mark.parametrize("form", COLUMNS)
@pytest.mark.parametrize("keys", [NUMBERS, WORDS], ids=["integers", "text"])
def test_columns(keys, form):
    key_table = pd.DataFrame({"key": keys})
    duckdb.register("key_table", key_table)
    keys = [key if isinstance(key, str) else int(key) for key in keys]
    f = tamis.FuseFilter16(COLUMNS[form](keys))
    assert f.to_bytes() == tamis.FuseFilter16(keys).to_bytes()
    assert f.key_types == ("text" if keys is WORDS or isinstance(keys[0], str) else "integers")
    assert f.contains(keys) == [True] * len(keys)


@pytest.mark.parametrize("x", [array.array("i", [1, 2]), memoryview(np.array([1, 2], np.uint8)),
                               np.array([1, 2], ">u2"), pa.array([1, None, 2]), pd.Series([1, 2, None], dtype="Int8")])
def test_buffers_and_nulls(x):
    f = tamis.FuseFilter32(x)
    assert f.inserted_count == 2 and 1 in f and 2 in f and 3 not in f


def test_times_are_not_integers():
    f = tamis.FuseFilter8(np.array(["2026-11-27"], "M8[D]"))
    assert f.contains(np.array(["2026-11-27"], "M8[s]")).all()
    with pytest.raises(TypeError):
        f.contains([20_784])


def test_nothing_is_a_filter_without_keys():
    for x in ([], np.array([]), pa.array([], pa.float64()), iter(()), [None]):
        f = tamis.FuseFilter8(x)
        assert f.inserted_count == 0 and f.expected_fpr() == 0 and f.key_types == "none"
        assert f.count(range(1000)) == 0


@pytest.mark.parametrize("cls", STATIC)
def test_sizes_and_rates(cls):
    n = 300_000
    f = cls(np.arange(n))
    bits = BITS[cls]
    assert bits < f.bits_per_key < 1.2 * bits
    assert f.capacity == f.inserted_count == n and f.estimated_count() == n
    assert f.nbytes * 8 == pytest.approx(f.bits_per_key * n)
    assert f.expected_fpr() == pytest.approx(2**-bits)
    assert f.kind == f"fuse{bits}" and not f.can_erase and not f.read_only
    assert f.contains(np.arange(n)).all()
    asked = 1_000_000
    assert abs(f.count(np.arange(10**9, 10**9 + asked)) - asked * 2**-bits) < 6 * (asked * 2**-bits)**0.5 + 1
    for threads in (0, 1, 2):
        assert cls(np.arange(n)[::-1], threads=threads).to_bytes() == f.to_bytes()


@pytest.mark.parametrize("cls", STATIC)
def test_no_call_changes_it(cls):
    f = cls(range(100))
    assert isinstance(f, tamis.StaticFilter) and isinstance(f, tamis.Queryable)
    assert not isinstance(f, tamis.Changeable) and not isinstance(f, tamis.Filter)
    changes = {*dir(tamis.SplitBlockBloomFilter), "merge"} - {*dir(tamis.Queryable)} - {*dir(tamis.StaticFilter)}
    assert {"insert", "update", "add", "erase", "clear", "__ior__"} < changes
    assert not [name for name in changes if hasattr(f, name)]
    for call in (lambda: f.add(1), lambda: f.insert([1]), lambda: f.update([1])):
        with pytest.raises(AttributeError):
            call()
    bloom = tamis.BloomFilter(100)
    for one, other in ((f, f), (f, bloom), (bloom, f)):
        with pytest.raises(TypeError):
            one | other
        with pytest.raises(TypeError):
            one &= other
    with pytest.raises(TypeError, match="layout differs"):
        f.__class__ = tamis.BloomFilter
    with pytest.raises(TypeError, match="no constructor"):
        tamis.StaticFilter()


def test_where_static_filters_are_refused(tmp_path):
    f = tamis.FuseFilter8(range(100))
    f.save(tmp_path / "f")
    for call in (lambda: tamis.live.concurrent(f), lambda: tamis.live.Live(f),
                 lambda: tamis.live.open(tmp_path / "f")):
        with pytest.raises(tamis.UnsupportedError, match="fuse8"):
            call()
    with pytest.raises(TypeError, match="fuse8"):
        tamis.FilterBank().add("name", f)
    for take in (tamis.FuseFilter8, tamis.BloomFilter(100).insert):
        with pytest.raises(TypeError, match="does not store its keys"):
            take(f)
    with pytest.raises(TypeError, match="another class"):
        tamis.FuseFilter16.__new__(tamis.FuseFilter16).__setstate__(f.__getstate__())
    with pytest.raises(TypeError, match="another class"):
        tamis.BloomFilter.__new__(tamis.BloomFilter).__setstate__(f.__getstate__())


@pytest.mark.parametrize("cls", STATIC)
def test_options(cls):
    rate = 2.0**-BITS[cls]
    f = cls([1, 2])
    for fpr in (0, rate, 0.5):
        if fpr == 0 or fpr >= 1e-12:
            assert cls([1, 2], fpr=fpr).to_bytes() == f.to_bytes()
    for fpr in (rate * 0.99, -1, 1, float("nan")):
        with pytest.raises(tamis.InvalidArgumentError, match="false-positive rate"):
            cls([1], fpr=fpr)
    assert cls([1], hash="xxh64", seed=5, backend="portable", huge_pages=False).hash == "xxh64"
    for options, error in (({"hash": "md5"}, ValueError), ({"seed": -1}, OverflowError),
                           ({"secret": b"x"}, ValueError), ({"backend": "abacus"}, tamis.UnknownBackendError),
                           ({"threads": -1}, ValueError), ({"capacity": 5}, TypeError), ({"nbytes": 5}, TypeError),
                           ({"progress": 5}, TypeError)):
        with pytest.raises(error):
            cls([1], **options)


@pytest.mark.parametrize("keys", ["ada", b"ada", 5, None, 1.5, [1.5], [True], [[1]], np.array([1.5]), [2**64], ["\ud800"]])
def test_invalid_keys(keys):
    with pytest.raises((TypeError, OverflowError, UnicodeEncodeError)):
        tamis.FuseFilter8(keys)


def test_keyed_filters(tmp_path):
    f = tamis.FuseFilter8(["guest"], hash="siphash13", secret=bytes(range(16)))
    assert "guest" in f and "guest" in pickle.loads(pickle.dumps(f))
    f.save(tmp_path / "f")
    with pytest.raises(tamis.SecretError):
        tamis.open(tmp_path / "f")
    assert "guest" in tamis.open(tmp_path / "f", secret=bytes(range(16)))
    assert tamis.FuseFilter8(["guest"], hash="siphash24").to_bytes() != f.to_bytes()


def keys_with(hashes):
    """Returns the integers with these hashes: the inverse of XXH3 for 8 bytes with seed 0."""
    inverse = np.uint64(pow(0x9FB21C651E98DF25, -1, 2**64))

    def turned(x, bits):
        return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))

    x = hashes ^ (hashes >> np.uint64(28)) ^ (hashes >> np.uint64(56))
    x *= inverse
    x ^= (x >> np.uint64(35)) + np.uint64(8)
    x *= inverse
    for _ in range(63):  # 64 applications are the identity
        x = x ^ turned(x, 49) ^ turned(x, 24)
    return turned(x ^ np.uint64(0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE), 32)


def test_keys_that_were_chosen_so_that_no_filter_can_be_built():
    hashes = np.random.default_rng(1).integers(0, 2**44, 2**19, np.uint64)
    keys = keys_with(hashes)
    for threads in (None, 2):
        with pytest.raises(tamis.InvalidArgumentError, match="not uniform"):
            tamis.FuseFilter8(keys, threads=threads)
    assert tamis.FuseFilter8(keys, hash="siphash13").contains(keys).all()
    assert tamis.FuseFilter8(keys, seed=1).contains(keys).all()


def test_keys_are_read_once_and_in_batches():
    calls, done = [], []

    class Keys:
        def __iter__(self):
            calls.append(1)
            return iter(range(300_000))

    f = tamis.FuseFilter8(Keys(), progress=done.append)
    assert len(calls) == 1 and f.inserted_count == 300_000
    assert len(done) > 1 and done == sorted(done) and done[-1] == 300_000


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
@pytest.mark.parametrize("n", [0, 10, 200_000])
@pytest.mark.parametrize("threads", [None, 2])
def test_errors_among_the_keys_make_no_filter(error, n, threads):
    def keys():
        yield from range(n)
        raise error("midway")

    with pytest.raises(error, match="midway"):
        tamis.FuseFilter8(keys(), threads=threads)

    def progress(_):
        raise error("in progress")

    with pytest.raises(error, match="in progress"):
        tamis.FuseFilter8(range(n + 1), threads=threads, progress=progress)


def test_keys_that_use_filters_during_a_build():
    def keys():
        for i in range(2000):
            if i % 100 == 0:
                assert tamis.FuseFilter8(range(i), threads=2).count(range(i), threads=2) == i
            yield i

    assert tamis.FuseFilter8(keys(), threads=2).count(range(2000)) == 2000


class Late(tamis.FuseFilter8):
    def __init__(self, keys):
        super().__init__(keys(self))
        self.note = "made"


def test_keys_that_use_the_filter_itself():
    def asks(f):
        for call in (lambda: 1 in f, lambda: repr(f), lambda: memoryview(f), f.__getstate__):
            with pytest.raises((TypeError, BufferError), match="not made yet"):
                call()
        yield 1

    f = Late(asks)
    assert 1 in f and f.note == "made"
    g = pickle.loads(pickle.dumps(f))
    assert type(g) is Late and g.note == "made" and 1 in g

    def makes(f):
        tamis.FuseFilter8.__init__(f, [7])
        assert 7 in f
        yield 8

    with pytest.raises(TypeError, match="made already"):
        Late(makes)


def test_threads_that_build_at_the_same_time():
    want = tamis.FuseFilter8(range(200_000)).to_bytes()
    results = []

    def work(threads):
        for keys in (np.arange(200_000), iter(range(200_000)), range(200_000)):
            results.append(tamis.FuseFilter8(keys, threads=threads).to_bytes() == want)

    workers = [threading.Thread(target=work, args=(threads,)) for threads in (None, 2, 2, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [True] * 12


@pytest.mark.parametrize("keys", ["itertools.count()", "itertools.cycle([1, 'a'])"])
def test_interrupt_ends_a_build(keys):
    code = f"""
        import itertools, os, signal, threading, tamis
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            tamis.FuseFilter8({keys})
        except KeyboardInterrupt:
            print("interrupted")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.stdout == "interrupted\n", done.stderr


def test_other_threads_run_while_it_is_built():
    """If the build held the GIL, the main thread would wait for the whole build."""
    code = """
        import threading, time, numpy as np, tamis
        keys = np.arange(5_000_000)
        took = []
        def build():
            start = time.monotonic()
            tamis.FuseFilter8(keys)
            took.append(time.monotonic() - start)
        thread = threading.Thread(target=build)
        thread.start()
        longest, last = 0, time.monotonic()
        while not took:
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        thread.join()
        print(longest < took[0] / 2)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.stdout == "True\n", done.stderr


def test_bad_calls_keep_nothing():
    """A leak would leave one reference per call."""
    keys = ["-".join(["static", "text"]), b"static", 10**6 + 77]
    objects = [keys, *keys]

    def attempt(call):
        with pytest.raises(Exception):
            call()

    before = [sys.getrefcount(item) for item in objects]
    for _ in range(100):
        tamis.FuseFilter8(keys)
        attempt(lambda: tamis.FuseFilter8([*keys, 1.5]))
        attempt(lambda: tamis.FuseFilter8(keys, progress=5))
        attempt(lambda: tamis.FuseFilter8(keys, fpr=1e-9))
    assert [sys.getrefcount(item) for item in objects] == before


def test_plans():
    plan = tamis.plan(10**6, 0.01, static=True)
    assert plan.choice.name == "fuse8"
    names = {candidate.name for candidate in plan.filters}
    assert {"fuse8", "fuse12", "fuse16", "fuse32"} <= names
    plain = tamis.plan(10**6, 0.01)
    assert plain.choice.name == "split-block" and "fuse8" not in {c.name for c in plain.filters}
    assert "fuse8" in plain.advice
    assert tamis.plan(10**6, 0.01, static=True, erase=True).choice.name == "cuckoo12"


CLASSES = {"bloom": tamis.BloomFilter, "counting": tamis.CountingBloomFilter, "cuckoo8": tamis.CuckooFilter8,
           "cuckoo12": tamis.CuckooFilter12, "cuckoo16": tamis.CuckooFilter16, "scalable": tamis.ScalableFilter,
           "split-block": tamis.SplitBlockBloomFilter, "fuse8": tamis.FuseFilter8, "fuse12": tamis.FuseFilter12,
           "fuse16": tamis.FuseFilter16, "fuse32": tamis.FuseFilter32}


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.tamis")), ids=lambda path: path.stem)
def test_golden_files_are_of_the_class_for_their_kind(path):
    try:
        f = tamis.open(path)
    except tamis.SecretError:
        f = tamis.open(path, secret=bytes(range(16)))
    kind = path.stem.partition("_v")[0].replace("_", "-")
    assert type(f) is CLASSES[kind] and f.kind == kind
