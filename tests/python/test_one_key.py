"""One key: objects that are keys, equal keys, and refused objects."""
import enum
import uuid

import numpy as np
import pytest
from kinds import CLASSES, ERASABLE, STATIC, make

import tamis


@pytest.mark.parametrize("cls", CLASSES)
def test_add_and_in(cls):
    f = make(cls)
    keys = ["ada", b"\x00\xff", "", 0, 1, -1, 2**63, 2**64 - 1, -2**63, np.int8(-7), np.uint64(9),
            uuid.UUID(int=77), "\U0001F600", np.str_("numpy"), np.bytes_(b"bytes")]
    for key in keys:
        f.add(key)
    assert all(key in f for key in keys)
    assert f.inserted_count == len(keys)


@pytest.mark.parametrize("cls", STATIC)
def test_in_static_filters(cls):
    keys = ["ada", b"\x00\xff", "", 0, 1, -1, 2**63, uuid.UUID(int=77), np.str_("numpy"), np.int8(-7)]
    f = cls(keys)
    assert all(key in f for key in keys) and f.inserted_count == len(keys)
    for key in (1.0, None, True, (1, 2), object(), [], bytearray(b"x")):
        with pytest.raises(TypeError, match="a key is a str, bytes, int or uuid.UUID"):
            key in f


def test_keys_of_one_value_are_one():
    f = make(tamis.SplitBlockBloomFilter)
    f.add("ada")
    f.add(-1)
    f.add(uuid.UUID(int=5))
    assert b"ada" in f and "ada" in f
    assert 2**64 - 1 in f and np.int8(-1) in f
    assert uuid.UUID(int=5).bytes in f
    assert f.count(np.array([-1], np.int16)) == 1


def test_integers_and_their_digits_are_different_keys():
    f = make(tamis.SplitBlockBloomFilter)
    f.add(42)
    assert "42" not in f
    assert f.key_types == "integers"


class Number:
    def __index__(self):
        return 42


class Broken:
    def __index__(self):
        raise ZeroDivisionError


def test_index_makes_an_integer():
    f = make(tamis.BloomFilter)
    f.add(Number())
    assert 42 in f
    assert enum.IntEnum("E", {"A": 42}).A in f
    with pytest.raises(ZeroDivisionError):
        f.add(Broken())


@pytest.mark.parametrize("key", [1.0, None, True, (1, 2), object(), [], {}, bytearray(b"x"),
                                 np.float64(2), np.bool_(True), 1j])
@pytest.mark.parametrize("cls", CLASSES)
def test_other_types_are_refused(cls, key):
    f = make(cls)
    for call in (f.add, f.add_if_absent, f.__contains__):
        with pytest.raises(TypeError, match="a key is a str, bytes, int or uuid.UUID"):
            call(key)
    assert f.inserted_count == 0


@pytest.mark.parametrize("key", [2**64, -2**63 - 1, 10**100, -10**100])
def test_huge_integers_overflow(key):
    f = make(tamis.SplitBlockBloomFilter)
    with pytest.raises(OverflowError, match="str"):
        f.add(key)
    with pytest.raises(OverflowError):
        f.insert([1, key, 2])
    assert f.inserted_count == 1 and 1 in f


def test_lone_surrogates_are_refused():
    f = make(tamis.SplitBlockBloomFilter)
    with pytest.raises(UnicodeEncodeError):
        f.add("\ud800")
    with pytest.raises(UnicodeEncodeError):
        f.update(["ok", "\udfff"])
    with pytest.raises(ValueError):
        f.insert(np.array(["\ud800"]))


def test_add_if_absent():
    f = make(tamis.SplitBlockBloomFilter)
    assert f.add_if_absent("a") is True
    assert f.add_if_absent("a") is False
    assert f.inserted_count == 1


@pytest.mark.parametrize("cls", ERASABLE)
def test_discard_and_remove(cls):
    f = make(cls)
    f.add("a")
    assert f.discard("a") is True
    assert "a" not in f
    assert f.discard("a") is False
    f.add(3)
    assert f.remove(3) is None
    with pytest.raises(KeyError):
        f.remove(3)
    assert f.can_erase


