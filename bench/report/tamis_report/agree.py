"""Checks whether the numbers of a file agree with each other, as in a file by tamis-bench."""
import math

# The relative error that rounding may cause in a computed number.
ROUNDING = 1e-6
# A kind may need several times the bytes of its size class, or fewer bytes. A counting filter has
# four bits where other filters have one, and Parquet's sizes are powers of two.
SIZE_FACTOR = 8


def _near(a, b):
    return math.isclose(a, b, rel_tol=ROUNDING)


def _limits(data):
    """Returns {(size class, threads, huge pages): random lines per second, by repetition}."""
    return {(limit["size_class"], limit["threads"], limit["huge_pages"]):
            limit["per_second"]["samples"]
            for limit in data["limits"] if limit["name"] == "random_lines"}


def _row_problems(row, class_bytes, limit):
    times, share = row["ns_per_key"], row["share_of_limit"]
    rate = 1e9 / times["median"]
    if not _near(row["keys_per_second"], rate):
        yield f"keys_per_second is {row['keys_per_second']:.6g}, and ns_per_key makes it {rate:.6g}"
    if not class_bytes / SIZE_FACTOR <= row["filter_bytes"] <= class_bytes * SIZE_FACTOR:
        yield (f"filter_bytes is {row['filter_bytes']}, and its size class has filters of "
               f"{class_bytes} bytes")
    clock = row.get("chained_multiplications_per_ns")
    if clock and len(clock["samples"]) != len(times["samples"]):
        yield (f"chained_multiplications_per_ns has {len(clock['samples'])} samples, and ns_per_key "
               f"{len(times['samples'])}")
    if not share or not limit:
        return
    if len(share["samples"]) != len(times["samples"]):
        yield (f"share_of_limit has {len(share['samples'])} samples, and ns_per_key "
               f"{len(times['samples'])}")
        return
    for part, ns in zip(share["samples"], times["samples"]):
        # A share belongs to one repetition and is computed with the limit of that repetition.
        if not any(_near(part * one, 1e9 / ns) for one in limit):
            yield (f"share_of_limit has {part:.4g}, and {1e9 / ns:.6g} keys per second are no "
                   "such share of a limit in the file")
            return


def _latency_problems(latency, class_bytes, alone):
    """`alone` is the latency of the same calls without another thread, or None."""
    percentiles = [latency[f"{name}_ns"]["samples"] for name in ("p50", "p99", "p999", "max")]
    if len({len(samples) for samples in percentiles}) != 1:
        yield "its percentiles have different numbers of samples"
        return
    if any(list(sample) != sorted(sample) for sample in zip(*percentiles)):
        yield "its percentiles are not in order"
    if latency["calls"] < len(percentiles[0]):
        yield f"it has {latency['calls']} calls in {len(percentiles[0])} repetitions"
    if not class_bytes / SIZE_FACTOR <= latency["filter_bytes"] <= class_bytes * SIZE_FACTOR:
        yield (f"filter_bytes is {latency['filter_bytes']}, and its size class has filters of "
               f"{class_bytes} bytes")
    is_alone = latency["beside"] == "nothing"
    if any((latency[name] is None) != is_alone for name in ("large_threads", "large_keys")):
        yield f"large_threads and large_keys do not fit beside {latency['beside']!r}"
    ratios = latency["p99_over_alone"]
    if not ratios:
        return
    if is_alone or not alone:
        yield "p99_over_alone has values, but the calls alone were not measured"
        return
    expected = [beside / base for beside, base in zip(percentiles[1], alone["p99_ns"]["samples"])]
    if len(ratios["samples"]) != len(expected) or not all(map(_near, ratios["samples"], expected)):
        yield "p99_over_alone is not what p99_ns makes it"


def _calls_of(latency):
    """Returns the key that matches rows of the same calls."""
    return (latency["kind"], latency["backend"], latency["threads"], latency["size_class"],
            latency["call_keys"])


def problems(data):
    """Yields (where, what) for every contradiction between a row or a latency and the rest of the
    file."""
    sizes = {size["name"]: size["filter_bytes"] for size in data["size_classes"]}
    limits = _limits(data)
    for i, row in enumerate(data["rows"]):
        # Rows in the memory of a GPU have limits with other names.
        limit = limits.get((row["size_class"], row["threads"], row["huge_pages"]))
        for what in _row_problems(row, sizes[row["size_class"]], limit):
            yield f"/rows/{i} ({row['name']})", what
    latencies = data.get("latencies", [])
    alone = {_calls_of(one): one for one in latencies if one["beside"] == "nothing"}
    for i, one in enumerate(latencies):
        for what in _latency_problems(one, sizes[one["size_class"]], alone.get(_calls_of(one))):
            yield f"/latencies/{i} ({one['name']})", what
