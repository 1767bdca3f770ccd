"""The library never prints, exits or aborts: its objects must not refer to functions that do.

Usage: symbol_rules.py NM OBJECT...        (an object, an archive, or @FILE with one per line)
"""
import re
import subprocess
import sys

# Names as nm prints them, C++ names mangled. Formatting into memory (snprintf) is allowed, and so is std::terminate,
# which noexcept functions and std::thread refer to.
FORBIDDEN = re.compile(
    r"""
    abort | exit | _exit | _Exit | quick_exit | raise | __assert_fail | __assert
  | v?f?printf | v?dprintf | __v?f?printf_chk | __v?dprintf_chk
  | f?puts | f?putc | putchar | puts_unlocked | fputs_unlocked | perror | syslog
  | stdout | stderr
  | _ZSt[45]w?(cout|cerr|clog)          # std::cout and so on
  | _ZNSt8ios_base4InitC1Ev             # what including <iostream> leaves behind, up to g++ 12
  | _ZSt21__glibcxx_assert_fail\w*
  | _ZN3hwy5Abort\w*                    # HWY_ABORT, HWY_ASSERT
  """,
    re.VERBOSE,
)


def violations(nm, objects):
    output = subprocess.run(
        [nm, "--undefined-only", *objects], check=True, capture_output=True, text=True).stdout
    where = objects[0]
    for line in output.splitlines():
        if line.endswith(":"):
            where = line[:-1]
            continue
        # "U abort@GLIBC_2.2.5" in a shared library.
        symbol = line.split()[-1].split("@")[0] if line.strip() else ""
        if FORBIDDEN.fullmatch(symbol):
            yield f"{where}: refers to {symbol}"


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    nm, *objects = arguments
    if objects[0].startswith("@"):
        with open(objects[0][1:], encoding="utf-8") as listing:
            objects = listing.read().split("\n")
    found = list(violations(nm, [name for name in objects if name]))
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
