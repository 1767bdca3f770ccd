"""Checks that libtamis_c exports the functions of its headers, each with the version of the map.

Usage: symbols_test.py NM LIBRARY HEADERS MAP. The exports of a DLL have no versions, and nm does not read them.
"""
import pathlib
import re
import struct
import subprocess
import sys

from declarations import declarations


def exported_by_dll(library):
    """Returns the names that a DLL exports, from its export directory (PE32+)."""
    data = pathlib.Path(library).read_bytes()

    def words(offset, count=1, form="I"):
        return struct.unpack_from(f"<{count}{form}", data, offset)

    header = words(0x3c)[0]
    _, sections, _, _, _, optional_bytes, _ = struct.unpack_from("<HHIIIHH", data, header + 4)
    table = [words(header + 24 + optional_bytes + 40 * i + 8, 4) for i in range(sections)]

    def offset_of(address):
        for bytes_in_memory, begin, _, raw in table:
            if begin <= address < begin + bytes_in_memory:
                return address - begin + raw
        raise SystemExit(f"no section has the address {address:#x}")

    def text_at(address):
        begin = offset_of(address)
        return data[begin:data.index(b"\0", begin)].decode()

    directory = words(offset_of(words(header + 24 + 112)[0]), 10)
    functions, names, first_name = directory[5], directory[6], directory[8]
    if functions != names:
        raise SystemExit(f"{functions} exports, but {names} names")
    return {text_at(name) for name in words(offset_of(first_name), names)}


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
    in_map = mapped(version_script)
    if library.endswith(".dll"):
        versions = dict(in_map)
        in_library = {(name, versions.get(name)) for name in exported_by_dll(library)}
    else:
        in_library = exported(nm, library)
    in_headers = {name for _, name, _ in declarations(headers)}
    problems = [f"exported, not in the map: {symbol}" for symbol in sorted(in_library - in_map, key=str)]
    problems += [f"in the map, not exported: {symbol}" for symbol in sorted(in_map - in_library)]
    names = {name for name, _ in in_map}
    problems += [f"in the map, not declared: {name}" for name in sorted(names - in_headers)]
    problems += [f"declared, not in the map: {name}" for name in sorted(in_headers - names)]
    print("\n".join(problems) or f"{len(in_library)} functions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
