#!/bin/sh
# Measures this machine for this folder: measure.sh NAME [OPTIONS OF TAMIS-BENCH], such as
# `measure.sh ryzen-7950x --notes "desktop, DDR5-6000"`. Do not use the machine during the run.
set -eu
case ${1:-} in
  "" | -* | *[!A-Za-z0-9._-]*)
    echo "usage: $0 NAME [OPTIONS OF TAMIS-BENCH]; letters, digits, '.', '_' and '-' in NAME" >&2
    exit 2
    ;;
esac
name=$1
shift
for option; do
  case $option in
    --out | --out=* | --calibrate | --calibrate=* | --help | --benchmark_list_tests*)
      echo "$0: $option is not allowed here: this script measures and writes $name.json" >&2
      exit 2
      ;;
  esac
done
unset CDPATH  # with CDPATH set, cd prints the folder
results=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$results/../.." && pwd)
unset TAMIS_BACKEND

# Reports errors that would otherwise be found only after the measurements.
fail() {
  echo "$0: $*" >&2
  exit 1
}
[ ! -e "$results/$name.json" ] || fail "$name.json exists: choose another name, or remove it first"
[ -w "$results" ] || fail "cannot write to $results"
# As in bench/commit.cmake: untracked files and an enclosing repository are ignored.
if [ -z "$(git -C "$root" rev-parse --show-prefix 2>/dev/null)" ]; then
  case $(git -C "$root" describe --always --dirty --exclude='*' 2>/dev/null) in
    *-dirty) fail "the tree has changes that nobody else has: commit or stash them first" ;;
  esac
fi

"$root/cmake/bootstrap.sh" bench "$@" --out "$results/$name.json" >/dev/null
"$root/build/release/tamis-report" "$results/$name.json" --check
echo "$name.json is ready: commit it, and open a pull request"
