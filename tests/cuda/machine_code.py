"""Checks the machine code of the kernels where their speed depends on it.

Usage: machine_code.py FOLDER CUOBJDUMP OBJECT ARCHITECTURE...        (such as 80 90)

nvdisasm must be in the folder of CUOBJDUMP. If CUOBJDUMP is empty, both come from PyPI, into a virtual environment in
FOLDER, which is kept for the next run. Status 69: this machine cannot get them.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import venv

PACKAGES = ["nvidia-cuda-cuobjdump==13.2.78", "nvidia-cuda-nvdisasm==13.2.78"]

# "@!P0 LDG.E.128.CONSTANT R4, ..." after the address of the instruction.
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
RESOURCES = re.compile(r"Function ([\w$.]+):\s*\n\s*(.*STACK.*)")

# Per kernel: a required instruction, its smallest and its largest count (None: no limit). A block of 32 bytes is one
# load if the device has such loads, otherwise two.
WIDE_LOAD = r"LDG\.E\.(?:\w+\.)*128\b.*"
WIDEST_LOAD = r"LDG\.E\.(?:\w+\.)*256\b.*"
FIRST_WITH_WIDEST_LOAD = 100  # compute capability 10.0
SET_BITS = r"(RED|REDG|ATOM|ATOMG)\.E\.(?:\w+\.)*OR\b.*"
ADD = r"(RED|REDG|ATOM|ATOMG)\.E\.(?:\w+\.)*ADD\b.*"
WARP_SUM = r"REDUX\.SUM.*"
LOAD = r"LDG\.E.*"
BYTE_LOAD = r"LDG\.E\.(?:\w+\.)*U8\b.*"
WORD_LOAD = r"LDG\.E\.CONSTANT"
VOTE = r"VOTE.*"
REQUIRED = {
    # A bucket is one word of 32 or of 64 bits.
    "12ContainsCallINS0_9CuckooRefILi8": [(LOAD, 2, None)],
    "12ContainsCallINS0_9CuckooRefILi12": [(r"LDG\.E\.64", 2, None)],
    "12ContainsCallINS0_9CuckooRefILi16": [(r"LDG\.E\.64", 2, None)],
    "InsertCallINS0_13SplitBlockRef": [(SET_BITS, 8, None)],
    # With nulls: a byte of the bitmap for each key. The number of nulls is added once per block.
    "MaskedInsertCallINS0_13SplitBlockRef": [(SET_BITS, 8, None), (ADD, 1, 1)],
    "12ContainsCallINS0_13SplitBlockRefENS0_12MaskedColumn": [(BYTE_LOAD, 1, 4)],
    "12ContainsCallINS0_9CuckooRefILi16EEENS0_12MaskedColumn": [(BYTE_LOAD, 1, 4)],
    # One load of a key and two of buckets, the sums of a warp and of a block, and one addition to memory.
    "CommonContainsCallINS0_9CuckooRefILi16EEELNS0_7AnswersE0ELb0ENS0_9KeyColumn": [
        (LOAD, 3, 3), (ADD, 0, 0)],
    "CommonContainsCallINS0_9CuckooRefILi16EEELNS0_7AnswersE2ELb1E": [
        (LOAD, 3, 3), (ADD, 1, 1), (WARP_SUM, 2, 2)],
    "CommonContainsCallINS0_13SplitBlockRefELNS0_7AnswersE0ELb0E": [
        (ADD, 0, 0), (VOTE, 1, None)],
    "CommonContainsCallINS0_13SplitBlockRefELNS0_7AnswersE2ELb1E": [(ADD, 1, 1), (WARP_SUM, 2, 2)],
    # With nulls one more byte, from the bitmap.
    "CommonContainsCallINS0_9CuckooRefILi16EEELNS0_7AnswersE0ELb0ENS0_12MaskedColumn": [
        (LOAD, 4, 4), (BYTE_LOAD, 1, 1), (ADD, 0, 0)],
    "CommonContainsCallINS0_13SplitBlockRefELNS0_7AnswersE0ELb0ENS0_12MaskedColumn": [
        (BYTE_LOAD, 1, 1), (ADD, 0, 0)],
    "CommonContainsCallINS0_13SplitBlockRefELNS0_7AnswersE0ELb1ENS0_12MaskedColumn": [
        (BYTE_LOAD, 1, 1), (ADD, 1, 1)],
    # Loads of a key, a multiplier and three slots. A slot of 12 bits is two loads of a byte.
    "CommonContainsCallINS0_7FuseRefILi8EEELNS0_7AnswersE0ELb0ENS0_9KeyColumn": [
        (LOAD, 5, 5), (BYTE_LOAD, 3, 3), (ADD, 0, 0)],
    "CommonContainsCallINS0_7FuseRefILi12EEELNS0_7AnswersE0ELb0ENS0_9KeyColumn": [
        (LOAD, 8, 8), (BYTE_LOAD, 6, 6), (ADD, 0, 0)],
    "CommonContainsCallINS0_7FuseRefILi16EEELNS0_7AnswersE2ELb1E": [
        (LOAD, 5, 5), (ADD, 1, 1), (WARP_SUM, 2, 2)],
    "CommonContainsCallINS0_7FuseRefILi32EEELNS0_7AnswersE0ELb0ENS0_12MaskedColumn": [
        (LOAD, 6, 6), (BYTE_LOAD, 1, 1), (ADD, 0, 0)],
    # The first and the last strings of a column, and odd bytes of short strings, are read byte by byte. All others
    # are read by words.
    "HashColumnCall": [(BYTE_LOAD, 1, 120), (WORD_LOAD, 60, None)],
}
# Largest number of instructions, without padding: the number when this was written, and a tenth more. Kernels of
# common lookups run each of their instructions once per key, except loops and sums.
BUDGETS = [
    (r"CommonContainsCallINS0_13SplitBlockRef.*ELb0ENS0_12MaskedColumn", 122),
    (r"CommonContainsCallINS0_13SplitBlockRef.*ELb1ENS0_12MaskedColumn", 168),
    (r"CommonContainsCallINS0_9CuckooRef.*ELb0ENS0_12MaskedColumn", 150),
    (r"CommonContainsCallINS0_9CuckooRef.*ELb1ENS0_12MaskedColumn", 199),
    (r"CommonContainsCallINS0_13SplitBlockRefELNS0_7AnswersE\dELb0E", 112),
    (r"CommonContainsCallINS0_13SplitBlockRefELNS0_7AnswersE\dELb1E", 160),
    (r"CommonContainsCallINS0_9CuckooRefILi\d+EEELNS0_7AnswersE\dELb0E", 138),
    (r"CommonContainsCallINS0_9CuckooRefILi\d+EEELNS0_7AnswersE\dELb1E", 184),
    (r"CommonContainsCallINS0_7FuseRef.*ELb0ENS0_12MaskedColumn", 177),
    (r"CommonContainsCallINS0_7FuseRef.*ELb1ENS0_12MaskedColumn", 227),
    (r"CommonContainsCallINS0_7FuseRefILi\d+EEELNS0_7AnswersE\dELb0E", 164),
    (r"CommonContainsCallINS0_7FuseRefILi\d+EEELNS0_7AnswersE\dELb1E", 211),
    (r"12ContainsCall.*MaskedColumn", 425),
    (r"12ContainsCall", 412),
    (r"MaskedInsertCall", 790),
    (r"InsertCall", 640),
    (r"ListOnesCall", 190),
    (r"CombineCall", 42),
]
# Largest number of registers of a thread with which a multiprocessor is full: with 2048 threads, or with 1536.
REGISTERS = {80: 32, 90: 32, 100: 32}
REGISTERS_ELSE = 40
# Hashing long strings keeps many accumulators at a time, and retries run few threads.
USES_MORE_REGISTERS = r"HashColumnCall|RetryCall"
# The search for room in a cuckoo filter stores the buckets that it has seen in local memory, and the longer search of
# retries stores some registers there. No other kernel needs local memory.
USES_LOCAL_MEMORY = r"ChangeCallINS0_9CuckooRefILi\d+EEELNS_6ChangeE0E|RetryCallINS0_9CuckooRef"
# Local memory, for spilled registers or for indexed tables.
FORBIDDEN = r"(LDL|STL)(\..*)?"
# Divisions of 64 bits are function calls.
DIVISION = re.compile(r"__cuda_sm\d+_(?:div|rem)_\w+")


def unavailable(why):
    print(f"the test of the machine code is skipped: {why}")
    sys.exit(69)


def from_pypi(folder):
    """Returns the path of cuobjdump in a virtual environment."""
    folder = pathlib.Path(folder) / "venv"
    python = folder / "bin/python"
    try:
        if not python.exists():
            venv.create(folder, with_pip=True, clear=True)
    except (subprocess.CalledProcessError, OSError) as error:
        unavailable(f"no virtual environment can be made here: {error}")
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable("packages cannot be had from PyPI:\n" + done.stderr[-2000:])
    found = sorted(folder.glob("lib/python*/site-packages/nvidia/**/bin/cuobjdump"))
    if not found:
        print("the packages have no cuobjdump")
        sys.exit(1)
    return str(found[0])


def dump(cuobjdump, *arguments):
    environment = dict(os.environ)
    environment["PATH"] = os.path.dirname(cuobjdump) + os.pathsep + environment.get("PATH", "")
    return subprocess.run([cuobjdump, *arguments], check=True, capture_output=True, text=True,
                          env=environment).stdout


def kernels(listing):
    """Yields the name and the instructions of each function of a listing."""
    for part in listing.split("Function : ")[1:]:
        name, _, body = part.partition("\n")
        found = collections.Counter(INSTRUCTION.findall(body))
        del found["NOP"]
        yield name.strip(), found


def count(instructions, pattern):
    return sum(n for name, n in instructions.items() if re.fullmatch(pattern, name))


def required(architecture):
    block = ((WIDEST_LOAD, 1, 1) if architecture >= FIRST_WITH_WIDEST_LOAD else (WIDE_LOAD, 2, 2))
    wanted = REQUIRED | {"12ContainsCallINS0_13SplitBlockRef": [block]}
    for name in REQUIRED:
        if name.startswith("CommonContainsCallINS0_13SplitBlockRef"):
            wanted[name] = REQUIRED[name] + [block]
    return wanted


def problems_of_code(name, instructions, wanted_of, found):
    total = sum(instructions.values())
    if total < 10:
        yield f"{name}: only {total} instructions could be read"
    if not re.search(USES_LOCAL_MEMORY, name):
        for instruction in instructions:
            if re.fullmatch(FORBIDDEN, instruction):
                yield f"{name}: has {instruction}"
    for pattern, most in BUDGETS:
        if re.search(pattern, name):
            if total > most:
                yield f"{name}: has {total} instructions, and its budget is {most}"
            break
    for kernel, wanted in wanted_of.items():
        if kernel not in name:
            continue
        found[kernel] += 1
        for pattern, least, most in wanted:
            times = count(instructions, pattern)
            if times < least or (most is not None and times > most):
                yield (f"{name}: has {times} of {pattern}, not {least} to {most}: "
                       f"{dict(instructions)}")


def problems_of_resources(name, usage, architecture):
    if not re.search(USES_LOCAL_MEMORY, name):
        if not re.search(r"STACK:0\b", usage) or not re.search(r"LOCAL:0\b", usage):
            yield f"{name}: uses local memory: {usage}"
    if not re.search(USES_MORE_REGISTERS, name):
        registers = int(re.search(r"REG:(\d+)", usage).group(1))
        most = REGISTERS.get(architecture, REGISTERS_ELSE)
        if registers > most:
            yield f"{name}: takes {registers} registers, and its limit is {most}"


def problems(cuobjdump, binary, architecture):
    wanted_of = required(architecture)
    found = {name: 0 for name in wanted_of}
    selected = ("-arch", f"sm_{architecture}", binary)
    for name, instructions in kernels(dump(cuobjdump, "-sass", *selected)):
        yield from problems_of_code(name, instructions, wanted_of, found)
    for kernel, times in found.items():
        if times == 0:
            yield f"there is no kernel {kernel}"
    for division in set(DIVISION.findall(dump(cuobjdump, "-elf", *selected))):
        yield f"divides: {division}"
    resources = RESOURCES.findall(dump(cuobjdump, "-res-usage", *selected))
    if not resources:
        yield "there is no record of resources"
    for name, usage in resources:
        yield from problems_of_resources(name, usage, architecture)


def main(arguments):
    if len(arguments) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    folder, cuobjdump, binary, *architectures = arguments
    cuobjdump = cuobjdump or from_pypi(folder)
    failed = False
    for architecture in architectures:
        for problem in problems(cuobjdump, binary, int(architecture)):
            print(f"sm_{architecture}: {problem}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
