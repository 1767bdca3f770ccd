"""One filter of a column that is distributed over an Apache Spark cluster.

Each partition makes a filter of its keys and emits it as rows of (segment, bits). The rows are ORed by
segment, because whole filters from 2 GiB on are too large for a row, and for one machine to merge. The
result equals, byte for byte, the filter that one process would make of the column.

Dask and Ray work in the same way: `build_part` for each partition, and a tree of `|=` instead of the rows.
"""
import numpy
import pyarrow
import tamis

SEGMENT_BYTES = 16 << 20
ROWS = "segment int, bits binary, inserted long, forms string"


def build_part(make_filter, columns):
    """Returns the filter of one partition."""
    part = make_filter()
    for column in columns:
        part.insert(column)
    return part


def _segments(make_filter, segment_bytes):
    def emit(batches):
        part = build_part(make_filter, (batch.column(0) for batch in batches))
        with memoryview(part) as contents:
            for i, begin in enumerate(range(0, len(contents), segment_bytes)):
                yield pyarrow.record_batch({
                    "segment": pyarrow.array([i], pyarrow.int32()),
                    "bits": pyarrow.array([contents[begin:begin + segment_bytes]],
                                          pyarrow.binary()),
                    # The number of keys of the whole part, so only one row contains it.
                    "inserted": [part.inserted_count if i == 0 else 0],
                    "forms": [part.key_types]})
    return emit


def _or_rows(rows):
    """Merges the rows of one segment."""
    bits = None
    for row in rows.column("bits").combine_chunks() if rows.num_rows else []:
        more = numpy.frombuffer(row.as_buffer(), numpy.uint8)
        bits = more.copy() if bits is None else numpy.bitwise_or(bits, more, out=bits)
    forms = set(rows.column("forms").to_pylist()) - {"none"}
    return pyarrow.table({
        "segment": rows.column("segment")[:1],
        "bits": pyarrow.array([memoryview(bits)], pyarrow.binary()),
        "inserted": pyarrow.array([sum(rows.column("inserted").to_pylist())], pyarrow.int64()),
        "forms": [forms.pop() if len(forms) == 1 else "unknown" if forms else "none"]})


def build(frame, make_filter, segment_bytes=SEGMENT_BYTES):
    """Returns the filter of all keys of a DataFrame with one column.

    make_filter() returns an empty SplitBlockBloomFilter, equal on every machine.
    """
    parts = frame.mapInArrow(_segments(make_filter, segment_bytes), ROWS)
    made = make_filter()
    for row in parts.groupBy("segment").applyInArrow(_or_rows, ROWS).toLocalIterator():
        made.merge_contents(row["bits"], row["segment"] * segment_bytes,
                            inserted_count=row["inserted"], key_types=row["forms"])
    return made


def keep_possible(frame, column, made):
    """Returns the rows of a DataFrame whose key may be in the filter, to be joined with the others."""
    sent = frame.sparkSession.sparkContext.broadcast(made.to_bytes())

    def keep(batches):
        known = tamis.frombuffer(sent.value, verify=False)
        for batch in batches:
            yield batch.filter(known.contains(batch.column(column)))

    return frame.mapInArrow(keep, frame.schema)


if __name__ == "__main__":
    import functools
    import sys
    import time

    from pyspark.sql import SparkSession

    keys = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    make = functools.partial(tamis.SplitBlockBloomFilter, keys, 0.01)
    start = time.monotonic()
    by_spark = build(spark.range(keys), make)
    print(f"{keys:,} keys by Spark: {time.monotonic() - start:.1f} s")
    whole = make()
    whole.insert(numpy.arange(keys))
    print("equal to that of one process:", by_spark.to_bytes() == whole.to_bytes())
    others = spark.range(0, 10 * keys, 1000)
    left = keep_possible(others, "id", by_spark).count()
    print(f"of {others.count():,} other rows {left:,} are left, {keys // 1000:,} of them known")
