#!/bin/sh
# Measures this machine for bench/results: measure.sh BUILD_FOLDER NAME. Leave the machine alone meanwhile.
set -eu
[ $# = 2 ] || {
  echo "usage: $0 BUILD_FOLDER NAME" >&2
  exit 2
}
build=$(cd "$1" && pwd)
name=$2
cd "$(dirname "$0")"
unset TAMIS_BACKEND

report() { "$build/tamis-report" "$@"; }

"$build/tamis-bench" --out "$name.json" >/dev/null
mkdir -p "$name"
report "$name.json" --plots "$name" -o "$name.md"

"$build/tamis-bench" --out "$name-again.json" >/dev/null
report "$name.json" "$name-again.json" -o "$name-agreement.md"

# What one backend does in place of the best; the same mode, for the same sizes and samples.
if "$build/tamis-bench" --quick --benchmark_list_tests | grep -q '/backend:AVX2/'; then
  "$build/tamis-bench" --quick --out "$name-best.json" >/dev/null
  TAMIS_BACKEND=AVX2 "$build/tamis-bench" --quick --out "$name-avx2.json" >/dev/null
  report "$name-best.json" "$name-avx2.json" -o "$name-avx2.md"
  rm "$name-best.json"
fi
grep 'within 5%' "$name-agreement.md"
