"""Writes all measurements of several machines as one table of comma-separated values (RFC 4180,
except that lines end with a line feed). The page contains the same text and draws its overview from
it."""
import csv
import io

COLUMNS = ["machine", "processor", "date", "commit", "mode", "kind", "library", "operation",
           "backend", "default_backend", "threads", "size_class", "filter_bytes", "num_keys",
           "hit_percent", "keys", "call_keys", "huge_pages", "bits_per_key", "fpr", "ns_per_key",
           "ns_q1", "ns_q3", "share_of_limit", "limit_per_second"]


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "".join(c if c.isprintable() else " " for c in str(value))
    # Spreadsheets treat a text that begins like a formula as a formula.
    return "'" + text if isinstance(value, str) and text[:1] in ("=", "+", "-", "@") else text


def label(one):
    """Returns the name of a machine in the table."""
    return _cell(one.label)


def _cells(one, row, limit):
    data, times, share = row.data, row.data["ns_per_key"], row.data["share_of_limit"]
    return {
        **{name: data.get(name) for name in COLUMNS}, "machine": one.label,
        "processor": one.context["processor"], "date": one.context.get("date", "unknown"),
        "commit": one.context["commit"], "mode": one.data["mode"],
        "default_backend": "yes" if data["default_backend"] else "no",
        "huge_pages": "on" if data["huge_pages"] else "off", "ns_per_key": times["median"],
        "ns_q1": times["q1"], "ns_q3": times["q3"],
        "share_of_limit": share and share["median"], "limit_per_second": share and limit,
    }


def text(results):
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(COLUMNS)
    for one in results:
        limits = {(limit["size_class"], limit["threads"], limit["huge_pages"]):
                  limit["per_second"]["median"]
                  for limit in one.data["limits"] if limit["name"] == "random_lines"}
        for row in one.rows.values():
            # Rows in the memory of a GPU have limits with other names.
            limit = limits.get((row.key.size_class, row.key.threads, row.key.huge_pages))
            cells = _cells(one, row, limit)
            write([_cell(cells[name]) for name in COLUMNS])
    return out.getvalue()
