"""tamis.live.CacheGuard: the calls of cache and database, on one thread and on many."""
import gc
import subprocess
import sys
import textwrap
import threading
import time
import uuid
import weakref

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tamis
import tamis.live
from test_concurrent import together
from test_model import KEYS, identity


class Database(dict):
    """A dict that counts its queries."""

    def __init__(self, *items, **named):
        super().__init__(*items, **named)
        self.asked = []

    def load(self, key):
        self.asked.append(key)
        return dict.get(self, key)

    def load_many(self, keys):
        return [self.load(key) for key in keys]


def guarded(database, **options):
    live = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(10_000, fpr=1e-6))
    live.insert(list(database))
    return live, tamis.live.CacheGuard(live, database.load, **options)


def test_the_filter_the_cache_and_the_database():
    database, cache = Database(ada=1, bob=2), {}
    live, guard = guarded(database, cache=cache)
    assert guard.get("ada") == 1 and cache == {"ada": 1}
    assert guard.get("ada") == 1
    assert guard.get("eve") is None and guard.get("eve", "nobody") == "nobody"
    live.insert(["mallory"])
    assert guard.get("mallory") is None and guard.get("mallory") is None
    stats = guard.stats()
    assert database.asked == ["ada", "mallory"]
    assert (stats.blocked, stats.cache_hits, stats.negative_hits) == (2, 1, 1)
    assert stats.false_positives == 1 and stats.known and stats.failure is None
    assert 'guard="users"' in tamis.live.prometheus_text({"users": guard})


def test_many_keys():
    database, cache = Database({"ada": 1, "bob": 2, "cem": 3}), {"bob": 20}
    live, guard = guarded(database, cache=cache)
    assert guard.get_many(["ada", "eve", "bob", "ada", "cem"]) == [1, None, 20, 1, 3]
    assert database.asked == ["ada", "cem"]
    assert cache == {"ada": 1, "bob": 20, "cem": 3}
    assert guard.get_many([]) == [] and guard.get_many(iter(["cem"])) == [3]
    asked = []
    at_once = tamis.live.CacheGuard(live, load_many=lambda keys: asked.append(keys) or [7] * len(keys))
    assert at_once.get_many(["ada", "bob", "ada"]) == [7, 7, 7] and asked == [["ada", "bob"]]
    assert at_once.get("cem") == 7
    short = tamis.live.CacheGuard(live, load_many=lambda keys: [])
    with pytest.raises(tamis.InvalidArgumentError, match="returned 0 values"):
        short.get_many(["ada"])


def test_load_many_may_return_a_mapping_and_no_set():
    live, _ = guarded(Database(ada=1, bob=2))
    by_key = tamis.live.CacheGuard(live, load_many=lambda keys: {"bob": 2, "ada": 1})
    assert by_key.get_many(["ada", "bob"]) == [1, 2]
    assert tamis.live.CacheGuard(live, load_many=lambda keys: {"bob": 2}).get_many(["ada", "bob"]) == [None, 2]
    for none in ({1, 2}, frozenset([1, 2])):
        with pytest.raises(TypeError, match="a set is not ordered"):
            tamis.live.CacheGuard(live, load_many=lambda keys: none).get_many(["ada", "bob"])


def test_one_string_is_not_a_collection_of_keys_or_values():
    live, guard = guarded(Database(ada=1))
    for one in ("ada", b"ada", bytearray(b"ada")):
        with pytest.raises(TypeError, match="one key, and not a collection"):
            guard.get_many(one)
        with pytest.raises(TypeError, match="one key, and not a collection"):
            guard.insert_many(one, lambda: None)
        with pytest.raises(TypeError, match="a string is one value"):
            tamis.live.CacheGuard(live, load_many=lambda keys: one).get_many(["ada"])
    for call in (guard.get, guard.forget, lambda key: guard.insert(key, lambda: None)):
        with pytest.raises(TypeError, match="None"):
            call(None)


def test_a_mapping_of_other_keys_is_not_an_answer():
    live, guard = guarded(Database({7: "seven", "bob": 2}))
    for keys, mapping in (([7], {"7": "seven"}), (["bob"], {b"bob": 2})):
        with pytest.raises(TypeError, match="was called with .*, and returned a mapping with"):
            tamis.live.CacheGuard(live, load_many=lambda _: mapping).get_many(keys)
    for mapping in ({}, {8: "eight"}, {np.int64(7): None}):
        assert tamis.live.CacheGuard(live, load_many=lambda _: mapping).get_many([7]) == [None]


