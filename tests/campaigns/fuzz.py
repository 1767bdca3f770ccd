"""Runs the fuzz targets on unexpected inputs, each for a given time.

Usage: fuzz.py FOLDER [TARGET...] [--seconds N] [--jobs N] [--corpus DIR] [--keep] [--findings DIR]
               [--record] [--self-test]

FOLDER contains the built targets of tests/fuzz. A TARGET is the name of a program without tamis_fuzz_ (default:
all in the folder). --seconds is processor time for each target. A target runs all its first inputs, even if
that takes longer, and only the rest of its time is for new inputs. The first inputs are golden files,
tests/fuzz/seeds, and the inputs that earlier runs have found, in tests/fuzz/corpora. A target in PARTS starts
from one part of its corpus if --seconds is less than 60, and neither --keep nor --record is given. The checksum
of the program chooses the part, so all parts are used over many commits.

--corpus is a folder for inputs that reach new code; the next run continues from it. --keep writes the fewest of these inputs that reach all this code to tests/fuzz/corpora,
for later runs. An input that crashes a target, or takes ten seconds or 2 GiB, is written to --findings and
ends the run of this target. Ctrl-C, SIGTERM and SIGHUP end all targets with status 130. Results so far
count, and new inputs stay in --corpus.
"""
import concurrent.futures
import io
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zlib

import campaign

TESTS = pathlib.Path(__file__).resolve().parent.parent
CORPORA = TESTS / "fuzz" / "corpora"
PREFIX = "tamis_fuzz_"
SLICE_S = 300  # a target restarts after this time with the inputs that it has found
MOST_S = 10  # maximum time of an input
WAITS_FOR_EVER = 4  # a child that has been idle for this multiple of its time limit is ended
MOST_SHOWN = 4000  # characters shown of a log that cannot be kept
MOST_KEPT_BYTES = 1 << 14  # maximum length of an input in CORPORA; longer inputs are cut
SHORT_S = 60  # shorter runs start from one part of the corpora in PARTS
PARTS = {"operations": 16}  # replaying the whole corpus takes 160 s
LIMITS = [f"-timeout={MOST_S}", "-rss_limit_mb=2048"]
# Exit statuses of a target: normal end, an input that took too long, end after a signal.
ENDED, TOOK_LONG, INTERRUPTED = 0, 70, 72

FUNNELS = ["long", "int", "bytes", "utf8", "unencoded-chars"]
KUDU_TYPES = ["int8", "int16", "int32", "int64", "bytes"]


def golden(pattern, begin=lambda stem: b""):
    """Yields names and bytes of golden files, with the bytes of `begin(name)` before them."""
    for path in sorted((TESTS / "golden").glob(pattern)):
        yield path.name, begin(path.stem) + path.read_bytes()


def guava():
    return golden("guava/*.guava", lambda stem: bytes([FUNNELS.index(stem.split("_")[0])]))


def kudu():
    return golden("kudu/*.kudu", lambda stem: bytes([KUDU_TYPES.index(stem.split("_")[0])]))


def blocks():
    yield from golden("milvus/*.mbf1", lambda stem: b"\0")
    yield from golden("kvrocks/filter*.kvrocks", lambda stem: b"\1")
    yield from golden("kvrocks/chain*.kvrocks", lambda stem: b"\2")
    folder = TESTS / "golden" / "vortex"
    yield from golden("vortex/*.sbbf",
                      lambda stem: b"\3" + (folder / f"{stem}.options").read_bytes())


def redis_bloom():
    yield from golden("redis_bloom/bf_*.dump", lambda stem: b"\0")
    yield from golden("redis_bloom/cf_*.dump", lambda stem: b"\1")


def parquet():
    for path in sorted((TESTS / "parquet").glob("*.parquet")):
        data = path.read_bytes()
        yield path.name, data
        size = int.from_bytes(data[-8:-4], "little")
        yield f"{path.stem}.footer", b"f" + data[-8 - size:-8]


# The seeds of a target, besides tests/fuzz/seeds/TARGET.
SEEDS = {
    "open": lambda: golden("*.tamis"),
    "window": lambda: golden("*.window"),
    "bank": lambda: golden("*.bank"),
    "join": lambda: golden("join_*.part"),
    "dcso": lambda: golden("dcso/*.bloom"),
    "guava": guava,
    "kudu": kudu,
    "blocks": blocks,
    "spark": lambda: golden("spark/*.spark"),
    "redis_bloom": redis_bloom,
    "parquet": parquet,
}


