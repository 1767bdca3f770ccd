#!/bin/sh
# Everything that only a GPU can show, in one command of some minutes: builds, tests, measures, and
# stops at the first failure. Needs nvcc, CMake, a C++ compiler, Python 3, and the libraries: from the
# system, or in a folder made elsewhere by `cmake/bootstrap.sh prefix DIR` and named in
# CMAKE_PREFIX_PATH.
#
# First it tests that answers are right; then come the rows that figures of others are published for,
# filters of 16 MiB, 1 GiB and 512 MiB; then what takes long or is less sure to work. So a run that is
# cut off has lost what matters least. results.json has all that was measured before.
#
# Each benchmark is a file for tamis-report of its own: benchmark-NAME.json, or, if it was stopped,
# benchmark-NAME.json.part with the sizes that it had done.
#
# Usage: bench/gpu.sh [--keep-going] [--peers DIR] [FOLDER]
#   FOLDER        for the build and for results.json, which is written anew after each step; default:
#                 build/gpu
#   --keep-going  measure and go on testing after a test that failed; the exit status is 1 all the same
#   --peers DIR   compare with cuCollections and Cuckoo-GPU in the same run: DIR has clones of them,
#                 cuCollections/ and Cuckoo-GPU/, and, if nvcc's does not suit them, cccl/. What of
#                 them does not compile is left out, and the run goes on.
#
# Environment: TAMIS_GPU_SECONDS, the time for everything (default 470); TAMIS_GPU_ARCHITECTURE, such
# as 90, to build for a GPU that is not here (then it ends after the build, with status 69).
# Without a GPU and without that, or without nvcc, it ends at once, with status 69, and FOLDER stays
# as it is.
set -eu
unset CDPATH  # with which cd says where it is
root=$(cd "$(dirname "$0")/.." && pwd)
keep_going=
peers=
folder=
help() { sed -n '/^# Usage:/,/^# as it is/p' "$0" | cut -c3-; }
usage() {
  echo "gpu.sh: $1" >&2
  help >&2
  exit 64
}
# The path of a folder. An empty name is none, though cd takes it for the one that it is in.
path_of() { [ -n "$1" ] && cd "$1" 2>/dev/null && pwd; }
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      help
      exit 0
      ;;
    --keep-going) keep_going=1 ;;
    --peers)
      [ $# -ge 2 ] || usage "--peers needs a folder"
      peers=$(path_of "$2") || usage "--peers $2: no such folder"
      shift
      ;;
    --peers=*)
      peers=$(path_of "${1#--peers=}") || usage "$1: no such folder"
      ;;
    -*) usage "unknown option $1" ;;
    *)
      [ -z "$folder" ] || usage "more than one folder"
      folder=$1
      ;;
  esac
  shift
done
total=${TAMIS_GPU_SECONDS:-470}
case $total in
  *[!0-9]*) usage "TAMIS_GPU_SECONDS is $total; allowed: a number of seconds" ;;
esac
has_peer() { [ -n "$peers" ] && { [ -f "$peers/$1/include/$2" ] || [ -f "$peers/include/$2" ]; }; }
cuco=
cuckoo_gpu=
if has_peer cuCollections cuco/bloom_filter.cuh; then cuco=1; fi
if has_peer Cuckoo-GPU cuckoogpu/CuckooFilter.cuh; then cuckoo_gpu=1; fi
[ -z "$peers" ] || [ -n "$cuco$cuckoo_gpu" ] ||
  usage "--peers $peers: neither cuCollections/include/cuco nor Cuckoo-GPU/include/cuckoogpu is there"

# Behind the others: what the machine has chosen comes first.
export PATH="$PATH:/usr/local/cuda/bin"

gpu_query() { nvidia-smi "--query-gpu=$1" --format=csv,noheader 2>/dev/null | head -n 1; }

# Before anything of an earlier run goes.
architecture=${TAMIS_GPU_ARCHITECTURE:-$(gpu_query compute_cap | tr -d .)}
[ -n "$architecture" ] || {
  echo "gpu.sh: nvidia-smi names no GPU, and TAMIS_GPU_ARCHITECTURE no other to build for" >&2
  exit 69
}
command -v nvcc >/dev/null || {
  echo "gpu.sh: no nvcc in PATH" >&2
  exit 69
}

folder=${folder:-$root/build/gpu}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
steps="$folder/steps.txt"
log="$folder/step.log"
: >"$steps"
rm -f "$folder/results.json" "$folder"/benchmark-*.json "$folder"/benchmark-*.json.part
started=$(date +%s)
deadline=$((started + total))
failed=
benchmarks=

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
    printf '],\n "benchmarks": {'
    separator=
    for name in $benchmarks; do
      found="$folder/benchmark-$name.json"
      [ -s "$found" ] || found="$found.part"
      [ -s "$found" ] || continue
      printf '%s\n  %s: ' "$separator" "$(json_text "$name")"
      cat "$found"
      separator=,
    done
    echo '}}'
  } >"$folder/results.json.new"
  mv "$folder/results.json.new" "$folder/results.json"
}

note() { # SECONDS OUTCOME NAME
  printf '%s|%s|%s\n' "$1" "$2" "$3" >>"$steps"
  write_json
}

