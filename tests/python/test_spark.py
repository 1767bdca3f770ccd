"""tamis.spark on two executor processes, with tasks that fail and an executor that is killed."""
import ctypes
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import tamis

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
import tamis.spark as ts  # noqa: E402  needs pyarrow
from tamis._spark_layout import _block_index  # noqa: E402

ROWS = 20_000
FEW = {"buffer_keys": 2000, "range_bytes": 4096}  # several chunks of each partition, many ranges


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        session = (SparkSession.builder.master("local-cluster[2,1,1024]")
                   .config("spark.ui.enabled", False).config("spark.ui.showConsoleProgress", False)
                   .config("spark.task.maxFailures", 4).config("spark.speculation", True)
                   .config("spark.sql.shuffle.partitions", 3)
                   .config("spark.driver.maxResultSize", "8m").getOrCreate())
    except Exception as error:
        pytest.skip(f"Spark does not start here, perhaps without Java: {error}")
    yield session
    session.stop()


def failing(df, flags, kill=False):
    """Returns the same rows. The first attempt of each task fails after some rows, or one executor's
    worker and its parent processes are killed."""
    def run(batches):
        from pyspark import TaskContext
        task = TaskContext.get()
        for i, batch in enumerate(batches):
            yield batch
            flag = os.path.join(flags, "killed" if kill else str(task.partitionId()))
            if i == 0 and not os.path.exists(flag):
                open(flag, "w").close()
                if not kill:
                    raise RuntimeError("the first attempt fails")
                daemon = os.getppid()
                with open(f"/proc/{daemon}/stat") as stat:
                    executor = int(stat.read().rpartition(")")[2].split()[1])
                os.kill(executor, signal.SIGKILL)
    return df.mapInArrow(run, df.schema)


def rows_of(df):
    return [tuple(row) for row in df.collect()]


def table(spark):
    return spark.range(0, ROWS, 1, 3).selectExpr(
        "id", "if(id % 97 = 0, NULL, id * id % 5003) AS k", "concat('text', id % 11) AS t")


def one_process(rows, capacity, fpr):
    """Drops duplicates of (k,) in a filter in this process."""
    seen = tamis.SplitBlockBloomFilter(capacity, fpr)
    new = seen.insert_if_absent([k for _, k, _ in rows])
    return [row for row, first in zip(rows, new) if first or row[1] is None]


def test_build_and_keep_possible(spark, tmp_path):
    whole = tamis.SplitBlockBloomFilter(ROWS, 0.01)
    whole.insert(np.arange(ROWS))
    made = ts.build(failing(spark.range(0, ROWS, 1, 3), str(tmp_path)), "id", ROWS, 0.01, **FEW)
    assert made.layout.ranges > 3
    assert made.to_filter().to_bytes() == whole.to_bytes()
    made.save(str(tmp_path / "filter"))
    made = ts.open(spark, str(tmp_path / "filter"))
    assert made.to_filter().to_bytes() == whole.to_bytes()
    others = np.arange(0, 10 * ROWS, 10)
    expected = others[np.asarray(whole.contains(others))].tolist()
    frame = spark.range(0, 10 * ROWS, 10, 2)
    for known in (made, whole):
        assert [row.id for row in ts.keep_possible(frame, "id", known).collect()] == expected


@pytest.mark.parametrize("kill", [False, True])
def test_drop_duplicates(spark, tmp_path, kill):
    if kill and not os.path.exists("/proc/self/stat"):
        pytest.skip("the executor is found by /proc")
    rows = rows_of(table(spark))
    df = failing(table(spark), str(tmp_path), kill)
    expected = one_process(rows, ROWS, 0.05)
    assert len(expected) < ROWS / 2
    assert rows_of(ts.drop_duplicates(df, "k", 0.05, ROWS, **FEW)) == expected
    assert list(tmp_path.iterdir())


def test_several_columns(spark):
    rows, seen = [], set()
    for row in rows_of(table(spark)):
        if row[1] is None or row[1:] not in seen:
            rows.append(row)
        seen.add(row[1:])
    left = rows_of(ts.drop_duplicates(table(spark), ["k", "t"], 1e-9))
    assert left == rows


@pytest.mark.parametrize("blocks", [1, 1000, 2**32 - 1, 2**32, 2**33 + 12345, 2**40 - 77])
def test_place(blocks):
    layout = ts.Layout(1, 0.01, blocks, min(blocks, 2**21 + 3), "xxh3", 0)
    hashes = np.random.default_rng(blocks).integers(0, 2**64, 5000, dtype=np.uint64)
    hashes[:2] = 0, 2**64 - 1
    for h, index, local in zip(hashes.tolist(), *(x.tolist() for x in layout.place(hashes))):
        block = (h >> 32) * blocks >> 32 if blocks < 2**32 else h * blocks >> 64
        assert index == block // layout.width
        assert (local >> 32) * layout.blocks_of(index) >> 32 == block % layout.width
        assert local & 0xFFFFFFFF == h & 0xFFFFFFFF


