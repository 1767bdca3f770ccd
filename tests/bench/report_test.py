"""tamis-report: the files that it reads, compares, writes and refuses.

Usage: report_test.py FOLDER_OF_THE_PACKAGE
"""
import copy
import csv
import json
import os
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

try:
    import matplotlib
except ImportError:
    matplotlib = None
try:
    import jsonschema
except ImportError:
    jsonschema = None

from report_fixture import (FULL, LATENCIES, PACKAGE, Command, latency, results, row,  # it finds
                            statistics)  # the package
from tamis_report import compare, load, validate, words


class BadInput(Command):
    def refused(self, *arguments):
        status, out, err = self.run_command(*arguments)
        self.assertEqual(status, 2, err)
        self.assertEqual(out, "")
        return err

    def test_no_file(self):
        self.assertIn("cannot be read", self.refused(self.folder / "none.json"))

    def test_not_json(self):
        err = self.refused(self.file("a.json", '{"schema": '))
        self.assertIn("a.json: not JSON", err)
        self.assertIn("line 1 column", err)

    def test_not_text(self):
        path = self.folder / "a.json"
        path.write_bytes(b"\xff\xfe\x00")
        self.assertIn("cannot be read", self.refused(path))

    def test_other_json(self):
        for data in ("[]", "{}", '{"schema": "other"}', "3"):
            self.assertIn("not a file of tamis-bench", self.refused(self.file("a.json", data)))

    def test_other_version(self):
        data = results(FULL)
        data["schema_version"] = 7
        self.assertIn("schema version 7; this tamis-report reads 1 and 2",
                      self.refused(self.file("a.json", data)))

    def test_no_date(self):
        for date in (None, "", "yesterday", "2026-13-01", "20260131", "2026-01-31T10:00"):
            data = results(FULL)
            data["context"]["date"] = date
            self.assertIn("date", self.refused(self.file("a.json", data)))

    def test_invalid_numbers_and_texts(self):
        for old, new, said in (('"seconds": 1.5', '"seconds": NaN', "NaN is no number"),
                               ('"seconds": 1.5', '"seconds": 1e999', "inf is out of range"),
                               ('"seconds": 1.5', '"seconds": ' + "9" * 5000, "not JSON"),
                               ('"g++"', '"\\ud800"', "not JSON"),
                               ('"g++"', "[" * 100000, "not JSON")):
            text = json.dumps(results(FULL))
            self.assertIn(old, text)
            self.assertIn(said, self.refused(self.file("a.json", text.replace(old, new))))

    def test_missing_field(self):
        data = results(copy.deepcopy(FULL))
        del data["rows"][0]["kind"]
        self.assertIn("a.json: at /rows/0: 'kind' is missing",
                      self.refused(self.file("a.json", data)))

    def test_unknown_size_class(self):
        err = self.refused(self.file("a.json", results([row(), row(size="L3", filter_bytes=1)])))
        self.assertIn("a.json: at /rows/1: 'L3' is not one of size_classes", err)

    def contradiction(self, **wrong):
        data = results([row(), row("build")])
        data["rows"][1].update(wrong)
        err = self.refused(self.file("a.json", data))
        self.assertIn("a.json: at /rows/1 (split_block/build/AVX2/L2): ", err)
        return err

    def test_rows_that_contradict_the_rest(self):
        self.assertIn("keys_per_second is 6e+08, and ns_per_key makes it 5e+08",
                      self.contradiction(keys_per_second=6e8))
        self.assertIn("filter_bytes is 100, and its size class has filters of 1048576 bytes",
                      self.contradiction(filter_bytes=100))
        for share in (0.51, 5, 0.05):
            self.assertIn("no such share of a limit",
                          self.contradiction(share_of_limit=statistics(share)))
        short = statistics(1.2) | {"samples": [1.2]}
        self.assertIn("chained_multiplications_per_ns has 1 samples, and ns_per_key 3",
                      self.contradiction(chained_multiplications_per_ns=short))
        self.assertIn("share_of_limit has 3 samples, and ns_per_key 1",
                      self.contradiction(ns_per_key=statistics(2.0) | {"samples": [2.0]}))

    def test_rounding_and_missing_limits_are_not_contradictions(self):
        data = results([row(), row(size="L1"), row("build", share_of_limit=None)])
        data["rows"][0]["keys_per_second"] *= 1 + 1e-9
        for name in ("ns_per_key", "share_of_limit"):
            samples = data["rows"][0][name]["samples"]
            samples[:] = [float(f"{sample:.9g}") for sample in samples]
        status, _, err = self.run_command(self.file("a.json", data), "--format", "markdown")
        self.assertEqual((status, err), (0, ""))

    def test_latencies_that_contradict_the_rest(self):
        short = statistics(9.0) | {"samples": [9.0]}
        for expected, wrong in (
                ("are not in order", {"p99_ns": statistics(10.0)}),
                ("different numbers of samples", {"max_ns": short}),
                ("it has 2 calls in 3 repetitions", {"calls": 2}),
                ("its size class has filters of", {"filter_bytes": 100}),
                ("do not fit beside 'contains'", {"large_keys": None}),
                ("is not what p99_ns makes it", {"p99_over_alone": statistics(9.0)}),
                ("is not what p99_ns makes it", {"p99_over_alone": short})):
            data = results(FULL)
            data["latencies"] = [latency(), latency("contains", 2500.0, 1000.0, **wrong)]
            err = self.refused(self.file("a.json", data))
            self.assertIn("a.json: at /latencies/1 (split_block/latency/", err)
            self.assertIn(expected, err)
        data["latencies"] = [latency("contains", 2500.0, 1000.0)]
        self.assertIn("the calls alone were not measured", self.refused(self.file("a.json", data)))
        data["latencies"] = [latency(size_class="L3")]
        self.assertIn("at /latencies/0: 'L3' is not one of size_classes",
                      self.refused(self.file("a.json", data)))

    def test_no_rows(self):
        self.assertIn("no rows", self.refused(self.file("a.json", results([]))))

    def test_nothing_in_common(self):
        a = self.file("a.json", results([row(size="L1")]))
        b = self.file("b.json", results([row(size="L2")]))
        self.assertIn("no measurement in common", self.refused(a, b, "--format", "markdown"))
        self.assertIn("no measurement in common", self.refused(a, "--baseline", b))

    def test_bad_usage(self):
        a = self.file("a.json", results(FULL))
        self.assertIn("--tolerance is -1", self.refused(a, "--tolerance", "-1"))
        self.assertIn("2 labels for 1 files", self.refused(a, "--label", "x", "--label", "y"))
        self.assertIn("cannot write",
                      self.refused(a, "--format", "markdown", "-o", self.folder / "no" / "a.md"))


