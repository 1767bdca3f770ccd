"""Runs many threads with engines, concurrent and live filters, banks and files for a chosen time.

Usage: threads.py TAMIS_MIXED_LOAD [--seconds N] [--record] [--self-test]

Inserted keys must be found, and unchanged objects must answer as before. In a build with ThreadSanitizer
(cmake --preset tsan), each reported race is a finding, too.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import campaign

SUPPRESSIONS = campaign.TESTS / "live" / "tsan.supp"
SANITIZER_STATUS = 66
RACE = "WARNING: ThreadSanitizer"


def load(program, folder, seconds, *arguments):
    """Returns the counts of the program by name, and the reports of ThreadSanitizer."""
    options = f"history_size=7 suppressions={SUPPRESSIONS} exitcode={SANITIZER_STATUS}"
    done = subprocess.run([program, folder, str(seconds), *arguments], capture_output=True, text=True,
                          check=False, env=campaign.environment(TSAN_OPTIONS=options))
    counted = dict(re.findall(r"(\w+)=(\d+)", done.stdout.splitlines()[-1] if done.stdout else ""))
    if "findings" not in counted or done.returncode not in (0, 1, SANITIZER_STATUS):
        raise RuntimeError(f"{program}: status {done.returncode}: "
                           f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return {name: int(value) for name, value in counted.items()}, done.stdout, done.stderr


def finds(program, folder, seed, shows):
    """Whether a seeded defect is found, in increasingly long runs, because threads do little in a second
    on a slow or busy machine. `shows` tests the result of `load`."""
    return any(shows(*load(program, folder, seconds, "--seed", seed)) for seconds in (1, 5, 30))


def is_sanitized(program):
    return b"__tsan_init" in pathlib.Path(program).read_bytes()


def main():
    arguments = campaign.parser(__doc__)
    arguments.add_argument("mixed_load", type=os.path.abspath)
    arguments.add_argument("--seconds", type=campaign.positive(float), default=60)
    options = arguments.parse_args()
    sanitized = is_sanitized(options.mixed_load)
    root = campaign.scratch(options.folder)
    try:
        if options.self_test:
            found = {"a key is lost": finds(options.mixed_load, root, "lost",
                                            lambda counted, *_: counted["findings"] > 0)}
            if sanitized:
                found["two threads change one filter"] = finds(
                    options.mixed_load, root, "race", lambda counted, out, said: RACE in said)
            return campaign.self_test_result(found)
        start = time.monotonic()
        counted, out, said = load(options.mixed_load, root, options.seconds)
        races = said.count(RACE)
        findings = counted["findings"] + races
        if findings:
            print(out[:5000])
            print(said[:20000])
        figures = {"keys inserted": counted["inserted"], "keys erased": counted["erased"],
                   "keys asked": counted["asked"], "files": counted["files"],
                   "live filters replaced": counted["swaps"], "findings": findings}
        name = "threads, ThreadSanitizer" if sanitized else "threads"
        campaign.report(name, figures, time.monotonic() - start, campaign.file_system(root),
                        options.record)
        return 1 if findings else 0
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
