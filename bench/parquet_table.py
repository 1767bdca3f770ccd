"""Compares tamis parquet with DuckDB and pyarrow, on generated files.

Needs pyarrow, numpy, duckdb, and `tamis` built with Arrow (TAMIS_PYARROW).

Usage: parquet_table.py [--tamis PATH] [--folder DIR] [--scale S] [pairs] [lake] [add]

pairs  1,000 row groups of 100,000 distinct values, and a list of a million keys. The files contain
       half of these keys. Finds for each row group the keys that it may contain.
lake   200 files of a million rows with unordered keys, and a list of 1,000 keys from 4 of the
       files. Measures the bytes that DuckDB reads and its time, alone and after
       `tamis parquet prune`.
add    adds filters to a file of a GiB.

--scale 0.1 uses a tenth of the files and row groups. Files are not in memory when they are read,
except in rows with "warm". Bytes are those read from disk. The folder, by default a temporary one,
needs 12 GB and is left as it was.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq


def keys_at(first, count):
    """Returns unordered integers of 63 bits: splitmix64 of first, first + 1 ..."""
    with np.errstate(over="ignore"):
        z = (np.arange(first, first + count, dtype=np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(1)).view(np.int64)


def write_file(path, first, rows, rows_in_group):
    ids = keys_at(first, rows)
    table = pa.table({"id": ids, "value": np.arange(first, first + rows, dtype=np.float64)})
    pq.write_table(table, path, row_group_size=rows_in_group, use_dictionary=False)


def forget(paths):
    """Drops the files from the page cache."""
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def run(command, **kwargs):
    """Runs a command. Returns its output, its seconds, and the bytes that it read from disk."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(c) for c in command], stdout=out, **kwargs)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if process.returncode != 0:
            sys.exit(f"{command[:4]} failed")
        out.seek(0)
        return out.read(), seconds, usage.ru_inblock * 512


def peak_memory(command):
    """Runs a command. Returns its peak memory in bytes, sampled every few milliseconds. (wait4
    reports the memory of this process, if that is larger at the fork.)"""
    peak = 0
    process = subprocess.Popen([str(c) for c in command])
    while process.poll() is None:
        for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                peak = max(peak, int(line.split()[1]) * 1024)
        time.sleep(0.005)
    return peak


def run_python(code, *arguments):
    """Runs Python code in a separate process, so that the bytes it reads are counted."""
    return run([sys.executable, "-c", code, *arguments])


DUCKDB = """
import duckdb, json, sys, time
paths, keys, threads = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
connection = duckdb.connect()
connection.execute(f"SET threads = {threads}")
connection.execute("SET enable_progress_bar = false")
connection.execute("CREATE TABLE keys AS SELECT column0 AS id FROM read_csv(?, header=false, columns={'column0': 'BIGINT'})", [keys])
start = time.perf_counter()
rows = connection.execute("SELECT count(*) FROM read_parquet(?) SEMI JOIN keys USING (id)", [paths]).fetchone()
print(json.dumps({"rows": rows[0], "seconds": time.perf_counter() - start}))
"""

PYARROW = """
import json, sys, time
import numpy as np, pyarrow as pa, pyarrow.compute as pc, pyarrow.dataset as ds
paths, keys, threads = json.load(open(sys.argv[1])), sys.argv[2], int(sys.argv[3])
pa.set_cpu_count(threads)
asked = pa.array(np.loadtxt(keys, dtype=np.int64))
start = time.perf_counter()
rows = ds.dataset(paths).count_rows(filter=pc.field("id").isin(asked), use_threads=threads > 1)
print(json.dumps({"rows": rows, "seconds": time.perf_counter() - start}))
"""


def ask(code, folder, paths, keys, threads):
    listed = folder / "paths.json"
    listed.write_text(json.dumps([str(path) for path in paths]))
    out, _, read = run_python(code, listed, keys, threads)
    return {**json.loads(out), "read": read}


def say(what, seconds, *more):
    print(f"  {what:<44} {seconds:9.2f} s", *more, flush=True)


def mb(count):
    return f"{count / 1e6:,.0f} MB read"


def write_keys(path, keys):
    np.savetxt(path, keys, fmt="%d")
    return path


def add_filters(tamis, files, fpr, to):
    to.mkdir()
    added = []
    for file in files:
        added.append(to / file.name)
        run([tamis, "parquet", "add", "-q", "--column", "id", "--fpr", fpr, file, "-o", added[-1]])
        forget([added[-1]])
    return added