class Compare(unittest.TestCase):
    def pair(self, old, new, spread=0.01):
        return compare.Comparison(*(load.Results(name, results([row(ns=ns, spread=spread)])).rows
                                    .popitem()[1] for name, ns in (("a", old), ("b", new))))

    def test_verdicts(self):
        self.assertEqual(self.pair(2.0, 1.0).speed.verdict(), "faster")
        self.assertEqual(self.pair(1.0, 2.0).speed.verdict(), "slower")
        self.assertEqual(self.pair(2.0, 2.0).speed.verdict(), "same")
        # A difference beyond the tolerance but within the spread, then one beyond the spread but within the tolerance.
        self.assertEqual(self.pair(2.0, 1.8, spread=0.1).speed.verdict(), "same")
        self.assertEqual(self.pair(2.0, 1.99, spread=0).speed.verdict(), "same")

    def test_speedup_and_range(self):
        pair = self.pair(4.0, 2.0, spread=0.1)
        self.assertAlmostEqual(pair.speedup, 2)
        self.assertAlmostEqual(pair.speed.range[0], 3.6 / 2.2)
        self.assertAlmostEqual(pair.speed.range[1], 4.4 / 1.8)

    def test_default_backends_meet_whatever_their_names(self):
        a = load.Results("a", results([row(backend="AVX3", ns=1.0),
                                       row(backend="AVX2", ns=2.0, default_backend=False)]))
        b = load.Results("b", results([row(backend="AVX2", ns=2.0)]))
        [pair] = compare.by_role(a, b)
        self.assertEqual(pair.speedup, 0.5)
        [pair], other_sizes = compare.by_backend(a, b)
        self.assertEqual((pair.speedup, other_sizes), (1, 0))


