"""Compiles every public header alone, because a unity build hides a missing include. Programs without exceptions and
RTTI may include them, too.

Usage: headers_alone.py COMPILER ROOT
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys


def main(compiler, root):
    folders = sorted(root.glob("**/include/tamis"))
    folders = [folder.parent for folder in folders if "build" not in folder.relative_to(root).parts]
    headers = sorted(header for folder in folders for header in folder.rglob("*.h") if "cuda" not in header.parts)
    command = [compiler, "-std=c++20", "-fsyntax-only", "-fno-exceptions", "-fno-rtti", "-x", "c++", *(f"-I{folder}" for folder in folders)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda header: subprocess.run([*command, header], capture_output=True, text=True), headers))
    failures = [result.stderr for result in results if result.returncode != 0]
    print("\n".join(failures))
    print(f"{len(headers)} headers, {len(failures)} do not compile alone")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
