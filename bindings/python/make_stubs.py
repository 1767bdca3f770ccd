"""Writes the stubs tamis/*.pyi with nanobind.stubgen, from the package that is installed.

Usage: make_stubs.py [--check]

--check: writes nothing. Status 1 if a stub differs from the generated one.

Types come from the signatures of the bindings, from the annotations of live.py, and from
stubs.pattern. parquet.py and text.py have no stubs: type checkers read their annotations.
"""
import difflib
import importlib
import pathlib
import re
import sys

from nanobind.stubgen import StubGen, load_pattern_file

HERE = pathlib.Path(__file__).resolve().parent
STUBS = {"tamis": "__init__", "tamis.join": "join", "tamis.live": "live", "tamis.redis": "redis"}
MOST_COLUMNS = 100


def wrapped(line):
    """Returns a declaration in lines of at most MOST_COLUMNS, broken between arguments."""
    lines, (current, *parts) = [], re.split(r", (?![^\[]*\])", line)
    for part in parts:
        if len(current) + len(part) + 3 > MOST_COLUMNS:
            lines.append(current + ",")
            current = " " * (line.index("(") + 1) + part
        else:
            current += ", " + part
    return "\n".join([*lines, current])


def formatted(text):
    """Returns a stub with public names and few blank lines."""
    text = re.sub(r"\btamis\._", "_", text)
    text = re.sub(r"str \| os\.PathLike(?!\[)", "_Path", text)
    # The bindings accept None in order to raise a helpful error.
    text = re.sub(r"(: _(?:Key|Name)) \| None(?=[,)])", r"\1", text)
    text = re.sub(r"import \(\n(.*?)\n\)", lambda names: f"import ({' '.join(names[1].split())})",
                  text, flags=re.DOTALL)
    for before, after in ((":\n    pass\n", ": ...\n"), ("*args)", "*args: object)"),
                          ("Any | None = None", "Any = None"), ("'", '"')):
        text = text.replace(before, after)
    made, previous = [], ""
    for line in filter(None, text.splitlines()):
        imports = previous.startswith(("import", "from")), line.startswith(("import", "from"))
        if not line.startswith(" ") and (
                previous.startswith(" ") or line.endswith(":") or imports == (True, False)):
            made.append("")
        made.append(wrapped(line))
        previous = line
    return "\n".join(made) + "\n"


def stub(name):
    """Returns the stub of a module."""
    module = importlib.import_module(name)
    generator = StubGen(module, include_docstrings=False,
                        patterns=load_pattern_file(HERE / "stubs.pattern"))
    generator.put(module)
    own_import = f"import {name}\n"
    return formatted(generator.get().replace(own_import, "", name == "tamis"))


def main(check):
    # The package in this folder has no extension modules, so it must not be imported.
    sys.path[:] = [path for path in sys.path if pathlib.Path(path).resolve() != HERE]
    stale = False
    for name, file in STUBS.items():
        try:
            text = stub(name)
        except ImportError as error:
            if name != "tamis.redis":
                raise
            print(f"{name} is left out: {error}")
            continue
        path = HERE / f"tamis/{file}.pyi"
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            stale = True
            sys.stdout.writelines(difflib.unified_diff(
                path.read_text().splitlines(True), text.splitlines(True), str(path), "generated"))
    if stale:
        sys.exit(f"Update the stubs: {sys.executable} {HERE / 'make_stubs.py'}")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    main(bool(sys.argv[1:]))
