"""Measures tamis.spark: bytes shuffled per key, and the peak memory of executors and Python workers.

Usage: spark.py [KEYS] [MASTER]

Every second key is a duplicate. Requires Linux and Java. An example of MASTER: local-cluster[2,1,2048].
"""
import json
import os
import pathlib
import re
import sys
import time
import urllib.request

from pyspark.sql import SparkSession

import tamis.spark


def shuffled(spark):
    """Returns the bytes that all stages wrote to shuffles so far."""
    context = spark.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(url) as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def peak_bytes(command):
    """Returns the largest peak of resident memory of the processes with this text in their command."""
    peaks = [0]
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if command in (process / "cmdline").read_text():
                status = (process / "status").read_text()
                peaks += [1024 * int(kib) for kib in re.findall(r"VmHWM:\s*(\d+)", status)]
        except OSError:  # it has ended
            pass
    return max(peaks)


def main(keys=1_000_000, master="local-cluster[2,1,2048]"):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (SparkSession.builder.master(master).config("spark.ui.showConsoleProgress", False)
             .config("spark.sql.shuffle.partitions", 8).getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.range(0, keys, 1, 4).selectExpr(f"id % {keys // 2} AS key", "repeat(md5(string(id)), 8) AS text")
    jobs = {
        "build": lambda: tamis.spark.build(rows, "key", keys, 0.01).ranges.count(),
        "drop_duplicates": lambda: tamis.spark.drop_duplicates(rows, "key", 0.01, keys).count(),
        "dropDuplicates of Spark": lambda: rows.dropDuplicates(["key"]).count(),
        "dropDuplicates of Spark, all columns used":
            lambda: rows.dropDuplicates(["key"]).selectExpr("sum(length(text))").first()[0]}
    for name, job in jobs.items():
        before, start = shuffled(spark), time.monotonic()
        result = job()
        seconds = time.monotonic() - start
        time.sleep(1)  # until the last stage is listed
        print(f"{name}: {result:,}; {(shuffled(spark) - before) / keys:.2f} bytes shuffled per key; "
              f"{seconds:.1f} s; peak MiB so far: executor {peak_bytes('CoarseGrained') >> 20}, "
              f"Python worker {peak_bytes('pyspark.daemon') >> 20}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*([int(float(sys.argv[1]))] if len(sys.argv) > 1 else []), *sys.argv[2:3])
