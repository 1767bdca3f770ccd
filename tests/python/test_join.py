"""tamis.join, compared with Python's set."""
import copy
import json
import pickle
import random
import threading

import numpy
import pyarrow
import pytest

import tamis
import tamis.join
from tamis.join import ColumnHashes, JoinFilter, JoinPart, JoinProbe

polars = pytest.importorskip("polars")


def joined(*parts, **options):
    """Returns a complete filter of these lists of keys."""
    f = JoinFilter(max(1, sum(map(len, parts))), **options)
    for i, keys in enumerate(parts):
        part = f.make_part(i)
        part.update(keys)
        f.add(part)
    f.complete(len(parts))
    return f


@pytest.mark.parametrize("seed", range(60))
def test_model(seed):
    """Random parts in a random order, some of which travel as bytes: no wrong "no"."""
    r = random.Random(seed)
    bound = r.choice([10_000, 2**63])
    known = bound == 10_000 and r.random() < 0.4
    options = {"kept_keys": r.randrange(1, 400), "max_bytes": 4096 * r.randrange(1, 9),
               "range": (-bound, bound) if known else None}
    f = JoinFilter(r.randrange(1, 2000), **options)
    count, model = r.randrange(1, 5), set()
    for index in r.sample(range(count), count):
        part = f.make_part(index)
        keys = [r.randrange(-bound, bound) for _ in range(r.randrange(400))]
        if r.random() < 0.1:
            keys.append(-bound if bound > 10**6 else bound + 5)  # breaks the promise of a range
        model.update(keys)
        assert part.insert(keys + [None]) == len(keys) == part.inserted_count
        if r.random() < 0.5:
            part = r.choice([lambda p: JoinPart.from_bytes(p.to_bytes()), copy.copy,
                             lambda p: pickle.loads(pickle.dumps(p))])(part)
        assert part.index == index and part.inserted_count == len(keys)
        assert f.count(keys) == len(keys) and f.form == "nothing" and not f.is_complete
        f.add(part)
    f.complete(count)
    queries = list(model) + [r.randrange(-bound, bound) for _ in range(1000)]
    answers = f.contains(queries)
    assert all(answers[:len(model)])
    exact = f.form in ("list", "bitmap")
    if exact:
        assert answers == [key in model for key in queries]
    assert f.select(queries) == [i for i, answer in enumerate(answers) if answer]
    selection = [r.randrange(len(queries)) for _ in range(500)]
    assert f.select_from(queries, selection) == [i for i in selection if answers[i]]
    if exact and model and not known:
        assert f.range == (min(model), max(model))


def test_every_form_is_reached():
    assert joined([5, 7, 5]).form == "list"
    assert joined(range(0, 4000, 4)).form == "bitmap"
    assert joined(range(0, 4000, 4), range=(0, 4000)).form == "bitmap"
    assert joined(numpy.random.default_rng(1).integers(0, 2**62, 5000)).form == "blocks"
    nothing = joined([1, 200], range=(0, 100))
    assert nothing.form == "nothing" and nothing.contains([3, None]) == [True, False]
    assert nothing.choice.reason == "a part had a key outside of the known range"


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"])
def test_integers_of_numpy(dtype):
    keys = numpy.array([3, 100, 120], dtype)
    f = joined(keys)
    rows = numpy.array([100, 101, 3], dtype)
    assert f.contains(rows).tolist() == [True, False, True]
    assert f.contains([100, 101, 3]) == [True, False, True]
    assert f.select_from(rows, numpy.array([2, 1], "i4")).tolist() == [2]


def test_arrow_and_polars():
    for typ in (pyarrow.int32(), pyarrow.int64(), pyarrow.uint16()):
        f = joined(pyarrow.array([10, None, 30], typ))
        answers = f.contains(pyarrow.array([10, 0, None, 30], typ))
        assert answers.equals(pyarrow.array([True, False, False, True]))
        chunks = pyarrow.chunked_array([[10, 1], [None, 30]], typ)
        assert f.select(chunks).to_pylist() == [0, 3]
        assert f.select_from(chunks, pyarrow.array([3, 2, 1])).to_pylist() == [3]
    for typ in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        f = joined(pyarrow.array(["ada", None, "a name of more than twelve bytes"], typ),
                   key_type="hashes")
        answers = f.contains(pyarrow.array(["eve", "ada", None,
                                            "a name of more than twelve bytes"], typ))
        assert answers.to_pylist() == [False, True, False, True]
        assert f.contains(["ada", b"eve"]) == [True, False]
    for typ in (pyarrow.date32(), pyarrow.timestamp("us")):
        times = pyarrow.array([1, 20_000, None], typ)
        f = joined(times)
        assert f.contains(times).to_pylist() == [True, True, False]
        with pytest.raises(TypeError, match="the keys of the filter are times"):
            f.contains([1])
        with pytest.raises(TypeError, match="the keys of the filter are times"):
            JoinProbe(f).select([1])
    series = polars.Series([1, None, 3])
    assert joined(series).contains(series).to_list() == [True, False, True]


