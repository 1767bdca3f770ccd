"""Draws the plots of a page with matplotlib, as SVG that takes its text colour from the page."""
import dataclasses
import html
import io
import itertools
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of a backend)
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from . import load, looks, tables, words  # noqa: E402

INK = "#7a7b7c"  # a placeholder for the colour of text until the SVG is made
STYLE = {
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "grid.color": INK, "grid.alpha": 0.25, "axes.grid": True,
    "legend.frameon": False, "legend.fontsize": 9, "font.size": 10, "svg.fonttype": "none",
    "font.family": "sans-serif", "text.parse_math": False, "axes.spines.top": False,
    "axes.spines.right": False, "lines.markersize": 5, "lines.linewidth": 1.3,
}
# Inches. A phone is 390 pixels wide and shows this at nearly full size, so labels can be read.
WIDTH = 4.2
LIMIT = {"color": INK, "linestyle": "--", "linewidth": 1}
RATIOS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2,
          2.5, 3, 4, 5, 7, 10, 20, 50, 100]
ROUNDEST = [0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 100]
SERIAL = itertools.count()


def _svg(figure, title):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg"):].replace(INK, "currentColor")
    # Identifiers must be unique in the page.
    own = f"plot{next(SERIAL)}-"
    text = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{own}", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(title)}"', 1)


def _axes(count, height=3.0):
    """Returns a separate figure for each file, so that a phone can stack them."""
    axes = [plt.subplots(figsize=(WIDTH, height))[1] for _ in range(count)]
    for axis in axes:
        axis.figure.subplots_adjust(left=0.13, right=0.99)
    return axes


def _svgs(axes, title):
    """Returns the drawings, all with the same scales and with the legend below."""
    left, right = zip(*(axis.get_xlim() for axis in axes))
    bottom, top = zip(*(axis.get_ylim() for axis in axes))
    for axis in axes:
        axis.set_xlim(min(left), max(right))
        axis.set_ylim(min(bottom), max(top))
        handles, labels = axis.get_legend_handles_labels()
        inches = axis.get_position().height * axis.figure.get_figheight()
        axis.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.43, -0.5 / inches),
                    borderaxespad=0, columnspacing=1,
                    ncol=2 if max(map(len, labels), default=0) <= 26 else 1)
    return [_svg(axis.figure, ", ".join(filter(None, [title, axis.get_title()]))) for axis in axes]


def _usual(key):
    return (key.threads == 1 and key.hit_percent in (None, 50) and key.keys == "u64" and
            key.huge_pages)


def _bytes_axis(axis):
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_locator(LogLocator(base=2, numticks=6))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: words.bytes_text(value)))
    axis.set_xlabel("filter")


def _log_ticks(axis):
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def _limit_line(axis, one, log):
    points = sorted((one.sizes[size], rate / 1e6)
                    for size, rate in one.limits("random_lines").items())
    if points:
        axis.plot(*zip(*points), **LIMIT, label="limit: random cache lines")
    if not log:  # a limit far above the rest would flatten the other lines
        top = max((row.million_keys for row in one.rows.values() if _usual(row.key)), default=1)
        axis.set_ylim(0, 2 * top)


def _throughput(results, title, select, name, log, look):
    """Draws M keys/s against bytes, with a line for each name(row) among the selected rows."""
    with plt.rc_context({**STYLE, "svg.hashsalt": title}):
        axes = _axes(len(results))
        names = list(dict.fromkeys(name(row) for one in results for row in one.rows.values()
                                   if select(row)))
        for axis, one in zip(axes, results):
            for line in names:
                rows = sorted((row for row in one.rows.values()
                               if select(row) and name(row) == line), key=lambda row: row.bytes)
                if not rows:
                    continue
                middle = [row.million_keys for row in rows]
                spread = [[m - 1e3 / row.quartiles[1] for m, row in zip(middle, rows)],
                          [1e3 / row.quartiles[0] - m for m, row in zip(middle, rows)]]
                axis.errorbar([row.bytes for row in rows], middle, yerr=spread, label=line,
                              capsize=2, **look(line, names))
            _limit_line(axis, one, log)
            _bytes_axis(axis)
            axis.set_title(one.label)
            if log:
                _log_ticks(axis)
            axis.set_ylabel("M keys/s")
        return _svgs(axes, title)


