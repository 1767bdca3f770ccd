#!/bin/sh
# Everything that only a GPU can show, in one command of some minutes: builds, tests, measures, and
# stops at the first failure. Needs nvcc, CMake, a C++ compiler, Python 3, and the libraries: from the
# system, or in a folder made elsewhere by `cmake/bootstrap.sh prefix DIR` and named in
# CMAKE_PREFIX_PATH.
#
# The benchmark in results.json, a file for tamis-report, is benchmark.json beside it.
#
# Usage: bench/gpu.sh [--keep-going] [FOLDER]
#   FOLDER        for the build and for results.json, which is written anew after each step; default:
#                 build/gpu
#   --keep-going  measure and go on testing after a test that failed; the exit status is 1 all the same
#
# Environment: TAMIS_GPU_SECONDS, the time for everything (default 470); TAMIS_GPU_ARCHITECTURE, such
# as 90, to build for a GPU that is not here (then it ends after the build, with status 69).
set -eu
unset CDPATH  # with which cd says where it is
root=$(cd "$(dirname "$0")/.." && pwd)
keep_going=
if [ "${1:-}" = --keep-going ]; then
  keep_going=1
  shift
fi
folder=${1:-$root/build/gpu}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
steps="$folder/steps.txt"
log="$folder/step.log"
: >"$steps"
rm -f "$folder/results.json" "$folder/benchmark.json"
started=$(date +%s)
total=${TAMIS_GPU_SECONDS:-470}
deadline=$((started + total))
failed=

# Behind the others: what the machine has chosen comes first.
export PATH="$PATH:/usr/local/cuda/bin"

gpu_query() { nvidia-smi "--query-gpu=$1" --format=csv,noheader 2>/dev/null | head -n 1; }

# A string of JSON, without what would have to be written otherwise there.
json_text() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\\"' | tr '\n\t' '  ')"; }

write_json() {
  {
    printf '{"gpu": %s,\n "commit": %s,\n "failed": %s,\n "seconds": %s,\n "steps": [' \
      "$(json_text "$(gpu_query name,driver_version)")" \
      "$(json_text "$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)")" \
      "$(json_text "$failed")" "$(($(date +%s) - started))"
    separator=
    while IFS='|' read -r seconds outcome name; do
      printf '%s\n  {"name": %s, "seconds": %s, "outcome": %s}' "$separator" \
        "$(json_text "$name")" "$seconds" "$(json_text "$outcome")"
      separator=,
    done <"$steps"
    printf '],\n "benchmark": '
    if [ -s "$folder/benchmark.json" ]; then cat "$folder/benchmark.json"; else echo null; fi
    echo '}'
  } >"$folder/results.json.new"
  mv "$folder/results.json.new" "$folder/results.json"
}

note() { # SECONDS OUTCOME NAME
  printf '%s|%s|%s\n' "$1" "$2" "$3" >>"$steps"
  write_json
}

# Also what ends before its time leaves its results.
trap 'failed="${failed:-interrupted}"; write_json; exit 1' HUP INT TERM

# step LIMIT NAME COMMAND...: what comes out is shown, and kept in step.log. LIMIT is in seconds.
step() {
  limit=$1
  name=$2
  shift 2
  begin=$(date +%s)
  left=$((deadline - begin))
  if [ "$left" -lt 5 ]; then
    echo "gpu.sh: no time left for: $name" >&2
    failed="${failed:+$failed; }no time left for $name"
    note 0 "no time left" "$name"
    return 0
  fi
  [ "$limit" -le "$left" ] || limit=$left
  echo "=== $((begin - started)) s: $name (at most $limit s)"
  status=0
  # To a file first, as the status of a pipe is that of its end.
  timeout -k 5 "$limit" "$@" >"$log" 2>&1 || status=$?
  cat "$log"
  seconds=$(($(date +%s) - begin))
  # A test that was skipped has shown nothing.
  if [ "$status" -eq 0 ] && grep -q '  SKIPPED' "$log"; then
    status=skipped
  fi
  case $status in
    0)
      note "$seconds" passed "$name"
      return 0
      ;;
    124 | 137) outcome="stopped after $limit s" ;;
    skipped) outcome="skipped" ;;
    *) outcome="failed with status $status" ;;
  esac
  failed="${failed:+$failed; }$name"
  note "$seconds" "$outcome" "$name"
  echo "gpu.sh: $name: $outcome; $folder/results.json" >&2
  [ -n "$keep_going" ] || exit 1
}

