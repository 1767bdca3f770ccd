"""tamis.parquet: filters of pyarrow and DuckDB, of all types, and invalid files and keys."""
import array
import datetime
import decimal
import json
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import threading
import uuid

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import tamis
import tamis.parquet as tp

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = os.environ.get("TAMIS_COMMAND")
UTC = datetime.timezone.utc


def command(*arguments):
    if COMMAND is None:
        pytest.skip("TAMIS_COMMAND is not set")
    return subprocess.run([COMMAND, "parquet", *map(str, arguments)], capture_output=True,
                          text=True, check=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# 3,000 different values per type. Value i is queried in the same form, and value i + 3000 is in no file.
TYPES = {
    "int8": (pa.int8(), lambda i: i % 100, 100),
    "int16": (pa.int16(), lambda i: i - 20_000, 0),
    "int32": (pa.int32(), lambda i: 7 * i - 2**31, 0),
    "int64": (pa.int64(), lambda i: 7 * i - 2**63, 0),
    "uint8": (pa.uint8(), lambda i: i % 250, 250),
    "uint16": (pa.uint16(), lambda i: 65_535 - i, 0),
    "uint32": (pa.uint32(), lambda i: 2**32 - 1 - i, 0),
    "uint64": (pa.uint64(), lambda i: 2**64 - 1 - i, 0),
    "float32": (pa.float32(), lambda i: i / 4, 0),
    "float64": (pa.float64(), lambda i: i / 10, 0),
    "string": (pa.string(), lambda i: f"w{i}", 0),
    "large_string": (pa.large_string(), lambda i: f"w{i}\N{EURO SIGN}", 0),
    "binary": (pa.binary(), lambda i: b"\xff%d" % i, 0),
    "fixed": (pa.binary(7), lambda i: b"%07d" % i, 0),
    "date32": (pa.date32(), lambda i: datetime.date(1960, 1, 1) + datetime.timedelta(i), 0),
    "timestamp_s": (pa.timestamp("s"), lambda i: datetime.datetime(1969, 12, 1)
                    + datetime.timedelta(hours=i), 0),
    "timestamp_ms": (pa.timestamp("ms"), lambda i: datetime.datetime(2024, 1, 1)
                     + datetime.timedelta(milliseconds=i), 0),
    "timestamp_us": (pa.timestamp("us", "UTC"), lambda i: datetime.datetime(2024, 1, 1, tzinfo=UTC)
                     + datetime.timedelta(microseconds=i), 0),
    "timestamp_ns": (pa.timestamp("ns"), lambda i: datetime.datetime(2024, 1, 1)
                     + datetime.timedelta(microseconds=i), 0),
    "time32": (pa.time32("ms"), lambda i: datetime.time(i // 3600, i // 60 % 60, i % 60, 5000), 0),
    "time64": (pa.time64("us"), lambda i: datetime.time(i // 3600, i // 60 % 60, i % 60, 7), 0),
    "decimal9": (pa.decimal128(9, 2), lambda i: decimal.Decimal(i - 700).scaleb(-2), 0),
    "decimal38": (pa.decimal128(38, 3), lambda i: decimal.Decimal(i * 10**20 - 5).scaleb(-3), 0),
    "uuid": (pa.uuid(), lambda i: uuid.UUID(int=i << 70), 0),
}
COUNT = 3000
FEW = 60  # so few keys that false positives are rare at 1e-4


def column_of(kind, numbers):
    type_, value, _ = TYPES[kind]
    if kind == "uuid":
        return pa.array([value(i).bytes for i in numbers], pa.binary(16)).cast(type_)
    return pa.array([value(i) for i in numbers], type_)


def file_of(kind, path, cycle):
    """Writes even values to the first row group, odd values to the second, and nulls to both."""
    n = cycle or COUNT
    halves = [column_of(kind, [i for i in range(n) if i % 2 == odd]) for odd in (0, 1)]
    with_nulls = []
    for half in halves:
        storage = half.storage if isinstance(half, pa.ExtensionArray) else half
        indices = pa.array([None if i % 5 == 4 else i for i in range(len(half))], pa.int64())
        indices = pa.concat_arrays([indices, pa.array(range(len(half)), pa.int64())])
        taken = storage.take(indices)
        with_nulls.append(taken.cast(half.type) if storage is not half else taken)
    schema = pa.schema([("key", halves[0].type)])
    with pq.ParquetWriter(path, schema) as writer:
        for half in with_nulls:
            writer.write_table(pa.table([half], schema))


@pytest.mark.parametrize("kind", TYPES)
def test_keys_of_every_type_are_found(kind, folder):
    file_of(kind, "old.parquet", TYPES[kind][2])
    added = tp.add("old.parquet", "new.parquet", "key", fpr=1e-4, force=True)
    assert [f.outcome for f in added.filters] == ["added"] * 2
    value, cycle = TYPES[kind][1], TYPES[kind][2]
    n = cycle or COUNT
    even = range(0, FEW, 2)
    keys = {"list": [value(i) for i in even], "arrow": column_of(kind, even)}
    if kind not in ("binary", "fixed", "uuid", "decimal9", "decimal38", "time32", "time64"):
        keys["numpy"] = np.array(keys["arrow"].cast(pa.timestamp("us")).to_numpy()
                                 if kind == "timestamp_us" else keys["arrow"].to_numpy(False))
        if kind != "date32":  # pandas converts days to timestamps
            keys["pandas"] = pd.Series(keys["numpy"])
    if kind not in ("uuid", "fixed", "time32"):
        keys["polars"] = pl.Series(keys["arrow"])
    if kind.startswith("decimal"):
        keys["arrow strings"] = keys["arrow"].cast(pa.string())
    for how, these in keys.items():
        for bounds in (True, False):
            pruned = tp.prune("new.parquet", "key", these, bounds=bounds, pairs=True)
            assert pruned.key_types[0].problem is None, (how, pruned.key_types)
            assert pruned.key_types[0].misfits == 0, (how, pruned.key_types)
            assert pruned.row_groups == {"new.parquet": [0]}, (how, bounds, pruned.files)
            assert pruned.files[0].row_groups[0].hits == len(even), how
            assert sorted(map(int, pruned.pairs.keys)) == list(range(len(even))), how
    if not cycle:
        absent = [value(i) for i in range(n, n + FEW)]
        for bounds in (True, False):
            assert tp.prune("new.parquet", "key", absent, bounds=bounds).paths == []


# ---- The same bytes as the command


def everything(n):
    rng = np.random.default_rng(1)
    columns = {kind: column_of(kind, [i % (TYPES[kind][2] or COUNT) for i in range(n)])
               for kind in TYPES}
    columns["half"] = pa.array(rng.random(n).astype("f2"), pa.float16())
    columns["duration"] = pa.array(range(n), pa.duration("us"))
    columns["dictionary"] = pa.array([f"w{i % 500}" for i in range(n)]).dictionary_encode()
    columns["nothing"] = pa.nulls(n)
    columns["struct"] = pa.array(
        [None if i % 11 == 0 else {"a": {"b": i, "c": [] if i % 3 else [i, None]}} for i in range(n)],
        pa.struct([("a", pa.struct([("b", pa.int32()), ("c", pa.list_(pa.int64()))]))]))
    columns["tags"] = pa.array([None if i % 5 == 0 else [f"t{i}", None][:i % 3] for i in range(n)],
                               pa.list_(pa.string()))
    columns["nested"] = pa.array(
        [None if i % 5 == 0 else [[i], [], None] if i % 2 else [] for i in range(n)],
        pa.list_(pa.list_(pa.int32())))
    columns["map"] = pa.array([[(f"k{i}", i)] if i % 4 else None for i in range(n)],
                              pa.map_(pa.string(), pa.int64()))
    return pa.table(columns)


@pytest.mark.parametrize("options", [{}, {"version": "1.0", "use_dictionary": False},
                                     {"data_page_version": "2.0", "write_page_checksum": True,
                                      "compression": "zstd", "store_schema": False}])
def test_the_bytes_are_those_of_the_command(folder, options):
    table = everything(2000)
    if options.get("version") == "1.0":
        table = table.drop_columns(["nothing"])
    pq.write_table(table, "old.parquet", row_group_size=700, **options)
    names = [column.name for column in tp.info("old.parquet")[0].columns]
    assert len(names) > 30 and "struct.a.c.list.element" in names
    for force in (False, True):
        flags = ["--force"] if force else []
        done = command("add", "old.parquet", "-o", "command.parquet", "--column", ",".join(names),
                       "--json", *flags)
        if "without Apache Arrow" in done.stderr:
            pytest.skip("the command is built without Arrow")
        assert done.returncode == 0, done.stderr
        added = tp.add("old.parquet", "python.parquet", names, force=force)
        assert pathlib.Path("python.parquet").read_bytes() == \
            pathlib.Path("command.parquet").read_bytes()
        said = json.loads(done.stdout)["chunks"]
        assert [(f.row_group, f.column, f.outcome, f.reason, f.nbytes, f.offset)
                for f in added.filters] == \
            [(c["row_group"], c["column"], c["outcome"], c.get("reason"), c.get("bytes", 0),
              c.get("offset", 0)) for c in said]


def test_nothing_but_filters_changes(folder):
    table = everything(2000)
    pq.write_table(table, "old.parquet", row_group_size=700)
    before = pathlib.Path("old.parquet").read_bytes()
    names = [column.name for column in tp.info("old.parquet")[0].columns]
    added = tp.add("old.parquet", "new.parquet", names, force=True)
    assert pathlib.Path("old.parquet").read_bytes() == before
    assert {f.outcome for f in added.filters} == {"added"}
    assert added.old_nbytes == len(before)
    assert added.new_nbytes == os.path.getsize("new.parquet")
    assert pq.read_table("new.parquet").equals(pq.read_table("old.parquet"))
    columns = {column.name: column for column in tp.info("new.parquet")[0].columns}
    for name in names:
        filters = [f for f in added.filters if f.column == name]
        assert [f.nbytes for f in columns[name].filters] == \
            [f.nbytes + 16 if f.nbytes > 1 << 13 else pytest.approx(f.nbytes, abs=17)
             for f in filters]
        for f in filters:
            # Sizes are powers of two, filled as far as the rate allows.
            assert f.nbytes & (f.nbytes - 1) == 0 and f.fpr <= 0.01
            assert f.distinct_keys <= f.values
    again = tp.add("new.parquet", "same.parquet", names)
    assert {(f.outcome, f.reason) for f in again.filters} == {("kept", "it has a filter")}
    anew = tp.add("new.parquet", "again.parquet", names, force=True, replace=True)
    assert [f.distinct_keys for f in anew.filters] == [f.distinct_keys for f in added.filters]


def test_duckdb_finds_the_keys_of_the_filters(folder):
    pq.write_table(pa.table({"id": pa.array(range(0, 9000, 3)), "pad": ["x"] * 3000}), "old.parquet")
    tp.add("old.parquet", "new.parquet", ["id"], force=True)
    probe = "select bloom_filter_excludes from parquet_bloom_probe('new.parquet', 'id', {})"
    assert all(duckdb.sql(probe.format(i)).fetchall() == [(False,)] for i in range(0, 900, 3))
    assert sum(duckdb.sql(probe.format(i)).fetchall() == [(True,)] for i in range(1, 900, 3)) > 280


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 50)),
                                                   max_size=4)), min_size=1, max_size=200),
       group=st.integers(1, 80))
