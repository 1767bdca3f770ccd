"""Checks that a program that only uses filters does not load the driver of a GPU.

Usage: driver_test.py PROGRAM   (filters_alone.cc)
The dynamic linker reports the libraries that a process loads. The CUDA runtime opens the driver's library at its
first call. Children that are forked after that could not use a GPU.
"""
import os
import subprocess
import sys

DRIVER = "libcuda.so"


def asks_for_driver(command):
    run = subprocess.run(command, env={**os.environ, "LD_DEBUG": "libs"}, text=True,
                         stderr=subprocess.PIPE, check=True)
    return DRIVER in run.stderr


def main(program):
    if not asks_for_driver([program, "all"]):
        print("listing all backends asked for no driver: this test would see nothing")
        return 1
    if asks_for_driver([program]):
        print("a filter by itself asked for the driver of a GPU")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
