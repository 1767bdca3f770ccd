"""Compares filters of every sort of key, version and seed with Spark itself. 10^5 keys, inserted and merged by
both libraries, give the same file. For 10^6 keys, both libraries give the same answers from either file. Both
merge the same filters.

Usage: spark_peer.py WORK_FOLDER OUR_PROGRAM JAVA_SOURCE

Exits with status 77 if the JDK or Spark is missing. The jars are the paths in TAMIS_SPARK_JARS, separated by
colons (spark-sketch_*.jar), or the jar in the package pyspark of this Python. A jar of Spark 4.1 or later has all
versions of the filter, and an older jar has version 1.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

CLASS = "SparkFilters"
SORTS = 4
ASKED = 1_000_000
INSERTED = 100_000


def fail(problem):
    print(f"FAILED: {problem}")
    sys.exit(1)


def find_jars():
    named = os.environ.get("TAMIS_SPARK_JARS", "")
    if named:
        return [pathlib.Path(jar) for jar in named.split(os.pathsep)]
    pyspark = importlib.util.find_spec("pyspark")
    if pyspark is None:
        return []
    return sorted((pathlib.Path(pyspark.origin).parent / "jars").glob("spark-sketch_*.jar"))


def compare(jar, work, ours, source):
    classes, here, there = work / "classes", work / "here", work / "there"
    for folder in (classes, here, there):
        folder.mkdir(parents=True)
    subprocess.run(["javac", "-cp", jar, "-d", classes, source], check=True)
    java = ["java", "-cp", f"{classes}{os.pathsep}{jar}", CLASS]
    subprocess.run([*java, "make", there], check=True)
    names = sorted(path.stem for path in there.glob("*.spark"))
    if len(names) not in (SORTS, 3 * SORTS):
        fail(f"{len(names)} filters")
    subprocess.run([ours, "make", here], check=True)
    for path in here.glob("*.spark"):
        if path.stem not in names:
            path.unlink()
    answers = {}
    for name, program in (("here", [ours]), ("Spark", java)):
        for folder in (here, there):
            subprocess.run([*program, "ask", folder], check=True)
            for path in sorted(folder.glob("*.spark_answers")):
                answers[name, folder.name, path.stem] = path.read_bytes()
                path.unlink()
    if len(answers) != 4 * len(names):
        fail(f"{len(names)} filters and {len(answers)} answers")
    for name in names:
        if (here / f"{name}.spark").read_bytes() != (there / f"{name}.spark").read_bytes():
            fail(f"{name}: the files differ")
        every = {answers[side, folder, name] for side in ("here", "Spark")
                 for folder in ("here", "there")}
        if len(every) != 1:
            fail(f"{name}: the answers differ")
        bits = every.pop()
        if len(bits) != ASKED // 8 or bits[:INSERTED // 8] != b"\xff" * (INSERTED // 8):
            fail(f"{name}: a key that was inserted is missing")
        found = bin(int.from_bytes(bits, "little")).count("1") - INSERTED
        print(f"{name}: same file; same answers, {found} of {ASKED - INSERTED} others pass")
        if not 0.005 < found / (ASKED - INSERTED) < 0.02:
            fail(f"{name}: not the rate of 1%")
    subprocess.run([ours, "merges", here], check=True)
    subprocess.run([*java, "merges", there], check=True)
    mine = set((here / "merges").read_text().splitlines())
    theirs = (there / "merges").read_text().splitlines()
    merged = sum(not line.endswith(" no") for line in theirs)
    if not set(theirs) <= mine or not 0 < merged < len(theirs):
        fail(f"other merges: {sorted(set(theirs) - mine)}")
    print(f"{len(theirs)} pairs: the same {merged} merge, to as many bits")


def main(work, ours, source):
    jars = find_jars()
    if not (jars and shutil.which("javac") and shutil.which("java")):
        print("skipped: needs javac and java (default-jdk-headless), and pyspark or TAMIS_SPARK_JARS")
        return 77
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    for jar in jars:
        print(f"{jar.name}:")
        compare(jar, work / jar.stem, ours, source)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
