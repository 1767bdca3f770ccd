"""Checks that every kind, format, command and output has the starred steps of the lists in docs/DESIGN.md.

Usage: steps.py ROOT
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])


def text(*paths):
    return "\n".join(path.read_text(encoding="utf-8") for pattern in paths for path in sorted(ROOT.glob(pattern)))


def kinds():
    """Yields (name, number) of every kind: kCuckoo8 = 2 is cuckoo8, kSplitBlock = 1 is split-block."""
    body = re.search(r"enum class FilterKind : uint32_t \{(.*?)\}", text("core/include/tamis/file/file.h"), re.S)[1]
    for enumerator, number in re.findall(r"k(\w+) = (\d+)", body):
        yield re.sub(r"(?<!^)([A-Z])", r"-\1", enumerator).lower(), int(number)


def formats():
    return re.findall(r'RowOf<.*?>+\(\s*"([^"]+)"', text("formats/src/foreign_filter.cc"), re.S)


def commands():
    """Yields "bank build" for the command `tamis bank build`."""
    for path in sorted([*ROOT.glob("tools/commands/*.cc"), *ROOT.glob("tools/redis/*.cc")]):
        group = next((g for g in ("bank", "parquet") if path.stem.startswith(g)), "")
        group = "redis" if path.parent.name == "redis" else group
        for name in re.findall(r'AddCommand\("([^"]+)"', path.read_text(encoding="utf-8")):
            yield name if name == group else f"{group} {name}".strip()


def outputs():
    """Returns (number, name) of every Output, such as (1, "Bits"). The C library uses these numbers."""
    types = re.search(r"enum class Type : uint8_t \{(.*?)\}", text("core/src/bulk/output.h"))[1]
    return list(enumerate(re.findall(r"k(\w+)", types), 1))


def missing_of_kind(name, number):
    snake, upper = name.replace("-", "_"), name.replace("-", "_").upper()
    rows = text("core/src/filters/kinds/*/*.cc")
    if not re.search(rf'(?<![\w-])"{name}"', rows):
        yield f"step 3: no row in core/src/filters/kinds has the name {name}"
    if not re.search(rf"TAMIS_{upper} = {number}\b", text("bindings/c/include/tamis/c/base.h")):
        yield f"step 6: bindings/c/include/tamis/c/base.h has no TAMIS_{upper}"
    if f"| {number} | {name} |" not in text("core/FORMAT.md"):
        yield f"step 7: core/FORMAT.md has no row for {name}"
    if not list((ROOT / "tests/golden").glob(f"{snake}_v*")):
        yield f"step 7: tests/golden has no file of {name}"
    docs = text("docs/filters.md")
    family, bits = re.match(r"([a-z-]+)(\d*)", name).groups()
    if name not in docs and not re.search(rf"{family}Filter<[^>]*\b{bits}\b", docs, re.I):
        yield f"step 7: docs/filters.md does not mention {name}"


def missing_of_format(name):
    family = {"redisbloom": "redis_bloom", "redisbloom-cf": "redis_bloom"}.get(name, name.split(":")[0])
    if not list(ROOT.glob(f"tests/golden/{family}/*")):
        yield f"step 3: tests/golden/{family} has no file"
    if family not in text("tests/queryable/holders.cc") and family != "milvus":  # has blocks like those of core
        yield f"step 3: tests/queryable/holders.cc has no {family}"
    if not re.search(family.replace("_", ""), text("tests/fuzz/fuzz_*.cc").replace("_", ""), re.I):
        yield f"step 4: no fuzz target has {family}"
    if not re.search(rf"^##.*{family.replace('_', '')}", text("docs/formats.md"), re.M | re.I):
        yield f"step 5: docs/formats.md has no section on {family}"


def missing_of_command(name):
    tests = text("tests/tools/*.cc", "tests/parquet/**/*.cc", "tests/parquet/**/*.py", "tests/redis/*.cc")
    if not re.search(rf"(tamis|command}}) {name}\b", tests):
        yield f"step 2: no test runs tamis {name}"
    if not re.search(rf"`(tamis )?{name}\b|tamis {name}\b", text("docs/*.md")):
        yield f"step 3: docs do not mention tamis {name}"


def missing_of_output(number, name):
    c = {"Bits": "TAMIS_BITS", "Bytes": "TAMIS_BYTES", "Rows32": "TAMIS_ROWS32", "Rows64": "TAMIS_ROWS64",
         "Count": "TAMIS_COUNT"}.get(name, f"TAMIS_{name.upper()}")
    if not re.search(rf"{c} = {number}\b", text("bindings/c/include/tamis/c/filter.h")):
        yield f"step 3: bindings/c/include/tamis/c/filter.h has no {c} = {number}"
    if f"case {c}:" not in text("bindings/c/src/many_keys.cc"):
        yield f"step 3: bindings/c/src/many_keys.cc has no case {c}"
    if not re.search(rf"^  [^()]+\b{name.lower()}\b( = 0)?;", text("tests/queryable/contract_test.cc"), re.M):
        yield f"step 4: Answers of tests/queryable/contract_test.cc has no {name.lower()}"


class StepsTest(unittest.TestCase):
    def check(self, found, at_least, missing):
        found = list(found)
        self.assertGreaterEqual(len(found), at_least, found)
        for thing in found:
            with self.subTest(thing):
                self.assertEqual(list(missing(thing)), [])

    def test_kinds(self):
        self.check(kinds(), 7, lambda kind: missing_of_kind(*kind))

    def test_formats(self):
        self.check(formats(), 16, missing_of_format)

    def test_commands(self):
        self.check(commands(), 25, missing_of_command)

    def test_outputs(self):
        self.check(outputs(), 5, lambda output: missing_of_output(*output))

    def test_unknown_names_lack_every_step(self):
        self.assertEqual(len(list(missing_of_kind("sieve", 99))), 5)
        self.assertEqual(len(list(missing_of_format("sieve:text"))), 4)
        self.assertEqual(len(list(missing_of_command("sieve"))), 2)
        self.assertEqual(len(list(missing_of_output(6, "Sieves"))), 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
