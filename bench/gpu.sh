#!/bin/sh
# Everything that only a GPU can show, in one command of some minutes: builds, tests, measures, and
# stops at the first failure. Needs nvcc, CMake, a C++ compiler, Python 3, and the libraries: from the
# system, or in a folder made elsewhere by `cmake/bootstrap.sh prefix DIR` and named in
# CMAKE_PREFIX_PATH.
#
# Usage: bench/gpu.sh [FOLDER]     for the build and for results.json; build/gpu by default
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build/gpu}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
steps="$folder/steps.txt"
: >"$steps"

export PATH="$PATH:/usr/local/cuda/bin"
command -v nvidia-smi >/dev/null || {
  echo "gpu.sh: no NVIDIA driver here" >&2
  exit 69
}

# step NAME COMMAND...: what comes out is shown, and kept if it fails.
step() {
  name=$1
  shift
  echo "=== $name"
  begin=$(date +%s)
  "$@" || {
    echo "gpu.sh: $name failed" >&2
    write_json "$name"
    exit 1
  }
  printf '%s %s\n' "$(($(date +%s) - begin))" "$name" >>"$steps"
}

# write_json FAILED_STEP
write_json() {
  {
    printf '{"gpu": "%s", "failed": "%s",\n "steps": [' \
      "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)" "$1"
    separator=
    while read -r seconds name; do
      printf '%s\n  {"name": "%s", "seconds": %s}' "$separator" "$name" "$seconds"
      separator=,
    done <"$steps"
    printf '],\n "benchmark": '
    if [ -s "$folder/benchmark.json" ]; then cat "$folder/benchmark.json"; else echo null; fi
    echo '}'
  } >"$folder/results.json"
}

tests() { "$folder/tests/cuda/tamis_cuda_tests" --gtest_brief=1 "--gtest_filter=$1"; }
# A skipped test is a failure where it should run.
tests_run() {
  tests "$1" >"$folder/test.log" 2>&1 || {
    cat "$folder/test.log"
    return 1
  }
  cat "$folder/test.log"
  ! grep -q "SKIPPED" "$folder/test.log"
}

sanitizer() {
  compute-sanitizer --tool "$1" --error-exitcode 9 "$folder/tests/cuda/tamis_cuda_tests" \
    --gtest_brief=1 "--gtest_filter=$2"
}

configure() {
  architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  cmake -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DTAMIS_CUDA=ON -DTAMIS_BUILD_TOOLS=OFF \
    "-DTAMIS_CUDA_ARCHITECTURES=$architecture-real"
}

rm -f "$folder/benchmark.json"
step "configure" configure
step "build" cmake --build "$folder" --parallel "$(nproc)" \
  --target tamis_cuda_tests tamis_cuda_bench
step "smoke" tests_run 'GpuTest.AKernelOfAUserAsksAndFillsFilters'
step "bit-equality with the CPU" tests_run \
  'GpuTest.InsertGives*:GpuTest.EveryOutput*:GpuTest.Strings*:GpuTest.Merge*:GpuTest.HostKeys*:GpuTest.Cuckoo*'
step "no false negatives among 1e9 keys, and the false-positive rate" \
  tests_run 'GpuTest.SlowNoFalseNegatives*'
step "graph capture" tests_run 'GpuTest.AGraph*'
step "out of memory" tests 'GpuTest.OutOfMemory*'
if command -v compute-sanitizer >/dev/null; then
  small='GpuTest.AKernel*:GpuTest.AGraph*:GpuTest.Merge*:GpuTest.CuckooSmall*'
  step "compute-sanitizer memcheck" sanitizer memcheck "$small"
  step "compute-sanitizer racecheck" sanitizer racecheck "$small"
else
  echo "0 compute-sanitizer: not installed, left out" >>"$steps"
fi
step "a filter beyond 16 GiB" tests_run 'GpuTest.SlowFilterBeyond*'
step "benchmark" "$folder/bench/tamis_cuda_bench" "$folder/benchmark.json"
write_json ""
echo "=== all passed; $folder/results.json"
