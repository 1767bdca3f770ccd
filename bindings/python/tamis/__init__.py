"""Approximate-membership filters for columns of millions of keys.

A filter represents a set of keys in a fraction of its memory. For a key in the set it answers
"maybe". For almost all other keys it answers "no". You choose the share of the other keys that
get a wrong "maybe".

>>> import tamis
>>> known = tamis.SplitBlockBloomFilter(capacity=1_000_000, fpr=0.01)
>>> known.insert(range(0, 1_000_000, 2))
500000
>>> 42 in known, known.contains([42, None])
(True, [True, False])
"""
from ._tamis import (
    Answers, BankMember, BankGroup, BloomFilter, BusyError, CancelledError, Changeable,
    CorruptError, CountingBloomFilter, CuckooFilter8, CuckooFilter12, CuckooFilter16, DeviceError,
    Error, FileError, Filter, FilterBank, ForeignFilter, FullError, FuseFilter8, FuseFilter12,
    FuseFilter16, FuseFilter32, IncompatibleError, InvalidArgumentError, NotDurableError,
    OutOfMemoryError, Plan, PlanCandidate, Queryable, ReadOnlyError, ScalableFilter, SecretError,
    SplitBlockBloomFilter, StaticFilter, TimedOutError, UnavailableError, UnknownBackendError,
    UnsupportedError, __version__, backends, from_bytes, frombuffer, open, plan)

__all__ = [_name for _name in globals() if not _name.startswith("_")]
