"""Steps for pipelines that clean texts: drops documents or paragraphs that occurred before.

>>> import tamis.text
>>> step = tamis.text.DedupFilter(unit="paragraph", capacity=1_000_000)
>>> [step.filter(text) for text in ["one\\ntwo", "three", "two\\none"]]
[True, True, False]
"""
from __future__ import annotations as _annotations

import contextlib as _contextlib
import errno as _errno
import json as _json
import mmap as _mmap
import os as _os
import tempfile as _tempfile
import typing as _typing
import warnings as _warnings
from collections.abc import Mapping as _Mapping
from operator import index as _index

from . import Filter as _Filter
from . import StaticFilter as _StaticFilter
from . import open as _open
from ._tamis import text as _text

if _typing.TYPE_CHECKING:
    from . import SplitBlockBloomFilter as _SplitBlockBloomFilter
    from . import _Path

_MAGIC = b"tamis.text 1\n"


def _unsuitable(unit, ngrams, threshold, capacity, remove, against, fpr, shared):
    """Returns the reason why options do not fit together, or None."""
    if unit not in ("document", "paragraph", "ngram"):
        return f"unit is {unit!r}, must be 'document', 'paragraph' or 'ngram'"
    if remove not in ("document", "paragraph"):
        return f"remove is {remove!r}, must be 'document' or 'paragraph'"
    if unit == "document" and remove == "paragraph":
        return "unit='document' compares no paragraphs: leave out remove='paragraph'"
    if ngrams is not None and unit != "ngram":
        return "ngrams needs unit='ngram'"
    if ngrams is not None and not 1 <= ngrams <= _text.MOST_WORDS:
        return f"ngrams is {ngrams}, must be from 1 to {_text.MOST_WORDS}"
    if threshold is not None and unit != "ngram" and (unit, remove) != ("paragraph", "document"):
        return "threshold needs unit='ngram', or unit='paragraph' with remove='document'"
    if threshold is not None and not 0 < threshold <= 1:
        return f"threshold is {threshold}, must be above 0 and at most 1"
    if against is not None:
        if (capacity, fpr, shared) != (None, None, None):
            return "against changes no filter: leave out capacity, fpr and shared"
    elif capacity is None:
        return "capacity is missing: the number of documents, paragraphs or n-grams that differ"
    elif capacity < 1:
        return f"capacity is {capacity}, must be at least 1"
    return None


def _text_of(document):
    if isinstance(document, str):
        return document
    text = document.get("text") if isinstance(document, _Mapping) else getattr(document, "text", None)
    if not isinstance(text, str):
        raise TypeError("a document is a str, an object with an attribute `text`, or a mapping with a key "
                        f"'text', which is a str; not {type(document).__name__}")
    return text


def _reserve(file, size):
    """Sets the size of a file. Raises OSError if the disk is full. A later write to mapped
    memory could not raise it."""
    if hasattr(_os, "posix_fallocate"):
        try:
            return _os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (_errno.EINVAL, _errno.EOPNOTSUPP):  # of file systems without it
                raise
    return file.truncate(size)


def _new_file(path, size, header):
    """Makes a file with this header in one step, unless the path exists."""
    made, temporary = _tempfile.mkstemp(dir=_os.path.dirname(path), prefix=_os.path.basename(path) + ".")
    try:
        with open(made, "r+b") as file:
            _reserve(file, size)
            file.write(header)
        with _contextlib.suppress(FileExistsError):
            _os.link(temporary, path)
    finally:
        _os.unlink(temporary)


def _shared_memory(path, size, header, create):
    """Maps the file of a shared filter. If it does not exist, makes it, or raises FileNotFoundError."""
    if create and not _os.path.exists(path):
        _new_file(path, size, header)
    with open(path, "r+b") as file:
        found = file.read(_text.COUNT_AT)
        if not found.startswith(_MAGIC):
            raise ValueError(f"{path}: the file is not a shared filter of tamis.text")
        if found.rstrip(b"\0") != header or _os.fstat(file.fileno()).st_size != size:
            raise ValueError(f"{path}: the shared filter has other options: "
                             f"{found[len(_MAGIC):].rstrip(bytes(1)).decode(errors='replace')}")
        return _mmap.mmap(file.fileno(), size)


