"""Bloom filters in Parquet files: docs/parquet.md. Reports whether they are worth their bytes,
finds the files that may contain keys, and adds filters to files.

>>> import pyarrow as pa, pyarrow.parquet as pq
>>> import tamis.parquet
>>> for i in range(3):
...     ids = range(i, 30_000, 3)
...     pq.write_table(pa.table({"id": ids}), f"old-{i}.parquet")
...     added = tamis.parquet.add(f"old-{i}.parquet", f"part-{i}.parquet", ["id"])
>>> kept = tamis.parquet.prune([f"part-{i}.parquet" for i in range(3)], "id", [4, 40_000])
>>> kept.paths
['part-1.parquet']
"""
import dataclasses as _dataclasses
import os as _os
import typing as _typing
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable

from . import CorruptError as _CorruptError
from . import UnsupportedError as _UnsupportedError
from . import _kinds, _parquet_keys
from ._tamis import parquet as _parquet

if _typing.TYPE_CHECKING:
    from typing_extensions import Buffer as _Buffer

    from . import _ArrowArray, _ArrowStream, _Path
    _Paths: _typing.TypeAlias = _Path | _Iterable[_Path]
    # Also accepts iterables of floats, decimals, dates and times.
    _Keys: _typing.TypeAlias = _Iterable[_typing.Any] | _Buffer | _ArrowArray | _ArrowStream

_OUTCOMES = ("no_values", "bounds", "filter", "hits", "no_filter", "doubt")
_KEPT = 3  # index of the first outcome that is kept
_BATCH_ROWS = 1 << 16


def _paths_of(paths):
    """Returns the paths. Replaces a folder by the .parquet and .parq files below it."""
    if isinstance(paths, (str, bytes, _os.PathLike)):
        paths = [paths]
    given = [_os.fsencode(path) for path in paths]
    return [_os.fsdecode(path) for path in _parquet.files_of(given)] if given else []


class _Named:
    """Adds the path to errors about the contents of a file, if their message lacks the path."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        about_bytes = isinstance(error, (_CorruptError, _UnsupportedError))
        if about_bytes and self._path not in str(error):
            error.args = (f"{self._path}: {error}",)


# ---- Reports on filters


@_dataclasses.dataclass(frozen=True, slots=True)
class FilterInfo:
    """The filter of a column in one row group."""

    row_group: int
    present: bool
    problem: str | None  # why the filter cannot be read
    nbytes: int  # size with its header
    fill: float  # share of bits that are set
    estimated_keys: float  # estimated number of distinct keys; infinite if all bits are set
    rate: float  # false-positive rate
    right_nbytes: int  # size of a filter for these keys; 0 if their number is unknown


@_dataclasses.dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A column and its filters.

    verdict: whether the filters are worth their bytes.
    ignored_statistics: bounds and counts that are not used, because the file's writer is known to
    write wrong values.
    """

    name: str  # the path, with dots
    type: str
    filter_nbytes: int
    data_nbytes: int
    share_of_file: float
    rate: float | None  # mean false-positive rate; None without a filter
    verdict: str
    ignored_statistics: list[str]
    filters: list[FilterInfo]

    @property
    def row_groups_with_filter(self) -> int:
        return sum(filter.present for filter in self.filters)


@_dataclasses.dataclass(frozen=True, slots=True)
class FileInfo:
    """A file and its columns."""

    path: str
    nbytes: int
    rows: int
    row_groups: int
    writer: str
    columns: list[ColumnInfo]


def _file_info(path, fpr):
    _os.stat(path)  # raises FileNotFoundError and so on
    with _Named(path):
        nbytes, rows, writer, columns = _parquet.report(_os.fsencode(path), fpr)
    made = []
    for name, type_, filter_nbytes, data_nbytes, rate, verdict, ignored, groups in columns:
        filters = [FilterInfo(i, *group) for i, group in enumerate(groups)]
        made.append(ColumnInfo(
            name, type_, filter_nbytes, data_nbytes, filter_nbytes / nbytes,
            rate if any(filter.present for filter in filters) else None, verdict, ignored, filters))
    row_groups = len(made[0].filters) if made else 0
    return FileInfo(path, nbytes, rows, row_groups, writer, made)


def info(paths: "_Paths", *, fpr: float = 0.01) -> list[FileInfo]:
    """Reports on the Bloom filters of files, and whether they are worth their bytes.

    Returns a list of FileInfo.

    paths: one or several files or folders. A folder stands for all files below it that end in
        .parquet or .parq.
    fpr: false-positive rate of the filters to compare with.

    Reads the footers and the filters, and no data. Raises CorruptError if a file is not a Parquet
    file. If a filter cannot be read, its `problem` contains the reason.

    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"id": range(1000)}), "plain.parquet")
    >>> [(column.name, column.verdict) for column in tamis.parquet.info("plain.parquet")[0].columns]
    [('id', 'It has no filters.')]
    """
    return [_file_info(path, fpr) for path in _paths_of(paths)]


