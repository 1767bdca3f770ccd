"""What the page and the Markdown have in common: tables as rows of text and measurements."""
from . import compare, load

FACTS = ["processor", "processors", "caches", "memory", "memory_bytes", "huge pages",
         "frequency governor", "system", "gpu", "compiler", "flags", "version", "commit",
         "default_backend", "backends", "peers"]


def ns_text(ns):
    """Two digits after the point, or three that count: a GPU takes hundredths."""
    return f"{ns:.2f}" if ns >= 1 else f"{ns:.3g}"


def bytes_text(count):
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def fact_text(value):
    if isinstance(value, dict):
        return ", ".join(f"{name}: {entry}" for name, entry in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def facts(results):
    """(name, value of each file)."""
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


def _line_key(row):
    """What a line of a summary has in common, over the size classes."""
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
    """Groups (row or comparison's row, value) pairs into lines: (kind, label, {size: value})."""
    grouped = {}
    for row, value in rows:
        grouped.setdefault(_line_key(row), {})[row.key.size_class] = value
    kinds = list(dict.fromkeys(line[0] for line in grouped))

    def order(line):
        operation = (load.OPERATION_ORDER.index(line[1]) if line[1] in load.OPERATION_ORDER
                     else len(load.OPERATION_ORDER))
        return (kinds.index(line[0]), operation)
    return [(line[0], _line_label(line), grouped[line])
            for line in sorted(grouped, key=order)]


def speed_lines(results):
    """The summary of one file: each value is a row."""
    return lines((row, row) for row in results.rows.values())


def comparison_lines(old, new):
    """The summary of two files: each value is a comparison."""
    return lines((c.new, c) for c in compare.by_role(old, new))


def limit_rows(results):
    """(what, {size: text}) of one file."""
    found = {}
    for limit in results.data["limits"]:
        what = limit["name"].replace("_", " ")
        if limit["threads"] != 1:
            what += f", {limit['threads']} threads"
        if not limit["huge_pages"]:
            what += ", no huge pages"
        per_second = limit["per_second"]["median"]
        unit = limit["unit"]
        text = (f"{per_second / 1e9:.1f} GB/s" if unit == "bytes"
                else f"{per_second / 1e6:.0f} M {unit}/s")
        found.setdefault(what, {})[limit["size_class"]] = text
    return list(found.items())


def side_by_side(results):
    """One line for each kind of filter, at the usual point of all axes: (kind, library, bits/key,
    FPR, {(operation, size): row}); both rates of the largest filter."""
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