def test_lists_of_all_shapes(tmp_path_factory, rows, group):
    folder = tmp_path_factory.mktemp("lists")
    table = pa.table({"x": pa.array(rows, pa.list_(pa.int32()))})
    pq.write_table(table, folder / "old.parquet", row_group_size=group)
    tp.add(folder / "old.parquet", folder / "new.parquet", "x", force=True, fpr=1e-6)
    pruned = tp.prune(folder / "new.parquet", "x", range(60), pairs=True, bounds=False)
    want = {(i // group, key) for i, row in enumerate(rows) for key in row or [] if key is not None}
    assert set(zip(pruned.pairs.row_groups, pruned.pairs.keys)) == want


# ---- Results of pruning


@pytest.fixture
def lake(folder):
    os.makedirs("lake/day=1")
    os.makedirs("lake/.hidden")
    for i in range(4):
        table = pa.table({"id": pa.array(range(i, 8000, 4)), "s": [f"{i}-{j}" for j in range(2000)]})
        pq.write_table(table, f"lake/day=1/{i}.parquet", row_group_size=500, bloom_filter_options={
            name: {"ndv": 500, "fpp": 1e-5} for name in ("id", "s")})
    pq.write_table(table, "lake/.hidden/no.parquet")
    pathlib.Path("lake/notes.txt").write_text("none")
    return folder


def test_typical_uses_of_the_result(lake):
    keys = np.array([5, 4001, 4003])
    kept = tp.prune("lake", "id", keys, pairs=True)
    assert kept.paths == ["lake/day=1/1.parquet", "lake/day=1/3.parquet"]
    assert kept.row_groups == {"lake/day=1/1.parquet": [0, 2], "lake/day=1/3.parquet": [2]}
    assert repr(kept) == ("<tamis.parquet.Pruned: kept 2 of 4 files and 3 of 16 row groups, 0 in "
                          "doubt>")
    for array_, want in ((kept.pairs.files, [1, 1, 3]), (kept.pairs.row_groups, [0, 2, 2]),
                         (kept.pairs.keys, [0, 1, 2])):
        assert isinstance(array_, np.ndarray) and array_.tolist() == want
    assert kept.files[0].row_groups[0] == tp.PrunedRowGroup(
        0, False, "filter", 500, kept.files[0].row_groups[0].nbytes, 0, None)
    table = pyarrow.dataset.dataset(kept.paths).to_table(
        filter=pyarrow.dataset.field("id").isin(pa.array(keys)))
    assert sorted(table["id"].to_pylist()) == keys.tolist()
    frame = pl.scan_parquet(kept.paths).filter(pl.col("id").is_in(keys.tolist())).collect()
    assert sorted(frame["id"].to_list()) == keys.tolist()
    rows = [pq.ParquetFile(path).read_row_groups(groups)["id"].to_pylist()
            for path, groups in kept.row_groups.items()]
    assert set(keys.tolist()) <= set(sum(rows, []))


@settings(max_examples=40, deadline=None)
@given(keys=st.lists(st.one_of(st.none(), st.integers(-10, 9000)), min_size=1, max_size=40)
       .filter(any), threads=st.sampled_from([None, 0, 3]))
def test_no_key_is_missed(tmp_path_factory, keys, threads):
    folder = tmp_path_factory.getbasetemp() / "model"
    if not folder.exists():
        folder.mkdir()
        for i in range(3):
            pq.write_table(pa.table({"id": range(i, 9000, 3)}), folder / f"{i}.parquet",
                           row_group_size=1000,
                           bloom_filter_options={"id": {"ndv": 1000, "fpp": 1e-6}})
    pruned = tp.prune(folder, "id", keys, pairs=True, threads=threads)
    want = sorted({(k % 3, k // 3000, keys.index(k)) for k in keys if k is not None and 0 <= k < 9000})
    got = zip(pruned.pairs.files, pruned.pairs.row_groups, pruned.pairs.keys)
    assert set(want) <= set(got) and len(set(got) - set(want)) <= 1
    assert tp.prune(folder, "id", keys, hits=False, threads=threads).row_groups == pruned.row_groups


def test_the_command_gives_the_same_result(lake):
    pathlib.Path("keys.txt").write_text("5\n4001\n4003\nx\n")
    done = command("prune", "lake", "--column", "id", "--keys", "keys.txt", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    kept = tp.prune("lake", "id", ["5", "4001", "4003", "x"])
    assert [(f.path, f.kept, f.nbytes) for f in kept.files] == \
        [(f["file"], f["kept"], f["bytes"]) for f in said["files"]]
    assert [(g.kept, g.outcome, g.hits) for f in kept.files for g in f.row_groups] == \
        [(g["kept"], g["by"], g["hits"]) for f in said["files"] for g in f["row_groups"]]
    assert kept.key_types == [tp.KeyType("INT64", None, 1, [(3, "x")])]
    predicted = tp.Pruner("id", [5, 4001, 4003]).predict("lake")
    assert predicted.filters == 8 and predicted.ruled_out > 0.99
    done = command("info", *kept.paths, "--json")
    said = json.loads(done.stdout)
    for file, other in zip(said, tp.info(kept.paths)):
        assert (other.path, other.nbytes, other.rows, other.row_groups, other.writer) == \
            (file["file"], file["bytes"], file["rows"], file["row_groups"], file["writer"])
        for column, mine in zip(file["columns"], other.columns):
            assert (mine.name, mine.type, mine.verdict, mine.filter_nbytes, mine.data_nbytes) == \
                (column["column"], column["type"], column["verdict"], column["filter_bytes"],
                 column["data_bytes"])
            assert mine.row_groups_with_filter == column["row_groups_with_filter"]
            assert [(f.nbytes, f.right_nbytes) for f in mine.filters] == \
                [(f["bytes"], f["right_bytes"]) for f in column["filters"]]


def test_a_pruner_is_for_many_calls_and_threads(lake):
    pruner = tp.Pruner("id", pa.array([5, None, 6]), pairs=True)
    assert len(pruner) == 2 and pruner.key_types == []
    answers = [None] * 8

    def work(i):
        answers[i] = pruner.prune("lake")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        assert answer.files == answers[0].files
        assert isinstance(answer.pairs.keys, pa.Int64Array)
        assert answer.pairs.keys.to_pylist() == [0, 2]
    assert pruner.key_types == [tp.KeyType("INT64", None, 0, [])]


def test_progress_and_its_exceptions(lake):
    done = []
    kept = tp.prune("lake", "id", [5], progress=done.append)
    assert done == sorted(done) and done[-1] == sum(file.nbytes for file in kept.files)
    with pytest.raises(ZeroDivisionError):
        tp.prune("lake", "id", [5], progress=lambda _: 1 / 0)
    rows = []
    tp.add(kept.paths[0], "new.parquet", ["id", "s"], replace=True, progress=rows.append)
    assert rows == list(range(500, 4001, 500))
    with pytest.raises(ZeroDivisionError):
        tp.add(kept.paths[0], "other.parquet", ["id"], progress=lambda _: 1 / 0)
    assert not os.path.exists("other.parquet")


@pytest.mark.parametrize("call", ["prune(paths, 'id', [-1], threads=2)",
                                  "add(paths[0], 'out.parquet', 'id', force=True, replace=True)"])
def test_ctrl_c_ends_a_call(lake, call):
    code = f"""
        import os, signal, threading, sys, tamis.parquet
        paths = ["lake/day=1/1.parquet"] * 200_000
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                tamis.parquet.{call}
        except KeyboardInterrupt:
            print("interrupted", os.path.exists("out.parquet.tmp"))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.stdout == "interrupted False\n", done.stderr[-2000:]


# ---- Errors


def test_bad_files(lake):
    whole = pathlib.Path("lake/day=1/0.parquet").read_bytes()
    cases = {"missing.parquet": None, "empty.parquet": b"", "text.parquet": b"no Parquet file at all",
             "cut.parquet": whole[:-20], "footer.parquet": whole[:-50] + b"\xff" * 42 + whole[-8:],
             "encrypted.parquet": whole[:-4] + b"PARE"}
    for name, data in cases.items():
        if data is not None:
            pathlib.Path(name).write_bytes(data)
        error = FileNotFoundError if data is None else tamis.Error
        with pytest.raises(error, match=name.partition(".")[0]):
            tp.info(name)
        with pytest.raises(error, match=name.partition(".")[0]):
            tp.add(name, "out.parquet", "id")
        assert not os.path.exists("out.parquet")
    with pytest.raises(tamis.CorruptError):
        tp.info("cut.parquet")
    with pytest.raises(tamis.UnsupportedError, match="encrypted.parquet.*encrypted"):
        tp.add("encrypted.parquet", "out.parquet", "id")
    kept = tp.prune([*cases, "lake"], "id", [-5])
    assert kept.paths == list(cases) and len(kept.doubts) == len(cases)
    assert kept.row_groups == dict.fromkeys(cases)
    for (path, row_group, why), name in zip(kept.doubts, cases):
        assert path == name and row_group is None and why
    # Data that cannot be decoded.
    broken = bytearray(whole)
    broken[4:3000] = b"\xff" * 2996
    pathlib.Path("broken.parquet").write_bytes(broken)
    with pytest.raises(tamis.CorruptError, match="broken.parquet: Arrow cannot read it"):
        tp.add("broken.parquet", "out.parquet", "id", replace=True)
    assert not os.path.exists("out.parquet")


def test_a_damaged_filter_is_a_doubt(lake):
    path = pathlib.Path("lake/day=1/0.parquet")
    data = bytearray(path.read_bytes())
    place = pq.ParquetFile(path).metadata.row_group(1).column(0)
    at = tp.add(path, "new.parquet", "id", replace=True).filters[1].offset
    data = bytearray(pathlib.Path("new.parquet").read_bytes())
    data[at:at + 8] = b"\xff" * 8
    pathlib.Path("damaged.parquet").write_bytes(data)
    assert place.num_values == 500
    kept = tp.prune("damaged.parquet", "id", [2401], pairs=True)
    assert kept.row_groups == {"damaged.parquet": [1]}
    assert kept.files[0].row_groups[1].outcome == "doubt"
    assert kept.files[0].row_groups[1].hits is None
    assert kept.doubts[0][:2] == ("damaged.parquet", 1) and kept.doubts[0][2]
    assert kept.pairs.keys == []
    problems = [f.problem for f in tp.info("damaged.parquet")[0].columns[0].filters]
    assert problems[1] and problems[0] is problems[2] is None


def test_columns_that_are_not_there(lake):
    pq.write_table(pa.table({"a": [{"b": [1, 2], "c": 1}], "x.y": [5], "flag": [True]}), "n.parquet")
    for column, match in (("none", "none"), ("a", "a.b.list.element"), ("", "column")):
        with pytest.raises(tamis.InvalidArgumentError, match=match):
            tp.add("n.parquet", "out.parquet", column)
        kept = tp.prune("n.parquet", column, [7])
        assert kept.paths == ["n.parquet"] and len(kept.doubts) == 1
    with pytest.raises(ValueError, match="BOOLEAN"):
        tp.add("n.parquet", "out.parquet", "flag")
    with pytest.raises(ValueError, match="list of columns .* is empty"):
        tp.add("n.parquet", "out.parquet", [])
    with pytest.raises(ValueError, match="fpr"):
        tp.add("n.parquet", "out.parquet", "a.c", fpr=2)
    with pytest.raises(ValueError, match="never overwritten"):
        tp.add("n.parquet", "n.parquet", "a.c")
    os.symlink("n.parquet", "link.parquet")
    with pytest.raises(ValueError, match="never overwritten"):
        tp.add("n.parquet", "link.parquet", "a.c")
    assert not os.path.exists("out.parquet")
    tp.add("n.parquet", "out.parquet", ["a.b", "x.y"], force=True)
    assert tp.prune("out.parquet", "a.b", [2]).files[0].row_groups[0].hits == 1
    assert tp.prune("out.parquet", "x.y", [2], bounds=False).paths == []


BAD_KEYS = [
    (lambda: "5", TypeError, "one key"), (lambda: b"5", TypeError, "one key"),
    (lambda: 5, TypeError, "iterable"), (lambda: [True], TypeError, "bool"),
    (lambda: np.array([True]), TypeError, "bool"), (lambda: pa.array([True]), TypeError, "bool"),
    (lambda: [object()], TypeError, "of type object"), (lambda: [1, "a"], TypeError, "several"),
    (lambda: [1.5, "a"], TypeError, "several"), (lambda: [b"a", "a"], TypeError, "several"),
    (lambda: [1.5, 2**60], TypeError, "equal any"), (lambda: [1 + 2j], TypeError, "complex"),
    (lambda: [datetime.timedelta(1)], TypeError, "timedelta"),
    (lambda: [datetime.time(1, tzinfo=UTC)], TypeError, "time zone"),
    (lambda: np.array([[1]]), ValueError, "one dimension"),
    (lambda: np.array([1], "m8[s]"), TypeError, "timedelta64"),
    (lambda: np.array([1 + 2j]), TypeError, "complex"),
    (lambda: pa.table({"a": [1], "b": [2]}), TypeError, "one column"),
    (lambda: pa.array([3_000_000], pa.date32()), ValueError, "year"),
    (lambda: pa.array([2**62], pa.timestamp("s")), OverflowError, "64 bits"),
    (lambda: [], ValueError, "without keys"), (lambda: [None], ValueError, "without keys"),
    (lambda: pa.nulls(3), ValueError, "without keys"), (lambda: np.array([]), ValueError, "without"),
]


@pytest.mark.parametrize("keys, error, match", BAD_KEYS)
def test_invalid_keys(keys, error, match):
    with pytest.raises(error, match=match):
        tp.Pruner("id", keys())


def test_bad_options():
    for threads in (-1, 1025):
        with pytest.raises(ValueError, match="threads"):
            tp.Pruner("id", [1], threads=threads)
    with pytest.raises(ValueError, match="rate"):
        tp.info(ROOT / "tests/parquet/duckdb.parquet", fpr=7)
    with pytest.raises(FileNotFoundError):
        tp.info("no such folder/x.parquet")


def test_no_driver_of_a_gpu_is_started(lake):
    """Checks the libraries that the linker loads, if the library has the CUDA backend."""
    code = "import tamis.parquet; print(tamis.parquet.prune('lake', 'id', [5], threads=2).paths)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "LD_DEBUG": "libs"}, check=False)
    assert done.stdout == "['lake/day=1/1.parquet']\n" and "find library=" in done.stderr
    assert "libcuda" not in done.stderr


def test_keys_that_do_not_fit_are_counted(folder):
    pq.write_table(pa.table({"x": pa.array(range(100), pa.int8())}), "a.parquet")
    kept = tp.prune("a.parquet", "x", [None, *range(300, 320), 5], pairs=True)
    assert kept.key_types == [tp.KeyType("INT32 (int8)", None, 20,
                                         [(i + 1, str(300 + i)) for i in range(10)])]
    assert kept.pairs.keys == [21]
    kept = tp.prune("a.parquet", "x", [300, 301])
    assert kept.paths == ["a.parquet"] and "no key fits the type" in kept.doubts[0][2]


def test_types_of_numbers_and_dates(folder):
    day = datetime.date(2026, 1, 31)
    noon = datetime.datetime(2026, 1, 31, 12, 30)
    pq.write_table(pa.table({
        "f": pa.array([0.0, 1.5, 1e10], pa.float32()), "d": [day] * 3,
        "t": pa.array([noon, datetime.datetime(2026, 1, 31), noon], pa.timestamp("ms")),
        "n": pa.array([decimal.Decimal("12.30"), decimal.Decimal(5), None], pa.decimal128(9, 2)),
        "i": [10**18, 2, 3]}), "old.parquet", store_schema=False)
    tp.add("old.parquet", "a.parquet", ["f", "d", "t", "n", "i"], fpr=1e-9, force=True)

    def hits(column, keys):
        kept = tp.prune("a.parquet", column, keys, bounds=False)
        assert kept.key_types[0].misfits == 0, kept.key_types
        return kept.files[0].row_groups[0].hits

    berlin = datetime.timezone(datetime.timedelta(hours=1))
    for column, keys in {
            "f": [[-0.0], [1.5, 7], [np.float32(1.5)], np.array([1.5], ">f4"), array.array("d", [1.5]),
                  np.array([1.5], "f2"), pa.array([1.5], pa.float16()), ["1.5"], [10**10],
                  pd.Series([1.5, None], dtype="Float64"), [1.5, None]],
            "d": [[day], ["2026-01-31"], [day.toordinal() - 719163], np.array(["2026-01-31"], "M8[D]"),
                  np.array(["2026-01-31", "NaT"], "M8[D]"), pa.array([day], pa.date64()),
                  np.ma.masked_array(["2026-01-31", "2026-01-30"], [0, 1], "M8[D]"),
                  pl.Series([day])],
            "t": [[noon], [day], np.array(["2026-01-31"], "M8[D]"), pa.array([day]), [noon.replace(tzinfo=UTC)], [pd.Timestamp(noon)],
                  [datetime.datetime(2026, 1, 31, 13, 30, tzinfo=berlin)], pd.Series([noon, None]),
                  np.array([noon], "M8[m]"), np.array([noon], "M8[ns]"), ["2026-01-31T12:30Z"],
                  [np.datetime64("2026-01-31T12:30")],
                  [np.datetime64("2026-01-31T00", "h")], pl.Series([noon]),
                  pd.Series([pd.Timestamp(noon, tz="UTC")])],
            "n": [[decimal.Decimal("12.3")], ["12.300"], [12.3, 5], [5, decimal.Decimal("100")]],
            "i": [[10**18], np.array([2], ">i2"), (x for x in [2]), {2: 3}, range(2, 3), ["2"],
                  pa.array([2], pa.uint8()), pa.array([2, 2]).dictionary_encode(), [np.int8(2)],
                  pa.chunked_array([[2], [None]]), np.ma.array([9, 2], mask=[True, False]),
                  pd.Series([2]), pd.Series([2, None], dtype="Int64"), memoryview(b"\2"), [2.0]],
    }.items():
        for these in keys:
            if column == "n" and isinstance(these, list) and 12.3 in these:
                these = [5]  # 12.3 is not a float
            assert hits(column, these) == 1, (column, these)
    pq.write_table(pa.table({"s": ["a", "b", "c"]}), "s.parquet")
    for these in (["a", None], pd.Series(["a", None]), pd.Series(["a", float("nan")], dtype=object),
                  pd.Series(["a", pd.NA], dtype="string"), pd.Series(["a"], dtype="category"),
                  np.array(["a"]), np.array(["a"], object), np.array([b"a"]), {"a"}, [b"a"],
                  pl.Series(["a", None]), pl.DataFrame({"s": ["a"]}), pa.table({"s": ["a"]}),
                  duckdb.sql("select 'a' as s"), [np.str_("a")]):
        kept = tp.prune("s.parquet", "s", these, pairs=True)
        assert list(map(int, kept.pairs.keys)) == [0] and kept.key_types[0].misfits == 0, these
    for nan in ([float("nan")], np.array([np.nan])):
        assert tp.prune("a.parquet", "f", nan).paths == ["a.parquet"]  # rules nothing out


def test_names_that_are_no_utf8(lake):
    name = os.fsdecode(b"caf\xe9.parquet")
    try:
        shutil.copy("lake/day=1/1.parquet", name)
    except OSError:
        pytest.skip("the file system takes UTF-8 alone")
    assert tp.prune([name, os.fsencode(name), pathlib.Path(name)], "id", [5]).paths == [name] * 3
    assert tp.info(name)[0].path == name
    assert tp.add(name, name + "2", "id", replace=True).path == name + "2"


def test_pyarrow_is_imported_by_add_alone(lake):
    code = """
        import sys
        sys.modules["pyarrow"] = sys.modules["numpy"] = None
        import tamis
        assert "tamis.parquet" not in sys.modules
        import tamis.parquet
        assert tamis.parquet.prune("lake", "id", [5]).paths == ["lake/day=1/1.parquet"]
        tamis.parquet.info("lake")
        try:
            tamis.parquet.add("lake/day=1/1.parquet", "out.parquet", "id")
        except ImportError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=60, check=False)
    assert "pip install pyarrow" in done.stdout, done.stderr[-2000:]
