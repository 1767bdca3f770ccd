"""Takes the example program out of README.md: its first ```cpp block with a main function.

Usage: readme_example.py README.md OUTPUT.cc
"""
import pathlib
import re
import sys


def program(text):
    for block in re.findall(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if "int main(" in block:
            return block
    raise SystemExit("the README has no ```cpp block with a main function")


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(program(pathlib.Path(sys.argv[1]).read_text()))
