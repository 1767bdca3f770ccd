"""Checks that the lists of exports for macOS and Windows have the functions of the version script.

Usage: exports_test.py CMAKE SCRIPT MAP
"""
import pathlib
import subprocess
import sys
import tempfile

from symbols_test import mapped

# The first lines of a list, and the text before each name.
FORMATS = {"APPLE": ([], "_"), "WINDOWS": (["EXPORTS"], "  ")}


def main(cmake, script, version_script):
    names = {name for name, _ in mapped(version_script)}
    problems = [] if names else ["the map has no functions"]
    for form, (first, before) in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "exports"
            subprocess.run([cmake, f"-DFORMAT={form}", f"-DMAP={version_script}", f"-DOUT={out}", "-P", script],
                           check=True)
            lines = out.read_text(encoding="utf-8").splitlines()
        if lines[:len(first)] != first:
            problems.append(f"{form}: begins with {lines[:1]}")
        listed = lines[len(first):]
        expected = {before + name for name in names}
        problems += [f"{form}: in the list, not in the map: {name}" for name in sorted(set(listed) - expected)]
        problems += [f"{form}: in the map, not in the list: {name}" for name in sorted(expected - set(listed))]
        if len(listed) != len(set(listed)):
            problems.append(f"{form}: the list has a name twice")
    print("\n".join(problems) or f"{len(names)} functions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
