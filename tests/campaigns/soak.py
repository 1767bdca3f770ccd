"""Changes filters of every kind for hours, and compares them with the exact sets of their keys.

Usage: soak.py TAMIS_SOAK [--seconds N | --cycles N] [--state FOLDER] [--record] [--self-test]

With --state, continues where the last run with the same folder ended.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import campaign


def soak(program, folder, *arguments):
    """Returns the counts that the program prints, by name. Prints all of its output."""
    done = subprocess.run([program, folder, *arguments], stdout=subprocess.PIPE, text=True,
                          check=False, env=campaign.environment())
    counted = dict(re.findall(r"(\w+)=(\S+)", done.stdout.splitlines()[-1] if done.stdout else ""))
    if "findings" not in counted:
        raise RuntimeError(f"{program}: status {done.returncode}: {done.stdout[-2000:]}")
    for line in done.stdout.splitlines()[:20]:
        if line.startswith("FINDING"):
            print(line)
    return counted


def main():
    arguments = campaign.parser(__doc__)
    arguments.add_argument("soak", type=os.path.abspath)
    arguments.add_argument("--seconds", type=campaign.positive(float), default=60)
    arguments.add_argument("--cycles", type=campaign.positive(int))
    arguments.add_argument("--state", help="a folder in which it goes on")
    options = arguments.parse_args()
    root = campaign.scratch(options.folder)
    try:
        if options.self_test:
            found = {}
            for seed, name in (("lost", "a key is lost"), ("rate", "there are more keys than known"),
                               ("memory", "memory is kept")):
                folder = root / seed
                folder.mkdir()
                counted = soak(options.soak, folder, "--seconds", "0", "--seed", seed)
                found[name] = int(counted["findings"]) > 0
            return campaign.self_test_result(found)
        folder = pathlib.Path(options.state or root)
        folder.mkdir(exist_ok=True)
        limit = ("--cycles", options.cycles) if options.cycles else ("--seconds", options.seconds)
        start = time.monotonic()
        counted = soak(options.soak, folder, limit[0], str(limit[1]))
        figures = {"keys inserted and erased": int(counted["cycles"]),
                   "keys asked that are in": int(counted["asked"]),
                   "false negatives": int(counted["false_negatives"]),
                   "keys asked that are not in": int(counted["absent"]),
                   "max. growth of memory in %": max(0.0, float(counted["growth"])),
                   "findings": int(counted["findings"])}
        campaign.report("soak", figures, time.monotonic() - start, campaign.file_system(folder),
                        options.record)
        return 1 if figures["findings"] else 0
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
