"""Filters that many threads change and query, rebuilds, and a cache guard: docs/live.md.

>>> import tamis.live
>>> live = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(capacity=1_000_000))
>>> live.insert(range(1000))
1000
>>> 42 in live.filter
True
"""
from __future__ import annotations as _annotations

import threading as _threading
import types as _types
import typing as _typing

from ._tamis.live import (
    CacheGuard, Change, ConcurrentBloomFilter, ConcurrentCuckooFilter8, ConcurrentCuckooFilter12,
    ConcurrentCuckooFilter16, ConcurrentFilter, ConcurrentSplitBlockBloomFilter, GuardStats, Live,
    LiveStatus, RebuildContext, StopSource, Watch, WatchStatus, _checked_timeout, concurrent,
    open, prometheus_text)


class RebuildJob:
    """A rebuild on a separate thread. The process does not end before this thread.

    Leaving a `with` block waits for the rebuild. If the block raised, the rebuild is cancelled.

    >>> live = tamis.live.Live()
    >>> with live.start_rebuild(lambda context: tamis.BloomFilter(1000)) as job:
    ...     job.wait()
    1
    """

    def __init__(self, live: Live, build: _Build, **options: _typing.Any) -> None:
        self._stop = StopSource()
        self._generation = None
        self._error = None
        # Does not use Thread.join: before Python 3.13, an exception during join, such as
        # KeyboardInterrupt, marks the thread as ended.
        self._ended = _threading.Event()
        self._thread = _threading.Thread(
            target=self._run, args=(live, build, options), name="tamis-rebuild")
        self._thread.start()

    def _run(self, live, build, options):
        try:
            self._generation = live.rebuild(build, stop=self._stop, **options)
        except BaseException as error:  # for wait
            self._error = error
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Requests a stop at the next context.advance, or before the filter is replaced."""
        self._stop.request_stop()

    def done(self) -> bool:
        """Returns whether the rebuild has ended."""
        return self._ended.is_set()

    def wait(self, timeout: float | None = None) -> int:
        """Returns the generation of the new filter. Raises the exception that ended the rebuild.

        timeout: seconds after which TimeoutError is raised. None waits forever. Raises ValueError
            if `timeout` is negative or NaN.

        The rebuild continues after TimeoutError, and after Ctrl-C, which ends the wait.
        """
        self._wait(None if timeout is None else _checked_timeout(timeout))
        if self._error is not None:
            raise self._error
        return self._generation

    def __enter__(self) -> _typing.Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: _types.TracebackType | None) -> None:
        if error is not None:
            self.cancel()
        self._wait(None)

    def _wait(self, timeout):
        if _threading.current_thread() is self._thread:
            raise RuntimeError("a rebuild cannot wait for its own end")
        if not self._ended.wait(timeout):
            raise TimeoutError("the rebuild goes on")


def _start_rebuild(self, build: _Build, **options: _typing.Any) -> RebuildJob:
    """Like rebuild, on a separate thread. Returns a RebuildJob, whose wait() returns the result."""
    return RebuildJob(self, build, **options)


_start_rebuild.__name__ = "start_rebuild"
_start_rebuild.__qualname__ = "Live.start_rebuild"
Live.start_rebuild = _start_rebuild

__all__ = [_name for _name in globals() if not _name.startswith("_")]
