"""Lists the functions that the headers of the C library declare."""
import pathlib
import re

DECLARATION = re.compile(r"^TAMIS_C_API (const char\*|\w+) (tamis_\w+)\(([^;]*)\);", re.MULTILINE)


def declarations(include):
    """Returns (result, name, number of arguments) of each function in the headers below a folder."""
    found = []
    for header in sorted(pathlib.Path(include).rglob("*.h")):
        text = header.read_text(encoding="utf-8")
        matches = DECLARATION.findall(text)
        marks = len(re.findall(r"^TAMIS_C_API ", text, re.MULTILINE))
        assert len(matches) == marks, f"{header}: {marks} functions, {len(matches)} understood"
        for result, name, arguments in matches:
            found.append((result, name, 0 if arguments == "void" else arguments.count(",") + 1))
    assert found, f"no functions in {include}"
    return found
