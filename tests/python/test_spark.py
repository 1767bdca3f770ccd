"""tamis.spark on two executor processes, with tasks that fail and an executor that is killed."""
import os
import signal
import sys

import numpy as np
import pytest

import tamis

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
import tamis.spark as ts  # noqa: E402  needs pyarrow

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
                   .config("spark.sql.shuffle.partitions", 3).getOrCreate())
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


def test_wrong_uses(spark):
    df = table(spark)
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    for arguments, error in ((("none",), ValueError), (([],), ValueError), (("k", 0.0), ValueError),
                             (("k", 0.01, 0), ValueError)):
        with pytest.raises(error):
            ts.drop_duplicates(df, *arguments)
    with pytest.raises(TypeError):
        ts.build(df.selectExpr("1.5D AS x"), "x")
    with pytest.raises(ValueError, match="range_bytes"):
        ts.build(df, "k", 10, range_bytes=10)
    with pytest.raises(ValueError, match="unknown|hash"):
        ts.build(df, "k", 10, hash="none")
    assert len(tracker.getJobIdsForGroup(None)) == before


def test_too_full(spark):
    with pytest.raises(Exception, match="more than capacity=100 different keys"):
        ts.drop_duplicates(table(spark), "k", 0.01, 100).count()


def test_rows_in_another_order(spark, tmp_path):
    def turn(batches):
        from pyspark import TaskContext
        flag = tmp_path / str(TaskContext.get().partitionId())
        again = flag.exists()
        flag.touch()
        for batch in batches:
            yield batch.take(list(range(len(batch)))[::-1]) if again else batch
    df = table(spark)
    with pytest.raises(Exception, match="in another order"):
        ts.drop_duplicates(df.mapInArrow(turn, df.schema), "k", 0.01, ROWS).count()
