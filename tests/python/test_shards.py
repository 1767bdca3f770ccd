"""Filters and banks that are saved in several files."""
import pytest

import tamis
import tamis.live

UNIT = 65_536


def with_keys(made):
    made.update(range(200_000))
    return made


def bank():
    made = tamis.FilterBank()
    made.add("a", range(1000))
    return made


MAKE = {
    "filter": lambda: with_keys(tamis.BloomFilter(200_000)),
    "static": lambda: tamis.FuseFilter8(range(200_000)),
    "concurrent": lambda: with_keys(tamis.live.ConcurrentSplitBlockBloomFilter(200_000)),
    "bank": bank,
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_shards_are_the_whole_file(make, tmp_path):
    made, whole, first = make(), tmp_path / "f", tmp_path / "f.0000"
    made.save(whole)
    made.save(first, shard_bytes=UNIT)
    shards = sorted(tmp_path.glob("f.*"))
    assert len(shards) > 1
    assert b"".join(shard.read_bytes() for shard in shards) == whole.read_bytes()
    assert all(shard.stat().st_size == UNIT for shard in shards[:-1])
    read = tamis.FilterBank.open if isinstance(made, tamis.FilterBank) else tamis.open
    read(first).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == whole.read_bytes()
    for path, bytes, error in [(first, UNIT, tamis.BusyError), (whole, UNIT, ValueError),
                               (tmp_path / "g.0000", UNIT + 1, ValueError),
                               (shards[1], 0, ValueError), (first, 0, ValueError)]:
        with pytest.raises(error):
            made.save(path, shard_bytes=bytes)
    with pytest.raises(TypeError):
        made.save(tmp_path / "g.0000", shard_bytes=-1)
    assert b"".join(shard.read_bytes() for shard in shards) == whole.read_bytes()
