"""The command line of tamis-report."""
import argparse
import importlib
import os
import pathlib
import sys

from . import compare, load, markdown

DESCRIPTION = """Compares and draws results of tamis-bench --out. Of several files, all are compared
with the first. Exit status: 0 done, 1 a regression against --baseline, 2 bad usage or input."""

EXAMPLES = """examples:
  tamis-report a.json -o a.html                        one machine
  tamis-report laptop.json server.json -o both.html    two, the second against the first
  tamis-report a.json --format markdown                a summary on standard output
  tamis-report new.json --baseline old.json            for CI: fails if something became slower
  tamis-report new1.json new2.json --baseline old1.json --baseline old2.json
                                                       the same on a noisy machine: runs in turn
"""


def parser():
    result = argparse.ArgumentParser(prog="tamis-report", description=DESCRIPTION, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("files", nargs="+", metavar="FILE", help="what tamis-bench --out wrote")
    result.add_argument("-o", "--output", metavar="FILE",
                        help="where to write (default: standard output)")
    result.add_argument("--format", choices=["html", "markdown"],
                        help="default: html, or markdown if the output ends in .md")
    result.add_argument("--plots", metavar="FOLDER",
                        help="also write each plot as a file of its own, for documents")
    result.add_argument("--label", action="append", default=[],
                        help="what to call a file; once for each (default: its name)")
    result.add_argument("--baseline", action="append", default=[], metavar="FILE",
                        help="report what is slower in the files than in this one, beyond the "
                        "spread of both; once for each of several, and then slower in all files "
                        "than in all of these; a page is then written only if -o is given")
    result.add_argument("--tolerance", type=float, default=0.05, metavar="SHARE",
                        help="what --baseline allows beside the spread (default: %(default)s)")
    return result


def check_baseline(bases, news, tolerance):
    slower, total = compare.regressions(bases, news, tolerance)
    for c in slower:
        low, high = c.range
        print(f"slower: {c.new.key.label()}, {c.new.key.size_class}: {c.old.ns:.3f} to "
              f"{c.new.ns:.3f} ns/key, {c.speedup:.2f} times as fast [{low:.2f}, {high:.2f}]")
    print(f"{len(slower)} of {total} measurements are slower than in "
          f"{' and '.join(base.label for base in bases)} by more than {tolerance:.0%} and the "
          "spread")
    return 1 if slower else 0


def labelled(options):
    labels = options.label + [None] * len(options.files)
    results = [load.load(path, label) for path, label in zip(options.files, labels)]
    for i, one in enumerate(results):
        if one.label in [other.label for other in results[:i]]:
            one.label = str(options.files[i])  # two files of one name
    return results


def run(options):
    if len(options.label) > len(options.files):
        raise load.BadInput(f"{len(options.label)} labels for {len(options.files)} files")
    if not 0 <= options.tolerance < 10:
        raise load.BadInput(f"--tolerance is {options.tolerance}; allowed: from 0 to below 10")
    results = labelled(options)
    for other in results[1:]:
        compare.require_common(results[0], other, compare.by_role(results[0], other))
    status = 0
    if options.baseline:
        bases = [load.load(path, f"the baseline {pathlib.Path(path).stem}")
                 for path in options.baseline]
        status = check_baseline(bases, results, options.tolerance)
        if not options.output:
            return status
        results = bases + results

    if options.plots:
        write_plots(results, pathlib.Path(options.plots))
    style = options.format
    if style is None:
        style = "markdown" if (options.output or "").endswith(".md") else "html"
    text = (markdown if style == "markdown" else needs_matplotlib("page")).render(results)
    if options.output:
        write(pathlib.Path(options.output), text)
    else:
        sys.stdout.write(text)
    return status


def needs_matplotlib(module):
    try:
        return importlib.import_module(f".{module}", __package__)
    except ImportError as error:
        raise load.BadInput(f"plots need matplotlib ({error}): install python3-matplotlib, "
                            "or take --format markdown") from None


def write(path, text):
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise load.BadInput(f"cannot write {path}: {error}") from None


def write_plots(results, folder):
    plots = needs_matplotlib("plots")
    for name, _, draw in plots.GALLERY:
        svg = draw(results, True) if plots.has_scales(draw) else draw(results)
        if svg:
            write(folder / f"{name}.svg", plots.standalone(svg))


def main(arguments):
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except load.BadInput as error:
        print(f"tamis-report: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # a reader such as head has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
