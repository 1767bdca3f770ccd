"""The ranges of blocks into which tamis.spark cuts a split-block filter."""
import dataclasses as _dataclasses

import numpy as _numpy

from ._tamis import SplitBlockBloomFilter as _SplitBlockBloomFilter
from ._tamis.join import ColumnHashes as _ColumnHashes
from ._tamis.join import JoinFilter as _JoinFilter

BLOCK_BYTES = 32
_LOW = _numpy.uint64(0xFFFFFFFF)
_HALF = _numpy.uint64(32)


def hash_columns(columns, hash, seed):
    """Returns the rows of Arrow columns as keys. Raises TypeError for types that are not keys."""
    return _JoinFilter(1, key_type="hashes", hash=hash, seed=seed).hash_columns(columns)


def _block_index(hashes, blocks):
    """Returns the high half of hash * blocks, or of (hash >> 32) * blocks below 2^32 blocks."""
    high, low = hashes >> _HALF, hashes & _LOW
    if blocks <= 0xFFFFFFFF:
        return high * _numpy.uint64(blocks) >> _HALF
    top, bottom = _numpy.uint64(blocks >> 32), _numpy.uint64(blocks & 0xFFFFFFFF)
    a, b = high * bottom, low * top
    carry = ((low * bottom >> _HALF) + (a & _LOW) + (b & _LOW)) >> _HALF
    return high * top + (a >> _HALF) + (b >> _HALF) + carry


@_dataclasses.dataclass(frozen=True)
class Layout:
    """The size and hash of a filter, and its ranges: range i has `width` blocks from i * width on."""

    capacity: int
    fpr: float
    blocks: int
    width: int
    hash: str
    seed: int

    @property
    def ranges(self):
        """The number of ranges. The last one may have fewer blocks."""
        return -(-self.blocks // self.width)

    def blocks_of(self, index):
        """Returns the number of blocks of a range."""
        return min(self.width, self.blocks - index * self.width)

    def new_filter(self, blocks):
        """Returns an empty filter with this hash."""
        return _SplitBlockBloomFilter(nbytes=blocks * BLOCK_BYTES, hash=self.hash, seed=self.seed)

    def place(self, hashes):
        """Returns the range of each hash, and the hash that selects the same block in a filter of
        this range alone. The low half of a hash selects the bits, and stays."""
        block = _block_index(hashes, self.blocks)
        width = _numpy.uint64(self.width)
        index = block // width
        within = block - index * width
        size = _numpy.minimum(width, _numpy.uint64(self.blocks) - index * width)
        # The smallest high half with (high * size) >> 32 == within.
        high = ((within << _HALF) + size - _numpy.uint64(1)) // size
        return index.astype(_numpy.int32), high << _HALF | hashes & _LOW

    def keys(self, hashes):
        """Returns hashes as keys of a filter."""
        return _ColumnHashes.from_bytes(hashes, hash=self.hash, seed=self.seed)

    def hash_rows(self, columns):
        """Returns the hashes of rows of Arrow columns without nulls."""
        hashes = hash_columns(columns, self.hash, self.seed)
        return _numpy.frombuffer(hashes.to_bytes(), _numpy.uint64)