class Output(Command):
    def test_markdown_of_one(self):
        status, out, _ = self.run_command(self.file("a.json", results(FULL)), "--format",
                                          "markdown")
        self.assertEqual(status, 0)
        self.assertIn("| split_block: contains | 1.00 +-1%, 50% | 2.00 +-1%, 50% |", out)
        self.assertIn("| split_block: contains, portable |  | 9.00 +-1%, 11% |", out)
        # The kinds side by side, with the rates of the last size.
        self.assertIn("| split_block | tamis | 12.0 | 0.540% | 1.00 | 2.00 |  | 2.00 |", out)
        self.assertIn("a <processor>", out)
        self.assertIn("1000 M lines/s", out)

    def test_markdown_says_where_and_by_how_much(self):
        a = self.file("a.json", results(FULL, "AVX3"))
        slower = copy.deepcopy(FULL)
        slower[0] = row(ns=3.0)
        status, out, _ = self.run_command(a, self.file("b.json", results(slower)), "--format",
                                          "markdown")
        self.assertEqual(status, 0)
        self.assertIn("backend AVX2 against AVX3", out)
        self.assertIn("6 measurements in common, 0 faster, 1 slower, 5 the same", out)
        self.assertIn("**0.67**", out)

    def run_program(self, out, *arguments):
        """Runs in a locale without a snowman. Returns the exit status and the messages."""
        done = subprocess.run(
            [sys.executable, PACKAGE, self.file("a.json", results(FULL)), "--format", "markdown",
             "--label", "\N{SNOWMAN}", *arguments],
            env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}, check=False,
            stdout=out, stderr=subprocess.PIPE)
        return done.returncode, done.stderr.decode()

    def test_standard_output_is_utf_8_in_any_locale(self):
        path = self.folder / "out.md"
        with path.open("wb") as out:
            self.assertEqual(self.run_program(out), (0, ""))
        self.assertIn("## \N{SNOWMAN}\n", path.read_text(encoding="utf-8"))

    @unittest.skipUnless(pathlib.Path("/dev/full").exists(), "no /dev/full")
    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "wb") as out:
            status, err = self.run_program(out)
        self.assertEqual((status, err.count("\n")), (2, 1), err)
        self.assertIn("cannot write to standard output", err)

    def test_same_name_in_two_folders(self):
        (self.folder / "x").mkdir()
        a = self.file("a.json", results(FULL))
        b = self.file("x/a.json", results(FULL))
        _, out, _ = self.run_command(a, b, "--format", "markdown")
        self.assertIn(f"## {b} against a", out)

    def test_refusals_are_reported(self):
        data = results(FULL)
        data["refused"] = [{"backend": "X", "kind": "split_block", "what": "differs"}]
        _, out, _ = self.run_command(self.file("a.json", data), "--format", "markdown")
        self.assertIn("split_block with X: differs", out)

    def test_latencies(self):
        data = results(FULL)
        data["latencies"] = LATENCIES
        new, old = self.file("new.json", data), self.file("old.json", results(FULL))
        status, out, err = self.run_command(new, "--format", "markdown")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("| one small call | beside | p50 | p99 | p99.9 | max | p99 / alone |", out)
        name = "split_block, L2 (1 MiB), 100 keys"
        # The maximum of all repetitions, not their median.
        self.assertIn(f"| {name} | alone | 500 ns | 1 us | 20 us | 6 ms |  |", out)
        self.assertIn(f"| {name} | queries of 16.8 M keys | 500 ns | 2.5 us | 20 us | 6 ms | 2.50 |",
                      out)
        self.assertIn(f"| {name} | insertions of 16.8 M keys | 500 ns | 1.5 us |", out)
        self.assertIn("queries of 16.8 M keys by another engine of 1 thread | 500 ns | 1.1 us", out)
        # Together with older files, in any order.
        for files in ((new, old), (old, new)):
            status, out, err = self.run_command(*files, "--format", "markdown")
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(out.count("p99 / alone"), 1)
        self.assertEqual(self.run_command(new, "--baseline", old)[0], 0)
        with mock.patch("tamis_report.page.plots", None):
            status, page, err = self.run_command(new, old)
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(page.count("id='latency'"), 1)
            self.assertIn("<p>old: not measured.</p>", page)
            self.assertIn("<td class=\"number\">2.50</td>", page)

    def test_files_without_latencies(self):
        """Files from before latencies were measured, and from presets without them."""
        for version in (1, 2):
            data = results(FULL) | {"schema_version": version}
            for latencies in ({}, {"latencies": []}):
                path = self.file("a.json", data | latencies)
                status, out, err = self.run_command(path, "--format", "markdown")
                self.assertEqual((status, err), (0, ""))
                self.assertNotIn("small call", out)
                with mock.patch("tamis_report.page.plots", None):
                    _, page, _ = self.run_command(path)
                self.assertNotIn("id='latency'", page)

    def test_times_in_words(self):
        for ns, text in ((0.5, "0.5 ns"), (63, "63 ns"), (999, "999 ns"), (999.9, "1 us"),
                         (1234, "1.23 us"), (999.4e3, "999 us"), (999.9e3, "1 ms"),
                         (4.13e6, "4.13 ms"), (1234e6, "1234 ms")):
            self.assertEqual(words.time_text(ns), text)
        for count, text in ((1, "1"), (100, "100"), (1000, "1 k"), (100_000, "100 k"),
                            (1 << 24, "16.8 M")):
            self.assertEqual(words.count_text(count), text)

    def test_baseline(self):
        old = self.file("old.json", results(FULL))
        status, out, _ = self.run_command(old, "--baseline", old)
        self.assertEqual(status, 0)
        self.assertIn("0 of 6", out)
        rows = copy.deepcopy(FULL)
        rows[2] = row("build", ns=2.3)
        new = self.file("new.json", results(rows))
        status, out, _ = self.run_command(new, "--baseline", old)
        self.assertEqual(status, 1)
        self.assertIn("slower: split_block, build, AVX2, L2: 2.000 to 2.300 ns/key", out)
        self.assertEqual(self.run_command(new, "--baseline", old, "--tolerance", "0.2")[0], 0)
        rows[2] = row("build", ns=2.3, spread=0.2)
        noisy = self.file("noisy.json", results(rows))
        self.assertEqual(self.run_command(noisy, "--baseline", old)[0], 0)

    def test_baseline_at_one_clock(self):
        def file(name, ns, clock, spread=0.01):
            return self.file(name, results([row(
                ns=ns, spread=spread, chained_multiplications_per_ns=statistics(clock, 0.0))]))
        old = file("old.json", 2.0, 1.2)
        slow_clock = file("slow_clock.json", 2.4, 1.0)
        status, out, _ = self.run_command(slow_clock, "--baseline", old)
        self.assertEqual(status, 0, out)
        _, out, _ = self.run_command(old, slow_clock, "--format", "markdown")
        self.assertIn("0% are within 5% of each other (100% in cycles)", out)
        # Equal in time, because of a faster clock.
        slower = file("slower.json", 2.0, 1.5)
        status, out, _ = self.run_command(slower, "--baseline", old)
        self.assertEqual(status, 1)
        self.assertIn("0.80 times as fast [0.79, 0.81] at the same clock", out)
        without = self.file("without.json", results([row(ns=2.4)]))
        status, out, _ = self.run_command(without, "--baseline", old)
        self.assertEqual(status, 1)
        self.assertNotIn("clock", out)

    def test_baseline_of_several_runs(self):
        def file(name, contains, build):
            return self.file(name, results([row(ns=contains), row("build", ns=build)]))
        old = [file("old1.json", 2.0, 2.0), file("old2.json", 2.3, 2.0)]
        new = [file("new1.json", 2.3, 2.4), file("new2.json", 2.3, 2.2)]
        status, out, _ = self.run_command(*new, "--baseline", old[0], "--baseline", old[1])
        self.assertEqual(status, 1)
        self.assertNotIn("slower: split_block, contains", out)
        self.assertIn("slower: split_block, build, AVX2, L2: 2.000 to 2.200 ns/key", out)
        self.assertIn("1 of 2 measurements are slower than in the baseline old1 and the baseline "
                      "old2", out)
        status, out, _ = self.run_command(*new, "--baseline", old[0])
        self.assertIn("2 of 2", out)

    def test_csv(self):
        path = self.folder / "a.csv"
        rows = [*copy.deepcopy(FULL), row("build", share_of_limit=None, call_keys=64)]
        a = self.file("a.json", results(rows, processor='a "quoted", <one>'))
        b = self.file("-b.json", results([row(huge_pages=False)], notes="x"))
        self.assertEqual(self.run_command(a, b, "--csv", path), (0, "", ""))
        with open(path, newline="") as file:
            found = list(csv.DictReader(file))
        self.assertEqual(len(found), len(rows) + 1)
        self.assertEqual({one["machine"] for one in found}, {"a", "'-b"})  # must not be a formula
        first, call, other = found[0], found[-2], found[-1]
        self.assertEqual([first[name] for name in (
            "processor", "date", "mode", "kind", "operation", "backend", "default_backend",
            "threads", "size_class", "filter_bytes", "hit_percent", "keys", "call_keys",
            "huge_pages", "bits_per_key", "fpr", "ns_per_key", "ns_q1", "ns_q3", "share_of_limit",
            "limit_per_second")],
            ['a "quoted", <one>', "2026-01-31", "quick", "split_block", "contains", "AVX2", "yes",
             "1", "L2", "1048576", "50", "u64", "", "on", "12", "0.0054", "2", "1.98", "2.02",
             "0.5", "1e+09"])
        self.assertEqual((call["call_keys"], call["hit_percent"], call["share_of_limit"]),
                         ("64", "", ""))
        self.assertEqual(other["huge_pages"], "off")
        # With -o, both files are written.
        self.run_command(a, "--csv", path, "-o", self.folder / "a.md")
        self.assertTrue((self.folder / "a.md").exists())

    def test_page_without_plots(self):
        with mock.patch("tamis_report.page.plots", None):
            status, out, _ = self.run_command(self.file("a.json", results(FULL)))
        self.assertEqual(status, 0)
        self.assertIn("They need matplotlib", out)
        self.assertNotIn("<svg", out)

    def test_page_of_many(self):
        files = [self.file(f"m{i}.json", results(FULL)) for i in range(5)]
        _, out, _ = self.run_command(*files)
        self.assertTrue("<title>tamis-bench: 5 machines</title>" in out)
        self.assertFalse("<svg" in out)
        self.assertTrue("<th>m4</th>" in out)

    def test_one_file_twice(self):
        a = self.file("a.json", results(FULL))
        _, out, _ = self.run_command(a, a, a, "--format", "markdown")
        for label in ("a", a, f"{a} (3)"):
            self.assertIn(f" {label} |", out)

    def test_labels_that_the_table_would_not_tell_apart(self):
        a, table = self.file("a.json", results(FULL)), self.folder / "a.csv"
        labels = ("a\tb", "a b", "a b (3)", "'=a", "=a")
        named = [part for label in labels for part in ("--label", label)]
        self.assertEqual(self.run_command(*[a] * 5, *named, "--csv", table)[0], 0)
        self.assertEqual(len({line.split(",")[0] for line in table.read_text().splitlines()[1:]}), 5)

    @unittest.skipUnless(matplotlib, "no matplotlib")
    def test_page(self):
        out = self.folder / "a.html"
        a = self.file("a.json", results(FULL))
        self.assertEqual(self.run_command(a, a, "--label", "one $x$", "--label", "two<b>", "-o", out),
                         (0, "", ""))
        text = out.read_text()
        self.assertGreaterEqual(text.count("<svg"), 6)
        # Does not use assertIn, which would print the whole page.
        for part in ("two&lt;b&gt;", "a &lt;processor&gt;", "currentColor", "$x$",
                     "split_block, batches of keys"):
            self.assertTrue(part in text, part)
        # Nothing from other sites, and no markup from names.
        for part in ("two<b>", 'src="http', "src='http", 'href="http', "@import", "<link rel='style"):
            self.assertFalse(part in text, part)
        # Identifiers are unique, since one page has several plots.
        identifiers = [part.split('"')[0] for part in text.split(' id="')[1:]]
        self.assertEqual(len(identifiers), len(set(identifiers)))


