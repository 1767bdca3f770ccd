"""Every class against a Python set, with random sequences of calls."""
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from kinds import CLASSES, ERASABLE, make

import tamis

KEYS = st.one_of(st.integers(-2**63, 2**64 - 1), st.text(st.characters(codec="utf-8"), max_size=20),
                 st.binary(max_size=20))


def identity(key):
    """Returns equal values for objects that are the same key."""
    return key % 2**64 if isinstance(key, int) else key.encode() if isinstance(key, str) else key


def forms(keys):
    """Yields the same keys in different containers."""
    yield list(keys)
    yield (key for key in keys)
    yield np.array(keys + [None], object)[:-1]
    texts = [key for key in keys if isinstance(key, str)]
    if len(texts) == len(keys):
        yield pa.array(texts, pa.string())
        yield pa.array(texts, pa.string_view())
    if all(isinstance(key, int) and key < 2**63 for key in keys):
        yield np.array(keys, np.int64)


class Model(RuleBasedStateMachine):
    cls = None

    def __init__(self):
        super().__init__()
        self.f = make(self.cls, 2000)
        self.in_it = {}
        self.inserted = 0

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
        self.f.insert(some[which % len(some)], threads=which % 3 or None)
        self.note(keys)

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

    @rule(how=st.sampled_from(["copy", "bytes", "pickle"]))
    def replace(self, how):
        import pickle
        before = self.f.to_bytes()
        self.f = {"copy": self.f.copy, "bytes": lambda: tamis.from_bytes(before),
                  "pickle": lambda: pickle.loads(pickle.dumps(self.f))}[how]()
        assert type(self.f) is self.cls and self.f.to_bytes() == before

    @invariant()
    def no_false_negatives(self):
        keys = [key for key, copies in self.in_it.items() if copies > 0]
        assert self.f.count(keys) == len(keys)
        if self.f.can_erase:
            assert self.f.inserted_count == sum(self.in_it.values())


@pytest.mark.parametrize("cls", CLASSES)
def test_model(cls):
    machine = type(f"Model{cls.__name__}", (Model,), {"cls": cls}).TestCase
    machine.settings = settings(max_examples=15, stateful_step_count=20, deadline=None,
                                derandomize=True)
    machine().runTest()


@pytest.mark.parametrize("cls", CLASSES)
def test_rates(cls):
    f = make(cls, 20_000)
    f.insert(np.arange(20_000))
    asked = np.arange(10**9, 10**9 + 200_000)
    assert f.count(asked) / len(asked) < 1.2 * max(f.expected_fpr(), 1e-4)
    assert abs(f.estimated_count() - 20_000) < 1000
    assert f.contains(np.arange(20_000)).all()


def test_erasable_are_known():
    assert [cls for cls in CLASSES if make(cls).can_erase] == [c for c in CLASSES if c in ERASABLE]
