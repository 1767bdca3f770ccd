"""bench/commit.cmake returns the commit of a git tree, and nothing for other folders.

Usage: commit_test.py CMAKE FOLDER_OF_BENCH
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BENCH = sys.argv.pop(1), sys.argv.pop(1)


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x", *arguments],
                   check=True, stdout=subprocess.DEVNULL)


@unittest.skipUnless(shutil.which("git"), "no git")
class Commit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def commit(self, source):
        out = self.folder / "commit.cc"
        subprocess.run([CMAKE, "-D", f"SOURCE={source}", "-D", f"OUT={out}", "-P",
                        f"{BENCH}/commit.cmake"], check=True)
        return re.search('kCommit = "(.*)"', out.read_text())[1]

    def test_commits_of_trees(self):
        tree = self.folder / "tree"
        tree.mkdir()
        self.assertEqual(self.commit(tree), "")  # an unpacked release
        git(self.folder, "init", "-q", str(tree))
        (tree / "a").write_text("a")
        git(tree, "add", "a")
        git(tree, "commit", "-q", "-m", "a")
        self.assertRegex(self.commit(tree), "^[0-9a-f]{12}$")
        (tree / "a").write_text("b")
        self.assertRegex(self.commit(tree), "^[0-9a-f]{12}-dirty$")
        # A release inside another project's repository does not have that repository's commit.
        (tree / "tamis").mkdir()
        self.assertEqual(self.commit(tree / "tamis"), "")


if __name__ == "__main__":
    unittest.main()
