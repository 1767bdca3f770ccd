#!/bin/sh
# Checks that the first error of every public header compiled as C++17 names the C++ version that tamis needs.
# Usage: cpp17.sh COMPILER ROOT
set -eu
compiler=$1
root=$2
failed=0
set --
for part in core bank formats join plan live redis parquet cuda; do
  set -- "$@" -I "$root/$part/include"
done
for header in "$root"/core/include/tamis/*.h "$root"/formats/include/tamis/formats/*.h \
  "$root"/bank/include/tamis/bank/*.h "$root"/join/include/tamis/join/*.h "$root"/plan/include/tamis/plan/*.h \
  "$root"/live/include/tamis/live/*.h "$root"/redis/include/tamis/redis/*.h \
  "$root"/parquet/include/tamis/parquet/*.h "$root"/cuda/include/tamis/cuda/*.h; do
  [ "${header##*/}" != version.h ] || continue  # only macros
  said=$("$compiler" -std=c++17 -fsyntax-only -Wfatal-errors -x c++ "$header" "$@" 2>&1) || true
  case $(echo "$said" | grep 'error: ' | head -n 1) in
    *"tamis needs C++20"*) ;;
    *)
      echo "$header: $said" | head -n 5
      failed=1
      ;;
  esac
done
exit $failed
