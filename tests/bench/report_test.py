"""tamis-report: what it reads, compares, writes and refuses.

Usage: report_test.py FOLDER_OF_THE_PACKAGE
"""
import contextlib
import copy
import io
import json
import pathlib
import sys
import tempfile
import unittest

try:
    import matplotlib
except ImportError:
    matplotlib = None
try:
    import jsonschema
except ImportError:
    jsonschema = None

cli = compare = load = validate = None  # set by main, which knows where they are


def statistics(median, spread=0.01):
    samples = [median * (1 - spread), median, median * (1 + spread)]
    return {"median": median, "q1": samples[0], "q3": samples[2], "samples": samples}


def row(operation="contains", backend="AVX2", size="L2", ns=2.0, spread=0.01, **other):
    result = {
        "name": f"split_block/{operation}/{backend}/{size}", "kind": "split_block",
        "library": "tamis", "operation": operation, "backend": backend, "default_backend": True,
        "threads": 1, "size_class": size, "keys": "u64", "huge_pages": True,
        "hit_percent": 50 if operation in ("contains", "select", "one_key") else None,
        "filter_bytes": {"L1": 24 << 10, "L2": 1 << 20}[size], "num_keys": 1000,
        "batch_keys": 1000, "bits_per_key": 12.0, "fpr": 0.0054, "expected_fpr": 0.0054,
        "ns_per_key": statistics(ns, spread), "keys_per_second": 1e9 / ns,
        "share_of_limit": statistics(0.5),
    }
    result.update(other)
    return result


def results(rows, backend="AVX2"):
    return {
        "schema": "tamis-bench", "schema_version": 1, "mode": "quick", "seconds": 1.5,
        "context": {
            "processor": "a <processor>", "processors": 2, "caches": "L1 48K", "memory": "1 MiB",
            "cache_bytes": {"L1": 1, "L2": 2, "LLC": 3}, "memory_bytes": 1 << 20,
            "huge pages": "madvise", "frequency governor": "unknown", "system": "Linux",
            "gpu": "none", "compiler": "g++", "flags": "-O3", "version": "0.1.0", "commit": "abc",
            "default_backend": backend, "backends": [backend, "portable"], "peers": {},
        },
        "size_classes": [{"name": "L1", "filter_bytes": 24 << 10},
                         {"name": "L2", "filter_bytes": 1 << 20}],
        "limits": [{"name": "random_lines", "size_class": "L2", "threads": 1, "huge_pages": True,
                    "unit": "lines", "method": "no prefetch", "per_second": statistics(1e9)}],
        "rows": rows,
        "accuracy": [{"kind": "split_block", "library": "tamis", "bits_per_key": 12.0,
                      "num_keys": 1000, "queries": 4000, "fpr": 0.0055, "expected_fpr": 0.0054}],
        "refused": [],
    }


FULL = [row(), row(size="L1", ns=1.0), row("build"), row("select", ns=2.5),
        row(backend="portable", ns=9.0, default_backend=False), row(ns=1.1, threads=2)]