def test_selections_of_keys_in_several_batches():
    """Lists and chunks are read in batches; indices are those of the call."""
    f = joined(range(0, 400_000, 3), kept_keys=200_000)  # a bitmap, which is exact
    keys = pyarrow.chunked_array([list(range(100_000)), list(range(100_000, 300_000))])
    r = numpy.random.default_rng(2)
    for selection in (numpy.sort(r.integers(0, 300_000, 1000)), r.integers(0, 300_000, 1000), []):
        expected = [int(i) for i in selection if i % 3 == 0]
        assert f.select_from(keys, selection).to_pylist() == expected
        assert f.select_from(keys.to_pylist(), selection) == expected
        assert f.select_from(iter(keys.to_pylist()), list(selection)) == expected


def test_selections_are_checked():
    f = joined([1, 2, 3])
    for keys in ([1, 2, 3], iter([1, 2, 3]), numpy.arange(3)):
        with pytest.raises(IndexError, match="the index 3, and there are 3 keys"):
            f.select_from(keys, [0, 3])
    for selection, error in (([-1], IndexError), ([None], ValueError), (["a"], TypeError),
                             ([1.5], TypeError), (7, TypeError)):
        with pytest.raises(error):
            f.select_from([1, 2, 3], selection)
    assert f.select_from([], []) == []


def test_selections_of_other_filters():
    f = tamis.SplitBlockBloomFilter(1000)
    f.update(range(0, 2000, 2))
    keys, r = list(range(2000)), random.Random(1)
    answers = f.contains(keys)
    selection = [r.randrange(2000) for _ in range(3000)]
    assert f.select_from(keys, selection) == [i for i in selection if answers[i]]


def test_columns():
    r = random.Random(3)
    a = [r.randrange(50) for _ in range(3000)]
    b = [r.choice(["x", "y", "z", None]) for _ in range(3000)]
    f = JoinFilter(200, key_type="hashes")
    rows = f.hash_columns([a[:100], b[:100]])
    assert len(rows) == 100
    part = f.make_part(0)
    assert part.insert(rows) == sum(text is not None for text in b[:100])
    f.add(JoinPart.from_bytes(part.to_bytes()))
    f.complete(1)
    model = {row for row in zip(a[:100], b[:100]) if row[1] is not None}
    answers = f.contains(f.hash_columns([numpy.array(a), pyarrow.array(b)]))
    expected = [row in model for row in zip(a, b)]
    assert [x for x, y in zip(answers, expected) if y] == [True] * sum(expected)
    assert sum(answers) - sum(expected) < 300
    assert not any(f.contains(f.hash_columns([b, a]))[i] for i in range(3000) if b[i] is None)
    # Many rows, in columns that are read in batches of different sizes.
    many = f.hash_columns([list(range(300_000)), numpy.arange(300_000)])
    part = JoinFilter(300_000, key_type="hashes").make_part(0)
    assert part.insert(many) == 300_000
    for bad, error in (([], tamis.InvalidArgumentError), ([[1], [1, 2]], tamis.InvalidArgumentError),
                       ([[1.5]], TypeError), (5, TypeError)):
        with pytest.raises(error):
            f.hash_columns(bad)
    with pytest.raises(ValueError, match="key_type='hashes'"):
        JoinFilter(5).hash_columns([[1]])
    other = JoinFilter(5, key_type="hashes", seed=1)
    with pytest.raises(tamis.InvalidArgumentError, match="another hash or seed"):
        other.contains(many)
    with pytest.raises(tamis.InvalidArgumentError, match="another hash or seed"):
        other.make_part(0).insert(many)
    with pytest.raises(tamis.InvalidArgumentError, match="another hash or seed"):
        tamis.SplitBlockBloomFilter(10, seed=1).insert(many)


def test_order_of_calls():
    f = JoinFilter(10)
    part = f.make_part(0)
    part.update([1, 2])
    data = part.to_bytes()
    with pytest.raises(tamis.InvalidArgumentError, match="missing: 0"):
        f.complete(1)
    f.add(part)
    for call in (lambda: part.insert([3]), part.to_bytes, lambda: part.index,
                 lambda: pickle.dumps(part)):
        with pytest.raises(tamis.ReadOnlyError, match="added or moved"):
            call()
    with pytest.raises(tamis.InvalidArgumentError, match="moved"):
        f.add(part)
    with pytest.raises(tamis.InvalidArgumentError, match="added before"):
        f.add(JoinPart.from_bytes(data))
    with pytest.raises(tamis.InvalidArgumentError, match="1 parts were added"):
        f.complete(0)
    assert f.contains([5, None]) == [True, False] and f.parts_added == 1
    late = f.make_part(1)
    f.complete(1)
    for call in (lambda: f.complete(1), lambda: f.add(late)):
        with pytest.raises(tamis.ReadOnlyError, match="complete"):
            call()
    assert f.contains([1, 5]) == [True, False]