def pairs(tamis, folder, scale):
    groups, rows, in_file = max(1, int(1000 * scale)), 100_000, 20
    print(f"pairs: {groups} row groups of {rows} distinct values, 10^6 keys", flush=True)
    plain = []
    for first in range(0, groups, in_file):
        plain.append(folder / f"p{first:04}.parquet")
        write_file(plain[-1], first * rows, min(in_file, groups - first) * rows, rows)
    files = add_filters(tamis, plain, "1%", folder / "pairs")
    half = 500_000
    present = keys_at(0, groups * rows)[:: max(1, groups * rows // half)][:half]
    keys = write_keys(folder / "keys.txt", np.concatenate([present, keys_at(1 << 40, half)]))
    raw = folder / "keys.u64"
    np.loadtxt(keys, dtype=np.int64).tofile(raw)
    probes = 10**6 * groups
    command = [tamis, "parquet", "prune", "-q", "--column", "id", "--keys", raw, "--u64"]
    for threads in (1, 2):
        base = [*command, "--threads", threads]
        _, nothing, _ = run([*base, "--row-groups", files[0]])  # keys read, files opened
        for what, options in (("hits per row group", ["--row-groups"]), ("pairs", ["--pairs"])):
            run([*base, *options, *files])  # warm
            out, seconds, _ = run([*base, *options, *files])
            say(
                f"tamis, {what}, {threads} threads, warm",
                seconds,
                f"{1e9 * (seconds - nothing) / probes:.2f} ns a probe, {len(out.splitlines())} lines",
            )
        for what, code in (("DuckDB, semi join", DUCKDB), ("pyarrow dataset, isin", PYARROW)):
            ask(code, folder, plain, keys, threads)
            answer = ask(code, folder, plain, keys, threads)
            say(f"{what}, {threads} threads, warm", answer["seconds"], f"{answer['rows']} rows")
    for file in (*plain, *files, keys, raw):
        file.unlink()


def lake(tamis, folder, scale):
    num_files, rows, num_keys, holders = max(4, int(200 * scale)), 1_000_000, 1_000, 4
    print(f"lake: {num_files} files of {rows} rows, {num_keys} keys of {holders} files", flush=True)
    plain = []
    for i in range(num_files):
        plain.append(folder / f"l{i:04}.parquet")
        write_file(plain[-1], i * rows, rows, 200_000)
    holding = [i * num_files // holders for i in range(holders)]
    of_each = num_keys // holders
    keys = write_keys(
        folder / "keys.txt",
        np.concatenate([keys_at(i * rows, rows)[7 : 7 + 40 * of_each : 40] for i in holding]),
    )

    def duckdb_alone(what, files):
        forget(files)
        answer = ask(DUCKDB, folder, files, keys, 2)
        say(f"DuckDB alone, {what}", answer["seconds"], mb(answer["read"]), answer["rows"], "rows")

    duckdb_alone("no filters", plain)
    for fpr in ("1%", "1e-5"):
        files = add_filters(tamis, plain, fpr, folder / "lake")
        grown = sum(f.stat().st_size for f in files) - sum(f.stat().st_size for f in plain)
        print(f"  filters at {fpr}: {grown / 1e6:,.0f} MB more", flush=True)
        duckdb_alone(f"filters at {fpr}", files)
        forget(files)
        command = [tamis, "parquet", "prune", "--column", "id", "--keys", keys]
        with tempfile.TemporaryFile() as err:
            out, seconds, read = run([*command, *files], stderr=err)
            err.seek(0)
            said = err.read().decode()
        kept = out.decode().split()
        say(f"prune, filters at {fpr}", seconds, mb(read), f"{len(kept)} files kept")
        print("    " + said.strip().replace("\n", "\n    "))
        answer = ask(DUCKDB, folder, kept, keys, 2)
        say("  then DuckDB on these", answer["seconds"], mb(answer["read"]), answer["rows"], "rows")
        for file in files:
            file.unlink()
        (folder / "lake").rmdir()
    for file in (*plain, keys):
        file.unlink()


def add(tamis, folder, scale):
    rows = int((1 << 30) * scale / 12)
    old, new = folder / "old.parquet", folder / "new.parquet"
    write_file(old, 0, rows, 1 << 20)
    size = old.stat().st_size
    print(f"add: a file of {size / 2**20:,.0f} MiB, row groups of 2^20 rows", flush=True)
    command = [tamis, "parquet", "add", "-q", "--column", "id", old, "-o", new]
    for state in ("cold", "warm"):
        if state == "cold":
            forget([old])
        _, seconds, _ = run(command)
        say(f"tamis parquet add, {state}", seconds)
    print(f"  peak memory {peak_memory(command) / 2**20:.0f} MiB")
    footer = pq.ParquetFile(old).metadata.serialized_size + 8
    with open(old, "rb") as before, open(new, "rb") as after:
        same = True
        for _ in range(0, size - footer, 1 << 24):
            n = min(1 << 24, size - footer - before.tell())
            same &= before.read(n) == after.read(n)
    print(f"  {new.stat().st_size - size:,} bytes added; bytes before the footer equal: {same}")
    start = time.perf_counter()
    new.write_bytes(old.read_bytes())
    say("the file copied, warm", time.perf_counter() - start)
    old.unlink(), new.unlink()
    if not same:
        sys.exit("the data differs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tamis", default="tamis")
    parser.add_argument("--folder")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("parts", nargs="*", choices=[[], "pairs", "lake", "add"], metavar="PART")
    arguments = parser.parse_args()
    parts = {"pairs": pairs, "lake": lake, "add": add}
    print(f"pyarrow {pa.__version__}, DuckDB {duckdb.__version__}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for name in arguments.parts or parts:
            parts[name](arguments.tamis, pathlib.Path(folder), arguments.scale)


if __name__ == "__main__":
    main()
