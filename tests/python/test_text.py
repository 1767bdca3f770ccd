"""tamis.text, compared with exact sets and with the command."""
import collections
import concurrent.futures
import importlib
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import random
import re
import subprocess
import types
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_workers import open_shared, work

import tamis
import tamis.text
from tamis.text import DedupFilter

COMMAND = os.environ.get("TAMIS_COMMAND")
FORK = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
EXAMPLES = pathlib.Path(__file__).parents[2] / "bindings/python/examples"
# Blanks, punctuation, and letters of a script without spaces, in which each is a word.
ALPHABET = "ab_\u00e9 \u4e2d\u6587.,\t\r"
WORD = re.compile("[\u4e2d\u6587]|[ab_\u00e90-9]+")

# Values of `unit` and `remove`.
MODES = [("document", "document"), ("paragraph", "document"), ("paragraph", "paragraph"),
         ("ngram", "document"), ("ngram", "paragraph")]


def has_threshold(unit, remove):
    return unit == "ngram" or (unit, remove) == ("paragraph", "document")


class Model:
    """Decides like DedupFilter, with a set of keys."""

    def __init__(self, unit, remove, ngrams, threshold):
        self.unit, self.remove, self.ngrams, self.threshold = unit, remove, ngrams, threshold
        self.seen = set()

    def keys(self, paragraph):
        if self.unit == "ngram":
            words = WORD.findall(paragraph)
            n = min(self.ngrams, len(words))
            return [tuple(words[i:i + n]) for i in range(len(words) - n + 1)] if n else []
        trimmed = paragraph.strip(" \t\r")
        return [trimmed] if trimmed else []

    def units(self, text):
        """Returns the keys of the document, or of each paragraph if paragraphs are removed."""
        if self.unit == "document":
            return [[text]]
        paragraphs = [self.keys(paragraph) for paragraph in text.split("\n")]
        return [sum(paragraphs, [])] if self.remove == "document" else paragraphs

    def repeated(self, keys):
        found = sum(key in self.seen for key in keys)
        return keys and found >= max(1, math.ceil(self.threshold * len(keys) - 1e-9))

    def clean(self, text):
        units, kept = self.units(text), []
        for keys in units:
            kept.append(not self.repeated(keys))
            if kept[-1]:
                self.seen.update(keys)
        if all(kept):
            return text
        if not any(keep and keys for keep, keys in zip(kept, units)):
            return None
        return "\n".join(part for part, keep in zip(text.split("\n"), kept) if keep)


@pytest.mark.parametrize("unit, remove", MODES)
@given(texts=st.lists(st.text(ALPHABET + "\n", max_size=60), max_size=30),
       ngrams=st.integers(1, 4), threshold=st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.8, 1.0]))
@settings(deadline=None)
def test_decides_like_exact_sets(unit, remove, texts, ngrams, threshold):
    options = {"ngrams": ngrams} if unit == "ngram" else {}
    if has_threshold(unit, remove):
        options["threshold"] = threshold
    step = DedupFilter(unit=unit, remove=remove, capacity=1, fpr=1e-9, **options)
    model = Model(unit, remove, ngrams, options.get("threshold", 1))
    for text in texts:
        want = model.clean(text)
        if remove == "paragraph":
            assert step.clean(text) == want
        else:
            assert step.filter(text) == (want is not None)
    assert step.inserted_count == len(model.seen) + (8 if unit == "ngram" else 0)  # with the marks


def random_texts(seed, number, words=400):
    """Texts with new, repeated and slightly changed paragraphs."""
    numbers = random.Random(seed)
    known = ["", " \t"]
    texts = []
    while len(texts) < number:
        paragraphs = []
        for _ in range(numbers.randrange(7)):
            kind = numbers.randrange(6)
            if kind < 3:
                paragraph = " ".join(str(numbers.randrange(words)) for _ in range(numbers.randrange(40)))
            else:
                paragraph = numbers.choice(known)
                if kind == 3:
                    paragraph = paragraph.replace(" 7", "\u4e2d\u6587, \u00e9", 1)
            known.append(paragraph)
            paragraphs.append(paragraph)
        texts.append("\n".join(paragraphs))
    return texts