def write_seeds(target, folder):
    folder.mkdir(parents=True)
    for name, data in SEEDS.get(target, lambda: ())():
        (folder / name).write_bytes(data)
    committed = TESTS / "fuzz" / "seeds" / target
    if committed.is_dir():
        shutil.copytree(committed, folder, dirs_exist_ok=True)


def unpack_corpus(path, folder, parts=1, part=0):
    """Writes each input whose number modulo `parts` is `part` to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if path.exists():
        with tarfile.open(path) as kept:
            for number, member in enumerate(kept):
                if member.isfile() and number % parts == part:
                    (folder / f"{number}").write_bytes(kept.extractfile(member).read())


def pack_corpus(path, inputs):
    """Writes the file atomically. Equal inputs give equal bytes."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}.new")
    try:
        with tarfile.open(new, "w:xz") as kept:
            for number, data in enumerate(sorted(set(inputs))):
                member = tarfile.TarInfo(f"{number}")
                member.size = len(data)
                kept.addfile(member, io.BytesIO(data))
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def busy_s(pid):
    """Returns the time that the current threads of a process have run or waited for a processor."""
    nanoseconds = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            nanoseconds += sum(map(int, thread.read_text().split()[:2]))
        except OSError:  # it has ended
            pass
    return nanoseconds / 1e9


def end_after(pid, most_s):
    """Waits for a child. Ends the child if it uses `most_s` seconds of a processor, or waits forever."""
    resource.prlimit(pid, resource.RLIMIT_CPU, (most_s, most_s))
    idle_s = busy_before = 0
    before = time.monotonic()
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        now, busy = time.monotonic(), busy_s(pid)
        idle_s += max(0, now - before - max(0, busy - busy_before))
        before, busy_before = now, busy
        if idle_s > WAITS_FOR_EVER * most_s:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


