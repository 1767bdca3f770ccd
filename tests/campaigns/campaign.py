"""Shared code of the campaigns: jobs of the command that change a file, ways to run them, and results.

A result is one line. With --record it is also a row of results.json, from which table.py makes the
table in docs/campaigns.md.
"""
import argparse
import atexit
import datetime
import fcntl
import json
import math
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

RESULTS = pathlib.Path(__file__).parent / "results.json"
TESTS = pathlib.Path(__file__).parent.parent
REPOSITORY = TESTS.parent
TEMPORARY_NAME = re.compile(r"\.tamis-\d+-\d+\.tmp")
TIMEOUT_S = 60


class Job:
    """A command line of tamis that runs in its own folder, and the file that the command makes or replaces."""

    def __init__(self, name, target, arguments, setup=(), answers=False, repeats=True, files=None,
                 links=None, needs=None, redis=False):
        self.name = name
        self.target = target  # None: changes nothing
        self.arguments = arguments.split()
        self.setup = setup  # command lines that make the input of the job
        self.answers = answers  # whether standard output is the result of the job
        self.repeats = repeats  # whether a second run writes the same file
        self.files = files or {}  # other input files, by name
        self.links = links or {}  # targets of links, by name
        self.needs = needs  # a command line that fails if tamis was built without a required part
        self.redis = redis  # requires a server


SEEN = "build -q -o f.tamis --kind cuckoo16 -n 4000 half"
BANK = ("build -q --for-bank -o a.tamis half", "build -q --for-bank -o b.tamis keys",
        "bank build -q -o f.bank a.tamis")
KUDU = {"a.kudu": TESTS / "golden" / "kudu" / "bytes_large.kudu"}
IMPORTED = "import -q --from kudu:bytes -o a.tamis a.kudu"
DUCKDB, PYARROW = (TESTS / "parquet" / f"{name}.parquet" for name in ("duckdb", "pyarrow"))
LAKE = {"a.parquet": DUCKDB, "b.parquet": PYARROW}
PARQUET = "parquet info a.parquet"
ADDED = "-q --replace --force --column id a.parquet"
ON_REDIS = ("redis create -q --name seen --capacity 2000", "redis insert -q --name seen half")

