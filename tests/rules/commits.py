"""Checks the subjects of the commits since this file was added: `commits.py FOLDER`.

A subject has at most 72 characters, is imperative and has no prefix and no full stop. That a verb is
imperative cannot be checked: some first words that are not are refused. Status 77: there is no history.
"""
import re
import subprocess
import sys

MOST_CHARACTERS = 72
BAD_FIRST = re.compile(r"(?:\w+(?:\([^)]*\))?:|WIP\b|(?:add|fix|chang|updat|remov|rewrit|us|mak|mov|let|renam|test)(?:ed|es|s|ing)\b|"
                       r"(?:Some|Minor|Misc|Various|More|Again|This|The|Mend\w*)\b)", re.IGNORECASE)


def problems(subject):
    if len(subject) > MOST_CHARACTERS:
        yield f"{len(subject)} characters, at most {MOST_CHARACTERS}"
    if match := BAD_FIRST.match(subject):
        yield f'begins with "{match[0]}"'
    if not subject[:1].isupper():
        yield "does not begin with a capital letter"
    if subject.endswith("."):
        yield "ends with a full stop"


def git(folder, *arguments):
    return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def main(folder):
    try:
        added = git(folder, "log", "--diff-filter=A", "--format=%H", "--", "tests/rules/commits.py")
        commits = git(folder, "log", "--no-merges", "--format=%h %s", f"{added[-1]}..HEAD")
    except (OSError, subprocess.CalledProcessError, IndexError):
        print("there is no history of commits here")
        return 77
    found = [f"{commit}: {problem}" for commit in commits for problem in problems(commit.partition(" ")[2])]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
