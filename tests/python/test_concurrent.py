"""Filters of tamis.live that many threads change: one thread against a set, and many threads."""
import os
import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from test_model import KEYS, forms, identity

import tamis
import tamis.live

BLOOM = [tamis.live.ConcurrentSplitBlockBloomFilter, tamis.live.ConcurrentBloomFilter]
CUCKOO = [tamis.live.ConcurrentCuckooFilter8, tamis.live.ConcurrentCuckooFilter12,
          tamis.live.ConcurrentCuckooFilter16]
CLASSES = BLOOM + CUCKOO


def plain(cls):
    return getattr(tamis, cls.__name__.removeprefix("Concurrent"))


def together(work, numbers):
    """Runs work(number) on one thread per number, all at the same time."""
    errors = []
    barrier = threading.Barrier(len(numbers))

    def run(number):
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Model(RuleBasedStateMachine):
    cls = None

    def __init__(self):
        super().__init__()
        self.f = self.cls(2000)
        self.in_it = {}

    def note(self, keys, by=1):
        for key in keys:
            self.in_it[identity(key)] = self.in_it.get(identity(key), 0) + by

    @rule(key=KEYS)
    def add(self, key):
        if self.in_it.get(identity(key), 0) < 4:
            self.f.add(key)
            self.note([key])

    @rule(keys=st.lists(KEYS, max_size=30, unique_by=identity), which=st.integers(0, 5))
    def insert(self, keys, which):
        keys = [key for key in keys if self.in_it.get(identity(key), 0) < 4]
        some = list(forms(keys))
        assert self.f.insert(some[which % len(some)]) == len(keys)
        self.note(keys)

    @rule(keys=st.lists(KEYS, max_size=30, unique_by=identity))
    def insert_if_absent(self, keys):
        before = self.f.contains(keys)
        fresh = self.f.insert_if_absent(keys)
        assert all(not (a and b) for a, b in zip(before, fresh))
        self.note([key for key, new in zip(keys, fresh) if new])

    @rule(keys=st.lists(KEYS, max_size=30))
    def ask(self, keys):
        want = [key in self.f for key in keys]
        for some in forms(keys):
            assert list(np.asarray(self.f.contains(some))) == want
        for some in forms(keys):
            assert self.f.count(some) == sum(want)
        for some in forms(keys):
            assert list(np.asarray(self.f.select(some))) == [i for i, w in enumerate(want) if w]

    @rule(key=KEYS)
    def discard(self, key):
        if self.f.can_erase and self.in_it.get(identity(key), 0) > 0:
            assert self.f.discard(key)
            self.note([key], -1)

    @invariant()
    def no_false_negatives(self):
        keys = [key for key, copies in self.in_it.items() if copies > 0]
        assert self.f.count(keys) == len(keys)
        assert self.f.snapshot().count(keys) == len(keys)


@pytest.mark.parametrize("cls", CLASSES)
def test_model(cls):
    machine = type(f"Model{cls.__name__}", (Model,), {"cls": cls}).TestCase
    machine.settings = settings(max_examples=10, stateful_step_count=20, deadline=None,
                                derandomize=True)
    machine().runTest()


@pytest.mark.parametrize("cls", CLASSES)
def test_many_threads_insert_and_ask(cls):
    f = cls(400_000)

    def work(number):
        keys = np.arange(number * 50_000, (number + 1) * 50_000)
        for part in np.array_split(keys, 10):
            f.insert(part)
            assert f.contains(part).all()
        for key in range(10**6 + number * 100, 10**6 + number * 100 + 100):
            f.add(key)
            assert key in f
        assert f.count(keys) == len(keys)

    together(work, range(6))
    assert f.contains(np.arange(300_000)).all()
    assert f.inserted_count == 300_600
    assert f.snapshot().inserted_count == 300_600


@pytest.mark.parametrize("cls", BLOOM)
def test_the_bits_are_those_of_the_plain_filter(cls):
    f, want = cls(100_000), plain(cls)(100_000)
    keys = np.arange(100_000)
    want.insert(keys)
    together(lambda i: f.insert(keys[i::4]), range(4))
    assert memoryview(f.snapshot()) == memoryview(want)
    assert f.key_types == want.key_types and f.expected_fpr() == want.expected_fpr()


@pytest.mark.parametrize("cls", CUCKOO)
def test_one_of_the_threads_that_insert_a_key_learns_that_it_is_new(cls):
    f = cls(50_000)
    keys = np.arange(20_000)
    fresh = []
    together(lambda i: fresh.append(f.insert_if_absent(keys).copy()), range(4))
    assert (np.sum(fresh, axis=0) <= 1).all()
    assert f.inserted_count == np.sum(fresh)


