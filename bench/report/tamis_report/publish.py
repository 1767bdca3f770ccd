"""Checks whether a file may be added to the results of the repository."""
import collections
import getpass
import re
import socket

from . import load

# The units of the limits.
UNITS = {"random_lines": "lines", "sequential_read": "bytes", "hash": "keys",
         "random_sectors": "sectors", "random_sectors_set": "sectors", "copy_to_device": "bytes",
         "copy_from_device": "bytes"}
# The names that tamis-bench writes into the context. Other names could contain anything.
CONTEXT = {"date", "notes", "processor", "processors", "caches", "cache_bytes", "memory",
           "memory_bytes", "huge pages", "frequency governor", "system", "gpu", "compiler", "flags",
           "version", "commit", "default_backend", "backends", "peers", "other_processors", "busy"}
# Nanoseconds per key. A GPU takes hundredths, and one key per call from slow memory a thousand.
LEAST_NS, MOST_NS = 1e-3, 1e5
MOST_SHARE = 100  # of a limit; builds that order their keys exceed the limit, but by less
MOST_TEXT = 1000

PRIVATE = [
    ("a path", re.compile(r"(?<![\w.)\]])~?/\w|/(home|root|tmp|usr|opt|mnt|var|Users)/|"
                          r"\b[A-Z]:\\")),
    ("an address", re.compile(r"\w@\w|\w://|\b\d{1,3}(\.\d{1,3}){3}\b")),
    ("the name of a host", re.compile(r"\.(local|lan|internal|localdomain)\b|\blocalhost\b", re.I)),
]
# The address in the version of some compilers.
PUBLIC = re.compile(r"https://[\w.]+/llvm/llvm-project(\.git)?\b")
# Names of many machines and users reveal nothing.
COMMON = {"root", "user", "admin", "build", "runner", "ubuntu", "debian", "linux", "host",
          "localhost", "none", "unknown"}


def _own_names():
    """Returns the names of this machine and its user, for checks on the machine of the run."""
    names = {socket.gethostname(), socket.gethostname().partition(".")[0]}
    try:
        names.add(getpass.getuser())
    except (KeyError, OSError):
        pass
    return {name for name in names if len(name) > 3 and name.lower() not in COMMON}


def _strings(data, where=""):
    """Yields (where, text) for all texts, including names."""
    if isinstance(data, str):
        yield where, data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield f"{where}/{name[:40]}", name
            yield from _strings(value, f"{where}/{name[:40]}")
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from _strings(value, f"{where}/{i}")


def _private(data):
    own = [(f"{name!r}, a name of this machine or its user",
            re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.I)) for name in _own_names()]
    for where, text in _strings(data):
        if where == "/context/compiler":
            text = PUBLIC.sub("", text)
        for what, pattern in PRIVATE + own:
            if pattern.search(text):
                yield where, f"{text[:80]!r} has {what}"
        if len(text) > MOST_TEXT:
            yield where, f"{len(text)} characters; at most {MOST_TEXT} are allowed"
        if not text.isprintable():
            yield where, f"{text[:80]!r} has characters that cannot be printed"


def _statistics(statistics):
    samples = sorted(statistics["samples"])
    low, middle, high = (statistics[name] for name in ("q1", "median", "q3"))
    if not samples[0] <= low <= middle <= high <= samples[-1]:
        yield (f"quartiles {low:.4g}, {middle:.4g}, {high:.4g} are not in order within the "
               f"samples, {samples[0]:.4g} to {samples[-1]:.4g}")
    half = len(samples) // 2
    median = samples[half] if len(samples) % 2 else (samples[half - 1] + samples[half]) / 2
    if abs(median - middle) > 1e-6 * median:
        yield f"the median is {middle:.6g}, and that of the samples {median:.6g}"


