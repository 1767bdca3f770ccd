"""Compares membership filters with the builder of pymilvus. 10^5 keys, inserted by both, give the same
bytes. For 10^6 keys, the library gives the same answers as Python code that reads the bits.

Usage: milvus_peer.py FOLDER OUR_PROGRAM

FOLDER is for files and for a virtual environment, which is kept for the next run. Exits with status 77
if this machine cannot have pymilvus or xxhash.
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import venv

PACKAGES = ["pymilvus>=3.0.2", "xxhash"]
RATES = ["0.05", "0.005", "0.0001"]
ASKED = 1_000_000
CHECKED = 150_000  # number of these that are compared with the answers of Python
INSERTED = 100_000
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947,
         0x5C6BFB31)


def unavailable(why):
    print(f"the test beside pymilvus is skipped: {why}")
    sys.exit(77)


def fail(problem):
    print(f"FAILED: {problem}")
    sys.exit(1)


def inside_environment(folder):
    """Restarts this program with an interpreter that has the packages, if the current one lacks them."""
    try:
        import pymilvus
        import xxhash
        return pymilvus.build_bloom_filter, xxhash
    except (ImportError, AttributeError):
        pass
    python = folder / "venv/bin/python"
    if pathlib.Path(sys.executable) == python:
        unavailable("pymilvus cannot be imported, or has no such filters")
    try:
        if not python.exists():
            venv.create(folder / "venv", with_pip=True, clear=True)
    except (subprocess.CalledProcessError, OSError) as error:
        unavailable(f"no virtual environment can be made here: {error}")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable("packages cannot be had from PyPI:\n" + done.stderr[-2000:])
    sys.exit(subprocess.run([python, __file__, *sys.argv[1:]], check=False).returncode)


def integer(i):
    x = (i + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    x ^= x >> 31
    return x - 2**64 if x >= 2**63 else x


def text(i):
    return f"\u00e9\u20ac{i}" + "x" * (i % 40)


def answers(blob, digests):
    """Yields whether each digest is in the filter, by the description of the format."""
    (count,) = struct.unpack_from("<I", blob, 24)
    words = struct.unpack_from(f"<{8 * count}I", blob, 32)
    for h in digests:
        at = 8 * ((h >> 32) * count >> 32)
        yield all(words[at + w] >> ((h * salt) % 2**32 >> 27) & 1
                  for w, salt in enumerate(SALTS))


def main(folder, ours):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    build, xxhash = inside_environment(folder)
    here, there = folder / "here", folder / "there"
    for sub in (here, there):
        shutil.rmtree(sub, ignore_errors=True)
        sub.mkdir()
    domains = {"int64": (integer, lambda key: struct.pack("<q", key)),
               "utf8": (text, str.encode)}
    for domain, (key, _) in domains.items():
        keys = [key(i) for i in range(INSERTED)]
        for rate in RATES:
            (there / f"{domain}_{rate}.mbf1").write_bytes(build(keys, float(rate)))
    subprocess.run([ours, "make", here], check=True)
    subprocess.run([ours, "ask", there], check=True)
    for domain, (key, encode) in domains.items():
        digests = [xxhash.xxh64_intdigest(encode(key(i))) for i in range(CHECKED)]
        for rate in RATES:
            name = f"{domain}_{rate}"
            blob = (there / f"{name}.mbf1").read_bytes()
            if (here / f"{name}.mbf1").read_bytes() != blob:
                fail(f"{name}: the bytes differ")
            bits = (there / f"{name}.answers").read_bytes()
            if len(bits) != ASKED // 8 or bits[:INSERTED // 8] != b"\xff" * (INSERTED // 8):
                fail(f"{name}: a key that was inserted is missing")
            for i, want in enumerate(answers(blob, digests)):
                if (bits[i // 8] >> i % 8 & 1) != want:
                    fail(f"{name}: key {i} has another answer")
            found = int.from_bytes(bits, "little").bit_count() - INSERTED
            print(f"{name}: same bytes; same answers, {found} of {ASKED - INSERTED} others pass")
            if found / (ASKED - INSERTED) > 1.5 * float(rate):
                fail(f"{name}: far above its rate")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