@pytest.mark.parametrize("cls", CUCKOO)
def test_threads_erase_while_others_ask(cls):
    f = cls(100_000)
    stay, go = np.arange(40_000), np.arange(10**6, 10**6 + 40_000)
    f.insert(stay)
    f.insert(go)

    def work(number):
        if number < 2:
            assert f.erase(go[number::2]) == 20_000
        else:
            for _ in range(5):
                assert f.contains(stay).all()

    together(work, range(4))
    assert f.inserted_count == 40_000


@pytest.mark.parametrize("cls", CUCKOO)
def test_erase_refuses_keys_that_are_not_in(cls):
    f = cls(400_000)
    f.insert(range(300_000))
    absent = next(key for key in range(10**6, 2 * 10**6) if key not in f)
    for keys in ([absent], iter([*range(300_000), absent])):
        with pytest.raises(tamis.InvalidArgumentError, match="1 of .* nothing was erased"):
            f.erase(keys)
        assert f.inserted_count == 300_000
    with pytest.raises(tamis.InvalidArgumentError, match="comes twice .* nothing was erased"):
        f.erase([1, 2, 1])
    assert f.inserted_count == 300_000
    assert f.erase([1, absent, None], missing_ok=True) == 1
    assert f.erase(range(2, 300_000)) == 299_998 and f.inserted_count == 1


@pytest.mark.parametrize("cls", CLASSES)
def test_files_and_plain_filters(cls, tmp_path):
    f = cls(1000, hash="xxh64", seed=5)
    f.update(["ada", 7])
    f.save(tmp_path / "known.tamis")
    for g in (tamis.live.open(tmp_path / "known.tamis"),
              tamis.live.concurrent(tamis.open(tmp_path / "known.tamis", map=True)),
              tamis.live.concurrent(f.snapshot())):
        assert type(g) is cls and g.count(["ada", 7, "eve"]) == 2
        assert (g.hash, g.seed, g.kind, g.nbytes) == ("xxh64", 5, f.kind, f.nbytes)
        g.add("mine")
        assert "mine" in g and "mine" not in f.snapshot()


def test_filters_without_a_concurrent_form():
    with pytest.raises(tamis.UnsupportedError, match="counting"):
        tamis.live.concurrent(tamis.CountingBloomFilter(100))
    with pytest.raises(TypeError, match="a filter is expected"):
        tamis.live.concurrent("known")
    with pytest.raises(FileNotFoundError):
        tamis.live.open("not there")
    f = tamis.live.ConcurrentBloomFilter(100)
    for call in (lambda: f.discard(1), lambda: f.remove(1), lambda: f.erase([1])):
        with pytest.raises(TypeError, match="cannot be erased from a bloom filter"):
            call()
    with pytest.raises(TypeError, match="not made yet"):
        5 in tamis.live.ConcurrentBloomFilter.__new__(tamis.live.ConcurrentBloomFilter)
    with pytest.raises(TypeError):
        f.add(1.5)
    with pytest.raises(KeyError):
        tamis.live.ConcurrentCuckooFilter8(100).remove(5)


def test_a_full_filter():
    f = tamis.live.ConcurrentCuckooFilter16(nbytes=1024)
    with pytest.raises(tamis.FullError, match="do not fit"):
        f.insert(range(5000))
    assert f.insert(range(10_000, 11_000), partial=True) < 1000
    with pytest.raises(tamis.FullError):
        for key in range(20_000, 21_000):
            f.add(key)


def test_merging():
    a, b = tamis.live.ConcurrentBloomFilter(1000), tamis.BloomFilter(1000)
    a.update(range(300))
    b.update(range(300, 600))
    a |= b
    c = tamis.live.ConcurrentBloomFilter(1000)
    c.update(range(600, 900))
    a |= c
    assert a.count(range(900)) == 900 and a.inserted_count == 900
    for other, error in ((tamis.BloomFilter(5000), tamis.IncompatibleError),
                         (tamis.SplitBlockBloomFilter(1000), tamis.IncompatibleError),
                         (tamis.live.ConcurrentCuckooFilter8(1000), tamis.IncompatibleError),
                         ({1, 2}, TypeError), (None, TypeError)):
        with pytest.raises(error):
            a |= other


def test_answers_are_of_the_callers_kind():
    f = tamis.live.ConcurrentSplitBlockBloomFilter(1000, fpr=1e-6)
    assert f.insert(pa.array(["ada", None, "bob"])) == 2
    assert f.contains(pa.array(["bob", None, "eve"])).to_pylist() == [True, False, False]
    out = np.zeros(2, bool)
    assert f.contains(["ada", "eve"], out=out) is out and out.tolist() == [True, False]
    done = []
    f.insert(np.arange(10), progress=done.append)
    assert done == [10]
    assert repr(f).startswith("ConcurrentSplitBlockBloomFilter(capacity=1000, inserted_count=12")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("cls", BLOOM)
def test_a_child_of_fork(cls):
    f = cls(1000)
    f.add("ada")
    child = os.fork()
    if child == 0:
        f.add("eve")
        os._exit(0 if "ada" in f and "eve" in f else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert "eve" not in f