def test_keys_that_a_filter_cannot_tell_apart_have_values_of_their_own():
    number = uuid.UUID(int=5)
    alike = [(-1, 2**64 - 1), ("a", b"a"), (number, number.bytes)]
    database = Database({key: repr(key) for pair in alike for key in pair})
    cache = {}
    live, guard = guarded(database, cache=cache)
    keys = [key for pair in alike for key in pair]
    assert guard.get_many(keys + keys) == [repr(key) for key in keys + keys]
    assert [guard.get(key) for key in keys] == [repr(key) for key in keys] and len(cache) == len(keys)
    one = Database({"b": 1, 7: 2})
    live, guard = guarded(one)
    assert guard.get(b"b") is None and guard.get("b") == 1
    guard.insert(b"b", lambda: one.update({b"b": 3}))
    assert guard.get(b"b") == 3, "it is not known to be lacking any more"
    assert guard.insert_many([-1, 2**64 - 1, 5], lambda: "done") == "done"


def test_integers_and_text_in_one_guard():
    database = Database({1: "one", "1": "text", uuid.UUID(int=5): "uuid", -1: "minus"})
    live, guard = guarded(database)
    keys = [1, "1", 2, uuid.UUID(int=5), "2", -1]
    assert guard.get_many(keys) == ["one", "text", None, "uuid", None, "minus"]
    assert [guard.get(key) for key in keys] == ["one", "text", None, "uuid", None, "minus"]
    assert database.asked[:4] == [1, -1, "1", uuid.UUID(int=5)]


def test_a_filter_of_another_form_is_not_asked():
    database = Database({1: "one"})
    live, guard = guarded(database)
    live.publish(tamis.SplitBlockBloomFilter(100))
    live.insert(["text"])
    assert guard.get(1) == "one"
    assert guard.stats().other_type == 1
    with pytest.raises(tamis.IncompatibleError):
        guard.insert(2, lambda: None)


def test_without_a_filter_all_keys_pass():
    database = Database(ada=1)
    live = tamis.live.Live()
    guard = tamis.live.CacheGuard(live, database.load, negative_ttl=0)
    assert guard.get("ada") == 1 and guard.get("eve") is None
    assert not guard.stats().known and "no filter" in guard.stats().failure
    live.publish(tamis.SplitBlockBloomFilter(100), age=60)
    old = tamis.live.CacheGuard(live, database.load, max_age=1)
    assert old.get("ada") == 1 and "max_age" in old.stats().failure


def test_inserting():
    database = Database()
    live, guard = guarded(database)
    assert guard.get("ada") is None
    assert guard.insert("ada", lambda: database.update(ada=1) or "committed") == "committed"
    assert guard.get("ada") == 1
    guard.insert_many(["bob", "cem"], lambda: database.update(bob=2, cem=3))
    assert guard.get_many(["bob", "cem"]) == [2, 3]
    with pytest.raises(ValueError, match="all integers, or all text"):
        guard.insert_many([1, "a"], lambda: None)
    with pytest.raises(ZeroDivisionError):
        guard.insert("eve", lambda: 1 / 0)
    with pytest.raises(RuntimeError, match="a rebuild within a change"):
        guard.insert("eve", lambda: live.rebuild(lambda context: tamis.BloomFilter(10)))
    live.insert(["dee"])
    assert guard.get("dee") is None  # this miss is cached
    database["dee"] = 4
    assert guard.get("dee") is None
    guard.forget("dee")
    guard.forget(5)
    assert guard.get("dee") == 4


def test_exceptions_of_the_database():
    live, _ = guarded(Database(ada=1))

    def load(key):
        raise ConnectionResetError(key)

    guard = tamis.live.CacheGuard(live, load)
    for call in (lambda: guard.get("ada"), lambda: guard.get_many(["ada"])):
        with pytest.raises(ConnectionResetError, match="ada"):
            call()
    assert guard.stats().load_failures == 2
    with pytest.raises(TypeError):
        guard.get(1.5)
    for bad in ((live,), (live, 5), (5, load)):
        with pytest.raises(TypeError):
            tamis.live.CacheGuard(*bad)
    with pytest.raises(ValueError):
        tamis.live.CacheGuard(live, load, negative_ttl=-1)
    for name in ("negative_ttl", "max_age"):
        with pytest.raises(TypeError):
            tamis.live.CacheGuard(live, load, **{name: np.timedelta64(1, "ms")})


def test_exceptions_of_the_cache():
    database = Database(ada=1)

    class Cache:
        error = OSError("gone")

        def get(self, key):
            raise self.error

        def __setitem__(self, key, value):
            raise self.error

    _, guard = guarded(database, cache=Cache())
    assert guard.get("ada") == 1 and guard.stats().cache_failures == 2
    Cache.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        guard.get("ada")


def test_a_loader_that_asks_its_guard():
    live, _ = guarded(Database(ada=1))
    guard = tamis.live.CacheGuard(live, lambda key: guard.get(key))
    with pytest.raises(RuntimeError, match="wait for themselves"):
        guard.get("ada")