class Command(unittest.TestCase):
    """Each test has a folder for its files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, data):
        path = self.folder / name
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return str(path)

    def run_command(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main([str(argument) for argument in arguments])
            except SystemExit as stop:  # of argparse
                status = stop.code
        return status, out.getvalue(), err.getvalue()


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
        self.assertIn("schema version 7; this tamis-report reads 1",
                      self.refused(self.file("a.json", data)))

    def test_missing_field(self):
        data = results(copy.deepcopy(FULL))
        del data["rows"][0]["kind"]
        self.assertIn("a.json: at /rows/0: 'kind' is missing",
                      self.refused(self.file("a.json", data)))

    def test_no_rows(self):
        self.assertIn("no rows", self.refused(self.file("a.json", results([]))))

    def test_nothing_in_common(self):
        a = self.file("a.json", results([row(size="L1")]))
        b = self.file("b.json", results([row(size="L2")]))
        self.assertIn("no measurement in common", self.refused(a, b))
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
        self.assertEqual(self.pair(2.0, 1.0).verdict(), "faster")
        self.assertEqual(self.pair(1.0, 2.0).verdict(), "slower")
        self.assertEqual(self.pair(2.0, 2.0).verdict(), "same")
        # Beyond the tolerance, but within the spread, and the other way round.
        self.assertEqual(self.pair(2.0, 1.8, spread=0.1).verdict(), "same")
        self.assertEqual(self.pair(2.0, 1.99, spread=0).verdict(), "same")

    def test_speedup_and_range(self):
        pair = self.pair(4.0, 2.0, spread=0.1)
        self.assertAlmostEqual(pair.speedup, 2)
        self.assertAlmostEqual(pair.range[0], 3.6 / 2.2)
        self.assertAlmostEqual(pair.range[1], 4.4 / 1.8)

    def test_default_backends_meet_whatever_their_names(self):
        a = load.Results("a", results([row(backend="AVX3", ns=1.0),
                                       row(backend="AVX2", ns=2.0, default_backend=False)]))
        b = load.Results("b", results([row(backend="AVX2", ns=2.0)]))
        [pair] = compare.by_role(a, b)
        self.assertEqual(pair.speedup, 0.5)
        [pair] = compare.by_backend(a, b)
        self.assertEqual(pair.speedup, 1)


class Output(Command):
    def test_markdown_of_one(self):
        status, out, _ = self.run_command(self.file("a.json", results(FULL)), "--format",
                                          "markdown")
        self.assertEqual(status, 0)
        self.assertIn("| split_block: contains | 1.00 +-1%, 50% | 2.00 +-1%, 50% |", out)
        self.assertIn("| split_block: contains, portable |  | 9.00 +-1%, 50% |", out)
        # Side by side, with the rates of the last size.
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

    def test_same_name_in_two_folders(self):
        (self.folder / "x").mkdir()
        a = self.file("a.json", results(FULL))
        b = self.file("x/a.json", results(FULL))
        _, out, _ = self.run_command(a, b, "--format", "markdown")
        self.assertIn(f"## {b} against a", out)

    def test_refusals_are_told(self):
        data = results(FULL)
        data["refused"] = [{"backend": "X", "kind": "split_block", "what": "differs"}]
        _, out, _ = self.run_command(self.file("a.json", data), "--format", "markdown")
        self.assertIn("split_block with X: differs", out)

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

    @unittest.skipUnless(matplotlib, "no matplotlib")
    def test_page(self):
        out = self.folder / "a.html"
        a = self.file("a.json", results(FULL))
        self.assertEqual(self.run_command(a, a, "--label", "one $x$", "--label", "two<b>", "-o", out),
                         (0, "", ""))
        text = out.read_text()
        self.assertGreaterEqual(text.count("<svg"), 6)
        # Not assertIn, which would print the page.
        for part in ("two&lt;b&gt;", "a &lt;processor&gt;", "currentColor", "$x$",
                     "split_block, batches of keys"):
            self.assertTrue(part in text, part)
        # Nothing from elsewhere, and no markup from names.
        for part in ("two<b>", 'src="http', "src='http", 'href="http', "@import", "<link rel='style"):
            self.assertFalse(part in text, part)
        # Identifiers are unique, since several plots are in one page.
        identifiers = [part.split('"')[0] for part in text.split(' id="')[1:]]
        self.assertEqual(len(identifiers), len(set(identifiers)))


class Schema(unittest.TestCase):
    def complaints(self, data):
        """Of our own check, after seeing that the library for this has the same opinion."""
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
                ("/rows", lambda d: d.update(rows={}))):
            bad = copy.deepcopy(good)
            spoil(bad)
            found = self.complaints(bad)
            self.assertEqual([place for place, _ in found], [where])


if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(1))
    from tamis_report import cli, compare, load, validate  # noqa: F811
    unittest.main()