def _context(data):
    context = data["context"]
    for name in sorted(set(context) - CONTEXT):
        yield "/context", f"{name!r} is nothing that tamis-bench writes"
    if data["schema_version"] > 1 and "notes" not in context:
        yield "/context", "'notes' is missing"
    for name in ("processor", "compiler"):
        if context[name] in ("", "unknown"):
            yield f"/context/{name}", "is not known"
    if context["commit"].endswith("-dirty"):
        yield "/context/commit", "of a tree with changes that nobody else has"
    if not re.fullmatch(r"[0-9a-f]{7,40}(-dirty)?|unknown", context["commit"]):
        yield "/context/commit", f"{context['commit'][:80]!r} is no commit"
    if not re.search(r"-O[23]\b", context["flags"]):
        yield "/context/flags", f"{context['flags'][:80]!r} do not optimize"
    if context["default_backend"] not in context["backends"]:
        yield "/context/default_backend", "is not one of backends"


def _limits(data):
    for i, limit in enumerate(data["limits"]):
        if limit["unit"] != UNITS[limit["name"]]:
            yield f"/limits/{i}", f"{limit['name']} are counted in {limit['unit']}"
        for what in _statistics(limit["per_second"]):
            yield f"/limits/{i}", what
    # Each share needs its limit in the file.
    known = {(limit["size_class"], limit["threads"], limit["huge_pages"])
             for limit in data["limits"] if limit["name"] == "random_lines"}
    for i, row in enumerate(data["rows"]):
        if row["share_of_limit"] and not row["backend"].startswith("CUDA") and (
                row["size_class"], row["threads"], row["huge_pages"]) not in known:
            yield f"/rows/{i}", "no limit of random_lines for its size, threads and pages"


def _rows(data):
    for i, row in enumerate(data["rows"]):
        where = f"/rows/{i}"
        times, share = row["ns_per_key"], row["share_of_limit"]
        clock = row.get("chained_multiplications_per_ns")
        for statistics in filter(None, (times, share, clock)):
            for what in _statistics(statistics):
                yield where, what
        if not LEAST_NS <= times["median"] <= MOST_NS:
            yield where, f"{times['median']:.4g} ns per key"
        if share and share["median"] > MOST_SHARE:
            yield where, f"{share['median']:.4g} times the limit"
        bits = 8 * row["filter_bytes"] / row["num_keys"]
        if abs(bits - row["bits_per_key"]) > 1e-3 * bits:
            yield where, f"{row['bits_per_key']:.4g} bits per key, and its size makes it {bits:.4g}"
        expected = row["expected_fpr"]
        if expected is not None and abs(row["fpr"] - expected) > 0.15 * expected + 5e-5:
            yield where, f"a rate of false positives of {row['fpr']:.3g}; in theory {expected:.3g}"
        if not row["name"].startswith(f"{row['kind']}/{row['operation']}/"):
            yield where, f"its name is {row['name'][:80]!r}"


def _latencies(data):
    for i, latency in enumerate(data.get("latencies", [])):
        where = f"/latencies/{i}"
        names = ("p50_ns", "p99_ns", "p999_ns", "max_ns", "p99_over_alone")
        for statistics in filter(None, (latency[name] for name in names)):
            for what in _statistics(statistics):
                yield where, what
        if not latency["name"].startswith(f"{latency['kind']}/latency/"):
            yield where, f"its name is {latency['name'][:80]!r}"


def problems(data):
    """Yields (where, what) for every reason to keep a file that `load` accepts out of
    bench/results."""
    for part in (_context, _limits, _rows, _latencies, _private):
        yield from part(data)
    if data["refused"]:
        yield "/refused", "a backend gave wrong answers"
    named = [*data["rows"], *data.get("latencies", [])]
    for name, count in collections.Counter(row["name"] for row in named).items():
        if count > 1:
            yield "/rows", f"{name[:80]!r} is there {count} times"


def check(paths):
    """Checks the files. Raises BadInput with all their errors."""
    said = []
    for path in paths:
        said += [f"{path}: at {where}: {what}"
                 for where, what in problems(load.load(path).data)]
    if said:
        raise load.BadInput("\n".join(said))