def test_parts_of_another_layout_and_damaged_bytes():
    f, other = JoinFilter(1000), JoinFilter(1000, max_bytes=8192)
    part = other.make_part(0)
    part.update([1])
    with pytest.raises(tamis.IncompatibleError, match="8192.*67108864"):
        f.add(part)
    data = part.to_bytes()
    for i in range(len(data)):
        damaged = bytearray(data)
        damaged[i] ^= 4
        with pytest.raises((tamis.CorruptError, tamis.UnsupportedError)):
            JoinPart.from_bytes(damaged)
        with pytest.raises(tamis.CorruptError):
            JoinPart.from_bytes(data[:i])
    with pytest.raises(TypeError):
        JoinPart()
    other.add(JoinPart.from_bytes(memoryview(data)))


def test_arguments():
    for options, error in (({"expected_keys": 0}, tamis.InvalidArgumentError),
                           ({"key_type": "text"}, ValueError), ({"range": (1,)}, ValueError),
                           ({"range": 5}, TypeError), ({"range": (-2**64, 0)}, ValueError),
                           ({"range": (0, 2**64)}, OverflowError), ({"fpr": 0.9}, ValueError),
                           ({"max_bytes": 1}, ValueError), ({"max_bytes": -1}, OverflowError),
                           ({"hash": "siphash13"}, ValueError), ({"hash": "md5"}, ValueError),
                           ({"backend": "abacus"}, tamis.UnknownBackendError)):
        with pytest.raises(error):
            JoinFilter(**{"expected_keys": 10, **options})
    f = joined([1])
    with pytest.raises(tamis.InvalidArgumentError, match="integers"):
        f.contains(["a"])
    part = f.make_part(1)
    with pytest.raises(tamis.InvalidArgumentError, match="integers"):
        part.update(["a"])
    assert (part.contents, part.inserted_count, part.nbytes) == ("list", 0, 0)
    with pytest.raises(TypeError):
        f.add(None)
    with pytest.raises(TypeError):
        pickle.dumps(f)


def test_choice_is_data():
    f = JoinFilter(1000)
    assert f.choice.form == "blocks"  # determines the contents of the parts
    f = joined(range(0, 3000, 3))
    choice = f.choice
    assert choice.form == f.form == "bitmap" and str(choice) == choice.reason
    best, *others = choice.candidates
    assert (best.form, best.nbytes, best.place, best.error) == ("bitmap", f.nbytes, "L2", "")
    assert best.ns_per_row > 0 and [c.form for c in others] == ["blocks", "list"]
    assert others[1].error == "not known to be at most 64 keys"
    assert f.range == (0, 2997) and f.estimated_count() == 1000 and f.expected_fpr() == 0
    assert joined([2**64 - 1, 5]).range == (-1, 5)
    assert joined([2**63, 5]).range == (5, 2**63)
    assert JoinFilter(5).range is None


def test_calibration(tmp_path):
    path = tmp_path / "calibration.json"

    def costs(blocks_ns):
        point = {"backend": "portable", "kind": "split-block", "filter_bytes": 1 << 20,
                 "contains_ns": blocks_ns, "insert_ns": 1, "partitioned_insert_ns": 1}
        path.write_text(json.dumps({
            "tamis_calibration": 3, "machine": "m", "device": "", "thread_start_us": 20,
            "thread_efficiency": 0.9, "device_start_us": 30, "upload_gb_per_s": 25,
            "points": [point]}))
        f = JoinFilter(1000, backend="portable", calibration=path)
        return f.choice.candidates[0].ns_per_row

    assert costs(30) > 5 * costs(3)
    assert JoinFilter(1000, calibration=str(path)).choice.form == "blocks"
    with pytest.raises(OSError):
        JoinFilter(1000, calibration=tmp_path / "none")
    path.write_text("{}")
    with pytest.raises(tamis.CorruptError):
        JoinFilter(1000, calibration=path)
    with pytest.raises(TypeError):
        JoinFilter(1000, calibration=5)


