#!/bin/sh
# Builds and runs a consumer in C with nothing but the compiler and pkg-config.
# Usage: pkg_config_c.sh COMPILER SOURCE FOLDER [EMULATOR...]
# PKG_CONFIG_PATH leads to tamis_c.pc, LDFLAGS to needed libraries that are in no system folder.
set -eu
compiler=$1
source=$2
folder=$3
shift 3
mkdir -p "$folder"
flags=$("$PKG_CONFIG" --cflags --libs tamis_c)
echo "flags: $flags"
"$compiler" -std=c99 "$source" $flags ${LDFLAGS:-} -Wl,-rpath,"$("$PKG_CONFIG" --variable=libdir tamis_c)" \
  -o "$folder/consumer"
"$@" "$folder/consumer"
