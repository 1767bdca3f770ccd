"""tamis-report on files of two machines: the pairs that it compares, and the notes on each pair.

Usage: report_machines_test.py FOLDER_OF_THE_PACKAGE
"""
import html
import re
import unittest
from unittest import mock

from report_fixture import FULL, SIZES, Command, limit, results, row  # it finds the package
from tamis_report import compare, load, looks, words

try:
    from tamis_report import plots
except ImportError:
    plots = None

HALF = {"L1": 24 << 10, "L2": 512 << 10}
SERVER = {"processor": "server's", "processors": 64,
          "cache_bytes": {"L1": 48 << 10, "L2": 2 << 20, "LLC": 64 << 20}}
LAPTOP = {"processor": "laptop's", "processors": 16,
          "cache_bytes": {"L1": 48 << 10, "L2": 1 << 20, "LLC": 16 << 20}}


def in_half(*rows, **other):
    """Returns a file whose filters have half the size in L2."""
    return results([{**one, "filter_bytes": HALF[one["size_class"]]} for one in rows], sizes=HALF,
                   **other)


class Sizes(Command):
    def compared(self, old, new):
        return compare.by_role(load.Results("a", old), load.Results("b", new))

    def markdown(self, old, new):
        status, out, err = self.run_command(self.file("a.json", old), self.file("b.json", new),
                                            "--format", "markdown")
        self.assertEqual(status, 0, err)
        return out

    def test_other_sizes_of_one_class(self):
        out = self.markdown(results([row(), row(size="L1")]),
                            in_half(row(ns=1.0), row(size="L1"), limits=[limit(1e9 / 0.6)]))
        self.assertIn("| L2 (512 KiB against 1 MiB) |", out)
        self.assertIn("other size: share 1.20, time 2.00 |", out)
        self.assertNotIn("**2.00**", out)
        # Only pairs of the same size are counted.
        self.assertIn("1 measurements in common, 0 faster, 0 slower, 1 the same", out)
        self.assertIn("1 more pairs have filters of other sizes", out)

    def test_nothing_of_the_same_size(self):
        out = self.markdown(results([row()]), in_half(row(ns=1.0)))
        self.assertIn("b against a: no measurement of the same size in common. 1 more pairs", out)

    def test_one_filter_of_another_size(self):
        # A new version of a library may need a different number of bytes for the same keys.
        out = self.markdown(results([row(), row("build")]),
                            results([row(), row("build", filter_bytes=900 << 10)]))
        self.assertIn("| L2 (1 MiB) |", out)
        self.assertIn("other size (900 KiB against 1 MiB): share 1.00, time 1.00 |", out)

    def test_nearly_the_same_size(self):
        [pair] = self.compared(results([row()]), results([row(filter_bytes=(1 << 20) + 4096)]))
        self.assertTrue(pair.same_size)
        [pair] = self.compared(results([row()]), results([row(filter_bytes=(1 << 20) + 16384)]))
        self.assertFalse(pair.same_size)

    def test_the_same_size_in_other_classes(self):
        large = {"L2": 64 << 20, "memory": 512 << 20}
        old = results([row(size="L2"), row(size="memory", filter_bytes=8 << 20)],
                      sizes={"L2": 1 << 20, "memory": 8 << 20}, limits=[])
        new = results([row(size=name, filter_bytes=count) for name, count in large.items()],
                      sizes=large, limits=[])
        self.assertEqual([c.same_size for c in self.compared(old, new)], [False, False])
        new["size_classes"][0]["filter_bytes"] = new["rows"][0]["filter_bytes"] = 8 << 20
        self.assertEqual([(c.classes, c.same_size) for c in self.compared(old, new)],
                         [(("L2", "L2"), False), (("memory", "L2"), True),
                          (("memory", "memory"), False)])
        self.assertIn("| L2 against memory (8 MiB) |", self.markdown(old, new))

    def test_baseline(self):
        old = self.file("old.json", results([row(), row(size="L1")]))
        slow = self.file("slow.json", in_half(row(ns=9.0), row(size="L1")))
        status, out, _ = self.run_command(slow, "--baseline", old)
        self.assertEqual(status, 0)
        self.assertIn("1 measurements are not compared: their filters have other sizes", out)
        self.assertIn("0 of 1 measurements are slower", out)
        status, _, err = self.run_command(self.file("b.json", in_half(row())), "--baseline", old)
        self.assertEqual(status, 2)
        self.assertIn("no measurement in common: sizes L1 24 KiB, L2 512 KiB and L1 24 KiB, "
                      "L2 1 MiB", err)

    @unittest.skipUnless(plots, "no matplotlib")
    def test_page(self):
        out = self.folder / "a.html"
        a, b = self.file("a.json", results([row()])), self.file("b.json", in_half(row(ns=1.0)))
        self.assertEqual(self.run_command(a, b, "-o", out), (0, "", ""))
        text = out.read_text()
        self.assertNotIn('class="number faster"', text)
        # Once in the summary, where the heading has the sizes, and once in the list of all rows.
        self.assertEqual(text.count('class="number unlike"'), 2)
        self.assertIn("other size (512 KiB against 1 MiB); time 2.00&times;", text)
        self.assertIn("<td>L2 (1 MiB, 512 KiB)</td>", text)

    def test_bytes(self):
        self.assertEqual([words.bytes_text(count) for count in (5, 1010 << 10, 655360, 3 << 30)],
                         ["5 B", "1010 KiB", "640 KiB", "3 GiB"])


