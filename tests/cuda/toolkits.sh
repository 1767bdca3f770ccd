#!/bin/sh
# Compiles every source in CUDA of this repository but those for peers, and the public headers of
# the GPU backend, with each of the compilers named: which versions of the CUDA toolkit the library
# can be built with. It needs no GPU, and links nothing.
#
# Usage: tests/cuda/toolkits.sh COMPILER...
#   COMPILER  nvcc of a toolkit, with its options if there are any: "/opt/cuda-12.4/bin/nvcc",
#             "/usr/bin/nvcc -ccbin g++-12"; or a clang that knows CUDA, with --cuda-path, for
#             toolkits of which only the headers and libdevice are at hand, which then says
#             whether the host's part fits them: "clang++-19 --cuda-path=/opt/cuda-12.8". (For
#             devices clang lacks some of nvcc's intrinsics.)
#
# Environment: TAMIS_CUDA_ARCHITECTURES, default "80 90", which all versions since 12.0 know.
# Prints a line for each compiler and source; the exit status is 1 if one of them failed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -gt 0 ] || {
  sed -n '2,/^set/{/^#/p;}' "$0" | cut -c3- >&2
  exit 64
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# What users include, in one source.
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
    # Not quoted: a compiler comes with its options.
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
