"""Reads and checks files of tamis-bench."""
import dataclasses
import datetime
import json
import pathlib
import pkgutil
import statistics

from . import agree, validate

SCHEMA_VERSIONS = (1, 2)
SIZE_ORDER = ["L1", "L2", "LLC", "memory"]
OPERATION_ORDER = ["contains", "contains_bytes", "select", "one_key", "engine_contains",
                   "contains_beside_writer", "insert", "build", "build_one_key", "build_if_absent",
                   "erase"]


class BadInput(Exception):
    """An error in a file, with a message for users."""


@dataclasses.dataclass(frozen=True)
class Key:
    """A point on all axes. It matches rows of two files."""
    kind: str
    operation: str
    backend: str
    threads: int
    size_class: str
    hit_percent: int | None
    keys: str
    huge_pages: bool
    call_keys: int | None = None

    def label(self):
        """Returns a text with the parts that differ from the usual point."""
        parts = [self.kind, self.operation, self.backend]
        if self.threads != 1:
            parts.append(f"{self.threads} threads")
        if self.hit_percent not in (None, 50):
            parts.append(f"{self.hit_percent}% hits")
        if self.keys != "u64":
            parts.append(f"{self.keys} keys")
        if self.call_keys is not None:
            parts.append(f"{self.call_keys} a call")
        if not self.huge_pages:
            parts.append("no huge pages")
        return ", ".join(parts)


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement: nanoseconds per key with quartiles, and further data."""
    key: Key
    data: dict

    @property
    def ns(self):
        return self.data["ns_per_key"]["median"]

    @property
    def cycles(self):
        """Statistics of the time in chained multiplications, which is proportional to cycles of the
        clock. None if the file has no clock."""
        clock = self.data.get("chained_multiplications_per_ns")
        if clock is None:
            return None
        samples = [ns * rate for ns, rate in zip(self.data["ns_per_key"]["samples"],
                                                 clock["samples"])]
        if len(samples) == 1:
            return dict.fromkeys(("median", "q1", "q3"), samples[0])
        q1, median, q3 = statistics.quantiles(samples, n=4, method="inclusive")
        return {"median": median, "q1": q1, "q3": q3}

    @property
    def bytes(self):
        """The bytes of the filter."""
        return self.data["filter_bytes"]

    @property
    def quartiles(self):
        return self.data["ns_per_key"]["q1"], self.data["ns_per_key"]["q3"]

    @property
    def million_keys(self):
        return 1e3 / self.ns

    @property
    def spread(self):
        """Half the distance between the quartiles, divided by the median."""
        low, high = self.quartiles
        return (high - low) / 2 / self.ns

    @property
    def share(self):
        share = self.data["share_of_limit"]
        return share["median"] if share else None

    @property
    def default_backend(self):
        return self.data["default_backend"]


class Results:
    """One file."""

    def __init__(self, label, data):
        self.label = label
        self.data = data
        self.context = data["context"]
        self.rows = {}
        for row in data["rows"]:
            key = Key(**{field.name: row[field.name] for field in dataclasses.fields(Key)
                         if field.name in row})
            self.rows[key] = Row(key, row)
        self.latencies = data.get("latencies", [])  # older files have none
        self.sizes = {size["name"]: size["filter_bytes"] for size in data["size_classes"]}

    def limits(self, name, threads=1, huge_pages=True):
        """Returns {size class: median per second} of one limit."""
        return {limit["size_class"]: limit["per_second"]["median"] for limit in self.data["limits"]
                if (limit["name"], limit["threads"], limit["huge_pages"]) ==
                (name, threads, huge_pages)}


def limit_key(limit):
    """Returns the key that matches limits of two files."""
    return limit["name"], limit["size_class"], limit["threads"], limit["huge_pages"]


def schema():
    return json.loads(pkgutil.get_data(__package__, "schema.json"))


def is_date(text):
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except (TypeError, ValueError):
        return False


def _parse(path, text):
    """Parses strict JSON. Python's own reader accepts NaN and invalid text."""
    def constant(name):
        raise BadInput(f"{path}: not JSON: {name} is no number")
    try:
        data = json.loads(text, parse_constant=constant)
        json.dumps(data, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:  # also for endless numbers and lone surrogates
        raise BadInput(f"{path}: not JSON: {error}") from None
    return data


def _check(path, data):
    if not isinstance(data, dict) or data.get("schema") != "tamis-bench":
        raise BadInput(f"{path}: not a file of tamis-bench --out (it has no "
                       '"schema": "tamis-bench")')
    version = data.get("schema_version")
    if version not in SCHEMA_VERSIONS or isinstance(version, bool):
        raise BadInput(f"{path}: schema version {version!r}; this tamis-report reads "
                       f"{' and '.join(map(str, SCHEMA_VERSIONS))}")
    for where, what in validate.errors(data, schema(), schema()):
        raise BadInput(f"{path}: at {where or 'the top'}: {what}")
    if version > 1 and not is_date(data["context"].get("date")):
        raise BadInput(f"{path}: at /context: no date such as 2026-01-31")
    sizes = {size["name"] for size in data["size_classes"]}
    for part in ("rows", "limits", "latencies"):
        for i, entry in enumerate(data.get(part, [])):
            if entry["size_class"] not in sizes:
                raise BadInput(f"{path}: at /{part}/{i}: {entry['size_class']!r} is not one of "
                               "size_classes")
    for where, what in agree.problems(data):
        raise BadInput(f"{path}: at {where}: {what}")


def load(path, label=None):
    """Loads and checks a file. Raises BadInput."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    data = _parse(path, text)
    _check(path, data)
    results = Results(label or pathlib.Path(path).stem, data)
    if not results.rows:
        raise BadInput(f"{path}: has no rows")
    return results
