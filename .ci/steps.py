"""Runs the steps of a mode and ends with a table of them and ctest's summary of the Release build.

Usage: .ci/run [quick|release [STEP...]|list]

quick    while working: the first circle of tests and the format of the sources
(none)   the gate: the checks that a change must pass
release  all checks that a release needs, which take hours. A step that has passed in this clone at this commit,
         in any mode and with the same compiler variables, is not run again. With STEPs, only these are run, so
         that several clones or machines can share a release: copy the files of build/ci/passed into one clone,
         where `.ci/run release` runs the rest and prints the whole table. Meanwhile run no other tests in the
         clone, because their cases would be counted.
list     prints the table below

Every command can be run alone. A step that exits with 69 is skipped, because the machine lacks a program or
a package. The output of a step is kept in build/ci/NAME.log.
"""
import datetime
import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

# Name, modes, time limit in minutes, command. Cheap steps that find many faults come first.
TABLE = """
packages      gate,release          30   .ci/packages
format        quick,gate,release     5   cmake/bootstrap.sh format
first-circle  quick                 20   cmake/bootstrap.sh test
release       gate,release          45   .ci/release
cross         gate,release          15   .ci/cross aarch64-macos core split_block && .ci/cross x86_64-windows-gnu core split_block
sanitizers    gate                  40   .ci/sanitizers library
threads       gate,release          30   .ci/threads
fuzzing       gate                  30   .ci/fuzz 5
arm64         gate                  40   .ci/arm64
debian13      gate                  40   .ci/debian13 -DTAMIS_TESTS="core;simd" -DTAMIS_BUILD_TOOLS=OFF -DTAMIS_BUILD_C=OFF
debian12-debs release              60   .ci/debs bookworm
debian13-debs release              60   .ci/debs trixie
conan         release              60   .ci/conan -o "tamis/*:c_library=True" -o "tamis/*:parquet=True"
cross-musl    release               90   .ci/cross x86_64-linux-musl && .ci/cross aarch64-linux-musl
cross-glibc   release              120   .ci/cross x86_64-linux-gnu.2.28 && .ci/cross aarch64-linux-gnu.2.28 core split_block
cross-macos   release               90   .ci/cross aarch64-macos && .ci/cross x86_64-macos core split_block
cross-windows release               90   .ci/cross x86_64-windows-gnu && .ci/cross x86_64-windows-gnu command
cross-mingw   release               90   .ci/cross x86_64-windows-mingw
cross-winarm  release               30   .ci/cross aarch64-windows-gnu core
wheels        release               60   cmake/wheels.sh
wheels-clang  release               60   CC=clang CXX=clang++ cmake/wheels.sh python3
cross-python  release               60   .ci/cross aarch64-macos python && .ci/cross x86_64-linux-gnu.2.28 python python3
dist          release               60   cmake/release.sh
sanitizers-all release              60   .ci/sanitizers
debian13-all  release              120   .ci/debian13 all -DCMAKE_UNITY_BUILD=OFF
fuzzing-long  release               60   .ci/fuzz 60
arm64-all     release              240   cmake/bootstrap.sh aarch64 -LE second
"""
ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/ci"
PASSED = LOGS / "passed"  # a file for each step and key
COMPILERS = ("CC", "CXX", "CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CUDACXX", "CUDAFLAGS", "CUDAHOSTCXX",
             "CMAKE_TOOLCHAIN_FILE")
# Variables of callers that would choose tests, or color what is counted.
NOT_INHERITED = re.compile(r"(GTEST|CTEST)_|PYTEST_ADDOPTS$|CLICOLOR_FORCE$|FORCE_COLOR$")
SKIPPED = 69  # EX_UNAVAILABLE
FAILURE = re.compile(r": Failure$|\[  FAILED  \]|\*\*\*(Failed|Timeout|Exception)|error: |ERROR: |"
                     r"^FAILED|WARNING: Thread|^FINDING|^terminate|AssertionError")


