"""Split-block filters on a Redis server or cluster: docs/redis.md.

Available if hiredis was found when the package was built.
"""
try:
    from ._redis import Info, NearCache, SplitBlockFilter
except ModuleNotFoundError as _error:
    if _error.name != "tamis._redis":
        raise
    raise ImportError(
        "this package was built without hiredis: install libhiredis-dev (Debian) and build it "
        "again") from None

__all__ = ["Info", "NearCache", "SplitBlockFilter"]
