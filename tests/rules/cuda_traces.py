"""Finds traces of CUDA in libraries and programs: names of symbols, needed libraries, texts.

Usage: cuda_traces.py BINARY...        prints the traces, and fails if there are any
"""
import pathlib
import re
import sys

# A run of printable characters, as `strings` prints it. This also finds the names of symbols.
TEXT = re.compile(rb"[\x20-\x7e]{4,}")
TRACE = re.compile(rb"cuda|nvidia|libcu|nv_fatbin|__nv_|cubin", re.IGNORECASE)


def traces(binary):
    for text in TEXT.findall(pathlib.Path(binary).read_bytes()):
        if TRACE.search(text):
            yield text.decode()


def main(binaries):
    if not binaries:
        print(__doc__, file=sys.stderr)
        return 2
    found = 0
    for binary in binaries:
        for trace in sorted(set(traces(binary))):
            print(f"{binary}: {trace[:200]}")
            found += 1
    print(f"{found} traces in {len(binaries)} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
