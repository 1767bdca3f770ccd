"""Renders a page that needs nothing else: no network, and no script for its tables and plots."""
import base64
import hashlib
import html
import pkgutil

from . import compare, overview, tables, words

try:
    from . import plots
except ImportError:  # of matplotlib
    plots = None

# Up to this many machines are shown with all measurements. More machines have only the overview.
MOST_IN_DETAIL = 4


def _text(value):
    return html.escape(str(value))


def _cell(value, tag="td", style=""):
    attribute = f' class="{style}"' if style else ""
    return f"<{tag}{attribute}>{value}</{tag}>"


def _table(head, rows, identifier=""):
    """Rows are lists of (html, class) or html. The first cell of a row is its heading."""
    attribute = f' id="{identifier}"' if identifier else ""
    # The hint is visible if the table is wider than the screen. Keys can scroll the region.
    out = ['<div class="wide"><p class="hint">Scroll sideways for the rest of the table &rarr;</p>'
           '<div class="scroll" tabindex="0" role="region" aria-label="table">'
           f"<table{attribute}><thead><tr>"]
    out += [_cell(_text(name), "th") for name in head]
    out.append("</tr></thead><tbody>")
    for row in rows:
        out.append("<tr>")
        for i, cell in enumerate(row):
            content, style = cell if isinstance(cell, tuple) else (cell, "")
            out.append(_cell(content, "td" if i else "th", style))
        out.append("</tr>\n")
    out.append("</tbody></table></div></div>")
    return "".join(out)


def _speed(row):
    if row is None:
        return "", "number"
    share = f" <small>{row.share:.0%} of the limit</small>" if row.share is not None else ""
    return f"{row.million_keys:.0f} <small>&plusmn;{row.spread:.0%}</small>{share}", "number"


def _speedup(comparison, one_size=True):
    if comparison is None:
        return "", "number"
    share = f"share {comparison.share.middle:.2f}&times;" if comparison.share else "no limit"
    if not comparison.same_size:
        sizes = f" ({comparison.sizes})" if one_size else ""  # otherwise the heading has them
        return (f"{share} <small>other size{sizes}; time {comparison.speedup:.2f}&times;</small>",
                "number unlike")
    low, high = comparison.speed.range
    return (f"{comparison.speedup:.2f}&times; <small>{low:.2f} to {high:.2f}; {share}</small>",
            f"number {comparison.speed.verdict()}")


def _side_by_side(one):
    columns = [(operation, size) for operation in ("contains", "build")
               for size in tables.sizes([one])]
    head = ["ns/key", "library", "bits/key", "false positives",
            *(f"{operation}, {size}" for operation, size in columns)]
    return _table(head, [
        [_text(kind), _text(library), (f"{bits:.1f}", "number"), (f"{fpr:.3%}", "number"),
         *((words.ns_text(cells[column].ns) if column in cells else "", "number")
           for column in columns)]
        for kind, library, bits, fpr, cells in tables.side_by_side(one)])


def _side_by_side_machines(results):
    """Returns warnings and the table of machines, before all comparisons. Empty for one machine."""
    if len(results) == 1:
        return []
    return ["<h2 id='side'>Side by side</h2>",
            *(f'<p class="warning"><strong>Warning:</strong> {_text(warning)}</p>'
              for warning in compare.all_warnings(results)),
            _table(tables.machines_head(results),
                   [[_text(name), *map(_text, cells)] for name, cells in tables.machines(results)])]


def _comparison(first, other):
    comparisons = compare.by_role(first, other)
    heading = f"<h3>{_text(other.label)} against {_text(first.label)}</h3>"
    if not comparisons:
        return [heading, "<p>They have no measurement in common.</p>"]
    columns = tables.comparison_columns(first, other, comparisons)
    parts = [heading,
             f'<p class="verdict">{_text(compare.sentence(first, other, comparisons))}</p>']
    drawn = plots.speedups(first, other, comparisons) if plots else None
    if drawn:
        parts.append(f"<figure>{drawn}<figcaption>Default backends of tamis. Filled: times as "
                     "fast, where filters have the same size. Hollow: the share of the limit, "
                     "divided by that of the other machine. Right of the line "
                     f"{_text(other.label)} is ahead.</figcaption></figure>")
    parts.append("<p>Times as fast, with the range from the quartiles of both. Coloured where the "
                 f"quartiles do not overlap. {_text(compare.LEGEND)} Default backends are compared "
                 "with each other, others by name.</p>")
    parts.append(_table(["", *(heading for _, heading, _ in columns)], [
        [_text(f"{kind}: {label}"),
         *(_speedup(cells.get(both), one_size) for both, _, one_size in columns)]
        for kind, label, cells in tables.comparison_lines(comparisons)]))
    return parts


def _summary(results):
    parts = ["<h2 id='summary'>Summary</h2>"]
    for other in results[1:]:
        parts += _comparison(results[0], other)
    for one in results:
        own = tables.sizes([one])
        body = ("<p>One thread, integers, half of the queries hits, default backend:</p>" +
                _side_by_side(one) +
                "<p>Everything, with spread and share of the limit of random cache lines:</p>")
        body += _table(
            ["M keys/s", *(f"{size}, {words.bytes_text(one.sizes[size])}" for size in own)],
            [[_text(f"{kind}: {label}"), *(_speed(cells.get(size)) for size in own)]
             for kind, label, cells in tables.speed_lines(one)])
        is_open = " open" if len(results) == 1 else ""
        parts.append(f"<details{is_open}><summary>{_text(one.label)}: speed, spread, share of the "
                     f"limit</summary>{body}</details>")
    return parts


