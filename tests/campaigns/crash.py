"""Kills commands that change a file. Afterwards the complete old or new file must exist.

Usage: crash.py TAMIS SAVE_LOOP FAULT_SHIM [--kills N] [--seed N] [--record] [--self-test]

Half of the kills happen at a random moment, the other half before or after each system call in turn.
Both halves use unnamed and named temporary files. A kill can leave a named file, which its name shows.
An unnamed file is left only between its naming and the renaming, when it is complete. After every tenth
kill, the same command must succeed.
"""
import itertools
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import campaign


class Crash:
    def __init__(self, shim, seed):
        self.shim = shim
        self.random = random.Random(seed)
        self.kills = 0
        self.findings = 0
        self.left = {"named": 0, "unnamed": 0}

    def find(self, text):
        campaign.finding(text)
        self.findings += 1

    def run(self, bench, n, named, **more):
        """Runs the command once, and kills it at the n-th system call, or, without n, at a random moment.
        Returns whether the command was killed."""
        bench.renew()
        shim = {"LD_PRELOAD": self.shim, **more}
        if named:
            shim["TAMIS_FAULT_NAMED"] = "1"
        if n is not None:
            how = "kill" if n % 2 else "kill-after"
            process = bench.start(**shim, TAMIS_FAULT=f"any:{(n + 1) // 2}:{how}")
        else:
            process = bench.start(**shim)
            time.sleep(self.random.uniform(0, 1.2 * bench.seconds))
            process.kill()
        _, said = process.communicate(timeout=campaign.TIMEOUT_S)
        where = f"{bench.job.name}, {'named' if named else 'unnamed'}, {n or 'a random moment'}"
        killed = process.returncode == -signal.SIGKILL
        if not killed and process.returncode != 0:
            self.find(f"{where}: status {process.returncode}: {said.decode()}")
        self.kills += killed
        self.judge(bench, where, named, killed)
        return killed

    def judge(self, bench, where, named, killed):
        now = bench.read(bench.folder)
        if now != bench.new and (now != bench.old or not killed):
            size = "no file" if now is None else f"{len(now)} bytes"
            self.find(f"{where}: neither the old nor the new file ({size})")
        left = bench.temporaries()
        self.left["named" if named else "unnamed"] += bool(left)
        for name in left:
            whole = (bench.folder / name).read_bytes() == bench.new
            if not campaign.TEMPORARY_NAME.fullmatch(name) or not killed or not (named or whole):
                self.find(f"{where}: leaves {name}")
        if killed and self.kills % 10 == 0:
            again = bench.start()
            again.communicate(timeout=campaign.TIMEOUT_S)
            right = bench.read(bench.folder) == bench.new
            if now == bench.old and (again.returncode != 0 or not right):
                self.find(f"{where}: cannot be done afterwards")
            elif bench.job.repeats and not right:
                self.find(f"{where}: cannot be repeated")


def kill_save_loop(crash, program, tamis, folder, named):
    """Kills a process that saves two filters alternately to one file."""
    path = folder / "f.tamis"
    shim = {"LD_PRELOAD": crash.shim} | ({"TAMIS_FAULT_NAMED": "1"} if named else {})
    process = subprocess.Popen([program, path], env=campaign.environment(**shim),
                               stdout=subprocess.PIPE)
    process.stdout.read(1)  # it has started
    time.sleep(crash.random.uniform(0, 0.02))
    process.kill()
    process.communicate(timeout=campaign.TIMEOUT_S)
    crash.kills += 1
    verified = subprocess.run([tamis, "verify", path], capture_output=True, check=False)
    if verified.returncode != 0:
        crash.find(f"save: {verified.stderr.decode() or verified.stdout.decode()}")
    left = [entry for entry in folder.iterdir() if entry != path]
    crash.left["named" if named else "unnamed"] += bool(left)
    for entry in left:
        if not campaign.TEMPORARY_NAME.fullmatch(entry.name):
            crash.find(f"save: leaves {entry.name}")
        if not named and subprocess.run([tamis, "verify", entry], capture_output=True,
                                        check=False).returncode != 0:
            crash.find("save: leaves a file that was named before it was whole")
        entry.unlink()


def benches(tamis, root):
    for number, job in enumerate(campaign.jobs_that_run(tamis, campaign.WRITERS)):
        bench = campaign.Bench(tamis, job, root / str(number))
        start = time.monotonic()
        bench.renew()
        bench.start().communicate(timeout=campaign.TIMEOUT_S)
        bench.seconds = time.monotonic() - start
        yield bench


def run(options, root):
    crash = Crash(options.shim, options.seed)
    ways = [(bench, named) for bench in benches(options.tamis, root) for named in (False, True)]
    calls = [1] * len(ways)  # next call for each way
    loop = root / "save"
    loop.mkdir()
    for turn in itertools.count():
        for way, (bench, named) in enumerate(ways):
            if crash.kills >= options.kills:
                return crash
            crash.run(bench, None, named)
            calls[way] = calls[way] + 1 if crash.run(bench, calls[way], named) else 1
        for named in (False, True):
            kill_save_loop(crash, options.save_loop, options.tamis, loop, named)


def self_test(options, root):
    """Checks that a command that replaces a file by copying into it is found."""
    bench = next(benches(options.tamis, root))
    bench.job = campaign.WRITERS[0]
    crash = Crash(options.shim, 1)
    for n in range(1, 400):
        if not crash.run(bench, n, False, TAMIS_FAULT_COPY="1") or crash.findings:
            break
    return campaign.self_test_result({"a file is replaced by copying into it": crash.findings > 0})


def main():
    arguments = campaign.parser(__doc__)
    arguments.add_argument("tamis", type=os.path.abspath)
    arguments.add_argument("save_loop", type=os.path.abspath)
    arguments.add_argument("shim", type=os.path.abspath)
    arguments.add_argument("--kills", type=campaign.positive(int), default=2000)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    options = arguments.parse_args()
    root = campaign.scratch(options.folder)
    try:
        if options.self_test:
            return self_test(options, root)
        start = time.monotonic()
        crash = run(options, root)
        figures = {"kills": crash.kills, "named files left": crash.left["named"],
                   "unnamed files left, all whole": crash.left["unnamed"],
                   "findings": crash.findings}
        campaign.report("crash", figures, time.monotonic() - start, campaign.file_system(root),
                        options.record)
        return 1 if crash.findings else 0
    finally:
        shutil.rmtree(pathlib.Path(root), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
