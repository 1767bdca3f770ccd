"""Writes the small Parquet files in this folder. Other writers made their Bloom filters.

Usage: make_parquet.py WRITER    (WRITER: duckdb, or pyarrow if it can write Bloom filters)

Writes two files per writer: NAME.parquet, and NAME.txt with the places of its filters and the values
of its columns. README.md states the versions of the writers of the committed files.
"""
import pathlib
import struct
import sys

FOLDER = pathlib.Path(__file__).parent
DISTINCT = 100
ROWS = 10 * DISTINCT  # DuckDB makes filters only for dictionaries, and dictionaries only for repeated values
BLOOM_FILTER_OFFSET = 14  # the field of ColumnMetaData in parquet.thrift


def values():
    """Returns the distinct values of both columns: integers of all sizes, strings of up to 34 letters."""
    ids = [(-1) ** i * i ** 9 for i in range(DISTINCT)]
    words = ["".join(chr(ord("a") + (5 * i + j) % 26) for j in range((i + 2) // 3))
             for i in range(DISTINCT)]
    assert len(set(ids)) == len(set(words)) == DISTINCT
    return ids, words


def write_duckdb(path):
    import duckdb
    ids, words = values()
    connection = duckdb.connect()
    connection.execute("create table keys (id bigint, word varchar)")
    connection.executemany("insert into keys values (?, ?)",
                           [(ids[i % DISTINCT], words[i % DISTINCT]) for i in range(ROWS)])
    connection.execute(f"copy keys to '{path}' (format parquet, compression zstd)")
    return f"DuckDB {duckdb.__version__}"


def write_pyarrow(path):
    import pyarrow
    import pyarrow.parquet
    ids, words = values()
    table = pyarrow.table({
        "id": pyarrow.array([ids[i % DISTINCT] for i in range(ROWS)], pyarrow.int64()),
        "word": [words[i % DISTINCT] for i in range(ROWS)],
    })
    options = {name: {"ndv": DISTINCT, "fpp": 0.01} for name in ("id", "word")}
    pyarrow.parquet.write_table(table, path, bloom_filter_options=options, store_schema=False)
    return f"pyarrow {pyarrow.__version__}"


class Compact:
    """Reads Thrift's compact protocol: structs become dictionaries by field."""

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def integer(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):  # a boolean field, whose value is in its kind
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.integer()
        if kind == 7:
            self.at += 8
            return struct.unpack_from("<d", self.data, self.at - 8)[0]
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size:self.at]
        if kind in (9, 10):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            kind = head & 15
            return [self.byte() == 1 if kind in (1, 2) else self.value(kind) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"kind {kind}")

    def struct(self):
        fields = {}
        field = 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            field = field + (head >> 4) if head >> 4 else self.integer()
            fields[field] = self.value(head & 15)


def filters(data):
    """Yields the name of each column, and the offset and the size of its filter."""
    assert data[-4:] == b"PAR1"
    size = struct.unpack_from("<I", data, len(data) - 8)[0]
    footer = Compact(data, len(data) - 8 - size).struct()
    groups = footer[4]
    assert len(groups) == 1
    for column in groups[0][1]:
        meta = column[3]
        name = b".".join(meta[3]).decode()
        header = Compact(data, meta[BLOOM_FILTER_OFFSET])
        fields = header.struct()
        # A split-block filter of XXH64 hashes, uncompressed.
        assert [set(fields[i]) for i in (2, 3, 4)] == [{1}, {1}, {1}], fields
        yield name, header.at, fields[1]


def main(arguments):
    writers = {"duckdb": write_duckdb, "pyarrow": write_pyarrow}
    if len(arguments) != 1 or arguments[0] not in writers:
        print(__doc__, file=sys.stderr)
        return 2
    name = arguments[0]
    path = FOLDER / f"{name}.parquet"
    version = writers[name](path)
    ids, words = values()
    lines = [f"{column} {offset} {size}" for column, offset, size in filters(path.read_bytes())]
    lines += [f"{number} {word}" for number, word in zip(ids, words)]
    path.with_suffix(".txt").write_text("\n".join(lines) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes, by {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
