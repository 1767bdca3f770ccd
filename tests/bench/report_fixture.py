"""Result files and a command line for the tests of tamis-report. The first argument is the folder of its package."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

PACKAGE = sys.argv.pop(1)
sys.path.insert(0, PACKAGE)
from tamis_report import cli  # noqa: E402

SIZES = {"L1": 24 << 10, "L2": 1 << 20}


def statistics(median, spread=0.01):
    samples = [median * (1 - spread), median, median * (1 + spread)]
    return {"median": median, "q1": samples[0], "q3": samples[2], "samples": samples}


def row(operation="contains", backend="AVX2", size="L2", ns=2.0, spread=0.01, share=0.5, **other):
    result = {
        "name": f"split_block/{operation}/{backend}/{size}", "kind": "split_block",
        "library": "tamis", "operation": operation, "backend": backend, "default_backend": True,
        "threads": 1, "size_class": size, "keys": "u64", "huge_pages": True,
        "hit_percent": 50 if operation in ("contains", "select", "one_key") else None,
        "filter_bytes": SIZES.get(size, 0), "num_keys": 1000,
        "batch_keys": 1000, "bits_per_key": 12.0, "fpr": 0.0054, "expected_fpr": 0.0054,
        "ns_per_key": statistics(ns, spread), "keys_per_second": 1e9 / ns,
        "share_of_limit": statistics(share, spread),
    }
    result.update(other)
    return result


def latency(beside="nothing", p99=1000.0, alone=None, call_keys=100, **other):
    """`alone` is the p99 of the same calls alone."""
    large = beside != "nothing"
    p99_ns = statistics(p99, 0.0)
    result = {
        "name": f"split_block/latency/backend:AVX2/threads:2/size:L2/call:{call_keys}/beside:{beside}",
        "kind": "split_block", "backend": "AVX2", "threads": 2, "size_class": "L2",
        "filter_bytes": SIZES["L2"], "num_keys": 1000, "call_keys": call_keys, "beside": beside,
        "large_threads": 1 if beside == "contains_apart" else 2 if large else None,
        "large_keys": 1 << 24 if large else None, "calls": 3000, "p50_ns": statistics(500.0),
        "p99_ns": p99_ns, "p999_ns": statistics(20000.0), "max_ns": statistics(4e6, 0.5),
        "p99_over_alone": statistics(p99 / alone, 0.0) if alone else None,
    }
    result.update(other)
    return result


LATENCIES = [latency(), latency("contains", 2500.0, 1000.0), latency("insert", 1500.0, 1000.0),
             latency("contains_apart", 1100.0, 1000.0)]


def limit(per_second=1e9, name="random_lines", size="L2", threads=1, spread=0.01, unit="lines"):
    return {"name": name, "size_class": size, "threads": threads, "huge_pages": True, "unit": unit,
            "method": "no prefetch", "per_second": statistics(per_second, spread)}


def agreeing(rows, limits):
    """Yields the rows. Adds the share of the limit if `limits` contains the limit of the row."""
    of = {(one["size_class"], one["threads"], one["huge_pages"]): one["per_second"]["samples"]
          for one in limits if one["name"] == "random_lines"}
    for one in rows:
        samples = of.get((one["size_class"], one["threads"], one["huge_pages"]))
        if samples and one["share_of_limit"]:
            shares = [1e9 / ns / limit for ns, limit in zip(one["ns_per_key"]["samples"], samples)]
            low, middle, high = sorted(shares)
            one = {**one, "share_of_limit": {"median": middle, "q1": low, "q3": high,
                                             "samples": shares}}
        yield one


def results(rows, backend="AVX2", sizes=None, limits=None, **context):
    sizes = sizes or SIZES
    limits = [limit()] if limits is None else limits
    return {
        "schema": "tamis-bench", "schema_version": 2, "mode": "quick", "seconds": 1.5,
        "context": {
            "date": "2026-01-31", "notes": "", "processor": "a <processor>",
            "processors": 2, "caches": "L1 48K", "memory": "1 MiB",
            "cache_bytes": {"L1": 1, "L2": 2, "LLC": 3}, "memory_bytes": 1 << 20,
            "huge pages": "madvise", "frequency governor": "unknown", "system": "Linux",
            "gpu": "none", "compiler": "g++", "flags": "-O3", "version": "0.1.0", "commit": "abc",
            "default_backend": backend, "backends": [backend, "portable"], "peers": {}, **context,
        },
        "size_classes": [{"name": name, "filter_bytes": count} for name, count in sizes.items()],
        "limits": limits,
        "rows": list(agreeing(rows, limits)),
        "accuracy": [{"kind": "split_block", "library": "tamis", "bits_per_key": 12.0,
                      "num_keys": 1000, "queries": 4000, "fpr": 0.0055, "expected_fpr": 0.0054}],
        "refused": [],
    }


FULL = [row(), row(size="L1", ns=1.0), row("build"), row("select", ns=2.5),
        row(backend="portable", ns=9.0, default_backend=False), row(ns=1.1, threads=2)]


class Command(unittest.TestCase):
    """Each test has its own folder for files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, data):
        path = self.folder / name
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return str(path)

    def run_command(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main([str(argument) for argument in arguments])
            except SystemExit as stop:  # raised by argparse
                status = stop.code
        return status, out.getvalue(), err.getvalue()