# ---- Pruning


@_dataclasses.dataclass(frozen=True, slots=True)
class PrunedRowGroup:
    """The outcome for a row group.

    outcome: 'no_values', 'bounds' and 'filter' rule out all keys. 'hits', 'no_filter' and 'doubt'
        are kept.
    hits: number of keys that the row group may contain; None in doubt, and with hits=False.
    """

    row_group: int
    kept: bool
    outcome: str
    rows: int
    nbytes: int
    hits: int | None
    doubt: str | None


@_dataclasses.dataclass(frozen=True, slots=True)
class PrunedFile:
    """The outcome for a file. doubt: why the file was not queried; `row_groups` is then empty."""

    path: str
    kept: bool
    nbytes: int
    doubt: str | None
    row_groups: list[PrunedRowGroup]


@_dataclasses.dataclass(frozen=True, slots=True)
class KeyType:
    """The keys as values of one column type.

    problem: why columns of the type could not be queried. They were kept.
    misfits: number of keys that no column of the type can contain. They were not queried.
    first_misfits: the indices and texts of the first ten misfits.
    """

    type: str
    problem: str | None
    misfits: int
    first_misfits: list[tuple[int, str]]


@_dataclasses.dataclass(frozen=True, slots=True)
class Prediction:
    """An estimate of the row groups that filters rule out, from a sample of filters.

    filters: size of the sample. keys: mean number of keys within the bounds.
    rate: mean false-positive rate. false_hits: mean number of false positives in a row group.
    ruled_out: share of row groups without the keys that filters rule out.
    """

    filters: int
    keys: float
    rate: float
    false_hits: float
    ruled_out: float


