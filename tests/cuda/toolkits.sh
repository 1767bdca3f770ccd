#!/bin/sh
# Checks the versions of the CUDA toolkit that the library can be built with. Compiles all CUDA sources of this
# repository except those for peers, and the public headers of the GPU backend, with each of the given compilers.
# Needs no GPU, and links nothing.
#
# Usage: tests/cuda/toolkits.sh COMPILER...
#   COMPILER  nvcc of a toolkit, with options if needed: "/opt/cuda-12.4/bin/nvcc",
#             "/usr/bin/nvcc -ccbin g++-12"; or a clang with CUDA support and --cuda-path, if only
#             the headers and libdevice of a toolkit are available: "clang++-19
#             --cuda-path=/opt/cuda-12.8". Clang then checks only the host code, because for devices
#             it lacks some of nvcc's intrinsics.
#
# Environment: TAMIS_CUDA_ARCHITECTURES, default "80 90", which all versions since 12.0 support.
# Prints a line for each compiler and source; the exit status is 1 if one of them failed.
set -u
unset CDPATH
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -gt 0 ] || {
  sed -n '2,/^set/{/^#/p;}' "$0" | cut -c3- >&2
  exit 64
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# All headers that users include, in one source.
(cd "$root/cuda/include" && find tamis -type f | sort | sed 's/.*/#include "&"/') >"$work/headers.cu"
failed=0
for compiler in "$@"; do
  set -- -std=c++20 -O2 -I "$root" -I "$root/core/include" -I "$root/cuda/include"
  case $compiler in
    *clang*)
      set -- "$@" -x cuda --cuda-host-only -fsyntax-only -Wno-unknown-cuda-version
      ;;
    *)
      set -- "$@" -Werror=all-warnings
      for architecture in ${TAMIS_CUDA_ARCHITECTURES:-80 90}; do
        set -- "$@" -gencode "arch=compute_$architecture,code=sm_$architecture"
      done
      ;;
  esac
  for source in $(git -C "$root" ls-files '*.cu' | grep -v cuda_peer_) headers.cu; do
    path=$root/$source
    [ "$source" = headers.cu ] && path=$work/headers.cu
    # Not quoted, because a compiler comes with its options.
    if $compiler "$@" -c "$path" -o "$work/object" >"$work/log" 2>&1; then
      outcome=compiles
    else
      outcome=FAILS
      failed=1
    fi
    printf '%s: %s: %s\n' "$compiler" "$source" "$outcome"
    [ $outcome = compiles ] || head -n 20 "$work/log"
  done
done
exit $failed
