"""Reads and checks files of tamis-bench."""
import dataclasses
import json
import pathlib
import pkgutil

from . import validate

SCHEMA_VERSION = 1
SIZE_ORDER = ["L1", "L2", "LLC", "memory"]
OPERATION_ORDER = ["contains", "select", "one_key", "insert", "build", "build_one_key",
                   "erase"]


class BadInput(Exception):
    """What is wrong with a file, for people."""


@dataclasses.dataclass(frozen=True)
class Key:
    """A point on all axes, by which rows of two files are matched."""
    kind: str
    operation: str
    backend: str
    threads: int
    size_class: str
    hit_percent: int | None
    keys: str
    huge_pages: bool

    def label(self):
        """The parts that differ from the usual ones, for people."""
        parts = [self.kind, self.operation, self.backend]
        if self.threads != 1:
            parts.append(f"{self.threads} threads")
        if self.hit_percent not in (None, 50):
            parts.append(f"{self.hit_percent}% hits")
        if self.keys != "u64":
            parts.append(f"{self.keys} keys")
        if not self.huge_pages:
            parts.append("no huge pages")
        return ", ".join(parts)


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement: nanoseconds per key with quartiles, and what belongs to it."""
    key: Key
    data: dict

    @property
    def ns(self):
        return self.data["ns_per_key"]["median"]

    @property
    def quartiles(self):
        return self.data["ns_per_key"]["q1"], self.data["ns_per_key"]["q3"]

    @property
    def million_keys(self):
        return 1e3 / self.ns

    @property
    def spread(self):
        """Half the distance between the quartiles, as a share of the median."""
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
            key = Key(**{field.name: row[field.name] for field in dataclasses.fields(Key)})
            self.rows[key] = Row(key, row)
        self.sizes = {size["name"]: size["filter_bytes"] for size in data["size_classes"]}

    def limits(self, name, threads=1, huge_pages=True):
        """Medians per second of one limit, by size class."""
        return {limit["size_class"]: limit["per_second"]["median"] for limit in self.data["limits"]
                if (limit["name"], limit["threads"], limit["huge_pages"]) ==
                (name, threads, huge_pages)}


def schema():
    return json.loads(pkgutil.get_data(__package__, "schema.json"))


def _check(path, data):
    if not isinstance(data, dict) or data.get("schema") != "tamis-bench":
        raise BadInput(f"{path}: not a file of tamis-bench --out (it has no "
                       '"schema": "tamis-bench")')
    version = data.get("schema_version")
    if version != SCHEMA_VERSION:
        raise BadInput(f"{path}: schema version {version!r}; this tamis-report reads "
                       f"{SCHEMA_VERSION}")
    for where, what in validate.errors(data, schema(), schema()):
        raise BadInput(f"{path}: at {where or 'the top'}: {what}")


def load(path, label=None):
    """Throws BadInput."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}: not JSON: {error}") from None
    _check(path, data)
    results = Results(label or pathlib.Path(path).stem, data)
    if not results.rows:
        raise BadInput(f"{path}: has no rows")
    return results