class Run:
    """Runs a target for some seconds of processor time, or until it finds something."""

    stop = threading.Event()
    running = set()
    lock = threading.RLock()  # reentrant, because end_all may interrupt its thread

    def __init__(self, folder, target, corpus, findings, root, quiet=False, most_s=MOST_S,
                 corpora=CORPORA, parts=1):
        self.target = target
        self.parts = parts
        self.most_s = most_s
        self.quiet = quiet
        self.program = folder / (PREFIX + target)
        self.corpus = corpus / target
        self.kept = corpora / f"{target}.tar.xz"
        self.findings = findings
        self.seeds = root / target / "seeds"
        self.earlier = root / target / "earlier"
        self.log = root / target / "log"
        self.inputs = 0
        self.seconds = 0.0  # of processor time
        self.wall_seconds = 0.0
        self.found = 0

    @classmethod
    def end_all(cls, *_):
        cls.stop.set()
        with cls.lock:
            for process in cls.running:
                # Merging waits for children in system(), which ignores SIGINT.
                os.killpg(process.pid, signal.SIGTERM)

    def run(self, seconds, limits=(), **more):
        write_seeds(self.target, self.seeds)
        part = zlib.crc32(self.program.read_bytes()) % self.parts
        unpack_corpus(self.kept, self.earlier, self.parts, part)
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.findings.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        share = 1.0  # of a processor that this process has had so far
        while self.seconds < seconds and not self.found and not self.stop.is_set():
            left = (seconds - self.seconds) / share
            self._slice(max(1, min(SLICE_S, round(left))), limits, more)
            self.wall_seconds = time.monotonic() - start
            share = min(1.0, max(0.1, self.seconds / self.wall_seconds))
        return self

    def _call(self, arguments, log, more, most_s=None):
        """Runs the target. Returns its status and resource usage, or None if all runs must end."""
        with self.lock:
            if self.stop.is_set():
                return None
            # In its own process group: Ctrl-C reaches it once, through this program.
            process = subprocess.Popen(
                [self.program, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, env=campaign.environment(TMPDIR=str(self.log.parent), **more))
            self.running.add(process)
            if self.stop.is_set():
                os.killpg(process.pid, signal.SIGTERM)
        # WNOWAIT: the process must exist until it is removed from `running` under the lock.
        if most_s is not None:
            end_after(process.pid, most_s)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with self.lock:
            self.running.remove(process)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage

    def _slice(self, seconds, limits, more):
        """`seconds` are wall time, which is at least the processor time."""
        with self.log.open("wb") as log:
            ended = self._call(
                [f"-max_total_time={seconds}", "-print_final_stats=1", *LIMITS, *limits,
                 f"-artifact_prefix={self.findings}/{self.target}-", self.corpus, self.seeds,
                 self.earlier], log, more)
        if ended is None:
            return
        status, usage = ended
        self.seconds += usage.ru_utime + usage.ru_stime
        said = self.log.read_text(errors="replace")
        counted = re.findall(r"^(?:stat::number_of_executed_units: *|#)(\d+)", said, re.MULTILINE)
        self.inputs += int(counted[-1]) if counted else 0
        if status == ENDED and not counted:
            self.find("took no input")
        # The signal may have ended the target before its handler was installed.
        if status in (ENDED, INTERRUPTED) or (self.stop.is_set() and status == -signal.SIGTERM):
            return
        # Leaves out inputs that were only slow, which libFuzzer also writes.
        inputs = [pathlib.Path(path) for path in re.findall(r"Test unit written to (.*)", said)
                  if not self.is_slow_unit(path)]
        if status == TOOK_LONG and inputs and not self.takes_long(inputs[0], more):
            if not self.stop.is_set():
                inputs[0].unlink()
            return
        why = re.findall(r"^(?:==\d+== ?ERROR: |.*runtime error: )(.*)", said, re.MULTILINE)
        self.find(why[0] if why else f"status {status}", inputs)

    def is_slow_unit(self, path):
        return os.path.basename(path).startswith(f"{self.target}-slow-unit-")

    def keep(self):
        """Keeps the fewest inputs, from this run and earlier ones, that reach all known code."""
        folder = self.seeds.with_name("merged")
        shutil.copytree(self.seeds, folder)
        with self.log.open("wb") as log:
            # An input that only waits for a processor is left out, and written to the folder of the
            # run.
            ended = self._call(["-merge=1", *LIMITS, f"-max_len={MOST_KEPT_BYTES}",
                                f"-artifact_prefix={folder.parent}/", folder, self.earlier,
                                self.corpus], log, {})
        if self.stop.is_set():
            return
        if ended[0] != ENDED:
            self.find(f"cannot merge what it found: status {ended[0]}")
            return
        given = {path.name for path in self.seeds.iterdir()}
        pack_corpus(self.kept,
                    [path.read_bytes() for path in folder.iterdir() if path.name not in given])

    def takes_long(self, path, more):
        """Whether a slow input really uses much processor time or never ends, instead of only waiting
        for a processor."""
        ended = self._call(["-timeout=100000", f"-artifact_prefix={self.seeds.parent}/", path],
                           subprocess.DEVNULL, more, self.most_s)
        return not self.stop.is_set() and ended[0] != ENDED

    def find(self, what, inputs=()):
        self.found += 1
        kept = self.findings / f"{self.target}.log"
        try:
            shutil.copy(self.log, kept)
            see = f"see {kept}"
        except OSError as error:
            see = f"{error}; its log ends so:\n{self.log.read_text(errors='replace')[-MOST_SHOWN:]}"
        if not self.quiet:
            campaign.finding(f"{self.target}: {what}; {see}"
                             + "".join(f"\n  again: {self.program} {path}" for path in inputs))


def conclude(run, options, where):
    if run.inputs == 0 and not run.found:  # all runs are being ended
        return
    figures = {"inputs": run.inputs, "processor seconds": round(run.seconds), "findings": run.found}
    campaign.report(f"fuzzing, {run.target}", figures, run.wall_seconds, where, options.record)
    if options.keep and not run.found and not Run.stop.is_set():
        run.keep()


def run_all(options, targets, corpus, findings, root):
    """Returns the runs of all targets."""
    whole = options.seconds >= SHORT_S or options.keep or options.record
    runs = [Run(options.targets, target, corpus, findings, root,
                parts=1 if whole else PARTS.get(target, 1)) for target in targets]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(run.run, options.seconds): run for run in runs}
        while waiting:
            # Waits with a timeout, because a signal to another thread does not end a wait of this
            # one.
            done, _ = concurrent.futures.wait(waiting, timeout=1,
                                              return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                run = waiting.pop(future)
                try:
                    future.result()
                    conclude(run, options, campaign.file_system(corpus))
                except Exception as error:  # concerns one target; the others continue
                    campaign.finding(f"{run.target}: cannot be run: {type(error).__name__}: {error}")
                    run.found += 1
    return runs


def kept_is_read(run, root):
    """Whether a later run starts from the inputs that a run keeps, and keeps them too."""
    def kept(name):
        run.keep()
        unpack_corpus(run.kept, root / name)
        return {path.read_bytes() for path in (root / name).iterdir()}

    first = kept("first")
    for folder in (run.corpus, run.earlier, run.seeds.with_name("merged")):
        shutil.rmtree(folder)
    run.corpus.mkdir()
    unpack_corpus(run.kept, run.earlier)
    return set() < kept("second") <= first and run.found == 0


def parts_are_the_corpus(root):
    """Whether each input of a corpus is in exactly one of its parts."""
    inputs = [bytes([number]) for number in range(10)]
    pack_corpus(root / "parts.tar.xz", inputs)
    for part in range(3):
        unpack_corpus(root / "parts.tar.xz", root / "parts" / f"{part}", 3, part)
    return sorted(path.read_bytes() for path in root.glob("parts/*/*")) == inputs


def ended(besides=""):
    print("ended before its time" + besides)
    return 128 + signal.SIGINT


def self_test(options, root):
    """Checks that the defects of tests/fuzz/fuzz_seeded.cc are found, and nothing without a defect."""
    if not parts_are_the_corpus(root):
        print("the parts of a corpus are not the corpus")
        return 1
    found = {}
    for defect, name in (("", "none"), ("answer", "a wrong answer"),
                         ("overrun", "the library is given more bytes than there are"),
                         ("overflow", "an integer overflows"), ("leak", "memory is not freed"),
                         ("slow", "an input takes long, after one that is slow"),
                         ("hang", "an input waits forever"),
                         ("memory", "an input takes memory")):
        folder = root / (defect or "none")
        run = Run(options.targets, "seeded", folder / "corpus", folder / "findings", folder,
                  quiet=True, most_s=1 if defect == "hang" else 3, corpora=folder / "corpora")
        limits = ["-timeout=3", "-report_slow_units=1", "-rss_limit_mb=512"]
        run.run(60 if defect else 3, limits, TAMIS_FUZZ_DEFECT=defect)
        written = [path for path in run.findings.iterdir()
                   if path.suffix != ".log" and not run.is_slow_unit(path)]
        found[name] = run.found == len(written) == (1 if defect else 0)
        if written:
            again = subprocess.run([run.program, *limits, f"-artifact_prefix={folder}/", written[0]],
                                   capture_output=True, check=False, env=campaign.environment(TAMIS_FUZZ_DEFECT=defect))
            found[name] = found[name] and again.returncode != 0
        is_read = bool(defect) or kept_is_read(run, folder / "again")
        if Run.stop.is_set():
            return ended()
        if not is_read:
            print("what is kept is not what the next run starts from")
            return 1
    # An input that waits takes no processor time.
    waits = root / "waits"
    waits.write_bytes(b"taMi")
    takes_long = run.takes_long(waits, {"TAMIS_FUZZ_DEFECT": "wait"})
    if Run.stop.is_set():
        return ended()
    if not found.pop("none") or takes_long:
        print("something was found that is no defect")
        return 1
    return campaign.self_test_result(found)


def made(arguments, folder):
    """Makes a folder. Checks before all work that it is writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        arguments.error(f"{folder}: {error.strerror}")
    return folder.resolve()


def main():
    arguments = campaign.parser(__doc__)
    arguments.add_argument("targets", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("only", nargs="*", metavar="TARGET")
    arguments.add_argument("--seconds", type=campaign.positive(float), default=60)
    arguments.add_argument("--jobs", type=campaign.positive(int), default=1, help="targets at the same time")
    arguments.add_argument("--corpus", type=pathlib.Path, help="a folder in which it goes on")
    arguments.add_argument("--keep", action="store_true", help="what it found goes to tests/fuzz/corpora")
    arguments.add_argument("--findings", type=pathlib.Path,
                           help="where inputs go that it found (default: a new folder)")
    options = arguments.parse_intermixed_args()
    options.targets = options.targets.resolve()
    there = sorted(path.name.removeprefix(PREFIX) for path in options.targets.glob(PREFIX + "*")
                   if path.is_file() and os.access(path, os.X_OK))
    targets = ["seeded"] if options.self_test else list(dict.fromkeys(options.only)) or [
        target for target in there if target != "seeded"]
    if not targets or not set(targets) <= set(there):
        arguments.error(f"{options.targets} has these targets: {' '.join(there) or 'none'}")
    corpus = made(arguments, options.corpus) if options.corpus else None
    findings = made(arguments, options.findings) if options.findings else None
    root = campaign.scratch(options.folder)
    campaign.on_signals((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), Run.end_all)
    try:
        if options.self_test:
            return self_test(options, root)
        findings = findings or pathlib.Path(tempfile.mkdtemp(prefix="tamis-findings-")).resolve()
        corpus = corpus or made(arguments, root / "corpus")
        runs = run_all(options, targets, corpus, findings, root)
        if any(run.found for run in runs):
            return 1
        if Run.stop.is_set():
            return ended(": what it found is not kept" if options.keep else "")
        return 0
    finally:
        shutil.rmtree(root, ignore_errors=True)
        if options.findings is None and findings is not None and not any(findings.iterdir()):
            findings.rmdir()


if __name__ == "__main__":
    sys.exit(main())
