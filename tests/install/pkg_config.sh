#!/bin/sh
# Builds and runs consumer.cc with nothing but the compiler and pkg-config.
# Usage: pkg_config.sh COMPILER FOLDER [EMULATOR...]; PKG_CONFIG_PATH leads to tamis.pc.
set -eu
unset CDPATH
source=$(cd "$(dirname "$0")" && pwd)/consumer.cc
compiler=$1
folder=$2
shift 2
mkdir -p "$folder"

# A static library needs other libraries, with or without --static.
variants=plain
[ "$TAMIS_TYPE" != STATIC_LIBRARY ] || variants="plain --static"
for variant in $variants; do
  option=
  [ "$variant" = plain ] || option=$variant
  flags=$("$PKG_CONFIG" --cflags --libs $option tamis)
  echo "flags: $flags"

  # Lets the program find shared libraries that are in no system folder.
  rpath=
  for flag in $flags; do
    case $flag in
      -L*) rpath="$rpath -Wl,-rpath,${flag#-L}" ;;
    esac
  done
  "$compiler" -std=c++20 "$source" $flags $rpath -o "$folder/consumer"
  "$@" "$folder/consumer"
done
