"""Checks what a power failure would leave of a save, at every moment of it.

Usage: durability.py TAMIS DISK_SHIM FAULT_SHIM [--record] [--self-test]

A shim records what the command does to its folder. For each moment, this program makes all states that
a disk may then have. Unsynchronized contents are lost, complete or cut in half. Names are as they were
when the folder was last synchronized, or as after any change since. In each state, the file must be the
old or the new one. Once the command has reported success, it must be the new one.
"""
import os
import pathlib
import shutil
import sys
import time

import campaign


class Disk:
    """Contents of files and names of one folder, in memory and on the disk."""

    def __init__(self, folder):
        self.contents = {}  # by file: seen by readers
        self.durable = {}   # by file: synchronized
        self.names = {}     # in the folder, when it was last synchronized
        self.pending = []   # changes of names since then
        for path in folder.iterdir():
            file = path.stat().st_ino
            self.names[path.name] = file
            self.contents[file] = self.durable[file] = path.read_bytes()

    def apply(self, words, journal):
        what, *rest = words
        if what == "data":
            self.contents[int(rest[0])] = (journal / f"{rest[1]}.data").read_bytes()
            self.durable.setdefault(int(rest[0]), b"")
        elif what == "sync":
            self.durable[int(rest[0])] = self.contents[int(rest[0])]
        elif what == "syncdir":
            for change in self.pending:
                rename(self.names, change)
            self.pending = []
        else:
            self.pending.append(words)

    def states(self):
        """Yields all states that the disk may have now, as contents by name."""
        for changes in range(len(self.pending) + 1):
            names = dict(self.names)
            for change in self.pending[:changes]:
                rename(names, change)
            for survives in (lambda now, safe: safe, lambda now, safe: now,
                             lambda now, safe: now[:len(now) // 2] if now != safe else now):
                yield {name: survives(self.contents.get(file, b""), self.durable.get(file, b""))
                       for name, file in names.items()}


def rename(names, change):
    what, first, *second = change
    if what == "link":
        names[second[0]] = int(first)
    elif what == "unlink":
        names.pop(first, None)
    elif first in names:
        names[second[0]] = names.pop(first)


def judge(bench, state, done):
    """Returns the problem of a state of the disk, or None."""
    now = state.get(bench.job.target)
    if now != bench.new and (done or now != bench.old):
        size = "no file" if now is None else f"{len(now)} bytes"
        return f"{'done, but ' if done else ''}not the {'' if done else 'old or the '}new file ({size})"
    for name in state:
        known = name == bench.job.target or (bench.pristine / name).exists()
        if not known and not campaign.TEMPORARY_NAME.fullmatch(name):
            return f"there is a file {name}"
    return None


class Durability:
    def __init__(self, options):
        self.options = options
        self.moments = 0
        self.states = 0
        self.findings = 0

    def run(self, bench, named, **more):
        journal = bench.folder.parent / "journal"
        shutil.rmtree(journal, ignore_errors=True)
        journal.mkdir()
        bench.renew()
        disk = Disk(bench.folder)
        shims = {"LD_PRELOAD": f"{self.options.disk_shim} {self.options.shim}",
                 "TAMIS_DISK_JOURNAL": str(journal), **more}
        if named:
            shims["TAMIS_FAULT_NAMED"] = "1"
        process = bench.start(**shims)
        _, said = process.communicate(timeout=campaign.TIMEOUT_S)
        if process.returncode != 0 or bench.read(bench.folder) != bench.new:
            raise RuntimeError(f"{bench.job.name}: {said.decode()}")
        lines = (journal / "journal").read_text().splitlines()
        for number, line in enumerate(lines):
            disk.apply(line.split(" "), journal)
            self.moments += 1
            done = number + 1 == len(lines)
            for state in disk.states():
                self.states += 1
                problem = judge(bench, state, done)
                if problem:
                    way = "named" if named else "unnamed"
                    campaign.finding(f"{bench.job.name}, {way}, after \"{line}\": {problem}")
                    self.findings += 1


def benches(options, root):
    for number, job in enumerate(campaign.jobs_that_run(options.tamis, campaign.WRITERS)):
        yield campaign.Bench(options.tamis, job, root / str(number))


def self_test(options, root):
    bench = next(benches(options, root))
    found = {}
    for lose, name in (("sync", "the file is not synchronized"),
                       ("syncdir", "the folder is not synchronized")):
        for named in (False, True):
            durability = Durability(options)
            durability.run(bench, named, TAMIS_DISK_LOSE=lose)
            found[f"{name}{', named' if named else ''}"] = durability.findings > 0
    return campaign.self_test_result(found)


def main():
    arguments = campaign.parser(__doc__)
    arguments.add_argument("tamis", type=os.path.abspath)
    arguments.add_argument("disk_shim", type=os.path.abspath)
    arguments.add_argument("shim", type=os.path.abspath)
    options = arguments.parse_args()
    root = campaign.scratch(options.folder)
    try:
        if options.self_test:
            return self_test(options, root)
        start = time.monotonic()
        durability = Durability(options)
        jobs = 0
        for bench in benches(options, root):
            for named in (False, True):
                durability.run(bench, named)
                jobs += 1
        figures = {"jobs": jobs, "moments": durability.moments,
                   "states of the disk": durability.states, "findings": durability.findings}
        campaign.report("loss of power", figures, time.monotonic() - start,
                        campaign.file_system(root), options.record)
        return 1 if durability.findings else 0
    finally:
        shutil.rmtree(pathlib.Path(root), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