# First all jobs that replace a file, some with a report (JSON or a line), then jobs that only read.
WRITERS = [
    Job("build, new", "f.tamis", "build -q -o f.tamis keys"),
    Job("build, again", "f.tamis", "build --json -o f.tamis --kind scalable keys", [SEEN]),
    Job("erase", "f.tamis", "erase -q f.tamis quarter", [SEEN], repeats=False),
    Job("merge", "f.tamis", "merge --json -o f.tamis a.tamis b.tamis",
        [SEEN, "build -q -n 4000 -o a.tamis half", "build -q -n 4000 -o b.tamis keys"]),
    Job("dedup --filter", "f.tamis", "dedup -q --filter f.tamis keys", [SEEN], repeats=False),
    Job("bank build", "f.bank", "bank build --json -o f.bank a.tamis b.tamis", BANK[:2]),
    Job("bank add", "f.bank", "bank add -q f.bank b.tamis", BANK, repeats=False),
    Job("bank remove", "f.bank", "bank remove -q f.bank a", [*BANK, "bank add -q f.bank b.tamis"],
        repeats=False),
    Job("erase --output", "f.tamis", "erase --json a.tamis -o f.tamis quarter",
        [SEEN, "build -q -o a.tamis --kind counting -n 4000 half"]),
    Job("dedup --filter, new", "f.tamis", "dedup -q --filter f.tamis keys", repeats=False),
    Job("bank remove --compact", "f.bank", "bank remove --compact f.bank a",
        [*BANK, "bank add -q f.bank b.tamis"], repeats=False),
    Job("import", "f.tamis", "import --from kudu:bytes -o f.tamis a.kudu", [SEEN], files=KUDU),
    Job("export", "f.kudu", "export --json --to kudu:bytes -o f.kudu a.tamis", [IMPORTED], files=KUDU),
    Job("bank build --from-parquet", "f.bank", "bank build -q -o f.bank --from-parquet id a.parquet",
        files=LAKE, needs=PARQUET),
    Job("parquet add", "f.parquet", f"parquet add {ADDED} -o f.parquet", files=LAKE,
        needs=f"parquet add {ADDED} -o a-new.parquet"),
    Job("redis pull", "f.tamis", "redis pull --name seen -o f.tamis", [SEEN, *ON_REDIS],
        redis=True),
]
READERS = [
    Job("query", None, "query -q f.tamis keys", [SEEN], answers=True),
    Job("query --no-map", None, "query -q --no-map f.tamis keys", [SEEN], answers=True),
    Job("query --bitmap", None, "query -q --count --bitmap bits f.tamis keys", [SEEN], answers=True),
    Job("info", None, "info f.tamis", [SEEN], answers=True),
    Job("verify", None, "verify f.tamis", [SEEN], answers=True),
    Job("dedup", None, "dedup -q keys", (), answers=True),
    Job("bank query", None, "bank query f.bank quarter", BANK, answers=True),
    Job("bank info", None, "bank info --members f.bank", BANK, answers=True),
    Job("query, imported", None, "query -q a.tamis keys", [IMPORTED], answers=True, files=KUDU),
    Job("query --format", None, "query -q --format kudu:bytes a.kudu keys", answers=True, files=KUDU),
    Job("verify, imported", None, "verify a.tamis", [IMPORTED], answers=True, files=KUDU),
    Job("plan", None, "plan --n 1e6 --memory 1G --json", answers=True),
    Job("backends", None, "backends --json", answers=True),
    Job("parquet info", None, "parquet info --json a.parquet b.parquet", answers=True, files=LAKE,
        needs=PARQUET),
    Job("parquet prune", None, "parquet prune --column id --keys quarter --pairs lake", answers=True,
        files={"lake/a.parquet": DUCKDB, "more/b.parquet": PYARROW}, links={"lake/more": "../more"},
        needs=PARQUET.replace("a.p", "lake/a.p")),
    Job("redis query", None, "redis query -q --name seen keys", ON_REDIS, answers=True, redis=True),
    Job("redis info", None, "redis info --name seen", ON_REDIS, answers=True, redis=True),
]
# Commands that check files with names other than *.tamis.
VERIFIED = {".bank": "bank info", ".kudu": "import -q --from kudu:bytes -o imported.tamis",
            ".parquet": "parquet info"}