class SideBySide(Command):
    """The comparison at the top, and the share that belongs to each speed-up."""

    def files(self):
        server = results([row(), row("build")], **SERVER, limits=[
            limit(1e9), limit(8e9, threads=64), limit(20e9, "sequential_read", unit="bytes")])
        laptop = results([row(ns=4.0), row("build")], **LAPTOP, limits=[
            limit(5e8), limit(2e9, threads=16)])
        return self.file("server.json", server), self.file("laptop.json", laptop)

    def test_machines_come_first(self):
        _, out, _ = self.run_command(*self.files(), "--format", "markdown")
        top, _, rest = out.partition("## laptop against server")
        self.assertTrue(rest)
        for line in ("|  | server | laptop | laptop / server |",
                     "| processor | server's | laptop's |  |", "| processors | 64 | 16 | 0.25 |",
                     "| L2 cache | 2 MiB | 1 MiB | 0.50 |",
                     "| last-level cache | 64 MiB | 16 MiB | 0.25 |",
                     "| L2: filter | 1 MiB | 1 MiB | 1.00 |",
                     "| L2: random lines | 1000 M lines/s | 500 M lines/s | 0.50 |",
                     "| L2: random lines, all threads | 8000 M lines/s | 2000 M lines/s | 0.25 |",
                     "| L2: sequential read | 20.0 GB/s |  |  |"):
            self.assertIn(line + "\n", top)

    def test_memory_or_code(self):
        _, out, _ = self.run_command(*self.files(), "--format", "markdown")
        # For both rows the limit is half as high. `contains` is half as fast, and `build` is as fast as before.
        self.assertIn("| split_block: contains | **0.50** [0.49, 0.51], share 1.00 |", out)
        self.assertIn("| split_block: build | 1.00 [0.98, 1.02], share 2.00 |", out)
        self.assertIn("2 measurements in common, 0 faster, 1 slower, 1 the same within their "
                      "spread; 50% are within 5%", out)
        self.assertIn("(share of the limit): 1 faster, 0 slower, 1 the same", out)

    def test_rows_without_a_limit(self):
        without = [row(share_of_limit=None)]
        _, out, _ = self.run_command(self.file("a.json", results(without)),
                                     self.file("b.json", results(without)), "--format", "markdown")
        self.assertIn("1.00 [0.98, 1.02], no limit |", out)

    def test_one_machine_has_no_comparison(self):
        _, out, _ = self.run_command(self.files()[0], "--format", "markdown")
        self.assertNotIn("Side by side", out)

    @unittest.skipUnless(plots, "no matplotlib")
    def test_page(self):
        out = self.folder / "a.html"
        self.assertEqual(self.run_command(*self.files(), "-o", out), (0, "", ""))
        text = html.unescape(out.read_text())
        top = text[:text.index("<h2 id='summary'>")]
        self.assertIn("<th>processors</th><td>64</td><td>16</td><td>0.25</td>", top)
        self.assertIn("<td>1000 M lines/s</td><td>500 M lines/s</td><td>0.50</td>", top)
        self.assertIn("0.49 to 0.51; share 1.00\N{MULTIPLICATION SIGN}", text)


