"""The classes, and a filter of each, for tests of common behavior."""
import tamis

ERASABLE = [tamis.CuckooFilter8, tamis.CuckooFilter12, tamis.CuckooFilter16,
            tamis.CountingBloomFilter]
MERGEABLE = [tamis.SplitBlockBloomFilter, tamis.BloomFilter, tamis.CountingBloomFilter]
SIZED = [tamis.SplitBlockBloomFilter, tamis.BloomFilter, tamis.CountingBloomFilter,
         tamis.CuckooFilter8, tamis.CuckooFilter12, tamis.CuckooFilter16]
CLASSES = SIZED + [tamis.ScalableFilter]
# Filters that never change, with the bits of their fingerprints.
BITS = {tamis.FuseFilter8: 8, tamis.FuseFilter12: 12, tamis.FuseFilter16: 16, tamis.FuseFilter32: 32}
STATIC = list(BITS)


def make(cls, capacity=1000, **options):
    return cls(max(capacity, 1), **options)


def of_keys(cls, keys, **options):
    if cls in STATIC:
        return cls(keys, **options)
    f = make(cls, len(keys), **options)
    f.update(keys)
    return f
