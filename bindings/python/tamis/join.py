"""Join filters: carry the keys of one side of a hash join to the scan of the other: docs/join.md.

>>> import tamis.join
>>> f = tamis.join.JoinFilter(expected_keys=3)
>>> part = f.make_part(0)
>>> part.update([10, 20, 30])
>>> f.add(part)
>>> f.complete(1)
>>> f.select([30, 31, None, 10])
[0, 3]
"""
from ._tamis.join import (
    ColumnHashes, JoinCandidate, JoinChoice, JoinFilter, JoinPart, JoinProbe)

__all__ = [_name for _name in globals() if not _name.startswith("_")]