def by_backend(results, log):
    kind = next(iter(results[0].rows.values())).key.kind
    return _throughput(
        results, f"Lookups of {kind} by backend",
        lambda row: row.key.kind == kind and row.key.operation == "contains" and _usual(row.key),
        lambda row: row.key.backend, log, lambda line, names: looks.ours(names.index(line)))


def _by_kind(results, operation, log):
    of_kind = looks.of_kinds(results)
    return _throughput(
        results, f"{operation} by filter",
        lambda row: (row.key.operation == operation and row.default_backend and
                     _usual(row.key)),
        lambda row: row.key.kind, log, lambda line, _: of_kind[line])


def lookups(results, log):
    return _by_kind(results, "contains", log)


def builds(results, log):
    return _by_kind(results, "build", log)


def _scaling_lines(one):
    """Returns {(kind, operation, size): {threads: M keys/s}} of cases with several threads."""
    lines = {}
    for row in one.rows.values():
        key = row.key
        if (row.default_backend and row.data["library"] == "tamis" and
                key.operation in ("contains", "build") and
                _usual(dataclasses.replace(key, threads=1))):
            line = lines.setdefault((key.kind, key.operation, key.size_class), {})
            line[key.threads] = row.million_keys
    return {line: rates for line, rates in lines.items() if len(rates) > 1 and 1 in rates}


