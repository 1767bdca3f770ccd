"""The plots of a page, drawn by matplotlib as SVG that takes its text colour from the page."""
import html
import io
import itertools
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of a backend)
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from . import load, tables  # noqa: E402

INK = "#7a7b7c"  # stands for the colour of text until the SVG is made
# Okabe and Ito's colours, which readers with any colour vision tell apart, less black and yellow:
# the rest show on a light and on a dark page.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#9467bd"]
MARKERS = "osD^vP*X"
STYLE = {
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "grid.color": INK, "grid.alpha": 0.25, "axes.grid": True,
    "legend.frameon": False, "legend.fontsize": 8, "font.size": 9, "svg.fonttype": "none",
    "font.family": "sans-serif", "text.parse_math": False, "axes.spines.top": False, "axes.spines.right": False,
}
RATIOS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2,
          2.5, 3, 4, 5, 7, 10, 20, 50, 100]
SERIAL = itertools.count()


def _svg(figure, title):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg"):].replace(INK, "currentColor")
    # Identifiers of one plot must not meet those of another in the page.
    own = f"plot{next(SERIAL)}-"
    text = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{own}", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(title)}"', 1)


def _figure(count, width=4.6, height=3.4):
    """As many axes side by side as there are files, of equal scale."""
    figure, axes = plt.subplots(1, count, sharey=True, squeeze=False, layout="constrained",
                                figsize=(max(6.4, width * count), height))
    return figure, axes[0]


def _usual(key):
    return (key.threads == 1 and key.hit_percent in (None, 50) and key.keys == "u64" and
            key.huge_pages)


def _bytes_axis(axis):
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tables.bytes_text(value)))
    axis.tick_params(axis="x", labelsize=7)
    axis.set_xlabel("filter")


def _log_ticks(axis):
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def _limit_line(axis, one, log, threads=1):
    limits = one.limits("random_lines", threads)
    points = sorted((one.sizes[size], rate / 1e6) for size, rate in limits.items())
    if points:
        axis.plot(*zip(*points), color=INK, linestyle="--", linewidth=1,
                  label="limit: random cache lines")
    if not log:  # a limit far above the rest would flatten it
        top = max((row.million_keys for row in one.rows.values() if _usual(row.key)), default=1)
        axis.set_ylim(0, 2 * top)


def _legend(axes):
    """One for all axes, beside the last."""
    entries = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    axes[-1].legend(entries.values(), entries.keys(), loc="upper left", bbox_to_anchor=(1, 1))


def _throughput(results, title, select, name, log):
    """M keys/s against bytes; a line for each name(row) among the rows that are selected."""
    with plt.rc_context({**STYLE, "svg.hashsalt": title}):
        figure, axes = _figure(len(results))
        names = list(dict.fromkeys(name(row) for one in results for row in one.rows.values()
                                   if select(row)))
        for axis, one in zip(axes, results):
            for i, line in enumerate(names):
                rows = sorted((row for row in one.rows.values()
                               if select(row) and name(row) == line),
                              key=lambda row: row.data["filter_bytes"])
                if not rows:
                    continue
                middle = [row.million_keys for row in rows]
                spread = [[m - 1e3 / row.quartiles[1] for m, row in zip(middle, rows)],
                          [1e3 / row.quartiles[0] - m for m, row in zip(middle, rows)]]
                axis.errorbar([row.data["filter_bytes"] for row in rows], middle, yerr=spread,
                              label=line, color=COLORS[i % len(COLORS)], capsize=2, linewidth=1.4,
                              marker=MARKERS[i % len(MARKERS)], markersize=4)
            _limit_line(axis, one, log)
            _bytes_axis(axis)
            axis.set_title(one.label)
            if log:
                _log_ticks(axis)
        axes[0].set_ylabel("M keys/s")
        _legend(axes)
        return _svg(figure, title)