def test_threads_share_one_load():
    live, _ = guarded(Database(ada=1))
    loads, first, go = [], threading.Event(), threading.Event()
    value = object()

    def load(key):
        loads.append(key)
        first.set()
        go.wait()
        return value

    guard = tamis.live.CacheGuard(live, load)
    got = []

    def work(number):
        if number == 0:
            first.wait()
            while guard.stats().passed < 4:
                pass
            go.set()
        else:
            got.append(guard.get("ada"))

    together(work, range(5))
    # A thread that queries the key after the end of the first load may load the value again.
    assert len(got) == 4 and all(v is value for v in got)
    assert len(loads) + guard.stats().coalesced == 4


def test_threads_share_one_exception():
    live, _ = guarded(Database(ada=1))
    go = threading.Event()

    def load(key):
        go.wait()
        raise KeyError(key)

    guard = tamis.live.CacheGuard(live, load)
    raised = []

    def work(number):
        if number == 0:
            while guard.stats().passed < 4:
                pass
            go.set()
            return
        try:
            guard.get("ada")
        except KeyError as error:
            raised.append(error)

    together(work, range(5))
    assert [error.args for error in raised] == [("ada",)] * 4


@pytest.mark.parametrize("where", ["load", "load_many", "cache"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_is_raised_in_the_thread_that_it_comes_to_and_another_loads(error, where):
    live, _ = guarded(Database(ada=1))
    interrupted, waiting, lock = [], threading.Event(), threading.Lock()

    def interrupt():
        """Interrupts two of the threads, one after the other, while the others wait."""
        waiting.wait()
        with lock:
            if len(interrupted) == 2:
                return
            interrupted.append(threading.get_ident())
        time.sleep(0.05)
        raise error("mine")

    def load(key):
        interrupt()
        return "value"

    class Cache(dict):
        def get(self, key):
            interrupt()
            return super().get(key)

    options = {"load": dict(load=load), "load_many": dict(load_many=lambda keys: list(map(load, keys))),
               "cache": dict(load={"ada": "value"}.get, cache=Cache())}[where]
    guard = tamis.live.CacheGuard(live, **options)
    raised, got = [], []

    def work(number):
        if number == 0:
            while guard.stats().passed < 4:
                pass
            waiting.set()
            return
        try:
            got.append(guard.get("ada") if number % 2 else guard.get_many(["ada"])[0])
        except error:
            raised.append(threading.get_ident())

    together(work, range(5))
    assert sorted(raised) == sorted(interrupted) and len(raised) == 2
    assert got == ["value"] * 2


@pytest.mark.parametrize("call", ["guard.get('ada')", "guard.get_many(['bob', 'ada'])"])
def test_an_interrupt_ends_the_wait_for_the_load_of_another_thread(call):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(f"""
        import os, signal, threading, tamis, tamis.live
        live = tamis.live.Live(tamis.live.ConcurrentBloomFilter(100))
        live.insert(["ada", "bob"])
        loading, go, got = threading.Event(), threading.Event(), []
        def load(key):
            if key == "ada":
                loading.set()
                go.wait()
            return key
        guard = tamis.live.CacheGuard(live, load)
        other = threading.Thread(target=lambda: got.append(guard.get("ada")))
        other.start()
        loading.wait()
        threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
        late = threading.Timer(10, go.set)  # for a call that cannot be interrupted
        late.start()
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", go.is_set())
        go.set()
        other.join()
        print(got, guard.get("ada"), guard.stats().load_failures)
        late.cancel()
    """)], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted False\n['ada'] ada 0\n", done.stderr


def test_many_threads():
    database = Database({i: str(i) for i in range(500)})
    live, guard = guarded(database, cache={})

    def work(number):
        if number == 0:
            for i in range(1000, 1100):
                guard.insert(i, lambda: database.__setitem__(i, str(i)))
                assert guard.get(i) == str(i)
            return
        for i in range(number, 1000, 3):
            assert guard.get(i) == (str(i) if i < 500 else None)
        want = [str(i) if i < 500 else None for i in range(600)]
        assert guard.get_many(range(600)) == want

    together(work, range(4))


def test_cycles_are_collected():
    class Loader:
        def load(self, key):
            return 1

    loader = Loader()
    live, _ = guarded(Database())
    loader.guard = tamis.live.CacheGuard(live, loader.load)
    reference = weakref.ref(loader)
    del loader
    gc.collect()
    assert reference() is None


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.dictionaries(KEYS, st.integers(), max_size=20), st.lists(KEYS, max_size=40))
def test_model(items, asked):
    """For every request, the answers equal those of the database."""
    database = {identity(key): value for key, value in items.items()}
    live = tamis.live.Live(tamis.live.ConcurrentBloomFilter(1000))
    live.insert(list(items))
    guard = tamis.live.CacheGuard(live, lambda key: database.get(identity(key)), cache={})
    want = [database.get(identity(key)) for key in asked]
    assert [guard.get(key) for key in asked] == want
    assert guard.get_many(asked) == want
