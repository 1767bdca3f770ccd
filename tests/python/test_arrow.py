"""Columns: Arrow arrays and streams of pyarrow, Polars, pandas and DuckDB."""
import datetime
import decimal
import gc
import os
import struct
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds import make

import tamis
import tamis.live

WORDS = ["", "a", "b" * 12, "c" * 13, None, "\u00e9", "longer than a view can hold", None, "z"]
STRING_TYPES = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(),
                pa.binary_view(), pa.dictionary(pa.int8(), pa.string()),
                pa.dictionary(pa.uint32(), pa.large_string())]
NUMBERS = [0, 1, None, 100, None, 7, 127]
NUMBER_TYPES = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
                pa.uint64(), pa.dictionary(pa.int16(), pa.int64())]


def words_filter():
    f = make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6)
    f.update(w for w in WORDS if w)
    return f


def column(values, kind):
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, kind)


@pytest.mark.parametrize("kind", STRING_TYPES, ids=str)
def test_strings(kind):
    f = words_filter()
    want = [bool(w) for w in WORDS]
    data = column(WORDS, kind)
    answers = f.contains(data)
    assert isinstance(answers, pa.BooleanArray) and answers.to_pylist() == want
    for begin in range(len(WORDS)):
        for end in range(begin, len(WORDS) + 1):
            assert f.contains(data[begin:end]).to_pylist() == want[begin:end]
    assert f.select(data).to_pylist() == [i for i, w in enumerate(want) if w]
    g = make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6)
    assert g.insert(data) == 7
    assert g.inserted_count == 7 and "" in g
    chunked = pa.chunked_array([data[:3], data[3:3], data[3:]])
    assert f.contains(chunked).to_pylist() == want
    assert f.count(pa.table({"key": chunked})) == sum(want)
    assert f.count(pa.record_batch({"key": data})[2:7]) == sum(want[2:7])


@pytest.mark.parametrize("kind", NUMBER_TYPES, ids=str)
def test_numbers(kind):
    f = make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6)
    data = column(NUMBERS, kind)
    assert f.insert(data) == 5
    assert f.to_bytes() == (lambda g: (g.update(NUMBERS), g.to_bytes())[1])(
        make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6))
    for begin in range(len(NUMBERS)):
        assert f.contains(data[begin:]).to_pylist() == [n is not None for n in NUMBERS[begin:]]


def test_times_are_counts_of_nanoseconds():
    day = datetime.date(2024, 5, 17)
    now = datetime.datetime(2024, 5, 17, 12, 30, 1)
    for data in (pa.array([day, None]), pa.array([day], pa.date64()), pa.array([now]),
                 pa.array([now], pa.timestamp("ms", "UTC")), pa.array([now.time()]),
                 pa.array([now.time()], pa.time32("s")), pa.array([datetime.timedelta(seconds=5)])):
        f = make(tamis.SplitBlockBloomFilter)
        assert f.insert(data) == len(data) - data.null_count
        width = 32 if data.type.bit_width == 32 else 64
        count = data.view(pa.int32() if width == 32 else pa.int64())[0].as_py()
        unit = {"date32[day]": 86400 * 10**9, "date64[ms]": 10**6}.get(
            str(data.type)) or {"s": 10**9, "ms": 10**6, "us": 10**3}[data.type.unit]
        assert count * unit in f


# The same times as columns of different packages.
def same_times():
    texts = ["1969-07-20 20:17:40", "2024-05-17 12:30:01", None, "2262-04-11 00:00:00"]
    ns = np.array([t or "NaT" for t in texts], "M8[ns]")
    arrow = pa.array(ns.astype("M8[us]").tolist(), pa.timestamp("us"))
    return [ns, ns.astype("M8[s]"), ns.astype(">M8[ms]"), ns.astype("M8[us]"), ns[:0].astype("M8[ps]"),
            ns[::-1][::-1], np.ma.masked_array(ns, [0, 0, 1, 0]),
            arrow, arrow.cast(pa.timestamp("s")), arrow.cast(pa.timestamp("ns", "Europe/Zurich")),
            arrow.dictionary_encode(), pa.chunked_array([arrow, arrow[:0]]), pa.table({"t": arrow}),
            pl.Series(ns), pl.Series(ns).cast(pl.Datetime("ms")),
            pd.Series(ns), pd.Series(ns.astype("M8[s]")), pd.Series(ns).dt.tz_localize("UTC"),
            pd.Series(ns.astype("M8[us]")).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
            pd.Series(ns, dtype=pd.ArrowDtype(pa.timestamp("ns"))), pd.DatetimeIndex(ns)]


