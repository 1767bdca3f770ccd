"""The classes, and a filter of each, for tests of what all have in common."""
import tamis

ERASABLE = [tamis.CuckooFilter8, tamis.CuckooFilter12, tamis.CuckooFilter16,
            tamis.CountingBloomFilter]
MERGEABLE = [tamis.SplitBlockBloomFilter, tamis.BloomFilter, tamis.CountingBloomFilter]
SIZED = [tamis.SplitBlockBloomFilter, tamis.BloomFilter, tamis.CountingBloomFilter,
         tamis.CuckooFilter8, tamis.CuckooFilter12, tamis.CuckooFilter16]
CLASSES = SIZED + [tamis.ScalableFilter]


def make(cls, capacity=1000, **options):
    return cls(max(capacity, 1), **options)