def _latency(results):
    parts = ["<h2 id='latency'>Latency of small calls</h2>", f"<p>{_text(tables.LATENCY_NOTE)}</p>"]
    for one in results:
        if not one.latencies:
            parts.append(f"<p>{_text(one.label)}: not measured.</p>")
            continue
        rows = [[_text(name), _text(beside), *((_text(cell), "number") for cell in cells)]
                for name, beside, *cells in tables.latency_rows(one)]
        parts += [f"<h3>{_text(one.label)}</h3>", _table(tables.LATENCY_HEAD, rows)]
    return parts


def _plots(results):
    """Returns a drawing for each machine: side by side if there is room, otherwise stacked."""
    parts = ["<h2 id='plots'>Plots</h2>"]
    if not plots:
        return parts + ["<p>They need matplotlib, which was not there.</p>"]
    parts.append("<p><input type='checkbox' id='logarithmic' checked>"
                 "<label for='logarithmic'>logarithmic scale of throughput</label></p>")
    for _, caption, draw in plots.GALLERY:
        scales = [("log", True), ("linear", False)] if plots.has_scales(draw) else [("", None)]
        drawn = [(style, draw(results) if log is None else draw(results, log))
                 for style, log in scales]
        if drawn[0][1]:
            parts.append("<figure>" + "".join(
                f'<div class="machines {style}">{"".join(each)}</div>' for style, each in drawn))
            parts.append(f"<figcaption>{_text(caption)}</figcaption></figure>")
    return parts


def _all_rows(results):
    head = ["measurement", "size", *(f"{one.label}, ns/key" for one in results)]
    if len(results) > 1:
        head += [f"{other.label} / {results[0].label}" for other in results[1:]]
    keys = sorted({key for one in results for key in one.rows},
                  key=lambda key: (compare.sort_key(key), key.label()))
    rows = []
    for key in keys:
        found = [one.rows.get(key) for one in results]
        sizes = dict.fromkeys(words.bytes_text(row.bytes) for row in found if row)
        cells = [_text(key.label()), _text(f"{key.size_class} ({', '.join(sizes)})")]
        for row in found:
            low, high = map(words.ns_text, row.quartiles) if row else ("", "")
            cells.append((f"{words.ns_text(row.ns)} <small>{low} to {high}</small>"
                          if row else "", "number"))
        for row in found[1:]:
            both = found[0] and row
            cells.append(_speedup(compare.Comparison(found[0], row) if both else None))
        rows.append(cells)
    return ["<h2 id='all'>All measurements</h2>",
            '<p class="search"><label>Search <input type="search" id="search" '
            'placeholder="select AVX2 L2"></label> <output id="found"></output></p>',
            _table(head, rows, "rows")]


def _machines(results):
    parts = ["<h2 id='machines'>Machines</h2>",
             _table(["", *(one.label for one in results)],
                    [[_text(name), *map(_text, values)] for name, values in tables.facts(results)])]
    parts.append("<h3>Limits</h3>")
    for one in results:
        own = tables.sizes([one])
        parts.append(_table([one.label, *own], [
            [_text(what), *((_text(cells.get(size, "")), "number") for size in own)]
            for what, cells in tables.limit_rows(one)]))
    refused = [f"<li>{_text(one.label)}: {_text(entry['kind'])} with {_text(entry['backend'])}: "
               f"{_text(entry['what'])}</li>" for one in results for entry in one.data["refused"]]
    if refused:
        parts.append("<h3>Refused, since they do not agree with portable</h3><ul>" +
                     "".join(refused) + "</ul>")
    return parts


def _details(results):
    """Returns (heading, identifier, parts) of the sections below the overview."""
    machines = ("Machines", "machines", _machines(results))
    if len(results) > MOST_IN_DETAIL:
        machines[2].append(f"<p>A page of {MOST_IN_DETAIL} machines or fewer also has their "
                           "tables, plots and all measurements.</p>")
        return [machines]
    side = [("Side by side", "side", _side_by_side_machines(results))] if len(results) > 1 else []
    latency = ([("Latency", "latency", _latency(results))]
               if any(one.latencies for one in results) else [])
    return side + [("Summary", "summary", _summary(results)), *latency, ("Plots", "plots", _plots(results)),
                   ("All measurements", "all", _all_rows(results)), machines]


def _title(results):
    if len(results) > 2:
        return f"tamis-bench: {len(results)} machines"
    return "tamis-bench: " + " and ".join(one.label for one in results)


def _head(results, script):
    style = "".join(pkgutil.get_data(__package__, name).decode()
                    for name in ("page.css", "overview.css"))
    # The page may fetch nothing and run only this script, whatever the files contain.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; " \
             f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return ["<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>",
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            "<link rel='icon' href='data:,'>",
            f"<title>{_text(_title(results))}</title><style>{style}</style></head><body>"]


def render(results):
    script = overview.script()
    details = _details(results)
    return "\n".join([
        *_head(results, script),
        f"<header><h1>{_text(_title(results))}</h1><div id='theme'></div></header>",
        "<nav>", *(f"<a href='#{mark}'>{heading}</a>" for heading, mark, _ in details), "</nav>",
        "<main>", overview.markup(results),
        *(part for _, _, parts in details for part in parts),
        f"</main><script>{script}</script></body></html>\n",
    ])