BLOCK_INDEX = """
#include "tamis/detail/block_index.h"
extern "C" void block_index(const uint64_t* hashes, uint64_t n, uint64_t blocks, uint64_t* out) {
  for (uint64_t i = 0; i < n; ++i) out[i] = tamis::detail::BlockIndex(hashes[i], blocks);
}
"""


def test_block_index_is_that_of_the_library(tmp_path):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("the function of the header is compiled by c++")
    headers = pathlib.Path(__file__).resolve().parents[2] / "core/include"
    source, library = tmp_path / "block_index.cc", tmp_path / "block_index.so"
    source.write_text(BLOCK_INDEX)
    subprocess.run([compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-I", headers, source, "-o", library],
                   check=True)
    compiled = ctypes.CDLL(str(library)).block_index
    rng = np.random.default_rng(48)
    hashes = rng.integers(0, 2**64, 5000, dtype=np.uint64)
    hashes[:4] = 0, 2**64 - 1, 2**32 - 1, 2**32
    expected = np.empty_like(hashes)
    edges = [1, 2, 2**32 - 2, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1]
    random_bits = [int(bits) for bits in rng.integers(2**63, 2**64, 256, np.uint64)]
    for blocks in edges + [bits >> i % 64 for i, bits in enumerate(random_bits)]:
        compiled(hashes.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(len(hashes)), ctypes.c_uint64(blocks),
                 expected.ctypes.data_as(ctypes.c_void_p))
        assert (_block_index(hashes, blocks) == expected).all(), blocks


@pytest.mark.parametrize("name", ["a.b", "it's a ` \\ \u00fc"])
def test_names_of_columns(spark, tmp_path, name):
    df = table(spark).selectExpr("k AS k1", "id AS x", "t", "-id AS x").toDF(name, "x", "t.t", "x")
    rows = rows_of(df)
    left = ts.drop_duplicates(df, [name, "t.t"], 1e-9)
    seen = set()
    assert rows_of(left) == [row for row in rows if row[0] is None or not (row[::2] in seen or seen.add(row[::2]))]
    assert left.schema == df.schema
    spark.conf.set("spark.sql.parser.escapedStringLiterals", True)
    try:
        ts.build(table(spark).where("id < 300").select("k").toDF(name), name).save(str(tmp_path / "filter"))
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")
    made = ts.open(spark, str(tmp_path / "filter"))
    assert made.columns == [name]
    kept = rows_of(ts.keep_possible(df, made.columns, made))
    assert kept == rows_of(ts.keep_possible(df, name, made.to_filter()))
    assert 290 < len(kept) < len(rows) / 2


def test_an_empty_filter_is_saved(spark, tmp_path):
    for i, frame in enumerate([spark.createDataFrame([], "k long"), spark.range(3).selectExpr("CAST(NULL AS long) k")]):
        ts.build(frame, "k", 100).save(str(tmp_path / str(i)))
        made = ts.open(spark, str(tmp_path / str(i)))
        assert made.to_filter().to_bytes() == tamis.SplitBlockBloomFilter(100, 0.01).to_bytes()
        assert rows_of(ts.keep_possible(table(spark), "k", made)) == []
        assert rows_of(ts.keep_possible(frame, "k", made)) == []


def test_open_reads_no_contents(spark, tmp_path):
    contents = bytearray(np.random.default_rng(1).bytes(16 << 20))  # more than spark.driver.maxResultSize
    ranges = spark.createDataFrame([(0, contents, 1, "integers")], "range int, contents binary, inserted long, types string")
    made = ts.RangedFilter(["id"], ts.Layout(1, 0.01, 1 << 19, 1 << 19, "xxh3", 0), ranges)
    made.save(str(tmp_path / "filter"))
    assert ts.open(spark, str(tmp_path / "filter")).layout == made.layout


def test_timestamps(spark):
    frame = spark.range(0, 400, 1, 3).selectExpr("id", "timestamp_seconds(id % 200 * 10000000) AS at")
    whole = tamis.SplitBlockBloomFilter(400, 0.01)
    whole.insert(frame.toArrow().column("at"))
    made = ts.build(frame, "at", 400)
    assert made.to_filter().to_bytes() == whole.to_bytes()
    assert rows_of(ts.keep_possible(frame, "at", whole)) == rows_of(frame)
    assert rows_of(ts.drop_duplicates(frame, "at", 1e-9)) == rows_of(frame.where("id < 200"))


def test_keep_possible_with_filters_in_memory(spark):
    frame = table(spark)
    frame_keys = spark.range(0, 3000, 1, 2).selectExpr("id AS k", "concat('text', id % 11) AS t")
    made = ts.build(frame_keys, ["k", "t"], fpr=1e-9)
    expected = rows_of(ts.keep_possible(frame, ["k", "t"], made))
    assert expected and rows_of(ts.keep_possible(frame, ["k", "t"], made.to_filter())) == expected
    keyed, fuse = tamis.SplitBlockBloomFilter(100, 1e-9, hash="siphash13"), tamis.FuseFilter32(range(100))
    keyed.insert(range(100))
    expected = rows_of(frame.where("k < 100"))
    for known in (keyed, fuse):
        assert rows_of(ts.keep_possible(frame, "k", known)) == expected


def test_windows_follow_the_batches_of_arrow(spark):
    frame = table(spark).coalesce(1)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 100)
    try:
        left = ts.drop_duplicates(frame, "k", 1e-9)
        assert rows_of(left) == one_process(rows_of(frame), ROWS, 1e-9)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_wrong_uses(spark):
    df = table(spark)
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    for arguments, error in ((("none",), ValueError), (([],), ValueError), (("k", 0.0), ValueError),
                             (("k", 0.01, 0), ValueError)):
        with pytest.raises(error):
            ts.drop_duplicates(df, *arguments)
    for key in ("1.5D", "true", "struct(1)", "array(timestamp'2020-01-01')", "map(1, 2)", "parse_json('1')"):
        of_other_type = df.selectExpr(f"{key} AS x")
        for call in (lambda: ts.build(of_other_type, "x"),
                     lambda: ts.keep_possible(of_other_type, "x", tamis.BloomFilter(10))):
            with pytest.raises(TypeError):
                call()
    with pytest.raises(TypeError, match="not str"):
        ts.keep_possible(df, "k", "filter.tamis")
    with pytest.raises(ValueError, match="cannot hold 100000000000000 keys"):
        ts.build(df, "k", 10**14)
    with pytest.raises(ValueError, match="too many ranges"):
        ts.build(df, "k", 10**13, range_bytes=1024)
    with pytest.raises(ValueError, match="range_bytes"):
        ts.build(df, "k", 10, range_bytes=10)
    with pytest.raises(ValueError, match="unknown|hash"):
        ts.build(df, "k", 10, hash="none")
    assert len(tracker.getJobIdsForGroup(None)) == before


