"""The quick paths for plain int and str objects against the paths for columns and for other objects."""
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from kinds import CLASSES, MERGEABLE, SIZED, make

import tamis


class Text(str):
    """A subclass, which the quick path for str leaves to others."""


class Whole(int):
    """A subclass of int."""


# Sizes at which an int gets another digit of 30 bits, and strings of every length that has a path.
INTEGERS = st.one_of(st.integers(-2**63, 2**64 - 1), st.sampled_from(
    [sign * 2**power + by for power in (0, 29, 30, 31, 59, 60, 61, 62) for by in (-1, 0, 1)
     for sign in (1, -1)] + [2**63 - 1, 2**63, 2**64 - 1, -2**63]))
TEXTS = st.one_of(st.text(st.characters(codec="ascii"), max_size=40),
                  st.text(st.characters(codec="utf-8"), max_size=20))
WAYS = [lambda f, keys: f.update(keys), lambda f, keys: f.update(tuple(keys)),
        lambda f, keys: f.update(iter(keys)), lambda f, keys: f.update(np.array(keys + [0], object)[:-1]),
        lambda f, keys: [f.add_if_absent(key) for key in keys],
        lambda f, keys: [f.add(key) for key in keys],
        lambda f, keys: [tamis.Filter.add(f, key) for key in keys],
        lambda f, keys: [tamis.Changeable.add(f, key) for key in keys]]


def column_of(key):
    """Returns an array of one key, for the conversions that know only columns."""
    if isinstance(key, int):
        return np.array([int(key) % 2**64], np.uint64)
    return pa.array([str(key) if isinstance(key, str) else key])


@pytest.mark.parametrize("cls", MERGEABLE)
@pytest.mark.parametrize("hash", ["xxh3", "xxh64"])
@settings(deadline=None, derandomize=True)
@given(keys=st.lists(st.one_of(INTEGERS, INTEGERS.map(Whole), TEXTS, TEXTS.map(Text),
                               st.binary(max_size=40)), max_size=30, unique_by=repr))
def test_every_way_sets_the_bits_of_a_column(cls, hash, keys):
    column = make(cls, 100_000, hash=hash, seed=7)
    for key in keys:
        column.insert(column_of(key))
    for way in WAYS if cls is not tamis.CountingBloomFilter else WAYS[:4] + WAYS[5:]:
        f = make(cls, 100_000, hash=hash, seed=7)
        way(f, keys)
        assert bytes(memoryview(f)) == bytes(memoryview(column))
        asked = keys + ["absent", -5]
        assert [key in f for key in asked] == f.contains(asked) == f.contains(tuple(asked))


@pytest.mark.parametrize("cls", SIZED)
def test_every_length_of_text_and_the_limits_of_integers(cls):
    texts = ["x" * n for n in range(70)]
    one, many = make(cls, 1000), make(cls, 1000)
    for text in texts:
        one.add(text)
    many.update(texts)
    for f in (one, many):
        assert all(text in f for text in texts) and all(f.contains(texts))
    for key in (2**64, 2**64 + 5, 2**90, -2**63 - 1):
        for use in (one.add, one.__contains__, lambda key: one.update([key]), lambda key: one.contains([key])):
            with pytest.raises(OverflowError):
                use(key)


@pytest.mark.parametrize("cls", SIZED)
@settings(deadline=None, derandomize=True)
@given(keys=st.lists(st.one_of(INTEGERS, TEXTS), max_size=50, unique=True),
       asked=st.lists(st.one_of(INTEGERS, TEXTS), max_size=50))
def test_in_is_contains(cls, keys, asked):
    f = make(cls, 200)
    for key in keys:
        f.add(key)
    assert [key in f for key in keys + asked] == f.contains(keys + asked)
    assert all(key in f for key in keys)


@pytest.mark.parametrize("number", [0, 1, 2**13 - 1, 2**13, 2**13 + 1, 3 * 2**13, 2**17 + 1])
def test_lists_of_every_number_of_batches(number):
    keys, done = list(range(number)), []
    f, g = (make(tamis.SplitBlockBloomFilter, 200_000) for _ in range(2))
    assert f.insert(keys, progress=done.append) == number
    g.insert(np.arange(number))
    assert f.to_bytes() == g.to_bytes() and f.count(keys) == number
    assert done == sorted(done) and done[-1:] == [number][:number]
    texts = [f"{'x' * (i % 23)}{i}" for i in keys]
    f.update(texts)
    g.insert(pa.array(texts, pa.string()))
    assert f.to_bytes() == g.to_bytes()
    if number:
        texts[number // 2] = 1.5
        with pytest.raises(TypeError, match="this is of type float"):
            make(tamis.SplitBlockBloomFilter).insert(texts)


def test_an_index_that_empties_its_list_is_a_key_even_if_it_begins_a_batch():
    keys = ["text", None, 3]

    class Empties:
        def __index__(self):
            keys.clear()
            return 7

    keys[1] = Empties()
    f = make(tamis.SplitBlockBloomFilter)
    assert f.insert(keys) == 2
    assert "text" in f and 7 in f and 3 not in f


@pytest.mark.filterwarnings("ignore:nanobind")
@pytest.mark.parametrize("cls", CLASSES)
def test_memory_of_another_filter_is_no_filter(cls):
    class Forgets(cls):
        def __init__(self):
            pass

    for _ in range(50):
        for made in [make(cls) for _ in range(5)]:
            made.add(1)
        del made
        f = Forgets()
        for call in (f.add, f.add_if_absent, f.__contains__):
            with pytest.raises(TypeError, match="not made yet"):
                call(1)


@pytest.mark.parametrize("key", [1, "a", Whole(1), Text("a"), b"a"])
@pytest.mark.parametrize("cls", SIZED)
def test_a_filter_that_cannot_change_refuses_every_key(cls, key):
    f = make(cls)
    f.add(key)
    with memoryview(f):
        with pytest.raises(BufferError):
            f.add(key)
        assert key in f
    g = tamis.frombuffer(f.to_bytes())
    with pytest.raises(tamis.ReadOnlyError):
        g.add(key)
    assert key in g and f.inserted_count == g.inserted_count == 1
