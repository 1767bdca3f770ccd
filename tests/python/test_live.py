"""tamis.live.Live: publishing, rebuilds with concurrent changes, files that are replaced."""
import contextlib
import datetime
import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import tamis
import tamis.live
from test_concurrent import together

Concurrent = tamis.live.ConcurrentSplitBlockBloomFilter


def filter_of(keys, capacity=100_000, **options):
    f = Concurrent(capacity, **options)
    f.insert(keys)
    return f


def test_publishing():
    live = tamis.live.Live()
    assert live.filter is None and live.generation == 0 and live.insert([1]) == 0
    f = filter_of([1])
    assert live.publish(f) == 1
    f.add(2)  # the same filter, without a copy
    assert 2 in live.filter
    plain = tamis.BloomFilter(100)
    assert live.publish(plain, age=5) == 2
    plain.add("later")
    assert "later" not in live.filter  # a plain filter is copied
    assert live.status().generation == 2 and 5 <= live.status().age < 1000
    assert type(live.filter) is tamis.live.ConcurrentBloomFilter
    for filter, age, error in ((None, 0, TypeError), (f, -1, ValueError), (f, float("nan"), ValueError),
                               (tamis.CountingBloomFilter(9), 0, tamis.UnsupportedError),
                               (tamis.FuseFilter8([1]), 0, tamis.UnsupportedError)):
        with pytest.raises(error):
            live.publish(filter, age)
    assert live.generation == 2


def test_readers_keep_the_filter_that_they_took():
    live = tamis.live.Live(filter_of([1]))
    taken = live.filter
    live.publish(filter_of([2]))
    assert 1 in taken and 2 not in taken and 2 in live.filter


def test_no_insert_is_lost_by_a_rebuild():
    live = tamis.live.Live(filter_of([]))
    lock, database = threading.Lock(), set()
    stop = threading.Event()

    def rebuild(_):
        try:
            for _ in range(10):
                def build(context):
                    with lock:
                        keys = list(database)
                    context.set_total(len(keys))
                    f = filter_of(keys)
                    context.advance(len(keys))
                    return f
                live.rebuild(build)
        finally:
            stop.set()

    def insert(number):
        i = 0
        while not stop.is_set() and i < 9000:
            keys = [number * 10**6 + k for k in range(i, i + 10)]
            with live.change() as change:
                with lock:
                    database.update(keys)
                assert change.insert(keys) == 10
            assert live.filter.count(keys) == 10
            i += 10

    together(lambda number: rebuild(0) if number == 0 else insert(number), range(4))
    assert live.generation == 11
    assert live.filter.count(list(database)) == len(database)


def test_inserts_during_a_rebuild_are_in_the_old_and_the_new_filter():
    live = tamis.live.Live(filter_of(["old"]))
    before = live.filter

    def build(context):
        assert live.insert(["meanwhile", None]) == 1
        assert live.status().rebuilding and live.status().recorded == 1
        with pytest.raises(tamis.BusyError):
            live.publish(filter_of([]))
        with pytest.raises(tamis.BusyError):
            live.rebuild(build)
        return filter_of(["new"])

    progress = []
    assert live.rebuild(build, on_progress=lambda *p: progress.append(p)) == 2
    assert live.filter.contains(["new", "meanwhile", "old"]) == [True, True, False]
    assert "meanwhile" in before and not live.status().rebuilding


def test_erasing_during_a_rebuild():
    def cuckoo(keys):
        f = tamis.live.ConcurrentCuckooFilter16(1000)
        f.insert(keys)
        return f

    live = tamis.live.Live(cuckoo(range(10)))
    snapshots = []

    def build(context):
        assert live.erase([1, 2]) == 2
        return cuckoo(range(10))

    live.rebuild(build)  # without a snapshot, the source may lack the keys
    assert live.filter.count(range(10)) == 10 and live.status().skipped_erases == 2
    live.rebuild(build, open_snapshot=lambda: snapshots.append(1))
    assert live.filter.count(range(10)) == 8 and snapshots == [1]
    with pytest.raises(TypeError, match="cannot be erased"):
        tamis.live.Live(filter_of([])).erase([1])


def test_a_full_filter():
    live = tamis.live.Live(tamis.live.ConcurrentCuckooFilter16(nbytes=1024))
    with pytest.raises(tamis.FullError):
        live.insert(range(5000))