class Neighbours(Command):
    """A warning if the same processor performs differently in two files."""

    def warned(self, old, new, **context):
        a = results(FULL, limits=old)
        b = results(FULL, limits=new, **context)
        _, markdown, _ = self.run_command(self.file("a.json", a), self.file("b.json", b),
                                          "--format", "markdown")
        _, baseline, _ = self.run_command(self.folder / "b.json", "--baseline",
                                          self.folder / "a.json")
        top = markdown[:markdown.index("## b against a")]
        self.assertEqual("**Warning:**" in top, "warning: " in baseline)
        found = re.search(r"Warning:\*\* (.*)", markdown)
        return found and found[1]

    def test_limits_differ(self):
        old = [limit(1e9), limit(4e9, size="L1"), limit(1e9, threads=2)]
        new = [limit(7e8), limit(4e9, size="L1"), limit(2e9, threads=2)]
        self.assertIn("b and a name the same processor (a <processor>), but 2 of 3 limits of the "
                      "machine differ beyond their spread: random lines, 2 threads in L2 2.00 "
                      "times; random lines in L2 0.70 times. ", self.warned(old, new))

    def test_no_sign_of_it(self):
        one, less = [limit(1e9)], [limit(7e8)]
        self.assertIsNone(self.warned(one, one))
        self.assertIsNone(self.warned(one, [limit(7e8, spread=0.5)]))  # within the spread
        self.assertIsNone(self.warned(one, less, processor="another"))
        # This limit runs code of the library, which may differ between two versions.
        self.assertIsNone(self.warned([limit(1e9, "hash")], [limit(7e8, "hash")]))

    def test_other_programs(self):
        one = [limit(1e9)]
        self.assertIn("During b other programs used 0.8 of 2 processors. ",
                      self.warned(one, one, other_processors=0.75, busy=True))
        self.assertIsNone(self.warned(one, one, other_processors=0.01, busy=False))

    def test_other_sizes_have_other_limits(self):
        a = load.Results("a", results([row()], limits=[limit(1e9)]))
        b = load.Results("b", results([row()], sizes=HALF, limits=[limit(7e8)]))
        self.assertIsNone(compare.machine_warning(a, b))

    def test_baseline_reports_the_share(self):
        old = self.file("old.json", results([row()]))
        new = self.file("new.json", results([row(ns=2.5)], limits=[limit(8e8)]))
        status, out, _ = self.run_command(new, "--baseline", old)
        self.assertEqual(status, 1)
        self.assertIn("0.80 times as fast [0.78, 0.82], 1.00 times the share of the limit", out)

    @unittest.skipUnless(plots, "no matplotlib")
    def test_page(self):
        out = self.folder / "a.html"
        a = self.file("a.json", results(FULL, limits=[limit(1e9)]))
        b = self.file("b.json", results(FULL, limits=[limit(7e8)]))
        self.run_command(a, b, "-o", out)
        text = out.read_text()
        self.assertLess(text.index('<p class="warning">'), text.index("<h2 id='summary'>"))


class Programs(Command):
    """Contexts side by side, and a warning if the programs were built differently."""

    def files(self, **context):
        return (self.file("a.json", results(FULL)), self.file("b.json", results(FULL, **context)))

    def test_side_by_side(self):
        _, out, _ = self.run_command(*self.files(commit="def", version="0.2.0"),
                                     "--format", "markdown")
        top = out[:out.index("## b against a")]
        for line in ("| compiler | g++ | g++ |  |", "| flags | -O3 | -O3 |  |",
                     "| version | 0.1.0 | 0.2.0 |  |", "| commit | abc | def |  |"):
            self.assertIn(line + "\n", top)
        self.assertNotIn("Warning", top)

    def test_warning(self):
        said = "b and a are of programs that were built differently: "
        for context, what in (({"flags": "Debug -O0"}, "flags Debug -O0 against -O3. "),
                              ({"compiler": "clang++", "flags": "-O2"},
                               "compiler clang++ against g++, flags -O2 against -O3. ")):
            a, b = self.files(**context)
            _, out, _ = self.run_command(a, b, "--format", "markdown")
            self.assertIn("**Warning:** " + said + what, out[:out.index("## b against a")])
            _, out, _ = self.run_command(b, "--baseline", a)
            self.assertIn("warning: b and the baseline a are of programs", out)
            self.assertIn(what, out)

    @unittest.skipUnless(plots, "no matplotlib")
    def test_page(self):
        out = self.folder / "ab.html"
        self.run_command(*self.files(flags="Debug -O0"), "-o", out)
        text = out.read_text()
        top = text[:text.index("<h2 id='summary'>")]
        self.assertIn("<strong>Warning:</strong> b and a are of programs", top)
        self.assertIn("<th>flags</th><td>-O3</td><td>Debug -O0</td>", top)