def test_times_are_the_same_keys_in_every_unit_and_package():
    columns = same_times()
    for inserted in columns:
        for kind in (tamis.SplitBlockBloomFilter, tamis.live.ConcurrentSplitBlockBloomFilter):
            f = make(kind, 100, fpr=1e-6)
            n = len(inserted)
            assert f.insert(inserted) == (3 if n else 0)
            assert f.insert(np.array(["2000-01-01"], "M8[D]")) == 1
            for asked in columns:
                want = [n > 0 and i != 2 for i in range(len(asked))]
                assert np.asarray(f.contains(asked)).tolist() == want, (inserted, asked)
                assert f.count(asked) == sum(want) == len(f.select(asked))


def test_times_before_1677_and_after_2262():
    f = make(tamis.SplitBlockBloomFilter, 100, fpr=1e-6)
    days = np.array(["-4712-01-01", "0001-01-01", "1970-01-01", "9999-12-31", "NaT"], "M8[D]")
    assert f.insert(days) == 4
    for unit in ("s", "ms", "us", "h", "m"):
        times = days.astype(f"M8[{unit}]")
        assert f.count(times) == 4
        assert f.count(times + np.timedelta64(1, unit)) == 0
    assert f.count(np.array([0, 1], "M8[25s]")) == 1
    assert f.count(pa.array([datetime.date(9999, 12, 31), datetime.date(9999, 12, 30)])) == 1
    assert f.count(np.array(["1970-01"], "M8[M]")) == f.count(np.array(["1970"], "M8[Y]")) == 1
    with pytest.raises(ValueError, match="counted in ns"):
        f.count(np.array([1], "M8[ps]"))
    for unit in ("m8[M]", "m8"):
        with pytest.raises(TypeError, match="no fixed length"):
            f.count(np.array([1], unit))


def test_times_are_not_integers():
    ns = np.array(["2024-05-17"], "M8[ns]")
    for kind in (tamis.SplitBlockBloomFilter, tamis.live.ConcurrentSplitBlockBloomFilter):
        f = make(kind, 100)
        assert f.count(ns) == 0  # the filter is empty
        f.insert(ns.astype("M8[us]").view("i8"))
        for ask in (f.contains, f.select, f.count):
            with pytest.raises(TypeError, match="the keys are times, and the keys of the filter "
                                                "are integers"):
                ask(ns)
        assert f.count(ns.astype("M8[us]").view("i8")) == 1
        f.insert(ns)
        assert f.count(ns) == 1
        of_times = make(kind, 100)
        of_times.insert(ns)
        for others in (ns.view("i8"), ["2024-05-17"]):
            for ask in (of_times.contains, of_times.select, of_times.count):
                with pytest.raises(TypeError, match="and the keys of the filter are times"):
                    ask(others)
    bank = tamis.FilterBank()
    bank.add("a", [1, 2, 3])
    with pytest.raises(TypeError, match="the keys are times"):
        bank.contains(ns)
    bank.add("b", ns.astype("M8[s]"))
    assert bank.members_with(int(ns.view("i8")[0])) == ["b"]


def test_fixed_size_binary():
    f = make(tamis.BloomFilter)
    data = pa.array([b"0123456789abcdef", None, b"fedcba9876543210"], pa.binary(16))
    assert f.insert(data) == 2
    assert b"fedcba9876543210" in f
    assert f.contains(data[1:]).to_pylist() == [False, True]
    assert f.count(pa.array([b""], pa.binary(0))) == 0


@pytest.mark.parametrize("data", [
    pa.array([1.5]), pa.array([True]), pa.array([decimal.Decimal(1)]), pa.array([[1]]),
    pa.array([{"a": 1, "b": 2}]), pa.table({"a": [1], "b": [2]}), pa.array([1], pa.float16()),
    pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
], ids=lambda d: str(getattr(d, "type", "table")))
def test_types_without_keys(data):
    f = make(tamis.SplitBlockBloomFilter)
    with pytest.raises(TypeError):
        f.insert(data)


@pytest.mark.parametrize("error, raised", [(KeyboardInterrupt, KeyboardInterrupt),
                                           (ZeroDivisionError, ValueError)])
@pytest.mark.parametrize("message", [(), ("mine",)])
def test_a_stream_whose_generator_raises(error, raised, message):
    def batches():
        yield pa.record_batch({"x": [1]})
        raise error(*message)

    f = make(tamis.SplitBlockBloomFilter)
    schema = pa.schema([("x", pa.int64())])
    with pytest.raises(raised, match=error.__name__):
        f.insert(pa.RecordBatchReader.from_batches(schema, batches()))
    assert 1 in f


