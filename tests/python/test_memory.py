"""Bytes, buffers, files, pickle; and filters whose memory is also in use elsewhere."""
import copy
import gc
import mmap
import multiprocessing
import pickle
import weakref
from multiprocessing import shared_memory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from kinds import CLASSES, MERGEABLE, SIZED, STATIC, make, of_keys

import tamis


def filled(cls, n=1000, **options):
    return of_keys(cls, [*range(n), "text"], **options)


@pytest.mark.parametrize("cls", CLASSES + STATIC)
def test_round_trips(cls, tmp_path):
    f = filled(cls)
    data = f.to_bytes()
    path = tmp_path / "f.tamis"
    f.save(path)
    assert path.read_bytes() == data
    for g in (tamis.from_bytes(data), tamis.from_bytes(bytearray(data)), tamis.open(path),
              tamis.open(str(path), map=True), tamis.open(path, map=True, verify=True),
              tamis.frombuffer(data), tamis.frombuffer(memoryview(data), verify=False),
              pickle.loads(pickle.dumps(f)), copy.copy(f), copy.deepcopy(f), f.copy()):
        assert type(g) is cls
        assert g.to_bytes() == data
        assert (g.contains(np.arange(3000)) == f.contains(np.arange(3000))).all()
        assert "text" in g and g.inserted_count == f.inserted_count
        assert repr(g).split(", read_only")[0].rstrip(")") == repr(f).rstrip(")")
        if cls not in STATIC and not g.read_only:
            g.add("another")


@pytest.mark.parametrize("cls", CLASSES)
def test_read_only_filters_do_not_change(cls):
    g = tamis.frombuffer(filled(cls).to_bytes())
    before = g.to_bytes()
    calls = [lambda: g.add(1), lambda: g.insert([1]), lambda: g.insert(np.arange(5)), g.clear,
             lambda: g.update([1]), lambda: g.insert_if_absent([10**9]),
             lambda: g.add_if_absent(10**9)]
    if g.can_erase:
        calls += [lambda: g.discard(1), lambda: g.remove(1), lambda: g.erase([1])]
    for call in calls:
        with pytest.raises(tamis.ReadOnlyError):
            call()
    assert g.to_bytes() == before
    changed = g.copy()
    changed.add(10**9)
    assert 10**9 in changed


@pytest.mark.parametrize("cls", SIZED)
def test_exported_filters_do_not_change(cls):
    f = filled(cls)
    other = f.copy()
    view = memoryview(f)
    assert view.readonly and view.nbytes == f.nbytes and view.format == "B"
    contents = bytes(view)
    calls = [lambda: f.add(1), lambda: f.insert([1]), lambda: f.insert(np.arange(5)), f.clear]
    if f.can_erase:
        calls += [lambda: f.discard(1), lambda: f.erase(range(3))]
    if cls in MERGEABLE:
        calls += [lambda: f.__ior__(other)]
    for call in calls:
        with pytest.raises(BufferError, match="memoryview"):
            call()
    assert bytes(view) == contents
    assert f.contains(np.arange(1000)).all()  # a query is not a change
    with memoryview(f):
        pass
    view.release()
    f.clear()
    with pytest.raises(ValueError):
        np.frombuffer(f, np.uint8).flags.writeable = True


@pytest.mark.parametrize("cls", STATIC)
def test_buffers_of_static_filters(cls):
    f = filled(cls)
    view = memoryview(f)
    assert view.readonly and view.nbytes == f.nbytes and view.format == "B"
    assert bytes(view) in f.to_bytes()
    del f
    gc.collect()
    assert any(view)


def test_scalable_filters_have_no_one_buffer():
    with pytest.raises(BufferError, match="to_bytes"):
        memoryview(tamis.ScalableFilter())


def test_the_buffer_keeps_the_filter():
    view = memoryview(filled(tamis.BloomFilter))
    gc.collect()
    assert any(view)


@pytest.mark.parametrize("cls", CLASSES + STATIC)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_corrupt_bytes(cls, data):
    whole = bytearray(filled(cls, 100).to_bytes())
    how = data.draw(st.sampled_from(["flip", "cut", "longer", "noise"]))
    if how == "flip":
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    elif how == "cut":
        del whole[data.draw(st.integers(0, len(whole) - 1)):]
    elif how == "longer":
        whole += bytes(data.draw(st.integers(1, 100)))
    else:
        whole = data.draw(st.binary(max_size=300))
    for read in (tamis.from_bytes, tamis.frombuffer):
        with pytest.raises((tamis.CorruptError, tamis.UnsupportedError, tamis.SecretError)) as info:
            read(bytes(whole))
    assert isinstance(info.value, ValueError)
    # Calls that use only the header still answer, whatever the contents are.
    try:
        tamis.frombuffer(bytes(whole), verify=False).contains(np.arange(1000))
    except (tamis.CorruptError, tamis.UnsupportedError, tamis.SecretError):
        pass


def test_errors_of_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        tamis.open(tmp_path / "none")
    with pytest.raises(OSError):
        tamis.open(tmp_path)
    with pytest.raises(OSError):
        tamis.BloomFilter(10).save(tmp_path / "no" / "folder")
    path = tmp_path / "f"
    path.write_bytes(b"no filter")
    with pytest.raises(tamis.CorruptError) as info:
        tamis.open(path)
    assert info.value.check and info.value.offset >= 0
    with pytest.raises(TypeError):
        tamis.open(5.0)
    for what in ("text", 5, None):
        with pytest.raises((TypeError, BufferError)):
            tamis.from_bytes(what)


