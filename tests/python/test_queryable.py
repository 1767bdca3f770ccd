"""The calls of Queryable and Changeable, for all classes."""
import itertools
import math

import numpy
import pytest

import tamis
import tamis.live
from kinds import CLASSES, STATIC, make, of_keys

CONCURRENT = [tamis.live.ConcurrentSplitBlockBloomFilter, tamis.live.ConcurrentBloomFilter,
              tamis.live.ConcurrentCuckooFilter8, tamis.live.ConcurrentCuckooFilter12,
              tamis.live.ConcurrentCuckooFilter16]


# The header of an empty Guava filter of 65,536 bits.
GUAVA = bytes.fromhex("0105" + f"{1024:08x}") + bytes(8 * 1024)
MAKERS = {cls.__name__: (lambda cls=cls: make(cls, 5000)) for cls in CLASSES}
MAKERS |= {cls.__name__: (lambda cls=cls: cls(5000)) for cls in CONCURRENT}
MAKERS["guava"] = lambda: tamis.ForeignFilter.from_bytes(GUAVA, "guava:long")


@pytest.fixture(params=MAKERS.values(), ids=MAKERS.keys())
def made(request):
    return request.param()


def test_outputs_agree(made):
    assert isinstance(made, tamis.Queryable) and isinstance(made, tamis.Changeable)
    keys = numpy.arange(0, 3000, dtype=numpy.uint64)
    assert made.insert(keys[::2]) == 1500
    check_outputs(made, keys)


@pytest.mark.parametrize("cls", STATIC)
def test_outputs_of_static_filters_agree(cls):
    keys = numpy.arange(0, 3000, dtype=numpy.uint64)
    check_outputs(of_keys(cls, keys[::2]), keys)


def check_outputs(made, keys):
    expected = [int(key) in made for key in keys]
    assert sum(expected) >= 1500
    for threads in (None, 1, 2):
        assert made.contains(keys, threads=threads).tolist() == expected
        assert made.select(keys, threads=threads).tolist() == numpy.flatnonzero(expected).tolist()
        assert made.count(keys, threads=threads) == sum(expected)
    out = numpy.zeros(3000, dtype=bool)
    assert made.contains(keys, out=out, threads=2) is out
    assert out.tolist() == expected
    with pytest.raises(ValueError, match="threads"):
        made.count(keys, threads=-1)


def test_absent_keys(made):
    keys = [1, 2, None, 2, 3]
    assert made.insert_if_absent(keys) == [True, True, False, False, True]
    assert made.insert_if_absent([3, 4], threads=2) == [False, True]
    assert made.add_if_absent(4) is False
    assert made.add_if_absent(5) is True
    made.add(6)
    made.update([7, 8])
    assert made.count([1, 2, 3, 4, 5, 6, 7, 8]) == 8


def test_erasure(made):
    made.update(range(100))
    if not getattr(made, "can_erase", False):
        for erase in (made.discard, made.remove, lambda key: made.erase([key])):
            with pytest.raises(TypeError, match="cannot be erased from a"):
                erase(1)
        assert made.count(range(100)) == 100
        return
    assert made.erase(range(50)) == 50
    assert made.discard(50) is True
    made.remove(51)
    with pytest.raises(tamis.InvalidArgumentError, match="not in"):
        made.erase([60, 10**15])
    assert made.erase([60, 10**15], missing_ok=True) == 1
    assert made.count(range(61, 100)) == 39


def test_description(made):
    made.update(range(100))
    assert made.nbytes > 0
    assert made.key_types == "integers"
    fpr = made.expected_fpr()
    assert math.isnan(fpr) or 0 <= fpr < 1
    count = made.estimated_count()
    assert math.isnan(count) or 80 < count < 120
    for name in ("queryable", "gate"):
        assert not hasattr(made, name)


def test_classes_of_different_objects_cannot_be_exchanged():
    """Calls must refuse objects of other classes, because their C++ code would misread them."""
    objects = [tamis.SplitBlockBloomFilter(10), tamis.live.ConcurrentBloomFilter(10), MAKERS["guava"](),
               tamis.FilterBank(), tamis.live.Live(), tamis.FuseFilter8([1])]
    for one, other in itertools.permutations(objects, 2):
        with pytest.raises(TypeError, match="layout differs"):
            one.__class__ = type(other)


def test_errors_say_how_many_keys_are_in():
    """A string begins a new batch, which a filter of integers refuses."""
    for call in ("insert", "insert_if_absent"):
        made = MAKERS["guava"]()
        with pytest.raises(tamis.InvalidArgumentError, match="^50000 keys are in; of the keys after them"):
            getattr(made, call)([1] * 50_000 + ["x"])
        assert 1 in made


class Unmade(tamis.live.ConcurrentBloomFilter):
    def __init__(self):
        pass


def test_a_concurrent_filter_without_init_is_a_type_error():
    other = tamis.live.ConcurrentBloomFilter(10)
    for call in (repr, lambda f: f.__ior__(other), lambda f: 1 in f, lambda f: f.add(1)):
        with pytest.raises(TypeError, match="not made yet"):
            call(Unmade())


def test_bases_cannot_be_made():
    for base in (tamis.Queryable, tamis.Changeable, tamis.Filter, tamis.StaticFilter):
        with pytest.raises(TypeError):
            base()
