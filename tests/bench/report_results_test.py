"""The files of bench/results, and the reasons to refuse a file there.

Usage: report_results_test.py FOLDER_OF_THE_PACKAGE FOLDER_OF_RESULTS
"""
import copy
import json
import pathlib
import sys
import unittest
from unittest import mock

RESULTS = pathlib.Path(sys.argv.pop(2))

from report_fixture import FULL, LATENCIES, Command, limit, results, row  # noqa: E402  (finds the package)
from tamis_report import load, publish  # noqa: E402


class Folder(unittest.TestCase):
    def test_every_file(self):
        paths = sorted(RESULTS.glob("*.json"))
        self.assertTrue(paths)
        publish.check(paths)

    def test_one_form_without_a_date_is_left(self):
        """Only the file that predates dates may lack one."""
        old = [path.stem for path in RESULTS.glob("*.json")
               if load.load(path).data["schema_version"] == 1]
        self.assertLessEqual(set(old), {"xeon-2core-quick"})


def good():
    limits = [limit(size=size, threads=threads) for size in ("L1", "L2") for threads in (1, 2)]
    data = results([one | {"bits_per_key": 8 * one["filter_bytes"] / one["num_keys"]}
                    for one in FULL], limits=limits, commit="0123456789ab")
    for i, one in enumerate(data["rows"]):
        one["name"] += f"/{i}"
    data["latencies"] = copy.deepcopy(LATENCIES)
    return data


class Check(Command):
    def complaint(self, data):
        status, out, err = self.run_command(self.file("a.json", data), "--check")
        self.assertEqual((status, out), (2 if err else 0, ""))
        return err

    def test_a_good_file(self):
        self.assertEqual(self.complaint(good()), "")

    def test_words_that_are_not_paths(self):
        data = good()
        data["context"].update(
            notes="4/8 cores w/ turbo and/or DDR5-6000, 80 GB/s, ~5 GHz",
            compiler="clang 17.0.6 (https://github.com/llvm/llvm-project.git 6009708b4367)")
        self.assertEqual(self.complaint(data), "")

    def test_reasons_to_refuse_a_file(self):
        def context(**entries):
            return lambda d: d["context"].update(entries)

        def times(**entries):
            return lambda d: d["rows"][2]["ns_per_key"].update(entries)
        for expected, spoil in (
                ("has a path", context(notes="see /mnt/ann/notes")),
                ("has a path", context(flags="-O3 -I/opt/x")),
                ("has a path", context(notes="in ~/tamis")),
                ("has a path", context(notes="C:\\tamis")),
                ("has a path", lambda d: d["context"]["peers"].update(x="/lib/y")),
                ("has an address", context(notes="ask ann@example.org")),
                ("has an address", context(notes="10.1.2.3")),
                ("has an address", context(notes="https://example.org")),
                ("has the name of a host", context(notes="on box7.local")),
                ("cannot be printed", context(notes="two\nlines")),
                ("1001 characters", context(notes="x" * 1001)),
                ("'host_name' is nothing that tamis-bench writes", context(host_name="x")),
                ("'notes' is missing", lambda d: d["context"].pop("notes")),
                ("/context/processor: is not known", context(processor="unknown")),
                ("with changes that nobody else has", context(commit="0123456789ab-dirty")),
                ("is no commit", context(commit="main")),
                ("do not optimize", context(flags="Debug -g")),
                ("is not one of backends", context(default_backend="SSE4")),
                ("random_lines are counted in keys", lambda d: d["limits"][0].update(unit="keys")),
                ("no limit of random_lines", lambda d: d["limits"].pop(0)),
                ("are not in order", times(q1=2.01)),
                ("are not in order", times(q3=1.99)),
                ("are not in order", times(q3=99.0)),
                ("and that of the samples", times(samples=[1.0, 1.5, 99.0], q1=1.5, q3=99.0)),
                ("a rate of false positives of 0.5", lambda d: d["rows"][0].update(fpr=0.5)),
                ("bits per key, and its size", lambda d: d["rows"][0].update(bits_per_key=3.0)),
                ("its name is", lambda d: d["rows"][0].update(name="cuckoo8/contains/")),
                ("/latencies/0: quartiles",
                 lambda d: d["latencies"][0]["p50_ns"].update(q1=501.0)),
                ("/latencies/1: its name is", lambda d: d["latencies"][1].update(name="x/latency/")),
                ("is there 2 times", lambda d: d["latencies"].append(d["latencies"][0])),
                ("is there 2 times", lambda d: d["rows"].append(d["rows"][0])),
                ("gave wrong answers", lambda d: d["refused"].append(
                    {"backend": "AVX2", "kind": "bloom", "what": "differs"}))):
            data = copy.deepcopy(good())
            spoil(data)
            # Without this change, a row would be refused because its share does not match its times.
            for one in data["rows"]:
                one["share_of_limit"] = one["share_of_limit"] if "limit" in expected else None
            self.assertIn(expected, self.complaint(data))

    def test_names_of_the_machine_that_checks(self):
        data = good()
        data["context"]["notes"] = "Ann's build on Moonbase7"
        self.assertEqual(self.complaint(data), "")
        with mock.patch("socket.gethostname", return_value="moonbase7.example.org"):
            self.assertIn("'moonbase7', a name of this machine", self.complaint(data))
        with mock.patch("getpass.getuser", return_value="ann"):  # too short to search for
            self.assertEqual(self.complaint(data), "")
        data["context"]["notes"] = "built by annabel"
        with mock.patch("getpass.getuser", return_value="annabel"):
            self.assertIn("'annabel', a name of this machine or its user", self.complaint(data))

    def test_times_out_of_this_world(self):
        for ns in (1e-4, 1e6):
            data = good()
            data["rows"][0].update(row(size="L2", ns=ns, share_of_limit=None),
                                   bits_per_key=data["rows"][0]["bits_per_key"],
                                   name=data["rows"][0]["name"])
            self.assertIn(f"{ns:.4g} ns per key", self.complaint(data))

    def test_older_files_need_no_date(self):
        data = good()
        for name in ("date", "notes"):
            del data["context"][name]
        self.assertIn("no date", self.complaint(data))
        data["schema_version"] = 1
        self.assertEqual(self.complaint(data), "")

    def test_reports_all_problems(self):
        data = good()
        data["context"].update(commit="main", processor="unknown")
        path = self.file("b.json", json.dumps(data))
        _, _, err = self.run_command(path, "--check")
        self.assertEqual(err.count("b.json: at /context"), 2)


if __name__ == "__main__":
    unittest.main()