def scaling(results):
    """Draws throughput on several threads divided by throughput on one. Returns [] if no file has
    several threads."""
    lines = [_scaling_lines(one) for one in results]
    names = list(dict.fromkeys(itertools.chain(*lines)))
    if not names:
        return []
    with plt.rc_context({**STYLE, "svg.hashsalt": "scaling"}):
        axes = _axes(len(results))
        for axis, one, shown in zip(axes, results, lines):
            for line, rates in shown.items():
                threads = sorted(rates)
                axis.plot(threads, [rates[count] / rates[1] for count in threads],
                          label=", ".join(line), **looks.ours(names.index(line)))
            most = max((max(rates) for rates in shown.values()), default=1)
            axis.plot([1, most], [1, most], **LIMIT, label="in proportion")
            axis.set_xticks(range(1, most + 1) if most <= 8 else [1, most // 2, most])
            axis.set_xlabel("threads")
            axis.set_ylabel("times one thread")
            axis.set_title(one.label)
        return _svgs(axes, "Scaling with threads")


def accuracy(results):
    """Draws measured false-positive rates, and lines for theory. Returns [] without rates."""
    points = [point for one in results for point in one.data["accuracy"] if point["fpr"] > 0]
    if not points:
        return []
    of_kind = looks.of_kinds(results)
    with plt.rc_context({**STYLE, "svg.hashsalt": "accuracy"}):
        [axis] = _axes(1)
        for kind in dict.fromkeys(point["kind"] for point in points):
            theory = sorted({(p["bits_per_key"], p["expected_fpr"]) for p in points
                             if p["kind"] == kind and p["expected_fpr"]})
            axis.plot(*zip(*theory), color=of_kind[kind]["color"],
                      **({"linewidth": 1} if len(theory) > 1
                         else {"linestyle": "none", "marker": "_", "markersize": 16}))
            measured = sorted({(p["bits_per_key"], p["fpr"]) for p in points if p["kind"] == kind})
            axis.plot(*zip(*measured), label=kind, **{**of_kind[kind], "linestyle": "none"})
        axis.plot([], [], color=INK, linewidth=1, label="lines: in theory")
        axis.set_yscale("log")
        axis.set_xlabel("bits per key")
        axis.set_ylabel("false positives")
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3%}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        return _svgs([axis], "False positives against bits per key")


def lookup_times(results):
    """Draws nanoseconds per query against bytes, in batches and one key per call, and the limit."""
    lines = [("contains", "batches of keys"), ("one_key", "one key a call")]
    with plt.rc_context({**STYLE, "svg.hashsalt": "lookup_times"}):
        axes = _axes(len(results), height=2.8)
        for axis, one in zip(axes, results):
            kind = next(iter(one.rows.values())).key.kind
            for i, (operation, label) in enumerate(lines):
                points = sorted((row.bytes, row.ns) for row in one.rows.values()
                                if row.key.kind == kind and row.key.operation == operation and
                                row.default_backend and _usual(row.key))
                if points:
                    axis.plot(*zip(*points), label=f"{kind}, {label}", **looks.ours(i))
            points = sorted((one.sizes[size], 1e9 / rate)
                            for size, rate in one.limits("random_lines").items())
            if points:
                axis.plot(*zip(*points), **LIMIT, label="limit: reading one random cache line")
            _bytes_axis(axis)
            _log_ticks(axis)
            axis.set_title(one.label)
            axis.set_ylabel("ns per key")
        return _svgs(axes, "Time of a query by size of the filter")


def _ratio_axis(axis):
    """Puts ticks at those round ratios for which there is room."""
    low, high = axis.get_xlim()
    shown = [ratio for ratio in RATIOS if low <= ratio <= high]
    if len(shown) > 7:
        shown = [ratio for ratio in shown if ratio in ROUNDEST]
    axis.xaxis.set_major_locator(FixedLocator(shown))
    axis.xaxis.set_minor_locator(FixedLocator([]))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def speedups(first, other, comparisons):
    """Draws a line for each operation and size class. Filled dots are speed-ups of filters of the
    same size, and hollow dots are ratios of the shares of the limit."""
    groups = {}
    for c in comparisons:
        if c.new.default_backend and c.new.data["library"] == "tamis":
            groups.setdefault((c.new.key.operation, c.classes), []).append(c)
    if not groups:
        return None
    headings = {both: both[1] if both[0] == both[1] else f"{both[1]} / {both[0]}"
                for _, both in groups}
    order_of_columns = [both for both, _, _ in tables.comparison_columns(first, other, comparisons)]
    order = sorted(groups, key=lambda group: (load.OPERATION_ORDER.index(group[0]),
                                              order_of_columns.index(group[1])))
    with plt.rc_context({**STYLE, "svg.hashsalt": "speedups"}):
        [axis] = _axes(1, height=max(2.2, 0.27 * len(order)))
        axis.figure.subplots_adjust(left=0.32)  # for the names
        for i, (operation, both) in enumerate(order):
            look = {"color": looks.COLORS[load.OPERATION_ORDER.index(operation) %
                                          len(looks.COLORS)], "linestyle": "none"}
            group = groups[operation, both]
            speeds = [c.speedup for c in group if c.same_size]
            shares = [c.share.middle for c in group if c.share]
            axis.plot(speeds, [i - 0.15] * len(speeds), marker="o", alpha=0.7, **look)
            axis.plot(shares, [i + 0.2] * len(shares), marker="d", markersize=5,
                      markerfacecolor="none", **look)
        axis.axvline(1, **LIMIT)
        axis.set_xscale("log")
        _ratio_axis(axis)
        axis.set_yticks(range(len(order)),
                        [f"{operation}, {headings[both]}" for operation, both in order])
        axis.set_ylim(len(order) - 0.5, -0.5)
        axis.set_xlabel(f"{other.label} / {first.label}")
        return _svg(axis.figure, f"Speed-up of {other.label} against {first.label}")


_LIMIT = ("One thread, integers, half of the queries hits. Dashed line: random cache lines that "
          "this machine reads in the same memory.")
_PEERS = "Other libraries have open marks and dotted lines."

# Name, caption and function. The function takes the results (and whether the scale is logarithmic)
# and returns a drawing for each file, one for all, or none.
GALLERY = [
    ("backends", f"Queries by backend. {_LIMIT}", by_backend),
    ("lookups", f"Queries by filter, default backend. {_LIMIT} {_PEERS}", lookups),
    ("builds", "Building by filter, default backend, one thread. A build that orders its keys "
     f"first can exceed the limit. {_PEERS}", builds),
    ("threads", "Scaling with threads, default backend.", scaling),
    ("accuracy", f"False positives: measured over theory. {_PEERS}", accuracy),
    ("lookup_times", "Time of a query on one thread: in batches, and one key per call.",
     lookup_times),
]


def has_scales(draw):
    return draw in (by_backend, lookups, builds)


def standalone(svg):
    """Returns the SVG for a separate file, where it cannot take the text colour from a page."""
    style = ("<style>svg{color:#1c1e21;background:#fff}@media(prefers-color-scheme:dark)"
             "{svg{color:#e4e7eb;background:#16181c}}</style>")
    end = svg.index(">") + 1
    return svg[:end] + style + svg[end:]
