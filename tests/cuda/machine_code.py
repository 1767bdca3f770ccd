"""What nvcc made of the kernels, as far as their speed depends on it.

Usage: machine_code.py CUOBJDUMP OBJECT ARCHITECTURE...        (such as 80 90)
"""
import collections
import os
import re
import subprocess
import sys

# "@!P0 LDG.E.128.CONSTANT R4, ..." after the address of the instruction.
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
RESOURCES = re.compile(r"Function ([\w$.]+):\s*\n\s*(.*STACK.*)")

# Per kernel: what it must have, and how often at least. A block of 32 bytes is one load where there
# are such, else two.
WIDE_LOAD = r"LDG\.E\.(?:\w+\.)*128\b.*"
WIDEST_LOAD = r"LDG\.E\.(?:\w+\.)*256\b.*"
FIRST_WITH_WIDEST_LOAD = 100  # compute capability 10.0
SET_BITS = r"(RED|REDG|ATOM|ATOMG)\.E\.(?:\w+\.)*OR\b.*"
REQUIRED = {
    # A bucket is one word: of 32 bits, or of 64.
    "ContainsCallINS0_9CuckooRefILi8": [(r"LDG\.E", 2)],
    "ContainsCallINS0_9CuckooRefILi12": [(r"LDG\.E\.64", 2)],
    "ContainsCallINS0_9CuckooRefILi16": [(r"LDG\.E\.64", 2)],
    "InsertCallINS0_13SplitBlockRef": [(SET_BITS, 8)],
}
# The search for room in a cuckoo filter keeps what it has seen there, and the longer one of few keys
# some registers; all else has no use for it.
USES_LOCAL_MEMORY = r"ChangeCallINS0_9CuckooRefILi\d+EEELNS_6ChangeE0E|RetryCallINS0_9CuckooRef"
# Local memory, of spilled registers or of tables that are indexed.
FORBIDDEN = r"(LDL|STL)(\..*)?"
# Divisions of 64 bits are functions.
DIVISION = re.compile(r"__cuda_sm\d+_(?:div|rem)_\w+")


def dump(cuobjdump, *arguments):
    environment = dict(os.environ)
    environment["PATH"] = os.path.dirname(cuobjdump) + os.pathsep + environment.get("PATH", "")
    return subprocess.run([cuobjdump, *arguments], check=True, capture_output=True, text=True,
                          env=environment).stdout


def kernels(listing):
    """Yields the name and the instructions of each function of a listing."""
    for part in listing.split("Function : ")[1:]:
        name, _, body = part.partition("\n")
        yield name.strip(), collections.Counter(INSTRUCTION.findall(body))


def count(instructions, pattern):
    return sum(n for name, n in instructions.items() if re.fullmatch(pattern, name))


def required(architecture):
    block = (WIDEST_LOAD, 1) if int(architecture) >= FIRST_WITH_WIDEST_LOAD else (WIDE_LOAD, 2)
    return REQUIRED | {"ContainsCallINS0_13SplitBlockRef": [block]}


def problems(cuobjdump, binary, architecture):
    wanted_of = required(architecture)
    found = {name: 0 for name in wanted_of}
    listing = dump(cuobjdump, "-sass", "-arch", f"sm_{architecture}", binary)
    for name, instructions in kernels(listing):
        if sum(instructions.values()) < 10:
            yield f"{name}: only {sum(instructions.values())} instructions could be read"
        local = re.search(USES_LOCAL_MEMORY, name)
        for instruction in instructions:
            if not local and re.fullmatch(FORBIDDEN, instruction):
                yield f"{name}: has {instruction}"
        for kernel, wanted in wanted_of.items():
            if kernel not in name:
                continue
            found[kernel] += 1
            for pattern, times in wanted:
                if count(instructions, pattern) < times:
                    yield f"{name}: has fewer than {times} of {pattern}: {dict(instructions)}"
    for kernel, times in found.items():
        if times == 0:
            yield f"there is no kernel {kernel}"
    for division in set(DIVISION.findall(dump(cuobjdump, "-elf", "-arch", f"sm_{architecture}",
                                              binary))):
        yield f"divides: {division}"
    resources = RESOURCES.findall(
        dump(cuobjdump, "-res-usage", "-arch", f"sm_{architecture}", binary))
    if not resources:
        yield "there is no record of resources"
    for name, usage in resources:
        if re.search(USES_LOCAL_MEMORY, name):
            continue
        if not re.search(r"STACK:0\b", usage) or not re.search(r"LOCAL:0\b", usage):
            yield f"{name}: uses local memory: {usage}"


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    cuobjdump, binary, *architectures = arguments
    failed = False
    for architecture in architectures:
        for problem in problems(cuobjdump, binary, architecture):
            print(f"sm_{architecture}: {problem}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
