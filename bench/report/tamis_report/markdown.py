"""Renders a summary for terminals, commits and READMEs."""
from . import compare, tables, words


def _table(head, rows):
    align = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, align, *rows]) + "\n"


def _speed(row):
    if row is None:
        return ""
    share = f", {row.share:.0%}" if row.share is not None else ""
    return f"{words.ns_text(row.ns)} +-{row.spread:.0%}{share}"


def _speedup(comparison, one_size):
    if comparison is None:
        return ""
    share = f"share {comparison.share.middle:.2f}" if comparison.share else "no limit"
    if not comparison.same_size:
        sizes = f" ({comparison.sizes})" if one_size else ""  # otherwise the heading has them
        return f"other size{sizes}: {share}, time {comparison.speedup:.2f}"
    low, high = comparison.speed.range
    mark = {"faster": "**", "slower": "**", "same": ""}[comparison.speed.verdict()]
    return f"{mark}{comparison.speedup:.2f}{mark} [{low:.2f}, {high:.2f}], {share}"


def _side_by_side(one):
    sizes = tables.sizes([one])
    columns = [(operation, size) for operation in ("contains", "build") for size in sizes]
    head = ["ns/key", "library", "bits/key", "FPR", *(f"{operation}, {size}"
                                                      for operation, size in columns)]
    return _table(head, [
        [kind, library, f"{bits:.1f}", f"{fpr:.3%}",
         *(words.ns_text(cells[column].ns) if column in cells else "" for column in columns)]
        for kind, library, bits, fpr, cells in tables.side_by_side(one)])


def _fpr_table(one):
    rows = [[point["kind"], f"{point['bits_per_key']:.2f}", f"{point['fpr']:.4%}",
             f"{point['expected_fpr']:.4%}" if point["expected_fpr"] is not None else ""]
            for point in one.data["accuracy"]]
    return _table(["filter", "bits/key", "FPR measured", "in theory"], rows)


def _comparison(first, other):
    comparisons = compare.by_role(first, other)
    columns = tables.comparison_columns(first, other, comparisons)
    parts = [f"## {other.label} against {first.label}\n",
             compare.sentence(first, other, comparisons) + "\n"]
    parts.append("Times as fast [from the quartiles]; bold where the quartiles do not overlap. "
                 f"{compare.LEGEND}\n")
    parts.append(_table(["", *(heading for _, heading, _ in columns)], [
        [f"{kind}: {label}",
         *(_speedup(cells.get(both), one_size) for both, _, one_size in columns)]
        for kind, label, cells in tables.comparison_lines(comparisons)]))
    return parts


def render(results):
    parts = ["# tamis-bench\n"]
    if len(results) > 1:
        parts.append("## Side by side\n")
        parts += [f"**Warning:** {warning}\n" for warning in compare.all_warnings(results)]
        parts.append(_table(tables.machines_head(results),
                            [[name, *cells] for name, cells in tables.machines(results)]))
    for other in results[1:]:
        parts += _comparison(results[0], other)
    for one in results:
        parts.append(f"## {one.label}\n")
        own = tables.sizes([one])
        parts.append("One thread, integers, half of the queries hits, default backend:\n")
        parts.append(_side_by_side(one))
        parts.append("ns/key, spread, share of the limit of random cache lines.\n")
        head = ["", *(f"{size} ({words.bytes_text(one.sizes[size])})" for size in own)]
        parts.append(_table(head, [
            [f"{kind}: {label}", *(_speed(cells.get(size)) for size in own)]
            for kind, label, cells in tables.speed_lines(one)]))
        parts.append(_table(["limit", *own], [
            [what, *(cells.get(size, "") for size in own)]
            for what, cells in tables.limit_rows(one)]))
        if one.latencies:
            parts.append(f"{tables.LATENCY_NOTE}\n")
            parts.append(_table(tables.LATENCY_HEAD, tables.latency_rows(one)))
        if one.data["accuracy"]:
            parts.append(_fpr_table(one))
    parts.append("## Machines\n")
    parts.append(_table(["", *(one.label for one in results)],
                        [[name, *values] for name, values in tables.facts(results)]))
    refused = [f"- {one.label}: {entry['kind']} with {entry['backend']}: {entry['what']}"
               for one in results for entry in one.data["refused"]]
    if refused:
        parts.append("## Refused, since they do not agree with portable\n")
        parts.append("\n".join(refused) + "\n")
    return "\n".join(parts)