def _own_memory(size):
    """Returns memory that children of fork do not share."""
    if not hasattr(_mmap, "MAP_PRIVATE"):
        return _mmap.mmap(-1, size)
    memory = _mmap.mmap(-1, size, flags=_mmap.MAP_PRIVATE | _mmap.MAP_ANONYMOUS)
    if hasattr(_mmap, "MADV_HUGEPAGE"):
        with _contextlib.suppress(OSError):
            memory.madvise(_mmap.MADV_HUGEPAGE)
    return memory


def _warn_of_keys(keys, capacity, fpr, stacklevel):
    _warnings.warn(f"{keys:,} keys are in a filter for {capacity:,}; its false-positive rate has "
                   f"become {fpr:.3g}", RuntimeWarning, stacklevel=stacklevel)


class DedupFilter:
    """Drops documents, or their paragraphs, that occurred before, like `tamis dedup --unit`.

    Hashes, words and decisions are those of the command: docs/command.md defines them. A new
    document or paragraph can be mistaken for a repeated one, at the rate `fpr`.

    unit: 'document' compares documents as a whole, 'paragraph' their lines without blanks at the
        ends, and 'ngram' sequences of words.
    ngrams: words of an n-gram, from 1 to 1000. The default is 13.
    threshold: share of n-grams (or paragraphs) that makes a text repeated, above 0 and at most 1.
        The default is 0.8.
    capacity: number of different documents, paragraphs or n-grams to size the filter for. If more
        are inserted, a RuntimeWarning states the rate.
    fpr: false-positive rate at the capacity. The default is 1e-6, and 1e-3 for n-grams.
    remove: 'document' keeps or drops documents as a whole. 'paragraph' removes paragraphs from
        them, like the command by default: call clean() instead of filter().
    against: a filter, or the path of its file. Texts are compared with it only, and it does not
        change. Excludes capacity, fpr and shared. If it has more keys than it was made for, a
        RuntimeWarning states its rate.
    shared: path of a file with the filter, which all processes map that open this path. On Linux,
        a file in /dev/shm is in memory. The file is made if it does not exist, and stays until it
        is removed. An object with other options is refused.

    Raises ValueError for options that do not fit together, OSError if the file cannot be made, and
    tamis.IncompatibleError if `against` has keys of another type, or n-grams of another number of
    words. If `against` does not record this number, a RuntimeWarning states it.

    Any number of threads and processes may call an object, or objects of the same `shared` path, at
    the same time. No call waits for another.

    - A text whose call has returned is found by every call that begins afterwards. So the same
      text, or paragraph, is kept twice only by calls that overlap in time.
    - Calls that overlap never both drop a text because of each other. A part is dropped only if
      enough of its keys are in parts that were kept, or are false positives.
    - With one worker, the result is that of the command. With several, it depends on the order in
      which they call.
    - Keys are inserted before a call returns. If a worker is killed, or a task runs again, the
      texts that it had kept are dropped the second time. Instead, put back a copy of the file, and
      run all tasks again that ran since the copy was made.

    An object with `shared` is pickled as its path and options, and the file must exist where it is
    unpickled. Without `shared`, pickles contain the filter. Its copies, and the copies in children
    of fork, do not see each other's texts.

    >>> step = tamis.text.DedupFilter(unit="ngram", ngrams=3, threshold=0.5, capacity=10**6)
    >>> step.filter("the quick brown fox jumps"), step.filter("The quick brown fox jumps")
    (True, False)
    """

    def __init__(self, *, unit: str = "document", ngrams: int | None = None,
                 threshold: float | None = None, capacity: int | None = None,
                 fpr: float | None = None, remove: str = "document",
                 against: _Filter | _StaticFilter | _Path | None = None,
                 shared: _Path | None = None) -> None:
        ngrams, capacity = (number if number is None else int(_index(number)) for number in (ngrams, capacity))
        threshold, fpr = (share if share is None else float(share) for share in (threshold, fpr))
        reason = _unsuitable(unit, ngrams, threshold, capacity, remove, against, fpr, shared)
        if reason is not None:
            raise ValueError(reason)
        if isinstance(against, (str, _os.PathLike)):
            against = _os.path.abspath(_os.fspath(against))
        elif against is not None and not isinstance(against, (_Filter, _StaticFilter)):
            raise TypeError(f"against is a filter or the path of one, not {type(against).__name__}")
        if fpr is None and against is None:
            fpr = _text.NGRAM_FPR if unit == "ngram" else _text.FPR
        self._options = {
            "unit": unit, "remove": remove, "ngrams": _text.WORDS if ngrams is None else ngrams,
            "threshold": _text.THRESHOLD if threshold is None else threshold,
            "capacity": capacity, "fpr": fpr}
        self._against = against
        self._shared = None if shared is None else _os.path.abspath(_os.fsdecode(shared))
        self._start(create=True)

    def _start(self, create, contents=None):
        options = self._options
        self._memory, against, self._warned = None, self._against, False
        if against is None:
            size = _text.memory_bytes(options["capacity"], options["fpr"])
            if self._shared is not None:
                header = _MAGIC + _json.dumps(options).encode()
                self._memory = _shared_memory(self._shared, size, header, create)
            else:
                self._memory = _own_memory(size)
        elif isinstance(against, str):
            against = _open(against, map=True)
        if create and isinstance(against, _Filter) and against.inserted_count > against.capacity:
            _warn_of_keys(against.inserted_count, against.capacity, against.expected_fpr(), 4)
        if contents is not None:
            self._memory[:] = contents
        self._deduplicator = _text.Deduplicator(
            options["unit"], options["remove"] == "document", options["ngrams"], options["threshold"],
            self._memory, against)

    def __getstate__(self) -> tuple[object, ...]:
        copied = self._memory is not None and self._shared is None
        attributes = {name: value for name, value in self.__dict__.items()
                      if name not in ("_memory", "_deduplicator")}
        return attributes, self._memory[:] if copied else None

    def __setstate__(self, state: tuple[_typing.Any, ...]) -> None:
        attributes, contents = state
        self.__dict__.update(attributes)  # also those of subclasses
        self._start(create=False, contents=contents)

    def filter(self, document: object) -> bool:
        """Returns whether to keep a document, and inserts its keys if so.

        document: a str, an object with an attribute `text`, or a mapping with the key 'text'.

        Raises TypeError for other objects, UnicodeEncodeError for lone surrogates, and ValueError
        if the option remove is 'paragraph'.
        """
        if self._options["remove"] == "paragraph":
            raise ValueError("remove='paragraph' may change documents: call clean(document)")
        return self.clean(document) is not None

    def clean(self, document: object) -> str | None:
        """Returns the text to keep of a document, or None to drop it. Inserts the keys of new
        parts. Does not change the document. See filter for errors.

        >>> step = tamis.text.DedupFilter(unit="paragraph", remove="paragraph", capacity=10**6)
        >>> step.clean("a\\nb"), step.clean({"text": "b\\nc\\n"}), step.clean("c")
        ('a\\nb', 'c\\n', None)
        """
        text = self._deduplicator.clean(_text_of(document))
        if not self._warned and self._memory is not None and self.inserted_count > self.capacity:
            self._warned = True
            _warn_of_keys(self.inserted_count, self.capacity, self.expected_fpr, 3)
        return text

    def snapshot(self) -> _SplitBlockBloomFilter:
        """Returns a copy of the filter, with the keys of at least all calls that have returned. A
        file of it continues in `tamis dedup --filter`, and in `against`."""
        return self._deduplicator.snapshot(self.capacity, self._options["fpr"])

    @property
    def capacity(self) -> int:
        """Number of different keys that the filter was sized for."""
        if self._memory is None:
            raise ValueError("a step with `against` has no filter of its own")
        return max(self._options["capacity"], _text.MIN_CAPACITY)

    @property
    def inserted_count(self) -> int:
        """Number of keys inserted, by all processes that share the filter."""
        return self._deduplicator.inserted_count

    @property
    def expected_fpr(self) -> float:
        """False-positive rate for the number of keys inserted so far."""
        return self._deduplicator.expected_fpr

    @property
    def nbytes(self) -> int:
        """Size of the memory of the filter."""
        return 0 if self._memory is None else len(self._memory)

    def __repr__(self) -> str:
        options = {**self._options, "against": self._against, "shared": self._shared}
        shown = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
        return f"DedupFilter({shown})"


__all__ = [_name for _name in globals() if not _name.startswith("_")]
