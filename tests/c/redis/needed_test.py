"""What the two libraries for C need when they run: libtamis_c no hiredis, the other one both.

Usage: needed_test.py READELF LIBTAMIS_C LIBTAMIS_REDIS_C
"""
import re
import subprocess
import sys


def needed(readelf, library):
    output = subprocess.run([readelf, "-d", library], check=True, capture_output=True, text=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output.stdout)


def main(readelf, core, redis):
    of_core, of_redis = needed(readelf, core), needed(readelf, redis)
    print(of_core, of_redis, sep="\n")
    problems = [name for name in of_core if "redis" in name or "tamis" in name]
    wanted = ["libhiredis", "libtamis_c"]
    problems += [name for name in wanted if not any(n.startswith(name) for n in of_redis)]
    problems += [name for name in of_redis if re.match(r"libtamis(?!_c\.)", name)]
    return f"not as it should be: {problems}" if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
