"""What the campaigns share: jobs of the command that change a file, ways to run them, and results.

A result is one line, and with --record also a row of results.json, of which table.py makes the table
in docs/campaigns.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

RESULTS = pathlib.Path(__file__).parent / "results.json"
TEMPORARY_NAME = re.compile(r"\.tamis-\d+-\d+\.tmp")
TIMEOUT_S = 60


class Job:
    """A command line of tamis in a folder of its own, and the file that it makes or replaces."""

    def __init__(self, name, target, arguments, setup=(), answers=False):
        self.name = name
        self.target = target  # None: changes nothing
        self.arguments = arguments.split()
        self.setup = setup  # command lines that make what it needs
        self.answers = answers  # whether standard output is what matters


SEEN = "build -q -o f.tamis --type cuckoo16 -n 4000 half"
BANK = ("build -q --for-bank -o a.tamis half", "build -q --for-bank -o b.tamis keys",
        "bank build -q -o f.bank a.tamis")

# All that replace a file, then what only reads.
WRITERS = [
    Job("build, new", "f.tamis", "build -q -o f.tamis keys"),
    Job("build, again", "f.tamis", "build -q -o f.tamis --type scalable keys", [SEEN]),
    Job("erase", "f.tamis", "erase -q f.tamis quarter", [SEEN]),
    Job("merge", "f.tamis", "merge -q -o f.tamis a.tamis b.tamis",
        [SEEN, "build -q -n 4000 -o a.tamis half", "build -q -n 4000 -o b.tamis keys"]),
    Job("dedup --filter", "f.tamis", "dedup -q --filter f.tamis keys", [SEEN]),
    Job("bank build", "f.bank", "bank build -q -o f.bank a.tamis b.tamis", BANK[:2]),
    Job("bank add", "f.bank", "bank add -q f.bank b.tamis", BANK),
    Job("bank remove", "f.bank", "bank remove -q f.bank a", [*BANK, "bank add -q f.bank b.tamis"]),
]
READERS = [
    Job("query", None, "query -q f.tamis keys", [SEEN], answers=True),
    Job("query --no-map", None, "query -q --no-map f.tamis keys", [SEEN], answers=True),
    Job("query --bitmap", None, "query -q --count --bitmap bits f.tamis keys", [SEEN], answers=True),
    Job("info", None, "info f.tamis", [SEEN], answers=True),
    Job("verify", None, "verify f.tamis", [SEEN], answers=True),
    Job("dedup", None, "dedup -q keys", (), answers=True),
    Job("bank query", None, "bank query f.bank quarter", BANK, answers=True),
]


def environment(**more):
    """Two threads on every machine, and no TAMIS_ variable of whoever runs this."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("TAMIS_")}
    return {**mine, "TAMIS_THREADS": "2", "LC_ALL": "C", **more}


class Bench:
    """A job with its old state in a folder, from which each attempt starts anew."""

    def __init__(self, tamis, job, root):
        self.tamis = tamis
        self.job = job
        self.pristine = root / "pristine"
        self.folder = root / "folder"
        self.pristine.mkdir(parents=True)
        for name, numbers in (("keys", range(2000)), ("half", range(1000)), ("quarter", range(500))):
            (self.pristine / name).write_text("".join(f"{n}\n" for n in numbers))
        for line in job.setup:
            self._sure(line.split(), self.pristine)
        self.old = self.read(self.pristine)
        self.renew()
        done = self._sure(job.arguments, self.folder)
        self.out = done.stdout
        self.new = self.read(self.folder)
        if job.target is not None:
            if self.new in (None, self.old):
                raise RuntimeError(f"{job.name} changes nothing")
            self.verify()

    def _sure(self, arguments, folder):
        return subprocess.run([self.tamis, *arguments], cwd=folder, env=environment(), check=True,
                              capture_output=True, timeout=TIMEOUT_S)

    def read(self, folder):
        if self.job.target is None:
            return None
        path = folder / self.job.target
        return path.read_bytes() if path.exists() else None

    def renew(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.pristine, self.folder)

    def verify(self):
        """Raises unless what lies there passes all checks."""
        if self.job.target.endswith(".bank"):
            self._sure(["bank", "query", self.job.target, "quarter"], self.folder)
        else:
            self._sure(["verify", self.job.target], self.folder)

    def start(self, **more):
        return subprocess.Popen([self.tamis, *self.job.arguments], cwd=self.folder,
                                env=environment(**more), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def temporaries(self):
        """Names that were not there before, and are not the target."""
        before = {path.name for path in self.pristine.iterdir()} | {self.job.target, "bits"}
        return sorted(path.name for path in self.folder.iterdir() if path.name not in before)


def scratch(where=None):
    """A new folder; in memory unless said otherwise, where waiting for a disk is no part of it."""
    if where is None and os.access("/dev/shm", os.W_OK):
        where = "/dev/shm"
    return pathlib.Path(tempfile.mkdtemp(prefix="tamis-campaign-", dir=where))


def parser(doc):
    arguments = argparse.ArgumentParser(description=doc,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--record", action="store_true", help="adds the result to results.json")
    arguments.add_argument("--self-test", action="store_true",
                           help="runs with seeded defects, which have to be found")
    arguments.add_argument("--folder", help="where to work (default: in memory)")
    return arguments


def file_system(folder):
    best = ("", "?")
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, mount, kind = line.split()[:3]
        inside = os.path.commonpath([mount, os.path.realpath(folder)]) == mount
        if inside and len(mount) > len(best[0]):
            best = (mount, kind)
    return best[1]


def processor():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{len(os.sched_getaffinity(0))} x {names[0] if names else platform.machine()}"


def report(name, figures, seconds, where, record):
    """Prints the line of a result: figures are what was done; the last are the findings."""
    line = ", ".join(f"{value:,} {what}" for what, value in figures.items())
    print(f"{name}: {line} in {seconds:.0f} s on {where}", flush=True)
    if not record:
        return
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    rows.append({"campaign": name, "date": datetime.date.today().isoformat(), "seconds": round(seconds),
                 "machine": processor(), "where": where, "figures": figures})
    text = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f"[\n{text}\n]\n")


def finding(text):
    print(f"FINDING: {text}", flush=True)


def self_test_result(defects):
    """`defects`: names of seeded defects, and whether each was found. Returns the exit status."""
    for name, found in defects.items():
        print(f"seeded defect: {name}: {'found' if found else 'NOT FOUND'}")
    return 0 if all(defects.values()) else 1


if __name__ == "__main__":
    sys.exit("a part of the campaigns, no program")
