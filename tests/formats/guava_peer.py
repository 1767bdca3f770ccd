"""Compares filters of every funnel and strategy with Guava itself. 10^5 keys, inserted by both libraries, give the
same file. For 10^6 keys, both libraries give the same answers from either file.

Usage: guava_peer.py WORK_FOLDER OUR_PROGRAM JAVA_SOURCE

Exits with status 77 if the JDK or Guava is missing (Debian: default-jdk-headless, libguava-java). The
jar is TAMIS_GUAVA_JAR, by default the jar of Debian.
"""
import os
import pathlib
import shutil
import subprocess
import sys

JARS = [os.environ.get("TAMIS_GUAVA_JAR", ""), "/usr/share/java/guava.jar"]
CLASS = "com.google.common.hash.GuavaFilters"
FILTERS = 10
ASKED = 1_000_000
INSERTED = 100_000


def fail(problem):
    print(f"FAILED: {problem}")
    sys.exit(1)


def main(work, ours, source):
    jar = next((jar for jar in JARS if jar and pathlib.Path(jar).is_file()), None)
    if not (jar and shutil.which("javac") and shutil.which("java")):
        print("skipped: needs javac, java and guava.jar (default-jdk-headless, libguava-java)")
        return 77
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    classes, here, there = work / "classes", work / "here", work / "there"
    for folder in (classes, here, there):
        folder.mkdir(parents=True)
    subprocess.run(["javac", "-cp", jar, "-d", classes, source], check=True)
    java = ["java", "-cp", f"{classes}{os.pathsep}{jar}", CLASS]
    subprocess.run([ours, "make", here], check=True)
    subprocess.run([*java, "make", there], check=True)
    answers = {}
    for name, program in (("here", [ours]), ("Guava", java)):
        for folder in (here, there):
            subprocess.run([*program, "ask", folder], check=True)
            for path in sorted(folder.glob("*.guava_answers")):
                answers[name, folder.name, path.stem] = path.read_bytes()
                path.unlink()
    names = sorted(path.stem for path in there.glob("*.guava"))
    if len(names) != FILTERS or len(answers) != 4 * FILTERS:
        fail(f"{len(names)} filters and {len(answers)} answers")
    for name in names:
        if (here / f"{name}.guava").read_bytes() != (there / f"{name}.guava").read_bytes():
            fail(f"{name}: the files differ")
        every = {answers[side, folder, name] for side in ("here", "Guava")
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
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
