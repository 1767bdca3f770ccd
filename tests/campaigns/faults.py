"""Fails every system call and every allocation of the library and of the command, each in turn.

Usage: faults.py TAMIS LIBRARY_FAULTS FAULT_SHIM [--every N] [--sample] [--only library|command]
                 [--parts PARTS] [--kinds KIND...] [--jobs NAME...] [--record] [--self-test]

The n-th call of a kind fails, for n from 1 until the command ends without reaching it. The call fails
with an errno, once or from then on; is interrupted; or reads or writes fewer bytes. Afterwards the file
must be the old one or, if the exit status says so, the new one. There must be a message, no crash, and
no temporary file. After an interrupted or shortened call, the command must succeed. A command makes some
ten thousand allocations for its options before it reads its arguments. They are the same for every
command, so they fail only for the first command. With --every N, only each N-th allocation fails.
"""
import errno
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import campaign

EINTR, EIO, ENOMEM = errno.EINTR, errno.EIO, errno.ENOMEM
FAULTS = {
    "open": [EINTR, EIO, errno.EACCES, errno.EMFILE, f"{errno.EMFILE}+"],
    "read": [EINTR, EIO, "short"],
    "pread": [EINTR, EIO, "short"],
    "write": [EINTR, EIO, errno.ENOSPC, f"{errno.ENOSPC}+", "short"],
    "pwrite": [EINTR, errno.ENOSPC, "short"],
    "fsync": [EINTR, EIO, f"{EIO}+"],
    "rename": [EIO, errno.ENOSPC],
    "link": [EIO, errno.EACCES, errno.ENOSPC],
    "unlink": [EIO],
    "mmap": [ENOMEM, f"{ENOMEM}+"],
    "ftruncate": [errno.ENOSPC],
    "stat": [EIO, f"{EIO}+"],
    "access": [EIO],
    "flock": [EINTR, errno.ENOTSUP],
    "chmod": [errno.EPERM, EIO],
    "xattr": [EIO, errno.ENOTSUP],
    "advise": [errno.EINVAL],
    "poll": [EINTR],
    "close": [EIO],
    "thread": [errno.EAGAIN, f"{errno.EAGAIN}+"],
    "seek": [EIO, errno.ESPIPE],
    "fopen": [errno.EMFILE],
    "readdir": [EIO],
    "alloc": [ENOMEM, f"{ENOMEM}+"],
}
DONE, NO_MATCH, USAGE, FAILURE, SAVED = range(5)
WITH_OPTIONS = campaign.WRITERS[0]  # its allocations for options fail, too
REPORTS = next(job for job in campaign.WRITERS if job.name == "bank build")
# Maximum number of allocations of a command without arguments, in addition to those for its options: parsing allocates,
# too.
MOST_FOR_PARSING = 500


def allocations_for_options(tamis, shim, root):
    """Returns a lower bound for the number of allocations for options."""
    log = root / "log"

    def reached(n):
        log.unlink(missing_ok=True)
        subprocess.run([tamis], check=False, capture_output=True, env=campaign.environment(
            LD_PRELOAD=shim, TAMIS_FAULT=f"alloc:{n}:{ENOMEM}", TAMIS_FAULT_LOG=str(log)))
        return log.exists()

    some, too_many = 0, 1 << 20
    while too_many - some > 1:
        n = (some + too_many) // 2
        some, too_many = (n, too_many) if reached(n) else (some, n)
    return max(0, some - MOST_FOR_PARSING)


def what_it_says(out):
    """Returns the output without parts that differ between runs."""
    return re.sub(rb'"(seconds|threads)": .*', b"", out)


