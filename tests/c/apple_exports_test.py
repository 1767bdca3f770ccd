"""Checks that the list of exports for Apple's linker has the functions of the version script.

Usage: apple_exports_test.py CMAKE SCRIPT MAP
"""
import pathlib
import subprocess
import sys
import tempfile

from symbols_test import mapped


def main(cmake, script, version_script):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "exports.txt"
        subprocess.run([cmake, f"-DMAP={version_script}", f"-DOUT={out}", "-P", script], check=True)
        listed = out.read_text(encoding="utf-8").splitlines()
    in_map = {f"_{name}" for name, _ in mapped(version_script)}
    problems = [f"in the list, not in the map: {name}" for name in sorted(set(listed) - in_map)]
    problems += [f"in the map, not in the list: {name}" for name in sorted(in_map - set(listed))]
    if len(listed) != len(set(listed)):
        problems.append("the list has a name twice")
    print("\n".join(problems) or f"{len(listed)} functions")
    return 1 if problems or not listed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
