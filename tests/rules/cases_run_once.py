"""Every GoogleTest case of a build is run by exactly one test of ctest.

Usage: cases_run_once.py CTEST BUILD PROGRAMS

PROGRAMS is a file with the path of every GoogleTest program of the build, one a line.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile


def problems(entries, cases):
    """Returns what is wrong with the tests of ctest that run one program.

    `entries` has (filter, shards, index) for each of them. `cases(filter)` returns the names of the cases
    that GoogleTest selects.
    """
    groups = collections.defaultdict(list)
    for pattern, shards, index in entries:
        groups[pattern, shards].append(index)
    found = []
    runs = collections.Counter()
    for (pattern, shards), indices in groups.items():
        if sorted(indices) != list(range(shards)):
            found.append(f"filter {pattern!r}: the shards are {sorted(indices)} of {shards}")
        runs.update(cases(pattern))
    for case in cases("*"):
        if runs[case] != 1:
            found.append(f"{case} is run {runs[case]} times")
        if "DISABLED_" in case:
            found.append(f"{case} is disabled")
    return found


def list_cases(program, pattern):
    text = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={pattern}"], check=True,
                          capture_output=True, text=True).stdout
    suite, cases = "", []
    for line in text.splitlines()[1:]:  # after "Running main() from ..."
        name = line.partition("#")[0].rstrip()
        if name.startswith("  "):
            cases.append(suite + name.strip())
        else:
            suite = name
    return cases


def entry(test):
    """Returns (filter, shards, index) of a test of ctest. Raises ValueError if it may run fewer cases."""
    properties = {item["name"]: item["value"] for item in test.get("properties", [])}
    if properties.get("DISABLED") or "ENVIRONMENT_MODIFICATION" in properties:
        raise ValueError("is disabled, or changes its environment")
    environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
    shards = int(environment.pop("GTEST_TOTAL_SHARDS", 1))
    index = int(environment.pop("GTEST_SHARD_INDEX", 0))
    environment.pop("GTEST_BRIEF", None)
    if any(name.startswith("GTEST_") for name in environment):
        raise ValueError(f"has other variables of GoogleTest: {environment}")
    option = "--gtest_filter="
    arguments = test["command"][1:]
    if len(arguments) > 1 or not all(argument.startswith(option) for argument in arguments):
        raise ValueError(f"has arguments besides one filter: {arguments}")
    return arguments[0][len(option):] if arguments else "*", shards, index


def tests_of(ctest, build):
    """Returns the tests of a build folder. A second ctest in the same folder would overwrite the log of the running
    ctest, so the second ctest runs in another folder, which includes the build folder."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "CTestTestfile.cmake").write_text(f"subdirs([[{build}]])\n", encoding="utf-8")
        text = subprocess.run([ctest, "--show-only=json-v1"], cwd=folder, check=True,
                              capture_output=True, text=True).stdout
    return [test for test in json.loads(text)["tests"] if test.get("command")]


def main(ctest, build, programs):
    tests = tests_of(ctest, build)
    failed, total = False, 0
    for program in pathlib.Path(programs).read_text(encoding="utf-8").split():
        total += len(list_cases(program, "*"))
        found, entries = [], []
        for test in tests:
            if test["command"][0] == program:
                try:
                    entries.append(entry(test))
                except ValueError as error:
                    found.append(f"{test['name']} {error}")
        for problem in found + problems(entries, lambda pattern: list_cases(program, pattern)):
            failed = True
            print(f"{program}: {problem}")
    print(f"{total} cases")
    sys.exit(failed or total == 0)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
