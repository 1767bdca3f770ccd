"""The example for Apache Spark, in its local mode."""
import functools
import pathlib
import sys

import numpy as np
import pytest

import tamis

pytest.importorskip("pyspark")
EXAMPLES = pathlib.Path(__file__).parents[2] / "bindings/python/examples"
KEYS = 200_000


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession
    try:
        session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
                   .config("spark.sql.shuffle.partitions", 2).getOrCreate())
    except Exception as error:
        pytest.skip(f"Spark does not start here, perhaps without Java: {error}")
    yield session
    session.stop()


def test_spark(spark, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    sys.modules.pop("spark_filter", None)
    import spark_filter
    make = functools.partial(tamis.SplitBlockBloomFilter, KEYS, 0.01)
    spark.sparkContext.addPyFile(str(EXAMPLES / "spark_filter.py"))
    whole = make()
    whole.insert(np.arange(KEYS))
    made = spark_filter.build(spark.range(0, KEYS, 1, 5), make, segment_bytes=50_000)
    assert made.to_bytes() == whole.to_bytes()
    left = spark_filter.keep_possible(spark.range(0, 10 * KEYS, 10), "id", made)
    assert left.count() == whole.count(np.arange(0, 10 * KEYS, 10))
