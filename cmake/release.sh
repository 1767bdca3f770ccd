#!/bin/sh
# Makes the files of a release in dist/, on one machine, and publishes nothing: `cmake/release.sh TAG`. The tag is the
# version with a "v", and the checkout must be at that tag without changes.
#
# `cmake/release.sh` without a tag tries the same with the current commit. It leaves out the files that this machine
# lacks programs for, and names them in dist/TESTED.md.
#
#   tamis-VERSION-src.tar.gz              all sources; the files below are built from it, or from the same commit
#   tamis-VERSION-linux-PROCESSOR.tar.gz  the static command, with the licenses of the libraries in it
#   python/tamis-VERSION.tar.gz           the source distribution for pip
#   *.deb                                 packages for this machine's Debian
#   sbom.spdx.json, TESTED.md, SHA256SUMS
#
# A second run with the same tag makes the same bytes. The .deb files are also the same only if the same versions of
# Debian's packages are installed. In a clone at another path, the build IDs of their programs differed, and so did
# sbom.spdx.json and SHA256SUMS. Wheels come from .github/workflows/wheels.yml.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
root=$PWD
dist=$root/dist
work=$root/build/dist

say() { echo "release: $*"; }
fail() {
  echo "release: $*" >&2
  exit 1
}

tag=${1:-}
[ $# -le 1 ] || fail "usage: cmake/release.sh [TAG]"
version=$(sed -n 's/^#define TAMIS_VERSION_STRING "\(.*\)"$/\1/p' core/include/tamis/version.h)
if [ -n "$tag" ]; then
  [ "$tag" = "v$version" ] || fail "the tag of version $version is v$version, not $tag"
  [ "$(git rev-parse "$tag^{commit}")" = "$(git rev-parse HEAD)" ] || fail "this checkout is not at $tag"
  [ -z "$(git status --porcelain)" ] || fail "this checkout has changes"
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct HEAD)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022

rm -rf "$dist" "$work"
mkdir -p "$dist" "$work"
: >"$work/rows"
row() { printf '| %s | %s | %s |\n' "$1" "$2" "$3" >>"$work/rows"; }

# lacks FILE REASON: a release must be complete, and a try need not be.
lacks() {
  [ -z "$tag" ] || fail "cannot make $1: $2"
  say "leaving out $1: $2"
  row "$1" - "not made: $2"
}

# pack ARCHIVE FOLDER: packs a folder of $work, with the time of the commit.
pack() {
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
    -C "$work" -cf - "$2" | gzip -9n >"$dist/$1"
}

say "packing the sources of $version"
source=tamis-$version-src.tar.gz
git archive --format=tar --prefix="tamis-$version/" HEAD | gzip -9n >"$dist/$source"
tar -xf "$dist/$source" -C "$work"
row "$source" "$(stat -c %s "$dist/$source")" "the files marked with * are built from it"