def run_command(folder, texts, *options):
    """Returns the texts that the command writes."""
    source = folder / "texts.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    done = subprocess.run([COMMAND, "dedup", "--jsonl", "--field", "text", "--overfull", *options, source],
                          capture_output=True, text=True, encoding="utf-8", check=False)
    if "simdjson" in done.stderr:
        pytest.skip("the command reads no JSON lines")
    assert done.returncode in (0, 3), done.stderr  # 3: the filter is too full
    return [json.loads(line)["text"] for line in done.stdout.splitlines()]


needs_command = pytest.mark.skipif(not COMMAND, reason="TAMIS_COMMAND names no command")


@needs_command
@pytest.mark.parametrize("unit, remove", MODES)
@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_results_and_filter_are_those_of_the_command(tmp_path, unit, remove, threshold):
    # At this rate many new texts are false positives. They must be the same ones.
    fpr, capacity = 0.4, 70_000
    texts = random_texts(f"{unit} {remove}", 3000, words=10_000)
    options, given = [], {}
    if unit == "ngram":
        options, given = ["--ngrams", "3"], {"ngrams": 3}
    if has_threshold(unit, remove):
        options += ["--threshold", str(threshold)]
        given["threshold"] = threshold
    written = run_command(tmp_path, texts, "--unit", unit, "--remove", remove, "--fpr", str(fpr),
                          "--capacity", str(capacity), "--filter", str(tmp_path / "seen.tamis"), *options)
    step = DedupFilter(unit=unit, remove=remove, capacity=capacity, fpr=fpr, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        kept = [text for text in map(step.clean, texts) if text is not None]
    assert kept == written
    assert step.snapshot().to_bytes() == (tmp_path / "seen.tamis").read_bytes()
    if unit == "ngram":
        assert step.expected_fpr > 0.05  # so that there were false positives


@needs_command
@pytest.mark.parametrize("unit, remove", MODES)
def test_defaults_are_those_of_the_command(tmp_path, unit, remove):
    texts = random_texts(1, 500)
    written = run_command(tmp_path, texts, "--unit", unit, "--remove", remove, "--capacity", "100",
                          "--filter", str(tmp_path / "seen.tamis"))
    step = DedupFilter(unit=unit, remove=remove, capacity=100)
    assert [text for text in map(step.clean, texts) if text is not None] == written
    assert step.snapshot().to_bytes() == (tmp_path / "seen.tamis").read_bytes()


@needs_command
@pytest.mark.parametrize("unit, remove", MODES)
@pytest.mark.parametrize("as_path", [True, False])
def test_against_is_that_of_the_command(tmp_path, unit, remove, as_path):
    path = tmp_path / "test.tamis"
    test = DedupFilter(unit=unit, capacity=1000)
    for text in random_texts(2, 300):
        test.filter(text)
    test.snapshot().save(path)
    before = path.read_bytes()
    texts = random_texts(2, 900)[200:]
    written = run_command(tmp_path, texts, "--unit", unit, "--remove", remove, "--against", str(path))
    step = DedupFilter(unit=unit, remove=remove, against=path if as_path else tamis.open(path))
    for same in (step, pickle.loads(pickle.dumps(step))):
        assert [text for text in map(same.clean, texts) if text is not None] == written
    assert len(written) < len(texts) and path.read_bytes() == before
    with pytest.raises(ValueError, match="no filter of its own"):
        step.inserted_count
    with pytest.raises(ValueError, match="no filter of its own"):
        step.capacity


def test_against_of_too_many_keys_warns(tmp_path):
    full = tamis.BloomFilter(1000)
    full.update(str(key) for key in range(5000))
    full.save(tmp_path / "full.tamis")
    for against in (full, tmp_path / "full.tamis"):
        with pytest.warns(RuntimeWarning, match="5,000 keys are in a filter for 1,000") as warned:
            assert not DedupFilter(unit="document", against=against).filter("17")
        assert warned[0].filename == __file__


def test_against_needs_keys_of_its_unit(tmp_path):
    integers, strings = tamis.FuseFilter8(range(100)), tamis.BloomFilter(100)
    strings.add("ada")
    strings.save(tmp_path / "strings.tamis")
    assert not DedupFilter(unit="paragraph", against=strings).filter("ada")
    for unit, against in [("document", integers), ("paragraph", integers), ("ngram", strings),
                          ("ngram", tmp_path / "strings.tamis")]:
        with pytest.raises(tamis.IncompatibleError, match="its keys are"):
            DedupFilter(unit=unit, against=against)
    ngrams = DedupFilter(unit="ngram", ngrams=3, capacity=100)
    ngrams.filter("a b c d")
    ngrams.snapshot().save(tmp_path / "ngrams.tamis")
    for against in (ngrams.snapshot(), tmp_path / "ngrams.tamis"):
        assert not DedupFilter(unit="ngram", ngrams=3, against=against).filter("a b c d")
        with pytest.raises(tamis.IncompatibleError, match="have 3 words, and not 13: pass ngrams=3"):
            DedupFilter(unit="ngram", against=against)
    more = DedupFilter(unit="ngram", ngrams=5, capacity=100)
    more.filter("a b c d e")
    both = ngrams.snapshot() | more.snapshot()
    with pytest.raises(tamis.IncompatibleError, match="have 3 or 5 words, and not 4: pass ngrams=3 or 5"):
        DedupFilter(unit="ngram", ngrams=4, against=both)
    with pytest.warns(RuntimeWarning, match="does not record the words of its n-grams; ngrams=13") as seen:
        assert DedupFilter(unit="ngram", against=integers).filter("a b c d")
    assert seen[0].filename == __file__
    with pytest.raises(FileNotFoundError):
        DedupFilter(against=tmp_path / "none.tamis")
    with pytest.raises(TypeError, match="a filter or the path"):
        DedupFilter(against={"ada"})


def test_documents_are_texts_or_have_one():
    step = DedupFilter(unit="paragraph", capacity=100)
    assert step.filter("a") and not step.filter(types.SimpleNamespace(text="a"))
    assert not step.filter({"text": "a"}) and not step.filter(collections.ChainMap({"text": "a"}))

    class Text(str):
        pass

    assert not step.filter(Text("a")) and step.filter(Text("b")) and not step.filter("b")
    for other in (None, b"a", 7, {"txt": "a"}, {"text": None}, types.SimpleNamespace(text=b"a"), ["a"]):
        with pytest.raises(TypeError, match="a document is"):
            step.filter(other)
    with pytest.raises(UnicodeEncodeError):
        step.filter("\ud800")
    assert step.inserted_count == 2


def test_a_long_text_has_its_keys_only_once():
    step = DedupFilter(unit="paragraph", remove="paragraph", capacity=200_000)
    text = "\n".join(f"paragraph {i}" for i in range(100_000))
    assert step.clean(text) is text and step.inserted_count == 100_000
    assert step.clean(text + "\nnew\n\n") == "new\n\n" and step.clean(text) is None
    assert step.inserted_count == 100_001


@pytest.mark.parametrize("options, error, reason", [
    ({"unit": "sentence"}, ValueError, "unit is 'sentence'"),
    ({"remove": "annotate"}, ValueError, "remove is 'annotate'"),
    ({"remove": "paragraph"}, ValueError, "compares no paragraphs"),
    ({"ngrams": 5}, ValueError, "ngrams needs"),
    ({"unit": "ngram", "ngrams": 0}, ValueError, "from 1 to 1000"),
    ({"unit": "ngram", "ngrams": 1001}, ValueError, "from 1 to 1000"),
    ({"unit": "ngram", "ngrams": 2.5}, TypeError, "integer"),
    ({"threshold": 0.5}, ValueError, "threshold needs"),
    ({"unit": "paragraph", "remove": "paragraph", "threshold": 0.5}, ValueError, "threshold needs"),
    ({"unit": "ngram", "threshold": 0}, ValueError, "above 0"),
    ({"unit": "ngram", "threshold": 1.01}, ValueError, "above 0"),
    ({"unit": "ngram", "threshold": math.nan}, ValueError, "above 0"),
    ({"capacity": None}, ValueError, "capacity is missing"),
    ({"capacity": 0}, ValueError, "at least 1"),
    ({"capacity": 1e6}, TypeError, "integer"),
    ({"fpr": 0}, ValueError, "false-positive rate 0 is"),
    ({"fpr": 0.7}, ValueError, "false-positive rate 0.7 is"),
    ({"fpr": math.nan}, ValueError, "false-positive rate nan is"),
    ({"against": "some.tamis"}, ValueError, "against changes no filter"),
])
def test_wrong_options_are_refused_before_a_file_is_made(tmp_path, options, error, reason):
    with pytest.raises(error, match=reason):
        DedupFilter(**{"capacity": 100, "shared": tmp_path / "seen", **options})
    assert list(tmp_path.iterdir()) == []


def test_options_are_numbers_of_any_type(tmp_path):
    path = tmp_path / "seen"
    assert DedupFilter(unit="ngram", ngrams=np.int8(5), threshold=np.float16(0.5), capacity=np.int64(100),
                       fpr=np.float32(0.25), shared=path).filter("a b")
    assert not DedupFilter(unit="ngram", ngrams=5, threshold=0.5, capacity=100, fpr=0.25, shared=path).filter("a b")


def test_filter_refuses_to_hide_changes():
    step = DedupFilter(unit="paragraph", remove="paragraph", capacity=100)
    with pytest.raises(ValueError, match="call clean"):
        step.filter("a\nb")
    assert step.inserted_count == 0


def test_a_file_of_other_options_is_refused(tmp_path):
    path = tmp_path / "seen"
    options = {"unit": "ngram", "ngrams": 5, "threshold": 0.5, "capacity": 100_000, "fpr": 0.001}
    DedupFilter(**options, shared=path).filter("a b c")
    assert not DedupFilter(**options, shared=str(path)).filter("a b c")
    for change in ({"ngrams": 6}, {"threshold": 0.6}, {"capacity": 100_001}, {"fpr": 0.002},
                   {"remove": "paragraph"}):
        with pytest.raises(ValueError, match="other options: .*\"ngrams\": 5"):
            DedupFilter(**{**options, **change}, shared=path)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 1)
    with pytest.raises(ValueError, match="other options"):
        DedupFilter(**options, shared=path)
    for contents in (b"", b"something else" * 10_000):
        path.write_bytes(contents)
        with pytest.raises(ValueError, match="not a shared filter"):
            DedupFilter(**options, shared=path)
        assert path.read_bytes() == contents
    with pytest.raises(OSError):
        DedupFilter(**options, shared=tmp_path / "no folder" / "seen")
    assert list(tmp_path.iterdir()) == [path]


