"""One page that needs nothing else: no network, and no script to be read."""
import html
import pkgutil

from . import compare, plots, tables


def _text(value):
    return html.escape(str(value))


def _cell(value, tag="td", style=""):
    attribute = f' class="{style}"' if style else ""
    return f"<{tag}{attribute}>{value}</{tag}>"


def _table(head, rows, identifier=""):
    """Rows are lists of (html, class) or html; the first of each is its heading."""
    attribute = f' id="{identifier}"' if identifier else ""
    out = [f'<div class="scroll"><table{attribute}><thead><tr>']
    out += [_cell(_text(name), "th") for name in head]
    out.append("</tr></thead><tbody>")
    for row in rows:
        out.append("<tr>")
        for i, cell in enumerate(row):
            content, style = cell if isinstance(cell, tuple) else (cell, "")
            out.append(_cell(content, "td" if i else "th", style))
        out.append("</tr>\n")
    out.append("</tbody></table></div>")
    return "".join(out)


def _speed(row):
    if row is None:
        return "", "number"
    share = f" <small>{row.share:.0%} of the limit</small>" if row.share is not None else ""
    return f"{row.million_keys:.0f} <small>&plusmn;{row.spread:.0%}</small>{share}", "number"


def _speedup(comparison):
    if comparison is None:
        return "", "number"
    low, high = comparison.range
    return (f"{comparison.speedup:.2f}&times; <small>{low:.2f} to {high:.2f}</small>",
            f"number {comparison.verdict()}")


def _side_by_side(one):
    columns = [(operation, size) for operation in ("contains", "build")
               for size in tables.sizes([one])]
    head = ["ns/key", "library", "bits/key", "false positives",
            *(f"{operation}, {size}" for operation, size in columns)]
    return _table(head, [
        [_text(kind), _text(library), (f"{bits:.1f}", "number"), (f"{fpr:.3%}", "number"),
         *((tables.ns_text(cells[column].ns) if column in cells else "", "number")
           for column in columns)]
        for kind, library, bits, fpr, cells in tables.side_by_side(one)])


def _summary(results):
    first = results[0]
    parts = ["<h2 id='summary'>Summary</h2>"]
    sizes = tables.sizes(results)
    for other in results[1:]:
        comparisons = compare.by_role(first, other)
        parts.append(f"<h3>{_text(other.label)} against {_text(first.label)}</h3>")
        parts.append(f'<p class="verdict">{_text(compare.sentence(first, other, comparisons))}</p>')
        drawn = plots.speedups(first, other, comparisons)
        if drawn:
            parts.append(f"<figure>{drawn}<figcaption>Each dot is a measurement of a default "
                         "backend of tamis; right of the line the second machine is faster."
                         "</figcaption></figure>")
        parts.append("<p>Times as fast, with the range from the quartiles of both. Coloured where "
                     "the quartiles do not overlap; default backends are compared with each other, "
                     "others by name.</p>")
        parts.append(_table(["", *sizes], [
            [_text(f"{kind}: {label}"), *(_speedup(cells.get(size)) for size in sizes)]
            for kind, label, cells in tables.comparison_lines(first, other)]))
    for one in results:
        own = tables.sizes([one])
        body = ("<p>One thread, integers, half of the queries hits, default backend:</p>" +
                _side_by_side(one) +
                "<p>Everything, with spread and share of the limit of random cache lines:</p>")
        body += _table(
            ["M keys/s", *(f"{size}, {tables.bytes_text(one.sizes[size])}" for size in own)],
            [[_text(f"{kind}: {label}"), *(_speed(cells.get(size)) for size in own)]
             for kind, label, cells in tables.speed_lines(one)])
        is_open = " open" if len(results) == 1 else ""
        parts.append(f"<details{is_open}><summary>{_text(one.label)}: speed, spread, share of the "
                     f"limit</summary>{body}</details>")
    return parts


def _plots(results):
    parts = ["<h2 id='plots'>Plots</h2>"]
    for _, caption, draw in plots.GALLERY:
        if plots.has_scales(draw):
            parts.append(f'<figure><div class="log">{draw(results, True)}</div>'
                         f'<div class="linear">{draw(results, False)}</div>')
        else:
            drawn = draw(results)
            if not drawn:
                continue
            parts.append(f"<figure>{drawn}")
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
        cells = [_text(key.label()), _text(key.size_class)]
        for row in found:
            low, high = map(tables.ns_text, row.quartiles) if row else ("", "")
            cells.append((f"{tables.ns_text(row.ns)} <small>{low} to {high}</small>"
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


def render(results):
    title = "tamis-bench: " + ", ".join(one.label for one in results)
    style = pkgutil.get_data(__package__, "page.css").decode()
    script = pkgutil.get_data(__package__, "page.js").decode()
    parts = [
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        "<link rel='icon' href='data:,'>",
        f"<title>{_text(title)}</title><style>{style}</style></head><body>",
        f"<h1>{_text(title)}</h1>",
        "<nav><a href='#summary'>Summary</a> <a href='#plots'>Plots</a> "
        "<a href='#all'>All measurements</a> <a href='#machines'>Machines</a></nav>",
        "<input type='checkbox' id='logarithmic' checked>"
        "<label for='logarithmic'>logarithmic scale of throughput</label>",
        "<main>",
        *_summary(results), *_plots(results), *_all_rows(results), *_machines(results),
        f"</main><script>{script}</script></body></html>\n",
    ]
    return "\n".join(parts)
