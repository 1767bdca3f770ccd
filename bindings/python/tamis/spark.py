"""Filters of columns that are distributed over an Apache Spark cluster: docs/spark.md.

A filter is cut into ranges of blocks. The hashes of keys are shuffled to the task that owns their
range, and rows stay where they are. Every answer equals the answer of one process, bit by bit and
row by row. Requires PySpark and pyarrow on the driver and on all executors.

The order of rows is their order in the DataFrame: partition by partition.
"""
import dataclasses as _dataclasses
import json as _json
from operator import index as _index

import numpy as _numpy
import pyarrow as _pyarrow

from ._spark_layout import BLOCK_BYTES as _BLOCK_BYTES
from ._spark_layout import Layout
from ._spark_layout import hash_columns as _hash_columns
from ._tamis import FullError as _FullError
from ._tamis import Queryable as _Queryable
from ._tamis import SplitBlockBloomFilter as _SplitBlockBloomFilter
from ._tamis import plan as _plan
from ._tamis import text as _text

_CHUNK_KEYS = 8192  # keys in a row of _CHUNKS at most, so that 10,000 rows fit into an Arrow batch
_WINDOW_ROWS = 8192  # rows of a DataFrame that are filtered at a time
_TEXT_ROWS = 64  # texts that are split at a time
_MIX = _numpy.uint64(0x9E3779B97F4A7C15)

# Keys of one range in the order of rows. `rows` has a uint32 for each key: its row minus `first`, the
# row of the first key in the partition. A chunk without keys has the number of rows as `first`.
_CHUNKS = ("range int, partition int, first long, hashes binary, rows binary, types string, "
           "contents binary")
_DROPPED = "partition int, first long, hashes binary, rows binary"
_RANGES = "range int, contents binary, inserted long, types string"


# ---- Columns and sizes


def _valid(columns):
    """Returns an array of bool: whether a row has no null in any column."""
    valid = _numpy.ones(len(columns[0]), bool)
    for column in columns:
        if column.null_count:
            valid &= column.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _without_nulls(columns, rows):
    return [column.take(_pyarrow.array(rows)) for column in columns]


def _checked(df, columns, hash="xxh3", seed=0):
    """Returns the list of columns. Raises ValueError if one does not exist once, and TypeError if
    its values are not keys."""
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import TimestampNTZType
    columns = [columns] if isinstance(columns, str) else list(columns)
    if not columns:
        raise ValueError("columns is empty: name at least one column")
    nulls = []
    for column in columns:
        if df.columns.count(column) != 1:
            raise ValueError(f"column {column!r} must exist once in the DataFrame, which has "
                             f"{', '.join(df.columns)}")
        kind = df.schema[df.columns.index(column)].dataType
        if kind.typeName() in ("array", "map", "struct", "variant"):
            raise TypeError(f"column {column!r} is of type {kind.simpleString()}, which is not a key: "
                            "make columns of its parts")
        if kind.typeName() == "timestamp":  # without a zone to name here, and with the same keys
            kind = TimestampNTZType()
        nulls.append(_pyarrow.nulls(1, to_arrow_type(kind)))
    _hash_columns(nulls, hash, seed)  # raises TypeError
    return columns


