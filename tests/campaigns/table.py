"""Makes the table of docs/campaigns.md from all results in results.json.

Usage: table.py [--check]

Adds up the figures of all runs of a campaign. For a figure whose name begins with "max.", uses the largest.
With --check, only fails if the page has another table.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "campaigns.md"
BEGIN, END = "<!-- table.py: begin -->\n", "<!-- table.py: end -->\n"


def duration(seconds):
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def unique(values):
    return "; ".join(dict.fromkeys(values))


def add_up(rows):
    """Returns the total figures of all runs by name, in the order of their first occurrence."""
    figures = {}
    for row in rows:
        for name, value in row["figures"].items():
            if name not in figures:
                figures[name] = value
            elif name.startswith("max."):
                figures[name] = max(figures[name], value)
            else:
                figures[name] += value
    return figures


def table(rows):
    lines = ["| Campaign | What ran | Runs | Time | Last | On | Findings |", "|---|---|---:|---:|---|---|---:|"]
    campaigns = dict.fromkeys(row["campaign"] for row in rows)
    for campaign in campaigns:
        own = [row for row in rows if row["campaign"] == campaign]
        figures = add_up(own)
        findings = figures.pop("findings")
        did = ", ".join(f"{value:,} {name}" for name, value in figures.items())
        where = unique(f"{row['machine']}, {row['where']}" for row in own)
        lines.append(f"| {campaign} | {did} | {len(own)} | {duration(sum(row['seconds'] for row in own))} "
                     f"| {max(row['date'] for row in own)} | {where} | {findings} |")
    return "\n".join(lines) + "\n"


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    made = before + BEGIN + table(json.loads((HERE / "results.json").read_text())) + END + after
    if arguments and made != page:
        print("docs/campaigns.md has another table than tests/campaigns/table.py makes: run it")
        return 1
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