def test_a_rebuild_that_fails_leaves_the_old_filter():
    live = tamis.live.Live(filter_of([1]))

    class Mine(Exception):
        pass

    def raises(context):
        raise Mine("no disk")

    for build, error, text in ((raises, Mine, "Mine: no disk"),
                               (lambda context: None, TypeError, "a filter is expected"),
                               (lambda context: Concurrent(10, seed=1), tamis.IncompatibleError, "hash"),
                               (lambda: None, TypeError, "TypeError"), (5, TypeError, "callable")):
        failures = live.status().failures
        with pytest.raises(error):
            live.rebuild(build)
        assert text in live.status().failure and live.status().failures == failures + 1
    with pytest.raises(Mine):
        live.rebuild(lambda context: filter_of([2]), open_snapshot=lambda: raises(0))
    with pytest.raises(KeyboardInterrupt):
        live.rebuild(lambda context: (_ for _ in ()).throw(KeyboardInterrupt))

    def progress(done, total):
        raise Mine(f"{done} of {total}")

    def advances(context):
        context.set_total(9)
        context.advance(5)

    with pytest.raises(Mine, match="5 of 9|0 of 9"):
        live.rebuild(advances, on_progress=progress)
    with pytest.raises(tamis.OutOfMemoryError):
        live.rebuild(lambda context: live.insert(range(100)) and filter_of([]), max_recorded=10)
    assert live.generation == 1 and 1 in live.filter


def test_a_context_is_of_no_use_afterwards():
    live = tamis.live.Live()
    kept = []
    live.rebuild(lambda context: kept.append(context) or filter_of([]))
    with pytest.raises(RuntimeError, match="over"):
        kept[0].advance(1)
    with pytest.raises(RuntimeError, match="over"):
        kept[0].cancelled


def test_jobs():
    live = tamis.live.Live()
    go, begun = threading.Event(), threading.Event()

    def build(context):
        begun.set()
        while not go.wait(0.01):
            context.advance(1)
        return filter_of([1])

    with live.start_rebuild(build) as job:
        begun.wait()
        assert not job.done()
        with pytest.raises(TimeoutError):
            job.wait(0.01)
        go.set()
        assert job.wait() == 1 and job.done()
    go.clear()
    begun.clear()
    job = live.start_rebuild(build)
    begun.wait()
    job.cancel()
    with pytest.raises(tamis.CancelledError):
        job.wait()
    with pytest.raises(ZeroDivisionError):
        with live.start_rebuild(build) as job:
            1 / 0
    with pytest.raises(tamis.CancelledError):
        job.wait()
    assert live.generation == 1


def test_changes():
    live = tamis.live.Live(filter_of([]))
    change = live.change()
    with pytest.raises(RuntimeError, match="not open"):
        change.insert([1])
    with change:
        change.insert([1])
        with pytest.raises(RuntimeError, match="open already"):
            change.__enter__()
        with pytest.raises(RuntimeError, match="a rebuild within a change"):
            live.rebuild(lambda context: filter_of([]))
    with pytest.raises(ZeroDivisionError):
        with live.change():
            1 / 0
    live.rebuild(lambda context: filter_of([]))
    left_open = live.change()
    left_open.__enter__()
    del left_open
    assert live.rebuild(lambda context: filter_of([])) == 3


class Waiting:
    """A rebuild that runs until it is released."""

    def __init__(self):
        self.go = threading.Event()
        self.job = tamis.live.Live().start_rebuild(self.build)

    def build(self, context):
        self.go.wait()
        return filter_of([1])

    def __enter__(self):
        return self.job

    def __exit__(self, *exception):
        self.go.set()


@pytest.mark.parametrize("timeout, error", [
    (float("nan"), ValueError), (-1, ValueError), (-1e-9, ValueError), ("1", TypeError),
    (np.timedelta64(1, "s"), TypeError), (datetime.timedelta(1), TypeError),
    (0, TimeoutError), (1e-9, TimeoutError), (0.01, TimeoutError), (np.float32(0.01), TimeoutError)])
def test_timeouts(timeout, error):
    with Waiting() as job:
        for _ in range(2):  # an exception in wait changes nothing
            with pytest.raises(error):
                job.wait(timeout)
            assert not job.done()
    for long in (float("inf"), 1e300, 2**64, 9.3e9, None):
        assert job.wait(long) == 1
    with pytest.raises(error) if error is not TimeoutError else contextlib.nullcontext():
        assert job.wait(timeout) == 1 and job.done()


