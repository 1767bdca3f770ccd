#!/bin/sh
# Builds, tests and measures everything that needs a GPU, in one command that takes a few minutes.
# Stops at the first failure. Needs nvcc, CMake, a C++ compiler, Python 3, and the libraries: from
# the system, or from a folder that `cmake/bootstrap.sh prefix DIR` made on another machine and that
# CMAKE_PREFIX_PATH names.
#
# It first tests that answers are correct. Then it measures the rows with figures published by
# others: filters of 16 MiB, 1 GiB and 512 MiB. Long steps and steps that may fail come last. So if
# a run is cut off, it loses only the least important steps, and results.json contains everything
# that was measured before.
#
# Each benchmark writes a separate file for tamis-report: benchmark-NAME.json. A benchmark that was
# stopped leaves benchmark-NAME.json.part with the sizes that were measured.
#
# Usage: bench/gpu.sh [--keep-going] [--peers DIR] [FOLDER]
#   FOLDER        for the build and for results.json, which is rewritten after each step; default:
#                 build/gpu
#   --keep-going  continue to measure and test after a failed test; the exit status is still 1
#   --peers DIR   compare with cuCollections and Cuckoo-GPU in the same run: DIR contains clones,
#                 cuCollections/ and Cuckoo-GPU/, and cccl/ if nvcc's version does not suit them. If
#                 one of them does not compile, it is left out and the run continues.
#
# Environment: TAMIS_GPU_SECONDS, the time for everything (default 470); TAMIS_GPU_ARCHITECTURE,
# such as 90, to build for a GPU that this machine does not have (then the script ends after the
# build, with status 69). If neither a GPU nor this variable exists, or nvcc is missing, the script
# ends at once with status 69 and leaves FOLDER as it is.
set -eu
unset CDPATH  # with CDPATH set, cd prints the folder
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
# Prints the path of a folder. Fails for an empty name, which cd would treat as the current folder.
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

# Appended, so that compilers in the existing PATH come first.
export PATH="$PATH:/usr/local/cuda/bin"

gpu_query() { nvidia-smi "--query-gpu=$1" --format=csv,noheader 2>/dev/null | head -n 1; }

# This check comes before files of an earlier run are deleted.
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

# Prints a string of JSON. Drops characters that need escapes.
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

# An interrupted run leaves its results as well. Commands run in the background and are waited for,
# because a trap is deferred until a foreground command has ended.
child=
interrupted() {
  [ -z "$child" ] || kill "$child" 2>/dev/null || true
  failed="${failed:+$failed; }interrupted"
  write_json
  exit 1
}
trap interrupted HUP INT TERM

# step LIMIT NAME COMMAND...: runs a command, prints its output and keeps it in step.log. LIMIT is
# in seconds.
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
  # To a file first, because the status of a pipe is the status of its last command.
  timeout -k 5 "$limit" "$@" >"$log" 2>&1 &
  child=$!
  wait "$child" || status=$?
  child=
  cat "$log"
  seconds=$(($(date +%s) - begin))
  # A skipped test counts as a failure.
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

# without_failing ...: runs a step. If the step fails, this is noted, but the run does not fail.
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

# needed ...: runs a step that later steps depend on.
needed() {
  before=$failed
  step "$@"
  [ "$failed" = "$before" ] || exit 1
}

set -- cmake -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DTAMIS_CUDA=ON \
  -DTAMIS_BUILD_TOOLS=OFF "-DTAMIS_CUDA_ARCHITECTURES=$architecture-real" \
  "-DCMAKE_LIBRARY_ARCHITECTURE=$(uname -m)-linux-gnu"  # the folder in a prefix of Debian packages
if command -v ninja >/dev/null && [ ! -f "$folder/CMakeCache.txt" ]; then
  set -- "$@" -G Ninja
fi
needed 60 "configure for compute capability $architecture" "$@" "-DTAMIS_CUDA_PEERS=$peers" \
  -DTAMIS_CUDA_PEER_CUCO=ON -DTAMIS_CUDA_PEER_CUCKOO_GPU=ON

# Builds the peers first and separately, because the rest does not need them.
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

# sanitizer LIMIT TOOL TESTS: runs tests under compute-sanitizer. On some machines it cannot observe
# the GPU, which does not count as a failure.
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

# benchmark LIMIT NAME SIZES OF [REGEX]: measures rows of filters of these sizes into a separate
# file. OF describes their purpose.
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
  'GpuTest.InsertGives*:GpuTest.EveryOutput*:GpuTest.Strings*:GpuTest.Merge*:GpuTest.HostKeys*:GpuTest.Cuckoo*:GpuTest.Fuse*'
run 90 "no false negatives among 1e9 keys, and the false-positive rate" 'GpuTest.SlowNoFalseNegatives*'
run 30 "graph capture" 'GpuTest.AGraph*'
run 30 "out of memory" 'GpuTest.OutOfMemory*'

# Cuckoo-GPU ends the program at a CUDA error, so its rows are measured separately.
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
