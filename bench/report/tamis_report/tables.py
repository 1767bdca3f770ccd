"""Makes the tables of the page and of the Markdown, as rows of text and measurements."""
from . import compare, load
from .words import bytes_text, count_text, limit_text, rate_text, time_text, times_text

FACTS = ["date", "notes", "processor", "processors", "caches", "memory", "memory_bytes",
         "huge pages", "frequency governor", "system", "gpu", "compiler", "flags", "version",
         "commit", "default_backend", "backends", "peers"]


def fact_text(value):
    if isinstance(value, dict):
        return ", ".join(f"{name}: {entry}" for name, entry in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def facts(results):
    """Returns rows (name, value of each file)."""
    names = [name for name in FACTS if any(name in one.context for one in results)]
    names += sorted({name for one in results for name in one.context} - set(FACTS) -
                    {"cache_bytes"})
    rows = [(name, [fact_text(one.context.get(name, "unknown")) for one in results])
            for name in names if name != "memory_bytes"]
    rows.append(("filters", [", ".join(f"{name} {bytes_text(size)}"
                                       for name, size in one.sizes.items()) for one in results]))
    rows.append(("run", [f"{one.data['mode']}, {one.data['seconds']:.0f} s" for one in results]))
    return rows


def sizes(results):
    found = {size: count for one in results for size, count in one.sizes.items()}
    return [size for size in load.SIZE_ORDER if size in found] + sorted(
        set(found) - set(load.SIZE_ORDER), key=lambda size: found[size])


def _quantities(name, cells):
    """Returns a row with the texts, followed by the ratios of the other numbers to the first. A
    cell is (number, text), or None if the file has no value."""
    numbers = [cell[0] if cell else 0 for cell in cells]
    times = [times_text(number / numbers[0]) if number and numbers[0] else ""
             for number in numbers[1:]]
    return name, [cell[1] if cell else "" for cell in cells] + times


def _limit_role(one, limit):
    """Returns the name of a limit among the limits of one size. "all threads" matches any number of
    threads. Returns None for numbers of threads between one and all."""
    most = max(other["threads"] for other in one.data["limits"])
    if limit["threads"] not in (1, most):
        return None
    name = limit_text({**limit, "threads": 1})
    return name + (", all threads" if limit["threads"] != 1 else "")


def machines(results):
    """Returns rows (name, [text of each file, then the ratio of each other file to the first]) of
    processors and caches, of the programs, and of filters and limits by size."""
    contexts = [one.context for one in results]
    blank = [""] * (len(results) - 1)

    def byte_counts(name, counts):
        return _quantities(name, [(count, bytes_text(count)) if count else None
                                  for count in counts])
    rows = [("processor", [context["processor"] for context in contexts] + blank),
            _quantities("processors", [(context["processors"], str(context["processors"]))
                                       for context in contexts])]
    for cache, name in (("L1", "L1 cache"), ("L2", "L2 cache"), ("LLC", "last-level cache")):
        rows.append(byte_counts(name, [context["cache_bytes"][cache] for context in contexts]))
    rows.append(byte_counts("memory", [context["memory_bytes"] for context in contexts]))
    rows.append(("backend", [context["default_backend"] for context in contexts] + blank))
    rows += [(name, [fact_text(context.get(name, "unknown")) for context in contexts] + blank)
             for name in ("date", "compiler", "flags", "version", "commit")]
    for size in sizes(results):
        rows.append(byte_counts(f"{size}: filter", [one.sizes.get(size) for one in results]))
        found = [{_limit_role(one, limit): limit for limit in one.data["limits"]
                  if limit["size_class"] == size} for one in results]
        for role in dict.fromkeys(role for limits in found for role in limits if role):
            of_each = [limits.get(role) for limits in found]
            rows.append(_quantities(f"{size}: {role}", [
                (limit["per_second"]["median"], rate_text(limit)) if limit else None
                for limit in of_each]))
    return rows


def machines_head(results):
    return ["", *(one.label for one in results),
            *(f"{other.label} / {results[0].label}" for other in results[1:])]


def _line_key(row):
    """Returns the key of a line of a summary. A line covers all size classes."""
    key = row.key
    backend = "" if row.default_backend else key.backend
    return (key.kind, key.operation, backend, key.threads, key.hit_percent, key.keys,
            key.huge_pages)


def _line_label(line):
    _, operation, backend, threads, hits, keys, huge_pages = line
    parts = [operation]
    if backend:
        parts.append(backend)
    if threads != 1:
        parts.append(f"{threads} threads")
    if hits not in (None, 50):
        parts.append(f"{hits}% hits")
    if keys != "u64":
        parts.append(f"{keys} keys")
    if not huge_pages:
        parts.append("no huge pages")
    return ", ".join(parts)


def lines(rows):
    """Groups (row, column, value) into lines (kind, label, {column: value})."""
    grouped = {}
    for row, column, value in rows:
        grouped.setdefault(_line_key(row), {})[column] = value
    kinds = list(dict.fromkeys(line[0] for line in grouped))

    def order(line):
        operation = (load.OPERATION_ORDER.index(line[1]) if line[1] in load.OPERATION_ORDER
                     else len(load.OPERATION_ORDER))
        return (kinds.index(line[0]), operation)
    return [(line[0], _line_label(line), grouped[line])
            for line in sorted(grouped, key=order)]


def speed_lines(results):
    """The summary of one file: each value is a row, each column a size class."""
    return lines((row, row.key.size_class, row) for row in results.rows.values())


def comparison_lines(comparisons):
    """The summary of two files: each value is a comparison, each column the size class of both."""
    return lines((c.new, c.classes, c) for c in comparisons)


def comparison_columns(old, new, comparisons):
    """Returns (size classes of both, heading, whether the sizes are equal) for classes with the
    same name and for classes with the same size."""
    order = sizes([old, new])
    columns = []
    for before, after in sorted({c.classes for c in comparisons},
                                key=lambda both: (order.index(both[1]), order.index(both[0]))):
        name = after if before == after else f"{after} against {before}"
        old_bytes, new_bytes = old.sizes[before], new.sizes[after]
        alike = compare.same_size(old_bytes, new_bytes)
        size = bytes_text(new_bytes) + ("" if alike else f" against {bytes_text(old_bytes)}")
        columns.append(((before, after), f"{name} ({size})", alike))
    return columns


def limit_rows(results):
    """Returns rows (limit, {size: text}) of one file."""
    found = {}
    for limit in results.data["limits"]:
        found.setdefault(limit_text(limit), {})[limit["size_class"]] = rate_text(limit)
    return list(found.items())


LATENCY_HEAD = ["one small call", "beside", "p50", "p99", "p99.9", "max", "p99 / alone"]
LATENCY_NOTE = (
    "One thread makes small calls without a pause, with an engine that has a thread for each "
    "processor. Another thread makes the largest calls. Each call is timed from the end of the "
    "previous one, including one reading of the clock. p50, p99 and p99.9 are percentiles (nearest "
    "rank) of the calls of a repetition, as medians over the repetitions. max is the longest call "
    "of all repetitions. If the largest call has as many threads as there are processors, the "
    "thread with small calls may wait for its turn. Max and p99.9 show this wait, but only a few "
    "of many short calls have it.")


def _beside_text(latency):
    if latency["beside"] == "nothing":
        return "alone"
    what = "insertions" if latency["beside"] == "insert" else "queries"
    text = f"{what} of {count_text(latency['large_keys'])} keys"
    if latency["beside"] == "contains_apart":
        number = latency["large_threads"]
        text += f" by another engine of {number} thread{'' if number == 1 else 's'}"
    return text


def latency_rows(one):
    """Returns rows of text with the columns of LATENCY_HEAD."""
    rows = []
    for latency in one.latencies:
        call = f"{count_text(latency['call_keys'])} key{'' if latency['call_keys'] == 1 else 's'}"
        filter_text = f"{latency['size_class']} ({bytes_text(latency['filter_bytes'])})"
        ratio = latency["p99_over_alone"]
        rows.append([f"{latency['kind']}, {filter_text}, {call}", _beside_text(latency),
                     *(time_text(latency[f"{name}_ns"]["median"])
                       for name in ("p50", "p99", "p999")),
                     time_text(max(latency["max_ns"]["samples"])),
                     times_text(ratio["median"]) if ratio else ""])
    return rows


def side_by_side(results):
    """Returns a line for each kind of filter, at the usual point of all axes: (kind, library,
    bits/key, FPR, {(operation, size): row}). Bits per key and FPR are of the largest filter."""
    found = {}
    for row in results.rows.values():
        key = row.key
        usual = (key.threads == 1 and key.hit_percent in (None, 50) and key.keys == "u64" and
                 key.huge_pages and row.default_backend)
        if usual and key.operation in ("contains", "build"):
            cells = found[key.kind][4] if key.kind in found else {}
            cells[key.operation, key.size_class] = row
            found[key.kind] = (key.kind, row.data["library"], row.data["bits_per_key"],
                               row.data["fpr"], cells)
    return list(found.values())