def steps():
    return [line.split(maxsplit=3) for line in TABLE.strip().splitlines()]


def environment():
    processors = len(os.sched_getaffinity(0))
    inherited = {name: value for name, value in os.environ.items() if not NOT_INHERITED.match(name)}
    variables = {**inherited, "CMAKE_BUILD_PARALLEL_LEVEL": str(processors),
                 "CTEST_PARALLEL_LEVEL": str(processors + 2)}
    if shutil.which("ccache"):
        variables |= {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX")}
        variables |= {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    return variables


signals = []  # numbers of the signals that have arrived; run() looks at them


def end(process):
    """Ends a step and all processes that it started. It has ten seconds to clean up."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def run(command, minutes, log):
    """Shows and keeps the output of the command. Returns its exit status, or None if it took too long."""
    with open(log, "wb") as kept, open(log, "rb") as shown:
        process = subprocess.Popen(["sh", "-c", command], cwd=ROOT, env=environment(),
                                   stdin=subprocess.DEVNULL, stdout=kept, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            stops_at = time.monotonic() + 60 * minutes
            while time.monotonic() < stops_at:
                status = process.poll()
                sys.stdout.buffer.write(shown.read())
                sys.stdout.flush()
                if signals:
                    sys.exit(128 + signals[0])
                if status is not None:
                    return status
                time.sleep(0.2)
            return None
        finally:
            end(process)


def processor_seconds():
    """Returns the time that ended child processes spent on processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cases(since):
    """Returns how many cases passed and were skipped in runs of ctest since `since`, from reports of the programs."""
    passed = skipped = 0
    for log in ROOT.glob("build/**/Testing/Temporary/LastTest.log"):
        if log.stat().st_mtime < since:
            continue
        for test in re.split(r"^\d+/\d+ Test(?:ing)?: ", log.read_text(errors="replace"), flags=re.M)[1:]:
            ended = re.search(r"^Test (Passed|Skipped)\.", test, re.M)
            if not ended:  # ctest may have repeated it
                continue
            here = [int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) tests?", test, re.M)]
            here += [int(n) for n in re.findall(r"\b(\d+) passed\b.* in [\d.]+s", test)]  # pytest
            here += [int(n) for n in re.findall(r"^Ran (\d+) tests? in", test, re.M)]  # unittest
            away = [int(n) for n in re.findall(r"^\[  SKIPPED \] (\d+) tests?", test, re.M)]
            away += [int(n) for n in re.findall(r"\b(\d+) skipped\b.* in [\d.]+s", test)]
            unit = [int(n) for n in re.findall(r"^OK \(skipped=(\d+)\)", test, re.M)]
            here, away = here + [-n for n in unit], away + unit
            passed += sum(here) or (ended[1] == "Passed" and not away)
            skipped += sum(away) or ended[1] == "Skipped"
    return passed, skipped


def summary(log):
    """Returns the summary of ctest."""
    found = re.search(r"^\d+% tests passed.*?(?=^bootstrap: |\Z)", log.read_text(errors="replace"), re.M | re.S)
    return found[0].rstrip() if found else ""


def sources():
    """Returns the commit of the sources, followed by the variables that choose compilers. Returns an empty text if a
    file differs from the commit, or if git does not know the sources."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    try:
        if pathlib.Path(git("rev-parse", "--show-toplevel")) != ROOT or git("status", "--porcelain", "--untracked-files"):
            return ""
        chosen = [f"{name}={os.environ[name]}" for name in COMPILERS if name in os.environ]
        return " ".join([git("rev-parse", "HEAD"), *chosen])
    except (OSError, subprocess.CalledProcessError):
        return ""


def file_of(name, key):
    return PASSED / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"


def passed_before(name, key):
    """Returns [row, summary of ctest] of a step that passed with this key. Returns None for other steps."""
    try:
        kept = json.loads(file_of(name, key).read_text())
        known = kept["key"] == key and kept["row"][0] == name and len(kept["row"]) == 6
        return (kept["row"], kept["summary"]) if known else None
    except (OSError, ValueError, TypeError, LookupError):
        return None


def keep(key, row, said):
    """Replaces the file, so that an interrupted call leaves the old one or the new one."""
    file = file_of(row[0], key)
    new = file.with_suffix(".new")
    new.write_text(json.dumps({"key": key, "row": row, "summary": said}))
    new.replace(file)


def main(mode, chosen):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: signals.append(number))
    PASSED.mkdir(parents=True, exist_ok=True)
    lock = open(LOGS / "lock", "w")  # held until the process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("another .ci/run works in this clone")
    rows, missing, last, tested = [], [], "", sources()
    if chosen and not tested:
        sys.exit("a release can be shared only in a clone without changed and new files")
    for name, modes, minutes, command in steps():
        if mode not in modes.split(","):
            continue
        print(f"\n=== {name}: {command}", flush=True)
        log, began, used = LOGS / f"{name}.log", time.time(), processor_seconds()
        key = f"{tested} {command}"
        before = passed_before(name, key) if tested and mode == "release" else None
        if before:
            print(f"=== {name} passed before, at this commit")
            rows.append(before[0])
            last = before[1] or last
            continue
        if chosen and name not in chosen:
            print(f"=== {name} is not chosen")
            missing.append(name)
            continue
        file_of(name, key).unlink(missing_ok=True)  # it may fail this time
        status = run(command, int(minutes), log)
        seconds, used = round(time.time() - began), round(processor_seconds() - used)
        if status not in (0, SKIPPED):
            why = "took too long" if status is None else f"failed with status {status}"
            print(f"\n=== {name} {why} after {seconds} s; the whole log is {log.relative_to(ROOT)}")
            lines = log.read_text(errors="replace").splitlines()
            failures = [line[:200] for line in lines if FAILURE.search(line)]
            print("\n".join(failures[:60] or lines[-20:]))
            sys.exit(status or 1)
        if mode == "release" and sources() != tested:
            sys.exit(f"\n=== the sources changed while {name} ran")
        passed, skipped = cases(began)
        printed = log.read_text(errors="replace")
        reason = (printed.strip().splitlines() or ["no reason given"])[-1] if status == SKIPPED else ""
        if "% tests passed" in printed and passed == 0:
            sys.exit(f"\n=== {name}: ctest ran, and no case was counted")
        print(f"=== {name}: {seconds} s, {used} processor s", flush=True)
        rows.append((name, seconds, used, passed or "-", skipped or "-", f"skipped: {reason}" if reason else ""))
        said = summary(log) if name in ("first-circle", "release") else ""
        last = said or last
        if tested and status == 0 and sources() == tested:
            keep(key, rows[-1], said)
    missing += [row[0] for row in rows if row[5]]  # skipped
    result = f"not run: {' '.join(missing)}" if missing else "all passed"
    commit = tested[:12] if tested and sources() == tested else "no commit"
    print(f"\n=== {result}, {commit}, {datetime.date.today()}, {sum(row[1] for row in rows)} s")
    print(f"{'step':<15}{'seconds':>8}{'processor':>11}{'passed':>8}{'skipped':>9}")
    for name, seconds, used, passed, skipped, note in rows:
        print(f"{name:<15}{seconds:>8}{used:>11}{passed:>8}{skipped:>9}  {note}".rstrip())
    print(f"\n=== ctest, Release build\n{last}")


if __name__ == "__main__":
    if sys.argv[1:] == ["list"]:
        print(TABLE.strip())
        sys.exit()
    mode, *chosen = sys.argv[1:] or ["gate"]
    if mode not in ("gate", "quick", "release") or chosen and mode != "release":
        sys.exit("usage: .ci/run [quick|release [STEP...]|list]")
    unknown = set(chosen) - {name for name, modes, *_ in steps() if mode in modes.split(",")}
    if unknown:
        sys.exit(f"a release has no step {' '.join(sorted(unknown))}; .ci/run list prints all")
    main(mode, chosen)