@unittest.skipUnless(plots, "no matplotlib")
class Plots(Command):
    KINDS = ["split_block", "cuckoo8", "cuckoo12", "cuckoo16", "bloom", "counting", "one", "two"]
    PEERS = ["boost", "murmur3", "arrow", "fuse", "fifth"]

    def data(self):
        rows = [row(operation, kind=kind, size=size, library=library)
                for kinds, library in ((self.KINDS, "tamis"), (self.PEERS, "a peer 1.0"))
                for kind in kinds for operation in ("contains", "build", "one_key")
                for size in SIZES]
        rows += [row(operation, kind=kind, size=size, threads=2)
                 for kind in self.KINDS for operation in ("contains", "build") for size in SIZES]
        data = results(rows)
        data["accuracy"] = [{**data["accuracy"][0], "kind": one["kind"], "library": one["library"]}
                            for one in rows]
        return data

    def drawn(self, draw):
        """Returns {label: style of its line} of each plot of the page."""
        figures = []
        with mock.patch.object(plots, "_svg", lambda figure, _: figures.append(figure) or "<svg>"):
            results_of_both = [load.Results(name, self.data()) for name in "ab"]
            draw(results_of_both, True) if plots.has_scales(draw) else draw(results_of_both)
        found = []
        for figure in figures:
            handles, labels = figure.axes[0].get_legend_handles_labels()
            lines = [handle if hasattr(handle, "get_marker") else handle[0] for handle in handles]
            found.append({label: line for label, line in zip(labels, lines)})
        plots.plt.close("all")
        return found

    def test_peers_are_not_like_ours(self):
        for draw in (plots.lookups, plots.builds, plots.accuracy):
            for plot in self.drawn(draw):
                def looks_of(kinds, what):
                    return {getattr(plot[kind], f"get_{what}")() for kind in kinds}
                for what in ("color", "marker"):
                    self.assertFalse(looks_of(self.KINDS, what) & looks_of(self.PEERS, what),
                                     f"{draw.__name__}: {what}")
                self.assertEqual(looks_of(self.PEERS, "markerfacecolor"), {"none"})

    def test_a_kind_looks_the_same_everywhere(self):
        first, *others = [plot for draw in (plots.lookups, plots.builds, plots.accuracy)
                          for plot in self.drawn(draw)]
        self.assertGreaterEqual(len(others), 4)  # two machines
        for other in others:
            for kind in self.KINDS + self.PEERS:
                self.assertEqual((first[kind].get_color(), first[kind].get_marker()),
                                 (other[kind].get_color(), other[kind].get_marker()))

    def test_in_greyscale(self):
        """Marks and line styles alone distinguish all lines."""
        for draw in (plots.lookups, plots.builds, plots.scaling):
            [plot, _] = self.drawn(draw)
            self.assertGreater(len(plot), 12)
            seen = {}
            for label, line in plot.items():
                look = (line.get_marker(), line.get_markerfacecolor() == "none",
                        str(line._dash_pattern))
                self.assertNotIn(look, seen, f"{draw.__name__}: {label}")
                seen[look] = label

    def test_many(self):
        many = [looks.ours(i) for i in range(48)] + [looks.peer(i) for i in range(24)]
        self.assertEqual(len({(look["marker"], str(look["linestyle"])) for look in many}), 72)

    def test_labels_on_a_phone(self):
        """On a drawing of 360 pixels, no text is smaller than 9 pixels or wider than the drawing."""
        for name, _, draw in plots.GALLERY:
            both = [load.Results(name, self.data()) for name in ("laptop", "server")]
            drawn = draw(both, True) if plots.has_scales(draw) else draw(both)
            self.assertEqual(len(drawn), 1 if name == "accuracy" else 2, name)
            for svg in drawn:
                self.check_labels(svg, name)
        both = [load.Results("laptop", self.data()), load.Results("server", self.data())]
        self.check_labels(plots.speedups(*both, compare.by_role(*both)), "speedups")

    def check_labels(self, svg, name):
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", svg)]
        self.assertGreater(len(sizes), 5, name)
        self.assertGreaterEqual(min(sizes) * min(4 / 3, 360 / width), 9, name)

    def test_files_of_several_machines(self):
        a, b = self.file("a.json", self.data()), self.file("b.json", self.data())
        self.run_command(a, b, "--plots", self.folder, "-o", self.folder / "ab.md")
        names = {path.name for path in self.folder.glob("*.svg")}
        self.assertLessEqual({"lookups-1.svg", "lookups-2.svg", "accuracy.svg"}, names)
        folder = self.folder / "plots" / "of a"
        self.run_command(a, "--plots", folder, "-o", self.folder / "a.md")
        self.assertTrue((folder / "lookups.svg").exists())
        status, _, err = self.run_command(a, "--plots", a, "-o", self.folder / "a.md")
        self.assertEqual(status, 2)
        self.assertIn("cannot make ", err)

    def test_tables_have_a_hint(self):
        out = self.folder / "ab.html"
        a, b = self.file("a.json", results(FULL)), self.file("b.json", results(FULL))
        self.run_command(a, b, "-o", out)
        text = out.read_text()
        self.assertGreater(text.count("<table"), 5)
        self.assertEqual(len(re.findall(r'<p class="hint">[^<]+</p><div class="scroll"[^>]*><table',
                                        text)), text.count("<table"))


if __name__ == "__main__":
    unittest.main()
