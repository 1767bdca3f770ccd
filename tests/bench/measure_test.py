"""bench/results/measure.sh refuses bad calls before it measures for a quarter of an hour.

Usage: measure_test.py FOLDER_OF_RESULTS
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RESULTS = pathlib.Path(sys.argv.pop(1))

# Replace the scripts that install, build and measure, and the report, which checks results.
BENCH = """#!/bin/sh
echo "measured $*" >>"$(dirname "$0")/../calls"
for out; do :; done
echo '{}' >"$out"
"""
REPORT = "#!/bin/sh\nexit 0\n"


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x", *arguments],
                   check=True, stdout=subprocess.DEVNULL)


class Measure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        self.results = self.tree / "bench" / "results"
        self.results.mkdir(parents=True)
        shutil.copy(RESULTS / "measure.sh", self.results)
        for name, text in (("cmake/bootstrap.sh", BENCH), ("build/release/tamis-report", REPORT)):
            path = self.tree / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            path.chmod(0o755)

    def measure(self, *arguments, **environment):
        """Returns the exit status, and whether anything was measured."""
        calls = self.tree / "calls"
        calls.unlink(missing_ok=True)
        done = subprocess.run(["sh", "bench/results/measure.sh", *arguments], check=False,
                              cwd=self.tree, env={**os.environ, **environment},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode, calls.exists()

    def test_a_new_name(self):
        self.assertEqual(self.measure("new", "--quick"), (0, True))
        self.assertTrue((self.results / "new.json").exists())

    def test_invalid_names(self):
        for name in ("", "--quick", "a/b", "a b"):
            self.assertEqual(self.measure(name), (2, False), name)

    def test_options_that_measure_nothing_or_elsewhere(self):
        for option in ("--help", "--out", "--out=x.json", "--calibrate", "--benchmark_list_tests",
                       "--benchmark_list_tests=true"):
            self.assertEqual(self.measure("new", "--quick", option), (2, False), option)

    def test_a_folder_that_cannot_be_written(self):
        self.results.chmod(0o555)
        self.addCleanup(self.results.chmod, 0o755)
        if os.access(self.results, os.W_OK):
            self.skipTest("root may write everywhere")
        self.assertEqual(self.measure("new"), (1, False))

    def test_where_cd_searches(self):
        self.assertEqual(self.measure("new", CDPATH=str(self.tree)), (0, True))
        self.assertTrue((self.results / "new.json").exists())

    def test_results_are_not_overwritten(self):
        (self.results / "old.json").write_text("old")
        self.assertEqual(self.measure("old"), (1, False))
        self.assertEqual((self.results / "old.json").read_text(), "old")

    @unittest.skipUnless(shutil.which("git"), "no git")
    def test_a_tree_with_changes(self):
        git(self.tree, "init", "-q")
        git(self.tree, "add", "bench", "cmake")
        git(self.tree, "commit", "-q", "-m", "a")
        self.assertEqual(self.measure("first"), (0, True))
        self.assertEqual(self.measure("second"), (0, True))  # the first result file is not a change of the tree
        with (self.tree / "cmake/bootstrap.sh").open("a") as file:
            file.write("# changed\n")
        self.assertEqual(self.measure("third"), (1, False))


if __name__ == "__main__":
    unittest.main()