def test_nulls_alone_and_nothing():
    f = make(tamis.SplitBlockBloomFilter)
    assert f.insert(pa.nulls(10)) == 0
    assert f.contains(pa.nulls(3)).to_pylist() == [False] * 3
    for kind in STRING_TYPES + NUMBER_TYPES:
        assert f.insert(column([], kind)) == 0
        assert f.contains(column([None, None], kind)).to_pylist() == [False, False]
    assert f.contains(pa.chunked_array([], pa.string())).to_pylist() == []


def test_struct_with_nulls():
    f = make(tamis.SplitBlockBloomFilter)
    with pytest.raises(ValueError, match="struct array with nulls"):
        f.insert(pa.array([{"a": 1}, None]))
    assert f.insert(pa.array([{"a": 1}, {"a": 2}, {"a": None}])[1:]) == 1
    assert 2 in f and 1 not in f


def test_polars():
    f = words_filter()
    series = pl.Series(WORDS)
    answers = f.contains(series)
    assert isinstance(answers, pl.Series) and answers.to_list() == [bool(w) for w in WORDS]
    assert f.contains(series.cast(pl.Categorical)).to_list() == answers.to_list()
    assert f.contains(series[3:7]).to_list() == answers.to_list()[3:7]
    assert series.gather(f.select(series)).to_list() == [w for w in WORDS if w]
    assert f.count(pl.DataFrame({"key": series})) == 6
    days = pl.Series([datetime.date(2020, 1, 1), None])
    assert f.insert(days) == 1


def test_pandas():
    f = words_filter()
    want = [bool(w) for w in WORDS]
    index = range(100, 100 + len(WORDS))
    for series in (pd.Series(WORDS, index), pd.Series(WORDS, index, dtype="str"),
                   pd.Series(WORDS, index, dtype=object),
                   pd.Series(WORDS, index, dtype=pd.ArrowDtype(pa.large_string())),
                   pd.Series(WORDS, index, dtype="category")):
        answers = f.contains(series)
        assert isinstance(answers, pd.Series) and answers.tolist() == want
        assert list(series[answers]) == [w for w in WORDS if w]
        assert f.contains(series[2:5]).tolist() == want[2:5]
    numbers = make(tamis.SplitBlockBloomFilter, 1000, fpr=1e-6)
    numbers.insert(pd.Series([1, 2, 3]))
    assert numbers.contains(pd.Series([1, None, 9], dtype="Int64")).tolist() == [True, False, False]
    assert numbers.count(pd.Index([1, 2, 9])) == 2
    assert numbers.insert(pd.Series(pd.to_datetime(["2020-01-01", None]))) == 1
    assert numbers.insert(pd.Series(pd.to_datetime(["2020-01-01", None], utc=True))) == 1
    with pytest.raises(TypeError):
        numbers.insert(pd.Series([1.5]))


def test_a_data_frame_is_its_one_column_and_never_its_labels():
    f = words_filter()
    frame = pd.DataFrame({"word": WORDS})
    assert f.contains(frame).tolist() == [bool(w) for w in WORDS]
    assert f.count(frame) == 6
    for several in (pd.DataFrame({"a": WORDS, "b": WORDS}), pd.DataFrame()):
        with pytest.raises(TypeError, match="one column"):
            f.count(several)

    class Frame:  # of an unknown package
        columns, dtypes = ["word"], {"word": str}

        def __iter__(self):
            return iter(self.columns)

    with pytest.raises(TypeError, match="one column"):
        f.count(Frame())


def test_a_file_is_not_iterated_over(tmp_path):
    f = words_filter()
    (tmp_path / "keys").write_text("apple\n")
    with open(tmp_path / "keys") as lines, pytest.raises(TypeError, match="file"):
        f.count(lines)


def test_duckdb():
    f = make(tamis.SplitBlockBloomFilter, 10_000, fpr=1e-6)
    assert f.insert(duckdb.sql("select i from range(10000) t(i)")) == 10_000
    assert f.count(duckdb.sql("select i + 5000 from range(10000) t(i)")) < 5010
    assert f.insert(duckdb.sql("select 'x' || i from range(5) t(i)")) == 5
    assert "x4" in f


class FailingReader:
    """A stream whose second chunk raises."""

    def __init__(self, error):
        self.error = error

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            yield pa.record_batch({"key": ["one", "two"]})
            raise self.error

        schema = pa.schema({"key": pa.string()})
        return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()


