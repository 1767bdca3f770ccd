"""Files with added filters, read by pyarrow and DuckDB."""
import datetime
import decimal
import importlib.util
import json
import pathlib
import random
import struct
import subprocess

import duckdb
import pyarrow
import pyarrow.parquet as parquet
import pytest

ROWS = 6000
GROUP = 2000  # rows of a row group
SPEC = importlib.util.spec_from_file_location(
    "make_parquet", pathlib.Path(__file__).parents[1] / "make_parquet.py")
make_parquet = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_parquet)

numbers = random.Random(19)


def column(make, kind, nulls=True):
    return pyarrow.array(
        [None if nulls and i % 7 == 0 else make(i) for i in range(ROWS)], kind)


def day(i):
    return datetime.date(1950, 1, 1) + datetime.timedelta(days=9 * i)


def moment(i):
    return datetime.datetime(1960, 1, 1) + datetime.timedelta(seconds=12345 * i, microseconds=1000 * i)


FLAT = {
    "int64": column(lambda i: numbers.getrandbits(64) - (1 << 63), pyarrow.int64()),
    "int32": column(lambda i: numbers.getrandbits(32) - (1 << 31), pyarrow.int32(), nulls=False),
    "int16": column(lambda i: 10 * i - 30000, pyarrow.int16()),
    "uint8": column(lambda i: i % 7, pyarrow.uint8()),
    "uint32": column(lambda i: numbers.getrandbits(32), pyarrow.uint32()),
    "uint64": column(lambda i: numbers.getrandbits(64), pyarrow.uint64()),
    "float": column(lambda i: i + 0.25, pyarrow.float32()),
    "double": column(lambda i: -i / 3, pyarrow.float64()),
    "string": column(lambda i: "w%x" % numbers.getrandbits(i % 99 + 1), pyarrow.string()),
    "binary": column(lambda i: numbers.randbytes(i % 40), pyarrow.binary()),
    "fixed": column(lambda i: numbers.randbytes(16), pyarrow.binary(16)),
    "date": column(day, pyarrow.date32()),
    "millis": column(moment, pyarrow.timestamp("ms")),
    "micros": column(moment, pyarrow.timestamp("us", "UTC")),
    "nanos": column(moment, pyarrow.timestamp("ns")),
    "time": column(lambda i: 1000 * i, pyarrow.time64("us")),
    "decimal9": column(lambda i: decimal.Decimal(17 * i) / 100, pyarrow.decimal128(9, 2)),
    "decimal38": column(lambda i: decimal.Decimal(numbers.getrandbits(100)), pyarrow.decimal128(38, 0)),
    "words": column(lambda i: "word %d" % (i % 900), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
}
NESTED = {
    "tags": column(lambda i: ["t%d" % (i * j) for j in range(i % 4)], pyarrow.list_(pyarrow.string())),
    "map": column(lambda i: [("k%d" % i, 3 * i)], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
    "user": column(lambda i: {"id": 5 * i, "name": None if i % 3 else "n%d" % i},
                   pyarrow.struct({"id": pyarrow.int64(), "name": pyarrow.string()})),
}
LEAVES = ["tags.list.element", "map.key_value.key", "map.key_value.value", "user.id", "user.name"]
TABLE = pyarrow.table({**FLAT, **NESTED})
# Options of pyarrow: both versions of DataPage, with and without dictionaries.
WRITERS = {
    "default": {},
    "plain": {"use_dictionary": False, "compression": "none", "data_page_version": "2.0"},
    "zstd": {"compression": "zstd", "write_statistics": False, "data_page_size": 4096},
    "index": {"write_page_index": True, "write_page_checksum": True, "compression": "lz4"},
    "split": {"use_dictionary": False, "compression": "gzip", "use_byte_stream_split": ["float", "double"]},
    "delta": {"use_dictionary": False, "column_encoding": {"int64": "DELTA_BINARY_PACKED",
                                                           "string": "DELTA_BYTE_ARRAY"}},
}


def footer_start(data):
    return len(data) - 8 - struct.unpack_from("<I", data, len(data) - 8)[0]


def metadata(path):
    """Returns the metadata without the parts that filters change."""
    whole = parquet.read_metadata(path).to_dict()
    del whole["serialized_size"]
    for group in whole["row_groups"]:
        for chunk in group["columns"]:
            for name in [name for name in chunk if name.startswith("bloom")]:
                del chunk[name]
    return whole


def check_unchanged(old, new):
    """Checks that everything except filters is unchanged: in bytes, in pyarrow and in DuckDB."""
    before, after = old.read_bytes(), new.read_bytes()
    start = footer_start(before)
    assert after[:start] == before[:start]
    assert footer_start(after) >= start
    assert parquet.read_schema(new).equals(parquet.read_schema(old), check_metadata=True)
    assert parquet.read_table(new).equals(parquet.read_table(old))
    assert metadata(new) == metadata(old)
    assert parquet.read_metadata(new).metadata == parquet.read_metadata(old).metadata
    for one, other in ((old, new), (new, old)):
        rows = duckdb.execute(f"select count(*) from (from '{one}' except all from '{other}')")
        assert rows.fetchall() == [(0,)]


def filters_of(path):
    """Returns the bits of each filter, by row group and column."""
    data = path.read_bytes()
    start = footer_start(data)
    found = {}
    for number, group in enumerate(make_parquet.Compact(data, start).struct()[4]):
        for chunk in group[1]:
            meta = chunk[3]
            if 14 not in meta:
                continue
            header = make_parquet.Compact(data, meta[14])
            fields = header.struct()
            assert [set(fields[i]) for i in (2, 3, 4)] == [{1}, {1}, {1}]
            assert 15 not in meta or meta[15] == header.at - meta[14] + fields[1]
            name = ".".join(part.decode() for part in meta[3])
            found[number, name] = data[header.at:header.at + fields[1]]
    return found


@pytest.mark.parametrize("writer", WRITERS)
def test_pyarrow_files(tmp_path, add_filters, writer):
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    parquet.write_table(TABLE, old, row_group_size=GROUP, **WRITERS[writer])
    done = add_filters(old, [*FLAT, *LEAVES], new, "--force")
    assert done.returncode == 0, done.stderr
    check_unchanged(old, new)
    filters = filters_of(new)
    assert len(filters) == 3 * (len(FLAT) + len(LEAVES))
    for bits in filters.values():
        assert 32 <= len(bits) <= 1 << 27 and len(bits) & (len(bits) - 1) == 0


def folded(bits, size):
    """Returns the filter of the same keys in fewer bytes."""
    while len(bits) > size:
        bits = bytes(a | b for i in range(0, len(bits), 64)
                     for a, b in zip(bits[i:i + 32], bits[i + 32:i + 64]))
    return bits


@pytest.mark.parametrize("writer", WRITERS)
def test_filters_are_those_of_pyarrow(tmp_path, add_filters, writer):
    columns = [*FLAT, *LEAVES]
    theirs, old, new = (tmp_path / f"{name}.parquet" for name in ("theirs", "old", "new"))
    options = {name: {"ndv": 1750, "fpp": 0.01} for name in columns}
    parquet.write_table(TABLE, theirs, row_group_size=GROUP, bloom_filter_options=options,
                        **WRITERS[writer])
    parquet.write_table(TABLE, old, row_group_size=GROUP, **WRITERS[writer])
    assert add_filters(old, columns, new, "--force").returncode == 0
    expected, found = filters_of(theirs), filters_of(new)
    assert expected.keys() == found.keys()
    same_size = 0
    for name, bits in found.items():
        size = min(len(bits), len(expected[name]))
        assert folded(bits, size) == folded(expected[name], size), name
        same_size += len(bits) == len(expected[name])
    assert same_size > 30
    # An existing filter is kept, or replaced.
    assert add_filters(theirs, columns, new, "--force").returncode == 0
    assert filters_of(new) == expected
    assert add_filters(theirs, columns, new, "--force", "--replace").returncode == 0
    assert filters_of(new) == found
    check_unchanged(theirs, new)


def excluded(path, name, value):
    """Returns, for each row group, whether its filter excludes the value according to DuckDB."""
    rows = duckdb.execute("select row_group_id, bloom_filter_excludes from parquet_bloom_probe(?, ?, ?) "
                          "order by 1", [str(path), name, value]).fetchall()
    return [bool(row[1]) for row in rows]


def test_duckdb_probes_existing_filters(tmp_path, add_filters):
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    names = ["int64", "int32", "string", "float", "double"]
    parquet.write_table(TABLE, old, row_group_size=GROUP)
    assert add_filters(old, names, new, "--fpr", "0.001", "--force").returncode == 0
    for name in names:
        values = TABLE[name].to_pylist()
        spared = 0
        for row in range(1, ROWS, 300):
            if values[row] is None:
                continue
            found = excluded(new, name, values[row])
            assert len(found) == ROWS // GROUP
            assert not found[row // GROUP]
            spared += sum(found)
        assert spared > 20  # of nearly 40 row groups without the value


def row_groups_scanned(tmp_path, query):
    """Returns the number of row groups that DuckDB scans for the query, and of all, from its profile."""
    profile = tmp_path / "profile.json"
    connection = duckdb.connect()
    connection.execute("set enable_profiling = 'json'")
    connection.execute(f"set profiling_output = '{profile}'")
    connection.execute(query).fetchall()
    connection.close()

    def scans(part):
        if isinstance(part, dict) and "row_groups_scanned" in part:
            return [(part["row_groups_scanned"], part["total_row_groups_to_scan"])]
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        return [scan for one in inner for scan in scans(one)]

    found = scans(json.loads(profile.read_text()))
    if not found:
        pytest.skip("this DuckDB does not say how many row groups it scans")
    assert len(found) == 1
    return found[0]


def test_duckdb_scans_fewer_row_groups(tmp_path, add_filters):
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    duckdb.execute(f"""copy (select hash(i) as id, 'w' || hash(i + 1) as word from range(20480) t(i))
                       to '{old}' (format parquet, row_group_size 2048, dictionary_size_limit 1)""")
    assert add_filters(old, ["id", "word"], new, "--fpr", "0.001").returncode == 0
    check_unchanged(old, new)
    row = duckdb.execute(f"select id, word from '{old}' offset 9999 limit 1").fetchall()[0]
    for name, value in zip(("id", "word"), row):
        condition = f"{name} = '{value}'"
        # Values are unordered, so the smallest and largest of a row group rule out nothing.
        assert row_groups_scanned(tmp_path, f"from '{old}' where {condition}") == (10, 10)
        scanned, groups = row_groups_scanned(tmp_path, f"from '{new}' where {condition}")
        assert groups == 10 and 1 <= scanned <= 2
        assert duckdb.execute(f"select count(*) from '{new}' where {condition}").fetchall() == [(1,)]


def test_duckdb_excludes_row_groups_of_its_own_files(tmp_path, add_filters):
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    duckdb.execute(f"""copy (select hash(i) as id, 'w' || hash(i + 1) as word, i // 3 as third
                             from range(20480) t(i))
                       to '{old}' (format parquet, row_group_size 2048)""")
    done = add_filters(old, ["id", "word", "third"], new)
    assert done.returncode == 0, done.stderr
    check_unchanged(old, new)
    groups = parquet.read_metadata(new).num_row_groups
    assert groups == 10
    for name in ("id", "word"):
        value = duckdb.execute(f"select {name} from '{old}' offset 5000 limit 1").fetchall()[0][0]
        found = excluded(new, name, value)
        assert not found[5000 // 2048] and sum(found) >= groups - 3


def test_the_reason_is_given(tmp_path, tamis_command, add_filters):
    path, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    parquet.write_table(TABLE, path, row_group_size=GROUP)
    done = subprocess.run([tamis_command, "parquet", "add", "--column", "uint8,int64", path, "-o", new],
                          check=False, capture_output=True, text=True)
    if done.returncode != 0:  # built without Arrow
        assert "pip install pyarrow" in done.stderr
        assert sorted(tmp_path.iterdir()) == [path]
    else:
        assert "int64: 3 filters" in done.stderr
        assert "uint8: no new filter for 3 row groups" in done.stderr


def test_impossible_additions(tmp_path, add_filters):
    path, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    table = pyarrow.table({"truth": [True, False], "id": [1, 2]})
    parquet.write_table(table, path)
    for columns, options in ((["truth"], []), (["name"], []), (["id"], ["--fpr", "0.7"])):
        done = add_filters(path, columns, new, *options)
        assert done.returncode != 0 and done.stderr
    # A page that does not match its checksum.
    parquet.write_table(TABLE, path, write_page_checksum=True, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    chunk = parquet.read_metadata(path).row_group(0).column(0)
    data[chunk.data_page_offset + chunk.total_compressed_size // 2] ^= 1
    path.write_bytes(data)
    done = add_filters(path, ["int64"], new)
    assert done.returncode == 3 and "Arrow cannot read it" in done.stderr
    assert sorted(tmp_path.iterdir()) == [path]
