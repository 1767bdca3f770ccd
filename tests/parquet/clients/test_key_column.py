"""A column of a file as keys: the file contains all of them, whatever their type."""
import json
import os
import subprocess

import pyarrow
import pyarrow.parquet as parquet
import pytest

from test_add import FLAT, GROUP, LEAVES, ROWS, TABLE

HAS_ARROW = os.environ["TAMIS_HAS_ARROW"] == "arrow"
# Values of these columns may contain line ends, so no text file of keys can contain them.
BYTES = {"binary", "fixed"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "file.parquet"
    options = {name: {"ndv": GROUP, "fpp": 0.01} for name in [*FLAT, *LEAVES]}
    parquet.write_table(TABLE, path, row_group_size=GROUP, bloom_filter_options=options)
    return path


def key_column(path, column):
    names = [parquet.read_metadata(path).schema.column(i).path
             for i in range(len(parquet.read_metadata(path).schema))]
    done = subprocess.run([os.environ["TAMIS_KEY_COLUMN"], path, str(names.index(column))], check=True,
                          capture_output=True)
    return done.stdout.split(b"\0")[:-1]


def prune(path, column, *options):
    done = subprocess.run([os.environ["TAMIS_COMMAND"], "parquet", "prune", "--json", "--pairs",
                           "--column", column, *options, path], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_finds_all(answer, distinct, values):
    assert answer["keys"] == distinct
    assert [kind["misfits"] for kind in answer["types"]] == [0]
    groups = answer["files"][0]["row_groups"]
    assert len(groups) == ROWS // GROUP
    for number, group in enumerate(groups):
        own = values[number * GROUP:(number + 1) * GROUP].drop_null()
        assert group["by"] == "hits" and group["hits"] >= len(own.unique())


@pytest.mark.parametrize("column", [name for name in FLAT if name not in BYTES])
def test_a_file_holds_its_own_keys(tmp_path, file, column):
    texts = key_column(file, column)
    values = TABLE[column].combine_chunks()
    if isinstance(values, pyarrow.DictionaryArray):
        values = values.dictionary_decode()
    distinct = len(values.drop_null().unique())
    assert len(set(texts)) == len(texts) == distinct
    keys = tmp_path / "keys"
    keys.write_bytes(b"".join(text + b"\n" for text in texts))
    check_finds_all(prune(file, column, "--keys", keys), distinct, values)
    if HAS_ARROW:
        check_finds_all(prune(file, column, "--keys", file, "--parquet", "--key-column", column),
                        distinct, values)


def test_values_are_written_as_people_do(file):
    for column, some in (("decimal9", b"0.17"), ("date", b"1950-01-10"), ("uint8", b"6"),
                         ("micros", b"1960-01-01 03:25:45.001000"), ("float", b"1.25"),
                         ("time", b"00:00:00.001000"), ("user.id", b"5"), ("map.key_value.key", b"k1")):
        assert some in key_column(file, column), column


@pytest.mark.skipif(not HAS_ARROW, reason="the command was built without Arrow")
@pytest.mark.parametrize("column", sorted(BYTES))
def test_bytes_of_any_value(file, column):
    values = TABLE[column].combine_chunks()
    answer = prune(file, column, "--keys", file, "--parquet", "--key-column", column)
    check_finds_all(answer, len(values.drop_null().unique()), values)


@pytest.mark.skipif(not HAS_ARROW, reason="the command was built without Arrow")
def test_keys_of_another_type(tmp_path, file):
    """A date is the midnight at its start, and a number is the same key in every type."""
    keys = tmp_path / "keys.parquet"
    table = pyarrow.table({"day": TABLE["date"].slice(0, 50), "small": TABLE["int16"].slice(0, 50)})
    parquet.write_table(table, keys)
    other = tmp_path / "other.parquet"
    parquet.write_table(pyarrow.table({"day": table["day"].cast(pyarrow.timestamp("us")),
                                       "small": table["small"].cast(pyarrow.float64())}), other)
    for name in table.column_names:
        answer = prune(other, name, "--keys", keys, "--parquet", "--key-column", name)
        assert answer["summary"]["hits"] == answer["keys"] == len(table[name].drop_null().unique())


def test_without_arrow_the_error_says_how_to_install_it(file):
    done = subprocess.run([os.environ["TAMIS_COMMAND"], "parquet", "prune", "--column", "int64", "--keys",
                           file, "--parquet", "--key-column", "int64", file], check=False,
                          capture_output=True, text=True)
    if HAS_ARROW:
        assert done.returncode == 0 and "different keys in 6,000 values" in done.stderr
    else:
        assert done.returncode == 3 and "pip install pyarrow" in done.stderr
