#!/bin/sh
# Builds and runs a consumer in C with nothing but the compiler and pkg-config.
# Usage: pkg_config_c.sh COMPILER MODULE SOURCE FOLDER [EMULATOR...]; PKG_CONFIG_PATH leads to MODULE.pc, LDFLAGS
# to what the library needs and no system folder has.
set -eu
compiler=$1
module=$2
source=$3
folder=$4
shift 4
mkdir -p "$folder"
flags=$("$PKG_CONFIG" --cflags --libs $module)
echo "flags: $flags"
"$compiler" -std=c99 "$source" $flags ${LDFLAGS:-} -Wl,-rpath,"$("$PKG_CONFIG" --variable=libdir $module)" \
  -o "$folder/consumer"
"$@" "$folder/consumer"