def test_bloom_filters_do_not_erase():
    for f in (make(tamis.SplitBlockBloomFilter), make(tamis.BloomFilter), tamis.ScalableFilter()):
        assert not f.can_erase
        for call in (f.discard, f.remove, lambda k: f.erase([k])):
            with pytest.raises(TypeError, match="cannot be erased"):
                call("a")
    assert tamis.ScalableFilter(layers="cuckoo16").can_erase


def test_full_filters_say_so():
    f = tamis.CuckooFilter16(nbytes=64)
    with pytest.raises(tamis.FullError):
        for key in range(1000):
            f.add(key)
    with pytest.raises(tamis.FullError, match="do not fit"):
        f.insert(range(1000, 2000))
    count = f.inserted_count
    assert f.insert(range(2000, 3000), partial=True) == f.inserted_count - count


def test_scalable_copies_are_not_an_error():
    f = tamis.ScalableFilter(1000, layers="cuckoo12")
    assert f.insert(["same"] * 100) < 100
    assert "same" in f


@pytest.mark.filterwarnings("ignore:nanobind")
def test_subclasses():
    class Mine(tamis.BloomFilter):
        def __init__(self, note):
            super().__init__(100)
            self.note = note

    class Forgets(tamis.BloomFilter):
        def __init__(self):
            pass

    f = Mine("x")
    f.add(1)
    assert 1 in f and f.note == "x"
    g = Forgets()
    for call in (g.add, g.__contains__, g.discard, g.insert, lambda k: repr(g), lambda k: g | g,
                 lambda k: memoryview(g)):
        with pytest.raises((TypeError, ValueError)):
            call([1])


def test_made_once():
    f = make(tamis.BloomFilter)
    f.add(1)
    with pytest.warns(RuntimeWarning), pytest.raises(TypeError):
        f.__init__(10)
    assert 1 in f


@pytest.mark.parametrize("arguments, error", [
    ({}, ValueError), ({"capacity": -1}, OverflowError), ({"capacity": 2**64}, OverflowError),
    ({"capacity": 1.5}, TypeError), ({"capacity": 10, "fpr": 2.0}, ValueError),
    ({"capacity": 10, "fpr": float("nan")}, ValueError), ({"capacity": 10**18}, ValueError),
    ({"capacity": 10, "hash": "md5"}, ValueError), ({"capacity": 10, "backend": "Z80"}, ValueError),
    ({"capacity": 10, "secret": b"16 bytes of text"}, ValueError),
    ({"capacity": 10, "hash": "siphash13", "secret": b"short"}, ValueError),
    ({"capacity": 10, "hash": "siphash13", "seed": 1}, ValueError),
])
def test_bad_options(arguments, error):
    with pytest.raises(error):
        tamis.SplitBlockBloomFilter(**arguments)


def test_too_large_for_the_machine():
    with pytest.raises(MemoryError, match="cannot allocate"):
        tamis.BloomFilter(10**14)


def test_hashes():
    secret = b"0123456789abcdef"
    f = tamis.BloomFilter(100, hash="siphash24", secret=secret)
    f.add(1)
    assert f.hash == "siphash24" and 1 in f
    g = tamis.from_bytes(f.to_bytes(), secret=secret)
    assert 1 in g
    with pytest.raises(tamis.SecretError):
        tamis.from_bytes(f.to_bytes())
    assert tamis.BloomFilter(100, hash="xxh64", seed=5).seed == 5
    assert tamis.BloomFilter(100, hash="siphash13").hash == "siphash13"


def test_repr():
    f = tamis.SplitBlockBloomFilter(1000)
    f.update(range(500))
    assert repr(f).startswith("SplitBlockBloomFilter(capacity=1000, inserted_count=500, nbytes=")
    assert "fpr=" in repr(f) and "fill=0.5" in repr(f)


def test_every_backend_gives_the_same_bits():
    made = set()
    for name in tamis.backends():
        f = tamis.CuckooFilter12(1000, backend=name)
        f.update(range(1000))
        assert f.backend == name
        made.add(f.to_bytes())
    assert len(made) == 1