def test_pickles_are_copies_or_share_the_memory(tmp_path):
    step = DedupFilter(unit="paragraph", remove="paragraph", capacity=100)
    step.clean("a")
    copy = pickle.loads(pickle.dumps(step))
    assert copy.clean("a\nb") == "b" and copy.inserted_count == 2
    assert step.clean("b") == "b" and repr(copy) == repr(step)
    path = tmp_path / "seen"
    step = DedupFilter(unit="paragraph", remove="paragraph", capacity=100, shared=path)
    pickled = pickle.dumps(step)
    assert len(pickled) < 1000
    same = pickle.loads(pickled)
    assert step.clean("a") == "a" and same.clean("a\nb") == "b" and step.clean("b") is None
    assert step.inserted_count == same.inserted_count == 2
    os.remove(path)
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)
    assert step.clean("c") == "c" and same.clean("c") is None  # the memory stays while it is mapped


class Named(DedupFilter):
    """A step of a pipeline with an attribute of its own."""

    def __init__(self, name, **options):
        super().__init__(**options)
        self.name = name


def test_pickles_keep_attributes_of_subclasses(tmp_path):
    for shared in (None, tmp_path / "seen"):
        step = Named("new", capacity=100, shared=shared)
        step.filter("a")
        copy = pickle.loads(pickle.dumps(step))
        assert type(copy) is Named and copy.name == "new" and not copy.filter("a") and copy.filter("b")