class Faults:
    def __init__(self, shim, every, kinds=None, for_options=0, old_hiredis=False):
        self.old_hiredis = old_hiredis  # before 1.0, which ends a process without memory
        self.shim = shim
        self.for_options = for_options
        self.kinds = kinds
        self.every = every
        self.faults = 0
        self.findings = 0

    def find(self, text):
        campaign.finding(text)
        self.findings += 1

    def attempt(self, bench, kind, n, what, named, **more):
        """Returns whether the command reached the fault."""
        if bench.job.target is not None:
            bench.renew()
        log = bench.folder.parent / "log"
        log.unlink(missing_ok=True)
        shim = {"LD_PRELOAD": self.shim, "TAMIS_FAULT": f"{kind}:{n}:{what}",
                "TAMIS_FAULT_LOG": str(log), **more}
        if named:
            shim["TAMIS_FAULT_NAMED"] = "1"
        where = f"{bench.job.name}, {kind}:{n}:{what}{', named' if named else ''}"
        process = bench.start(**shim)
        try:
            out, said = process.communicate(timeout=campaign.TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.find(f"{where}: does not end")
            return True
        happened = log.read_text().strip() if log.exists() else ""
        problem = self.judge(bench, kind, what, happened, process.returncode, out, said)
        if problem and not self.is_hiredis(bench, kind, process.returncode):
            self.find(f"{where} ({happened}): {problem}: {said.decode(errors='replace').strip()}")
        self.faults += bool(happened)
        return bool(happened)

    def is_hiredis(self, bench, kind, status):
        return (bench.job.redis and kind == "alloc" and self.old_hiredis
                and status in (-signal.SIGABRT, -signal.SIGSEGV))

    @staticmethod
    def judge(bench, kind, what, happened, status, out, said):
        if status not in (DONE, USAGE, FAILURE, SAVED):
            return f"status {status}"
        if status != DONE and (not happened or what in ("short", EINTR)):
            return f"does not go on, with status {status}"
        is_said = said.startswith(b"tamis: ") or b"bad segments" in out
        if status != DONE and kind != "write" and not is_said:
            return f"status {status}, and it does not say why"
        if status == SAVED and bench.job.target is None:
            return "status 4, and nothing was saved"
        done = status in (DONE, SAVED)
        if status == DONE and what_it_says(out) != what_it_says(bench.out):
            # Faults of Parquet files are reported, and the rest is done.
            why = out + said
            in_part = bench.job.files and (b"in doubt" in why or b"cannot be " in why)
            if not in_part and b"no server reported" not in out:
                return "done, with other output"
        if bench.job.target is None:
            return None
        want = bench.new if done else bench.old
        if bench.read(bench.folder) != want:
            return f"status {status}, and not the file that this means"
        if bench.temporaries() and kind != "unlink":
            return f"leaves {bench.temporaries()}"
        return None

    def sweep(self, bench, named):
        for kind, whats in FAULTS.items():
            if self.kinds is not None and kind not in self.kinds:
                continue
            step = self.every if kind == "alloc" else 1
            skip = self.for_options if kind == "alloc" and bench.job is not WITH_OPTIONS else 0
            for what in whats:
                n = skip + 1
                while self.attempt(bench, kind, n, what, named):
                    n += step


def has_old_hiredis(tamis):
    linked = subprocess.run(["ldd", tamis], check=False, capture_output=True, text=True).stdout
    return "libhiredis.so.0" in linked


def library(options, root, *arguments):
    """Runs the operations of the library. Returns its counts, and whether it found something."""
    folder = root / "library"
    folder.mkdir(exist_ok=True)
    done = subprocess.run([options.library_faults, folder, *arguments], check=False, text=True,
                          capture_output=True, env=campaign.environment(), timeout=7200)
    counted = re.search(r"operations=(\d+) faults=(\d+) findings=(\d+)", done.stdout)
    if counted is None:
        return 0, 0, 1, done.stdout[-1000:] + done.stderr[-1000:] + f"status {done.returncode}"
    return *map(int, counted.groups()), done.stdout[:10000]


def findings_of_swallowed(options, job, kind, root):
    """Swallows each call of a kind in turn. Returns the number of findings for each."""
    bench = campaign.Bench(options.tamis, job, root)
    counts = []
    while True:
        faults = Faults(options.shim, 1)
        if not faults.attempt(bench, kind, len(counts) + 1, "swallow", False):
            return counts
        counts.append(faults.findings)


def self_test(options, root):
    found = {}
    for seed, name in (("close", "a file is not closed"),
                       ("write", "a write that fails is taken for done")):
        found[f"library: {name}"] = library(options, root, "--seed", seed, "--only", "files")[2] > 0
    listed = subprocess.run([options.library_faults, "--parts"], check=True, text=True,
                            capture_output=True)
    for part in listed.stdout.split():
        if part.startswith("redis") and campaign.redis_url() is None:
            print(f"library, {part}: left out, as there is no server")
            continue
        for seed, name in (("leak", "a block is not freed"),
                           ("silent", "an error that nobody is told of")):
            operations, _, findings, _ = library(options, root, "--seed", seed, "--only", part)
            found[f"library, {part}: {name}"] = operations > 0 and findings > 0
    for kind in ("write", "rename"):
        swallowed = findings_of_swallowed(options, campaign.WRITERS[0], kind, root / kind)
        found[f"command: {kind} that fails is taken for done"] = sum(swallowed) > 0
    # The last one is after the save.
    swallowed = findings_of_swallowed(options, REPORTS, "write", root / "report")
    found["command: a report is lost"] = swallowed[-1] > 0
    return campaign.self_test_result(found)


def main():
    arguments = campaign.parser(__doc__)
    arguments.add_argument("tamis", type=os.path.abspath)
    arguments.add_argument("library_faults", type=os.path.abspath)
    arguments.add_argument("shim", type=os.path.abspath)
    arguments.add_argument("--every", type=campaign.positive(int), default=1, metavar="N")
    arguments.add_argument("--parts", type=lambda text: text.split(","), default=[None],
                           help="of the library: only these, such as bank,live")
    arguments.add_argument("--kinds", nargs="+", choices=FAULTS, metavar="KIND",
                           help=f"of the command: only these of {' '.join(FAULTS)}")
    names = [job.name for job in campaign.WRITERS + campaign.READERS]
    some = arguments.add_mutually_exclusive_group()
    some.add_argument("--jobs", nargs="+", choices=names, metavar="NAME",
                           help="only these commands, such as 'build, new' 'query --bitmap'")
    some.add_argument("--sample", action="store_true", help="each fourth command")
    arguments.add_argument("--only", choices=["library", "command"])
    options = arguments.parse_args()
    for program, mode in ((options.tamis, os.X_OK), (options.library_faults, os.X_OK),
                          (options.shim, os.R_OK)):  # ld.so only prints a message
        if not os.path.isfile(program) or not os.access(program, mode):
            arguments.error(f"cannot {'run' if mode == os.X_OK else 'read'} {program}")
    root = campaign.scratch(options.folder)
    try:
        if options.self_test:
            return self_test(options, root)
        found = 0
        where = campaign.file_system(root)
        if options.only != "command":
            start = time.monotonic()
            operations = count = findings = 0
            for part in options.parts:
                only = [] if part is None else ["--only", part]
                counted = library(options, root, "--every", str(options.every), *only)
                operations, count = operations + counted[0], count + counted[1]
                findings += counted[2]
                if counted[2]:
                    print(counted[3])
            campaign.report("faults, library", {"operations": operations, "faults": count,
                                                "findings": findings},
                            time.monotonic() - start, where, options.record)
            found += findings
        if options.only != "library":
            start = time.monotonic()
            faults = Faults(options.shim, options.every, options.kinds,
                            allocations_for_options(options.tamis, options.shim, root),
                            has_old_hiredis(options.tamis))
            jobs = (campaign.WRITERS + campaign.READERS)[2 if options.sample else 0:]
            jobs = [job for job in jobs[::4 if options.sample else 1]
                    if options.jobs is None or job.name in options.jobs]
            jobs = campaign.jobs_that_run(options.tamis, jobs)
            for number, job in enumerate(jobs):
                bench = campaign.Bench(options.tamis, job, root / str(number))
                faults.sweep(bench, False)
                if job in campaign.WRITERS[:2]:
                    faults.sweep(bench, True)
            if faults.faults == 0:
                faults.find("no call failed")
            campaign.report("faults, command", {"operations": len(jobs), "faults": faults.faults,
                                                "findings": faults.findings},
                            time.monotonic() - start, where, options.record)
            found += faults.findings
        return 1 if found else 0
    finally:
        shutil.rmtree(pathlib.Path(root), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
