"""Objects that raise or lie, exchanged classes, and threads and forks at bad moments."""
import ctypes
import itertools
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pytest
from kinds import CLASSES, SIZED, STATIC, make, of_keys

import tamis
import tamis.live
import tamis.parquet


def run(code):
    """Returns the output of a separate process, which must succeed."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


@pytest.mark.parametrize("cls, other", [*itertools.product(CLASSES, CLASSES),
                                        *itertools.product(STATIC, STATIC)])
def test_a_class_that_is_exchanged_changes_no_answer(cls, other):
    f = of_keys(cls, range(1000))
    keys = range(3000)
    want = f.contains(keys)
    f.__class__ = other
    assert [key in f for key in keys] == want == f.contains(keys)
    if other is tamis.ScalableFilter and cls is not other:
        with pytest.raises(TypeError, match="not a scalable filter"):
            f.layers
    if other is tamis.SplitBlockBloomFilter and cls is not other:
        with pytest.raises(TypeError, match="not a split-block filter"):
            f.merge_contents(b"")


def test_names_of_types_that_are_not_text():
    class Nameless(type):
        __name__ = property(lambda cls: 5)

    class Thing(metaclass=Nameless):
        pass

    f = make(tamis.BloomFilter)
    for call in (f.add, f.insert, f.__contains__):
        with pytest.raises(TypeError, match="of type Thing"):
            call(Thing())


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, TypeError])
def test_exceptions_of_iter_are_raised(error):
    class Raises:
        def __iter__(self):
            raise error("mine")

    with pytest.raises(error, match="mine"):
        make(tamis.BloomFilter).insert(Raises())


class Interrupted:
    """Raises at the nth access of any of its attributes."""

    def __init__(self, nth, error):
        object.__getattribute__(self, "__dict__").update(left=nth, error=error)

    def __getattribute__(self, name):
        state = object.__getattribute__(self, "__dict__")
        state["left"] -= 1
        if state["left"] == 0:
            raise state["error"]("mine")
        return object.__getattribute__(self, name)


class Number(Interrupted):
    def __float__(self):
        return self.value  # raises AttributeError


LIVE = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(100))
LOOKS = {
    "insert": lambda x: make(tamis.BloomFilter).insert(x),
    "contains": lambda x: make(tamis.BloomFilter).contains(x),
    "add": lambda x: make(tamis.BloomFilter).add(x), "in": lambda x: x in make(tamis.BloomFilter),
    "list": lambda x: make(tamis.BloomFilter).insert([x]),
    "static": tamis.FuseFilter8, "static list": lambda x: tamis.FuseFilter8([x]),
    "progress": lambda x: tamis.FuseFilter8([1], progress=x),
    "objects": lambda x: make(tamis.BloomFilter).insert(np.array([x], object)),
    "pandas": lambda x: make(tamis.BloomFilter).insert(pd.Series([x])),
    "live": LIVE.insert, "guard": tamis.live.CacheGuard(LIVE, str).get,
    "bank": lambda x: tamis.FilterBank().add("name", x),
    "parquet": lambda x: tamis.parquet.Pruner("x", x),
    "parquet list": lambda x: tamis.parquet.Pruner("x", [x]),
    "merge": lambda x: make(tamis.BloomFilter).__ior__(x),
    "age": lambda x: LIVE.publish(make(tamis.BloomFilter), x),
    "interval": lambda x: tamis.live.Watch(LIVE, "no such file", interval=x),
    "negative_ttl": lambda x: tamis.live.CacheGuard(LIVE, str, negative_ttl=x),
    "max_age": lambda x: tamis.live.CacheGuard(LIVE, str, max_age=x),
}


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("cls", [Interrupted, Number])
@pytest.mark.parametrize("call", LOOKS)
def test_interrupts_are_raised_whatever_is_looked_at(call, cls, error):
    for nth in range(1, 100):
        x = cls(nth, error)
        try:
            LOOKS[call](x)
        except error:
            continue
        except Exception:  # it is not a key or a number
            pass
        assert object.__getattribute__(x, "__dict__")["left"] > 0, f"look {nth} was interrupted"
        return
    raise AssertionError("it looks forever")


def test_answers_have_a_repr():
    f = make(tamis.BloomFilter)
    view = memoryview(np.arange(3))
    assert repr(f.contains(view)) == "<tamis.Answers: 3 bools>"
    assert repr(f.select(view)) == "<tamis.Answers: 0 indices>"
    with pytest.raises(BufferError):
        memoryview(tamis.Answers.__new__(tamis.Answers))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("cls", CLASSES + STATIC)
def test_every_protocol_of_pickle(cls, protocol):
    f = of_keys(cls, range(100))
    g = pickle.loads(pickle.dumps(f, protocol))
    assert type(g) is cls and g.to_bytes() == f.to_bytes()


def test_invalid_states():
    data = make(tamis.BloomFilter).to_bytes()
    for state, error in (((data, {"a": 1}), AttributeError), ((data, 5), AttributeError),
                         ((b"", None), ValueError), ((5, None), TypeError)):
        f = tamis.BloomFilter.__new__(tamis.BloomFilter)
        with pytest.raises(error):
            f.__setstate__(state)
        with pytest.raises(TypeError, match="not made yet"):
            5 in f
    with pytest.raises(TypeError, match="not made yet"):
        tamis.BloomFilter.__new__(tamis.BloomFilter).__getstate__()


def test_masked_arrays():
    days = np.array(["2020-01-01", "2020-01-02", "NaT"], "M8[D]")
    f = make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6)
    f.insert(days)
    for mask, want in (([0, 0, 0], [True, True, False]), ([0, 1, 0], [True, False, False])):
        assert f.contains(np.ma.masked_array(days, mask)).tolist() == want
    for values in ([1, 2], ["a", "b"], [b"a", b"b"], np.array([1, "x"], object)):
        g = make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6)
        assert g.insert(np.ma.masked_array(values, [False, True])) == 1
        assert g.contains(np.ma.masked_array(values)).tolist() == [True, False]


def test_objects_of_polars_are_read_and_not_their_addresses():
    f = make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6)
    keys = pl.Series(["a", 5, None], dtype=pl.Object)
    assert f.insert(keys) == 2 and "a" in f and 5 in f
    assert f.contains(pl.DataFrame({"key": keys})).to_list() == [True, True, False]
    with pytest.raises(TypeError, match="of type object"):
        f.insert(pl.Series([object()]))


def test_one_missing_value_is_not_a_collection():
    for missing in (pd.NA, pd.NaT):
        with pytest.raises(TypeError, match="keys are an array"):
            make(tamis.BloomFilter).insert(missing)


@pytest.mark.parametrize("key_range, error", [
    ((-5, 5), OverflowError), ((0, 2**64), OverflowError), ((0, 1.5), TypeError),
    (("a", "b"), TypeError), ((1,), ValueError), ((1, 2, 3), ValueError), (5, TypeError),
    ((5, 1), ValueError)])
def test_invalid_ranges(key_range, error):
    with pytest.raises(error):
        tamis.plan(10, key_range=key_range)
    assert tamis.plan(10, key_range=[0, 100]).exact


@pytest.mark.parametrize("call", [
    "f.insert(keys)", "f.insert(iter(range(10**7)))", "f.insert(keys, threads=2)",
    "f.insert(iter(range(10**7)), progress=lambda n: None)"])
def test_threads_that_outlive_the_interpreter(call):
    """At its end, Python unwinds the stacks of daemon threads, which C++ does not allow."""
    assert run(f"""
        import numpy as np, threading, time, tamis
        f = tamis.SplitBlockBloomFilter(10**6)
        keys = np.arange(10**6)
        def work():
            while True:
                {call}
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        while f.inserted_count == 0:
            time.sleep(0.01)
        print("end")
    """) == "end\n"


FORK = """
    import numpy as np, os, signal, sys, threading, time, tamis
    f = tamis.SplitBlockBloomFilter(1 << 20)
    keys = np.broadcast_to(np.arange(1, dtype="u8"), 1 << 34)
    threading.Thread(target=lambda: f.{call}(keys), daemon=True).start()
    time.sleep(0.5)
    if os.fork() == 0:
        signal.alarm(60)  # ends a child that waits for a thread that it does not have
        try:
            f.add("child")
            print("child" in f, flush=True)
        except RuntimeError as error:
            print(error, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
    print("end", flush=True)
    os._exit(0)
"""


def test_a_child_of_fork_waits_for_no_thread_of_its_parent():
    assert run(FORK.format(call="count")) == "True\nend\n"
    # The parent's current slice of keys takes longer than a fork, but a thread may be between two
    # slices.
    assert run(FORK.format(call="insert")) in (
        "True\nend\n", "another thread was changing the filter when this process was forked: read the "
        "filter from a file or its bytes, or spawn the process instead\nend\n")


def test_keys_of_changing_forms_let_other_threads_run():
    assert run("""
        import itertools, os, signal, threading, tamis
        f = tamis.BloomFilter(1000)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            f.insert(itertools.cycle([1, "a"]))
        except KeyboardInterrupt:
            print("interrupted")
    """) == "interrupted\n"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists threads")
def test_engines_are_not_kept_forever():
    assert int(run("""
        import os, numpy as np, tamis
        tasks = lambda: len(os.listdir("/proc/self/task"))
        f = tamis.BloomFilter(1000)
        keys = np.arange(10**6)
        before = tasks()
        for threads in range(2, 30):
            f.contains(keys, threads=threads)
        print(tasks() - before)
    """)) < 4 * 30


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class Damaged:
    """An Arrow array with any claimed properties."""

    def __init__(self, schema, array):
        self.released = []
        self.kept = [schema, array]
        for item, kind in ((schema, Schema), (array, Array)):
            item.release = ctypes.cast(self.releases(kind), ctypes.c_void_p)

    def releases(self, kind):
        def release(pointer):
            ctypes.cast(pointer, ctypes.POINTER(kind)).contents.release = None
            self.released.append(kind)

        self.kept.append(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(release))
        return self.kept[-1]

    def __arrow_c_array__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                       ctypes.c_void_p]
        return (new(ctypes.addressof(self.kept[0]), b"arrow_schema", None),
                new(ctypes.addressof(self.kept[1]), b"arrow_array", None))


NUMBERS = (ctypes.c_int64 * 10)(*range(10))
BUFFERS = (ctypes.c_void_p * 2)(None, ctypes.addressof(NUMBERS))


def integers(length=10, **members):
    return Array(length=length, n_buffers=2, buffers=BUFFERS, **members)


def table_type(child=None):
    children = (ctypes.POINTER(Schema) * 1)(ctypes.pointer(child) if child else None)
    return Schema(format=b"+s", n_children=1, children=children)


def table_of(child=None, **members):
    children = (ctypes.POINTER(Array) * 1)(ctypes.pointer(child) if child else None)
    return Array(n_children=1, children=children, **members)


def test_undamaged_arrays_are_read():
    f = make(tamis.SplitBlockBloomFilter)
    assert f.insert(Damaged(Schema(format=b"l"), integers())) == 10
    assert f.insert(Damaged(table_type(Schema(format=b"l")), table_of(integers(), length=10))) == 10


@pytest.mark.parametrize("schema, array", [
    (lambda: Schema(format=b"l"), lambda: integers(-1)),
    (lambda: Schema(format=b"l"), lambda: integers(2**63 - 1)),
    (lambda: Schema(format=b"l"), lambda: integers(1, offset=-1)),
    (lambda: Schema(format=b"l"), lambda: integers(1, offset=2**63 - 1)),
    (lambda: Schema(format=b"l"), lambda: Array(length=1)),
    (lambda: Schema(), integers),
    (lambda: Schema(format=b"u", dictionary=ctypes.pointer(Schema(format=b"l"))), lambda: integers(1)),
    (lambda: Schema(format=b"w:-1"), integers),
    (lambda: Schema(format=b"w:9999999999"), lambda: integers(1)),
    (lambda: Schema(format=b"w:2147483647"), lambda: integers(2**50, offset=2**50)),
    (table_type, lambda: table_of(integers(), length=1)),
    (lambda: Schema(format=b"+s", n_children=1), lambda: table_of(integers(), length=1)),
    (lambda: table_type(Schema(format=b"l")), lambda: table_of(length=1)),
    (lambda: table_type(Schema(format=b"l")), lambda: Array(length=1, n_children=1)),
    (lambda: table_type(Schema(format=b"l")), lambda: table_of(integers(), length=11)),
    (lambda: table_type(Schema(format=b"l")), lambda: table_of(integers(), length=1, offset=2**63 - 1)),
    (lambda: table_type(Schema(format=b"l")),
     lambda: table_of(integers(2**63 - 1, offset=2**62), length=1, offset=2**62)),
    (lambda: table_type(Schema(format=b"l")),
     lambda: table_of(integers(-2**63), length=1, offset=2**62)),
])
def test_arrays_of_arrow_that_lie(schema, array):
    f = make(tamis.SplitBlockBloomFilter)
    x = Damaged(schema(), array())
    with pytest.raises(ValueError, match="damaged"):
        f.insert(x)
    assert f.inserted_count == 0
    assert sorted(x.released, key=str) == [Array, Schema]


def test_a_dictionary_whose_indices_have_no_format():
    x = Damaged(Schema(format=b"", dictionary=ctypes.pointer(Schema(format=b"l"))), integers())
    with pytest.raises(TypeError, match="no keys"):
        make(tamis.BloomFilter).insert(x)


@pytest.mark.parametrize("cls", SIZED)
def test_bad_calls_keep_nothing(cls):
    """Counts references: a leak would leave one per call."""
    f = make(cls)
    f.update(range(100))
    state = f.__getstate__()
    # Creates new keys, because other code may share literals, and garbage collection may release them.
    keys = ["-".join([cls.__name__, "text"]), cls.__name__.encode(), 10**6 + len(cls.__name__)]
    objects = [state[0], keys, *keys]
    bad = [*keys, 1.5]

    def attempt(call):
        with pytest.raises(Exception):
            call()

    before = [sys.getrefcount(item) for item in objects]
    for _ in range(100):
        f.contains(keys)
        f.insert_if_absent(keys)
        tamis.frombuffer(state[0])
        pickle.loads(pickle.dumps(f))
        attempt(lambda: f.insert(bad))
        attempt(lambda: f.contains(keys, out=b"xx"))
        attempt(lambda: f.insert(keys, progress=5))
        attempt(lambda: cls.__new__(cls).__setstate__((state[0], 5)))
    assert [sys.getrefcount(item) for item in objects] == before