def test_paths_of_all_types_are_the_same_file(tmp_path):
    path = tmp_path / "seen"
    assert [DedupFilter(capacity=100, shared=name).filter("a")
            for name in (path, str(path), os.fsencode(path), tmp_path / "." / "seen")] == [True, False, False, False]


def test_a_filter_that_is_too_full_warns_once():
    step = DedupFilter(unit="ngram", ngrams=1, capacity=1)
    assert step.capacity == 65_536 and step.nbytes > 65_536
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert step.filter(" ".join(map(str, range(65_000))))
    before = step.expected_fpr
    with pytest.warns(RuntimeWarning, match="keys are in a filter for 65,536"):
        step.filter(" ".join(map(str, range(100_000, 200_000))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step.filter("a")
    assert step.expected_fpr > 2 * before


def run_workers(method, step, lists):
    """Returns what each of several processes keeps of its list of texts."""
    context = multiprocessing.get_context(method)
    barrier, queue = context.Barrier(len(lists)), context.Queue()
    workers = [context.Process(target=work, args=(step, texts, barrier, queue)) for texts in lists]
    for worker in workers:
        worker.start()
    kept = [queue.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    return kept


@pytest.mark.parametrize("method, unit", [(FORK, "document"), (FORK, "paragraph"), (FORK, "ngram"),
                                          ("spawn", "ngram")])
def test_processes_share_a_filter(tmp_path, method, unit):
    options = {"threshold": 1.0} if unit != "document" else {}
    step = DedupFilter(unit=unit, capacity=200_000, fpr=1e-9, shared=tmp_path / "seen", **options)
    texts = [" ".join(f"{i}.{j}" for j in range(30)) for i in range(3000)]
    lists = [random.Random(i).sample(texts, len(texts)) for i in range(4)]
    kept = collections.Counter(text for some in run_workers(method, step, lists) for text in some)
    # All workers have all texts at the same time. Each text is kept, and only overlaps keep it twice.
    assert set(kept) == set(texts)
    # Every worker, and this process, drops the texts that were kept before.
    assert run_workers(method, step, lists[:2]) == [[], []]
    assert not any(map(step.filter, texts))
    one = DedupFilter(unit=unit, capacity=200_000, fpr=1e-9, **options)
    for text in texts:
        assert one.filter(text)
    assert bytes(memoryview(one.snapshot())) == bytes(memoryview(step.snapshot()))
    # Texts that no other worker has are kept once, by their worker.
    more = [[f"{i} {j}" for j in range(500)] for i in range(3)]
    assert sorted(run_workers(method, step, more)) == more


@pytest.mark.parametrize("unit, remove", MODES)
def test_processes_drop_only_what_is_kept(tmp_path, unit, remove):
    options = {"ngrams": 3} if unit == "ngram" else {}
    step = DedupFilter(unit=unit, remove=remove, capacity=200_000, fpr=1e-9, shared=tmp_path / "seen", **options)
    model = Model(unit, remove, 3, 0.8)
    texts = random_texts(4, 1500)
    lists = [random.Random(i).sample(texts, len(texts)) for i in range(4)]
    for kept in run_workers(FORK, step, lists):
        for text in kept:
            for keys in model.units(text):
                model.seen.update(keys)
    # The kept parts have enough keys of every part that was dropped.
    assert all(model.repeated(keys) for text in texts for keys in model.units(text) if keys)


def test_workers_without_shared_memory_have_copies():
    step = DedupFilter(capacity=100)
    step.filter("a")
    for method in (FORK, "spawn"):
        assert run_workers(method, step, [["a", "b"], ["b", "c"]]) in (
            [["b"], ["b", "c"]], [["b", "c"], ["b"]])
    assert step.inserted_count == 1 and step.filter("b")


def test_processes_make_a_file_at_the_same_time(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(4), context.Queue()
    workers = [context.Process(target=open_shared, args=(tmp_path / "seen", barrier, queue)) for _ in range(4)]
    for worker in workers:
        worker.start()
    assert [queue.get(timeout=120) for _ in workers] == [[True] * 20] * 4
    for worker in workers:
        worker.join(60)
    assert DedupFilter(unit="paragraph", capacity=1000, shared=tmp_path / "seen").inserted_count == 80
    assert [path.name for path in tmp_path.iterdir()] == ["seen"]


@pytest.mark.parametrize("unit", ["paragraph", "ngram"])
def test_threads_share_an_object(unit):
    step = DedupFilter(unit=unit, remove="paragraph", capacity=500_000, fpr=1e-9)
    texts = ["\n".join(" ".join(f"{i}.{j}.{k}" for k in range(20)) for j in range(5)) for i in range(1000)]
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        cleaned = list(threads.map(step.clean, texts * 3))
    kept = collections.Counter(line for text in cleaned if text is not None for line in text.split("\n"))
    assert set(kept) == {line for text in texts for line in text.split("\n")}
    assert [step.clean(text) for text in texts] == [None] * len(texts)


@needs_command
@pytest.mark.parametrize("workers", [1, 3])
def test_the_example(tmp_path, monkeypatch, workers):
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module("text_dedup")
    texts = random_texts(3, 600)
    paths = []
    for i in range(6):
        paths.append(tmp_path / f"{i}.jsonl")
        paths[-1].write_text("".join(json.dumps({"id": n, "text": texts[n]}) + "\n"
                                     for n in range(100 * i, 100 * i + 100)))
    written = run_command(tmp_path, texts, "--unit", "ngram", "--capacity", "1000000")
    output = tmp_path / "clean"
    read, left = example.main(output, paths, workers)
    assert sorted(path.name for path in output.iterdir()) == [path.name for path in paths]
    cleaned = [json.loads(line) for path in paths
               for line in (output / path.name).read_text(encoding="utf-8").splitlines()]
    assert (read, left) == (600, len(cleaned))
    if workers == 1:
        assert [document["text"] for document in cleaned] == written
    model = Model("ngram", "paragraph", 13, 0.8)
    for document in cleaned:
        for keys in model.units(document["text"]):
            model.seen.update(keys)
    assert all(model.repeated(keys) for text in texts for keys in model.units(text) if keys)
    assert 0 < left < 600


def test_the_example_accepts_documents_without_words(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "..."}) + "\n")
    assert importlib.import_module("text_dedup").main(tmp_path / "out", [tmp_path / "in.jsonl"], 1) == (1, 1)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_the_example_for_datatrove(tmp_path, monkeypatch, method):
    for package in ("datatrove", "orjson", "regex"):  # datatrove requires the others only for these steps
        pytest.importorskip(package)
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module("datatrove_dedup")
    numbers = random.Random(5)
    texts = ["\n".join(f"paragraph {numbers.randrange(3000)}" for _ in range(3)) for _ in range(1200)]
    (tmp_path / "in").mkdir()
    for i in range(4):
        (tmp_path / f"in/{i}.jsonl").write_text("".join(
            json.dumps({"id": str(n), "text": texts[n]}) + "\n" for n in range(300 * i, 300 * i + 300)))
    output = tmp_path / "out"
    inserted = example.main(str(tmp_path / "in"), str(output), workers=2, start_method=method)
    kept = [json.loads(line)["text"] for path in output.glob("*.jsonl") for line in path.open()]
    parts = collections.Counter(part for text in kept for part in text.split("\n"))
    assert set(parts) == {part for text in texts for part in text.split("\n")}
    assert sum(parts.values()) == inserted  # each insertion kept one paragraph, also those that overlapped
    assert len(list(output.glob("*.jsonl"))) == 4 and len(kept) < 1200