@_dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The pairs of a key and a row group that may contain it: three integer arrays.

    The arrays are of the package of the keys.

    files: indices into Pruned.files, ascending. row_groups: numbers in the file, ascending.
    keys: indices of the keys, in no particular order. For a repeated key, the first index.
    """

    files: _typing.Any
    row_groups: _typing.Any
    keys: _typing.Any


@_dataclasses.dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pruned:
    """The result of pruning. Kept files may contain a key. All other files contain none.

    files: all files, in order. key_types: the keys as values of the column types.
    pairs: a Pairs with pairs=True, otherwise None. Leaves out row groups in doubt, because these
        may contain any key.
    """

    files: list[PrunedFile]
    key_types: list[KeyType]
    pairs: Pairs | None

    @property
    def paths(self) -> list[str]:
        """The kept files, for example for pyarrow.dataset.dataset or polars.scan_parquet."""
        return [file.path for file in self.files if file.kept]

    @property
    def row_groups(self) -> dict[str, list[int] | None]:
        """The kept row groups by the path of their file, for
        pyarrow.parquet.ParquetFile.read_row_groups. None: all row groups of a file in doubt."""
        return {file.path: None if file.doubt is not None else
                [group.row_group for group in file.row_groups if group.kept]
                for file in self.files if file.kept}

    @property
    def doubts(self) -> list[tuple[str, int | None, str]]:
        """Everything kept because of an error or missing information: path, row group (None: all)
        and reason."""
        found = []
        for file in self.files:
            if file.doubt is not None:
                found.append((file.path, None, file.doubt))
            found += [(file.path, group.row_group, group.doubt) for group in file.row_groups
                      if group.doubt is not None]
        return found

    def __repr__(self) -> str:
        groups = [group for file in self.files for group in file.row_groups]
        return (f"<tamis.parquet.Pruned: kept {len(self.paths)} of {len(self.files)} files and "
                f"{sum(group.kept for group in groups)} of {len(groups)} row groups, "
                f"{len(self.doubts)} in doubt>")


class Pruner:
    """Keys to look for in files. Hashes the keys once for each type of the column. Thread-safe.

    column: its path, with dots: 'id', 'address.city', 'tags.list.element' (or 'tags').
    keys: a NumPy array, a column of Arrow, Polars or pandas, or any iterable: integers, floats,
        str, bytes, Decimal, date, time, datetime and UUID. None and null are not keys. A str is
        the value as people write it: '42', '12.30', '2026-01-31'. In string columns it is the
        string itself. A datetime without a time zone is in UTC.
    hits: whether to count keys. If False, each row group is queried until the first hit.
    pairs: whether to return the pairs of keys and row groups.
    bounds, filters: whether to use smallest and largest values, and Bloom filters.
    threads: number of threads. None: the calling thread. 0: one thread per processor, or
        TAMIS_THREADS.

    >>> tamis.parquet.Pruner("id", [1, 2, None, 3])
    <tamis.parquet.Pruner: 3 keys for column 'id'>
    """

    def __init__(self, column: str, keys: "_Keys", *, hits: bool = True, pairs: bool = False,
                 bounds: bool = True, filters: bool = True, threads: int | None = None) -> None:
        if threads is not None and not 0 <= threads <= 1024:
            raise ValueError(f"threads is {threads}, and must be in [0, 1024]")
        self._column = column
        self._hits = hits or pairs
        source, form = _parquet_keys.typed(keys)
        self._pruner = _parquet.Pruner(source, form, column, hits, pairs, bounds, filters,
                                       1 if threads is None else threads)
        try:  # to create arrays like the keys without keeping them
            self._like = keys[:0]
        except Exception:  # not a sequence
            self._like = keys if hasattr(keys, "__arrow_c_stream__") else []

    def prune(self, paths: "_Paths", *,
              progress: _Callable[[int], object] | None = None) -> Pruned:
        """Queries files: see prune()."""
        files = _paths_of(paths)
        answers, pairs = self._pruner.prune([_os.fsencode(path) for path in files], progress)
        made = []
        for path, (kept, nbytes, doubt, groups) in zip(files, answers):
            made.append(PrunedFile(path, kept, nbytes, doubt, [
                PrunedRowGroup(i, outcome >= _KEPT, _OUTCOMES[outcome], rows, group_nbytes,
                               hits if self._hits and why is None else None, why)
                for i, (outcome, rows, group_nbytes, hits, why) in enumerate(groups)]))
        if pairs is not None:
            pairs = Pairs(*(_kinds.like(array, self._like) for array in pairs))
        return Pruned(made, self.key_types, pairs)

    def predict(self, paths: "_Paths", samples: int = 16) -> Prediction:
        """Estimates what filters rule out, from a sample of files. Returns a Prediction."""
        files = [_os.fsencode(path) for path in _paths_of(paths)]
        return Prediction(*self._pruner.predict(files, samples))

    @property
    def key_types(self) -> list[KeyType]:
        """The keys as values of the column types seen so far."""
        return [KeyType(*row) for row in self._pruner.types()]

    def __len__(self) -> int:
        return len(self._pruner)

    def __repr__(self) -> str:
        return f"<tamis.parquet.Pruner: {len(self)} keys for column {self._column!r}>"


def prune(paths: "_Paths", column: str, keys: "_Keys", *, hits: bool = True, pairs: bool = False,
          bounds: bool = True, filters: bool = True, threads: int | None = None,
          progress: _Callable[[int], object] | None = None) -> Pruned:
    """Finds the files and row groups that may contain any of the keys. Returns a Pruned.

    paths: one or several files or folders. A folder stands for all files below it that end in
        .parquet or .parq.
    column, keys, hits, pairs, bounds, filters, threads: see Pruner.
    progress: called with the number of bytes of files that are done.

    Compares keys with the smallest and largest values first, then queries the filters. Reads no
    data. Everything in doubt is kept: files that cannot be read, damaged footers and filters,
    missing columns. Raises ValueError for an empty list of keys, and TypeError for objects that
    are not keys.

    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"id": range(1000)}), "rows.parquet", row_group_size=250)
    >>> kept = tamis.parquet.prune("rows.parquet", "id", [300, 999], pairs=True)
    >>> kept.row_groups
    {'rows.parquet': [1, 3]}
    >>> kept.pairs.row_groups, kept.pairs.keys
    ([1, 3], [0, 1])
    """
    pruner = Pruner(column, keys, hits=hits, pairs=pairs, bounds=bounds, filters=filters,
                    threads=threads)
    return pruner.prune(paths, progress=progress)


# ---- Adding filters


@_dataclasses.dataclass(frozen=True, slots=True)
class AddedFilter:
    """The outcome for a column of a row group.

    outcome: 'added'; 'replaced'; 'kept': the existing filter stays; 'left_out': a filter would not
        be worth its bytes.
    reason: why the filter was kept or left out.
    values: the number of values, including nulls.
    distinct_keys, nbytes, fpr: the properties of the filter that was added, kept or left out; 0 if
        unknown.
    offset, nbytes_in_file: the place of an added filter in the new file, otherwise 0.
    """

    row_group: int
    column: str
    outcome: str
    reason: str | None
    values: int
    distinct_keys: int
    nbytes: int
    fpr: float
    offset: int
    nbytes_in_file: int


@_dataclasses.dataclass(frozen=True, slots=True)
class Added:
    """A new file with filters, and the sizes of both files."""

    path: str
    old_nbytes: int
    new_nbytes: int
    filters: list[AddedFilter]


def _import_pyarrow():
    try:
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("tamis.parquet.add requires pyarrow, which is not installed: "
                          "pip install pyarrow") from error
    return pyarrow


class _Values:
    """The physical values of a file, read by pyarrow with a footer without logical types."""

    def __init__(self, path, footer):
        self._path = path
        self._pyarrow = _import_pyarrow()
        tail = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
        with self._errors():
            metadata = self._open(self._pyarrow.BufferReader(tail)).metadata
            self._file = self._open(self._pyarrow.OSFile(_os.fsencode(path)), metadata=metadata,
                                    pre_buffer=False, buffer_size=1 << 20,
                                    page_checksum_verification=True)
        schema = metadata.schema
        self._columns = [schema.column(i).path for i in range(len(schema))]

    def _open(self, source, **options):
        most = 2**31 - 1
        return self._pyarrow.parquet.ParquetFile(
            source, thrift_string_size_limit=most, thrift_container_size_limit=most, **options)

    def read(self, row_group, column):
        """Yields arrays of the values of a column, each with its number of values in the footer."""
        name = self._columns[column]
        with self._errors():
            for batch in self._file.iter_batches(_BATCH_ROWS, [row_group], [name],
                                                 use_threads=False):
                # pyarrow also reads columns whose names begin with this name and a dot.
                tops = [i for i, top in enumerate(batch.schema.names)
                        if name == top or name.startswith(top + ".")]
                yield self._leaf(batch.column(self._only(tops, name)), name)

    def _only(self, found, name):
        if len(found) != 1:
            raise _CorruptError(f"{self._path}: several columns are named {name}")
        return found[0]

    def _leaf(self, array, name):
        """Returns the values within lists and structs, and their number in the footer, which counts
        an empty list as one value."""
        compute, types = self._pyarrow.compute, self._pyarrow.types
        empty = 0
        while True:
            if types.is_struct(array.type):
                array = self._only(array.flatten(), name)
            elif types.is_list(array.type) or types.is_large_list(array.type):
                lengths = compute.fill_null(compute.list_value_length(array), 0)
                empty += compute.sum(compute.equal(lengths, 0)).as_py() or 0
                array = array.flatten()
            else:
                return array, empty + len(array)

    def _errors(self):
        return _ArrowErrors(self._path, self._pyarrow)


class _ArrowErrors:
    """Converts exceptions of pyarrow to CorruptError."""

    def __init__(self, path, pyarrow):
        self._path = path
        self._classes = (pyarrow.ArrowException, OSError)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, self._classes) and not isinstance(error, MemoryError):
            raise _CorruptError(f"{self._path}: Arrow cannot read it: {error}") from error


def add(path: "_Path", out: "_Path", columns: str | _Iterable[str], *, fpr: float = 0.01,
        force: bool = False, replace: bool = False,
        progress: _Callable[[int], object] | None = None) -> Added:
    """Writes a copy of a Parquet file with Bloom filters for some columns. Returns an Added.

    out: the new file. It contains the bytes of the old file, the filters behind its data, and a
        footer that lists them. `out` is created only after the new file was read back and
        checked. The old file is unchanged.
    columns: one or several paths, with dots.
    fpr: the highest false-positive rate, from 1e-12 to 0.5.
    force: also adds filters that are not worth their bytes. replace: replaces existing filters.
    progress: called with the number of rows that are done, summed over all columns.

    pyarrow decodes the values, a part of one column of one row group at a time. Raises ImportError
    without pyarrow. Raises ValueError for columns that do not exist or cannot have filters, for
    files that are encrypted or damaged (CorruptError), and if `out` is the old file.

    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"id": range(1000), "kind": ["a", "b"] * 500}), "old.parquet")
    >>> added = tamis.parquet.add("old.parquet", "new.parquet", ["id", "kind"])
    >>> [(filter.column, filter.outcome) for filter in added.filters]
    [('id', 'added'), ('kind', 'left_out')]
    >>> added.filters[1].reason
    'few distinct values: 2 among 1000'
    """
    _import_pyarrow()
    path, out = _os.fsdecode(path), _os.fsdecode(out)
    _os.stat(path)  # raises FileNotFoundError and so on
    names = [columns] if isinstance(columns, str) else list(columns)
    with _Named(path):
        old_nbytes, new_nbytes, chunks = _parquet.add(
            _os.fsencode(path), _os.fsencode(out), names, fpr, force, replace,
            lambda footer: _Values(path, footer), progress)
    return Added(out, old_nbytes, new_nbytes, [
        AddedFilter(row_group, column.decode("utf-8", "backslashreplace"), outcome, reason or None,
                    *rest)
        for row_group, column, outcome, reason, *rest in chunks])


__all__ = [_name for _name in globals() if not _name.startswith("_")]