@pytest.mark.parametrize("timeout", [None, 60, float("inf")])
def test_an_interrupt_ends_the_wait_and_not_the_rebuild(timeout):
    code = f"""
        import os, signal, threading, tamis, tamis.live
        go = threading.Event()
        def build(context):
            go.wait()
            return tamis.BloomFilter(10)
        job = tamis.live.Live().start_rebuild(build)
        for _ in range(2):
            threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
            try:
                job.wait({str(timeout).replace("inf", "float('inf')")})
                print("ended")
            except KeyboardInterrupt:
                print("interrupted", job.done())
        go.set()
        print(job.wait(), job.done())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.stdout == "interrupted False\n" * 2 + "1 True\n", done.stderr


def test_a_rebuild_cannot_wait_for_itself():
    jobs = []

    def build(context):
        while not jobs:
            pass
        jobs[0].wait(60)

    jobs.append(tamis.live.Live().start_rebuild(build))
    with pytest.raises(RuntimeError, match="its own end"):
        jobs[0].wait()


def test_a_rebuild_waits_for_changes_that_are_open():
    live = tamis.live.Live(filter_of([]))
    database = []
    with live.change() as change:
        job = live.start_rebuild(lambda context: filter_of(database))
        with pytest.raises(TimeoutError):
            job.wait(0.05)
        change.insert([7])
        database.append(7)
    assert job.wait() == 2 and 7 in live.filter


def test_a_file_that_is_replaced(tmp_path):
    path = tmp_path / "known.tamis"
    live = tamis.live.Live()
    with tamis.live.Watch(live, path, interval=3600) as watch:
        assert watch.status().file == "missing" and live.filter is None
        filter_of([1]).save(path)
        assert watch.check_now() and 1 in live.filter and watch.status().file == "serving"
        assert not watch.check_now()
        path.write_bytes(b"damaged")
        watch.check_now()
        assert watch.status().file == "refused" and watch.status().failure
        assert 1 in live.filter and live.status().failure
        tamis.CountingBloomFilter(10).save(path)
        watch.check_now()
        assert "counting" in watch.status().failure
        filter_of([2]).save(path)
        assert watch.check_now() and 2 in live.filter
    with pytest.raises(ValueError, match="closed"):
        watch.check_now()
    watch.close()
    with pytest.raises(ValueError):
        tamis.live.Watch(live, path, interval=0)
    with pytest.raises(TypeError):
        tamis.live.Watch("live", path)
    with pytest.raises(TypeError):
        tamis.live.Watch(live, path, interval=np.timedelta64(1, "ms"))
    with pytest.raises(TypeError):
        live.publish(filter_of([1]), age=np.array(1, "m8[ms]"))


def test_a_watch_looks_by_itself(tmp_path):
    path = tmp_path / "known.tamis"
    live = tamis.live.Live()
    watch = tamis.live.Watch(live, path, interval=0.01)
    filter_of([1]).save(path)
    turn = threading.Event()
    for _ in range(6000):
        if live.generation:
            break
        turn.wait(0.01)
    assert 1 in live.filter
    reference = weakref.ref(live)
    del live
    assert watch.status().published == 1 and reference() is not None
    del watch
    gc.collect()
    assert reference() is None


def test_a_keyed_hash(tmp_path):
    secret = bytes(range(16))
    f = filter_of([1], hash="siphash13", secret=secret)
    f.save(tmp_path / "known.tamis")
    live = tamis.live.Live(hash="siphash13", secret=secret)
    with tamis.live.Watch(live, tmp_path / "known.tamis", secret=secret) as watch:
        assert watch.status().file == "serving" and 1 in live.filter
    assert live.rebuild(lambda context: filter_of([2], hash="siphash13", secret=secret)) == 2
    with pytest.raises(ValueError):
        tamis.live.Live(hash="md5")


def test_readers_while_filters_are_exchanged():
    live = tamis.live.Live(filter_of(np.arange(1000)))
    stop = threading.Event()

    def work(number):
        if number == 0:
            try:
                for _ in range(200):
                    live.publish(filter_of(np.arange(1000), 5000))
            finally:
                stop.set()
        else:
            while not stop.is_set():
                assert live.filter.count(np.arange(1000)) == 1000

    together(work, range(3))
    assert live.generation == 201
