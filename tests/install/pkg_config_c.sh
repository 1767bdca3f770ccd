#!/bin/sh
# Builds and runs the consumer in C with nothing but the compiler and pkg-config.
# Usage: pkg_config_c.sh COMPILER FOLDER [EMULATOR...]; PKG_CONFIG_PATH leads to tamis_c.pc, LDFLAGS to what
# libtamis_c needs and no system folder has.
set -eu
source=$(cd "$(dirname "$0")" && pwd)/c_component/consumer.c
compiler=$1
folder=$2
shift 2
mkdir -p "$folder"
flags=$("$PKG_CONFIG" --cflags --libs tamis_c)
echo "flags: $flags"
"$compiler" -std=c99 "$source" $flags ${LDFLAGS:-} -Wl,-rpath,"$("$PKG_CONFIG" --variable=libdir tamis_c)" \
  -o "$folder/consumer"
"$@" "$folder/consumer"