# static_command PROCESSOR RUNNER...: the command must find all keys that it put into a filter.
static_command() {
  target=$1-linux-musl
  name=tamis-$version-linux-$1
  shift
  say "building the static command for $target"
  status=0
  .ci/cross "$target" command >"$work/$target.log" 2>&1 || status=$?
  if [ "$status" = 69 ]; then
    lacks "$name.tar.gz" "$(tail -n 1 "$work/$target.log")"
    return 0
  fi
  [ "$status" = 0 ] || {
    tail -n 20 "$work/$target.log" >&2
    fail "cannot build the static command for $target"
  }
  mkdir -p "$work/$name/licenses"
  cp "build/cross/$target-command/tools/tamis" LICENSE "$work/$name"
  for library in highway xxhash nlohmann-json3 cli11 zlib libzstd simdjson; do
    for text in LICENSE-BSD3 LICENSE.MIT LICENSE; do
      [ ! -f "build/cross/sources/$library/$text" ] || break
    done
    cp "build/cross/sources/$library/$text" "$work/$name/licenses/$library"
  done
  zig=$(find build/cross -path "*/venv/lib/*/ziglang/lib" -type d | head -n 1)
  cp "$zig/libc/musl/COPYRIGHT" "$work/$name/licenses/musl"
  cp "$zig/libcxx/LICENSE.TXT" "$work/$name/licenses/libcxx"
  pack "$name.tar.gz" "$name"

  size=$(stat -c %s "$dist/$name.tar.gz")
  if [ $# -gt 0 ] && ! command -v "$1" >/dev/null; then
    row "$name.tar.gz" "$size" "not run: needs $1"
    return 0
  fi
  seq 1 200000 >"$work/keys"
  "$@" "$work/$name/tamis" build "$work/keys" -o "$work/$name.tamis"
  found=$("$@" "$work/$name/tamis" query "$work/$name.tamis" "$work/keys" --count)
  [ "$found" = 200000/200000 ] || fail "$name found $found keys"
  row "$name.tar.gz" "$size" "builds a filter and finds its 200,000 keys${1:+, in $1}"
}
case $(uname -m) in
  x86_64)
    static_command x86_64
    static_command aarch64 qemu-aarch64
    ;;
  aarch64)
    static_command aarch64
    static_command x86_64 qemu-x86_64
    ;;
  *) fail "no static command is made on this processor" ;;
esac
[ ! -f "$work/tamis-$version-linux-aarch64.tamis" ] || [ ! -f "$work/tamis-$version-linux-x86_64.tamis" ] ||
  cmp "$work/tamis-$version-linux-aarch64.tamis" "$work/tamis-$version-linux-x86_64.tamis"

say "making the source distribution for pip"
mkdir -p "$dist/python"
if python3 -m venv "$work/venv" >"$work/python.log" 2>&1 &&
  "$work/venv/bin/pip" -q install build twine >>"$work/python.log" 2>&1; then
  "$work/venv/bin/python" -m build --sdist --outdir "$dist/python" "$work/tamis-$version/bindings/python" \
    >>"$work/python.log" 2>&1 || fail "no sdist; the whole log is $work/python.log"
  sdist=python/tamis-$version.tar.gz
  "$work/venv/bin/twine" check --strict "$dist/$sdist" >>"$work/python.log" || fail "twine refuses $sdist"
  row "$sdist *" "$(stat -c %s "$dist/$sdist")" "twine check"
else
  lacks "python/tamis-$version.tar.gz" "build and twine cannot be installed from PyPI"
fi

say "building the packages for Debian"
if [ ! -d debian ]; then
  lacks "*.deb" "there is no folder debian"
elif ! command -v dpkg-buildpackage >/dev/null || ! dpkg-checkbuilddeps 2>"$work/debian.log"; then
  lacks "*.deb" "needs dpkg-dev and $(sed 's/.*dependencies: //' "$work/debian.log" 2>/dev/null | tr '\n' ' ')"
else
  (cd "$work/tamis-$version" && DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b) \
    >"$work/debian.log" 2>&1 || fail "no packages; the whole log is $work/debian.log"
  checked="built"
  if command -v lintian >/dev/null; then
    lintian --fail-on error "$work"/*.changes || fail "lintian finds errors"
    checked="lintian finds no error"
  fi
  for deb in "$work"/*.deb; do
    case $deb in *-dbgsym_*) continue ;; esac
    cp "$deb" "$dist"
    row "$(basename "$deb") *" "$(stat -c %s "$deb")" "$checked"
  done
fi

python3 -B cmake/sbom.py "$version" "$dist" build/cross >"$dist/sbom.spdx.json"
row sbom.spdx.json "$(stat -c %s "$dist/sbom.spdx.json")" "names each file and the libraries in it"

{
  echo "# What was tested of tamis $version"
  echo
  echo "Commit $(git rev-parse HEAD). docs/tests.md describes the tests of the commit; this table has the checks of the files."
  echo
  echo "| File | Bytes | Check |"
  echo "|---|---:|---|"
  cat "$work/rows"
} >"$dist/TESTED.md"
(cd "$dist" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs sha256sum >SHA256SUMS)
cat "$dist/TESTED.md"
say "done: dist/"