def _layout(df, columns, capacity, fpr, hash, seed, range_bytes):
    """Checks the arguments, and returns columns and layout. Runs no job if capacity is known."""
    columns = _checked(df, columns, hash, seed)
    if not 1 << 10 <= range_bytes <= 1 << 30:
        raise ValueError(f"range_bytes is {range_bytes}, and must be in [1024, 2**30]")
    _plan(1, fpr)  # raises InvalidArgumentError
    if capacity is None:
        capacity = max(df.count(), 1)
    elif capacity < 1:
        raise ValueError(f"capacity is {capacity}, and must be at least 1 key")
    planned = next(f for f in _plan(capacity, fpr).filters if f.name == "split-block")
    if planned.error:
        raise ValueError(planned.error)
    nbytes = int(planned.nbytes)
    blocks = nbytes // _BLOCK_BYTES
    least = min(int(df.sparkSession.conf.get("spark.sql.shuffle.partitions")), blocks)
    ranges = max(least, -(-nbytes // range_bytes))
    if ranges > 0x7FFFFFFF:
        raise ValueError(f"a filter of {nbytes} bytes has too many ranges: range_bytes is {range_bytes}, "
                         f"and must be at least {-(-nbytes // 0x7FFFFFFF)}")
    return columns, Layout(capacity, fpr, blocks, -(-blocks // ranges), hash, seed)


# ---- The two shuffles


def _renamed(df, columns):
    """Returns the DataFrame with columns c0, c1 ..., and the new names of `columns`. Spark cannot pass
    names with dots, or equal names, to functions of Arrow."""
    return (df.toDF(*[f"c{i}" for i in range(len(df.columns))]),
            [f"c{df.columns.index(column)}" for column in columns])


def _cut(df, columns, layout, buffer_keys, split=None):
    """Returns the keys of a DataFrame as _CHUNKS, with the number of rows of each partition.
    split(columns) returns the hashes and the row of each key, ascending. Without it, a row is a key."""

    def emit(held, partition, types):
        hashes = _numpy.concatenate([hashes for hashes, _ in held])
        rows = _numpy.concatenate([rows for _, rows in held])
        index, local = layout.place(hashes)
        order = _numpy.argsort(index, kind="stable")  # keeps the order of rows within a range
        index, local, rows = index[order], local[order], rows[order]
        begins = _numpy.flatnonzero(_numpy.diff(index, prepend=-1))
        for begin, end in zip(begins, [*begins[1:], len(index)]):
            at = begin
            while at < end:
                to = min(at + _CHUNK_KEYS, end)
                to = begin + _numpy.searchsorted(rows[begin:end], rows[to - 1], side="right")
                some = rows[at:to]  # all keys of a row are in one chunk
                yield (int(index[begin]), partition, int(some[0]), local[at:to].tobytes(),
                       (some - some[0]).astype(_numpy.uint32).tobytes(), types)
                at = to

    def chunks(batches):
        sample = layout.new_filter(1)  # its key types are those of the whole filter
        held, count, row, partition = [], 0, 0, None
        for batch in batches:
            *arrays, partitions = batch.columns
            if not len(batch):
                continue
            partition = partitions[0].as_py()
            valid = _numpy.flatnonzero(_valid(arrays))
            if len(valid):
                arrays = _without_nulls(arrays, valid)
                sample.insert(arrays[0][:1] if len(arrays) == 1 else layout.keys(b"\0" * 8))
                hashes, rows = split(arrays) if split else (layout.hash_rows(arrays), slice(None))
                held.append((hashes, valid[rows] + row))
                count += len(hashes)
            row += len(batch)
            if count >= buffer_keys:
                yield from emit(held, partition, sample.key_types)
                held, count = [], 0
        if count:
            yield from emit(held, partition, sample.key_types)
        if partition is not None:
            yield 0, partition, row, b"", b"", "none"

    def run(batches):
        for chunk in chunks(_pieces(batches) if split else batches):
            yield _batch(_CHUNKS, (*chunk, None))

    df, names = _renamed(df, columns)
    keys = [f"{name} AS k{i}" for i, name in enumerate(names)]
    return df.selectExpr(*keys, "spark_partition_id()").mapInArrow(run, _CHUNKS)


def _pieces(batches):
    """Cuts batches, because a row of text has many keys."""
    for batch in batches:
        for at in range(0, len(batch), _TEXT_ROWS):
            yield batch[at:at + _TEXT_ROWS]


_ARROW = {"int": _pyarrow.int32(), "long": _pyarrow.int64(), "binary": _pyarrow.binary(),
          "string": _pyarrow.string()}


def _batch(schema, row):
    """Returns a batch of one row."""
    fields = [field.split() for field in schema.split(", ")]
    return _pyarrow.record_batch([_pyarrow.array([value], _ARROW[kind])
                                  for value, (_, kind) in zip(row, fields)],
                                 names=[name for name, _ in fields])


def _own(chunks, layout, owner, schema):
    """Sends chunks to the owners of their ranges. owner(index, rows) gets the chunks of one range in
    the order of rows, and yields rows of the schema."""

    def rows_of(batches):
        for batch in batches:
            columns = batch.columns
            for i in range(len(batch)):
                yield [column[i] for column in columns]

    def run(batches):
        rows = rows_of(batches)
        row = next(rows, None)
        while row is not None:
            index = row[0].as_py()

            def of_range():
                nonlocal row
                while row is not None and row[0].as_py() == index:
                    yield row
                    row = next(rows, None)

            for made in owner(index, of_range()):
                yield _batch(schema, made)

    if hasattr(chunks, "repartitionById"):  # PySpark 4.1: one range for each task
        sent = chunks.repartitionById(layout.ranges, "range")
    else:
        sent = chunks.repartition(layout.ranges, "range")
    return sent.sortWithinPartitions("range", "partition", "first").mapInArrow(run, schema)


def _numbers(scalar, kind):
    return _numpy.frombuffer(scalar.as_buffer(), kind)


def _drop(df, columns, layout, dropped, keep_nulls, judge=None):
    """Returns a DataFrame without some rows. Sends `dropped` (_DROPPED) to the tasks that read the
    partitions. judge(columns, rows, hashes) returns the rows to drop, or None if the columns lack one
    of the hashes. Without it, all `rows` are dropped."""
    from pyspark.serializers import CPickleSerializer
    renamed, columns = _renamed(df, columns)
    schema = renamed.schema
    in_batch = int(df.sparkSession.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
    window_rows = min(_WINDOW_ROWS, in_batch) if in_batch > 0 else _WINDOW_ROWS

    def pack(batches):  # a row for each window
        held, count = [], 0
        for batch in batches:
            while len(batch):
                part = batch[:window_rows - count]
                held.append(part)
                count += len(part)
                batch = batch[len(part):]
                if count == window_rows:
                    yield _batch("rows binary", [_to_bytes(held)])
                    held, count = [], 0
        if held:
            yield _batch("rows binary", [_to_bytes(held)])

    def windows(sent):  # the dropped rows of each window, and its size
        positions, hashes, size = [], [], 0
        for _, (first, rows, some) in sent:
            rows = _numpy.frombuffer(rows, _numpy.uint32).astype(_numpy.int64) + first
            if not len(rows):
                size = first  # of the whole partition
            positions.append(rows)
            hashes.append(_numpy.frombuffer(some, _numpy.uint64))
        if size:
            positions, hashes = _numpy.concatenate(positions), _numpy.concatenate(hashes)
            order = _numpy.argsort(positions)
            positions, hashes = positions[order], hashes[order]
            begins = range(0, size, window_rows)
            edges = [*_numpy.searchsorted(positions, begins), len(positions)]
            for begin, at, end in zip(begins, edges, edges[1:]):
                yield positions[at:end] - begin, hashes[at:end], min(window_rows, size - begin)

    def apply(pair):
        (packed,), (positions, hashes, size) = pair
        table = _pyarrow.ipc.open_stream(packed).read_all().combine_chunks()
        keys = [table.column(column).combine_chunks() for column in columns]
        keep = _valid(keys)
        ordered = len(table) == size and keep[positions].all()
        if ordered and len(positions):
            if judge:
                positions = judge(keys, positions, hashes)
                ordered = positions is not None
            else:
                found = layout.place(layout.hash_rows(_without_nulls(keys, positions)))[1]
                ordered = (found == hashes).all()
        if not ordered:
            raise RuntimeError("the DataFrame yields other rows, or another order, when Spark reads it "
                               "again: write it to files, or checkpoint() it, and pass that")
        if keep_nulls:
            keep[:] = True
        keep[positions] = False
        return (bytearray(_to_bytes(table.filter(_pyarrow.array(keep)).to_batches(), table.schema)),)

    def unpack(batches):
        for batch in batches:
            for packed in batch.column(0):
                yield from _pyarrow.ipc.open_stream(packed.as_buffer())

    packed = renamed.mapInArrow(pack, "rows binary").rdd
    sent = (dropped.rdd.map(lambda row: (row.partition, (row.first, row.rows, row.hashes)))
            .partitionBy(packed.getNumPartitions(), int).mapPartitions(windows))
    # zip pairs whole batches of elements, so each element must be a batch of its own.
    alone = CPickleSerializer()
    pairs = packed.map(tuple)._reserialize(alone).zip(sent._reserialize(alone))
    return (df.sparkSession.createDataFrame(pairs.map(apply), "rows binary")
            .mapInArrow(unpack, schema).toDF(*df.columns))


def _to_bytes(batches, schema=None):
    sink = _pyarrow.BufferOutputStream()
    with _pyarrow.ipc.new_stream(sink, schema or batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


# ---- The functions


class RangedFilter:
    """A split-block filter whose ranges are rows of a DataFrame. build() and open() make one.

    columns: the columns of a key. layout: a Layout.
    ranges: a DataFrame with columns range, contents, inserted and types.
    """

    def __init__(self, columns, layout, ranges):
        self.columns = columns
        self.layout = layout
        self.ranges = ranges

    @property
    def nbytes(self):
        """The size of the whole filter."""
        return self.layout.blocks * _BLOCK_BYTES

    def to_filter(self):
        """Returns a SplitBlockBloomFilter in the memory of the driver, one range after the other."""
        layout = self.layout
        made = _SplitBlockBloomFilter(layout.capacity, layout.fpr, hash=layout.hash, seed=layout.seed)
        for row in self.ranges.toLocalIterator():
            made.merge_contents(row.contents, row.range * layout.width * _BLOCK_BYTES,
                                inserted_count=row.inserted, key_types=row.types)
        return made

    def save(self, folder):
        """Writes Parquet files to a folder that does not exist. Executors write their ranges."""
        from pyspark.sql.functions import lit
        text = _json.dumps([self.columns, _dataclasses.astuple(self.layout)])
        self.ranges.withColumn("layout", lit(text)).write.parquet(folder)


def open(spark, folder):
    """Returns the RangedFilter that save() wrote. spark: a SparkSession."""
    ranges = spark.read.parquet(folder)
    columns, layout = _json.loads(ranges.select("layout").first().layout)
    return RangedFilter(columns, Layout(*layout), ranges.drop("layout"))


def build(df, column, capacity=None, fpr=0.01, *, hash="xxh3", seed=0, range_bytes=64 << 20,
          buffer_keys=1 << 20):
    """Returns a RangedFilter of the keys of a column. Spark builds it when it is first used, and
    keeps its ranges on the disks of executors.

    column: the name of a column, or a list of names: a key is then a row without nulls.
    capacity: the number of keys, from 1. None: the number of rows, which Spark counts first.
    fpr: the highest false-positive rate.
    hash, seed: 'xxh3' or 'xxh64', and its seed.
    range_bytes: the largest size of a range, from 1 KiB to 1 GiB. An owner needs a few times this.
    buffer_keys: keys that a task collects before it sends them, 16 bytes each. Sending needs several
        times this.

    Raises ValueError for columns that do not exist and numbers out of range, and TypeError for
    columns of types that are not keys, before any job. Equals, bit by bit, the
    SplitBlockBloomFilter(capacity, fpr, hash=hash, seed=seed) of one process.
    """
    from pyspark import StorageLevel
    columns, layout = _layout(df, column, capacity, fpr, hash, seed, range_bytes)

    def owner(index, chunks):
        made = layout.new_filter(layout.blocks_of(index))
        types = set()
        for chunk in chunks:
            made.insert(layout.keys(chunk[3].as_buffer()))
            types.add(chunk[5].as_py())
        types.discard("none")
        yield (index, made_bytes(made), made.inserted_count,
               types.pop() if len(types) == 1 else "unknown" if types else "none")

    def made_bytes(made):
        with memoryview(made) as contents:
            return contents.tobytes()

    # Range 0 always exists, so that the filter of an empty DataFrame can be saved.
    first = df.sparkSession.range(0, 1, 1, 1).selectExpr(
        "0 AS range", "-1 AS partition", "0L AS first", "X'' AS hashes", "X'' AS rows", "'none' AS types",
        "X'' AS contents")
    chunks = _cut(df, columns, layout, buffer_keys).unionByName(first)
    ranges = _own(chunks, layout, owner, _RANGES)
    return RangedFilter(columns, layout, ranges.persist(StorageLevel.DISK_ONLY))


def keep_possible(df, column, made, *, buffer_keys=1 << 20):
    """Returns the rows whose key may be in a filter. Rows with a null in the key are left out.

    column: see build().
    made: a RangedFilter; or a filter in memory that can be pickled, which is sent to each executor as a
        whole.

    Raises ValueError and TypeError like build(), and RuntimeError, in a task, if the DataFrame
    yields its rows in another order when Spark reads it again.
    """
    if isinstance(made, _Queryable):
        return _keep_in_memory(df, column, made)
    if not isinstance(made, RangedFilter):
        raise TypeError(f"made is a RangedFilter or a filter in memory, not {type(made).__name__}")
    layout = made.layout
    columns, _ = _layout(df, column, 1, 0.01, layout.hash, layout.seed, 1 << 20)
    contents = made.ranges.selectExpr(
        "range", "-1 AS partition", "0L AS first", "NULL AS hashes", "NULL AS rows", "types",
        "contents")

    def owner(index, chunks):
        first = next(chunks)  # partition -1 comes first, unless the range is empty
        if first[6].is_valid:
            known = layout.new_filter(layout.blocks_of(index))
            known.merge_contents(first[6].as_buffer())
        else:
            known = layout.new_filter(layout.blocks_of(index))
            yield from absent(known, first)
        for chunk in chunks:
            yield from absent(known, chunk)

    def absent(known, chunk):
        keys = layout.keys(chunk[3].as_buffer())
        out = _numpy.empty(len(keys), bool)
        known.contains(keys, out=out)
        yield from _dropped(chunk, ~out)

    chunks = _cut(df, columns, layout, buffer_keys).unionByName(contents)
    return _drop(df, columns, layout, _own(chunks, layout, owner, _DROPPED), keep_nulls=False)


def _dropped(chunk, drop):
    """Yields the dropped rows of a chunk, and the size of its partition if it carries that."""
    _, partition, first, hashes, rows, _, _ = chunk
    if drop.any() or not len(drop):
        yield (partition.as_py(), first.as_py(), _numbers(hashes, _numpy.uint64)[drop].tobytes(),
               _numbers(rows, _numpy.uint32)[drop].tobytes())


def _keep_in_memory(df, column, made):
    columns = _checked(df, column)
    renamed, names = _renamed(df, columns)
    sent = df.sparkSession.sparkContext.broadcast(made)

    def keep(batches):
        known = sent.value
        for batch in batches:
            keys = [batch.column(name) for name in names]
            keys = _hash_columns(keys, known.hash, known.seed) if len(keys) > 1 else keys[0]
            yield batch.filter(known.contains(keys))

    return renamed.mapInArrow(keep, renamed.schema).toDF(*df.columns)


def drop_duplicates(df, columns, fpr=0.01, capacity=None, *, hash="xxh3", seed=0,
                    range_bytes=64 << 20, buffer_keys=1 << 20):
    """Returns the rows whose key did not occur in an earlier row. The first row of equal keys stays.

    A new key is taken for a duplicate at a rate of at most fpr, and its row is then lost. Rows with
    a null in the key stay.

    columns, capacity, hash, seed, range_bytes, buffer_keys: see build(). capacity is the number of
        different keys. A task raises FullError if a range gets more keys than that allows.

    Raises like keep_possible().
    """
    columns, layout = _layout(df, columns, capacity, fpr, hash, seed, range_bytes)
    chunks = _cut(df, columns, layout, buffer_keys)
    return _drop(df, columns, layout, _not_new(chunks, layout), keep_nulls=True)


def _not_new(chunks, layout):
    """Inserts the keys of chunks, and returns those that were not new as _DROPPED."""
    def owner(index, chunks):
        seen = layout.new_filter(layout.blocks_of(index))
        share = layout.capacity * layout.blocks_of(index) / layout.blocks
        for chunk in chunks:
            keys = layout.keys(chunk[3].as_buffer())
            new = _numpy.empty(len(keys), bool)
            seen.insert_if_absent(keys, out=new)
            if seen.inserted_count > share + 8 * share**0.5 + 8:  # 8 standard deviations
                raise _FullError(f"more than capacity={layout.capacity} different keys: range {index} of "
                                 f"{layout.ranges} has {seen.inserted_count}, and its share is "
                                 f"{share:.0f}. Pass a larger capacity, or None")
            yield from _dropped(chunk, ~new)

    return _own(chunks, layout, owner, _DROPPED)


def drop_similar(df, text, ngrams=13, threshold=0.8, capacity=None, fpr=1e-3, *, hash="xxh3", seed=0,
                 range_bytes=64 << 20, buffer_keys=1 << 20):
    """Returns the rows whose text does not repeat the n-grams of earlier rows.

    A row is left out if at least a share `threshold` of its different n-grams occurred in earlier
    rows, whether these rows stay or not. `tamis dedup --remove document` counts only rows that stay.
    So a row that is similar to a dropped row is dropped here, and may stay there. Words and n-grams
    are those of the command: docs/command.md defines them. Rows without words stay, and nulls too.

    text: the name of a column of strings.
    ngrams: words of an n-gram, from 1 to 1000.
    threshold: above 0 and at most 1.
    capacity: the number of different n-grams. None: their sum over all rows, which a job counts first.
    fpr: the rate at which a new n-gram is taken for one that occurred.
    hash, seed, range_bytes, buffer_keys: see build(). A key is an n-gram.

    Raises like drop_duplicates(), and ValueError for other numbers, before any job. Equals, row by
    row, one process that inserts the different n-grams of each row, ascending, into a
    SplitBlockBloomFilter(capacity, fpr), and counts those that were not new.
    """
    ngrams = _index(ngrams)
    if not 1 <= ngrams <= _text.MOST_WORDS:
        raise ValueError(f"ngrams is {ngrams}, and must be from 1 to {_text.MOST_WORDS}")
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}, and must be above 0 and at most 1")
    columns, layout = _layout(df, [text], 1 if capacity is None else capacity, fpr, hash, seed,
                              range_bytes)
    if df.schema[df.columns.index(text)].dataType.typeName() != "string":
        raise TypeError(f"column {text!r} must be a column of strings")
    if capacity is None:
        counted = _numbers_of_ngrams(df, text, ngrams)
        columns, layout = _layout(df, [text], max(counted, 1), fpr, hash, seed, range_bytes)

    def split(arrays):
        grams, rows = _ngrams(arrays[0], ngrams)
        return layout.hash_rows([_pyarrow.array(grams)]), rows

    def judge(arrays, positions, hashes):
        some, of = _numpy.unique(positions, return_inverse=True)
        drop = _numpy.zeros(len(some), bool)
        found = _numpy.bincount(of)
        for at in range(0, len(some), _TEXT_ROWS):
            end = at + _TEXT_ROWS
            own, rows = split(_without_nulls(arrays, some[at:end]))
            here = (of >= at) & (of < end)
            # Two pairs of a row and a hash have the same sum with probability 2^-64.
            known = layout.place(own)[1] + rows.astype(_numpy.uint64) * _MIX
            if not _numpy.isin(hashes[here] + (of[here] - at).astype(_numpy.uint64) * _MIX, known).all():
                return None
            total = _numpy.bincount(rows, minlength=len(some[at:end]))
            drop[at:end] = _repeated(found[at:end], total, threshold)
        return some[drop]

    chunks = _cut(df, columns, layout, buffer_keys, split)
    return _drop(df, columns, layout, _not_new(chunks, layout), keep_nulls=True, judge=judge)


def _ngrams(texts, words):
    """Returns the different n-grams of each text of an Arrow array, ascending, and their rows."""
    keys, counts = (_numpy.frombuffer(part, _numpy.uint64)
                    for part in _text.ngrams(texts.to_pylist(), words))
    rows = _numpy.repeat(_numpy.arange(len(texts)), counts.astype(_numpy.int64))
    order = _numpy.lexsort((keys, rows))
    keys, rows = keys[order], rows[order]
    new = (_numpy.diff(keys, prepend=0) != 0) | (_numpy.diff(rows, prepend=-1) != 0)
    return keys[new], rows[new]


def _repeated(found, total, threshold):
    """Returns whether `found` of `total` n-grams are at least a share `threshold`, for each text."""
    return [n >= _text.needed(of, threshold) for n, of in zip(found.tolist(), total.tolist())]


def _numbers_of_ngrams(df, text, words):
    """Returns the sum of the numbers of different n-grams of all rows."""
    def count(batches):
        total = 0
        for batch in _pieces(batches):
            total += len(_ngrams(batch.column(0).drop_null(), words)[0])
        yield _batch("n long", [total])

    df, names = _renamed(df, [text])
    return df.select(names).mapInArrow(count, "n long").agg({"n": "sum"}).first()[0] or 0


__all__ = ["Layout", "RangedFilter", "build", "drop_duplicates", "drop_similar", "keep_possible", "open"]
