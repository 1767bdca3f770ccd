"""Compares `tamis parquet prune` with DuckDB's own probe, on files of pyarrow and of DuckDB.

Usage: peers.py FOLDER COMMAND

FOLDER is for files, and for a virtual environment that is kept for the next run. Status 77: the
required packages are not available.
"""
import json
import pathlib
import subprocess
import sys
import venv

PACKAGES = ["pyarrow>=24", "duckdb>=1.3"]
GROUPS = 3
DISTINCT = 40  # values in a row group, each in many rows, because DuckDB then adds a filter
ROWS = 2048    # in a row group, DuckDB's smallest

# Column name, type in DuckDB, and value i as text. Different numbers give different values.
COLUMNS = [
    ("i8", "TINYINT", lambda i: str(i - 120)),
    ("i16", "SMALLINT", lambda i: str(37 * i - 15000)),
    ("i32", "INTEGER", lambda i: str(16777259 * (i % 120) - 2**31 + i)),
    ("i64", "BIGINT", lambda i: str((-1) ** i * i ** 7)),
    ("u8", "UTINYINT", lambda i: str(i)),
    ("u16", "USMALLINT", lambda i: str(65535 - i)),
    ("u32", "UINTEGER", lambda i: str(2**32 - 1 - 7 * i)),
    ("u64", "UBIGINT", lambda i: str(2**64 - 1 - 7 * i)),
    ("f32", "FLOAT", lambda i: str(i / 4 - 10)),
    ("f64", "DOUBLE", lambda i: repr(i / 10 - 4)),
    ("text", "VARCHAR", lambda i: "key " + "x" * (i % 37) + str(i)),
    ("day", "DATE", lambda i: f"{1950 + i % 150}-{1 + i % 12:02}-{1 + i % 28:02}"),
    ("ms", "TIMESTAMP_MS", lambda i: f"2024-02-{1 + i % 28:02} 12:00:{i // 28:02}.{i:03}"),
    ("us", "TIMESTAMP", lambda i: f"1969-12-{1 + i % 28:02} 23:59:{i // 28:02}.{i:06}"),
    ("ns", "TIMESTAMP_NS", lambda i: f"2024-02-{1 + i % 28:02} 12:00:{i // 28:02}.{i:09}"),
    ("cents", "DECIMAL(9, 2)", lambda i: f"{i - 60}.{i % 100:02}"),
    ("amount", "DECIMAL(30, 3)", lambda i: f"{(i - 60) * 10**18 + i}.{i % 1000:03}"),
    ("uuid", "UUID", lambda i: f"{i:08x}-89ab-cdef-0123-456789abcdef"),
    ("blob", "BLOB", lambda i: "bytes" + str(i)),
]


def unavailable(why):
    print(f"the tests beside pyarrow and DuckDB are skipped: {why}")
    sys.exit(77)


def inside_environment(folder):
    """Restarts the script with an interpreter that has the packages, unless this one has them."""
    try:
        import duckdb
        import pyarrow.parquet
        return duckdb, pyarrow
    except ImportError:
        pass
    python = folder / "venv/bin/python"
    if pathlib.Path(sys.executable) == python:
        unavailable("pyarrow and DuckDB cannot be imported")
    try:
        if not python.exists():
            venv.create(folder / "venv", with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
            capture_output=True, text=True, check=False)
    except (subprocess.CalledProcessError, OSError) as error:
        unavailable(f"no virtual environment can be made here: {error}")
    if done.returncode != 0:
        unavailable("packages cannot be had from PyPI:\n" + done.stderr[-2000:])
    sys.exit(subprocess.run([python, *sys.argv], check=False).returncode)