@pytest.mark.parametrize("error", [ValueError("bad"), RuntimeError("worse"), MemoryError()])
def test_streams_that_fail(error):
    f = make(tamis.SplitBlockBloomFilter)
    with pytest.raises((OSError, ValueError, MemoryError)):
        f.insert(FailingReader(error))
    assert f.inserted_count == 2 and "two" in f


def test_streams_that_use_the_filter():
    f = make(tamis.SplitBlockBloomFilter)

    class Reader:
        def __arrow_c_stream__(self, requested_schema=None):
            def batches():
                for word in ("a", "b", "c"):
                    f.add(word + word)
                    yield pa.record_batch({"key": [word]})

            schema = pa.schema({"key": pa.string()})
            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    assert f.insert(Reader(), threads=2) == 3
    assert f.inserted_count == 6


class Lies:
    """Returns capsules whose schema and array do not match its claims."""

    def __init__(self, schema_of, array_of):
        self.schema, self.array = schema_of, array_of

    def __arrow_c_array__(self, requested_schema=None):
        return self.schema.__arrow_c_array__()[0], self.array.__arrow_c_array__()[1]


def test_damaged_arrays_are_refused():
    f = make(tamis.SplitBlockBloomFilter)
    offsets = struct.pack("<4i", 0, 9, 3, 5)
    decreasing = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets),
                                                        pa.py_buffer(b"x" * 9)])
    outside = pa.DictionaryArray.from_arrays(pa.array([0, 5], pa.int8()), ["a"], safe=False)
    below = pa.DictionaryArray.from_arrays(pa.array([-1], pa.int8()), ["a"], safe=False)
    view = (20).to_bytes(4, "little") + b"abcd" + (3).to_bytes(4, "little") + bytes(4)
    views = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view)])
    for bad in (decreasing, outside, below, views,
                Lies(pa.array(["a"]), pa.array([1])),
                Lies(pa.array(["a"]).dictionary_encode(), pa.array([1], pa.int32()))):
        with pytest.raises(ValueError, match="damaged"):
            f.insert(bad)
    assert f.inserted_count == 0


def test_capsules_are_taken_once():
    class Once:
        def __init__(self):
            self.pair = pa.array([1]).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.pair

    f = make(tamis.SplitBlockBloomFilter)
    x = Once()
    assert f.insert(x) == 1
    with pytest.raises(ValueError, match="released before"):
        f.insert(x)

    class Wrong:
        def __arrow_c_array__(self, requested_schema=None):
            return 5

    with pytest.raises(TypeError):
        f.insert(Wrong())


def test_answers_outlive_the_call():
    f = words_filter()
    answers = pa.array(f.contains(Lies(pa.array(WORDS), pa.array(WORDS))))
    indices = pa.array(f.select(Lies(pa.array(WORDS), pa.array(WORDS))))
    gc.collect()
    assert answers.to_pylist() == [bool(w) for w in WORDS]
    assert indices.to_pylist() == [i for i, w in enumerate(WORDS) if w]


PEAKS = """
import numpy as np, pandas as pd, polars as pl, pyarrow as pa, tamis

def peak_of(call, columns):
    # The most memory of this process during a call, over what it had before.
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    status = lambda: dict(line.split(":") for line in open("/proc/self/status"))
    kib = lambda name: int(status()[name].split()[0])
    before = kib("VmRSS")
    call(columns)
    return (kib("VmHWM") - before) * 1024

words = pa.array(np.char.add("a key that is longer than a view: ", np.arange(2_000_000).astype("U")))
numbers = pd.Series(np.arange(20_000_000))
f = tamis.SplitBlockBloomFilter(1000)
out = np.ones(len(numbers), bool)
f.contains(words[:300_000], out=out), f.contains(pl.from_arrow(words[:300_000]), out=out)
for name, column, bytes in (
        ("pyarrow", words, words.nbytes), ("polars", pl.from_arrow(words), words.nbytes),
        ("pandas arrow", pd.Series(words, dtype=pd.ArrowDtype(words.type)), words.nbytes),
        ("pandas str", pd.Series(words.to_pandas(), dtype="str"), words.nbytes),
        ("pandas int64", numbers, 8 * len(numbers))):
    for call in (f.insert, f.count, lambda x: f.contains(x, out=out)):
        print(f"{name}: {peak_of(call, column) / bytes:.3f}")
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="Linux counts peaks")
def test_values_are_not_copied():
    """Measures the memory of the process: a copy of the values would be 1 or more."""
    done = subprocess.run([sys.executable, "-c", PEAKS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shares = [line.split(": ") for line in done.stdout.split("\n") if line]
    assert len(shares) == 15
    assert all(float(share) < 0.15 for _, share in shares), done.stdout
