"""The tamis command and this package write the same bytes, and read each other's files."""
import os
import subprocess

import numpy as np
import pytest
from kinds import BITS

import tamis

COMMAND = os.environ.get("TAMIS_COMMAND")
pytestmark = pytest.mark.skipif(not COMMAND, reason="TAMIS_COMMAND names no command")
STATIC = {f"fuse{bits}": cls for cls, bits in BITS.items()}
TYPES = {"split-block": tamis.SplitBlockBloomFilter, "bloom": tamis.BloomFilter,
         "counting": tamis.CountingBloomFilter, "cuckoo8": tamis.CuckooFilter8,
         "cuckoo12": tamis.CuckooFilter12, "cuckoo16": tamis.CuckooFilter16}
WORDS = [f"word {i}" for i in range(5000)] + ["\u00e9t\u00e9", "\U0001F600"]
NUMBERS = list(range(-1000, 4000)) + [2**63 - 1, -2**63]


def run(*arguments, keys=None):
    text = None if keys is None else "".join(f"{key}\n" for key in keys)
    done = subprocess.run([COMMAND, *map(str, arguments)], input=text, capture_output=True,
                          encoding="utf-8", check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("keys, form", [(WORDS, []), (NUMBERS, ["--integers"])], ids=["text", "int"])
def test_files_are_equal(kind, keys, form, tmp_path):
    by_command, by_python = tmp_path / "command", tmp_path / "python"
    run("build", "-o", by_command, "--kind", kind, "--capacity", len(keys), *form, keys=keys)
    f = TYPES[kind](len(keys))
    f.update(keys)
    f.save(by_python)
    assert by_python.read_bytes() == by_command.read_bytes()

    g = tamis.open(by_command, map=True)
    assert type(g) is TYPES[kind] and g.contains(keys) == [True] * len(keys)
    asked = keys[::7] + ([10**6] if form else ["absent"])
    found = run("query", by_python, *form, keys=asked).split("\n")[:-1]
    assert found == [str(k) for k, has in zip(asked, g.contains(asked)) if has]


@pytest.mark.parametrize("kind", STATIC)
@pytest.mark.parametrize("keys, form", [(WORDS, []), (NUMBERS, ["--integers"])], ids=["text", "int"])
def test_static_files_are_equal(kind, keys, form, tmp_path):
    built = tmp_path / "command"
    run("build", "-o", built, "--kind", kind, *form, keys=keys)
    assert STATIC[kind](keys, threads=2).to_bytes() == built.read_bytes()
    g = tamis.open(built, map=True)
    assert type(g) is STATIC[kind] and g.contains(keys) == [True] * len(keys)


def test_raw_integers(tmp_path):
    keys = np.random.default_rng(1).integers(0, 2**64 - 1, 10_000, np.uint64)
    raw, built = tmp_path / "keys", tmp_path / "filter"
    raw.write_bytes(keys.tobytes())
    run("build", "-o", built, "--u64", raw)
    f = tamis.SplitBlockBloomFilter(len(keys), 0.01)
    f.insert(keys, threads=2)
    assert f.to_bytes() == built.read_bytes()


def test_scalable(tmp_path):
    built = tmp_path / "filter"
    run("build", "-o", built, "--kind", "scalable", keys=WORDS)
    assert tamis.open(built).contains(WORDS) == [True] * len(WORDS)