def make_files(duckdb, pyarrow, folder):
    """Writes the same rows with both; row group g has the values from DISTINCT * g on."""
    connection = duckdb.connect()
    selected = []
    for name, kind, value in COLUMNS:
        values = ", ".join(f"'{value(i)}'" for i in range(DISTINCT * GROUPS))
        index = f"{DISTINCT} * (range // {ROWS}) + range % {DISTINCT}"
        selected.append(f"CAST([{values}][1 + {index}] AS {kind}) AS {name}")
    query = f"SELECT {', '.join(selected)} FROM range({GROUPS * ROWS})"
    connection.execute(f"CREATE TABLE keys AS {query}")
    paths = {"duckdb": folder / "duckdb.parquet", "pyarrow": folder / "pyarrow.parquet"}
    connection.execute("SET threads = 1")
    connection.execute(f"COPY keys TO '{paths['duckdb']}' (FORMAT parquet, ROW_GROUP_SIZE {ROWS})")
    table = connection.sql("SELECT * FROM keys").to_arrow_table()
    options = {name: {"ndv": DISTINCT, "fpp": 0.02} for name, _, _ in COLUMNS}
    pyarrow.parquet.write_table(table, paths["pyarrow"], row_group_size=ROWS,
                                bloom_filter_options=options)
    return connection, paths


def pairs(command, path, column, texts):
    """Returns, for each row group, the indices of the keys that it may contain, and its outcome."""
    keys = path.with_suffix(".keys")
    keys.write_text("".join(text + "\n" for text in texts))
    done = subprocess.run([command, "parquet", "prune", "-q", "--column", column, "--keys", keys,
                           "--no-bounds", "--pairs", "--json", path],
                          capture_output=True, text=True, check=True)
    file = json.loads(done.stdout)["files"][0]
    assert "doubt" not in file, file
    numbers = {text: i for i, text in enumerate(texts)}
    return [(group["by"], {numbers[key] for key in group["keys"]})
            for group in file["row_groups"]]


def check(duckdb, connection, command, writer, path, column):
    name, kind, value = column
    count = DISTINCT * GROUPS + DISTINCT  # the last DISTINCT values are in no row group
    texts = [value(i) for i in range(count)]
    groups = pairs(command, path, name, texts)
    assert len(groups) == GROUPS
    with_filter = [group for group in groups if group[0] in ("hits", "filter")]
    for number, (_, found) in enumerate(groups):
        own = set(range(DISTINCT * number, DISTINCT * (number + 1)))
        assert own <= found, f"{writer} {name}: group {number} lacks {own - found}"
        if with_filter:
            others = len(found - own) / (count - DISTINCT)
            assert others < 0.2, f"{writer} {name}: {others:.0%} of absent keys pass"
    if not with_filter:
        print(f"{writer} {name}: no filters")
        return 0, 0
    probes = []
    for i in range(0, count, 3):
        try:
            probes += [(i, number, excluded) for _, number, excluded in connection.execute(
                f"SELECT * FROM parquet_bloom_probe('{path}', '{name}', "
                f"CAST('{texts[i]}' AS {kind}))").fetchall()]
        except duckdb.Error as error:
            print(f"{writer} {name}: DuckDB cannot probe it: {str(error).splitlines()[0]}")
            return len(with_filter), 0
    if not any(excluded for _, _, excluded in probes):
        print(f"{writer} {name}: DuckDB does not ask filters of this type")
        return len(with_filter), 0
    for i, number, excluded in probes:
        assert excluded == (i not in groups[number][1]), f"{writer} {name}: {texts[i]}"
    print(f"{writer} {name}: {len(with_filter)} filters, {len(probes)} answers as DuckDB's")
    return len(with_filter), len(probes)


def main(folder, command):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    duckdb, pyarrow = inside_environment(folder)
    connection, paths = make_files(duckdb, pyarrow, folder)
    for writer, path in paths.items():
        results = [check(duckdb, connection, command, writer, path, column) for column in COLUMNS]
        filters = sum(result[0] for result in results)
        probed = sum(result[1] for result in results)
        assert filters >= 15 * GROUPS and probed >= 1500, f"{writer}: too little was asked"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
