"""tamis.redis on a server that the tests start; skipped if none is installed."""
import datetime
import itertools
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from test_model import KEYS, forms, identity

import tamis

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = pathlib.Path(os.environ.get("TAMIS_PYTHON_DIR", ROOT / "bindings/python"))
try:
    import tamis.redis
    from tamis.redis import SplitBlockFilter
except ImportError as error:
    pytest.skip(f"there is no tamis.redis: {error}", allow_module_level=True)

NAMES = (f"test-{os.getpid()}-{i}" for i in itertools.count())


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    server = subprocess.Popen(
        ["sh", ROOT / "redis/local_cluster.sh", "single", tmp_path_factory.mktemp("redis")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in server.stdout:
        if line.startswith("ready"):
            break
    else:
        assert server.wait() == 69, "local_cluster.sh has failed"
        pytest.skip("redis-server and redis-cli are not installed")
    yield line.split()[1]
    server.stdin.close()
    server.wait()


def say(url, *words):
    port = url.rpartition(":")[2]
    return subprocess.run(["redis-cli", "-p", port, *words], capture_output=True, text=True,
                          check=True).stdout.split()


@pytest.fixture
def f(url):
    made = SplitBlockFilter.create(next(NAMES), 10_000, 1e-6, url=url)
    yield made
    made.close()


@settings(max_examples=15, deadline=None, derandomize=True)
@given(keys=st.lists(KEYS, max_size=20), asked=st.lists(KEYS, max_size=20))
def test_model(url, keys, asked):
    with SplitBlockFilter.create(next(NAMES), 1000, 1e-6, url=url) as f:
        for some in forms(keys):
            assert f.insert(some) == len(keys)
        assert f.count(keys) == len(keys)
        local = tamis.SplitBlockBloomFilter(1000, 1e-6)
        local.insert(keys)
        assert f.contains(asked) == local.contains(asked)
        assert f.select(asked) == local.select(asked)
        near = f.near_cache()
        for key in keys + asked:
            want = key in local
            assert (key in f) == want == (key in near)
            assert want or identity(key) not in map(identity, keys)
        assert memoryview(f.pull()) == memoryview(local) == memoryview(near.snapshot())
        f.drop()


def test_arrays_and_nulls(f):
    assert f.insert(np.arange(0, 10_000, 2, dtype=np.int32)) == 5000
    assert f.insert(pa.array(["ada", None, "bob"])) == 2
    assert f.contains(pa.array(["eve", "bob", None])).to_pylist() == [False, True, False]
    assert f.contains(np.array([0, 1, 2], np.int16)).tolist() == [True, False, True]
    out = np.zeros(2, bool)
    assert f.contains(iter([4, 5]), out=out) is out and out.tolist() == [True, False]
    assert f.select(np.array([1, 4, 3, 6])).tolist() == [1, 3]
    done = []
    assert f.insert([b"x", None], progress=done.append) == 1 and done == [2]
    with pytest.raises(TypeError):
        f.insert([1.5])
    with pytest.raises(TypeError):
        1.5 in f


def test_calls_of_queryable_and_changeable(f):
    near = f.near_cache()
    for remote in (f, near):
        assert isinstance(remote, tamis.Changeable)
        assert remote.nbytes > 0 and remote.key_types == "unknown"
        remote.add(7)
        assert 7 in remote and remote.count([7, 8]) == 1
        for call in (remote.contains, remote.select, remote.count, remote.insert):
            with pytest.raises(ValueError, match="threads must be None"):
                call([7], threads=2)
        for call in (remote.add_if_absent, lambda key: remote.insert_if_absent([key])):
            with pytest.raises(tamis.UnsupportedError):
                call(9)
        for call in (remote.discard, remote.remove, lambda key: remote.erase([key])):
            with pytest.raises(TypeError, match="cannot be erased from a filter on Redis"):
                call(7)
        assert 7 in remote and 9 not in remote
    near.close()
    for call in (lambda: 7 in near, lambda: near.contains([7]), lambda: near.insert([7]), lambda: near.nbytes):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_info(f, url):
    assert (f.capacity, f.fpr, f.hash, f.seed) == (10_000, 1e-6, "xxh3", 0)
    f.insert(range(100))
    info = f.info()
    assert info.capacity == 10_000 and info.nbytes == f.nbytes == tamis.SplitBlockBloomFilter(
        10_000, 1e-6).nbytes
    assert info.rebuild == "none" and info.deadline is None
    assert info.measured_segments == info.segments and info.server_bytes > info.nbytes
    assert info.bad_segments == 0 and sum(info.nodes.values()) == info.segments > 0
    key = f"tamis:{{{f.name}}}"
    say(url, "set", key + ":rebuild", "of somebody")
    assert f.info().rebuild == "abandoned"
    say(url, "set", key + ":lease", "of somebody")
    assert f.info().rebuild == "running"
    say(url, "del", key + ":rebuild", key + ":lease")
    with SplitBlockFilter.open(f.name, url=url) as other:
        assert other.name == f.name and other.count(range(100)) == 100


def test_push_and_pull(f):
    local = tamis.SplitBlockBloomFilter(10_000, 1e-6)
    local.insert(range(1000))
    f.insert(range(1000, 2000))
    f.push(local)
    pulled = f.pull()
    assert type(pulled) is tamis.SplitBlockBloomFilter and pulled.count(range(2000)) == 2000
    pulled.add("here only")
    assert "here only" not in f
    with pytest.raises(tamis.IncompatibleError):
        f.push(tamis.SplitBlockBloomFilter(5, 0.1))
    for other in (tamis.BloomFilter(10), None, b"bytes"):
        with pytest.raises(TypeError, match="SplitBlockBloomFilter is expected|NoneType"):
            f.push(other)


def test_near_copies(f, url):
    f.insert(range(100))
    confirmed, stale = f.near_cache(), f.near_cache(staleness=3600)
    f.insert(["new"])
    assert confirmed.count(range(100)) == stale.count(range(100)) == 100
    assert "new" in confirmed and "new" not in stale
    assert stale.refresh() == 1 and "new" in stale and 0 <= stale.age < 600
    stale.add("mine")
    assert "mine" in stale and "mine" in f
    assert stale.insert(np.arange(200, 300)) == 100 and stale.contains([250, "no"]) == [True, False]
    assert stale.select(["no", 299]) == [1]
    assert type(stale.snapshot()) is tamis.SplitBlockBloomFilter
    f.close()  # the cache has its own connections
    assert 250 in confirmed
    stale.close()
    with pytest.raises(ValueError, match="closed"):
        1 in stale
    with pytest.raises(ValueError, match="staleness"):
        SplitBlockFilter.create(next(NAMES), 10, url=url).near_cache(staleness=-1)
    with pytest.raises(TypeError):
        SplitBlockFilter.create(next(NAMES), 10, url=url).near_cache(
            staleness=np.timedelta64(20, "ms"))


def test_threads_that_use_one_object(f):
    errors = []

    def work(number):
        try:
            keys = range(number * 1000, number * 1000 + 1000)
            for _ in range(5):
                f.insert(keys)
                assert f.count(keys) == 1000
                assert keys[5] in f
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and f.count(range(4000)) == 4000


def test_names_and_options(f, url):
    with pytest.raises(ValueError, match="already exists"):
        SplitBlockFilter.create(f.name, 10, url=url)
    with pytest.raises(ValueError):
        SplitBlockFilter.open("does not exist", url=url)
    for options, error in (({"url": "http://x"}, ValueError), ({"urls": url}, TypeError),
                           ({"url": 5}, TypeError), ({"retry_for": -1}, ValueError),
                           ({"command_timeout": 0}, ValueError), ({"unavailable": "no"}, ValueError),
                           ({"secret": b"short"}, ValueError), ({"durable_replicas": -1}, TypeError)):
        with pytest.raises(error):
            SplitBlockFilter.open(f.name, **{"url": url, **options})
    with pytest.raises(OverflowError):
        SplitBlockFilter.create(next(NAMES), -1, url=url)


def test_closed_and_dropped(f, url):
    other = SplitBlockFilter.open(f.name, url=url)
    f.close()
    f.close()
    for call in (lambda: f.add(1), lambda: f.name, f.pull, lambda: f.count([1]), f.near_cache):
        with pytest.raises(ValueError, match="closed"):
            call()
    other.drop()
    with pytest.raises(ValueError):
        SplitBlockFilter.open(other.name, url=url)


def test_a_deadline(url):
    with pytest.raises(ValueError, match="deadline"):
        SplitBlockFilter.create(next(NAMES), 10, deadline=time.time() - 10, url=url)
    for never in (datetime.datetime(5000, 1, 1), 1e11, 1 << 62, 10**400, float("nan"),
                  float("inf"), -1, 9223372036.8549):
        with pytest.raises(ValueError, match="the deadline is not a time"):
            SplitBlockFilter.create(next(NAMES), 10, deadline=never, url=url)
    for no_time in ("x", b"x", [], datetime.date(2030, 1, 1), datetime.timedelta(1),
                    np.timedelta64(7, "s"), np.datetime64("2030-01-01", "ns")):
        with pytest.raises(TypeError):
            SplitBlockFilter.create(next(NAMES), 10, deadline=no_time, url=url)
    for option in ("connect_timeout", "command_timeout", "retry_for"):
        with pytest.raises(TypeError, match=option):
            SplitBlockFilter.create(next(NAMES), 10, url=url, **{option: np.timedelta64(1, "ns")})
    last = SplitBlockFilter.create(next(NAMES), 10, url=url,
                                   deadline=datetime.datetime(2262, 4, 11, tzinfo=datetime.UTC))
    assert last.info().deadline == datetime.datetime(2262, 4, 11, tzinfo=datetime.UTC)
    # For these times, the double in seconds, times 1000, is below the integer.
    for ms in (2_147_485_405_930, 2_147_490_749_489, 2_147_492_682_187):
        assert int(ms / 1000 * 1000) < ms
        with SplitBlockFilter.create(next(NAMES), 10, deadline=ms / 1000, url=url) as exact:
            since = exact.info().deadline - datetime.datetime.fromtimestamp(0, datetime.UTC)
            assert since == datetime.timedelta(milliseconds=ms)
    deadline = time.time() + 3
    over = SplitBlockFilter.create(next(NAMES), 10, deadline=deadline, url=url)
    while time.time() <= deadline:
        time.sleep(0.05)
    with pytest.raises(ConnectionError, match="deadline"):
        over.add(1)
    tomorrow = datetime.datetime.now() + datetime.timedelta(days=1)
    f = SplitBlockFilter.create(next(NAMES), 10, deadline=tomorrow, url=url)
    f.add(1)
    assert 1 in f
    told = f.info().deadline
    assert told.tzinfo and abs(told - tomorrow.astimezone()) < datetime.timedelta(milliseconds=2)


def test_a_keyed_hash(url):
    name, secret = next(NAMES), bytes(range(16))
    f = SplitBlockFilter.create(name, 1000, hash="siphash13", secret=secret, url=url)
    f.add("ada")
    assert "ada" in f.near_cache() and "ada" in f.pull()
    local = tamis.SplitBlockBloomFilter(1000, hash="siphash13", secret=secret)
    local.add("bob")
    f.push(local)
    assert f.count(["ada", "bob"]) == 2
    assert "ada" in SplitBlockFilter.open(name, secret=secret, url=url)
    with pytest.raises(tamis.SecretError):
        SplitBlockFilter.open(name, url=url)


def test_keys_without_an_answer(f, url):
    f.insert(range(1000))
    segments = [key for key in say(url, "KEYS", f"*{f.name}*") if key]
    lost = [key for key in segments if int(say(url, "STRLEN", key)[0]) >= 1024]
    assert lost, segments
    for key in lost:
        say(url, "DEL", key)
    for call in (f.insert, f.contains, f.select, f.count):
        with pytest.raises(tamis.CorruptError) as caught:
            call([5, None, 7])
        assert caught.value.keys == [0, 2]
    with pytest.raises(tamis.CorruptError):
        5 in f
    maybe = SplitBlockFilter.open(f.name, unavailable="maybe", url=url)
    assert maybe.contains([5, None, "x"]) == [True, False, True]
    assert f.info().bad_segments == len(lost) and f.info().problem


def test_servers_that_are_not_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # without listening
        nobody = f"redis://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConnectionError, match="refused") as caught:
            SplitBlockFilter.open("any", url=nobody, retry_for=0.01)
        assert isinstance(caught.value, tamis.UnavailableError)
        assert not isinstance(caught.value, TimeoutError) and caught.value.keys is None


def test_servers_that_do_not_answer():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TimeoutError, match="no answer in time") as caught:
            SplitBlockFilter.open("any", url=url, command_timeout=0.05, retry_for=0.01)
        assert isinstance(caught.value, ConnectionError)
        assert type(caught.value) is tamis.TimedOutError


def test_a_child_of_fork(f):
    f.insert(range(10))
    child = os.fork()
    if child == 0:
        os._exit(0 if f.count(range(20)) == 10 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert f.count(range(20)) == 10


def test_readme(url):
    text = (PACKAGE / "README.md").read_text()
    block = re.search(r"## Redis\n.*?```python\n(.*?)```", text, re.DOTALL)[1]
    assert "redis://127.0.0.1:6379" in block
    exec(block.replace("redis://127.0.0.1:6379", url), {})


def test_import_tamis_loads_no_hiredis():
    code = "import tamis; print('hiredis' in open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