# Also what ends before its time leaves its results. What runs is waited for in the background, as a
# trap is deferred until a command in front has ended.
child=
interrupted() {
  [ -z "$child" ] || kill "$child" 2>/dev/null || true
  failed="${failed:+$failed; }interrupted"
  write_json
  exit 1
}
trap interrupted HUP INT TERM

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
  timeout -k 5 "$limit" "$@" >"$log" 2>&1 &
  child=$!
  wait "$child" || status=$?
  child=
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

# without_failing ...: a step whose failure is noted, and no failure of ours.
without_failing() {
  before=$failed
  before_keeps=$keep_going
  keep_going=1
  step "$@"
  keep_going=$before_keeps
  [ "$failed" = "$before" ] && return 0
  failed=$before
  write_json
  return 1
}

# needed ...: a step that those after it cannot do without.
needed() {
  before=$failed
  step "$@"
  [ "$failed" = "$before" ] || exit 1
}

set -- cmake -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DTAMIS_CUDA=ON \
  -DTAMIS_BUILD_TOOLS=OFF "-DTAMIS_CUDA_ARCHITECTURES=$architecture-real" \
  "-DCMAKE_LIBRARY_ARCHITECTURE=$(uname -m)-linux-gnu" # where a prefix of Debian's packages has them
if command -v ninja >/dev/null && [ ! -f "$folder/CMakeCache.txt" ]; then
  set -- "$@" -G Ninja
fi
needed 60 "configure for compute capability $architecture" "$@" "-DTAMIS_CUDA_PEERS=$peers" \
  -DTAMIS_CUDA_PEER_CUCO=ON -DTAMIS_CUDA_PEER_CUCKOO_GPU=ON

# Their code first, by itself, as the rest can do without it.
build() { # LIMIT NAME TARGET...
  limit=$1
  name=$2
  shift 2
  set -- "$limit" "$name" cmake --build "$folder" --parallel "$(nproc)" --target "$@"
  case $name in
    *peer*) without_failing "$@" ;;
    *) needed "$@" ;;
  esac
}
left_out=
if [ -n "$cuco" ] && ! build 120 "build the peer cuCollections" tamis_bench_peer_cuco; then
  left_out="$left_out -DTAMIS_CUDA_PEER_CUCO=OFF"
fi
if [ -n "$cuckoo_gpu" ] &&
  ! build 120 "build the peer Cuckoo-GPU" tamis_bench_peer_cuckoo_gpu; then
  left_out="$left_out -DTAMIS_CUDA_PEER_CUCKOO_GPU=OFF"
  cuckoo_gpu=
fi
# shellcheck disable=SC2086  # options without blanks
[ -z "$left_out" ] || needed 60 "configure without$left_out" cmake "$folder" $left_out
build "$((total > 340 ? total - 170 : total / 2))" "build" tamis_cuda_tests tamis_bench

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

# benchmark LIMIT NAME SIZES OF [REGEX]: rows of filters of these sizes, into a file of its own; OF says
# what they are for.
benchmark() {
  limit=$1
  name=$2
  sizes=$3
  title="benchmark $2: $4"
  shift 4
  benchmarks="$benchmarks $name"
  set -- "$limit" "$title" "$folder/tamis-bench" --sizes "$sizes" \
    --out "$folder/benchmark-$name.json" ${1:+"--benchmark_filter=$1"}
  if [ "$name" = cuckoo-gpu ]; then without_failing "$@" || true; else step "$@"; fi
  write_json
}

run 30 "smoke" 'GpuTest.AKernelOfAUserAsksAndFillsFilters'
run 60 "bit-equality with the CPU" \
  'GpuTest.InsertGives*:GpuTest.EveryOutput*:GpuTest.Strings*:GpuTest.Merge*:GpuTest.HostKeys*:GpuTest.Cuckoo*'
run 90 "no false negatives among 1e9 keys, and the false-positive rate" 'GpuTest.SlowNoFalseNegatives*'
run 30 "graph capture" 'GpuTest.AGraph*'
run 30 "out of memory" 'GpuTest.OutOfMemory*'

# Cuckoo-GPU ends the program at an error of CUDA, so its rows are not among others.
own='-^cuckoo_gpu'
benchmark 60 16MiB GPU_16MiB "in L2" "$own"
benchmark 60 1024MiB GPU_1024MiB "in DRAM" "$own"
benchmark 60 512MiB GPU_512MiB "cuckoo filters in DRAM" "$own"

if [ -n "$cuckoo_gpu" ]; then
  benchmark 60 cuckoo-gpu GPU_8MiB,GPU_512MiB "beside Cuckoo-GPU" '^cuckoo'
fi
if command -v compute-sanitizer >/dev/null; then
  small='GpuTest.AKernel*:GpuTest.AGraph*:GpuTest.Merge*:GpuTest.CuckooSmall*'
  sanitizer 60 memcheck "$small"
  sanitizer 60 racecheck "$small"
else
  note 0 "left out: not installed" compute-sanitizer
fi
benchmark 90 small GPU_32MiB,GPU_8MiB,GPU_1MiB "around the size of L2, and small" "$own"
run 60 "a filter beyond 16 GiB" 'GpuTest.SlowFilterBeyond*'
benchmark 120 others GPU_64MiB,GPU_128MiB,GPU_4MiB,GPU_256MiB,GPU_16384MiB "other sizes" "$own"
write_json
if [ -n "$failed" ]; then
  echo "gpu.sh: failed: $failed; $folder/results.json" >&2
  exit 1
fi
echo "=== all passed in $(($(date +%s) - started)) s; $folder/results.json"
