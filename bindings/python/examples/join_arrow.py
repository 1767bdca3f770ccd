"""A hash join over Arrow record batches, with and without a join filter.

The build side is a small table, and the probe side a stream of record batches. The filter drops the rows
without a match before Acero, the engine of pyarrow, joins the rest.

Usage: join_arrow.py [BUILD_ROWS [PROBE_ROWS [MATCHES]]]   by default 100,000 and 10,000,000 rows, 0.05
"""
import time

import numpy
import pyarrow
import tamis.join


def build_filter(batches, key, rows):
    """Returns the join filter of a column. Each batch is a part, as if several threads read them."""
    made = tamis.join.JoinFilter(expected_keys=max(1, rows))
    for number, batch in enumerate(batches):
        part = made.make_part(number)
        part.update(batch.column(key))
        made.add(part)
    made.complete(len(batches))
    return made


def possible_rows(batches, key, probe):
    """Yields the batches of the probe side without the rows that the filter drops."""
    for batch in batches:
        if probe.wanted(batch.num_rows):
            # A bitmap or bytes are slower here, because Arrow would have to find the rows.
            batch = batch.take(probe.select(batch.column(key)))
        yield batch


def join(build, probe_batches, key):
    """Joins a table with record batches: all rows of both sides with equal keys."""
    probed = pyarrow.Table.from_batches(probe_batches)
    return probed.join(build, keys=key, join_type="inner", use_threads=False)


def filtered_join(build, probe_batches, key, row_ns=40):
    """Does the same as join(), with a filter. Returns the table, the filter and its JoinProbe.

    row_ns: nanoseconds that the join takes for a row of the probe side.
    """
    made = build_filter(build.to_batches(max_chunksize=1 << 16), key, build.num_rows)
    probe = tamis.join.JoinProbe(made, row_ns=row_ns)
    kept = list(possible_rows(probe_batches, key, probe))
    return join(build, kept, key), made, probe


def example_tables(build_rows, probe_rows, matches, seed=1):
    """Returns a table of products, and batches of sales. Some keys of the sales are null."""
    random = numpy.random.default_rng(seed)
    ids = random.permutation(20 * build_rows)[:build_rows]
    products = pyarrow.table({"product": ids, "price": random.random(build_rows)})
    absent = 20 * build_rows + random.integers(0, 20 * build_rows, probe_rows)
    keys = numpy.where(random.random(probe_rows) < matches,
                       ids[random.integers(0, build_rows, probe_rows)], absent)
    sales = pyarrow.table({
        "product": pyarrow.array(keys, mask=random.random(probe_rows) < 0.001),
        "amount": numpy.arange(probe_rows)})
    return products, sales.to_batches(max_chunksize=1 << 16)


def equal(a, b):
    """Returns whether two results have the same rows, in any order."""
    order = [("amount", "ascending")]
    return a.sort_by(order).equals(b.sort_by(order))


def timed(function, *arguments):
    start = time.perf_counter()
    return function(*arguments), time.perf_counter() - start


def main(build_rows=100_000, probe_rows=10_000_000, matches=0.05):
    products, sales = example_tables(build_rows, probe_rows, matches)
    join(products, sales[:1], "product")  # starts the engine
    plain, plain_time = timed(join, products, sales, "product")
    (filtered, made, probe), filtered_time = timed(filtered_join, products, sales, "product")
    print(f"{made.form}: {made.choice}")
    print(f"{filtered.num_rows:,} of {probe_rows:,} rows match; {probe}")
    print(f"the results are equal: {equal(plain, filtered)}")
    print(f"the join with the filter takes {filtered_time / plain_time:.2f} of the time without it")
    return 0 if equal(plain, filtered) else 1


if __name__ == "__main__":
    import sys
    sys.exit(main(*(int(float(x)) for x in sys.argv[1:3]), *map(float, sys.argv[3:4])))
