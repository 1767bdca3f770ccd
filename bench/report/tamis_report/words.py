"""Formats numbers and names for readers."""


def ns_text(ns):
    """Formats with two decimals, or with three significant digits: a GPU takes hundredths."""
    return f"{ns:.2f}" if ns >= 1 else f"{ns:.3g}"


def time_text(ns):
    """Formats with three significant digits, in nanoseconds, microseconds or milliseconds."""
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= 0.9995 * size:
            return f"{ns / size:.0f} {unit}" if ns >= 999.5 * size else f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def count_text(count):
    """Formats a number of keys."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return str(count)


def bytes_text(count):
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            number = count / size
            return f"{number:.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
    return f"{count} B"


def times_text(ratio):
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def limit_text(limit):
    """Returns the name of a limit, without its size."""
    what = limit["name"].replace("_", " ")
    if limit["threads"] != 1:
        what += f", {limit['threads']} threads"
    if not limit["huge_pages"]:
        what += ", no huge pages"
    return what


def rate_text(limit):
    per_second, unit = limit["per_second"]["median"], limit["unit"]
    return (f"{per_second / 1e9:.1f} GB/s" if unit == "bytes"
            else f"{per_second / 1e6:.0f} M {unit}/s")
