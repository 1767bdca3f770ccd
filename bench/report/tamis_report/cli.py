"""The command line of tamis-report."""
import argparse
import itertools
import os
import pathlib
import sys

from . import compare, load, markdown, publish, rows_csv

DESCRIPTION = """Compares and draws results of tamis-bench --out. Several files are each compared
with the first. Exit status: 0 done, 1 a regression against --baseline, 2 bad usage or input."""

EXAMPLES = """examples:
  tamis-report a.json -o a.html                        one machine
  tamis-report laptop.json server.json -o both.html    two, the second against the first
  tamis-report bench/results/*.json -o machines.html   any number, beside each other
  tamis-report *.json --csv all.csv                    the same as a table for other programs
  tamis-report a.json --format markdown                a summary on standard output
  tamis-report new.json --baseline old.json            for CI: fails if something became slower
  tamis-report new1.json new2.json --baseline old1.json --baseline old2.json
                                                       the same on a noisy machine: runs in turn
"""


def parser():
    result = argparse.ArgumentParser(prog="tamis-report", description=DESCRIPTION, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("files", nargs="+", metavar="FILE", help="a file of tamis-bench --out")
    result.add_argument("-o", "--output", metavar="FILE",
                        help="the file to write (default: standard output)")
    result.add_argument("--format", choices=["html", "markdown"],
                        help="default: html, or markdown if the output ends in .md")
    result.add_argument("--csv", metavar="FILE",
                        help="also write all measurements as a table of comma-separated values; a "
                        "page or Markdown is then written only if -o or --format is given")
    result.add_argument("--plots", metavar="FOLDER",
                        help="also write each plot as a separate file to this folder, for "
                        "documents; for several files NAME-1.svg, NAME-2.svg ...")
    result.add_argument("--label", action="append", default=[],
                        help="the label of a file; once for each file (default: its name)")
    result.add_argument("--check", action="store_true",
                        help="only check whether the files may be added to bench/results: "
                        "plausible, and without paths and names of hosts and users")
    result.add_argument("--baseline", action="append", default=[], metavar="FILE",
                        help="report rows that are slower in the files than in this file, beyond "
                        "the spread of both; if repeated, rows that are slower in all files than "
                        "in all baselines; a page is then written only if -o is given")
    result.add_argument("--tolerance", type=float, default=0.05, metavar="SHARE",
                        help="difference that --baseline allows beyond the spread (default: "
                        "%(default)s)")
    return result


def check_baseline(bases, news, tolerance):
    slower, total, left_out = compare.regressions(bases, news, tolerance)
    for base, new in itertools.product(bases, news):
        for warning in compare.warnings(base, new):
            print(f"warning: {warning}")
    for c in slower:
        low, high = c.at_one_clock.range
        clock = " at the same clock" if c.new.cycles and c.old.cycles else ""
        share = f", {c.share.middle:.2f} times the share of the limit" if c.share else ""
        print(f"slower: {c.new.key.label()}, {c.new.key.size_class}: {c.old.ns:.3f} to "
              f"{c.new.ns:.3f} ns/key, {c.at_one_clock.middle:.2f} times as fast "
              f"[{low:.2f}, {high:.2f}]{clock}{share}")
    if left_out:
        print(f"{left_out} measurements are not compared: their filters have other sizes")
    print(f"{len(slower)} of {total} measurements are slower than in "
          f"{' and '.join(base.label for base in bases)} by more than {tolerance:.0%} and the "
          "spread")
    return 1 if slower else 0


def labelled(options):
    labels = options.label + [None] * len(options.files)
    results = [load.load(path, label) for path, label in zip(options.files, labels)]
    for i, one in enumerate(results):
        if one.label in [other.label for other in results[:i]]:
            one.label = str(options.files[i])  # two files with the same name
    return numbered(results)


def numbered(results):
    """Appends numbers to labels that would otherwise have the same name in the table."""
    taken = set()
    for i, one in enumerate(results, 1):
        name = one.label
        while rows_csv.label(one) in taken:
            one.label = f"{name} ({i})"
            i += 1
        taken.add(rows_csv.label(one))
    return results


def run(options):
    if len(options.label) > len(options.files):
        raise load.BadInput(f"{len(options.label)} labels for {len(options.files)} files")
    if not 0 <= options.tolerance < 10:
        raise load.BadInput(f"--tolerance is {options.tolerance}; allowed: from 0 to below 10")
    if options.check:
        publish.check(options.files)
        return 0
    results = labelled(options)
    style = options.format
    if style is None:
        style = "markdown" if (options.output or "").endswith(".md") else "html"
    if style == "markdown":  # a page shows machines even without a measurement in common
        for other in results[1:]:
            compare.require_common(results[0], other, compare.by_role(results[0], other))
    status = 0
    if options.csv:
        write(pathlib.Path(options.csv), rows_csv.text(results))
        if not (options.output or options.format or options.plots or options.baseline):
            return status
    if options.baseline:
        bases = [load.load(path, f"the baseline {pathlib.Path(path).stem}")
                 for path in options.baseline]
        status = check_baseline(bases, results, options.tolerance)
        if not options.output:
            return status
        results = numbered(bases + results)

    if options.plots:
        write_plots(results, pathlib.Path(options.plots))
    if style == "markdown":
        text = markdown.render(results)
    else:
        from . import page  # here, because loading matplotlib takes time
        text = page.render(results)
    if options.output:
        write(pathlib.Path(options.output), text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
    return status


def write(path, text):
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise load.BadInput(f"cannot write {path}: {error}") from None


def write_plots(results, folder):
    try:
        from . import plots
    except ImportError as error:
        raise load.BadInput(f"plots need matplotlib ({error}): install "
                            "python3-matplotlib") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise load.BadInput(f"cannot make {folder}: {error}") from None
    for name, _, draw in plots.GALLERY:
        drawn = draw(results, True) if plots.has_scales(draw) else draw(results)
        for i, svg in enumerate(drawn, 1):
            suffix = f"-{i}" if len(drawn) > 1 else ""
            write(folder / f"{name}{suffix}.svg", plots.standalone(svg))


def drop_output():
    """Redirects standard output, so that the interpreter does not write to it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments):
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except load.BadInput as error:
        print(f"tamis-report: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # a reader such as head stopped reading
        drop_output()
        return 0
    except OSError as error:  # such as a full disk
        print(f"tamis-report: cannot write to standard output: {error}", file=sys.stderr)
        drop_output()
        return 2
