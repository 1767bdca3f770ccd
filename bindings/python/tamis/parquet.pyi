from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import _ArrowArray, _ArrowStream, _Path
from typing_extensions import Buffer

_Paths: TypeAlias = _Path | Iterable[_Path]
# Integers, floats, strings, bytes, decimals, dates, times and UUIDs.
_Keys: TypeAlias = Iterable[Any] | Buffer | _ArrowArray | _ArrowStream

@dataclass(frozen=True)
class FilterInfo:
    row_group: int
    present: bool
    problem: str | None
    nbytes: int
    fill: float
    estimated_keys: float
    rate: float
    right_nbytes: int

@dataclass(frozen=True)
class ColumnInfo:
    name: str
    type: str
    filter_nbytes: int
    data_nbytes: int
    share_of_file: float
    rate: float | None
    verdict: str
    ignored_statistics: list[str]
    filters: list[FilterInfo]
    @property
    def row_groups_with_filter(self) -> int: ...

@dataclass(frozen=True)
class FileInfo:
    path: str
    nbytes: int
    rows: int
    row_groups: int
    writer: str
    columns: list[ColumnInfo]

def info(paths: _Paths, *, fpr: float = 0.01) -> list[FileInfo]: ...

@dataclass(frozen=True)
class PrunedRowGroup:
    row_group: int
    kept: bool
    outcome: str
    rows: int
    nbytes: int
    hits: int | None
    doubt: str | None

@dataclass(frozen=True)
class PrunedFile:
    path: str
    kept: bool
    nbytes: int
    doubt: str | None
    row_groups: list[PrunedRowGroup]

@dataclass(frozen=True)
class KeyType:
    type: str
    problem: str | None
    misfits: int
    first_misfits: list[tuple[int, str]]

@dataclass(frozen=True)
class Prediction:
    filters: int
    keys: float
    rate: float
    false_hits: float
    ruled_out: float

@dataclass(frozen=True, eq=False)
class Pairs:
    files: Any
    row_groups: Any
    keys: Any

@dataclass(frozen=True, eq=False)
class Pruned:
    files: list[PrunedFile]
    key_types: list[KeyType]
    pairs: Pairs | None
    @property
    def paths(self) -> list[str]: ...
    @property
    def row_groups(self) -> dict[str, list[int] | None]: ...
    @property
    def doubts(self) -> list[tuple[str, int | None, str]]: ...

class Pruner:
    def __init__(self, column: str, keys: _Keys, *, hits: bool = True, pairs: bool = False,
                 bounds: bool = True, filters: bool = True, threads: int | None = None) -> None: ...
    def prune(self, paths: _Paths, *,
              progress: Callable[[int], object] | None = None) -> Pruned: ...
    def predict(self, paths: _Paths, samples: int = 16) -> Prediction: ...
    @property
    def key_types(self) -> list[KeyType]: ...
    def __len__(self) -> int: ...

def prune(paths: _Paths, column: str, keys: _Keys, *, hits: bool = True, pairs: bool = False,
          bounds: bool = True, filters: bool = True, threads: int | None = None,
          progress: Callable[[int], object] | None = None) -> Pruned: ...

@dataclass(frozen=True)
class AddedFilter:
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

@dataclass(frozen=True)
class Added:
    path: str
    old_nbytes: int
    new_nbytes: int
    filters: list[AddedFilter]

def add(path: _Path, out: _Path, columns: str | Iterable[str], *, fpr: float = 0.01,
        force: bool = False, replace: bool = False,
        progress: Callable[[int], object] | None = None) -> Added: ...
