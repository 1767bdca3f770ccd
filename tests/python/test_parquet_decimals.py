"""tamis.parquet: decimal keys in Arrow are the same as in a list of Decimal."""
import decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from test_hostile import Damaged, Schema, integers

import tamis.parquet as tp

# Largest number of digits per type.
TYPES = {pa.decimal128: 38, pa.decimal256: 76,
         **{getattr(pa, name): digits for name, digits in (("decimal32", 9), ("decimal64", 18))
            if hasattr(pa, name)}}
# Values of the column, in units of 1/10000.
NUMBERS = [0, 1, -1, 10**4, -5 * 10**4, 10**38 - 1, 1 - 10**38, 2**64, -2**64, 2**96 + 1, -2**126,
           *(7**i for i in range(40)), *(-(11**i) for i in range(36))]
EXACT = decimal.Context(prec=100)


def number(unscaled, scale):
    return decimal.Decimal(unscaled).scaleb(-scale, EXACT)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Writes a column of decimals with four digits after the point."""
    path = tmp_path_factory.mktemp("decimals") / "n.parquet"
    pq.write_table(pa.table({"n": pa.array([number(n, 4) for n in NUMBERS], pa.decimal128(38, 4))}),
                   path.with_suffix(".old"))
    tp.add(path.with_suffix(".old"), path, "n", fpr=1e-9, force=True)
    return path


def found(path, keys):
    kept = tp.prune(path, "n", keys, bounds=False, pairs=True)
    return sorted(map(int, kept.pairs.keys)), kept.key_types


@settings(max_examples=100, deadline=None, derandomize=True)
@given(data=st.data())
def test_arrow_decimals_are_those_of_a_list(path, data):
    make = data.draw(st.sampled_from(list(TYPES)))
    digits = TYPES[make]
    scale = data.draw(st.integers(4, digits))
    most = 10**digits - 1
    known = [n * 10**(scale - 4) for n in NUMBERS if abs(n) * 10**(scale - 4) <= most]
    unscaled = data.draw(st.lists(st.none() | st.sampled_from(known) | st.integers(-most, most)))
    numbers = [None if n is None else number(n, scale) for n in [known[1], *unscaled]]
    column = pa.array(numbers, make(digits, scale))
    want = found(path, numbers)
    assert 1 in want[0] or 0 in want[0]
    padded = pa.concat_arrays([pa.array([number(7, scale)], column.type), column])
    for keys in (column, padded[1:], pa.chunked_array([column[:1], column[1:]]),
                 pa.table({"n": column}), *([column.dictionary_encode()] if digits > 18 else [])):
        assert found(path, keys) == want


def test_decimals_without_a_fraction(path):
    """With a negative scale, 10^scale is a factor."""
    numbers = [number(n, -5) for n in (7, -1, 10**30)]
    assert found(path, pa.array(numbers, pa.decimal128(38, -5))) == found(path, numbers)


def test_decimals_of_other_packages(path):
    numbers = [decimal.Decimal("0.0001"), None, decimal.Decimal("-5.0000"), decimal.Decimal(3)]
    want = found(path, numbers)
    assert want[0] == [0, 2]
    arrow = pa.array(numbers, pa.decimal128(20, 4))
    for keys in (pl.Series(numbers, dtype=pl.Decimal(20, 4)), pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
                 duckdb.sql("select unnest([0.0001, null, -5, 3]::decimal(20, 4)[]) as n"), pd.Series(numbers)):
        assert found(path, keys) == want


@pytest.mark.parametrize("format", [b"d:", b"d:5", b"d:5,", b"d:5,2,", b"d:5,2,128,", b"d:5,2,63",
                                    b"d:5,2,-128", b"d:5,99999", b"d:5,-2000000000", b"d:5,2x"])
def test_formats_that_are_damaged(format):
    with pytest.raises(ValueError, match="damaged"):
        tp.Pruner("n", Damaged(Schema(format=format), integers(1)))