class Schema(unittest.TestCase):
    def complaints(self, data):
        """Returns the errors of our own check, and checks that the jsonschema package agrees."""
        found = list(validate.errors(data, load.schema(), load.schema()))
        if jsonschema:
            judge = jsonschema.Draft202012Validator(load.schema())
            self.assertEqual(bool(found), not judge.is_valid(data), found)
        return found

    def test_accepts_and_refuses(self):
        if jsonschema:
            jsonschema.Draft202012Validator.check_schema(load.schema())
        good = results(FULL)
        self.assertEqual(self.complaints(good), [])
        good["latencies"] = copy.deepcopy(LATENCIES)
        self.assertEqual(self.complaints(good), [])
        for where, spoil in (
                ("", lambda d: d.pop("limits")), ("", lambda d: d.update(extra=1)),
                ("/mode", lambda d: d.update(mode="fast")),
                ("/seconds", lambda d: d.update(seconds=True)),
                ("/context", lambda d: d["context"].pop("commit")),
                ("/context/backends", lambda d: d["context"].update(backends=[])),
                ("/context/peers/x", lambda d: d["context"]["peers"].update(x=1)),
                ("/rows/0", lambda d: d["rows"][0].pop("ns_per_key")),
                ("/rows/0", lambda d: d["rows"][0].update(extra=1)),
                ("/rows/0/operation", lambda d: d["rows"][0].update(operation="guess")),
                ("/rows/0/threads", lambda d: d["rows"][0].update(threads=1.5)),
                ("/rows/0/hit_percent", lambda d: d["rows"][0].update(hit_percent=101)),
                ("/rows/0/share_of_limit", lambda d: d["rows"][0].update(share_of_limit=1)),
                ("/rows/0/ns_per_key/median",
                 lambda d: d["rows"][0]["ns_per_key"].update(median=0)),
                ("/accuracy/0/fpr", lambda d: d["accuracy"][0].update(fpr=1.5)),
                ("/latencies/0", lambda d: d["latencies"][0].pop("p99_ns")),
                ("/latencies/0/beside", lambda d: d["latencies"][0].update(beside="all")),
                ("/latencies/1/p99_over_alone",
                 lambda d: d["latencies"][1].update(p99_over_alone=2)),
                ("/latencies/1/max_ns/q3", lambda d: d["latencies"][1]["max_ns"].update(q3=0)),
                ("/latencies", lambda d: d.update(latencies=None)),
                ("/rows", lambda d: d.update(rows={}))):
            bad = copy.deepcopy(good)
            spoil(bad)
            found = self.complaints(bad)
            self.assertEqual([place for place, _ in found], [where])


if __name__ == "__main__":
    unittest.main()