def redis_url():
    """Returns the URL of a server that ends with this process; None if redis-server is missing."""
    if not hasattr(redis_url, "url"):
        folder = tempfile.mkdtemp(prefix="tamis-campaign-redis-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        servers = subprocess.Popen(["sh", REPOSITORY / "redis" / "local_cluster.sh", "single", folder],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        where = servers.stdout.readline().split()  # "single PORT PID"
        redis_url.url = f"redis://127.0.0.1:{where[1]}" if where else None
        while where and not servers.stdout.readline().startswith("ready"):
            pass

        def stop():
            servers.stdin.close()
            servers.wait()
        atexit.register(stop)
    return redis_url.url


def put_files(job, folder):
    for name, path in job.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(path, folder / name)
    for name, to in job.links.items():
        (folder / name).symlink_to(to)


def jobs_that_run(tamis, jobs):
    """Returns the jobs that this tamis and this machine can run. Prints which jobs are left out."""
    text = subprocess.run([tamis, "--help"], check=True, capture_output=True, text=True).stdout
    run = []
    for job in jobs:
        with tempfile.TemporaryDirectory() as folder:
            put_files(job, pathlib.Path(folder))
            lacks = job.needs is not None and subprocess.run(
                [tamis, *job.needs.split()], cwd=folder, env=environment(), check=False,
                capture_output=True).returncode != 0
        if lacks or (job.redis and ("\n  redis " not in text or redis_url() is None)):
            print(f"left out, as it cannot be done here: {job.name}")
        else:
            run.append(job)
    return run


def environment(**more):
    """Returns an environment with two threads on every machine, and without other TAMIS_ variables."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("TAMIS_")}
    return {**mine, "TAMIS_THREADS": "2", "LC_ALL": "C", **more}


class Bench:
    """A job, and a folder with its old state, from which each attempt starts again."""

    def __init__(self, tamis, job, root):
        self.tamis = tamis
        self.job = job
        self.servers = {}
        self.pristine = root / "pristine"
        self.folder = root / "folder"
        self.pristine.mkdir(parents=True)
        for name, numbers in (("keys", range(2000)), ("half", range(1000)), ("quarter", range(500))):
            (self.pristine / name).write_text("".join(f"{n}\n" for n in numbers))
        put_files(job, self.pristine)
        if job.redis:
            self.servers = {"TAMIS_REDIS_URL": redis_url()}
            self._say(["redis", "drop", "--name", "seen"], self.pristine)
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

    def _say(self, arguments, folder, check=False):
        return subprocess.run([self.tamis, *arguments], cwd=folder, env=environment(**self.servers),
                              check=check, capture_output=True, timeout=TIMEOUT_S)

    def _sure(self, arguments, folder):
        return self._say(arguments, folder, check=True)

    def read(self, folder):
        if self.job.target is None:
            return None
        path = folder / self.job.target
        return path.read_bytes() if path.exists() else None

    def renew(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.pristine, self.folder, symlinks=True)

    def verify(self):
        """Raises unless the target passes all checks."""
        look = VERIFIED.get(pathlib.Path(self.job.target).suffix, "verify")
        self._sure([*look.split(), self.job.target], self.folder)

    def start(self, **more):
        return subprocess.Popen([self.tamis, *self.job.arguments], cwd=self.folder,
                                env=environment(**self.servers, **more), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def temporaries(self):
        """Returns the names of new files, except the target."""
        before = {path.name for path in self.pristine.iterdir()} | {self.job.target, "bits"}
        return sorted(path.name for path in self.folder.iterdir() if path.name not in before)


def scratch(where=None):
    """Makes a new folder, in memory if possible, so that no time is spent on waiting for a disk. The
    caller removes it at the end, also after a signal."""
    on_signals((signal.SIGTERM, signal.SIGHUP), lambda number, _: sys.exit(128 + number))
    if where is None and os.access("/dev/shm", os.W_OK):
        where = "/dev/shm"
    try:
        return pathlib.Path(tempfile.mkdtemp(prefix="tamis-campaign-", dir=where)).resolve()
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")


def on_signals(numbers, handler):
    """Sets a handler, but not for SIGHUP if nohup ignores it."""
    for number in numbers:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def parser(doc):
    arguments = argparse.ArgumentParser(description=doc,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--record", action="store_true", help="adds the result to results.json")
    arguments.add_argument("--self-test", action="store_true",
                           help="runs with seeded defects, which have to be found")
    arguments.add_argument("--folder", help="where to work (default: in memory)")
    return arguments


def positive(number):
    """Returns an argument type for positive numbers."""
    def parse(text):
        try:
            value = number(text)
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
        return value
    return parse


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
    """Prints the line of a result. `figures` are counts; the last count is the findings."""
    line = ", ".join(f"{value:,} {what}" for what, value in figures.items())
    print(f"{name}: {line} in {seconds:.0f} s on {where}", flush=True)
    if not record:
        return
    row = {"campaign": name, "date": datetime.date.today().isoformat(), "seconds": round(seconds),
           "machine": processor(), "where": where, "figures": figures}
    lock = os.open(RESULTS.parent, os.O_RDONLY)  # the file itself is replaced
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
        text = ",\n".join(json.dumps(each) for each in [*rows, row])
        new = RESULTS.with_suffix(".new")
        new.write_text(f"[\n{text}\n]\n")
        new.replace(RESULTS)
    finally:
        os.close(lock)


def finding(text):
    print(f"FINDING: {text}", flush=True)


def self_test_result(defects):
    """Prints which of the seeded `defects`, by name, were found. Returns the exit status."""
    for name, found in defects.items():
        print(f"seeded defect: {name}: {'found' if found else 'NOT FOUND'}")
    return 0 if all(defects.values()) else 1


if __name__ == "__main__":
    sys.exit("a part of the campaigns, no program")
