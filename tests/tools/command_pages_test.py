"""Tests the manual page and the completions that packaging/command_pages.py makes from the help of the command.

Usage: command_pages_test.py TAMIS COMMAND_PAGES
"""
import re
import shutil
import subprocess
import sys
import unittest

TAMIS, PAGES = sys.argv[1:]


def output(*arguments, **options):
    return subprocess.run(arguments, check=True, capture_output=True, encoding="utf-8", **options).stdout


def page(kind):
    return output(sys.executable, PAGES, TAMIS, kind)


def options_of(*command):
    return sorted(set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", output(TAMIS, *command, "--help"), re.M)))


COMPLETE = """
words=("$@")
source /dev/stdin
COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMPREPLY=()
_tamis
printf '%s\\n' "${COMPREPLY[@]}"
"""


class CommandPagesTest(unittest.TestCase):
    def test_man_describes_every_option(self):
        text = page("man").replace("\\-", "-")
        for command in ("build", "query", "dedup", "plan"):
            section = re.search(rf"^\.SH TAMIS {command.upper()}\n(.*?)(?=^\.SH|\Z)", text, re.M | re.S)[1]
            found = re.findall(r"^\\fB.*$", section, re.M)
            for option in options_of(command):
                self.assertTrue(any(rf"\fB{option}\fR" in line for line in found), (command, option))
        for section in ("NAME", "SYNOPSIS", "COMMANDS", "OPTIONS", "EXAMPLES", "ENVIRONMENT", "EXIT STATUS", "TAMIS BANK ADD"):
            self.assertIn(f"\n.SH {section}\n", text)
        self.assertIn("one of split-block, cuckoo8,", text)

    def test_man_has_no_faults(self):
        if not shutil.which("man"):
            self.skipTest("needs man")
        done = subprocess.run(["man", "--warnings", "-l", "-"], input=page("man"), capture_output=True, encoding="utf-8",
                              env={"LC_ALL": "C.UTF-8", "MANWIDTH": "100", "PATH": "/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("tamis build -o seen.tamis urls.txt\n", done.stdout)

    def complete(self, *words):
        return output("bash", "-c", COMPLETE, "bash", "tamis", *words, input=self.bash).split()

    def test_bash_completes(self):
        if not shutil.which("bash"):
            self.skipTest("needs bash")
        self.bash = page("bash")
        self.assertEqual(self.complete("bu"), ["build"])
        self.assertEqual(self.complete("bank", ""), ["build", "add", "remove", "info", "query"])
        self.assertEqual(self.complete("build", "-k", "fuse1"), ["fuse12", "fuse16"])
        self.assertEqual(self.complete("build", "-o", ""), [])  # bash completes names of files
        self.assertEqual(self.complete("build", "key"), [])
        for command in (("query",), ("plan",), ("bank", "build")):
            self.assertEqual(sorted(self.complete(*command, "--")), options_of(*command))

    def test_zsh_accepts_the_completion(self):
        text = page("zsh")
        for option in options_of("query"):
            self.assertRegex(text, rf"(?s)\n_tamis_query\(\).*?{option}\W.*?\n}}\n")
        if shutil.which("zsh"):
            output("zsh", "-n", input=text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