def test_too_full(spark):
    with pytest.raises(Exception, match="more than capacity=100 different keys"):
        ts.drop_duplicates(table(spark), "k", 0.01, 100).count()


@pytest.mark.parametrize("change", [lambda rows: rows[::-1], lambda rows: rows[:-1], lambda rows: rows + rows[-1:]])
def test_other_rows_the_second_time(spark, tmp_path, change):
    def read(batches):
        from pyspark import TaskContext
        flag = tmp_path / str(TaskContext.get().partitionId())
        again = flag.exists()
        flag.touch()
        for batch in batches:
            yield batch.take(change(list(range(len(batch))))) if again else batch
    df = table(spark)
    with pytest.raises(Exception, match="yields other rows, or another order"):
        ts.drop_duplicates(df.mapInArrow(read, df.schema), "k", 0.01, ROWS).count()


def texts(spark):
    """Returns rows of which 40% repeat an earlier row with a few other words. Some texts are empty or null."""
    rng = random.Random(47)
    rows = []
    for i in range(3000):
        words = [f"v{rng.randint(0, 999)}" for _ in range(rng.randint(0, 60))]
        if rows and rng.random() < 0.4:
            words = (rng.choice(rows)[1] or "").split()
            for _ in range(rng.randint(0, 6)):
                at = rng.randrange(len(words) + 1)
                words[at:at + 1] = [f"w{rng.randint(0, 999)}"]
        rows.append((i, None if i % 97 == 0 else " ".join(words)))
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, 3), "id int, text string")


def exact_similar(rows, words, threshold):
    """Drops similar rows with a set of n-grams in this process."""
    seen, left = set(), []
    for row in rows:
        found = (row[1] or "").split()
        grams = {tuple(found[i:i + words]) for i in range(max(len(found) - words + 1, min(len(found), 1)))}
        if not grams or len(grams & seen) < threshold * len(grams) - 1e-9:
            left.append(row)
        seen |= grams
    return left