# needed ...: a step that those after it cannot do without.
needed() {
  before=$failed
  step "$@"
  [ "$failed" = "$before" ] || exit 1
}

architecture=${TAMIS_GPU_ARCHITECTURE:-$(gpu_query compute_cap | tr -d .)}
[ -n "$architecture" ] || {
  echo "gpu.sh: nvidia-smi names no GPU, and TAMIS_GPU_ARCHITECTURE no other to build for" >&2
  exit 69
}
command -v nvcc >/dev/null || {
  echo "gpu.sh: no nvcc in PATH" >&2
  exit 69
}

set -- cmake -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DTAMIS_CUDA=ON \
  -DTAMIS_BUILD_TOOLS=OFF "-DTAMIS_CUDA_ARCHITECTURES=$architecture-real" \
  "-DCMAKE_LIBRARY_ARCHITECTURE=$(uname -m)-linux-gnu" # where a prefix of Debian's packages has them
if command -v ninja >/dev/null && [ ! -f "$folder/CMakeCache.txt" ]; then
  set -- "$@" -G Ninja
fi
needed 60 "configure for compute capability $architecture" "$@"
needed "$((total > 340 ? total - 170 : total / 2))" "build" cmake --build "$folder" --parallel "$(nproc)" \
  --target tamis_cuda_tests tamis_bench

tests="$folder/tests/cuda/tamis_cuda_tests"
why=$("$tests" --gtest_filter='GpuTest.AKernelOfAUserAsksAndFillsFilters' 2>&1 |
  sed -n '/: Skipped$/{n;p;}')
if [ -n "$why" ]; then
  failed="no GPU: $why"
  note 0 "no GPU: $why" smoke
  echo "gpu.sh: everything is built, and all further steps need a GPU: $why" >&2
  exit 69
fi

# run LIMIT NAME TESTS
run() { step "$1" "$2" "$tests" --gtest_brief=1 "--gtest_filter=$3"; }

# sanitizer LIMIT TOOL TESTS. There are machines whose GPU it cannot watch, which says nothing of ours.
sanitizer() {
  timeout -k 5 40 compute-sanitizer --tool "$2" "$tests" --gtest_filter='GpuTest.AKernel*' \
    >"$folder/sanitizer.log" 2>&1 || true
  if grep -q "Device not supported" "$folder/sanitizer.log"; then
    echo "=== compute-sanitizer $2: left out: Device not supported"
    note 0 "left out: Device not supported" "compute-sanitizer $2"
  else
    step "$1" "compute-sanitizer $2" compute-sanitizer --tool "$2" --error-exitcode 9 "$tests" \
      --gtest_brief=1 "--gtest_filter=$3"
  fi
}

run 30 "smoke" 'GpuTest.AKernelOfAUserAsksAndFillsFilters'
run 60 "bit-equality with the CPU" \
  'GpuTest.InsertGives*:GpuTest.EveryOutput*:GpuTest.Strings*:GpuTest.Merge*:GpuTest.HostKeys*:GpuTest.Cuckoo*'
run 90 "no false negatives among 1e9 keys, and the false-positive rate" 'GpuTest.SlowNoFalseNegatives*'
run 30 "graph capture" 'GpuTest.AGraph*'
run 30 "out of memory" 'GpuTest.OutOfMemory*'
if command -v compute-sanitizer >/dev/null; then
  small='GpuTest.AKernel*:GpuTest.AGraph*:GpuTest.Merge*:GpuTest.CuckooSmall*'
  sanitizer 60 memcheck "$small"
  sanitizer 60 racecheck "$small"
else
  note 0 "left out: not installed" compute-sanitizer
fi
run 60 "a filter beyond 16 GiB" 'GpuTest.SlowFilterBeyond*'
step 150 "benchmark" "$folder/tamis-bench" --sizes GPU --out "$folder/benchmark.json"
write_json
if [ -n "$failed" ]; then
  echo "gpu.sh: failed: $failed; $folder/results.json" >&2
  exit 1
fi
echo "=== all passed in $(($(date +%s) - started)) s; $folder/results.json"
