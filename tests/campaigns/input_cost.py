"""Measures how long the command takes for 16 MiB of any bytes, in each way of reading input.

Usage: input_cost.py TAMIS [--bytes N] [--most SECONDS] [--record] [--self-test]

Measures processor time of `tamis build` and `tamis query`, on one thread, for malicious inputs: only
quotes, only separators, one line, empty lines, digits, random bytes and similar, plain and packed. An
input that takes more than --most (1 s for each 16 MiB) is a finding. A failing command is not a finding,
because bad input is refused.
"""
import gzip
import os
import random
import shutil
import subprocess
import sys
import time

import campaign

MODES = ["", "--integers", "--u64", "--csv", "--csv --no-quotes", "--csv --quoted-lines 1000000000",
         "--csv --column 2", "--tsv", "--empty keep", "--as-is", "--trim", "--max-bad 100%"]


def repeat(unit, n):
    return (unit * (n // len(unit) + 1))[:n]


def inputs(n):
    """Yields names and inputs of about `n` bytes."""
    chance = random.Random(1)
    noise = chance.randbytes(n)
    yield "zeros", bytes(n)
    yield "random", noise
    yield "random text", bytes(32 + byte % 95 for byte in noise)
    yield "newlines", repeat(b"\n", n)
    yield "quotes", repeat(b'"', n)
    yield "quotes and newlines", repeat(b'"\n', n)
    yield "pairs of quotes", repeat(b'""\n', n)
    yield "one quote at the beginning", b'"' + repeat(b"a\n", n)
    yield "quoted lines", repeat(b'"a\nb"\n', n)
    yield "a quote in each line", repeat(b'a,"\n', n)
    yield "separators", repeat(b",", n)
    yield "lines of separators", repeat(b",,\n", n)
    yield "one line", repeat(b"a", n)
    yield "digits, one line", repeat(b"7", n)
    yield "digits", repeat(b"7\n", n)
    yield "numbers", repeat(b"12345678901\n18446744073709551615\n", n)
    yield "carriage returns", repeat(b"\r", n)
    yield "spaces", repeat(b" ", n)
    yield "gzip magic", repeat(b"\x1f\x8b\x08\x00", n)
    yield "zstd magic", repeat(b"\x28\xb5\x2f\xfd", n)
    empty = gzip.compress(b"", 1)
    yield "empty gzip files", repeat(empty, n // len(empty) * len(empty))
    yield "gzip of newlines", gzip.compress(repeat(b"\n", n), 1)


def processor_seconds(arguments, folder):
    process = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=campaign.environment(TAMIS_THREADS="1"))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def run(options, root, modes=MODES, of=inputs):
    """Returns the number of runs, the most seconds, and the findings."""
    (root / "one").write_text("1\n")
    subprocess.run([options.tamis, "build", "-q", "-o", "f", "one"], cwd=root, check=True,
                   env=campaign.environment())
    runs, worst, findings = 0, 0.0, 0
    for name, data in of(options.bytes):
        (root / "input").write_bytes(data)
        for mode in modes:
            for command in ("build -q -o new", "query -q --any-type f"):
                line = [options.tamis, *command.split(), *mode.split(), "input"]
                status, seconds = processor_seconds(line, root)
                runs += 1
                worst = max(worst, seconds)
                if seconds > options.most or status not in range(5):
                    campaign.finding(f"{command.split()[0]} {mode}, {name}: status {status}, "
                                     f"{seconds:.2f} s")
                    findings += 1
    return runs, worst, findings


def self_test(options, root):
    """Checks that a command which takes seconds for some input is found."""
    slow = root / "slow"
    slow.write_text(f'#!/bin/sh\n"{options.tamis}" "$@"\n'
                    'for last; do :; done\n[ "$last" != input ] || exec '
                    f'"{sys.executable}" -c "import time\nwhile time.process_time() < 1.2: pass"\n')
    slow.chmod(0o700)
    options.tamis, options.bytes = slow, 1 << 10
    found = run(options, root, [""], lambda n: [("newlines", repeat(b"\n", n))])[2] > 0
    return campaign.self_test_result({"an input that takes seconds": found})


def main():
    arguments = campaign.parser(__doc__)
    arguments.add_argument("tamis", type=os.path.abspath)
    arguments.add_argument("--bytes", type=int, default=1 << 24)
    arguments.add_argument("--most", type=float, default=1)
    options = arguments.parse_args()
    root = campaign.scratch(options.folder)
    try:
        if options.self_test:
            return self_test(options, root)
        start = time.monotonic()
        runs, worst, findings = run(options, root)
        figures = {"runs": runs, "max. processor seconds": round(worst, 2), "findings": findings}
        campaign.report(f"input of {options.bytes >> 20} MiB", figures, time.monotonic() - start,
                        campaign.file_system(root), options.record)
        return 1 if findings else 0
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