@pytest.mark.parametrize("cls", MERGEABLE)
def test_set_operations(cls):
    a, b = make(cls, 1000), make(cls, 1000)
    a.insert(range(0, 500))
    b.insert(range(400, 900))
    union = a | b
    assert type(union) is cls and union.count(range(900)) == 900
    assert a.count(range(500, 900)) < 100  # not changed
    c = a.copy()
    c |= b
    assert c.to_bytes() == union.to_bytes()
    c |= c
    assert c.to_bytes() == union.to_bytes()
    assert (a | a).to_bytes() == a.to_bytes()
    if cls is not tamis.CountingBloomFilter:
        both = a & b
        assert both.count(range(400, 500)) == 100
        a &= b
        assert a.to_bytes() == both.to_bytes()
    else:
        with pytest.raises(tamis.UnsupportedError, match="cannot be intersected"):
            a & b


def test_set_operations_that_cannot_be():
    a = make(tamis.SplitBlockBloomFilter, 1000)
    for b in (make(tamis.SplitBlockBloomFilter, 5000), make(tamis.BloomFilter, 1000),
              make(tamis.SplitBlockBloomFilter, 1000, seed=1)):
        with pytest.raises(tamis.IncompatibleError):
            a | b
        with pytest.raises(tamis.IncompatibleError):
            a &= b
    for b in ({1, 2}, None, 5):
        with pytest.raises(TypeError):
            a | b
        with pytest.raises(TypeError):
            a |= b
    for cls in (tamis.CuckooFilter8, tamis.ScalableFilter):
        with pytest.raises(tamis.IncompatibleError):
            make(cls) | make(cls)


def test_keyed_filters_are_pickled_with_their_secret():
    f = filled(tamis.BloomFilter, hash="siphash13")
    assert 5 in pickle.loads(pickle.dumps(f))
    assert f.to_bytes() != f.to_bytes(with_secret=True)


class Noted(tamis.CuckooFilter12):
    def __init__(self, capacity, note):
        super().__init__(capacity)
        self.note = note


def test_subclasses_are_pickled():
    f = Noted(100, ["a note"])
    f.add(1)
    g = pickle.loads(pickle.dumps(f))
    assert type(g) is Noted and g.note == ["a note"] and 1 in g
    shallow, deep = copy.copy(f), copy.deepcopy(f)
    assert shallow.note is f.note and deep.note == f.note and deep.note is not f.note
    deep.add(2)
    assert type(deep) is Noted and 2 not in f
    with pytest.raises(TypeError, match="another class"):
        tamis.BloomFilter.__new__(tamis.BloomFilter).__setstate__(f.__getstate__())


def ask(f, keys, results):
    results.put(int(f.count(keys)))


def ask_shared(name, size, keys, results):
    memory = shared_memory.SharedMemory(name)
    f = tamis.frombuffer(memory.buf[:size])
    results.put(int(f.count(keys)))
    del f
    memory.close()


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_other_processes(method):
    context = multiprocessing.get_context(method)
    results = context.SimpleQueue()
    f = filled(tamis.SplitBlockBloomFilter, fpr=1e-6)
    f.contains(np.arange(5000), threads=2)  # its threads do not exist in a child of fork
    data = f.to_bytes()
    memory = shared_memory.SharedMemory(create=True, size=len(data))
    try:
        memory.buf[:len(data)] = data
        keys = np.arange(500, 1500)
        for target, arguments in ((ask, (f, keys)), (ask_shared, (memory.name, len(data), keys))):
            child = context.Process(target=target, args=(*arguments, results))
            child.start()
            assert results.get() == 500
            child.join(60)
            assert child.exitcode == 0
    finally:
        memory.close()
        memory.unlink()


def test_frombuffer_holds_its_buffer():
    data = filled(tamis.BloomFilter).to_bytes()
    with mmap.mmap(-1, len(data)) as mapped:
        mapped[:] = data
        f = tamis.frombuffer(mapped)
        with pytest.raises(BufferError):
            mapped.resize(10)
        with pytest.raises(BufferError):
            mapped.close()
        assert "text" in f
        del f
    aligned = np.empty(len(data) + 64, np.uint8)
    start = -aligned.ctypes.data % 64
    part = aligned[start:start + len(data)]
    part[:] = np.frombuffer(data, np.uint8)
    f = tamis.frombuffer(part)
    assert np.shares_memory(np.frombuffer(f, np.uint8), part)
    del aligned, part
    gc.collect()
    assert "text" in f


@pytest.mark.parametrize("cls", [tamis.BloomFilter, tamis.FuseFilter8])
def test_cycles_are_collected(cls):
    class Owner(bytearray):
        pass

    for _ in range(20):  # some begin where no copy is needed
        owner = Owner(filled(cls, 5000).to_bytes())
        owner.filter = tamis.frombuffer(owner)
        gone = weakref.ref(owner.filter)
        del owner
        gc.collect()
        assert gone() is None


def test_released_buffers():
    view = memoryview(np.arange(10))
    view.release()
    f = make(tamis.BloomFilter)
    with pytest.raises(ValueError, match="released"):
        f.insert(view)