@pytest.mark.parametrize("words, threshold", [(3, 0.8), (2, 0.4)])
def test_drop_similar_is_that_of_sets(spark, tmp_path, words, threshold):
    rows = rows_of(texts(spark))
    expected = exact_similar(rows, words, threshold)
    assert 0.2 < len(expected) / len(rows) < 0.9
    left = ts.drop_similar(failing(texts(spark), str(tmp_path)), "text", words, threshold, 10**5, 1e-7,
                           buffer_keys=2000, range_bytes=1 << 18)
    assert rows_of(left) == expected
    odd = texts(spark).withColumnRenamed("text", "te`x.t")
    assert rows_of(ts.drop_similar(odd, "te`x.t", words, threshold, fpr=1e-7)) == expected
    assert list(tmp_path.iterdir())


@pytest.mark.parametrize("kill", [False, True])
def test_drop_similar_has_the_false_positives_of_one_filter(spark, tmp_path, kill):
    if kill and not os.path.exists("/proc/self/stat"):
        pytest.skip("the executor is found by /proc")
    rows, expected, total = rows_of(texts(spark)), [], 0
    grams = [np.unique(np.frombuffer(ts._text.ngrams([row[1] or ""], 4)[0], np.uint64)) for row in rows]
    total = sum(map(len, grams))
    seen = tamis.SplitBlockBloomFilter(total, 0.2)
    for row, keys in zip(rows, grams):
        new = np.asarray(seen.insert_if_absent(keys))
        if not len(keys) or len(keys) - new.sum() < 0.5 * len(keys):
            expected.append(row)
    assert len(expected) < len(exact_similar(rows, 4, 0.5))
    df = failing(texts(spark), str(tmp_path), kill)
    assert rows_of(ts.drop_similar(df, "text", 4, 0.5, None, 0.2, **FEW)) == expected
    assert list(tmp_path.iterdir())


ODD_WORDS = ["a", "b", "\u00e9", "\ufb00", "\u65e5\u672c", "\u0e01\u0e02", "\U0001f600", "\u200d", "x\u0301", "_", "1",
             "\n", "\u2028", "\x00"]


def odd_texts(seed):
    """Returns texts of several scripts, nulls, blanks, and repeated texts."""
    rng = random.Random(seed)
    rows = [None, "", " \n\t", "a"]
    while len(rows) < 200:
        words = (rng.choice(ODD_WORDS) for _ in range(rng.randint(1, 30)))
        rows.append(rng.choice(rows) if rng.random() < 0.4 else " ".join(words))
    return rows


@pytest.mark.parametrize("seed, words, threshold, parts", [(1, 1, 1, 1), (2, 2, 5e-324, 7), (3, 1000, 0.5, 2)])
def test_drop_similar_of_odd_texts(spark, seed, words, threshold, parts):
    texts, expected = odd_texts(seed), []
    grams = [np.unique(np.frombuffer(ts._text.ngrams([text or ""], words)[0], np.uint64)) for text in texts]
    seen = tamis.SplitBlockBloomFilter(sum(map(len, grams)), 0.01)
    for i, keys in enumerate(grams):
        found = len(keys) - int(np.asarray(seen.insert_if_absent(keys)).sum())
        if not len(keys) or found < ts._text.needed(len(keys), threshold):
            expected.append((i, texts[i]))
    df = spark.createDataFrame(spark.sparkContext.parallelize(list(enumerate(texts)), parts), "id int, text string")
    assert rows_of(ts.drop_similar(df, "text", words, threshold, fpr=0.01, buffer_keys=1, range_bytes=1024)) == expected


def test_drop_similar_refuses_wrong_uses(spark):
    df = texts(spark)
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    for arguments, error in ((("none",), ValueError), (("id",), TypeError), (("text", 0), ValueError),
                             (("text", 1001), ValueError), (("text", 2.5), TypeError),
                             (("text", 3, 0), ValueError), (("text", 3, 1.1), ValueError),
                             (("text", 3, float("nan")), ValueError), (("text", 3, 0.5, 0), ValueError)):
        with pytest.raises(error):
            ts.drop_similar(df, *arguments)
    assert len(tracker.getJobIdsForGroup(None)) == before
    with pytest.raises(Exception, match="more than capacity=100 different keys"):
        ts.drop_similar(df, "text", 3, 0.8, 100).count()
    assert rows_of(ts.drop_similar(df.where("id < 0"), "text")) == []


def test_drop_similar_with_rows_in_another_order(spark, tmp_path):
    def shuffled(batches):
        import pyarrow
        flag = str(tmp_path / "read")
        again = os.path.exists(flag)
        open(flag, "w").close()
        for batch in batches:
            yield batch.take(pyarrow.array(range(len(batch))[::-1])) if again else batch
    df = texts(spark).coalesce(1)
    with pytest.raises(Exception, match="or another order"):
        ts.drop_similar(df.mapInArrow(shuffled, df.schema), "text", 3, 0.8, 10**5).count()
