"""Writes files with the statistics that some versions of their writers get wrong.

Usage: make.py FOLDER, with the package of the writing version installed:

    pip install --target there polars==1.44.2
    PYTHONPATH=there python3 make.py tests/parquet/writers

Each file has two row groups of one column, x. The test of known_faults_test.cc lists their values.
"""
import decimal
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])


def with_polars(polars):
    version = polars.__version__

    def write(name, values, dtype, page_bytes):
        frame = polars.DataFrame({"x": polars.Series(values, dtype=dtype)})
        frame.write_parquet(FOLDER / f"polars-{version}-{name}.parquet", compression="uncompressed",
                            row_group_size=len(values) // 2, data_page_size=page_bytes)

    # The first page has only negative values, and the second page also has some positive values.
    group = list(range(-100, 15))
    write("decimal", [decimal.Decimal(i) for i in group + [i - 1000 for i in group]],
          polars.Decimal(20, 0), 1024)
    # After the first page come prefixes of the smallest value, and a value that begins with the
    # largest.
    group = [f"k{i:03}" for i in range(300)]
    group[3] = "z"
    group[200:203] = ["", "k0", "zz"]
    write("text", group + ["m" + text for text in group], polars.String, 256)
    # Only values of the first page have the highest bit set.
    group = [1, 2**63 + 5] + list(range(2, 400))
    write("unsigned", group + [i + 1000 for i in group], polars.UInt64, 64)
    # The first page begins with not-a-number.
    group = [float("nan"), -5.0] + [float(i) for i in range(120)] + [5000.5]
    write("float", group + [value + 10_000 for value in group], polars.Float64, 256)
    # Two pages of one row each, one of them null. Counting the nulls once per page gives two.
    write("nulls", [7, None, 8, None], polars.Int64, 1)


def with_pyarrow(pyarrow):
    import pyarrow.parquet
    # A dictionary in two chunks. The second has the smallest and the largest value.
    dictionary = pyarrow.array(["a", "b", "c", "z"])
    chunks = [pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes, pyarrow.int32()), dictionary)
              for codes in ([1, 2], [0, 3])]
    table = pyarrow.table({"x": pyarrow.chunked_array(chunks)})
    with pyarrow.parquet.ParquetWriter(FOLDER / f"pyarrow-{pyarrow.__version__}-dictionary.parquet",
                                       table.schema) as writer:
        for _ in range(2):
            writer.write_table(table)


def main():
    try:
        import polars
    except ImportError:
        import pyarrow
        with_pyarrow(pyarrow)
    else:
        with_polars(polars)


main()
