"""Checks that libtamis_c exports the functions of its headers, each with the version of the map.

Usage: symbols_test.py NM LIBRARY HEADERS MAP
"""
import pathlib
import re
import subprocess
import sys

from declarations import declarations


def exported(nm, library):
    """Returns name and version of every linkable symbol, except the versions themselves."""
    output = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True,
                            text=True).stdout
    symbols = set()
    for line in output.splitlines():
        kind, symbol = line.split()[-2:]
        if kind != "A":
            symbols.add(tuple(re.split("@+", symbol)))
    return symbols


def mapped(path):
    """Returns name and version of every symbol in a linker's version script."""
    symbols = set()
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for version, body in re.findall(r"^(\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        symbols |= {(name, version) for name in re.findall(r"^\s+(tamis_\w+);", body, re.MULTILINE)}
    return symbols


def main(nm, library, headers, version_script):
    in_library = exported(nm, library)
    in_map = mapped(version_script)
    in_headers = {name for _, name, _ in declarations(headers)}
    problems = [f"exported, not in the map: {symbol}" for symbol in sorted(in_library - in_map)]
    problems += [f"in the map, not exported: {symbol}" for symbol in sorted(in_map - in_library)]
    names = {name for name, _ in in_map}
    problems += [f"in the map, not declared: {name}" for name in sorted(names - in_headers)]
    problems += [f"declared, not in the map: {name}" for name in sorted(in_headers - names)]
    print("\n".join(problems) or f"{len(in_library)} functions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