def test_probe():
    f = JoinFilter(10_000)
    probe = JoinProbe(f, sample_rows=1000, pause_rows=5000, max_pauses=1)
    assert not probe.wanted(10)  # not complete
    part = f.make_part(0)
    part.update(range(10_000))
    f.add(part)
    f.complete(1)
    del f, part  # the probe keeps the filter
    keys = numpy.arange(1000)
    assert probe.wanted(1000) and probe.verdict == "keep"
    assert probe.contains(keys).all()
    assert probe.select(keys).tolist() == keys.tolist()
    # All rows match, so the filter does not pay.
    assert probe.verdict == "try again later" and not probe.wanted(5000)
    assert probe.wanted(1)
    assert probe.select_from(keys, keys[::-1]).tolist() == keys[::-1].tolist()
    probe.record(1000, 1000, 1e9)
    assert probe.verdict == "switch off" and not probe.wanted(1)
    counters = probe.counters
    assert counters["rows"] == 4000 and counters["skipped"] == 5011 and counters["ns"] > 1e9
    assert str(probe).startswith("switch off: rows 4000, passed 4000, ")
    with pytest.raises(tamis.InvalidArgumentError, match="margin"):
        JoinProbe(joined([1]), margin=0.5)
    with pytest.raises(TypeError):
        JoinProbe(tamis.BloomFilter(10))


def test_threads_build_and_query():
    shares = [numpy.random.default_rng(i).integers(0, 2**60, 50_000) for i in range(4)]
    f, done, wrong = JoinFilter(200_000), threading.Event(), []

    def build(index):
        part = f.make_part(index)
        part.update(shares[index])
        f.add(part)

    def query():
        while not done.is_set():
            wrong.extend(share for share in shares if f.count(share) != len(share))

    reader = threading.Thread(target=query)
    builders = [threading.Thread(target=build, args=(i,)) for i in range(4)]
    for thread in (reader, *builders):
        thread.start()
    for thread in builders:
        thread.join()
    f.complete(4)
    done.set()
    reader.join()
    assert not wrong and all(f.count(share) == len(share) for share in shares)
    assert f.count(numpy.arange(2**61, 2**61 + 10_000)) < 500


def test_threads_share_a_part():
    f = JoinFilter(400_000)
    part = f.make_part(0)
    threads = [threading.Thread(target=part.update, args=(range(i, 400_000, 4),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert part.inserted_count == 400_000
    f.add(part)
    f.complete(1)
    assert f.count(range(400_000)) == 400_000


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_times_with_nulls_are_integers(unit):
    """A null may have any value, such as NumPy's NaT, which no count of nanoseconds can be."""
    times = numpy.array([1, "NaT", 4], f"M8[{unit}]")
    lowest = pyarrow.array([1, -2**63, 4], mask=numpy.array([False, True, False]))
    columns = [times]
    if unit != "D":
        columns.append(lowest.cast(pyarrow.timestamp(unit)))
    for column in columns:
        f = joined(column, kept_keys=1)
        assert [bool(x) for x in f.contains(column).tolist()] == [True, False, True]
    # A column of only nulls often has no type.
    for nulls in [pyarrow.nulls(2), [None, None], pyarrow.nulls(2, pyarrow.string())]:
        assert list(f.select(nulls)) == []


def test_times_that_need_more_bits_need_hashes():
    days = numpy.array(["9999-12-31", "2000-01-01"], "M8[D]")
    with pytest.raises(tamis.InvalidArgumentError, match="times before 1677 or after 2262 need a "):
        joined(days)
    f = joined(days[1:])
    assert f.contains(days).tolist() == [False, True] and f.select(days).tolist() == [1]
    assert f.select_from(days, [1, 0]).tolist() == [1]
    assert joined(days, key_type="hashes").contains(days).all()


@pytest.mark.parametrize("hash, seed", [("xxh3", 0), ("xxh64", 7)])
def test_hashes_are_keys_of_filters(hash, seed):
    keys = ["ada", "bob", "eve", "ada"]
    hashes = JoinFilter(1, key_type="hashes", hash=hash, seed=seed).hash_columns([keys])
    again = ColumnHashes.from_bytes(hashes.to_bytes(), hash=hash, seed=seed)
    assert len(again) == 4 and again.to_bytes() == hashes.to_bytes()
    for make in (tamis.SplitBlockBloomFilter, tamis.CuckooFilter16, tamis.BloomFilter):
        f, g = make(100, hash=hash, seed=seed), make(100, hash=hash, seed=seed)
        assert f.insert_if_absent(again) == g.insert_if_absent(keys) == [True, True, True, False]
        assert bytes(memoryview(f)) == bytes(memoryview(g))
        assert f.contains(hashes) == [True] * 4 and "bob" in f
        with pytest.raises(tamis.InvalidArgumentError, match="another hash or seed"):
            make(100, seed=1).insert(again)
    with pytest.raises(ValueError, match="not a multiple of 8"):
        ColumnHashes.from_bytes(b"123456789")