def by_backend(results, log):
    kind = next(iter(results[0].rows.values())).key.kind
    return _throughput(
        results, f"Lookups of {kind} by backend",
        lambda row: row.key.kind == kind and row.key.operation == "contains" and _usual(row.key),
        lambda row: row.key.backend, log)


def _by_kind(results, operation, log):
    return _throughput(
        results, f"{operation} by filter",
        lambda row: (row.key.operation == operation and row.default_backend and
                     _usual(row.key)),
        lambda row: row.key.kind, log)


def lookups(results, log):
    return _by_kind(results, "contains", log)


def builds(results, log):
    return _by_kind(results, "build", log)


def scaling(results):
    """Throughput on several threads over that on one; None if nobody has more than one."""
    if not any(key.threads > 1 for one in results for key in one.rows):
        return None
    with plt.rc_context({**STYLE, "svg.hashsalt": "scaling"}):
        figure, axes = _figure(len(results))
        for axis, one in zip(axes, results):
            lines = {}
            for row in one.rows.values():
                key = row.key
                if (row.default_backend and row.data["library"] == "tamis" and key.huge_pages and
                        key.operation in ("contains", "build") and key.keys == "u64" and
                        key.hit_percent in (None, 50)):
                    line = lines.setdefault((key.kind, key.operation, key.size_class), {})
                    line[key.threads] = row.million_keys
            shown = {line: rates for line, rates in lines.items() if len(rates) > 1 and 1 in rates}
            most = 1
            for i, ((kind, operation, size), rates) in enumerate(shown.items()):
                threads = sorted(rates)
                most = max(most, threads[-1])
                axis.plot(threads, [rates[count] / rates[1] for count in threads],
                          marker=MARKERS[i % len(MARKERS)], markersize=4, linewidth=1.2,
                          color=COLORS[i % len(COLORS)], label=f"{kind}, {operation}, {size}")
            axis.plot([1, most], [1, most], color=INK, linestyle="--", linewidth=1,
                      label="in proportion")
            axis.set_xticks(range(1, most + 1) if most <= 8 else [1, most // 2, most])
            axis.set_xlabel("threads")
            axis.set_title(one.label)
        axes[0].set_ylabel("times one thread")
        _legend(axes)
        return _svg(figure, "Scaling with threads")


def accuracy(results):
    """Measured rates of false positives, and lines for theory; None if there are none."""
    points = [(one, point) for one in results for point in one.data["accuracy"] if point["fpr"] > 0]
    if not points:
        return None
    with plt.rc_context({**STYLE, "svg.hashsalt": "accuracy"}):
        figure, axes = _figure(1)
        kinds = list(dict.fromkeys(point["kind"] for _, point in points))
        for i, kind in enumerate(kinds):
            color = COLORS[i % len(COLORS)]
            theory = sorted({(p["bits_per_key"], p["expected_fpr"]) for _, p in points
                             if p["kind"] == kind and p["expected_fpr"]})
            if len(theory) > 1:
                axes[0].plot(*zip(*theory), color=color, linewidth=1, label=f"{kind}, in theory")
            elif theory:
                axes[0].plot(*zip(*theory), color=color, linestyle="none", marker="_",
                             markersize=16, label=f"{kind}, in theory")
            measured = sorted({(p["bits_per_key"], p["fpr"]) for _, p in points
                               if p["kind"] == kind})
            axes[0].plot(*zip(*measured), color=color, linestyle="none", markersize=4,
                         marker=MARKERS[i % len(MARKERS)], label=f"{kind}, measured")
        axes[0].set_yscale("log")
        axes[0].set_xlabel("bits per key")
        axes[0].set_ylabel("false positives")
        axes[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3%}"))
        axes[0].yaxis.set_minor_formatter(NullFormatter())
        _legend(axes)
        return _svg(figure, "False positives against bits per key")


def lookup_times(results):
    """Nanoseconds of a lookup against bytes, in batches and one key a call, beside the limit."""
    lines = [("contains", "batches of keys", 0), ("one_key", "one key a call", 1)]
    with plt.rc_context({**STYLE, "svg.hashsalt": "lookup_times"}):
        figure, axes = _figure(len(results), height=2.8)
        for axis, one in zip(axes, results):
            kind = next(iter(one.rows.values())).key.kind
            for operation, label, i in lines:
                points = sorted((row.data["filter_bytes"], row.ns) for row in one.rows.values()
                                if row.key.kind == kind and row.key.operation == operation and
                                row.default_backend and _usual(row.key))
                if points:
                    axis.plot(*zip(*points), label=f"{kind}, {label}", color=COLORS[i],
                              marker=MARKERS[i], markersize=4, linewidth=1.4)
            limits = one.limits("random_lines")
            points = sorted((one.sizes[size], 1e9 / rate) for size, rate in limits.items())
            if points:
                axis.plot(*zip(*points), color=INK, linestyle="--", linewidth=1,
                          label="limit: reading one random cache line")
            _bytes_axis(axis)
            _log_ticks(axis)
            axis.set_title(one.label)
        axes[0].set_ylabel("ns per key")
        _legend(axes)
        return _svg(figure, "Time of a lookup by size of the filter")


def speedups(first, other, comparisons):
    """The spread of speed-ups as one dot for each measurement, by operation and size class."""
    groups = {}
    for c in comparisons:
        if c.new.default_backend and c.new.data["library"] == "tamis":
            groups.setdefault((c.new.key.operation, c.new.key.size_class), []).append(c.speedup)
    if not groups:
        return None

    def place(group):
        operation, size = group
        return (load.OPERATION_ORDER.index(operation),
                load.SIZE_ORDER.index(size) if size in load.SIZE_ORDER else len(load.SIZE_ORDER))
    order = sorted(groups, key=place)
    with plt.rc_context({**STYLE, "svg.hashsalt": "speedups"}):
        figure, axes = _figure(1, height=max(2.2, 0.24 * len(order)))
        for i, group in enumerate(order):
            axes[0].plot(groups[group], [i] * len(groups[group]), linestyle="none", marker="o",
                         markersize=5, alpha=0.7, color=COLORS[place(group)[0] % len(COLORS)])
        axes[0].axvline(1, color=INK, linestyle="--", linewidth=1)
        axes[0].set_xscale("log")
        axes[0].xaxis.set_major_locator(FixedLocator(RATIOS))
        axes[0].xaxis.set_minor_locator(FixedLocator([]))
        axes[0].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes[0].set_yticks(range(len(order)), [", ".join(group) for group in order])
        axes[0].invert_yaxis()
        axes[0].set_xlabel(f"times as fast: {other.label} against {first.label}")
        return _svg(figure, f"Speed-up of {other.label} against {first.label}")


_LIMIT = ("One thread, integers, half of the queries hits. Dashed: random cache lines that this "
          "machine reads in the same memory.")

# Name, caption, function of the results (and of whether the scale is logarithmic).
GALLERY = [
    ("backends", f"Lookups by backend. {_LIMIT}", by_backend),
    ("lookups", f"Lookups by filter, default backend. {_LIMIT}", lookups),
    ("builds", "Building by filter, default backend, one thread. A build that orders its keys "
     "first can pass the limit.", builds),
    ("threads", "Scaling with threads, default backend.", scaling),
    ("accuracy", "False positives: measured over theory.", accuracy),
    ("lookup_times", "Time of a lookup on one thread: in batches, and one key a call.",
     lookup_times),
]


def has_scales(draw):
    return draw in (by_backend, lookups, builds)


def standalone(svg):
    """The same for a file of its own, which has no page to take the colour of text from."""
    style = ("<style>svg{color:#1c1e21;background:#fff}@media(prefers-color-scheme:dark)"
             "{svg{color:#e4e7eb;background:#16181c}}</style>")
    end = svg.index(">") + 1
    return svg[:end] + style + svg[end:]
