"""Filters of other libraries: golden files against the keys that they contain."""
import copy
import pathlib
import pickle
import threading

import numpy as np
import pyarrow as pa
import pytest

import tamis

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
GUAVA = GOLDEN / "guava"
LONG = GUAVA / "long_mitz64.guava"
EMPTY = bytes.fromhex("0102" + "00000080") + bytes(8 * 128)  # 2 hashes, 8,192 bits


def made(keys, form="long"):
    f = tamis.ForeignFilter.from_bytes(EMPTY, f"guava:{form}")
    f.insert(keys)
    return f


def test_the_formats_have_names():
    names = tamis.ForeignFilter.formats()
    assert names == sorted(names) and len(set(names)) == len(names)
    assert {"guava:long", "guava:utf8"} <= set(names)


@pytest.mark.parametrize("path", sorted(GUAVA.glob("*_mitz??.guava")), ids=lambda p: p.stem)
def test_golden_files_come_back_as_they_were(path, tmp_path):
    name = "guava:" + path.stem.rpartition("_")[0]
    f = tamis.ForeignFilter.load(path, name)
    assert (f.format, f.nbytes) == (name, path.stat().st_size - 6)
    assert f.to_bytes() == path.read_bytes()
    f.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    f.save_imported(tmp_path / "imported")
    g = tamis.ForeignFilter.open(tmp_path / "imported")
    assert (g.format, g.to_bytes()) == (name, f.to_bytes())
    assert 0 < f.expected_fpr() < 1 and f.estimated_count() == pytest.approx(40, rel=0.3)


def test_a_filter_of_dcso_is_mapped(tmp_path):
    path = tmp_path / "few.bloom"
    path.write_bytes((GOLDEN / "dcso" / "few.bloom").read_bytes())
    f = tamis.ForeignFilter.load(path, "dcso", map=True)
    assert "" in f and f.to_bytes() == path.read_bytes()
    with pytest.raises(tamis.ReadOnlyError, match="mapped"):
        f.insert(["key"])
    with pytest.raises(tamis.UnsupportedError, match="cannot be mapped"):
        tamis.ForeignFilter.load(LONG, "guava:long", map=True)
    g = tamis.ForeignFilter.load(path, "dcso")
    assert g.insert(["key"]) == 1 and "key" in g


def test_keys_of_every_kind_answer_alike():
    numbers = list(range(-200, 300))
    f = made(numbers)
    asked = list(range(-400, 600))
    bools = [key in f for key in asked]
    assert all(bools[200:700]) and sum(bools) < 600
    assert f.contains(asked) == bools
    assert f.contains(np.array(asked, dtype=np.int16)).tolist() == bools
    assert f.contains(pa.array(asked)).to_pylist() == bools
    assert f.select(asked) == [i for i, b in enumerate(bools) if b]
    assert f.count(asked) == sum(bools)
    assert f.count(asked + [None]) == sum(bools)
    out = np.zeros(len(asked), bool)
    assert f.contains(asked, out=out) is out and out.tolist() == bools
    text = made(["ada", "gr\u00fc\u00dfe", ""], "utf8")
    assert "ada" in text and "gr\u00fc\u00dfe".encode() in text and "eve" not in text and "" in text
    assert text.contains(pa.array(["ada", None, "eve"])).to_pylist() == [True, False, False]


def test_insert_returns_how_many_were_inserted():
    f = made([])
    assert f.insert([1, 2, 3, 3, None]) == 4
    assert f.insert([1, 2]) == 2
    f.add(4)
    assert 4 in f
    g = made([100, 101])
    f.merge(g)
    assert f.count([1, 2, 3, 4, 100, 101]) == 6
    before = f.to_bytes()
    f.merge(f)
    assert f.to_bytes() == before


def test_wrong_use(tmp_path):
    f = made([1])
    with pytest.raises(tamis.InvalidArgumentError, match="allowed: dcso, guava:"):
        tamis.ForeignFilter.load(LONG, "guava")
    with pytest.raises(tamis.InvalidArgumentError, match="the keys of this call are text"):
        "text" in f
    with pytest.raises(tamis.InvalidArgumentError, match="the keys of this call are text"):
        f.contains(["text"])
    with pytest.raises(TypeError):
        1.5 in f
    for act in (f.__contains__, f.add):
        with pytest.raises(TypeError, match="a missing value is never in a filter"):
            act(None)
    with pytest.raises(tamis.IncompatibleError):
        f.merge(made(["a"], "utf8"))
    with pytest.raises(tamis.CorruptError, match="words"):
        tamis.ForeignFilter.from_bytes(EMPTY[:2] + b"\xff" * 4, "guava:long")
    with pytest.raises(tamis.CorruptError, match="magic"):
        tamis.ForeignFilter.open(GOLDEN / "split_block_v2_two_pages.tamis")
    with pytest.raises(tamis.FileError):
        tamis.ForeignFilter.load(LONG.with_suffix(".none"), "guava:long")
    with pytest.raises(tamis.UnsupportedError, match="imported"):
        f.save_imported(tmp_path / "imported.tamis")
        tamis.open(tmp_path / "imported.tamis")
    for fails in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="to_bytes"):
            fails(f)
    with pytest.raises(TypeError):
        tamis.ForeignFilter()


def test_a_key_that_the_format_cannot_have():
    f = tamis.ForeignFilter.from_bytes(EMPTY, "guava:int")
    with pytest.raises(tamis.InvalidArgumentError, match="^key 2 is not an int"):
        f.insert([1, 2, 2**31, 3])
    assert f.estimated_count() == 0 and 2**31 not in f
    # In a later batch, the message counts from the start of the batch, and states that.
    keys = [7] * 300_000 + [2**31, 8]
    with pytest.raises(tamis.InvalidArgumentError) as caught:
        f.insert(keys)
    in_before, rest = str(caught.value).split(" keys are in; of the keys after them, key ")
    assert int(in_before) + int(rest.split()[0]) == 300_000
    assert 7 in f and 8 not in f


def test_threads_change_and_ask_at_a_time():
    f = made([])
    keys = np.arange(200_000)
    small = keys[:100]
    f.insert(small)
    failures = []

    def ask():
        for _ in range(10):
            if f.count(small) != 100:
                failures.append("lost")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    threads += [threading.Thread(target=f.insert, args=(keys,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and f.count(keys) == len(keys)
