"""Several threads, Python code inside a call, and signals."""
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from kinds import CLASSES, make

import tamis


@pytest.mark.parametrize("cls", CLASSES)
def test_many_threads(cls):
    f = make(cls, 400_000)
    errors = []

    def work(number):
        try:
            keys = np.arange(number * 50_000, (number + 1) * 50_000)
            f.insert(keys)
            assert f.contains(keys).all()
            for key in range(10**6 + number * 100, 10**6 + number * 100 + 100):
                f.add(key)
                assert key in f
            assert f.insert(iter(range(2 * 10**6, 2 * 10**6 + 10))) <= 10
            assert len(f.to_bytes()) > 1000
            assert f.copy().contains(keys).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert f.contains(np.arange(300_000)).all()


def test_two_threads_merge_crosswise():
    a, b = (make(tamis.BloomFilter, 100_000) for _ in range(2))

    def merge(to, other):
        for _ in range(200):
            to |= other

    threads = [threading.Thread(target=merge, args=pair) for pair in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_an_array_that_changes_during_a_call():
    keys = np.arange(2_000_000)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            keys[:] = keys[::-1].copy()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        f = make(tamis.CuckooFilter12, 2_100_000)
        for _ in range(3):
            f.contains(keys)
            f.count(keys[::2])
        f.insert(keys, partial=True)
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("cls", CLASSES)
def test_generators_that_use_the_filter(cls):
    f = make(cls)

    def keys():
        for i in range(100):
            f.add(1000 + i)
            assert 1000 + i in f
            yield i

    assert f.insert(keys()) == 100
    assert f.count(keys()) == 100


def test_an_iterable_that_fails_midway():
    f = make(tamis.SplitBlockBloomFilter, 300_000)

    def keys():
        yield from range(200_000)
        raise KeyError("midway")

    with pytest.raises(KeyError, match="midway"):
        f.insert(keys())
    assert f.inserted_count == 200_000
    f.add("still of use")
    assert "still of use" in f


def test_lists_that_change_during_a_call():
    f = make(tamis.SplitBlockBloomFilter)
    keys = [1, 2, 3]

    class Clears:
        def __index__(self):
            keys.clear()
            return 7

    keys.insert(1, Clears())
    assert f.insert(keys) == 2
    array = np.array([1, None, "x" * 100, "y" * 100], object)

    class Overwrites:
        def __index__(self):
            array[:] = 0
            return 8

    array[1] = Overwrites()
    assert f.insert(array) == 4


def test_interrupt_ends_a_long_build():
    code = """
        import numpy as np, os, signal, threading, time, tamis
        f = tamis.SplitBlockBloomFilter(1 << 20)
        keys = np.broadcast_to(np.arange(1, dtype="u8"), 1 << 34)
        threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            f.insert(keys)
        except KeyboardInterrupt:
            assert 0 < f.inserted_count < 1 << 34
            print("interrupted")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.stdout == "interrupted\n", done.stderr
