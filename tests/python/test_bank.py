"""Filter banks against the separate filters and against dicts of sets."""
import copy
import os
import pickle
import threading

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from test_model import KEYS, forms, identity

import tamis

ASKED = list(range(-50, 300)) + [f"key {i}" for i in range(100)] + [None]


def bank_of(members, size=100, **options):
    """Returns a bank with members c0, c1 ... Each member shares half of its keys with the next member."""
    bank = tamis.FilterBank(**options)
    for i in range(members):
        bank.add(f"c{i}", range(i * size // 2, i * size // 2 + size))
    return bank


def separately(bank):
    return {name: bank.extract(name) for name in bank}


class Model(RuleBasedStateMachine):
    """Compares a bank with a filter and a set of keys per member."""

    def __init__(self):
        super().__init__()
        self.bank = tamis.FilterBank(fpr=0.05, buffer_bytes=2000)
        self.sets, self.filters = {}, {}

    def note(self, name, keys):
        self.sets[name] = {identity(key) for key in keys}
        self.filters[name] = self.bank.extract(name)

    @rule(name=st.text(st.characters(codec="utf-8"), min_size=1, max_size=5),
          keys=st.lists(KEYS, max_size=60), how=st.integers(0, 6))
    def add(self, name, keys, how):
        if name in self.sets:
            with pytest.raises(ValueError, match="already"):
                self.bank.add(name, keys)
            return
        if how == 6:
            f = tamis.SplitBlockBloomFilter(len(keys) + 1, 0.2)
            f.insert(keys)
            self.bank.add(name, f)
            assert self.bank.extract(name).to_bytes() == f.to_bytes()
        else:
            some = list(forms(keys))
            self.bank.add(name, some[how % len(some)], threads=how % 3 or None)
        self.note(name, keys)

    @precondition(lambda self: self.sets)
    @rule(data=st.data(), as_set=st.booleans())
    def remove(self, data, as_set):
        name = data.draw(st.sampled_from(sorted(self.sets)))
        if as_set:
            assert self.bank.discard(name) and not self.bank.discard(name)
        else:
            self.bank.remove(name)
            with pytest.raises(KeyError):
                self.bank.remove(name)
        del self.sets[name], self.filters[name]

    @rule(how=st.sampled_from(["flush", "compact"]))
    def tidy(self, how):
        getattr(self.bank, how)()

    @rule(map=st.booleans())
    def reopen(self, map):
        path = f"model-{os.getpid()}.bank"
        try:
            self.bank.save(path)
            opened = tamis.FilterBank.open(path, map=map)
            self.check(opened)
            if not map:
                self.bank = opened
        finally:
            os.unlink(path)

    @rule(names=st.sets(st.sampled_from(["m1", "m2", "m3"])), keys=st.lists(KEYS, max_size=20))
    def merge(self, names, keys):
        other = tamis.FilterBank(fpr=0.05)
        for name in sorted(names):
            other.add(name, keys)
        if names & set(self.sets):
            with pytest.raises(ValueError):
                self.bank.merge(other)
            return
        self.bank.merge(other)
        for name in names:
            self.note(name, keys)

    @rule(keys=st.lists(st.one_of(KEYS, st.none()), max_size=30))
    def ask(self, keys):
        self.check(self.bank, keys)

    @invariant()
    def no_false_negatives(self):
        for name, keys in self.sets.items():
            for key in list(keys)[:3]:
                assert name in self.bank.members_with(key)

    def check(self, bank, keys=(7, "text", None)):
        keys = list(keys)
        names = bank.names
        assert sorted(names) == sorted(self.sets) and len(bank) == len(names)
        want = np.array([self.filters[name].contains(keys) for name in names], bool)
        want = want.reshape(len(names), len(keys)).T
        def variants():
            return [list(keys)] if None in keys else forms(keys)

        for some in variants():
            got = bank.contains(some)
            got = got.to_pylist() if isinstance(got, pa.Array) else got
            assert np.array(got, bool).reshape(len(keys), len(names)).tolist() == want.tolist()
        for threads in (None, 2):
            for some in variants():
                hits = [np.asarray(part, np.int64) for part in bank.select(some, threads=threads)]
                assert [part.tolist() for part in hits] == [w.tolist() for w in want.nonzero()]
        for some in variants():
            counts = dict(bank.count_per_member(some, at_least=0))
            assert counts == {name: want[:, i].sum() for i, name in enumerate(names)}
        for key, row in zip(keys, want):
            if key is not None:
                assert bank.members_with(key) == [n for n, maybe in zip(names, row) if maybe]
        for name in names:
            assert bank.extract(name).to_bytes() == self.filters[name].to_bytes()


def test_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    machine = Model.TestCase
    machine.settings = settings(max_examples=30, stateful_step_count=25, deadline=None,
                                derandomize=True)
    machine().runTest()


@pytest.mark.parametrize("members", [1, 64, 513, 1100])
def test_many_members_answer_as_the_separate_filters(members):
    bank = bank_of(members)
    for change in (lambda: None, bank.flush,
                   lambda: [bank.remove(f"c{i}") for i in range(0, members, 3)], bank.compact):
        change()
        names, filters = bank.names, separately(bank)
        asked = np.arange(0, members * 60 + 1000, 7)
        want = np.zeros((len(asked), len(names)), bool)
        for i, name in enumerate(names):
            want[:, i] = filters[name].contains(asked)
        for threads in (None, 2):
            assert (bank.contains(asked, threads=threads) == want).all()
            keys, found = bank.select(asked, threads=threads)
            assert (keys == want.nonzero()[0]).all() and (found == want.nonzero()[1]).all()
            counts = bank.count_per_member(asked, threads=threads)
            best = sorted(((want[:, i].sum(), -i) for i in range(len(names))), reverse=True)
            assert counts == [(names[-i], n) for n, i in best if n > 0]
        assert bank.members_with(int(asked[3])) == [n for n, w in zip(names, want[3]) if w]
        assert [member.position for member in bank.members()] == list(range(len(names)))


def test_answers_are_of_the_callers_kind():
    bank = bank_of(3, fpr=1e-6)
    keys = [0, 60, 120, 10**6]
    want = [[True, False, False], [True, True, False], [False, True, True], [False] * 3]
    assert bank.contains(keys) == want
    assert bank.contains(key for key in keys) == want
    for array in (np.array(keys), pd.Series(keys)):
        got = bank.contains(array)
        assert type(got) is np.ndarray and got.dtype == bool and got.tolist() == want
        assert [part.tolist() for part in bank.select(array)] == [[0, 1, 1, 2, 2],
                                                                  [0, 0, 1, 1, 2]]
    got = bank.contains(pa.array(keys))
    got.validate(full=True)
    assert got.type.list_size == 3 and got.to_pylist() == want
    assert bank.contains(pa.array(keys).slice(1)).to_pylist() == want[1:]
    assert bank.contains(pl.Series(keys)).to_list() == want
    assert all(isinstance(part, pl.Series) for part in bank.select(pl.Series(keys)))
    relation = duckdb.sql("select unnest([0, 60, 120, 1000000]) as key")
    got = bank.contains(relation)
    assert type(got) is tamis.Answers and len(got) == 4 and got[1] == want[1] and got[-1] == want[3]
    assert got.tolist() == want and repr(got) == "<tamis.Answers: 4 x 3 bools>"
    assert memoryview(got).shape == (4, 3) and memoryview(got).strides == (3, 1)
    assert bytes(got) == bytes(x for row in want for x in row)
    with pytest.raises(IndexError):
        got[4]


def test_no_keys_and_no_members():
    empty, bank = tamis.FilterBank(), bank_of(2)
    assert empty.contains([1, 2]) == [[], []] and empty.members_with("a") == []
    assert empty.contains(np.arange(3)).shape == (3, 0)
    assert pa.array(empty.contains(pa.array([1, 2]))).to_pylist() == [[], []]
    assert empty.select([1]) == ([], []) and empty.count_per_member([1], at_least=0) == []
    assert bank.contains([]) == [] and bank.contains(np.arange(0)).shape == (0, 2)
    assert bank.contains(pa.array([], pa.int64())).to_pylist() == []
    assert bank.select([]) == ([], []) and bank.count_per_member([]) == []
    assert list(empty) == empty.names == empty.members() == empty.groups() == []
    bank.add("none", [])
    bank.add("nulls", pa.array([None, None], pa.string()))
    assert bank.member("none").key_types == bank.member("nulls").key_types == "none"


def test_counts():
    bank = bank_of(4, fpr=1e-6)
    asked = np.arange(100, 200)
    assert bank.count_per_member(asked) == [("c2", 100), ("c1", 50), ("c3", 50)]
    assert bank.count_per_member(asked, at_least=51) == [("c2", 100)]
    assert bank.count_per_member(asked, top=2) == [("c2", 100), ("c1", 50)]
    assert bank.count_per_member(asked, top=0) == []
    assert bank.count_per_member(asked, at_least=0)[-1] == ("c0", 0)
    for wrong in (-1, 2**64):
        with pytest.raises(OverflowError):
            bank.count_per_member(asked, top=wrong)
        with pytest.raises(OverflowError):
            bank.count_per_member(asked, at_least=wrong)


@pytest.mark.parametrize("n", [1, 1000, 300_000])
def test_filters_of_keys_are_those_of_the_bank(n):
    """The filter does not depend on the layout of the keys, and equals the library's."""
    bank = tamis.FilterBank(fpr=0.003)
    keys = np.arange(n)
    f = bank.new_filter(n)
    f.insert(keys)
    bank.add("array", keys)
    bank.add("threads", keys, threads=2)
    bank.add("list", keys.tolist())
    bank.add("generator", iter(keys.tolist()))
    bank.add("chunks", pa.chunked_array([keys[: n // 2], keys[n // 2:]]))
    bank.add("filter", f)
    for name in bank:
        assert bank.extract(name).to_bytes() == f.to_bytes(), name
        member = bank.member(name)
        assert member.capacity == member.inserted_count == n
        assert member.key_types == "integers" and member.nbytes == f.nbytes
    bank.add("both", [1, "1", None, b"2"])
    assert bank.member("both").key_types == "text and integers"
    assert bank.member("both").inserted_count == 3
    bank.flush()
    assert bank.groups()[0].members == 6 if n > 1 else True
    assert sum(group.nbytes for group in bank.groups()) == bank.nbytes


def test_sizes_are_few():
    bank = tamis.FilterBank()
    sizes = {bank.new_filter(n).nbytes for n in range(1, 5000)}
    assert len(sizes) < 40
    assert all(bank.new_filter(n).expected_fpr() == 0 and bank.new_filter(n).capacity == n
               for n in (1, 77, 5000))


def test_false_members():
    bank = tamis.FilterBank(false_members=2, members=200)
    assert bank.fpr == pytest.approx(0.01)
    for i in range(200):
        bank.add(i, np.arange(i * 1000, i * 1000 + 1000))
    assert 0 < bank.expected_false_members() <= 2.1
    asked = np.arange(10**9, 10**9 + 2000)
    assert len(bank.select(asked)[0]) / 2000 == pytest.approx(bank.expected_false_members(), rel=0.2)


def test_names():
    bank = tamis.FilterBank()
    odd = os.fsdecode(b"caf\xe9.log")  # like a file name that is not UTF-8
    for i, name in enumerate(["a", "\0", "\U0001f600", odd, 7, np.int64(2**62), 2**64 - 1]):
        bank.add(name, [i])
    assert bank.names == ["a", "\0", "\U0001f600", odd, "7", str(2**62), str(2**64 - 1)]
    assert list(bank) == bank.names and [member.name for member in bank.members()] == bank.names
    assert odd in bank and 7 in bank and "7" in bank and "b" not in bank
    assert bank.members_with(3) == [odd] and dict(bank.count_per_member([3])) == {odd: 1}
    for call in (bank.remove, bank.extract, bank.member):
        with pytest.raises(KeyError, match="missing"):
            call("missing")
        for wrong in (None, 1.5, True, b"a", ["a"]):
            with pytest.raises(TypeError, match="str, or an int"):
                call(wrong)
    assert not bank.discard("missing")
    with pytest.raises(TypeError):
        b"a" in bank
    for wrong, error in (("", ValueError), ("x" * 4097, ValueError), (-1, OverflowError),
                         (2**64, OverflowError), ("\ud800", UnicodeEncodeError), ("7", ValueError)):
        with pytest.raises(error):
            bank.add(wrong, [1])
    with pytest.raises(ValueError, match="already") as taken:
        bank.add(odd, [1])
    assert odd in str(taken.value)
    assert len(bank) == 7
    bank.add("x" * 4096, [1])


def test_invalid_members():
    bank = tamis.FilterBank()
    for wrong in (tamis.BloomFilter(10), tamis.CuckooFilter8(10), tamis.ScalableFilter()):
        with pytest.raises(TypeError, match="SplitBlockBloomFilters"):
            bank.add("a", wrong)
    for f in (tamis.SplitBlockBloomFilter(10, hash="xxh64"), tamis.SplitBlockBloomFilter(10, seed=3)):
        with pytest.raises(tamis.IncompatibleError, match="the same hash"):
            bank.add("a", f)
    for wrong in (7, None, 1.5, [1.5], [[1]], object(), "one key", np.zeros((2, 2))):
        with pytest.raises((TypeError, ValueError)):
            bank.add("a", wrong)
    with pytest.raises(tamis.IncompatibleError):
        bank.merge(tamis.FilterBank(hash="xxh64"))
    with pytest.raises(ValueError, match="itself"):
        bank.merge(bank)
    with pytest.raises(TypeError):
        bank.merge(tamis.SplitBlockBloomFilter(10))
    assert len(bank) == 0 and bank.nbytes == 0


@pytest.mark.parametrize("wrong", [None, 7, 1.5, object(), "one key", b"one key", [1, 1.5]])
def test_invalid_keys(wrong):
    bank = bank_of(2)
    for call in (bank.contains, bank.select, bank.count_per_member):
        with pytest.raises(TypeError):
            call(wrong)
        with pytest.raises(ValueError, match="threads"):
            call([1], threads=-1)
        with pytest.raises(OverflowError):
            call([2**64])
    with pytest.raises(OverflowError):
        bank.members_with(2**64)
    for key in (None, 1.5, True, [1], bytearray(b"a")):
        with pytest.raises(TypeError, match="a key is"):
            bank.members_with(key)


@pytest.mark.parametrize("options, error", [
    ({"fpr": 2.0}, ValueError), ({"fpr": -1.0}, ValueError), ({"fpr": float("nan")}, ValueError),
    ({"false_members": 1}, ValueError), ({"members": 10}, ValueError), ({"hash": "md5"}, ValueError),
    ({"fpr": 0.1, "members": -1}, OverflowError), ({"backend": "Z80"}, ValueError),
    ({"secret": b"16 bytes of text"}, ValueError), ({"buffer_bytes": -1}, OverflowError),
    ({"hash": "siphash13", "secret": b"short"}, ValueError), ({"capacity": 10}, TypeError)])
def test_bad_options(options, error):
    with pytest.raises(error):
        tamis.FilterBank(**options)


def test_an_iterable_that_fails_adds_nothing():
    bank = tamis.FilterBank()

    def keys():
        yield from range(200_000)
        raise KeyError("midway")

    for call in (lambda k: bank.add("a", k), bank.contains, bank.select, bank.count_per_member):
        with pytest.raises(KeyError, match="midway"):
            call(keys())
    with pytest.raises(OverflowError):
        bank.add("a", [1, 2**64])
    assert len(bank) == 0
    bank.add("a", [1])
    assert bank.members_with(1) == ["a"]
    untouched = iter([1, 2])
    with pytest.raises(ValueError, match="already"):
        bank.add("a", untouched)
    assert list(untouched) == [1, 2]


@pytest.mark.parametrize("map", [False, True])
def test_files(tmp_path, map):
    path = tmp_path / "all.bank"
    bank = bank_of(600)
    bank.remove("c7")
    bank.save(path)
    bank.save(str(path))
    opened = tamis.FilterBank.open(path, map=map)
    assert opened.read_only == map and opened.names == bank.names and opened.fpr == bank.fpr
    assert opened.select(np.arange(3000))[1].tolist() == bank.select(np.arange(3000))[1].tolist()
    assert opened.extract("c9").to_bytes() == bank.extract("c9").to_bytes()
    assert not opened.extract("c9").read_only
    opened.save(tmp_path / "again.bank")
    assert (tmp_path / "again.bank").read_bytes() == path.read_bytes()
    if not map:
        opened.add("c7", [1])
        return
    calls = [lambda: opened.add("x", [1]), lambda: opened.add("x", tamis.SplitBlockBloomFilter(9)),
             lambda: opened.remove("c1"), lambda: opened.discard("no"), opened.flush, opened.compact,
             lambda: opened.merge(bank)]
    for call in calls:
        with pytest.raises(tamis.ReadOnlyError, match="FilterBank.open"):
            call()
    assert opened.names == bank.names
    bank.add("c7", [1])  # a mapped bank may be added to another
    other = tamis.FilterBank()
    other.merge(opened)
    assert sorted(other) == sorted(opened)


def test_wrong_files(tmp_path):
    path = tmp_path / "a.bank"
    bank_of(3).save(path)
    with pytest.raises(tamis.UnsupportedError, match="FilterBank opens it"):
        tamis.open(path)
    tamis.BloomFilter(10).save(tmp_path / "f.tamis")
    with pytest.raises(tamis.UnsupportedError) as info:
        tamis.FilterBank.open(tmp_path / "f.tamis")
    assert info.value.check == "filter kind"
    for map in (False, True):
        with pytest.raises(FileNotFoundError):
            tamis.FilterBank.open(tmp_path / "missing", map=map)
        with pytest.raises(tamis.FileError):
            tamis.FilterBank.open(tmp_path, map=map)
    data = path.read_bytes()
    for at in range(0, len(data), 1371):
        damaged = bytearray(data)
        damaged[at] ^= 4
        path.write_bytes(damaged)
        for options in ({}, {"map": True, "verify": True}):
            with pytest.raises((tamis.CorruptError, tamis.UnsupportedError, tamis.SecretError)):
                tamis.FilterBank.open(path, **options)
    with pytest.raises(OSError):
        bank_of(1).save(tmp_path / "no/such/folder.bank")


def test_secrets(tmp_path):
    secret = b"0123456789abcdef"
    bank = tamis.FilterBank(hash="siphash13", secret=secret)
    bank.add("a", [1, 2])
    assert bank.hash == "siphash13" and bank.new_filter(5).hash == "siphash13"
    bank.save(tmp_path / "without")
    bank.save(tmp_path / "with", with_secret=True)
    for map in (False, True):
        with pytest.raises(tamis.SecretError):
            tamis.FilterBank.open(tmp_path / "without", map=map)
        opened = tamis.FilterBank.open(tmp_path / "without", map=map, secret=secret)
        assert opened.members_with(1) == ["a"]
        assert tamis.FilterBank.open(tmp_path / "with", map=map).members_with(2) == ["a"]
    assert tamis.FilterBank(hash="siphash24").members_with(1) == []
    assert tamis.FilterBank(hash="xxh64", seed=5).seed == 5


def test_every_backend_gives_the_same_answers():
    answers = set()
    for name in tamis.backends():
        bank = bank_of(100, backend=name)
        assert bank.backend == name
        answers.add(bank.contains(np.arange(6000)).tobytes())
    assert len(answers) == 1


def test_banks_are_not_pickled():
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="save"):
            call(bank_of(1))


@pytest.mark.filterwarnings("ignore:nanobind")
def test_a_bank_without_init():
    class Forgets(tamis.FilterBank):
        def __init__(self):
            pass

    bank = Forgets()
    for call in (lambda: len(bank), lambda: bank.names, lambda: bank.members_with(1),
                 lambda: repr(bank), lambda: bank.add("a", [1])):
        with pytest.raises(TypeError):
            call()


def test_repr():
    bank = bank_of(3, fpr=0.02)
    assert repr(bank) == f"FilterBank(members=3, nbytes={bank.nbytes}, fpr=0.02)"
    assert repr(bank.members()[1]).startswith("BankMember(name='c1', position=1, nbytes=")
    bank.flush()
    bank.remove("c0")
    assert repr(bank.groups()[0]).startswith("BankGroup(filter_nbytes=")
    assert bank.groups()[0].removed == 1 and bank.groups()[0].members == 2
    bank.compact()
    assert bank.groups()[0].removed == 0


def test_many_threads(tmp_path):
    bank = bank_of(300)
    errors = []

    def work(number):
        try:
            mine = np.arange(10**6 * number, 10**6 * number + 5000)
            for turn in range(8):
                name = f"{number}-{turn}"
                bank.add(name, mine)
                assert name in bank and name in bank.members_with(int(mine[17]))
                assert dict(bank.count_per_member(mine, threads=2))[name] == 5000
                assert bank.contains(mine).any(axis=1).all()
                f = bank.extract(name)
                bank.add(name + "'", f)
                bank.remove(name)
                if turn % 3 == number % 3:
                    bank.compact()
                bank.save(tmp_path / f"threads-{number}.bank")
                assert len(bank.names) >= 300 and bank.nbytes > 0 and repr(bank)
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(bank) == 300 + 6 * 8
    assert bank.contains(np.arange(10**6 * 5, 10**6 * 5 + 5000))[:, bank.member("5-7'").position].all()


def test_two_threads_merge_crosswise():
    a, b = bank_of(1), bank_of(0)
    b.add("other", [1])

    def merge(to, other):
        for _ in range(200):
            try:
                to.merge(other)
            except ValueError:
                pass  # the bank already has the name

    threads = [threading.Thread(target=merge, args=pair) for pair in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_a_bank_that_changes_between_batches():
    bank = bank_of(5)

    def keys(change):
        yield from range(200_000)
        change()
        yield from range(300_000)

    for call in (bank.contains, bank.select, bank.count_per_member):
        with pytest.raises(RuntimeError, match="changed during the call"):
            call(keys(lambda: bank.add(f"new {len(bank)}", [1])))
        assert len(call(keys(lambda: bank.members_with(3)))) > 0  # a query is not a change
    f = tamis.SplitBlockBloomFilter(10)
    bank.add("late", keys(lambda: bank.add("meanwhile", f)))
    assert bank.member("late").inserted_count == 500_000 and "meanwhile" in bank


def test_children_of_fork():
    bank = bank_of(20)
    pid = os.fork()
    if pid == 0:
        try:
            good = "c3" in bank.members_with(200) and bank.contains(np.arange(2000)).any()
            bank.add("child", [1])
            os._exit(0 if good and len(bank) == 21 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(bank) == 20
